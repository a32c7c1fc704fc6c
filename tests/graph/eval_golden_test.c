/* Every operator against values from PyTorch: tests/graph/golden, the format stands in
 * tools/golden_ops.py. Each case runs twice, with f32 held as f32 and as f64. */
#include "graph/eval.h"
#include "base/file.h"
#include "tests/t.h"
#include <math.h>
#include <string.h>

enum { MOST_VALUES = 64 };

typedef struct Case {
    Str name, op;
    Str in[MOST_VALUES], out[MOST_VALUES];
    uint32_t n_in, n_out;
    bool fails;
} Case;

static Str word(Str *line)
{
    Str w = {line->at, 0};
    *line = str_trim(*line);
    str_next(line, ' ', &w);
    return w;
}

static Shape read_shape(Str text)
{
    Shape s = {0};
    Str piece;
    while (!str_is(text, "-") && s.rank < GRAPH_MAX_RANK && str_next(&text, ',', &piece))
        str_to_i64(piece, &s.dim[s.rank++]);
    return s;
}

static double read_number(Str w)
{
    double v = 0;
    if (str_is(w, "nan"))
        return (double)NAN;
    if (str_is(w, "inf") || str_is(w, "-inf"))
        return w.at[0] == '-' ? -INFINITY : INFINITY;
    CHECK_MSG(str_to_double(w, &v), "bad number '%.*s'", STR_ARG(w));
    return v;
}

/* "f32 2,3 1 2 3 4 5 6" */
static Tensor *read_tensor(Str line)
{
    DType dtype = DT_F32;
    Str name = word(&line);
    REQUIRE(dtype_from_name(name, &dtype));
    Tensor *t = tensor_new(dtype, read_shape(word(&line)));
    REQUIRE(t != NULL);
    for (int64_t i = 0; i < t->count * (dtype == DT_C64 ? 2 : 1); i++) {
        Str w = word(&line);
        int64_t whole;
        if (dtype == DT_C64)
            TENSOR_AT(t, float)[i] = (float)read_number(w);
        else if (str_to_i64(w, &whole) && !dtype_is_float(dtype))
            tensor_store_i64(t, i, 1, 1, &whole);
        else
            tensor_set(t, i, read_number(w));
    }
    return t;
}

static ValueId read_weak(Graph *g, Str line)
{
    Str kind = word(&line);
    double v = read_number(word(&line));
    return str_is(kind, "f64")   ? graph_const_float(g, v)
           : str_is(kind, "i64") ? graph_const_int(g, (int64_t)v)
                                 : graph_const_bool(g, v != 0);
}

static bool read_attr(Arena *arena, Str text, Attr *attr)
{
    Str name = {0};
    str_next(&text, '=', &name);
    for (int k = 0; k < AT_COUNT; k++) {
        if (!str_is(name, attr_rows[k].name))
            continue;
        *attr = (Attr){.key = (AttrKey)k};
        switch (attr_rows[k].type) {
        case ATTR_INT: return str_to_i64(text, &attr->i);
        case ATTR_BOOL: attr->i = str_is(text, "true"); return true;
        case ATTR_FLOAT: attr->f = read_number(text); return true;
        case ATTR_TEXT: attr->text = str_copy(arena, text); return true;
        case ATTR_DTYPE: return dtype_from_name(text, &attr->dtype);
        case ATTR_INTS: {
            Str piece;
            VEC(int64_t) v = {0};
            while (!str_is(text, "-") && str_next(&text, ',', &piece)) {
                int64_t n = 0;
                str_to_i64(piece, &n);
                vec_push(arena, &v, n);
            }
            attr->ints.at = v.at;
            attr->ints.len = v.len;
            return true;
        }
        }
    }
    return false;
}

static bool find_op(Str text, NodeSpec *spec)
{
    Str name = {0}, kind = text;
    str_next(&kind, '.', &name);
    for (int o = 0; o < OP_COUNT; o++) {
        if (!str_is(name, op_rows[o].name))
            continue;
        spec->op = (Op)o;
        for (int k = 0; k < op_rows[o].n_kinds; k++)
            if (str_is(kind, op_rows[o].kinds[k])) {
                spec->kind = k;
                return true;
            }
        return op_rows[o].n_kinds == 0;
    }
    return false;
}

/* The one-node graph of a case, with its input tensors. */
typedef struct Built {
    Graph *graph;
    Tensor *inputs[MOST_VALUES];
    uint32_t n_inputs;
} Built;

static bool build(Arena *arena, const Case *c, Built *b, Diag *diag)
{
    ValueId ids[MOST_VALUES], out;
    VEC(Attr) attrs = {0};
    Str line = c->op, piece;
    NodeSpec spec = {.n_in = c->n_in, .n_out = c->n_out, .in = ids};
    *b = (Built){.graph = graph_new(arena, "case")};
    REQUIRE(find_op(word(&line), &spec));
    while ((piece = word(&line)).len > 0) {
        Attr attr;
        REQUIRE(read_attr(arena, piece, &attr));
        vec_push(arena, &attrs, attr);
    }
    spec.attr = attrs.at;
    spec.n_attr = attrs.len;
    for (uint32_t i = 0; i < c->n_in; i++) {
        Str in = c->in[i], rest = in;
        if (str_is(in, "none")) {
            ids[i] = VALUE_NONE;
        } else if (str_is(word(&rest), "weak")) {
            ids[i] = read_weak(b->graph, rest);
        } else {
            Tensor *t = b->inputs[b->n_inputs++] = read_tensor(in);
            ids[i] = graph_add_value(b->graph, (Value){.dtype = t->dtype,
                                                       .shape = t->shape,
                                                       .kind = VALUE_INPUT,
                                                       .node = NODE_NONE});
            vec_push(arena, &b->graph->inputs, ids[i]);
        }
    }
    if (!graph_add(b->graph, &spec, diag, &out))
        return false;
    for (uint32_t o = 0; o < b->graph->nodes.at[0].n_out; o++)
        vec_push(arena, &b->graph->outputs, out + o);
    return true;
}

