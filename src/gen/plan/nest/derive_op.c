/* Operators that compute, as maps and reductions over axes. In: a node and an index of its result. Out:
 * the value there. The Craft texts of single operators are those of form.def. */
#include "gen/plan/nest/derive_int.h"

#include "gen/plan/prim_int.h"
#include <math.h>

enum {
    MOST_SEARCHED = 1 << 20, /* elements of which one is picked by comparing all places */
    MOST_PICKED = 4,         /* maps between an element that is picked and what is read for it */
    MOST_TURNS = 8           /* rounds in which the largest of the remaining elements is found */
};
/* Factors that are put together with others. */
#define LEAST_FACTOR 0x1p-20
#define MOST_FACTOR 0x1p20

/* ---- operands ---- */

/* The operand where the result's index is `index`, as a number. */
static bool operand(Derive *d, const Node *node, uint32_t i, const NestIndex *index, NestId *out)
{
    const Value *v = graph_value(d->graph, node->in[i]);
    NestIndex inner = derive_broadcast(index, v->shape);
    bool moves = d->kind >= NEST_GENERAL && node->op == OP_WHERE;
    if (dtype_is_int(v->dtype) && !v->weak && node->op != OP_CAST && !moves &&
        !derive_is_exact(d->graph, node->in[i]))
        return derive_refuse(d, node, "arithmetic on integers is not planned");
    return derive_at(d, node->in[i], &inner, out);
}

/* ---- elementwise ---- */

static bool at_unary(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    const char *form = prim_unary_forms[node->kind];
    NestId x;
    if (!form || (node->kind == UNARY_round && node_float(node, AT_A, 0) != 0))
        return derive_refuse(d, node, "it has no Craft form");
    if (node->kind == UNARY_gelu && str_is(node_text(node, AT_APPROX), "tanh"))
        form = "$0 / (exp($0 * ($0 * $0 * -0.07135481627260025 - 1.5957691216057308)) + 1.0)";
    if (!operand(d, node, 0, index, &x))
        return false;
    *out = nest_map1(d->nest, prim_fill(d->arena, form, node), derive_number(d->nest, x));
    return true;
}

/* Powers that are products or a root. */
static const char *power_form(double power)
{
    return power == 2 ? "$0 * $0" : power == 3 ? "$0 * $0 * $0" : power == 0.5 ? "sqrt($0)" : NULL;
}

static bool is_power_of_two(double x)
{
    int exponent;
    return x != 0 && fabs(frexp(x, &exponent)) == 0.5;
}

/* b varies along fewer axes than a, and along no others. */
static bool is_narrower(const Nest *nest, NestId b, NestId a)
{
    uint64_t few = nest->values.at[b].axes, all = nest->values.at[a].axes;
    return few != all && !(few & ~all);
}

static const char times[] = "$0 * $1";

/* by * a, `a` being a product with a narrow factor: (x * row) * 2 is x * (row * 2). 0: it is none. */
static NestId scaled(Nest *nest, NestId a, NestId by)
{
    const NestValue *x = &nest->values.at[a];
    double factor = nest->values.at[by].number, size = fabs(factor);
    bool fits = nest->values.at[by].op == NEST_NUMBER && size >= LEAST_FACTOR &&
                size <= MOST_FACTOR;
    if (!fits || !nest_is_map(x, times))
        return 0;
    for (uint32_t i = 0; i < 2; i++) {
        NestId narrow = x->arg[i], wide = x->arg[1 - i];
        const NestValue *n = &nest->values.at[narrow];
        if (is_narrower(nest, narrow, a))
            return nest_map2(nest, times, wide,
                             n->op == NEST_NUMBER ? nest_number(nest, n->number * factor)
                                                  : nest_map2(nest, times, narrow, by));
    }
    return 0;
}

/* a * b, of the node: numbers are put together where last bits do not decide anything. */
static NestId product(Derive *d, const Node *node, NestId a, NestId b)
{
    bool loose = !d->decides[node->out];
    NestId first = loose ? scaled(d->nest, a, b) : 0;
    NestId second = loose && !first ? scaled(d->nest, b, a) : 0;
    return first ? first : second ? second : nest_map2(d->nest, times, a, b);
}

/* a / b, of the node: a product where that gives the same, or where last bits do not decide anything. */
static NestId quotient(Derive *d, const Node *node, NestId a, NestId b)
{
    Nest *nest = d->nest;
    const NestValue *by = &nest->values.at[b];
    bool loose = !d->decides[node->out];
    if (by->op == NEST_NUMBER && (is_power_of_two(by->number) || loose))
        return product(d, node, a, nest_number(nest, 1 / by->number));
    if (loose && is_narrower(nest, b, a))
        return product(d, node, a, nest_map1(nest, "1.0 / $0", b));
    return nest_map2(nest, "$0 / $1", a, b);
}

