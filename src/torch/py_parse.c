/* Expressions of the Python subset, by recursive descent: one function for each grammar rule,
 * the rule above it. Every recursion passes py_expression or a bracket, which count depth. */
#include "torch/py_parse_int.h"

#include <string.h>

void py_error(PyParser *p, const char *format, ...)
{
    if (p->failed)
        return;
    p->failed = true;
    va_list args;
    va_start(args, format);
    diag_error(p->diag, "T002", p->token.at, "%s", str_vformat(p->arena, format, args));
    va_end(args);
    if (p->lexer.brackets == 0)
        return;
    Span open = p->lexer.opened[p->lexer.brackets - 1];
    if (open.line < p->token.at.line)
        diag_hint(p->diag, "the bracket in line %u, column %u is not closed", open.line, open.col);
}

void py_advance(PyParser *p)
{
    if (p->failed) {
        p->token.kind = TOK_END;
        return;
    }
    p->token = py_next(&p->lexer);
    if (p->token.kind == TOK_ERROR) {
        p->failed = true;
        p->token.kind = TOK_END;
    }
}

bool py_at_op(const PyParser *p, const char *text)
{
    return p->token.kind == TOK_OP && str_is(p->token.text, text);
}

bool py_at_name(const PyParser *p, const char *text)
{
    return p->token.kind == TOK_NAME && str_is(p->token.text, text);
}

bool py_take_op(PyParser *p, const char *text)
{
    if (!py_at_op(p, text))
        return false;
    py_advance(p);
    return true;
}

bool py_take_name(PyParser *p, const char *text)
{
    if (!py_at_name(p, text))
        return false;
    py_advance(p);
    return true;
}

void py_expect_op(PyParser *p, const char *text)
{
    if (!py_take_op(p, text))
        py_error(p, "expected '%s'", text);
}

Py *py_node(PyParser *p, PyKind kind, Span at)
{
    if (++p->nodes > PY_MAX_NODES)
        py_error(p, "the file is too long");
    Py *node = arena_new(p->arena, Py);
    node->kind = kind;
    node->at = p->all_at ? *p->all_at : at;
    node->id = p->nodes;
    return node;
}

void py_add(PyParser *p, Py *parent, Py *kid) { vec_push(p->arena, &parent->kids, kid); }

bool py_is_keyword(Str name)
{
    static const char *const words[] = {
        "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
        "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
        "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
        "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (str_is(name, words[i]))
            return true;
    }
    return false;
}

Str py_take_identifier(PyParser *p, const char *what)
{
    Str name = p->token.text;
    if (p->token.kind != TOK_NAME || py_is_keyword(name)) {
        py_error(p, "expected %s", what);
        return STR("");
    }
    py_advance(p);
    return name;
}

const char *py_op_text(PyOp op)
{
    static const char *const text[] = {
        "",  "+", "-", "*",  "/",  "//", "%",  "**", "@",  "<<", ">>",     "&",  "|",     "^",
        "+", "-", "~", "==", "!=", "<",  "<=", ">",  ">=", "is", "is not", "in", "not in"};
    return text[op];
}

/* --- primaries ---------------------------------------------------------------------------- */

/* argument: '*' e | '**' e | NAME '=' e | e [for_clauses] */
static Py *argument(PyParser *p)
{
    Span at = p->token.at;
    if (py_at_op(p, "*") || py_at_op(p, "**")) {
        Py *star = py_node(p, py_at_op(p, "*") ? PY_STAR : PY_DSTAR, at);
        py_advance(p);
        star->a = py_expression(p);
        return star;
    }
    Py *value = py_expression(p);
    if (value->kind == PY_NAME && py_take_op(p, "=")) {
        Py *keyword = py_node(p, PY_KEYWORD, at);
        keyword->text = value->text;
        keyword->a = py_expression(p);
        return keyword;
    }
    if (py_at_name(p, "for")) {
        Py *comp = py_node(p, PY_GENEXP, at);
        comp->a = value;
        py_for_clauses(p, comp);
        return comp;
    }
    return value;
}

void py_arguments(PyParser *p, Py *call)
{
    while (!py_at_op(p, ")") && !p->failed) {
        py_add(p, call, argument(p));
        if (!py_take_op(p, ","))
            break;
    }
    py_expect_op(p, ")");
}

