/* Matrix products. In: operands with broadcast batches; out: their product. Floating types go
 * through gemm_run in f32 or f64; integers wrap in int64_t; einsum is brought to the same form by
 * sorting its letters into batch, row, column and summed. */
#include "graph/eval_int.h"
#include "graph/eval_gemm.h"
#include <math.h>
#include <string.h>

static const void *offset(const void *at, DType dtype, int64_t elements)
{
    return (const char *)at + elements * (int64_t)dtype_bytes(dtype);
}

void eval_matmul(const EvalMatmul *m)
{
    GemmMatrix *sides = heap_alloc(sizeof *sides * 2 * (size_t)(m->batch + 1));
    GemmItem *items = heap_alloc(sizeof *items * (size_t)(m->batch + 1));
    for (int64_t b = 0; b < m->batch; b++) {
        sides[2 * b] = (GemmMatrix){offset(m->a, m->dtype, b * m->a_batch), m->a_row, m->a_col};
        sides[2 * b + 1] = (GemmMatrix){offset(m->b, m->dtype, b * m->b_batch), m->b_col, m->b_row};
        items[b] = (GemmItem){.a = &sides[2 * b],
                              .b = &sides[2 * b + 1],
                              .c = (char *)m->c + b * m->c_batch * (int64_t)dtype_bytes(m->dtype),
                              .col_bias = m->bias};
    }
    GemmPack *pack = m->dtype == DT_F64 ? gemm_pack_f64 : gemm_pack_f32;
    gemm_run(&(Gemm){.dtype = m->dtype,
                     .m = m->m,
                     .n = m->n,
                     .k = m->k,
                     .c_row = m->n,
                     .pack_a = pack,
                     .pack_b = pack,
                     .items = items,
                     .batch = m->batch});
    heap_free(sides);
    heap_free(items);
}

/* Puts a result computed in f32 or f64 into the output, converting when it is another dtype. */
static bool deliver(EvalNode *e, Tensor *c)
{
    Tensor *as = eval_as(e, c, e->out[0]->dtype);
    tensor_free(c);
    if (!as)
        return false;
    Tensor *out = tensor_alias(as, e->out[0]->shape);
    tensor_free(as);
    tensor_free(e->out[0]);
    e->out[0] = out;
    return out != NULL;
}

/* --- matmul ------------------------------------------------------------------------------- */

typedef struct Side {
    int64_t rows, cols; /* as matrices */
    Shape batch;
} Side;

static Side side_of(Shape s, bool left)
{
    Side side = {.batch = s};
    side.batch.rank = s.rank > 2 ? s.rank - 2 : 0;
    side.rows = s.rank > 1 ? s.dim[s.rank - 2] : left ? 1 : s.dim[0];
    side.cols = s.rank > 1 ? s.dim[s.rank - 1] : left ? s.dim[0] : 1;
    return side;
}

/* Index of the matrix of `side` for matrix number b of the broadcast batch. */
static int64_t batch_at(Shape batch, Shape side, int64_t b)
{
    int64_t at = 0, stride = 1;
    for (int d = batch.rank - 1, i = side.rank - 1; i >= 0; d--, i--) {
        at += side.dim[i] == 1 ? 0 : b % batch.dim[d] * stride;
        stride *= side.dim[i];
        b /= batch.dim[d];
    }
    return at;
}