/* Operations that give whole numbers of whole numbers, in f32 too. */
static bool keeps_whole(const Node *node)
{
    switch (node->kind) {
    case BINARY_add:
    case BINARY_sub:
    case BINARY_mul:
    case BINARY_maximum:
    case BINARY_minimum:
    case BINARY_floor_div:
    case BINARY_trunc_div:
    case BINARY_remainder:
    case BINARY_fmod: return true;
    default: return false;
    }
}

static bool at_binary(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    const char *form = prim_binary_forms[node->kind], *mask = prim_mask_forms[node->kind];
    double alpha = node_float(node, AT_ALPHA, 1);
    NestId arg[2];
    if (!form && !mask)
        return derive_refuse(d, node, "it has no Craft form");
    for (uint32_t i = 0; i < 2; i++) {
        if (!operand(d, node, i, index, &arg[i]))
            return false;
        arg[i] = derive_number(d->nest, arg[i]);
    }
    const NestValue *b = &d->nest->values.at[arg[1]];
    if (node->kind == BINARY_pow && b->op == NEST_NUMBER && power_form(b->number)) {
        *out = nest_map1(d->nest, power_form(b->number), arg[0]);
        return true;
    }
    if (dtype_is_int(graph_value(d->graph, node->out)->dtype) && !keeps_whole(node))
        return derive_refuse(d, node, "arithmetic on integers is not planned");
    if (alpha != 1)
        arg[1] = nest_map2(d->nest, "$0 * $1", arg[1], nest_number(d->nest, alpha));
    *out = node->kind == BINARY_div   ? quotient(d, node, arg[0], arg[1])
           : node->kind == BINARY_mul ? product(d, node, arg[0], arg[1])
                                      : nest_map(d->nest, form ? form : mask, !form, 2, arg);
    return true;
}

static bool at_clamp(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    static const char *const forms[] = {"max($0, $1)", "min($0, $1)"};
    if (!operand(d, node, 0, index, out))
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        NestId bound;
        if (node->in[1 + i] == VALUE_NONE)
            continue;
        if (!operand(d, node, 1 + i, index, &bound))
            return false;
        *out = nest_map2(d->nest, forms[i], *out, bound);
    }
    return true;
}

/* where(~m, a, b) is where(m, b, a). */
static bool at_where(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    const Node *condition = graph_maker(d->graph, node->in[0]);
    bool swap = derive_is_not(d->graph, condition);
    NestIndex at = derive_broadcast(index, graph_value(d->graph, node->in[0])->shape);
    NestId v[3], yes, no;
    if (!derive_at(d, swap ? condition->in[0] : node->in[0], &at, &v[0]) ||
        !operand(d, node, 1, index, &yes) || !operand(d, node, 2, index, &no))
        return false;
    v[0] = derive_mask(d->nest, v[0]);
    v[1] = derive_number(d->nest, swap ? no : yes);
    v[2] = derive_number(d->nest, swap ? yes : no);
    *out = nest_map(d->nest, "where($0, $1, $2)", false, 3, v);
    return true;
}

static bool at_three(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    Nest *nest = d->nest;
    double value = node_float(node, AT_VALUE, 1);
    NestId v[3];
    for (uint32_t i = 0; i < 3; i++)
        if (!operand(d, node, i, index, &v[i]))
            return false;
    for (uint32_t i = 0; i < 3; i++)
        v[i] = derive_number(nest, v[i]);
    if (node->op == OP_LERP) {
        *out = nest_map(nest, "$0 + $2 * ($1 - $0)", false, 3, v);
        return true;
    }
    NestId term = node->op == OP_ADDCMUL ? nest_map2(nest, "$0 * $1", v[1], v[2])
                                         : quotient(d, node, v[1], v[2]);
    if (value != 1)
        term = nest_map2(nest, "$0 * $1", term, nest_number(nest, value));
    *out = nest_map2(nest, "$0 + $1", v[0], term);
    return true;
}

/* A rounded number, maybe bounded by whole numbers after that: a cast to an integer cuts nothing off. */
static bool is_whole_number(const Graph *g, ValueId id, int depth)
{
    const Node *node = graph_maker(g, id);
    const Value *v = graph_value(g, id);
    if (!node) {
        double x = v->kind == VALUE_CONST && v->shape.rank == 0 ? dtype_load(v->dtype, v->data, 0)
                                                                : 0.5;
        return x == trunc(x);
    }
    if (node->op == OP_UNARY)
        return (node->kind == UNARY_round && node_float(node, AT_A, 0) == 0) ||
               node->kind == UNARY_floor || node->kind == UNARY_ceil || node->kind == UNARY_trunc;
    bool whole = depth < 8 && (node->op == OP_CLAMP || op_move(node).flags & MOVE_VIEW);
    for (uint32_t i = 0; i < node->n_in && whole; i++)
        whole = node->in[i] == VALUE_NONE || is_whole_number(g, node->in[i], depth + 1);
    return whole;
}

