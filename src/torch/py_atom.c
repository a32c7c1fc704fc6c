/* Atoms of the Python subset: names, numbers, strings with their fields, and all that stands in
 * brackets. Out comes one node; what is inside goes back through py_expression. */
#include "torch/py_parse_int.h"

#include <string.h>

static Py *f_string(PyParser *p, Str s, bool raw, Span at, int depth);

/* {expression [= ] [!conversion] [:spec]} ; *i stands after '{'. */
static Py *format_field(PyParser *p, Str s, size_t *i, Span at, int depth)
{
    size_t from = *i, nested = 0;
    char quote = 0;
    for (; *i < s.len; ++*i) {
        char c = s.at[*i];
        if (quote) {
            quote = c == quote ? 0 : quote;
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (c == '(' || c == '[' || c == '{') {
            nested++;
        } else if (nested && (c == ')' || c == ']' || c == '}')) {
            nested--;
        } else if (!nested && (c == '}' || c == ':')) {
            break;
        } else if (!nested && c == '!' && *i + 1 < s.len && s.at[*i + 1] != '=') {
            break;
        }
    }
    Py *field = py_node(p, PY_FORMAT, at);
    Str text = str_trim(str_slice(s, from, *i));
    if (text.len > 1 && text.at[text.len - 1] == '=' && !strchr("=!<>", text.at[text.len - 2])) {
        field->text = STR("=");
        text.len--;
    }
    Diag inner = diag_make(p->arena, p->diag->file, text);
    field->a = depth < 8 ? py_parse_expression(p->arena, text, &inner) : NULL;
    if (!field->a)
        py_error(p, "cannot read '%.*s' in this f-string", STR_ARG(text));
    if (*i < s.len && s.at[*i] == '!') {
        field->text = str_slice(s, *i + 1, *i + 2);
        *i += 2;
    }
    if (*i < s.len && s.at[*i] == ':') {
        size_t spec = ++*i;
        for (nested = 0; *i < s.len && (nested || s.at[*i] != '}'); ++*i)
            nested += s.at[*i] == '{' ? 1 : s.at[*i] == '}' ? (size_t)-1 : 0;
        field->b = f_string(p, str_slice(s, spec, *i), true, at, depth + 1);
    }
    if (*i >= s.len)
        py_error(p, "'{' is not closed in this f-string");
    ++*i;
    return field;
}

static void literal_piece(PyParser *p, Py *string, Str s, size_t from, size_t to, bool raw, Span at)
{
    if (from == to)
        return;
    Py *piece = py_node(p, PY_STRING, at);
    piece->text = py_string_value(p->arena, str_slice(s, from, to), raw);
    py_add(p, string, piece);
}

static Py *f_string(PyParser *p, Str s, bool raw, Span at, int depth)
{
    Py *string = py_node(p, PY_FSTRING, at);
    size_t from = 0;
    for (size_t i = 0; i < s.len && !p->failed;) {
        char c = s.at[i];
        bool twice = i + 1 < s.len && s.at[i + 1] == c;
        if ((c == '{' || c == '}') && twice) {
            literal_piece(p, string, s, from, i + 1, raw, at);
            from = i += 2;
        } else if (c == '{') {
            literal_piece(p, string, s, from, i, raw, at);
            i++;
            py_add(p, string, format_field(p, s, &i, at, depth));
            from = i;
        } else {
            i++;
        }
    }
    if (from < s.len)
        literal_piece(p, string, s, from, s.len, raw, at);
    return string;
}

/* strings: STRING+ */
static Py *strings(PyParser *p)
{
    Py *whole = py_node(p, PY_FSTRING, p->token.at);
    bool formatted = false;
    while (p->token.kind == TOK_STRING) {
        Token token = p->token;
        if (token.bytes)
            py_error(p, "bytes literals are not supported");
        if (token.formatted) {
            formatted = true;
            Py *part = f_string(p, token.text, token.raw, token.at, 0);
            for (uint32_t i = 0; i < part->kids.len; i++)
                py_add(p, whole, part->kids.at[i]);
        } else {
            literal_piece(p, whole, token.text, 0, token.text.len, token.raw, token.at);
        }
        py_advance(p);
    }
    if (formatted)
        return whole;
    size_t len = 0;
    for (uint32_t i = 0; i < whole->kids.len; i++)
        len += whole->kids.at[i]->text.len;
    char *joined = arena_alloc(p->arena, len + 1), *end = joined;
    for (uint32_t i = 0; i < whole->kids.len; i++) {
        memcpy(end, whole->kids.at[i]->text.at, whole->kids.at[i]->text.len);
        end += whole->kids.at[i]->text.len;
    }
    Py *string = py_node(p, PY_STRING, whole->at);
    string->text = (Str){joined, len};
    return string;
}

Py *py_named_or_star(PyParser *p)
{
    if (!py_at_op(p, "*"))
        return py_expression(p);
    Py *star = py_node(p, PY_STAR, p->token.at);
    py_advance(p);
    star->a = py_expression(p);
    return star;
}

/* for_clauses: ('async'? 'for' targets 'in' disjunction ('if' disjunction)*)+ */
void py_for_clauses(PyParser *p, Py *comp)
{
    while (py_at_name(p, "for") && !p->failed) {
        Py *clause = py_node(p, PY_COMPFOR, p->token.at);
        py_advance(p);
        clause->a = py_target_list(p);
        if (!py_take_name(p, "in"))
            py_error(p, "expected 'in'");
        clause->b = py_disjunction(p);
        while (py_take_name(p, "if"))
            py_add(p, clause, py_disjunction(p));
        py_add(p, comp, clause);
    }
}

/* items: comprehension, or item (',' item)* [','] up to the closing bracket */
static Py *items(PyParser *p, PyKind list, PyKind comp, const char *close, Span at, Py *first)
{
    if (py_at_name(p, "for")) {
        Py *node = py_node(p, comp, at);
        node->a = first;
        py_for_clauses(p, node);
        py_expect_op(p, close);
        return node;
    }
    Py *node = py_node(p, list, at);
    py_add(p, node, first);
    while (py_take_op(p, ",") && !py_at_op(p, close) && !p->failed)
        py_add(p, node, py_named_or_star(p));
    py_expect_op(p, close);
    return node;
}

/* group: '(' [items] ')' */
static Py *group(PyParser *p)
{
    Span at = p->token.at;
    py_advance(p);
    if (py_take_op(p, ")"))
        return py_node(p, PY_TUPLE, at);
    if (py_at_name(p, "yield"))
        py_error(p, "'yield' is not supported");
    Py *first = py_named_or_star(p);
    if (first->kind != PY_STAR && py_take_op(p, ")"))
        return first;
    return items(p, PY_TUPLE, PY_GENEXP, ")", at, first);
}

static Py *list_display(PyParser *p)
{
    Span at = p->token.at;
    py_advance(p);
    if (py_take_op(p, "]"))
        return py_node(p, PY_LIST, at);
    return items(p, PY_LIST, PY_LISTCOMP, "]", at, py_named_or_star(p));
}

/* pair: '**' disjunction | expression ':' expression */
static Py *dict_pair(PyParser *p)
{
    Py *pair = py_node(p, PY_PAIR, p->token.at);
    if (py_take_op(p, "**")) {
        pair->b = py_disjunction(p);
        return pair;
    }
    pair->a = py_expression(p);
    if (py_take_op(p, ":"))
        pair->b = py_expression(p);
    return pair;
}

static Py *braces(PyParser *p)
{
    Span at = p->token.at;
    py_advance(p);
    if (py_take_op(p, "}"))
        return py_node(p, PY_DICT, at);
    if (py_at_op(p, "*"))
        return items(p, PY_SET, PY_SETCOMP, "}", at, py_named_or_star(p));
    Py *first = dict_pair(p);
    if (!first->b)
        return items(p, PY_SET, PY_SETCOMP, "}", at, first->a);
    if (first->a && py_at_name(p, "for")) {
        Py *comp = py_node(p, PY_DICTCOMP, at);
        comp->a = first->a;
        comp->b = first->b;
        py_for_clauses(p, comp);
        py_expect_op(p, "}");
        return comp;
    }
    Py *dict = py_node(p, PY_DICT, at);
    py_add(p, dict, first);
    while (py_take_op(p, ",") && !py_at_op(p, "}") && !p->failed) {
        py_add(p, dict, dict_pair(p));
        if (!vec_last(&dict->kids)->b)
            py_error(p, "expected ':' and a value");
    }
    py_expect_op(p, "}");
    return dict;
}

static Py *name_atom(PyParser *p)
{
    static const struct {
        const char *text;
        PyKind kind;
    } constants[] = {{"True", PY_TRUE}, {"False", PY_FALSE}, {"None", PY_NONE}};
    Py *node = py_node(p, PY_NAME, p->token.at);
    node->text = p->token.text;
    for (size_t i = 0; i < 3; i++) {
        if (str_is(node->text, constants[i].text)) {
            node->kind = constants[i].kind;
            py_advance(p);
            return node;
        }
    }
    if (py_is_keyword(node->text))
        py_error(p, "'%.*s' is not expected here", STR_ARG(node->text));
    py_advance(p);
    return node;
}

Py *py_atom(PyParser *p)
{
    Py *node;
    switch (p->token.kind) {
    case TOK_NAME: return name_atom(p);
    case TOK_STRING: return strings(p);
    case TOK_INT:
    case TOK_FLOAT:
    case TOK_COMPLEX:
        node = py_node(p,
                       p->token.kind == TOK_INT     ? PY_INT
                       : p->token.kind == TOK_FLOAT ? PY_FLOAT
                                                    : PY_COMPLEX,
                       p->token.at);
        if (p->token.kind == TOK_INT)
            node->i = p->token.i;
        else
            node->f = p->token.f;
        py_advance(p);
        return node;
    case TOK_OP:
        if (py_at_op(p, "("))
            return group(p);
        if (py_at_op(p, "["))
            return list_display(p);
        if (py_at_op(p, "{"))
            return braces(p);
        if (py_at_op(p, "...")) {
            node = py_node(p, PY_ELLIPSIS, p->token.at);
            py_advance(p);
            return node;
        }
        break;
    default: break;
    }
    py_error(p, "expected an expression");
    return py_node(p, PY_NONE, p->token.at);
}
