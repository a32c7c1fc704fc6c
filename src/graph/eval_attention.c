/* Attention. In: queries, keys, values, masks; out: softmax(q k^T * scale + mask) v.
 * Scores are made for a block of query rows of one head at a time, so that they stay in the cache
 * and memory does not grow with the product of the lengths; blocks run side by side. sdpa and nn.MultiheadAttention share the core. */
#include "graph/eval_int.h"
#include "graph/eval_gemm.h"
#include <math.h>
#include <string.h>

enum { SCORES_MOST = 1 << 16 }; /* elements of a block, unless one row is longer */

/* One head of one sample: q [lq, d], k [lk, d], v [lk, dv], out [lq, dv]; rows at strides. */
typedef struct Head {
    const void *q, *k, *v;
    void *out;
} Head;

typedef struct Attend Attend;
struct Attend {
    DType as; /* f32 or f64 */
    int64_t lq, lk, d, dv, heads;
    int64_t q_row, k_row, v_row, out_row;
    const Head *head;
    double scale;
    bool causal;
    bool empty_is_zero; /* a row with everything masked gives 0, not nan */
    /* Adds the mask to one row of scaled scores; NULL: none. */
    void (*mask)(const Attend *a, int64_t head, int64_t row, double *scores);
    /* Is shown each row of probabilities; NULL: nobody. */
    void (*seen)(const Attend *a, int64_t head, int64_t row, const double *p);
    EvalNode *e;
    double *weights; /* for `seen` */
    int64_t per_sample;
};

static const void *at_row(const void *at, DType as, int64_t elements)
{
    return (const char *)at + elements * (int64_t)dtype_bytes(as);
}

static void softmax_row(const Attend *a, double *x)
{
    if (a->empty_is_zero && eval_max(x, a->lk) == -INFINITY)
        memset(x, 0, sizeof *x * (size_t)a->lk);
    else
        eval_softmax(x, a->lk);
}

/* Turns one row of scores into probabilities. */
static void probabilities(const Attend *a, double *x, int64_t head, int64_t row)
{
    for (int64_t i = 0; i < a->lk; i++)
        x[i] *= a->scale;
    if (a->causal)
        for (int64_t i = row + 1; i < a->lk; i++)
            x[i] = -INFINITY;
    if (a->mask)
        a->mask(a, head, row, x);
    softmax_row(a, x);
    if (a->seen)
        a->seen(a, head, row, x);
}

/* Computes probabilities for rows held as f32; `x` has room for one row. */
static void probabilities_f32(const Attend *a, float *scores, double *x, int64_t head, int64_t row)
{
    if (!a->causal && !a->mask && !a->seen) {
        eval_softmax_f32(scores, a->lk, (float)a->scale);
        return;
    }
    for (int64_t i = 0; i < a->lk; i++)
        x[i] = (double)scores[i];
    probabilities(a, x, head, row);
    for (int64_t i = 0; i < a->lk; i++)
        scores[i] = (float)x[i];
}

/* Query rows r0 .. r0+rows-1 of one head; `scores` [rows, lk], `x` [lk]. */
static void attend_block(const Attend *a, int64_t head, int64_t r0, int64_t rows, void *scores,
                         double *x)
{
    const Head *h = &a->head[head];
    GemmPack *pack = a->as == DT_F64 ? gemm_pack_f64 : gemm_pack_f32;
    GemmMatrix q = {at_row(h->q, a->as, r0 * a->q_row), a->q_row, 1}, k = {h->k, a->k_row, 1},
               p = {scores, a->lk, 1}, v = {h->v, 1, a->v_row};
    GemmItem first = {.a = &q, .b = &k, .c = scores},
             second = {.a = &p,
                       .b = &v,
                       .c = (char *)h->out + (size_t)(r0 * a->out_row) * dtype_bytes(a->as)};
    Gemm g = {.dtype = a->as,
              .m = rows,
              .n = a->lk,
              .k = a->d,
              .c_row = a->lk,
              .pack_a = pack,
              .pack_b = pack,
              .items = &first,
              .batch = 1};
    gemm_run(&g);
    for (int64_t i = 0; i < rows; i++)
        if (a->as == DT_F64)
            probabilities(a, (double *)scores + i * a->lk, head, r0 + i);
        else
            probabilities_f32(a, (float *)scores + i * a->lk, x, head, r0 + i);
    g.n = a->dv;
    g.k = a->lk;
    g.c_row = a->out_row;
    g.items = &second;
    gemm_run(&g);
}