static bool at_cast(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    DType to = graph_value(d->graph, node->out)->dtype;
    DType from = graph_value(d->graph, node->in[0])->dtype;
    bool small = to == DT_I8 || to == DT_U8 || to == DT_I16, wide = dtype_is_int(to) && !small;
    bool read = graph_value(d->graph, node->in[0])->kind != VALUE_NODE;
    if (to == DT_BOOL) {
        NestId x;
        if (!operand(d, node, 0, index, &x))
            return false;
        *out = derive_mask(d->nest, x);
        return true;
    }
    if (dtype_is_int(from) && !derive_is_exact(d->graph, node->in[0]) && !read)
        return derive_refuse(d, node, "it casts integers that f32 does not hold");
    if ((wide && !derive_is_exact(d->graph, node->out)) || derive_may_wrap(d->graph, node->out))
        return derive_refuse(d, node, "casts to integers that f32 does not hold");
    if (!operand(d, node, 0, index, out))
        return false;
    *out = derive_number(d->nest, *out);
    if (dtype_is_int(to) && dtype_is_float(from) && !is_whole_number(d->graph, node->in[0], 0))
        *out = nest_map1(d->nest, "trunc($0)", *out);
    return true;
}

static bool at_arange(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    double from = node_float(node, AT_A, 0), step = node_float(node, AT_C, 1);
    if (graph_value(d->graph, node->out)->shape.dim[0] >= EXACT_INT)
        return derive_refuse(d, node, "it has more elements than f32 can count");
    *out = nest_place(d->nest, &index->dim[0]);
    if (step != 1)
        *out = nest_map2(d->nest, "$0 * $1", *out, nest_number(d->nest, step));
    if (from != 0)
        *out = nest_map2(d->nest, "$0 + $1", *out, nest_number(d->nest, from));
    return true;
}

/* Above or below a diagonal of the last two dimensions. */
static bool at_tri(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    Nest *nest = d->nest;
    Affine apart = index->dim[index->rank - 1];
    const char *form = node_bool(node, AT_UPPER) ? "$0 >= $1" : "$0 <= $1";
    NestId x, args[3];
    if (!affine_add(&apart, &index->dim[index->rank - 2], -1) || !operand(d, node, 0, index, &x))
        return false;
    args[0] = nest_place(nest, &apart);
    args[1] = nest_number(nest, (double)node_int(node, AT_DIAGONAL, 0));
    args[0] = nest_map(nest, form, true, 2, args);
    args[1] = derive_number(nest, x);
    args[2] = nest_number(nest, 0);
    *out = nest_map(nest, "where($0, $1, $2)", false, 3, args);
    return true;
}

/* ---- reductions ---- */

/* What is reduced: a value and the axes that are taken, in as many parts as the results of the task that
 * have such a dimension are written in. */
enum { MOST_PARTS = 8, UNROLLED = 3 };
typedef struct Body {
    uint32_t n;
    NestId x[MOST_PARTS];
    uint64_t over[MOST_PARTS];
} Body;

/* Where a dimension of that size begins anew in some result; after each element of a tiny one. */
static int64_t part_end(const Derive *d, int64_t size, int64_t from)
{
    int64_t end = size <= UNROLLED ? from + 1 : size;
    for (uint32_t i = 0; i < d->cuts.len; i++) {
        const NestCut *c = &d->cuts.at[i];
        const Value *v = graph_value(d->graph, d->graph->outputs.at[c->output]);
        if (c->part == 0 && v->shape.dim[c->dim] == size && c->at > from && c->at < end)
            end = c->at;
    }
    return end;
}

/* The operand with the dims in `dims` from `dim` on walked by axes of their own. */
static bool add_parts(Derive *d, const Node *node, ValueId id, NestIndex *index, uint32_t dims,
                      int dim, uint64_t over, Body *b)
{
    Shape shape = graph_value(d->graph, id)->shape;
    while (dim < shape.rank && !(dims >> dim & 1))
        dim++;
    if (dim == shape.rank) {
        NestId x;
        if (b->n == MOST_PARTS)
            return derive_refuse(d, node, "its operand has too many parts");
        if (!derive_at(d, id, index, &x))
            return false;
        b->x[b->n] = derive_number(d->nest, x);
        b->over[b->n++] = over;
        return true;
    }
    for (int64_t from = 0, to; from < shape.dim[dim]; from = to) {
        to = part_end(d, shape.dim[dim], from);
        index->dim[dim] = affine_number(0);
        const NestDim *walked = to - from > 1 ? derive_dim(d, to - from, derive_axes(index)) : NULL;
        uint64_t axes = walked ? walked->axes : 0;
        index->dim[dim] = walked ? walked->index : affine_number(0);
        index->dim[dim].at += from;
        if ((to - from > 1 && !walked) ||
            !add_parts(d, node, id, index, dims, dim + 1, over | axes, b))
            return walked || to - from == 1 ? false
                                            : derive_refuse(d, node, "it has too many dimensions");
    }
    index->dim[dim] = affine_number(0);
    return true;
}

