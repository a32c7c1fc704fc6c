/* Statements of the Python subset. */
#include "torch/py_parse_int.h"

static Py *statement(PyParser *p);
static void simple_line(PyParser *p, Py *owner);

static bool is_target(const Py *node)
{
    switch (node->kind) {
    case PY_NAME:
    case PY_ATTR:
    case PY_INDEX: return true;
    case PY_STAR: return is_target(node->a);
    case PY_TUPLE:
    case PY_LIST:
        for (uint32_t i = 0; i < node->kids.len; i++) {
            if (!is_target(node->kids.at[i]))
                return false;
        }
        return true;
    default: return false;
    }
}

/* block: NEWLINE INDENT statement+ DEDENT | simple statements on the same line */
static Py *block(PyParser *p)
{
    Py *node = py_node(p, PY_BLOCK, p->token.at);
    py_expect_op(p, ":");
    if (p->token.kind != TOK_NEWLINE) {
        simple_line(p, node);
        return node;
    }
    py_advance(p);
    if (p->token.kind != TOK_INDENT)
        py_error(p, "expected an indented block");
    if (++p->depth > PY_MAX_DEPTH)
        py_error(p, "blocks are nested too deeply");
    py_advance(p);
    while (p->token.kind != TOK_DEDENT && p->token.kind != TOK_END && !p->failed) {
        Py *next = statement(p);
        if (next)
            py_add(p, node, next);
        else
            simple_line(p, node);
    }
    p->depth--;
    if (p->token.kind == TOK_DEDENT)
        py_advance(p);
    return node;
}

/* --- simple statements -------------------------------------------------------------------- */

static PyOp augmented_op(PyParser *p)
{
    static const struct {
        const char *text;
        PyOp op;
    } table[] = {{"+=", PYOP_ADD},       {"-=", PYOP_SUB},  {"*=", PYOP_MUL},  {"/=", PYOP_DIV},
                 {"//=", PYOP_FLOORDIV}, {"%=", PYOP_MOD},  {"**=", PYOP_POW}, {"@=", PYOP_MATMUL},
                 {"<<=", PYOP_SHL},      {">>=", PYOP_SHR}, {"&=", PYOP_AND},  {"|=", PYOP_OR},
                 {"^=", PYOP_XOR}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (py_take_op(p, table[i].text))
            return table[i].op;
    }
    return PYOP_NONE;
}

static void check_target(PyParser *p, const Py *node)
{
    if (!is_target(node))
        py_error(p, "cannot assign to this expression");
}

static Py *assignment(PyParser *p, Py *first, Span at)
{
    Py *node = py_node(p, PY_ASSIGN, at);
    check_target(p, first);
    py_add(p, node, first);
    while (py_take_op(p, "=") && !p->failed) {
        Py *next = py_star_expressions(p);
        if (py_at_op(p, "=")) {
            check_target(p, next);
            py_add(p, node, next);
        } else {
            node->a = next;
        }
    }
    return node;
}

/* expression_statement: e | e op= e | e ':' annotation ['=' e] | e ('=' e)+ */
static Py *expression_statement(PyParser *p)
{
    Span at = p->token.at;
    Py *first = py_star_expressions(p);
    if (py_at_op(p, "="))
        return assignment(p, first, at);
    if (py_take_op(p, ":")) {
        Py *node = py_node(p, PY_ANNASSIGN, at);
        check_target(p, first);
        node->a = first;
        node->b = py_expression(p);
        if (py_take_op(p, "="))
            node->c = py_star_expressions(p);
        return node;
    }
    PyOp op = augmented_op(p);
    Py *node = py_node(p, op ? PY_AUGASSIGN : PY_EXPR, at);
    node->a = first;
    node->op = op;
    if (op) {
        check_target(p, first);
        node->b = py_star_expressions(p);
    }
    return node;
}

static Str dotted_name(PyParser *p)
{
    Str name = py_take_identifier(p, "a module name");
    while (py_take_op(p, ".") && !p->failed) {
        Str next = py_take_identifier(p, "a module name");
        name = str_from(str_format(p->arena, "%.*s.%.*s", STR_ARG(name), STR_ARG(next)));
    }
    return name;
}

static void alias(PyParser *p, Py *owner, bool dotted)
{
    Py *node = py_node(p, PY_ALIAS, p->token.at);
    node->text = dotted ? dotted_name(p) : py_take_identifier(p, "a name");
    if (py_take_name(p, "as")) {
        node->b = py_node(p, PY_NAME, p->token.at);
        node->b->text = py_take_identifier(p, "a name");
    }
    py_add(p, owner, node);
}