static void attend(const Attend *a)
{
    int64_t rows = a->lk > 0 ? SCORES_MOST / a->lk : a->lq;
    rows = rows > a->lq ? a->lq : rows;
    rows = rows < 1 ? 1 : rows;
    int64_t blocks = (a->lq + rows - 1) / rows;
#pragma omp parallel if (a->heads * blocks > 1)
    {
        void *scores = heap_alloc((size_t)(rows * a->lk) * dtype_bytes(a->as));
        double *x = heap_alloc(sizeof *x * (size_t)a->lk);
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < a->heads * blocks; i++) {
            int64_t r0 = i % blocks * rows;
            attend_block(a, i / blocks, r0, a->lq - r0 < rows ? a->lq - r0 : rows, scores, x);
        }
        heap_free(scores);
        heap_free(x);
    }
}

/* --- sdpa --------------------------------------------------------------------------------- */

/* Index of matrix b of a broadcast batch in a tensor with batch dims `side`; the last one counts
 * in groups when it is smaller (grouped heads). */
static int64_t batch_at(Shape batch, Shape side, int64_t b)
{
    int64_t at = 0, stride = 1;
    for (int d = batch.rank - 1, i = side.rank - 1; i >= 0; d--, i--) {
        int64_t c = batch.dim[d] > 0 ? b % batch.dim[d] : 0;
        at += (side.dim[i] == 0 ? 0 : c / (batch.dim[d] / side.dim[i])) * stride;
        stride *= side.dim[i];
        b = batch.dim[d] > 0 ? b / batch.dim[d] : 0;
    }
    return at;
}

static void add_mask(const Tensor *mask, int64_t from, int64_t step, int64_t n, bool keep,
                     double *x)
{
    for (int64_t i = 0; i < n; i++) {
        double m = tensor_get(mask, from + i * step);
        x[i] = mask->dtype != DT_BOOL ? x[i] + m : (m != 0) == keep ? x[i] : -INFINITY;
    }
}

static void sdpa_mask(const Attend *a, int64_t head, int64_t row, double *x)
{
    const Tensor *mask = a->e->in[3];
    Shape batch = a->e->out[0]->shape, m = mask->shape, lead = m;
    batch.rank -= 2;
    lead.rank = m.rank > 2 ? m.rank - 2 : 0;
    int64_t rows = m.rank > 1 ? m.dim[m.rank - 2] : 1, cols = m.rank ? m.dim[m.rank - 1] : 1;
    int64_t from = (batch_at(batch, lead, head) * rows + (rows == 1 ? 0 : row)) * cols;
    add_mask(mask, from, cols == 1 ? 0 : 1, a->lk, true, x);
}

static Shape lead_of(Shape s)
{
    s.rank -= 2;
    return s;
}

static void sdpa_run(EvalNode *e, const Tensor *q, const Tensor *k, const Tensor *v, Tensor *out)
{
    Shape qs = q->shape, ks = k->shape, vs = v->shape, batch = lead_of(out->shape);
    Attend a = {.as = q->dtype,
                .lq = qs.dim[qs.rank - 2],
                .lk = ks.dim[ks.rank - 2],
                .d = qs.dim[qs.rank - 1],
                .dv = vs.dim[vs.rank - 1],
                .causal = node_bool(e->node, AT_CAUSAL),
                .empty_is_zero = true,
                .mask = e->in[3] ? sdpa_mask : NULL,
                .e = e};
    a.q_row = a.k_row = a.d;
    a.v_row = a.out_row = a.dv;
    a.scale = node_float(e->node, AT_SCALE, 1 / sqrt((double)a.d));
    shape_count(batch, &a.heads);
    Head *heads = heap_alloc(sizeof *heads * (size_t)(a.heads + 1));
    for (int64_t i = 0; i < a.heads; i++)
        heads[i] = (Head){at_row(q->at, a.as, batch_at(batch, lead_of(qs), i) * a.lq * a.d),
                          at_row(k->at, a.as, batch_at(batch, lead_of(ks), i) * a.lk * a.d),
                          at_row(v->at, a.as, batch_at(batch, lead_of(vs), i) * a.lk * a.dv),
                          (char *)out->at + i * a.lq * a.dv * (int64_t)dtype_bytes(a.as)};
    a.head = heads;
    attend(&a);
    heap_free(heads);
}

