/* Sums and the like: reductions, softmax, matrix products, additions by index. */
#include "graph/eval_int.h"
#include "graph/unroll_int.h"

#include <string.h>

static bool is_half(DType d) { return d == DT_F16 || d == DT_BF16; }
static DType work_type(DType d) { return is_half(d) ? DT_F32 : d; }

/* --- reductions --------------------------------------------------------------------------- */

/* any(a or b, ...): the terms taken apart, sorted by what kind of expression each is. */
enum { MOST_SORTS = 8 };
typedef struct AnyTerms {
    struct {
        uint8_t form, op, kind;
        ExprSum sum;
    } sort[MOST_SORTS];
    int sorts;
    bool sure, overflow;
} AnyTerms;

static void any_add(Exprs *x, AnyTerms *t, ExprId id, int depth)
{
    const Expr *e = expr_at(x, id);
    if (e->form == EXPR_CONST) {
        t->sure = t->sure || expr_number(x, id) != 0;
        return;
    }
    if (e->form == EXPR_ELEM && e->op == OP_BINARY && e->kind == BINARY_logical_or && depth < 16) {
        ExprId a = e->arg[0], b = e->arg[1];
        any_add(x, t, a, depth + 1);
        any_add(x, t, b, depth + 1);
        return;
    }
    int i = 0;
    while (i < t->sorts &&
           (t->sort[i].form != e->form || t->sort[i].op != e->op || t->sort[i].kind != e->kind))
        i++;
    if (i == MOST_SORTS) {
        t->overflow = true;
        return;
    }
    if (i == t->sorts) {
        t->sort[i].form = e->form;
        t->sort[i].op = e->op;
        t->sort[i].kind = e->kind;
        t->sorts++;
    }
    expr_sum_add(&t->sort[i].sum, id);
}

static ExprId any_made(Exprs *x, const AnyTerms *t)
{
    ExprId out = expr_const(x, DT_BOOL, t->sure);
    for (int i = 0; i < t->sorts && !t->sure; i++) {
        const ExprSum *sum = &t->sort[i].sum;
        ExprId one = sum->count == 1 ? sum->last[0]
                                     : expr_many(x, OP_REDUCE, REDUCE_any, DT_BOOL, sum, 0);
        ExprId args[3] = {out, one};
        out = expr_elem(x, OP_BINARY, BINARY_logical_or, DT_BOOL, args, 0);
    }
    return out;
}

/* The dims a reduction goes over, and the strides of its result along the input's dims. */
static void reduced_strides(const Node *node, Shape shape, int64_t *stride)
{
    bool over[GRAPH_MAX_RANK] = {0};
    int64_t run = 1;
    eval_dim_flags(node, AT_DIMS, shape, over);
    for (int i = shape.rank - 1; i >= 0; i--) {
        stride[i] = over[i] ? 0 : run;
        run *= over[i] ? 1 : shape.dim[i];
    }
}

typedef struct Reduction {
    Unroll *u;
    const Node *node;
    const Tensor *in;
    int64_t *to; /* by element of the input: which result it belongs to */
    int64_t results;
} Reduction;

static void find_results(Reduction *r)
{
    int64_t stride[GRAPH_MAX_RANK], at[GRAPH_MAX_RANK] = {0}, now = 0;
    Shape shape = r->in->shape;
    reduced_strides(r->node, shape, stride);
    for (int64_t i = 0; i < r->in->count; i++) {
        r->to[i] = now;
        for (int d = shape.rank - 1; d >= 0; d--) {
            bool more = ++at[d] < shape.dim[d];
            now += more ? stride[d] : -stride[d] * (shape.dim[d] - 1);
            if (more)
                break;
            at[d] = 0;
        }
    }
}