/* slice: [e] ':' [e] [':' [e]] | e */
static Py *slice(PyParser *p)
{
    Span at = p->token.at;
    Py *low = py_at_op(p, ":") ? NULL : py_named_or_star(p);
    if (!py_at_op(p, ":"))
        return low;
    Py *node = py_node(p, PY_SLICE, at);
    node->a = low;
    py_advance(p);
    if (!py_at_op(p, ":") && !py_at_op(p, "]") && !py_at_op(p, ","))
        node->b = py_expression(p);
    if (py_take_op(p, ":") && !py_at_op(p, "]") && !py_at_op(p, ","))
        node->c = py_expression(p);
    return node;
}

static Py *slices(PyParser *p)
{
    Span at = p->token.at;
    Py *first = slice(p);
    if (!py_at_op(p, ",") && first->kind != PY_STAR)
        return first;
    Py *tuple = py_node(p, PY_TUPLE, at);
    py_add(p, tuple, first);
    while (py_take_op(p, ",") && !py_at_op(p, "]") && !p->failed)
        py_add(p, tuple, slice(p));
    return tuple;
}

/* primary: atom ('.' NAME | '(' arguments ')' | '[' slices ']')* */
static Py *primary(PyParser *p)
{
    if (py_at_name(p, "await"))
        py_error(p, "'await' is not supported");
    Py *node = py_atom(p);
    for (uint32_t chain = 0; !p->failed; chain++) {
        Span at = p->token.at;
        if (chain > 4 * PY_MAX_DEPTH) {
            py_error(p, "this chain of calls is too long");
        } else if (py_take_op(p, ".")) {
            Py *attr = py_node(p, PY_ATTR, p->token.at);
            attr->a = node;
            attr->text = py_take_identifier(p, "an attribute name");
            node = attr;
        } else if (py_take_op(p, "(")) {
            Py *call = py_node(p, PY_CALL, node->at);
            call->a = node;
            py_arguments(p, call);
            node = call;
        } else if (py_take_op(p, "[")) {
            Py *index = py_node(p, PY_INDEX, at);
            index->a = node;
            index->b = slices(p);
            py_expect_op(p, "]");
            node = index;
        } else {
            return node;
        }
    }
    return node;
}

/* --- operators ---------------------------------------------------------------------------- */

static Py *unary(PyParser *p);

static Py *binary_node(PyParser *p, PyOp op, Span at, Py *a, Py *b)
{
    Py *node = py_node(p, PY_BINARY, at);
    node->op = op;
    node->a = a;
    node->b = b;
    return node;
}

/* power: primary ['**' unary] */
static Py *power(PyParser *p)
{
    Py *base = primary(p);
    Span at = p->token.at;
    if (!py_take_op(p, "**"))
        return base;
    return binary_node(p, PYOP_POW, at, base, unary(p));
}

/* unary: ('+' | '-' | '~') unary | power */
static Py *unary(PyParser *p)
{
    static const struct {
        const char *text;
        PyOp op;
    } signs[] = {{"-", PYOP_NEG}, {"+", PYOP_POS}, {"~", PYOP_INVERT}};
    for (size_t i = 0; i < 3; i++) {
        Span at = p->token.at;
        if (!py_take_op(p, signs[i].text))
            continue;
        if (++p->depth > PY_MAX_DEPTH)
            py_error(p, "this expression is nested too deeply");
        Py *node = py_node(p, PY_UNARY, at);
        node->op = signs[i].op;
        node->a = p->failed ? py_node(p, PY_NONE, at) : unary(p);
        p->depth--;
        return node;
    }
    return power(p);
}

static const struct {
    const char *text;
    PyOp op;
    int level;
} binary_ops[] = {{"|", PYOP_OR, 0},        {"^", PYOP_XOR, 1},  {"&", PYOP_AND, 2},
                  {"<<", PYOP_SHL, 3},      {">>", PYOP_SHR, 3}, {"+", PYOP_ADD, 4},
                  {"-", PYOP_SUB, 4},       {"*", PYOP_MUL, 5},  {"/", PYOP_DIV, 5},
                  {"//", PYOP_FLOORDIV, 5}, {"%", PYOP_MOD, 5},  {"@", PYOP_MATMUL, 5}};