/* Replaces the output by `t` in the output's dtype; takes `t`. */
static bool deliver(EvalNode *e, Tensor *t)
{
    Tensor *as = eval_as(e, t, e->out[0]->dtype);
    tensor_free(t);
    if (!as)
        return false;
    tensor_free(e->out[0]);
    e->out[0] = as;
    return true;
}

bool eval_op_SDPA(EvalNode *e)
{
    DType as = eval_compute_dtype(e->out[0]->dtype);
    Tensor *q = eval_as(e, e->in[0], as), *k = q ? eval_as(e, e->in[1], as) : NULL;
    Tensor *v = k ? eval_as(e, e->in[2], as) : NULL,
           *out = v ? eval_scratch(e, as, e->out[0]->shape) : NULL;
    if (out)
        sdpa_run(e, q, k, v, out);
    tensor_free(q);
    tensor_free(k);
    tensor_free(v);
    return out && deliver(e, out);
}

/* --- multi-head attention ----------------------------------------------------------------- */

enum { IN_WQ = 3, IN_BIAS = 6, IN_WO, IN_BO, IN_MASK, IN_KEY_MASK };

static void mha_mask(const Attend *a, int64_t head, int64_t row, double *x)
{
    const Tensor *mask = a->e->in[IN_MASK], *keys = a->e->in[IN_KEY_MASK];
    if (mask)
        add_mask(mask, ((mask->shape.rank == 3 ? head : 0) * a->lq + row) * a->lk, 1, a->lk, false,
                 x);
    if (keys)
        add_mask(keys, head / a->per_sample * a->lk, 1, a->lk, false, x);
}

/* Weights [N, heads, lq, lk]; store_weights takes their mean over heads. */
static void mha_seen(const Attend *a, int64_t head, int64_t row, const double *p)
{
    double *to = a->weights + (head * a->lq + row) * a->lk;
    memcpy(to, p, sizeof *p * (size_t)a->lk);
}

static void store_weights(EvalNode *e, const Attend *a)
{
    int64_t plane = a->lq * a->lk, samples = a->heads / a->per_sample;
    if (node_bool(e->node, AT_KEEPDIM)) {
        tensor_store_f64(e->out[1], 0, 1, a->heads * plane, a->weights);
        return;
    }
    for (int64_t n = 0; n < samples; n++)
        for (int64_t i = 0; i < plane; i++) {
            double sum = 0;
            for (int64_t h = 0; h < a->per_sample; h++)
                sum += a->weights[(n * a->per_sample + h) * plane + i];
            tensor_set(e->out[1], n * plane + i, sum / (double)a->per_sample);
        }
}

/* x @ w^T + part of the packed bias. */
static Tensor *project(EvalNode *e, const Tensor *x, const Tensor *w, const Tensor *bias,
                       int64_t bias_from, DType as)
{
    Tensor *xa = eval_as(e, x, as), *wa = xa ? eval_as(e, w, as) : NULL;
    Tensor *ba = wa && bias ? eval_as(e, bias, as) : NULL;
    Shape shape = x->shape;
    shape.dim[shape.rank - 1] = w->shape.dim[0];
    Tensor *out = wa && (ba || !bias) ? eval_scratch(e, as, shape) : NULL;
    int64_t n = w->shape.dim[0], k = w->shape.dim[1];
    if (out)
        eval_matmul(&(EvalMatmul){.dtype = as,
                                  .m = k ? x->count / k : 0,
                                  .n = n,
                                  .k = k,
                                  .batch = 1,
                                  .a = xa->at,
                                  .b = wa->at,
                                  .c = out->at,
                                  .a_row = k,
                                  .a_col = 1,
                                  .b_row = 1,
                                  .b_col = k,
                                  .bias = ba ? at_row(ba->at, as, bias_from) : NULL});
    tensor_free(xa);
    tensor_free(wa);
    tensor_free(ba);
    return out;
}