static bool body_of(Derive *d, const Node *node, ValueId id, const NestIndex *kept, uint32_t dims,
                    Body *b)
{
    NestIndex index = *kept;
    for (int i = 0; i < index.rank; i++)
        if (dims >> i & 1)
            index.dim[i] = affine_number(0);
    *b = (Body){0};
    return add_parts(d, node, id, &index, dims, 0, 0, b);
}

/* The places along the one dimension that a body takes, part by part. */
static bool places_of(Derive *d, const Node *node, int64_t size, const NestIndex *kept,
                      const Body *b, Body *places)
{
    int64_t from = 0;
    *places = *b;
    for (uint32_t i = 0; i < b->n; i++) {
        int64_t to = part_end(d, size, from);
        const NestDim *walked = to - from > 1 ? derive_dim(d, to - from, derive_axes(kept)) : NULL;
        Affine at = walked ? walked->index : affine_number(0);
        if (walked && walked->axes != b->over[i])
            return derive_refuse(d, node,
                                 "its indices and its elements are walked along different axes");
        at.at += from;
        places->x[i] = nest_place(d->nest, &at);
        from = to;
    }
    return true;
}

/* A tensor of places: read as it is, or computed. */
static bool index_operand(Derive *d, const Node *node, ValueId id, const NestIndex *index,
                          NestId *out)
{
    const Value *v = graph_value(d->graph, id);
    Affine flat;
    if (v->kind == VALUE_NODE && d->graph->nodes.at[v->node].op == OP_RESHAPE &&
        graph_value(d->graph, d->graph->nodes.at[v->node].in[0])->kind != VALUE_NODE) {
        if (!derive_flatten(index, v->shape, &flat))
            return derive_refuse(d, node, "an index is a sum of too many terms");
        *out = nest_load(d->nest, d->graph->nodes.at[v->node].in[0], &flat);
        return true;
    }
    if (v->kind == VALUE_NODE)
        return derive_is_exact(d->graph, id)
                   ? derive_at(d, id, index, out)
                   : derive_refuse(d, node,
                                   "a computed integer may be larger than f32 can hold exactly");
    if (!dtype_is_int(v->dtype) || v->kind == VALUE_CONST)
        return derive_refuse(d, node, "indices that are constants of the file are not planned");
    if (!derive_flatten(index, v->shape, &flat))
        return derive_refuse(d, node, "an index is a sum of too many terms");
    *out = nest_load(d->nest, id, &flat);
    return true;
}

static NestId reduce_parts(Nest *nest, PrimReduce reduce, const Body *b)
{
    static const char *const forms[] = {[PRIM_SUM] = "$0 + $1",
                                        [PRIM_MAX] = "max($0, $1)",
                                        [PRIM_MIN] = "min($0, $1)",
                                        [PRIM_PROD] = "$0 * $1"};
    NestId all = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        NestId part = nest_reduce(nest, reduce, b->x[i], b->over[i]);
        all = all ? nest_map2(nest, forms[reduce], all, part) : part;
    }
    return all;
}

static NestId count_parts(Nest *nest, const Body *b)
{
    NestId all = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        NestId part = nest_count(nest, b->over[i]);
        all = all ? nest_map2(nest, "$0 + $1", all, part) : part;
    }
    return all;
}

/* form(x) of every part, or form(x, y). */
static Body map_parts(Nest *nest, const Body *b, const char *form, NestId y)
{
    Body out = *b;
    for (uint32_t i = 0; i < b->n; i++)
        out.x[i] = y ? nest_map2(nest, form, b->x[i], y) : nest_map1(nest, form, b->x[i]);
    return out;
}

/* A result's index as one of the operand: reduced dimensions at 0. */
static NestIndex kept_index(const Node *node, const NestIndex *index, uint32_t dims, int rank)
{
    NestIndex kept = {.rank = rank};
    bool keeps = node_bool(node, AT_KEEPDIM);
    int next = 0;
    for (int i = 0; i < rank; i++) {
        bool taken = dims >> i & 1;
        if (!taken)
            kept.dim[i] = index->dim[next];
        next += !taken || keeps;
    }
    return kept;
}

static NestId mean_of(Derive *d, const Node *node, const Body *b)
{
    Nest *nest = d->nest;
    NestId sum = reduce_parts(nest, PRIM_SUM,
                              b); /* first, whatever the compiler: values are numbered */
    return quotient(d, node, sum, count_parts(nest, b));
}

static Body centred(Derive *d, const Node *node, const Body *b)
{
    return map_parts(d->nest, b, "$0 - $1", mean_of(d, node, b));
}

static Body squares(Nest *nest, const Body *b) { return map_parts(nest, b, "$0 * $0", 0); }