static bool reduce_any(Reduction *r, Tensor *out)
{
    AnyTerms *terms = heap_alloc((size_t)(r->results + 1) * sizeof *terms);
    bool ok = true;
    for (int64_t i = 0; i < r->in->count; i++) {
        ExprId e = (ExprId)TENSOR_AT(r->in, int64_t)[i];
        any_add(r->u->x, &terms[r->to[i]], expr_cast(r->u->x, e, DT_BOOL), 0);
    }
    for (int64_t i = 0; i < r->results; i++) {
        ok = ok && !terms[i].overflow;
        TENSOR_AT(out, int64_t)[i] = any_made(r->u->x, &terms[i]);
    }
    heap_free(terms);
    return ok;
}

static bool single_is_itself(int kind)
{
    return kind == REDUCE_sum || kind == REDUCE_mean || kind == REDUCE_prod || kind == REDUCE_max ||
           kind == REDUCE_min;
}

/* Everything about the reduction that its dims do not say: they show in the terms. */
static uint64_t reduce_extra(const Node *node)
{
    double p = node_float(node, AT_P, 0), a = node_float(node, AT_A, 0);
    uint64_t words[2];
    memcpy(&words[0], &p, sizeof p);
    memcpy(&words[1], &a, sizeof a);
    return words[0] * 31 + words[1];
}

static void reduce_plain(Reduction *r, DType work, DType dtype, Tensor *out)
{
    Exprs *x = r->u->x;
    int kind = r->node->kind;
    bool ordered = kind == REDUCE_argmax || kind == REDUCE_argmin;
    ExprSum *sums = heap_alloc((size_t)(r->results + 1) * sizeof *sums);
    for (int64_t i = 0; i < r->in->count; i++) {
        ExprId e = expr_cast(x, (ExprId)TENSOR_AT(r->in, int64_t)[i], work);
        ExprSum *sum = &sums[r->to[i]];
        if (ordered)
            expr_sum_add_at(sum, e, sum->count);
        else if (kind != REDUCE_sum || !expr_is(x, e, 0))
            expr_sum_add(sum, e);
    }
    DType made = ordered || !dtype_is_float(dtype) ? dtype : work_type(dtype);
    for (int64_t i = 0; i < r->results; i++) {
        ExprSum *sum = &sums[i];
        ExprId e = kind == REDUCE_sum && sum->count == 0 ? expr_const_number(x, made, 0)
                   : single_is_itself(kind) && sum->count == 1
                       ? expr_cast(x, sum->last[0], made)
                       : expr_many(x, OP_REDUCE, kind, made, sum, reduce_extra(r->node));
        TENSOR_AT(out, int64_t)[i] = expr_cast(x, e, dtype);
    }
    heap_free(sums);
}

Tensor *unroll_reduce(Unroll *u, const Node *node)
{
    Tensor *out = node->op == OP_REDUCE ? unroll_new(u, node->out) : NULL;
    if (!out)
        return NULL;
    DType dtype = unroll_info(u, node->out)->dtype;
    DType from = node_dtype(node, AT_DTYPE, unroll_info(u, node->in[0])->dtype);
    bool summed = node->kind == REDUCE_sum || node->kind == REDUCE_prod;
    Reduction r = {u, node, u->values[node->in[0]], NULL, out->count};
    bool ok = unroll_spend(u, r.in->count);
    r.to = heap_alloc((size_t)(r.in->count + 1) * sizeof *r.to);
    find_results(&r);
    if (ok && node->kind == REDUCE_any)
        ok = reduce_any(&r, out);
    else if (ok)
        reduce_plain(&r, work_type(summed && !dtype_is_float(from) ? dtype : from), dtype, out);
    heap_free(r.to);
    if (ok)
        return out;
    tensor_free(out);
    return NULL;
}

/* --- softmax ------------------------------------------------------------------------------ */