/* Where sample n, head h begins, and how far rows are apart, in [L,N,E], [N,L,E] or [L,E]. */
static int64_t head_at(const EvalNode *e, Shape s, int64_t n, int64_t h, int64_t width,
                       int64_t *row)
{
    bool first = s.rank == 2 || node_bool(e->node, AT_BATCH_FIRST);
    int64_t E = s.dim[s.rank - 1], len = s.rank == 2 ? s.dim[0] : s.dim[1];
    *row = first ? E : s.dim[1] * E;
    return (first ? n * len * E : n * E) + h * width;
}

static void mha_run(EvalNode *e, const Tensor *q, const Tensor *k, const Tensor *v, Tensor *mid)
{
    Shape s = q->shape;
    bool flat = s.rank == 2, first = node_bool(e->node, AT_BATCH_FIRST);
    int64_t heads = node_int(e->node, AT_HEADS, 1), E = s.dim[s.rank - 1],
            samples = flat ? 1 : s.dim[first ? 0 : 1];
    Attend a = {.as = q->dtype,
                .d = E / heads,
                .dv = E / heads,
                .heads = heads * samples,
                .lq = s.dim[flat || !first ? 0 : 1],
                .lk = k->shape.dim[flat || !first ? 0 : 1],
                .causal = node_bool(e->node, AT_CAUSAL) && !e->in[IN_MASK],
                .empty_is_zero = e->node->n_out < 2,
                .per_sample = heads,
                .e = e,
                .mask = e->in[IN_MASK] || e->in[IN_KEY_MASK] ? mha_mask : NULL};
    a.scale = 1 / sqrt((double)a.d);
    Head *list = heap_alloc(sizeof *list * (size_t)(a.heads + 1));
    for (int64_t i = 0; i < a.heads; i++) {
        int64_t n = i / heads, h = i % heads;
        list[i].q = at_row(q->at, a.as, head_at(e, s, n, h, a.d, &a.q_row));
        list[i].k = at_row(k->at, a.as, head_at(e, k->shape, n, h, a.d, &a.k_row));
        list[i].v = at_row(v->at, a.as, head_at(e, v->shape, n, h, a.d, &a.v_row));
        list[i].out = (char *)mid->at +
                      head_at(e, s, n, h, a.d, &a.out_row) * (int64_t)dtype_bytes(a.as);
    }
    a.head = list;
    if (e->node->n_out > 1) {
        a.weights = heap_alloc(sizeof *a.weights * (size_t)(a.heads * a.lq * a.lk + 1));
        a.seen = mha_seen;
    }
    attend(&a);
    if (a.weights)
        store_weights(e, &a);
    heap_free(a.weights);
    heap_free(list);
}

bool eval_op_MHA(EvalNode *e)
{
    DType as = eval_compute_dtype(e->out[0]->dtype);
    int64_t E = e->in[IN_WO]->shape.dim[0];
    Tensor *p[3] = {0}, *mid = NULL, *out = NULL;
    bool ok = true;
    for (int i = 0; ok && i < 3; i++) {
        p[i] = project(e, e->in[i], e->in[IN_WQ + i], e->in[IN_BIAS], i * E, as);
        ok = p[i] != NULL;
    }
    mid = ok ? eval_scratch(e, as, e->out[0]->shape) : NULL;
    if (mid) {
        mha_run(e, p[0], p[1], p[2], mid);
        out = project(e, mid, e->in[IN_WO], e->in[IN_BO], 0, as);
    }
    for (int i = 0; i < 3; i++)
        tensor_free(p[i]);
    tensor_free(mid);
    return out && deliver(e, out);
}
