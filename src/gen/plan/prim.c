/* Taking a graph apart into primitives. In: a graph. Out: a PrimGraph, or a diagnostic naming
 * the operator that is not understood. Composites (softmax, norms, losses) are in prim_norm.c. */
#include "gen/plan/prim_int.h"

#include "gen/plan/plan.h"

enum { MAX_PRIMS = 4096, MAX_DEPTH = 400 };

const char *const prim_unary_forms[UNARY_COUNT] = {
#define FORM_UNARY(kind, text) [UNARY_##kind] = text,
#include "gen/plan/form.def"
#undef FORM_UNARY
};

const char *const prim_binary_forms[BINARY_COUNT] = {
#define FORM_BINARY(kind, text) [BINARY_##kind] = text,
#include "gen/plan/form.def"
#undef FORM_BINARY
};

const char *const prim_mask_forms[BINARY_COUNT] = {
#define FORM_MASK(kind, text) [BINARY_##kind] = text,
#include "gen/plan/form.def"
#undef FORM_MASK
};

bool prim_refuse(PrimGraph *g, const Node *node, const char *why)
{
    const char *kind = node_kind_name(node);
    diag_error(g->diag, "G001", node->at, "the planner cannot plan %s%s%s yet: %s",
               op_rows[node->op].name, *kind ? "." : "", kind, why);
    return false;
}

/* ---- axes ---- */

AxisId prim_axis(PrimGraph *g, AxisId axis)
{
    while (g->axes.at[axis].same != axis)
        axis = g->axes.at[axis].same;
    return axis;
}

static AxisId new_axis(PrimGraph *g, int64_t size)
{
    PrimAxis axis = {g->axes.len, size};
    vec_push(g->arena, &g->axes, axis);
    return axis.same;
}

static void same_axis(PrimGraph *g, AxisId a, AxisId b)
{
    a = prim_axis(g, a);
    b = prim_axis(g, b);
    if (a < b)
        g->axes.at[b].same = a;
    else
        g->axes.at[a].same = b;
}

/* ---- primitives ---- */

PrimId prim_add(PrimGraph *g, Prim p)
{
    vec_push(g->arena, &g->prims, p);
    return g->prims.len - 1;
}

PrimValue prim_number(PrimGraph *g, double number)
{
    return (PrimValue){.prim = prim_add(g, (Prim){.op = PRIM_NUMBER, .number = number})};
}

/* Lines the dimensions of b up with those of a from the right; the result spans both. */
static PrimValue line_up(PrimGraph *g, PrimValue a, PrimValue b)
{
    PrimValue out = a.rank >= b.rank ? a : b;
    const PrimValue *other = a.rank >= b.rank ? &b : &a;
    for (int i = 1; i <= other->rank; i++) {
        AxisId *mine = &out.dim[out.rank - i], theirs = other->dim[other->rank - i];
        if (*mine && theirs)
            same_axis(g, *mine, theirs);
        else if (!*mine)
            *mine = theirs;
    }
    return out;
}

PrimValue prim_map(PrimGraph *g, const char *form, uint32_t n, const PrimValue *args)
{
    Prim p = {.op = PRIM_MAP, .form = form, .n_arg = n};
    PrimValue out = {0};
    for (uint32_t i = 0; i < n; i++) {
        p.arg[i] = args[i].prim;
        out = i ? line_up(g, out, args[i]) : args[i];
    }
    out.prim = prim_add(g, p);
    return out;
}

PrimValue prim_map1(PrimGraph *g, const char *form, PrimValue a)
{
    return prim_map(g, form, 1, &a);
}

PrimValue prim_map2(PrimGraph *g, const char *form, PrimValue a, PrimValue b)
{
    return prim_map(g, form, 2, (PrimValue[]){a, b});
}