/* Two passes: the mean, then the mean square of what is left. */
static NestId variance_of(Derive *d, const Node *node, const Body *b, double correction)
{
    Nest *nest = d->nest;
    Body left = centred(d, node, b), square = squares(nest, &left);
    NestId n = count_parts(nest, b);
    if (correction != 0)
        n = nest_map2(nest, "max($0 - $1, 0.0)", n, nest_number(nest, correction));
    return quotient(d, node, reduce_parts(nest, PRIM_SUM, &square), n);
}

/* The sum of what has a factor exp(-most). */
static NestId sum_following(Nest *nest, const Body *b, NestId most)
{
    return b->n == 1 ? nest_reduce_following(nest, b->x[0], b->over[0], most)
                     : reduce_parts(nest, PRIM_SUM, b);
}

static NestId logsumexp_of(Nest *nest, const Body *b)
{
    NestId most = reduce_parts(nest, PRIM_MAX, b);
    Body e = map_parts(nest, b, "exp($0 - $1)", most);
    return nest_map2(nest, "log($0) + $1", sum_following(nest, &e, most), most);
}

static bool reduce_body(Derive *d, const Node *node, const Body *b, NestId *out)
{
    Nest *nest = d->nest;
    double p = node_float(node, AT_P, 2);
    Body powers;
    switch (node->kind) {
    case REDUCE_sum: *out = reduce_parts(nest, PRIM_SUM, b); return true;
    case REDUCE_max: *out = reduce_parts(nest, PRIM_MAX, b); return true;
    case REDUCE_min: *out = reduce_parts(nest, PRIM_MIN, b); return true;
    case REDUCE_prod: *out = reduce_parts(nest, PRIM_PROD, b); return true;
    case REDUCE_mean: *out = mean_of(d, node, b); return true;
    case REDUCE_logsumexp: *out = logsumexp_of(nest, b); return true;
    case REDUCE_var: *out = variance_of(d, node, b, node_float(node, AT_A, 1)); return true;
    case REDUCE_std:
        *out = nest_map1(nest, "sqrt($0)", variance_of(d, node, b, node_float(node, AT_A, 1)));
        return true;
    case REDUCE_norm:
        if (p != 2 && p != 1)
            return derive_refuse(d, node, "only the norms of order 1 and 2 are planned");
        powers = p == 2 ? squares(nest, b) : map_parts(nest, b, "abs($0)", 0);
        *out = reduce_parts(nest, PRIM_SUM, &powers);
        if (p == 2)
            *out = nest_map1(nest, "sqrt($0)", *out);
        return true;
    default: return derive_refuse(d, node, "this reduction is not planned");
    }
}

/* The first place of the largest (smallest); of a NaN, where there is one. */
static bool at_argmax(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    Nest *nest = d->nest;
    Shape shape = graph_value(d->graph, node->in[0])->shape;
    const Attr *dims = node_attr(node, AT_DIMS);
    if (!dims || dims->ints.len != 1)
        return derive_refuse(d, node, "an index over all elements of a tensor is not planned");
    uint32_t taken = prim_dims(node, shape.rank);
    int dim = __builtin_ctz(taken);
    NestIndex kept = kept_index(node, index, taken, shape.rank);
    Body b, places;
    if (shape.dim[dim] >= EXACT_INT || !body_of(d, node, node->in[0], &kept, taken, &b) ||
        !places_of(d, node, shape.dim[dim], &kept, &b, &places))
        return shape.dim[dim] >= EXACT_INT
                   ? derive_refuse(d, node, "it counts further than f32 can hold exactly")
                   : false;
    NestId most = reduce_parts(nest, node->kind == REDUCE_argmax ? PRIM_MAX : PRIM_MIN, &b);
    NestId none = nest_number(nest, INFINITY);
    for (uint32_t i = 0; i < b.n; i++) {
        NestId is = nest_map(nest, "($0 == $1) | ($0 != $0)", true, 2, (NestId[]){b.x[i], most});
        places.x[i] = nest_map(nest, "where($0, $1, $2)", false, 3,
                               (NestId[]){is, places.x[i], none});
    }
    *out = reduce_parts(nest, PRIM_MIN, &places);
    return true;
}

/* The largest (smallest), then the largest of what is left, ...: every turn finds the first place of the
 * extreme and takes it out. The result is written in parts, one for each turn. */