static void matmul_batches(const Tensor *a, const Tensor *b, Tensor *c, Side l, Side r, Shape batch)
{
    int64_t count = 0;
    shape_count(batch, &count);
    GemmMatrix *sides = heap_alloc(sizeof *sides * 2 * (size_t)(count + 1));
    GemmItem *items = heap_alloc(sizeof *items * (size_t)(count + 1));
    for (int64_t i = 0; i < count; i++) {
        const void *at = offset(a->at, a->dtype, batch_at(batch, l.batch, i) * l.rows * l.cols);
        const void *bt = offset(b->at, b->dtype, batch_at(batch, r.batch, i) * r.rows * r.cols);
        sides[2 * i] = (GemmMatrix){at, l.cols, 1};
        sides[2 * i + 1] = (GemmMatrix){bt, 1, r.cols};
        items[i] = (GemmItem){.a = &sides[2 * i],
                              .b = &sides[2 * i + 1],
                              .c = (char *)c->at +
                                   i * l.rows * r.cols * (int64_t)dtype_bytes(c->dtype)};
    }
    GemmPack *pack = c->dtype == DT_F64 ? gemm_pack_f64 : gemm_pack_f32;
    gemm_run(&(Gemm){.dtype = c->dtype,
                     .m = l.rows,
                     .n = r.cols,
                     .k = l.cols,
                     .c_row = r.cols,
                     .pack_a = pack,
                     .pack_b = pack,
                     .items = items,
                     .batch = count});
    heap_free(sides);
    heap_free(items);
}

/* Integer and bool products, exact modulo 2^64. */
static void matmul_whole(const Tensor *a, const Tensor *b, Tensor *c, Side l, Side r, Shape batch)
{
    int64_t count = 0;
    shape_count(batch, &count);
    for (int64_t t = 0; t < count * l.rows * r.cols; t++) {
        int64_t m = t / (l.rows * r.cols), i = t / r.cols % l.rows, j = t % r.cols;
        int64_t at = (batch_at(batch, l.batch, m) * l.rows + i) * l.cols;
        int64_t bt = batch_at(batch, r.batch, m) * r.rows * r.cols + j;
        uint64_t sum = 0;
        for (int64_t k = 0; k < l.cols; k++) {
            int64_t x, y;
            tensor_load_i64(a, at + k, 1, 1, &x);
            tensor_load_i64(b, bt + k * r.cols, 1, 1, &y);
            sum += (uint64_t)x * (uint64_t)y;
        }
        int64_t whole = (int64_t)sum;
        tensor_store_i64(c, t, 1, 1, &whole);
    }
}

/* Complex: real and imaginary parts summed in double. */
static void matmul_complex(const Tensor *a, const Tensor *b, Tensor *c, Side l, Side r, Shape batch)
{
    int64_t count = 0;
    shape_count(batch, &count);
    for (int64_t t = 0; t < count * l.rows * r.cols; t++) {
        int64_t m = t / (l.rows * r.cols), i = t / r.cols % l.rows, j = t % r.cols;
        const float *x = TENSOR_AT(a, float) +
                         2 * (batch_at(batch, l.batch, m) * l.rows + i) * l.cols;
        const float *y = TENSOR_AT(b, float) +
                         2 * (batch_at(batch, r.batch, m) * r.rows * r.cols + j);
        double re = 0, im = 0;
        for (int64_t k = 0; k < l.cols; k++, x += 2, y += 2 * r.cols) {
            re += (double)x[0] * (double)y[0] - (double)x[1] * (double)y[1];
            im += (double)x[0] * (double)y[1] + (double)x[1] * (double)y[0];
        }
        TENSOR_AT(c, float)[2 * t] = (float)re;
        TENSOR_AT(c, float)[2 * t + 1] = (float)im;
    }
}

bool eval_op_MATMUL(EvalNode *e)
{
    const Tensor *x = e->in[0], *y = e->in[1];
    Side l = side_of(x->shape, true), r = side_of(y->shape, false);
    Shape batch = {0};
    shape_broadcast(l.batch, r.batch, &batch);
    DType out = e->out[0]->dtype;
    if (out == DT_C64 || !dtype_is_float(out)) {
        if (x->dtype != y->dtype)
            return eval_fail(e, "operands of different dtypes");
        (out == DT_C64 ? matmul_complex : matmul_whole)(x, y, e->out[0], l, r, batch);
        return true;
    }
    DType as = eval_compute_dtype(out);
    if (l.batch.rank > 0 && r.batch.rank == 0) { /* one tall matrix */
        l.rows = l.cols ? x->count / l.cols : 0;
        l.batch.rank = batch.rank = 0;
    }
    Tensor *a = eval_as(e, x, as), *b = a ? eval_as(e, y, as) : NULL;
    Tensor *c = b ? eval_scratch(e, as, e->out[0]->shape) : NULL;
    if (c)
        matmul_batches(a, b, c, l, r, batch);
    tensor_free(a);
    tensor_free(b);
    return c && deliver(e, c);
}