static uint64_t dims_mask(PrimGraph *g, const PrimValue *v, uint32_t dims)
{
    uint64_t mask = 0;
    for (int i = 0; i < v->rank; i++)
        if (dims >> i & 1)
            mask |= prim_axis_bit(g, v->dim[i]);
    return mask;
}

PrimValue prim_reduce(PrimGraph *g, PrimReduce kind, PrimValue a, uint32_t dims, bool keep)
{
    Prim p = {.op = PRIM_REDUCE,
              .reduce = kind,
              .n_arg = 1,
              .arg = {a.prim},
              .over = dims_mask(g, &a, dims)};
    PrimValue out = {.prim = p.over ? prim_add(g, p) : a.prim};
    for (int i = 0; i < a.rank; i++) {
        if (!(dims >> i & 1))
            out.dim[out.rank++] = a.dim[i];
        else if (keep)
            out.dim[out.rank++] = 0;
    }
    return out;
}

PrimValue prim_size(PrimGraph *g, PrimValue a, uint32_t dims)
{
    uint64_t over = dims_mask(g, &a, dims);
    if (!over)
        return prim_number(g, 1);
    return (PrimValue){.prim = prim_add(g, (Prim){.op = PRIM_COUNT, .over = over})};
}

/* ---- leaves ---- */

/* A tensor of GM seen under `shape`, which has its elements in the same order. */
PrimValue prim_leaf(PrimGraph *g, ValueId id, Shape shape)
{
    const Value *v = graph_value(g->graph, id);
    Prim p = {.op = PRIM_LEAF, .value = id, .dtype = v->dtype};
    PrimValue out = {.prim = prim_add(g, p), .rank = shape.rank};
    for (int i = 0; i < shape.rank; i++)
        out.dim[i] = shape.dim[i] == 1 ? 0 : new_axis(g, shape.dim[i]);
    vec_push(g->arena, &g->leaves, out);
    return out;
}

static bool const_number(const Value *v, double *number)
{
    int64_t count;
    if (v->kind != VALUE_CONST || !shape_count(v->shape, &count) || count != 1)
        return false;
    *number = dtype_load(v->dtype, v->data, 0);
    return true;
}

static bool make_node(PrimGraph *g, const Node *node, PrimValue *out);

static bool is_half(DType d) { return d == DT_F16 || d == DT_BF16; }

/* Its elements are numbers of its operands, or of the task: nothing is left to round. */
static bool is_exact(const Node *node) { return op_move(node).inputs || node->op == OP_FULL; }

const char *prim_rounding(const Graph *graph, const Node *node)
{
    DType d = graph_value(graph, node->out)->dtype;
    bool read = false;
    for (uint32_t i = 0; i < graph->nodes.len && !read; i++)
        for (uint32_t k = 0; k < graph->nodes.at[i].n_in; k++)
            read = read || graph->nodes.at[i].in[k] == node->out;
    if (!is_half(d) || is_exact(node) || !read)
        return NULL;
    return d == DT_F16 ? "cast(cast($0, f16), f32)" : "cast(cast($0, bf16), f32)";
}

const char plan_rounds[] = "f16 and bf16 are rounded at every step";
const char plan_steps[] = "its results are rounded or compared";

bool prim_widens(const Graph *graph)
{
    for (uint32_t i = 0; i < graph->notes.len; i++)
        if (graph->notes.at[i] == plan_rounds)
            return true;
    for (uint32_t i = 0; i < graph->nodes.len; i++) {
        const Node *node = &graph->nodes.at[i];
        for (uint32_t k = 0; k < node->n_in; k++) {
            const Value *v = node->in[k] == VALUE_NONE ? NULL : graph_value(graph, node->in[k]);
            if (v && v->kind == VALUE_NODE && is_half(v->dtype) &&
                graph_value(graph, node->out)->dtype == DT_F32 &&
                !is_exact(&graph->nodes.at[v->node]))
                return true;
        }
    }
    return false;
}