static int binary_op_at(const PyParser *p, int level)
{
    for (int i = 0; p->token.kind == TOK_OP && i < (int)(sizeof binary_ops / sizeof *binary_ops);
         i++) {
        if (binary_ops[i].level == level && str_is(p->token.text, binary_ops[i].text))
            return i;
    }
    return -1;
}

/* binary(n): binary(n+1) (op_n binary(n+1))* */
static Py *binary(PyParser *p, int level)
{
    if (level > 5)
        return unary(p);
    Py *left = binary(p, level + 1);
    uint32_t chain = 0;
    for (int op; (op = binary_op_at(p, level)) >= 0 && !p->failed;) {
        Span at = p->token.at;
        if (++chain > 4 * PY_MAX_DEPTH)
            py_error(p, "this expression is too long");
        py_advance(p);
        left = binary_node(p, binary_ops[op].op, at, left, binary(p, level + 1));
    }
    return left;
}

static PyOp comparison_op(PyParser *p)
{
    static const struct {
        const char *text;
        PyOp op;
    } table[] = {{"==", PYOP_EQ}, {"!=", PYOP_NE}, {"<", PYOP_LT},
                 {"<=", PYOP_LE}, {">", PYOP_GT},  {">=", PYOP_GE}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (py_take_op(p, table[i].text))
            return table[i].op;
    }
    if (py_take_name(p, "in"))
        return PYOP_IN;
    if (py_take_name(p, "is"))
        return py_take_name(p, "not") ? PYOP_ISNOT : PYOP_IS;
    if (py_take_name(p, "not")) {
        if (!py_take_name(p, "in"))
            py_error(p, "expected 'in' after 'not'");
        return PYOP_NOTIN;
    }
    return PYOP_NONE;
}

/* comparison: binary(0) (op binary(0))* */
static Py *comparison(PyParser *p)
{
    Py *left = binary(p, 0), *node = NULL;
    for (;;) {
        Span at = p->token.at;
        PyOp op = comparison_op(p);
        if (op == PYOP_NONE || p->failed)
            return node ? node : left;
        if (!node) {
            node = py_node(p, PY_COMPARE, at);
            node->a = left;
        }
        Py *next = py_node(p, PY_UNARY, at);
        next->op = op;
        next->a = binary(p, 0);
        py_add(p, node, next);
    }
}

/* inversion: 'not' inversion | comparison */
static Py *inversion(PyParser *p)
{
    Span at = p->token.at;
    if (!py_take_name(p, "not"))
        return comparison(p);
    Py *node = py_node(p, PY_NOT, at);
    if (++p->depth > PY_MAX_DEPTH)
        py_error(p, "this expression is nested too deeply");
    node->a = p->failed ? py_node(p, PY_NONE, at) : inversion(p);
    p->depth--;
    return node;
}

static Py *logical(PyParser *p, PyKind kind, const char *word, Py *(*inner)(PyParser *))
{
    Py *left = inner(p);
    uint32_t chain = 0;
    for (Span at = p->token.at; py_take_name(p, word) && !p->failed; at = p->token.at) {
        if (++chain > 4 * PY_MAX_DEPTH)
            py_error(p, "this expression is too long");
        Py *node = py_node(p, kind, at);
        node->a = left;
        node->b = inner(p);
        left = node;
    }
    return left;
}

static Py *conjunction(PyParser *p) { return logical(p, PY_AND, "and", inversion); }

Py *py_disjunction(PyParser *p) { return logical(p, PY_OR, "or", conjunction); }

/* --- whole expressions -------------------------------------------------------------------- */

/* parameters: [NAME [':' annotation] ['=' e] | '*' [NAME] | '**' NAME | '/'] (',' ...)* */
void py_parameters(PyParser *p, Py *owner, const char *close)
{
    while (!py_at_op(p, close) && !p->failed) {
        Py *param = py_node(p, PY_PARAM, p->token.at);
        if (py_take_op(p, "/")) {
            py_take_op(p, ",");
            continue;
        }
        if (py_take_op(p, "**"))
            param->op = PYOP_POW;
        else if (py_take_op(p, "*"))
            param->op = PYOP_MUL;
        if (param->op != PYOP_MUL || p->token.kind == TOK_NAME)
            param->text = py_take_identifier(p, "a parameter name");
        if (*close == ')' && py_take_op(p, ":"))
            py_expression(p);
        if (py_take_op(p, "="))
            param->a = py_expression(p);
        py_add(p, owner, param);
        if (!py_take_op(p, ","))
            break;
    }
    py_expect_op(p, close);
}