/* import: 'import' dotted ['as' NAME] (',' ...)* */
static Py *import_statement(PyParser *p)
{
    Py *node = py_node(p, PY_IMPORT, p->token.at);
    py_advance(p);
    do
        alias(p, node, true);
    while (py_take_op(p, ",") && !p->failed);
    return node;
}

/* from: 'from' dotted 'import' ('*' | ['('] NAME ['as' NAME] (',' ...)* [')']) */
static Py *from_statement(PyParser *p)
{
    Py *node = py_node(p, PY_FROM, p->token.at);
    py_advance(p);
    bool relative = false;
    while (py_take_op(p, ".") || py_take_op(p, "..."))
        relative = true;
    if (!relative || !py_at_name(p, "import"))
        node->text = dotted_name(p);
    if (!py_take_name(p, "import"))
        py_error(p, "expected 'import'");
    if (py_take_op(p, "*"))
        return node;
    bool open = py_take_op(p, "(");
    do {
        if (open && py_at_op(p, ")"))
            break;
        alias(p, node, false);
    } while (py_take_op(p, ",") && !p->failed);
    if (open)
        py_expect_op(p, ")");
    return node;
}

static bool at_line_end(const PyParser *p)
{
    return p->token.kind == TOK_NEWLINE || p->token.kind == TOK_END || py_at_op(p, ";");
}

static Py *word_statement(PyParser *p, PyKind kind, bool value)
{
    Py *node = py_node(p, kind, p->token.at);
    py_advance(p);
    if (value && !at_line_end(p))
        node->a = py_star_expressions(p);
    return node;
}

static Py *raise_statement(PyParser *p)
{
    Py *node = word_statement(p, PY_RAISE, true);
    if (py_take_name(p, "from"))
        py_expression(p);
    return node;
}

static Py *assert_statement(PyParser *p)
{
    Py *node = py_node(p, PY_ASSERT, p->token.at);
    py_advance(p);
    node->a = py_expression(p);
    if (py_take_op(p, ","))
        node->b = py_expression(p);
    return node;
}

static Py *global_statement(PyParser *p)
{
    Py *node = py_node(p, PY_GLOBAL, p->token.at);
    py_advance(p);
    do {
        Py *name = py_node(p, PY_NAME, p->token.at);
        name->text = py_take_identifier(p, "a name");
        py_add(p, node, name);
    } while (py_take_op(p, ",") && !p->failed);
    return node;
}

static Py *simple_statement(PyParser *p)
{
    if (py_at_name(p, "pass"))
        return word_statement(p, PY_PASS, false);
    if (py_at_name(p, "break"))
        return word_statement(p, PY_BREAK, false);
    if (py_at_name(p, "continue"))
        return word_statement(p, PY_CONTINUE, false);
    if (py_at_name(p, "return"))
        return word_statement(p, PY_RETURN, true);
    if (py_at_name(p, "del"))
        return word_statement(p, PY_DEL, true);
    if (py_at_name(p, "raise"))
        return raise_statement(p);
    if (py_at_name(p, "assert"))
        return assert_statement(p);
    if (py_at_name(p, "global") || py_at_name(p, "nonlocal"))
        return global_statement(p);
    if (py_at_name(p, "import"))
        return import_statement(p);
    if (py_at_name(p, "from"))
        return from_statement(p);
    if (py_at_name(p, "yield") || py_at_name(p, "async") || py_at_name(p, "await"))
        py_error(p, "'%.*s' is not supported", STR_ARG(p->token.text));
    return expression_statement(p);
}

static void simple_line(PyParser *p, Py *owner)
{
    bool match = py_at_name(p, "match");
    do {
        if (at_line_end(p))
            break;
        py_add(p, owner, simple_statement(p));
    } while (py_take_op(p, ";") && !p->failed);
    if (p->token.kind == TOK_NEWLINE)
        py_advance(p);
    else if (p->token.kind != TOK_END)
        py_error(p,
                 match ? "'match' statements are not supported" : "expected the end of the line");
}

/* --- compound statements ------------------------------------------------------------------ */

/* if: 'if' e block ('elif' e block)* ['else' block] */
static Py *if_statement(PyParser *p)
{
    Py *first = NULL, *last = NULL;
    do {
        Py *node = py_node(p, PY_IF, p->token.at);
        py_advance(p);
        node->a = py_expression(p);
        node->b = block(p);
        if (last)
            last->c = node;
        else
            first = node;
        last = node;
    } while (py_at_name(p, "elif") && !p->failed);
    if (py_take_name(p, "else"))
        last->c = block(p);
    return first;
}