/* The output of a node, made when it is first asked for. */
static bool node_value(PrimGraph *g, ValueId id)
{
    const Node *node = &g->graph->nodes.at[graph_value(g->graph, id)->node];
    if (node->n_out != 1 && node->op != OP_REDUCE_INDEX)
        return prim_refuse(g, node,
                           node->op == OP_RNN || node->op == OP_MHA
                               ? "it is matrix work of another kind than products of two matrices"
                               : "no strategy takes all of its outputs");
    if (g->depth == MAX_DEPTH || g->axes.len >= PRIM_MAX_AXES - GRAPH_MAX_RANK ||
        g->prims.len >= MAX_PRIMS)
        return prim_refuse(g, node, "the task is too large for one kernel");
    g->depth++;
    bool ok = make_node(g, node, &g->values[id]);
    if (ok && graph_readers(g->graph, id) > 1)
        g->prims.at[g->values[id].prim].shared = true;
    const char *rounding = ok && g->rounds ? prim_rounding(g->graph, node) : NULL;
    if (rounding && !g->prims.at[g->values[id].prim].mask)
        g->values[id] = prim_map1(g, rounding, g->values[id]);
    g->depth--;
    return ok;
}

bool prim_value(PrimGraph *g, ValueId id, PrimValue *out)
{
    const Value *v = graph_value(g->graph, id);
    double number;
    if (!g->values[id].prim) {
        if (v->kind == VALUE_NODE) {
            if (!node_value(g, id))
                return false;
        } else if (const_number(v, &number)) {
            g->values[id] = prim_number(g, number);
            g->values[id].rank = v->shape.rank;
        } else {
            g->values[id] = prim_leaf(g, id, v->shape);
        }
    }
    *out = g->values[id];
    return true;
}

/* ---- operators ---- */

const char *prim_fill(Arena *arena, const char *form, const Node *node)
{
    Buf out = {0};
    for (const char *c = form; *c; c++) {
        AttrKey key = c[1] == 'a' ? AT_A : c[1] == 'b' ? AT_B : AT_C;
        if (*c == '$' && c[1] >= 'a' && c[1] <= 'c') {
            prim_literal(&out, node_float(node, key, c[1] == 'a' ? 1 : 0));
            c++;
        } else {
            buf_char(&out, *c);
        }
    }
    char *text = buf_take(&out, arena);
    buf_free(&out);
    return text;
}

void prim_literal(Buf *out, double value)
{
    size_t from = out->len;
    buf_double(out, value);
    bool plain = true;
    for (size_t i = from; i < out->len; i++)
        plain &= out->at[i] == '-' || (out->at[i] >= '0' && out->at[i] <= '9');
    if (plain)
        buf_puts(out, ".0");
}

static bool make_unary(PrimGraph *g, const Node *node, PrimValue *out)
{
    const char *form = prim_unary_forms[node->kind];
    PrimValue x;
    if (!form || (node->kind == UNARY_round && node_float(node, AT_A, 0) != 0))
        return prim_refuse(g, node, "it has no Craft form");
    if (node->kind == UNARY_gelu && str_is(node_text(node, AT_APPROX), "tanh"))
        form = "$0 / (exp($0 * ($0 * $0 * -0.07135481627260025 - 1.5957691216057308)) + 1.0)";
    if (!prim_value(g, node->in[0], &x))
        return false;
    *out = prim_map1(g, prim_fill(g->arena, form, node), x);
    return true;
}

static bool make_pow(PrimGraph *g, PrimValue a, PrimValue b, PrimValue *out)
{
    const Prim *n = &g->prims.at[b.prim];
    const char *form = "pow($0, $1)";
    if (n->op == PRIM_NUMBER && (n->number == 2 || n->number == 3 || n->number == 0.5)) {
        form = n->number == 2 ? "$0 * $0" : n->number == 3 ? "$0 * $0 * $0" : "sqrt($0)";
        *out = prim_map1(g, form, a);
        return true;
    }
    *out = prim_map2(g, form, a, b);
    return true;
}