bool eval_op_LINEAR(EvalNode *e)
{
    DType as = eval_compute_dtype(e->out[0]->dtype);
    Tensor *x = eval_as(e, e->in[0], as), *w = x ? eval_as(e, e->in[1], as) : NULL;
    Tensor *bias = w && e->in[2] ? eval_as(e, e->in[2], as) : NULL;
    Tensor *c = w && (bias || !e->in[2]) ? eval_scratch(e, as, e->out[0]->shape) : NULL;
    int64_t n = e->in[1]->shape.dim[0], k = e->in[1]->shape.dim[1];
    if (c)
        eval_matmul(&(EvalMatmul){.dtype = as,
                                  .m = n ? c->count / n : 0,
                                  .n = n,
                                  .k = k,
                                  .batch = 1,
                                  .a = x->at,
                                  .b = w->at,
                                  .c = c->at,
                                  .a_row = k,
                                  .a_col = 1,
                                  .b_row = 1,
                                  .b_col = k,
                                  .bias = bias ? bias->at : NULL});
    tensor_free(x);
    tensor_free(w);
    tensor_free(bias);
    return c && deliver(e, c);
}

/* --- grouped ------------------------------------------------------------------------------ */

/* Group g covers offsets[g-1] .. offsets[g]-1 of the dim that is shared out. */
static bool group_bounds(EvalNode *e, int64_t g, int64_t size, int64_t *from, int64_t *to)
{
    int64_t ends[2] = {0, 0};
    tensor_load_i64(e->in[2], g, 1, 1, &ends[1]);
    if (g > 0)
        tensor_load_i64(e->in[2], g - 1, 1, 1, &ends[0]);
    *from = ends[0];
    *to = ends[1];
    return (*from >= 0 && *from <= *to && *to <= size) ||
           eval_fail(e, "group %lld is %lld .. %lld of %lld", (long long)g, (long long)*from,
                     (long long)*to, (long long)size);
}

static bool grouped(EvalNode *e, const Tensor *a, const Tensor *b, Tensor *c)
{
    bool a3 = a->shape.rank == 3, b3 = b->shape.rank == 3;
    int64_t m = a->shape.dim[a3 ? 1 : 0], k = a->shape.dim[a3 ? 2 : 1],
            n = b->shape.dim[b3 ? 2 : 1];
    int64_t groups = a3 ? a->shape.dim[0] : b3 ? b->shape.dim[0] : c->shape.dim[0];
    memset(c->at, 0, (size_t)c->count * dtype_bytes(c->dtype));
    for (int64_t g = 0; g < groups; g++) {
        int64_t from = 0, to = 0, gm = m, gn = n, gk = k, at = a3 ? g * m * k : 0,
                bt = b3 ? g * k * n : 0;
        int64_t ct = g * m * n, row = n;
        if (!(a3 && b3)) {
            int64_t size = b3 ? m : a3 ? n : k;
            if (!group_bounds(e, g, size, &from, &to))
                return false;
            if (b3) {
                gm = to - from;
                at = from * k;
                ct = from * n;
            } else if (a3) {
                gn = to - from;
                bt = from;
                ct = from;
            } else {
                gk = to - from;
                at = from;
                bt = from * n;
            }
        }
        GemmMatrix l = {offset(a->at, a->dtype, at), k, 1}, r = {offset(b->at, b->dtype, bt), 1, n};
        GemmItem item = {
            .a = &l, .b = &r, .c = (char *)c->at + ct * (int64_t)dtype_bytes(c->dtype)};
        GemmPack *pack = c->dtype == DT_F64 ? gemm_pack_f64 : gemm_pack_f32;
        gemm_run(&(Gemm){.dtype = c->dtype,
                         .m = gm,
                         .n = gn,
                         .k = gk,
                         .c_row = row,
                         .pack_a = pack,
                         .pack_b = pack,
                         .items = &item,
                         .batch = 1});
    }
    return true;
}