/* f32: 1e-5 of value and rms; halves: one step of the dtype; integers: exact. */
static double allowed(DType dtype, double want, double rms, bool wide)
{
    switch (dtype) {
    case DT_F64: return 1e-9 * (fabs(want) + rms);
    case DT_F16: return 0x1p-10 * fabs(want) + 0x1p-12 * rms;
    case DT_BF16: return 0x1p-7 * fabs(want) + 0x1p-9 * rms;
    case DT_F32:
    case DT_C64: return (wide ? 2e-7 : 5e-6) * (fabs(want) + rms) + 1e-30;
    default: return 0;
    }
}

static double element(const Tensor *t, int64_t i)
{
    return t->dtype == DT_C64 ? (double)TENSOR_AT(t, float)[i] : tensor_get(t, i);
}

static bool check_output(const Case *c, uint32_t o, const Tensor *got, const Tensor *want,
                         bool wide)
{
    if (!CHECK_MSG(got->dtype == want->dtype, "%.*s: output %u is %s, PyTorch has %s",
                   STR_ARG(c->name), o, dtype_name(got->dtype), dtype_name(want->dtype)) ||
        !CHECK_MSG(shape_equal(got->shape, want->shape), "%.*s: output %u has another shape",
                   STR_ARG(c->name), o))
        return false;
    int64_t n = want->count * (want->dtype == DT_C64 ? 2 : 1);
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += isfinite(element(want, i)) ? element(want, i) * element(want, i) : 0;
    double rms = n ? sqrt(sum / (double)n) : 0;
    for (int64_t i = 0; i < n; i++) {
        double g = element(got, i), w = element(want, i);
        bool same = g == w || (g != g && w != w) ||
                    fabs(g - w) <= allowed(want->dtype, w, rms, wide);
        if (!CHECK_MSG(same, "%.*s (%s): output %u element %lld is %.9g, PyTorch has %.9g",
                       STR_ARG(c->name), wide ? "wide" : "as typed", o, (long long)i, g, w))
            return false;
    }
    return true;
}

static void check_values(const Case *c, const Built *b, bool wide, Diag *diag)
{
    Tensor *out[MOST_VALUES] = {0};
    EvalOptions options = {.wide = wide};
    bool ok = graph_eval(b->graph, b->inputs, NULL, &options, out, diag);
    if (c->fails) {
        CHECK_MSG(!ok, "%.*s: was not refused", STR_ARG(c->name));
    } else if (CHECK_MSG(ok, "%.*s: %s", STR_ARG(c->name),
                         diag->items.len ? diag->items.at[0].text : "?")) {
        for (uint32_t o = 0; o < c->n_out; o++) {
            Tensor *want = read_tensor(c->out[o]);
            check_output(c, o, out[o], want, wide);
            tensor_free(want);
        }
    }
    for (uint32_t o = 0; o < b->graph->outputs.len; o++)
        tensor_free(out[o]);
}

static void run_case(const Case *c)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "case", (Str){0});
    Built b;
    if (build(&arena, c, &b, &diag)) {
        check_values(c, &b, false, &diag);
        check_values(c, &b, true, &diag);
    } else {
        CHECK_MSG(c->fails, "%.*s: refused: %s", STR_ARG(c->name),
                  diag.items.len ? diag.items.at[0].text : "?");
    }
    for (uint32_t i = 0; i < b.n_inputs; i++)
        tensor_free(b.inputs[i]);
    arena_drop(&arena);
}

/* One line of a case; an empty line ends it. */
static void take_line(Case *c, Str line, int *count)
{
    Str rest = line, key = word(&rest);
    if (str_is(key, "case"))
        *c = (Case){.name = rest};
    else if (str_is(key, "op"))
        c->op = rest;
    else if (str_is(key, "in") && c->n_in < MOST_VALUES)
        c->in[c->n_in++] = rest;
    else if (str_is(key, "out") && c->n_out < MOST_VALUES)
        c->out[c->n_out++] = rest;
    else if (str_is(key, "fails"))
        c->fails = true;
    else if (key.len == 0 && c->name.len > 0) {
        run_case(c);
        ++*count;
        *c = (Case){0};
    }
}

static void run_group(const char *group, int least)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, group, (Str){0});
    Str text, line;
    const char *path = str_format(&arena, "tests/graph/golden/%s.txt", group);
    REQUIRE(file_read(&arena, path, 0, &text, &diag));
    Case c = {0};
    int count = 0;
    while (str_next(&text, '\n', &line))
        take_line(&c, line, &count);
    take_line(&c, (Str){"", 0}, &count);
    CHECK_MSG(count >= least, "%s: only %d cases", group, count);
    arena_drop(&arena);
}

#define GROUP(name, least) \
    T_TEST(golden_##name) { run_group(#name, least); }
GROUP(unary, 170)
GROUP(binary, 140)
GROUP(three, 60)
GROUP(shape, 40)
GROUP(reduce, 130)
GROUP(lines, 40)
GROUP(index, 35)
GROUP(matrix, 40)
GROUP(conv, 35)
GROUP(pool, 50)
GROUP(norm, 15)
GROUP(resample, 90)
GROUP(attention, 25)
GROUP(loss, 55)
GROUP(sources, 50)
GROUP(edge, 300)