/* A product with a number, or a quotient by one. */
static bool scaled_binary(PrimGraph *g, uint16_t kind, PrimValue a, PrimValue b, PrimValue *out)
{
    const Prim *x = &g->prims.at[a.prim], *y = &g->prims.at[b.prim];
    if (kind == BINARY_div)
        return y->op == PRIM_NUMBER && b.rank <= a.rank && prim_scaled(g, a, 1 / y->number, out);
    if (kind != BINARY_mul)
        return false;
    return y->op == PRIM_NUMBER   ? b.rank <= a.rank && prim_scaled(g, a, y->number, out)
           : x->op == PRIM_NUMBER ? a.rank <= b.rank && prim_scaled(g, b, x->number, out)
                                  : false;
}

static bool make_binary(PrimGraph *g, const Node *node, PrimValue *out)
{
    const char *form = prim_binary_forms[node->kind], *mask = prim_mask_forms[node->kind];
    double alpha = node_float(node, AT_ALPHA, 1);
    PrimValue a, b;
    if (!form && !mask)
        return prim_refuse(g, node,
                           node->kind == BINARY_complex
                               ? "complex numbers are planned only in sums, products and moves"
                               : "it has no Craft form");
    if (!prim_value(g, node->in[0], &a) || !prim_value(g, node->in[1], &b))
        return false;
    if (node->kind == BINARY_pow)
        return make_pow(g, a, b, out);
    if (alpha != 1 && !prim_scaled(g, b, alpha, &b))
        b = prim_map2(g, "$0 * $1", b, prim_number(g, alpha));
    if (node->kind == BINARY_mul && prim_half_tanh(g, a, b, out))
        return true;
    if (scaled_binary(g, node->kind, a, b, out))
        return true;
    *out = prim_map2(g, form ? form : mask, a, b);
    g->prims.at[out->prim].mask = !form;
    return true;
}

static bool make_clamp(PrimGraph *g, const Node *node, PrimValue *out)
{
    static const char *const forms[] = {"max($0, $1)", "min($0, $1)"};
    PrimValue bound;
    if (!prim_value(g, node->in[0], out))
        return false;
    for (int i = 0; i < 2; i++) {
        if (node->in[1 + i] == VALUE_NONE)
            continue;
        if (!prim_value(g, node->in[1 + i], &bound))
            return false;
        *out = prim_map2(g, forms[i], *out, bound);
    }
    return true;
}

/* A bool tensor of memory becomes a mask where one is wanted. */
static PrimValue as_mask(PrimGraph *g, PrimValue v)
{
    if (g->prims.at[v.prim].mask)
        return v;
    PrimValue m = prim_map1(g, "$0 > 0.5", v);
    g->prims.at[m.prim].mask = true;
    return m;
}

/* A mask becomes numbers where they are wanted. */
static PrimValue as_number(PrimGraph *g, PrimValue v)
{
    return g->prims.at[v.prim].mask ? prim_map1(g, "where($0, 1.0, 0.0)", v) : v;
}

static bool make_three(PrimGraph *g, const Node *node, PrimValue *out)
{
    PrimValue v[3];
    for (int i = 0; i < 3; i++)
        if (!prim_value(g, node->in[i], &v[i]))
            return false;
    double value = node_float(node, AT_VALUE, 1);
    switch (node->op) {
    case OP_WHERE:
        v[0] = as_mask(g, v[0]);
        *out = prim_map(g, "where($0, $1, $2)", 3, v);
        return true;
    case OP_LERP: *out = prim_map(g, "$0 + $2 * ($1 - $0)", 3, v); return true;
    default: break;
    }
    v[1] = prim_map2(g, node->op == OP_ADDCMUL ? "$0 * $1" : "$0 / $1", v[1], v[2]);
    if (value != 1 && !prim_scaled(g, v[1], value, &v[1]))
        v[1] = prim_map2(g, "$0 * $1", v[1], prim_number(g, value));
    *out = prim_map2(g, "$0 + $1", v[0], v[1]);
    return true;
}

