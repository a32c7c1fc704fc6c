/* Reads the text form that text.c prints. Shapes are inferred anew and must agree with what the
 * text says. Input may be hostile: sizes and counts are checked before anything is made. */
#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

typedef struct Reader {
    Arena *arena;
    Diag *diag;
    Str text;
    size_t at;
    uint32_t line;
    bool failed;
} Reader;

enum { MAX_CONST = 1 << 24, MAX_LIST = 1 << 16 };

static void fail_reading(Reader *r, const char *what)
{
    if (!r->failed)
        diag_error(r->diag, "G110", (Span){r->line, 1, 1}, "graph text: %s", what);
    r->failed = true;
}

static void skip_blank(Reader *r)
{
    for (; r->at < r->text.len; r->at++) {
        char c = r->text.at[r->at];
        if (c == '\n')
            r->line++;
        else if (c != ' ' && c != '\t' && c != '\r')
            return;
    }
}

static bool take_word(Reader *r, const char *word)
{
    skip_blank(r);
    if (r->failed || !str_starts(str_slice(r->text, r->at, r->text.len), word))
        return false;
    r->at += strlen(word);
    return true;
}

static void expect(Reader *r, const char *word)
{
    if (!take_word(r, word))
        fail_reading(r, str_format(r->arena, "expected '%s'", word));
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static Str word(Reader *r)
{
    skip_blank(r);
    size_t start = r->at;
    while (r->at < r->text.len && is_word(r->text.at[r->at]))
        r->at++;
    if (r->at == start)
        fail_reading(r, "expected a name");
    return str_slice(r->text, start, r->at);
}

static Str number_text(Reader *r)
{
    skip_blank(r);
    size_t start = r->at;
    while (r->at < r->text.len && (is_word(r->text.at[r->at]) || strchr("+-.", r->text.at[r->at])))
        r->at++;
    return str_slice(r->text, start, r->at);
}

static int64_t integer(Reader *r)
{
    int64_t value = 0;
    if (!str_to_i64(number_text(r), &value))
        fail_reading(r, "expected an integer");
    return value;
}

static uint32_t small(Reader *r)
{
    int64_t value = integer(r);
    if (value < 0 || value >= UINT32_MAX)
        fail_reading(r, "number out of range");
    return r->failed ? 0 : (uint32_t)value;
}

static double real(Reader *r)
{
    Str s = number_text(r);
    char buffer[64], *end;
    if (!s.len || s.len >= sizeof buffer) {
        fail_reading(r, "expected a number");
        return 0;
    }
    memcpy(buffer, s.at, s.len);
    buffer[s.len] = '\0';
    double value = strtod(buffer, &end);
    if (*end)
        fail_reading(r, "expected a number");
    return value;
}

/* A JSON string; \u escapes below 0x80 are all that the printer writes. */
static Str quoted(Reader *r)
{
    expect(r, "\"");
    char *out = arena_alloc(r->arena, 1);
    size_t len = 0, cap = 1;
    while (!r->failed) {
        if (r->at >= r->text.len) {
            fail_reading(r, "a string is not closed");
            break;
        }
        char c = r->text.at[r->at++];
        if (c == '"')
            break;
        if (c == '\\' && r->at < r->text.len) {
            c = r->text.at[r->at++];
            if (c == 'u' && r->text.len - r->at >= 4) {
                char hex[5] = {0};
                memcpy(hex, r->text.at + r->at, 4);
                c = (char)strtoul(hex, NULL, 16);
                r->at += 4;
            } else {
                c = c == 'n'   ? '\n'
                    : c == 't' ? '\t'
                    : c == 'r' ? '\r'
                    : c == 'b' ? '\b'
                    : c == 'f' ? '\f'
                               : c;
            }
        }
        if (len + 1 >= cap) {
            out = arena_grow(r->arena, out, cap, 2 * cap + 16);
            cap = 2 * cap + 16;
        }
        out[len++] = c;
    }
    out[len < cap ? len : 0] = '\0';
    return (Str){out, len};
}

static DType dtype(Reader *r)
{
    DType d = DT_F32;
    if (!dtype_from_name(word(r), &d))
        fail_reading(r, "unknown dtype");
    return d;
}

static Shape shape(Reader *r)
{
    Shape s = {0};
    expect(r, "[");
    while (!r->failed && !take_word(r, "]")) {
        if (s.rank)
            expect(r, ",");
        if (s.rank == GRAPH_MAX_RANK) {
            fail_reading(r, "too many dims");
            break;
        }
        s.dim[s.rank++] = integer(r);
        if (s.dim[s.rank - 1] < 0)
            fail_reading(r, "negative size");
    }
    return s;
}

static ValueId value_id(Reader *r, const Graph *g)
{
    expect(r, "%");
    uint32_t id = small(r);
    if (!r->failed && id >= g->values.len)
        fail_reading(r, "a value is used before it is made");
    return r->failed ? 0 : id;
}

/* --- values ------------------------------------------------------------------------------- */

static void store_element(Reader *r, DType d, void *data, size_t i)
{
    if (d == DT_I64) {
        ((int64_t *)data)[i] = integer(r);
    } else if (d == DT_U64) {
        Str s = number_text(r);
        char buffer[32] = {0};
        memcpy(buffer, s.at, s.len < 31 ? s.len : 31);
        ((uint64_t *)data)[i] = strtoull(buffer, NULL, 10);
    } else {
        dtype_store(d, data, i, real(r));
    }
    if (d == DT_C64)
        ((float *)data)[2 * i + 1] = (float)real(r);
}

static void parse_const(Reader *r, Graph *g)
{
    Value v = {.kind = VALUE_CONST, .node = NODE_NONE, .weak = take_word(r, "weak")};
    v.dtype = dtype(r);
    v.shape = shape(r);
    int64_t count;
    if (!shape_count(v.shape, &count) || count > MAX_CONST)
        fail_reading(r, "a constant is too large");
    /* each element takes at least two characters of text */
    if (!r->failed && (size_t)count > (r->text.len - r->at) / 2 + 1)
        fail_reading(r, "a constant's elements are missing");
    if (r->failed)
        return;
    void *data = arena_alloc(r->arena, (size_t)count * dtype_bytes(v.dtype) + 8);
    for (int64_t i = 0; i < count && !r->failed; i++)
        store_element(r, v.dtype, data, (size_t)i);
    v.data = data;
    graph_add_value(g, v);
}

static void parse_given(Reader *r, Graph *g, ValueKind kind)
{
    Value v = {.kind = kind, .node = NODE_NONE};
    Str name = quoted(r);
    v.name = str_dup(r->arena, name);
    v.dtype = dtype(r);
    v.shape = shape(r);
    expect(r, "source");
    v.source = small(r);
    ValueId id = graph_add_value(g, v);
    if (kind == VALUE_INPUT)
        vec_push(r->arena, &g->inputs, id);
    else
        vec_push(r->arena, &g->params, id);
}

/* --- nodes -------------------------------------------------------------------------------- */

static bool find_op(Str name, Op *op)
{
    for (int i = 0; i < OP_COUNT; i++) {
        if (str_is(name, op_rows[i].name)) {
            *op = (Op)i;
            return true;
        }
    }
    return false;
}

static int find_kind(Reader *r, Op op)
{
    if (!op_rows[op].n_kinds)
        return 0;
    expect(r, ".");
    Str name = word(r);
    for (int i = 0; i < op_rows[op].n_kinds; i++) {
        if (str_is(name, op_rows[op].kinds[i]))
            return i;
    }
    fail_reading(r, "unknown kind");
    return 0;
}

static void parse_ints(Reader *r, Attr *attr)
{
    VEC(int64_t) list = {0};
    expect(r, "[");
    while (!r->failed && !take_word(r, "]")) {
        if (list.len)
            expect(r, ",");
        if (list.len > MAX_LIST)
            fail_reading(r, "a list is too long");
        vec_push(r->arena, &list, integer(r));
    }
    attr->ints.at = list.at;
    attr->ints.len = list.len;
}

static Attr parse_attr(Reader *r)
{
    Attr attr = {0};
    Str name = word(r);
    bool found = false;
    for (int i = 0; i < AT_COUNT && !found; i++) {
        found = str_is(name, attr_rows[i].name);
        if (found)
            attr.key = (AttrKey)i;
    }
    if (!found)
        fail_reading(r, "unknown attribute");
    expect(r, "=");
    switch (attr_rows[attr.key].type) {
    case ATTR_INT: attr.i = integer(r); break;
    case ATTR_BOOL: attr.i = take_word(r, "true") || (expect(r, "false"), 0); break;
    case ATTR_FLOAT: attr.f = real(r); break;
    case ATTR_TEXT: attr.text = quoted(r); break;
    case ATTR_DTYPE: attr.dtype = dtype(r); break;
    case ATTR_INTS: parse_ints(r, &attr); break;
    }
    return attr;
}

static void check_types(Reader *r, const Graph *g, ValueId first, uint32_t n)
{
    for (uint32_t i = 0; i < n && !r->failed; i++) {
        if (i)
            expect(r, ",");
        DType d = dtype(r);
        Shape s = shape(r);
        const Value *v = graph_value(g, first + i);
        if (!r->failed && (v->dtype != d || !shape_equal(v->shape, s)))
            fail_reading(r, "a node's type is not what its inputs make it");
    }
}

static void parse_node(Reader *r, Graph *g, uint32_t n_out)
{
    NodeSpec spec = {.n_out = n_out};
    VEC(ValueId) in = {0};
    VEC(Attr) attr = {0};
    if (!find_op(word(r), &spec.op))
        fail_reading(r, "unknown operator");
    spec.kind = find_kind(r, spec.op);
    expect(r, "(");
    while (!r->failed && !take_word(r, ")")) {
        if (in.len)
            expect(r, ",");
        vec_push(r->arena, &in, take_word(r, "_") ? VALUE_NONE : value_id(r, g));
    }
    if (take_word(r, "{")) {
        do
            vec_push(r->arena, &attr, parse_attr(r));
        while (!r->failed && take_word(r, ","));
        expect(r, "}");
    }
    expect(r, ":");
    if (r->failed)
        return;
    spec.in = in.at;
    spec.n_in = in.len;
    spec.attr = attr.at;
    spec.n_attr = attr.len;
    spec.at = (Span){r->line, 1, 1};
    ValueId first;
    if (!graph_add(g, &spec, r->diag, &first)) {
        r->failed = true;
        return;
    }
    check_types(r, g, first, n_out);
    Node *node = &g->nodes.at[g->nodes.len - 1];
    node->at = (Span){0};
    if (take_word(r, "@"))
        node->at = (Span){small(r), 1, 1};
    if (take_word(r, "in "))
        node->scope = str_dup(r->arena, quoted(r));
}

static void parse_line(Reader *r, Graph *g)
{
    uint32_t n = 0;
    do {
        expect(r, "%");
        if (small(r) != g->values.len + n)
            fail_reading(r, "values must be numbered in order");
        n++;
    } while (!r->failed && take_word(r, ","));
    expect(r, "=");
    if (n == 1 && take_word(r, "const "))
        parse_const(r, g);
    else if (n == 1 && take_word(r, "input "))
        parse_given(r, g, VALUE_INPUT);
    else if (n == 1 && take_word(r, "param "))
        parse_given(r, g, VALUE_PARAM);
    else if (n == 1 && take_word(r, "buffer "))
        parse_given(r, g, VALUE_BUFFER);
    else
        parse_node(r, g, n);
}

static void parse_body(Reader *r, Graph *g)
{
    expect(r, "{");
    while (!r->failed && !take_word(r, "return")) {
        if (take_word(r, "note "))
            vec_push(r->arena, &g->notes, str_dup(r->arena, quoted(r)));
        else
            parse_line(r, g);
    }
    while (!r->failed && !take_word(r, "}")) {
        if (g->outputs.len)
            expect(r, ",");
        vec_push(r->arena, &g->outputs, value_id(r, g));
    }
}

static void check_sources(Reader *r, const Graph *g)
{
    for (uint32_t i = 0; i < g->values.len; i++) {
        const Value *v = graph_value(g, i);
        bool given = v->kind == VALUE_INPUT || v->kind == VALUE_PARAM || v->kind == VALUE_BUFFER;
        if (given && (!g->source || v->source >= g->source->outputs.len)) {
            fail_reading(r, "an input or parameter has no source");
            return;
        }
        if (!given)
            continue;
        const Value *from = graph_value(g->source, g->source->outputs.at[v->source]);
        if (from->dtype != v->dtype || !shape_equal(from->shape, v->shape))
            fail_reading(r, "an input or parameter differs from its source");
    }
}

static void sort_params(Graph *g)
{
    for (uint32_t i = 1; i < g->params.len; i++) {
        for (uint32_t j = i; j > 0 && graph_value(g, g->params.at[j - 1])->source >
                                          graph_value(g, g->params.at[j])->source;
             j--) {
            ValueId swap = g->params.at[j];
            g->params.at[j] = g->params.at[j - 1];
            g->params.at[j - 1] = swap;
        }
    }
}

Graph *graph_parse(Arena *arena, Str text, Diag *diag)
{
    Reader r = {.arena = arena, .diag = diag, .text = text, .line = 1};
    expect(&r, "graph");
    Graph *g = graph_new(arena, str_dup(arena, quoted(&r)));
    parse_body(&r, g);
    if (!r.failed && take_word(&r, "source")) {
        g->source = graph_new(arena, "source");
        parse_body(&r, g->source);
        if (!r.failed && g->source->inputs.len + g->source->params.len)
            fail_reading(&r, "a source graph has no inputs");
    }
    skip_blank(&r);
    if (!r.failed && r.at != text.len)
        fail_reading(&r, "text after the end");
    if (!r.failed)
        check_sources(&r, g);
    sort_params(g);
    return r.failed ? NULL : g;
}