static bool at_topk(Derive *d, const Node *node, const NestIndex *index, bool place, NestId *out)
{
    Nest *nest = d->nest;
    Shape shape = graph_value(d->graph, node->in[0])->shape;
    int64_t at = node_int(node, AT_DIM, -1), turns = node_int(node, AT_K, 1), turn;
    int dim = (int)(at < 0 ? at + shape.rank : at);
    bool largest = node_bool(node, AT_LARGEST);
    NestIndex kept = *index;
    Body b, places;
    if (turns > MOST_TURNS || shape.dim[dim] >= EXACT_INT)
        return derive_refuse(
            d, node, "it takes too many elements, or its rows are longer than f32 can count");
    if (!derive_one_of(d, node, &index->dim[dim], turns, &turn))
        return false;
    kept.dim[dim] = affine_number(0);
    if (!body_of(d, node, node->in[0], &kept, 1u << dim, &b) ||
        !places_of(d, node, shape.dim[dim], &kept, &b, &places))
        return false;
    NestId none = nest_number(nest, INFINITY),
           gone = nest_number(nest, largest ? -INFINITY : INFINITY);
    for (int64_t i = 0;; i++) {
        NestId most = reduce_parts(nest, largest ? PRIM_MAX : PRIM_MIN, &b);
        Body here = places;
        if (i == turn && !place) {
            *out = most;
            return true;
        }
        for (uint32_t k = 0; k < b.n; k++) {
            NestId is = nest_map(nest, "$0 == $1", true, 2, (NestId[]){b.x[k], most});
            here.x[k] = nest_map(nest, "where($0, $1, $2)", false, 3,
                                 (NestId[]){is, places.x[k], none});
        }
        NestId first = reduce_parts(nest, PRIM_MIN, &here);
        if (i == turn) {
            *out = first;
            return true;
        }
        for (uint32_t k = 0; k < b.n; k++) {
            NestId is = nest_map(nest, "$0 == $1", true, 2, (NestId[]){places.x[k], first});
            b.x[k] = nest_map(nest, "where($0, $1, $2)", false, 3, (NestId[]){is, gone, b.x[k]});
            places.x[k] = nest_map(nest, "where($0, $1, $2)", false, 3,
                                   (NestId[]){is, none, places.x[k]});
        }
    }
}

/* The element of a value where the mask holds, which it does for one element along the axes of `over`: of a map
 * the map of its operands' elements; what does not vary along them is the same everywhere. */
static NestId element_where(Nest *nest, NestId id, uint64_t over, NestId mask, int depth)
{
    NestValue v = nest->values.at[id];
    bool parts = v.op == NEST_MAP && !v.mask && depth < MOST_PICKED;
    if (!(v.axes & over))
        return id;
    for (uint32_t i = 0; i < v.n_arg && parts; i++)
        parts = !nest->values.at[v.arg[i]].mask;
    if (!parts) {
        NestId zero = nest_number(nest, 0);
        NestId one = nest_map(nest, "where($0, $1, $2)", false, 3, (NestId[]){mask, id, zero});
        return nest_reduce(nest, PRIM_SUM, one, over);
    }
    for (uint32_t i = 0; i < v.n_arg; i++)
        v.arg[i] = element_where(nest, v.arg[i], over, mask, depth + 1);
    return nest_map(nest, v.form, false, v.n_arg, v.arg);
}

/* x[.., index, ..] where one element is picked along the dimension: the sum of all that have that place. */
static bool at_gather(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    Nest *nest = d->nest;
    Shape shape = graph_value(d->graph, node->in[0])->shape;
    int64_t at = node_int(node, AT_DIM, 0);
    int dim = (int)(at < 0 ? at + shape.rank : at);
    Body b, places;
    NestId which;
    if (graph_value(d->graph, node->in[1])->shape.dim[dim] != 1 || shape.dim[dim] > MOST_SEARCHED)
        return derive_refuse(d, node, "it picks several elements, or picks from too many");
    if (!index_operand(d, node, node->in[1], index, &which) ||
        !body_of(d, node, node->in[0], index, 1u << dim, &b) ||
        !places_of(d, node, shape.dim[dim], index, &b, &places))
        return false;
    for (uint32_t i = 0; i < b.n; i++) {
        NestId is = nest_map(nest, "$0 == $1", true, 2, (NestId[]){places.x[i], which});
        if (b.n == 1) {
            *out = element_where(nest, b.x[0], b.over[0], is, 0);
            return true;
        }
        b.x[i] = nest_map(nest, "where($0, $1, $2)", false, 3,
                          (NestId[]){is, b.x[i], nest_number(nest, 0)});
    }
    *out = reduce_parts(nest, PRIM_SUM, &b);
    return true;
}

static bool at_one_hot(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    Nest *nest = d->nest;
    NestIndex inner = *index;
    NestId which;
    inner.rank--;
    if (!index_operand(d, node, node->in[0], &inner, &which))
        return false;
    NestId is = nest_map(nest, "$0 == $1", true, 2,
                         (NestId[]){nest_place(nest, &index->dim[inner.rank]), which});
    *out = nest_map1(nest, "where($0, 1.0, 0.0)", is);
    return true;
}

static bool at_reduce(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    if (node->kind == REDUCE_argmax || node->kind == REDUCE_argmin)
        return at_argmax(d, node, index, out);
    Shape shape = graph_value(d->graph, node->in[0])->shape;
    uint32_t dims = prim_dims(node, shape.rank);
    NestIndex kept = kept_index(node, index, dims, shape.rank);
    Body b;
    if (dtype_is_int(graph_value(d->graph, node->in[0])->dtype) &&
        !derive_is_exact(d->graph, node->in[0]))
        return derive_refuse(d, node, "arithmetic on integers is not planned");
    return body_of(d, node, node->in[0], &kept, dims, &b) && reduce_body(d, node, &b, out);
}