uint32_t prim_dims(const Node *node, int rank)
{
    const Attr *dims = node_attr(node, AT_DIMS);
    uint32_t mask = 0;
    if (!dims || dims->ints.len == 0)
        return (1u << rank) - 1;
    for (uint32_t i = 0; i < dims->ints.len; i++)
        mask |= 1u << (dims->ints.at[i] < 0 ? dims->ints.at[i] + rank : dims->ints.at[i]);
    return mask;
}

static bool make_reduce(PrimGraph *g, const Node *node, PrimValue *out)
{
    PrimValue x;
    if (!prim_value(g, node->in[0], &x))
        return false;
    x = as_number(g, x);
    uint32_t dims = prim_dims(node, x.rank);
    bool keep = node_bool(node, AT_KEEPDIM);
    double p = node_float(node, AT_P, 2);
    switch (node->kind) {
    case REDUCE_sum: *out = prim_reduce(g, PRIM_SUM, x, dims, keep); return true;
    case REDUCE_max: *out = prim_reduce(g, PRIM_MAX, x, dims, keep); return true;
    case REDUCE_min: *out = prim_reduce(g, PRIM_MIN, x, dims, keep); return true;
    case REDUCE_prod: *out = prim_reduce(g, PRIM_PROD, x, dims, keep); return true;
    case REDUCE_mean: *out = prim_mean(g, x, dims, keep); return true;
    case REDUCE_var:
    case REDUCE_std:
        *out = prim_variance(g, x, dims, keep, node_float(node, AT_A, 1));
        if (node->kind == REDUCE_std)
            *out = prim_map1(g, "sqrt($0)", *out);
        return true;
    case REDUCE_logsumexp: *out = prim_logsumexp(g, x, dims, keep); return true;
    case REDUCE_norm:
        if (p == 2) {
            *out = prim_reduce(g, PRIM_SUM, prim_map1(g, "$0 * $0", x), dims, keep);
            *out = prim_map1(g, "sqrt($0)", *out);
            return true;
        }
        if (p == 1) {
            *out = prim_reduce(g, PRIM_SUM, prim_map1(g, "abs($0)", x), dims, keep);
            return true;
        }
        return prim_refuse(g, node, "only the norms of order 1 and 2 are planned");
    default: return prim_refuse(g, node, "this reduction is not planned");
    }
}

/* Adding or dropping dimensions of size 1 keeps the axes; a leaf can take any shape. */
static bool make_reshape(PrimGraph *g, const Node *node, PrimValue *out)
{
    const Value *to = graph_value(g->graph, node->out);
    const Value *from = graph_value(g->graph, node->in[0]);
    PrimValue x;
    if (!prim_value(g, node->in[0], &x))
        return false;
    PrimValue y = {.prim = x.prim, .rank = to->shape.rank};
    int next = 0;
    bool fits = true;
    for (int i = 0; i < to->shape.rank; i++) {
        if (to->shape.dim[i] == 1)
            continue;
        while (next < x.rank && !x.dim[next])
            next++;
        fits = fits && next < x.rank && g->axes.at[x.dim[next]].size == to->shape.dim[i];
        y.dim[i] = fits ? x.dim[next++] : 0;
    }
    while (next < x.rank && !x.dim[next])
        next++;
    if (fits && next == x.rank) {
        *out = y;
        return true;
    }
    if (from->kind != VALUE_NODE) {
        *out = prim_leaf(g, node->in[0], to->shape);
        return true;
    }
    return prim_refuse(g, node, "it changes the shape between operators");
}