bool eval_op_GROUPED_MATMUL(EvalNode *e)
{
    DType as = eval_compute_dtype(e->out[0]->dtype);
    Tensor *a = eval_as(e, e->in[0], as), *b = a ? eval_as(e, e->in[1], as) : NULL;
    Tensor *c = b ? eval_scratch(e, as, e->out[0]->shape) : NULL;
    bool ok = c && grouped(e, a, b, c);
    tensor_free(a);
    tensor_free(b);
    if (!ok) {
        tensor_free(c);
        return false;
    }
    return deliver(e, c);
}

/* --- distances ---------------------------------------------------------------------------- */

static double minkowski(const double *x, const double *y, int64_t n, double p)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double d = fabs(x[i] - y[i]);
        if (p == 2)
            sum += d * d;
        else if (isinf(p))
            sum = d > sum || d != d ? d : sum;
        else
            sum += p == 1 ? d : p == 0 ? d != 0 : pow(d, p);
    }
    return p == 2 ? sqrt(sum) : p == 0 || p == 1 || isinf(p) ? sum : pow(sum, 1 / p);
}

bool eval_op_CDIST(EvalNode *e)
{
    Tensor *a = eval_as(e, e->in[0], DT_F64), *b = a ? eval_as(e, e->in[1], DT_F64) : NULL;
    if (b) {
        Side l = side_of(a->shape, true), r = side_of(b->shape, true);
        Shape batch = {0};
        shape_broadcast(l.batch, r.batch, &batch);
        double p = node_float(e->node, AT_P, 2);
#pragma omp parallel for schedule(static)
        for (int64_t t = 0; t < e->out[0]->count; t++) {
            int64_t m = t / (l.rows * r.rows), i = t / r.rows % l.rows, j = t % r.rows;
            const double *x = TENSOR_AT(a, double) +
                              (batch_at(batch, l.batch, m) * l.rows + i) * l.cols;
            const double *y = TENSOR_AT(b, double) +
                              (batch_at(batch, r.batch, m) * r.rows + j) * r.cols;
            tensor_set(e->out[0], t, minkowski(x, y, l.cols, p));
        }
    }
    tensor_free(a);
    tensor_free(b);
    return b != NULL;
}

/* Where element i of `out` lies in an input that broadcasts to it. */
static int64_t broadcast_index(Shape out, Shape in, int64_t i)
{
    int64_t at = 0, stride = 1;
    for (int d = out.rank - 1, k = in.rank - 1; k >= 0; d--, k--) {
        at += in.dim[k] == 1 ? 0 : i % out.dim[d] * stride;
        stride *= in.dim[k];
        i /= out.dim[d];
    }
    return at;
}

bool eval_op_CROSS(EvalNode *e)
{
    Shape shape = e->out[0]->shape;
    int dim = eval_dim(e->node, shape, -1);
    Axis a = eval_axis(shape, dim);
    if (a.n != 3)
        return eval_fail(e, "the dim has size %lld, not 3", (long long)a.n);
    for (int64_t line = 0; line < a.outer * a.inner; line++) {
        int64_t from = line / a.inner * 3 * a.inner + line % a.inner;
        double x[3], y[3];
        for (int k = 0; k < 3; k++) {
            x[k] = tensor_get(e->in[0],
                              broadcast_index(shape, e->in[0]->shape, from + k * a.inner));
            y[k] = tensor_get(e->in[1],
                              broadcast_index(shape, e->in[1]->shape, from + k * a.inner));
        }
        for (int k = 0; k < 3; k++)
            tensor_set(e->out[0], from + k * a.inner,
                       x[(k + 1) % 3] * y[(k + 2) % 3] - x[(k + 2) % 3] * y[(k + 1) % 3]);
    }
    return true;
}