Tensor *unroll_softmax(Unroll *u, const Node *node)
{
    Tensor *out = node->op == OP_SOFTMAX ? unroll_new(u, node->out) : NULL;
    if (!out)
        return NULL;
    Exprs *x = u->x;
    DType dtype = unroll_info(u, node->out)->dtype, work = work_type(dtype);
    Axis axis = eval_axis(out->shape, eval_dim(node, out->shape, -1));
    for (int64_t line = 0; line < axis.outer * axis.inner; line++) {
        int64_t first = line / axis.inner * axis.n * axis.inner + line % axis.inner;
        ExprSum sum = {0};
        for (int64_t i = 0; i < axis.n; i++) {
            int64_t at = first + i * axis.inner;
            ExprId e = expr_cast(x, (ExprId)unroll_ids(u, node->in[0])[at], work);
            TENSOR_AT(out, int64_t)[at] = e;
            expr_sum_add(&sum, e);
        }
        for (int64_t i = 0; i < axis.n; i++) {
            int64_t *id = &TENSOR_AT(out, int64_t)[first + i * axis.inner];
            ExprId e = expr_many(x, OP_SOFTMAX, node_bool(node, AT_LOG), work, &sum, (uint64_t)*id);
            *id = expr_cast(x, e, dtype);
        }
    }
    return out;
}

/* --- matrix products ---------------------------------------------------------------------- */

static ExprId dot_made(Exprs *x, const ExprSum *sum, DType work)
{
    if (sum->count == 0)
        return expr_const_number(x, work, 0);
    if (sum->count == 1) {
        ExprId args[3] = {sum->last[0], sum->last[1]};
        return expr_elem(x, OP_BINARY, BINARY_mul, work, args, 0);
    }
    return expr_many(x, OP_MATMUL, 0, work, sum, 0);
}

/* Adding a product is cheap beside making an expression. */
enum { PRODUCTS_A_STEP = 128 };

typedef struct Product {
    int64_t m, n, k, a_row, a_col, b_row, b_col;
} Product;

static void multiply(Unroll *u, const Product *p, const int64_t *a, const int64_t *b, int64_t *c,
                     DType work, DType dtype)
{
    int64_t *at = heap_alloc((size_t)(p->k + 1) * sizeof *at), terms;
    for (int64_t i = 0; i < p->m; i++) {
        terms = 0;
        for (int64_t l = 0; l < p->k; l++) {
            if (a[i * p->a_row + l * p->a_col])
                at[terms++] = l;
        }
        for (int64_t j = 0; j < p->n; j++) {
            ExprSum sum = {0};
            for (int64_t t = 0; t < terms; t++) {
                ExprId right = (ExprId)b[at[t] * p->b_row + j * p->b_col];
                if (right)
                    expr_sum_add_product(&sum, (ExprId)a[i * p->a_row + at[t] * p->a_col], right);
            }
            c[i * p->n + j] = expr_cast(u->x, dot_made(u->x, &sum, work), dtype);
        }
    }
    heap_free(at);
}

/* The numbers in the dtype of the work, zeros as none. */
static Tensor *factors(Unroll *u, ValueId id, DType work)
{
    Tensor *out = unroll_cast(u, u->values[id], work);
    for (int64_t i = 0; out && i < out->count; i++) {
        if (expr_is(u->x, (ExprId)TENSOR_AT(out, int64_t)[i], 0))
            TENSOR_AT(out, int64_t)[i] = EXPR_NONE;
    }
    return out;
}

static Shape as_matrix(Shape s, bool left)
{
    if (s.rank > 1)
        return s;
    return (Shape){.rank = 2, .dim = {left ? 1 : s.dim[0], left ? s.dim[0] : 1}};
}

static Shape batch_of(Shape matrix)
{
    matrix.rank -= 2;
    return matrix;
}