static bool make_expand(PrimGraph *g, const Node *node, PrimValue *out)
{
    const Value *to = graph_value(g->graph, node->out);
    PrimValue x;
    if (!prim_value(g, node->in[0], &x))
        return false;
    PrimValue y = {.prim = x.prim, .rank = to->shape.rank};
    for (int i = 1; i <= x.rank; i++)
        y.dim[y.rank - i] = x.dim[x.rank - i];
    *out = y;
    return true;
}

static bool make_cast(PrimGraph *g, const Node *node, PrimValue *out)
{
    DType to = graph_value(g->graph, node->out)->dtype;
    PrimValue x;
    if (!prim_value(g, node->in[0], &x))
        return false;
    bool small = to == DT_I8 || to == DT_U8 || to == DT_I16;
    if (!dtype_is_float(to) && !small)
        return prim_refuse(g, node, "casts to integers of 32 and 64 bits are not planned");
    *out = as_number(g, x);
    if (small)
        *out = prim_map1(g, "trunc($0)", *out);
    return true;
}

/* max or min over one dim, of which only the values are wanted */
static bool make_reduce_index(PrimGraph *g, const Node *node, PrimValue *out)
{
    PrimValue x;
    for (uint32_t i = 0; i < g->graph->outputs.len; i++)
        if (g->graph->outputs.at[i] == node->out + 1)
            return prim_refuse(g, node, "positions are not planned");
    if (!prim_value(g, node->in[0], &x))
        return false;
    *out = prim_reduce(g, node->kind == REDUCE_max ? PRIM_MAX : PRIM_MIN, x,
                       prim_dims(node, x.rank), node_bool(node, AT_KEEPDIM));
    return true;
}

static bool make_full(PrimGraph *g, const Node *node, PrimValue *out)
{
    *out = prim_number(g, node_float(node, AT_VALUE, 0));
    out->rank = graph_value(g->graph, node->out)->shape.rank;
    return true;
}

static bool make_node(PrimGraph *g, const Node *node, PrimValue *out)
{
    switch (node->op) {
    case OP_UNARY: return make_unary(g, node, out);
    case OP_BINARY: return make_binary(g, node, out);
    case OP_CLAMP: return make_clamp(g, node, out);
    case OP_WHERE:
    case OP_LERP:
    case OP_ADDCMUL:
    case OP_ADDCDIV: return make_three(g, node, out);
    case OP_REDUCE: return make_reduce(g, node, out);
    case OP_RESHAPE: return make_reshape(g, node, out);
    case OP_EXPAND: return make_expand(g, node, out);
    case OP_CAST: return make_cast(g, node, out);
    case OP_REDUCE_INDEX: return make_reduce_index(g, node, out);
    case OP_FULL: return make_full(g, node, out);
    case OP_SCAN:
    case OP_FLIP:
    case OP_CAT: return prim_scan(g, node, out);
    default: return prim_composite(g, node, out);
    }
}

PrimGraph *prim_graph(Arena *arena, const Graph *graph, Diag *diag)
{
    PrimGraph *g = arena_new(arena, PrimGraph);
    *g = (PrimGraph){.arena = arena, .graph = graph, .diag = diag, .rounds = prim_widens(graph)};
    g->smooth = !g->rounds && prim_is_smooth(graph);
    g->values = arena_array(arena, PrimValue, graph->values.len);
    vec_push(arena, &g->prims, (Prim){0});
    vec_push(arena, &g->axes, (PrimAxis){0});
    for (uint32_t i = 0; i < graph->outputs.len; i++) {
        PrimOutput out = {.value = graph->outputs.at[i]};
        if (!prim_value(g, out.value, &out.is))
            return NULL;
        out.is = as_number(g, out.is);
        if (g->prims.at[out.is.prim].op == PRIM_FLIP) {
            diag_error(diag, "G001", (Span){0}, "the planner cannot plan flip yet");
            return NULL;
        }
        vec_push(arena, &g->outputs, out);
    }
    return prim_finish(g) ? g : NULL;
}