/* ---- scans ---- */

/* The dimension has to be walked by one axis, from its begin or its end. */
static bool at_scan(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    static const PrimReduce reductions[] = {[SCAN_sum] = PRIM_SUM,
                                            [SCAN_prod] = PRIM_PROD,
                                            [SCAN_logsumexp] = PRIM_LOGSUMEXP,
                                            [SCAN_max] = PRIM_MAX,
                                            [SCAN_min] = PRIM_MIN};
    int64_t dim = node_int(node, AT_DIM, 0);
    const Affine *at = &index->dim[dim < 0 ? dim + index->rank : dim];
    NestId x;
    if (!dtype_is_float(graph_value(d->graph, node->out)->dtype) &&
        !derive_is_exact(d->graph, node->out))
        return derive_refuse(d, node, "arithmetic on integers is not planned");
    if (d->mask)
        return derive_refuse(d, node, "its results would have to be written to memory first");
    if (!operand(d, node, 0, index, &x))
        return false;
    *out = derive_number(d->nest, x);
    if (!at->n && !at->at)
        return true;
    int64_t size = at->n == 1 ? d->nest->axes.at[at->term[0].axis].size : 0;
    bool ahead = at->n == 1 && at->term[0].by == 1 && at->at == 0;
    bool back = at->n == 1 && at->term[0].by == -1 && at->at == size - 1;
    if (!ahead && !back)
        return derive_refuse(d, node, "its results would have to be written to memory first");
    *out = nest_scan(d->nest, reductions[node->kind], *out, at->term[0].axis, back);
    return true;
}

/* ---- composites ---- */

static bool at_softmax(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    Nest *nest = d->nest;
    int64_t dim = node_int(node, AT_DIM, -1);
    Body b;
    NestId here;
    if (!body_of(d, node, node->in[0], index, 1u << (dim < 0 ? dim + index->rank : dim), &b) ||
        !derive_at(d, node->in[0], index, &here))
        return false;
    NestId most = reduce_parts(nest, PRIM_MAX, &b);
    Body less = map_parts(nest, &b, "$0 - $1", most), e = map_parts(nest, &less, "exp($0)", 0);
    NestId sum = sum_following(nest, &e, most), own = nest_map2(nest, "$0 - $1", here, most);
    *out = node_bool(node, AT_LOG)
               ? nest_map2(nest, "$0 - $1", own, nest_map1(nest, "log($0)", sum))
               : quotient(d, node, nest_map1(nest, "exp($0)", own), sum);
    return true;
}

/* The operand at an index of its own; absent: `otherwise`. */
static bool optional(Derive *d, const Node *node, uint32_t i, const Affine *at, int rank,
                     const char *form, NestId *x)
{
    NestIndex inner = {.rank = rank};
    NestId v;
    if (i >= node->n_in || node->in[i] == VALUE_NONE)
        return true;
    for (int k = 0; k < rank; k++)
        inner.dim[k] = at[k];
    if (!derive_at(d, node->in[i], &inner, &v))
        return false;
    *x = nest_map2(d->nest, form, *x, v);
    return true;
}

static NestId standardise(Derive *d, const Node *node, const Body *b, NestId here, double eps)
{
    Nest *nest = d->nest;
    NestId mean = mean_of(d, node, b), var = variance_of(d, node, b, 0);
    NestId dev = nest_map2(nest, "sqrt($0 + $1)", var, nest_number(nest, eps));
    return quotient(d, node, nest_map2(nest, "$0 - $1", here, mean), dev);
}

static bool at_layer_norm(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    const Attr *shape = node_attr(node, AT_SHAPE);
    int n = (int)shape->ints.len;
    uint32_t dims = ((1u << n) - 1) << (index->rank - n);
    double eps = node_float(node, AT_EPS, 1e-5);
    Body b;
    NestId here;
    if (!body_of(d, node, node->in[0], index, dims, &b) || !derive_at(d, node->in[0], index, &here))
        return false;
    if (node->op == OP_RMS_NORM) {
        Body square = squares(d->nest, &b);
        NestId mean = mean_of(d, node, &square);
        NestId root = nest_map2(d->nest, "sqrt($0 + $1)", mean, nest_number(d->nest, eps));
        *out = quotient(d, node, here, root);
    } else {
        *out = standardise(d, node, &b, here, eps);
    }
    const Affine *last = &index->dim[index->rank - n];
    return optional(d, node, 1, last, n, "$0 * $1", out) &&
           (node->op == OP_RMS_NORM || optional(d, node, 2, last, n, "$0 + $1", out));
}