static Py *while_statement(PyParser *p)
{
    Py *node = py_node(p, PY_WHILE, p->token.at);
    py_advance(p);
    node->a = py_expression(p);
    node->b = block(p);
    if (py_take_name(p, "else"))
        node->c = block(p);
    return node;
}

static Py *for_statement(PyParser *p)
{
    Py *node = py_node(p, PY_FOR, p->token.at);
    py_advance(p);
    node->a = py_target_list(p);
    check_target(p, node->a);
    if (!py_take_name(p, "in"))
        py_error(p, "expected 'in'");
    node->b = py_star_expressions(p);
    py_add(p, node, block(p));
    if (py_take_name(p, "else"))
        py_add(p, node, block(p));
    return node;
}

static Py *def_statement(PyParser *p, Py *decorators)
{
    Py *node = py_node(p, PY_DEF, p->token.at);
    py_advance(p);
    node->text = py_take_identifier(p, "a function name");
    py_expect_op(p, "(");
    py_parameters(p, node, ")");
    if (py_take_op(p, "->"))
        py_expression(p);
    node->a = block(p);
    node->b = decorators;
    return node;
}

static Py *class_statement(PyParser *p, Py *decorators)
{
    Py *node = py_node(p, PY_CLASS, p->token.at);
    py_advance(p);
    node->text = py_take_identifier(p, "a class name");
    if (py_take_op(p, "("))
        py_arguments(p, node);
    node->a = block(p);
    node->b = decorators;
    return node;
}

/* decorated: ('@' e NEWLINE)+ (def | class) */
static Py *decorated(PyParser *p)
{
    Py *list = py_node(p, PY_TUPLE, p->token.at);
    while (py_take_op(p, "@") && !p->failed) {
        py_add(p, list, py_expression(p));
        if (p->token.kind == TOK_NEWLINE)
            py_advance(p);
    }
    if (py_at_name(p, "def"))
        return def_statement(p, list);
    if (py_at_name(p, "class"))
        return class_statement(p, list);
    py_error(p, "expected a function or a class after the decorator");
    return list;
}

/* with: 'with' e ['as' target] (',' ...)* block */
static Py *with_statement(PyParser *p)
{
    Py *node = py_node(p, PY_WITH, p->token.at);
    py_advance(p);
    do {
        Py *item = py_node(p, PY_PAIR, p->token.at);
        item->a = py_expression(p);
        if (py_take_name(p, "as"))
            item->b = py_expression(p);
        py_add(p, node, item);
    } while (py_take_op(p, ",") && !p->failed);
    node->a = block(p);
    return node;
}

/* try: 'try' block ('except' [e ['as' NAME]] block)* ['else' block] ['finally' block] */
static Py *try_statement(PyParser *p)
{
    Py *node = py_node(p, PY_TRY, p->token.at);
    py_advance(p);
    node->a = block(p);
    while (py_at_name(p, "except") && !p->failed) {
        Py *handler = py_node(p, PY_EXCEPT, p->token.at);
        py_advance(p);
        if (!py_at_op(p, ":")) {
            handler->a = py_star_expressions(p);
            if (py_take_name(p, "as"))
                handler->text = py_take_identifier(p, "a name");
        }
        handler->b = block(p);
        py_add(p, node, handler);
    }
    if (py_take_name(p, "else"))
        node->b = block(p);
    if (py_take_name(p, "finally"))
        node->c = block(p);
    return node;
}

/* A compound statement, or NULL when a simple one stands here. */
static Py *statement(PyParser *p)
{
    if (py_at_op(p, "@"))
        return decorated(p);
    if (p->token.kind == TOK_INDENT)
        py_error(p, "this line is indented without reason");
    if (p->token.kind != TOK_NAME)
        return NULL;
    if (py_at_name(p, "if"))
        return if_statement(p);
    if (py_at_name(p, "for"))
        return for_statement(p);
    if (py_at_name(p, "while"))
        return while_statement(p);
    if (py_at_name(p, "def"))
        return def_statement(p, NULL);
    if (py_at_name(p, "class"))
        return class_statement(p, NULL);
    if (py_at_name(p, "with"))
        return with_statement(p);
    if (py_at_name(p, "try"))
        return try_statement(p);
    return NULL;
}

Py *py_module(PyParser *p)
{
    Py *module = py_node(p, PY_MODULE, p->token.at);
    while (p->token.kind != TOK_END && !p->failed) {
        Py *next = statement(p);
        if (next)
            py_add(p, module, next);
        else
            simple_line(p, module);
    }
    return module;
}