Tensor *unroll_matmul(Unroll *u, const Node *node)
{
    if (node->op != OP_MATMUL && !(node->op == OP_LINEAR && node->in[2] == VALUE_NONE))
        return NULL;
    bool turned = node->op == OP_LINEAR;
    Shape a = as_matrix(unroll_info(u, node->in[0])->shape, true);
    Shape b = as_matrix(unroll_info(u, node->in[1])->shape, false), batch;
    DType dtype = unroll_info(u, node->out)->dtype, work = work_type(dtype);
    Product p = {.m = a.dim[a.rank - 2],
                 .k = a.dim[a.rank - 1],
                 .n = b.dim[b.rank - (turned ? 2 : 1)],
                 .a_row = a.dim[a.rank - 1],
                 .a_col = 1,
                 .b_row = turned ? 1 : b.dim[b.rank - 1],
                 .b_col = turned ? b.dim[b.rank - 1] : 1};
    int64_t batches, sa[GRAPH_MAX_RANK], sb[GRAPH_MAX_RANK], steps;
    if (!shape_broadcast(batch_of(a), batch_of(b), &batch) || !shape_count(batch, &batches) ||
        __builtin_mul_overflow(p.m * p.n, p.k * batches, &steps) ||
        !unroll_spend(u, steps / PRODUCTS_A_STEP))
        return NULL;
    Tensor *left = factors(u, node->in[0], work), *right = factors(u, node->in[1], work);
    Tensor *out = left && right ? unroll_new(u, node->out) : NULL;
    unroll_strides(batch_of(a), batch, sa);
    unroll_strides(batch_of(b), batch, sb);
    for (int64_t i = 0; out && i < batches; i++) {
        int64_t rest = i, at = 0, bt = 0;
        for (int d = batch.rank - 1; d >= 0; d--) {
            at += rest % batch.dim[d] * sa[d];
            bt += rest % batch.dim[d] * sb[d];
            rest /= batch.dim[d];
        }
        multiply(u, &p, TENSOR_AT(left, int64_t) + at * p.m * p.k,
                 TENSOR_AT(right, int64_t) + bt * p.k * p.n,
                 TENSOR_AT(out, int64_t) + i * p.m * p.n, work, dtype);
    }
    tensor_free(left);
    tensor_free(right);
    return out;
}

/* --- additions by index ------------------------------------------------------------------- */

Tensor *unroll_index_add(Unroll *u, const Node *node)
{
    if (node->op != OP_INDEX_ADD || node_float(node, AT_ALPHA, 1) != 1 ||
        node_attr(node, AT_REDUCTION))
        return NULL;
    Tensor *places = unroll_known(u, u->values[node->in[1]], DT_I64);
    Tensor *out = places ? unroll_new(u, node->out) : NULL;
    if (!out) {
        tensor_free(places);
        return NULL;
    }
    Exprs *x = u->x;
    DType dtype = unroll_info(u, node->out)->dtype, work = work_type(dtype);
    Axis to = eval_axis(out->shape, eval_dim(node, out->shape, 0));
    ExprSum *sums = heap_alloc((size_t)(out->count + 1) * sizeof *sums);
    for (int64_t i = 0; i < out->count; i++) {
        ExprId e = expr_cast(x, (ExprId)unroll_ids(u, node->in[0])[i], work);
        if (!expr_is(x, e, 0))
            expr_sum_add(&sums[i], e);
    }
    const Tensor *src = u->values[node->in[2]];
    for (int64_t i = 0; i < src->count; i++) {
        int64_t inner = i % to.inner, row = i / to.inner % places->count;
        int64_t outer = i / to.inner / places->count;
        int64_t at = (outer * to.n + TENSOR_AT(places, int64_t)[row]) * to.inner + inner;
        ExprId e = expr_cast(x, (ExprId)TENSOR_AT(src, int64_t)[i], work);
        if (at >= 0 && at < out->count && !expr_is(x, e, 0))
            expr_sum_add(&sums[at], e);
    }
    for (int64_t i = 0; i < out->count; i++) {
        ExprId e = sums[i].count == 0   ? expr_const_number(x, work, 0)
                   : sums[i].count == 1 ? sums[i].last[0]
                                        : expr_many(x, OP_REDUCE, REDUCE_sum, work, &sums[i], 0);
        TENSOR_AT(out, int64_t)[i] = expr_cast(x, e, dtype);
    }
    heap_free(sums);
    tensor_free(places);
    return out;
}