/* Over the batch and the places (batch norm), or over the places (instance norm). */
static bool at_channel_norm(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    bool batch = node->op == OP_BATCH_NORM;
    uint32_t dims = ((1u << index->rank) - 1) & ~(batch ? 2u : 3u);
    double eps = node_float(node, AT_EPS, 1e-5);
    const Affine *channel = &index->dim[1];
    Body b;
    if (!derive_at(d, node->in[0], index, out))
        return false;
    if (batch && !node_bool(node, AT_TRAINING)) {
        NestIndex at = {.rank = 1, .dim = {*channel}};
        NestId mean, var;
        if (!derive_at(d, node->in[1], &at, &mean) || !derive_at(d, node->in[2], &at, &var))
            return false;
        NestId dev = nest_map2(d->nest, "sqrt($0 + $1)", var, nest_number(d->nest, eps));
        *out = quotient(d, node, nest_map2(d->nest, "$0 - $1", *out, mean), dev);
    } else {
        if (!body_of(d, node, node->in[0], index, dims, &b))
            return false;
        *out = standardise(d, node, &b, *out, eps);
    }
    return optional(d, node, batch ? 3 : 1, channel, 1, "$0 * $1", out) &&
           optional(d, node, batch ? 4 : 2, channel, 1, "$0 + $1", out);
}

/* Channels are cut in groups; the channels of a group and the places are reduced. */
static bool at_group_norm(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    Shape shape = graph_value(d->graph, node->in[0])->shape;
    int64_t each = shape.dim[1] / node_int(node, AT_GROUPS, 1);
    uint32_t places = ((1u << index->rank) - 1) & ~3u;
    NestIndex kept = *index;
    Affine group, rest;
    Body b;
    if (!derive_divide(d, node, &index->dim[1], each, &group, &rest))
        return false;
    kept.dim[1] = affine_number(0);
    if (!affine_add(&kept.dim[1], &group, each))
        return derive_refuse(d, node, "an index is a sum of too many terms");
    for (int i = 2; i < index->rank; i++)
        kept.dim[i] = affine_number(0);
    const NestDim *dim = each == 1 ? NULL : derive_dim(d, each, derive_axes(&kept));
    uint64_t channels = dim ? dim->axes : 0;
    if (each > 1 && (!dim || !affine_add(&kept.dim[1], &dim->index, 1)))
        return derive_refuse(d, node, "it has too many dimensions");
    if (!body_of(d, node, node->in[0], &kept, places, &b) || !derive_at(d, node->in[0], index, out))
        return false;
    for (uint32_t i = 0; i < b.n; i++)
        b.over[i] |= channels;
    *out = standardise(d, node, &b, *out, node_float(node, AT_EPS, 1e-5));
    return optional(d, node, 1, &index->dim[1], 1, "$0 * $1", out) &&
           optional(d, node, 2, &index->dim[1], 1, "$0 + $1", out);
}

bool derive_node(Derive *d, const Node *node, const NestIndex *index, bool second, NestId *out)
{
    bool taken = false;
    if (node->op == OP_TOPK)
        return at_topk(d, node, index, second, out);
    if (second)
        return derive_refuse(d, node, "only its first result is planned");
    bool ok = d->kind == NEST_WINDOWED && derive_window(d, node, index, out, &taken);
    if (taken)
        return ok;
    ok = d->kind >= NEST_GENERAL ? derive_general(d, node, index, out, &taken)
                                 : derive_disjoint_pool(d, node, index, out, &taken);
    if (taken)
        return ok;
    ok = derive_view(d, node, index, out, &taken);
    if (taken)
        return ok;
    ok = derive_logic(d, node, index, out, &taken);
    if (taken)
        return ok;
    switch (node->op) {
    case OP_UNARY: return at_unary(d, node, index, out);
    case OP_BINARY: return at_binary(d, node, index, out);
    case OP_CLAMP: return at_clamp(d, node, index, out);
    case OP_WHERE: return at_where(d, node, index, out);
    case OP_LERP:
    case OP_ADDCMUL:
    case OP_ADDCDIV: return at_three(d, node, index, out);
    case OP_CAST: return at_cast(d, node, index, out);
    case OP_FULL: *out = nest_number(d->nest, node_float(node, AT_VALUE, 0)); return true;
    case OP_ARANGE: return at_arange(d, node, index, out);
    case OP_TRI: return at_tri(d, node, index, out);
    case OP_REDUCE: return at_reduce(d, node, index, out);
    case OP_SCAN: return at_scan(d, node, index, out);
    case OP_GATHER: return at_gather(d, node, index, out);
    case OP_ONE_HOT: return at_one_hot(d, node, index, out);
    case OP_SOFTMAX: return at_softmax(d, node, index, out);
    case OP_LAYER_NORM:
    case OP_RMS_NORM: return at_layer_norm(d, node, index, out);
    case OP_BATCH_NORM:
    case OP_INSTANCE_NORM: return at_channel_norm(d, node, index, out);
    case OP_GROUP_NORM: return at_group_norm(d, node, index, out);
    default: return derive_refuse(d, node, "no loop nest computes it");
    }
}