static Py *lambda(PyParser *p)
{
    Py *node = py_node(p, PY_LAMBDA, p->token.at);
    py_advance(p);
    py_parameters(p, node, ":");
    node->a = py_expression(p);
    return node;
}

/* expression: lambda | NAME ':=' e | disjunction ['if' disjunction 'else' expression] */
static Py *expression_body(PyParser *p)
{
    if (py_at_name(p, "lambda"))
        return lambda(p);
    if (py_at_name(p, "yield"))
        py_error(p, "'yield' is not supported");
    Py *value = py_disjunction(p);
    Span at = p->token.at;
    if (value->kind == PY_NAME && p->lexer.brackets && py_take_op(p, ":=")) {
        Py *walrus = py_node(p, PY_WALRUS, at);
        walrus->text = value->text;
        walrus->a = py_expression(p);
        return walrus;
    }
    if (!py_take_name(p, "if"))
        return value;
    Py *node = py_node(p, PY_IFEXP, at);
    node->b = value;
    node->a = py_disjunction(p);
    if (!py_take_name(p, "else"))
        py_error(p, "expected 'else'");
    node->c = py_expression(p);
    return node;
}

Py *py_expression(PyParser *p)
{
    if (++p->depth > PY_MAX_DEPTH)
        py_error(p, "this expression is nested too deeply");
    Py *node = p->failed ? py_node(p, PY_NONE, p->token.at) : expression_body(p);
    p->depth--;
    return node;
}

static bool ends_list(const PyParser *p)
{
    if (p->token.kind == TOK_NAME)
        return py_at_name(p, "in");
    if (p->token.kind == TOK_OP)
        return py_at_op(p, "=") || py_at_op(p, ")") || py_at_op(p, "]") || py_at_op(p, "}") ||
               py_at_op(p, ":") || py_at_op(p, ";");
    return p->token.kind != TOK_INT && p->token.kind != TOK_FLOAT && p->token.kind != TOK_STRING;
}

static Py *comma_list(PyParser *p, Py *(*item)(PyParser *))
{
    Span at = p->token.at;
    Py *first = item(p);
    if (!py_at_op(p, ","))
        return first;
    Py *tuple = py_node(p, PY_TUPLE, at);
    py_add(p, tuple, first);
    while (py_take_op(p, ",") && !ends_list(p) && !p->failed)
        py_add(p, tuple, item(p));
    return tuple;
}

Py *py_star_expressions(PyParser *p) { return comma_list(p, py_named_or_star); }

static Py *target(PyParser *p)
{
    if (!py_at_op(p, "*"))
        return primary(p);
    Py *star = py_node(p, PY_STAR, p->token.at);
    py_advance(p);
    star->a = primary(p);
    return star;
}

Py *py_target_list(PyParser *p) { return comma_list(p, target); }

static bool start(PyParser *p, Arena *arena, Str source, Diag *diag)
{
    *p = (PyParser){.arena = arena, .diag = diag};
    if (source.len > PY_MAX_BYTES) {
        diag_error(diag, "T002", (Span){0}, "the text is larger than %d bytes", (int)PY_MAX_BYTES);
        return false;
    }
    p->lexer = py_lexer(arena, source, diag);
    py_advance(p);
    return true;
}

Py *py_parse(Arena *arena, Str source, Diag *diag)
{
    PyParser p;
    if (!start(&p, arena, source, diag))
        return NULL;
    Py *module = py_module(&p);
    return p.failed ? NULL : module;
}

Py *py_parse_at(Arena *arena, Str source, Span at, Diag *diag)
{
    PyParser p;
    if (!start(&p, arena, source, diag))
        return NULL;
    p.all_at = &at;
    Py *module = py_module(&p);
    return p.failed ? NULL : module;
}

Py *py_parse_expression(Arena *arena, Str source, Diag *diag)
{
    PyParser p;
    if (!start(&p, arena, str_trim(source), diag))
        return NULL;
    Py *value = py_star_expressions(&p);
    if (p.token.kind == TOK_NEWLINE)
        py_advance(&p);
    if (p.token.kind != TOK_END)
        py_error(&p, "the expression does not end here");
    return p.failed ? NULL : value;
}
