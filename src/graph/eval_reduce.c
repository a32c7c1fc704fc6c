/* Reductions. In: a tensor and the dims to fold; out: one value for each place of the others.
 *
 * The dims folded are made neighbours, so that a tensor is outer x n x inner. Lines along n are
 * cut into pieces of fixed length, each folded by one thread into an accumulator, and the
 * accumulators are merged in order: the result does not depend on the number of threads.
 */
#include "graph/eval_int.h"
#include "graph/eval_fast.h"
#include <math.h>
#include <string.h>

enum { PIECE = 1 << 15, RUN = 512, COLUMNS = 256 };

/* What has been seen of a line. */
typedef struct Fold {
    double v;  /* sum, product, extreme, norm's sum, mean (var) */
    double w;  /* sum of exp(x - v) (logsumexp), sum of squares about the mean (var) */
    int64_t i; /* integer sum, product, extreme; index of the extreme */
    int64_t n; /* elements */
} Fold;

typedef struct Reduce {
    int kind;
    double p;
    bool integer; /* the input is whole numbers, folded as int64_t */
    bool largest; /* max or argmax, as against min or argmin */
} Reduce;

static Reduce reduce_of(const Node *node, DType dtype)
{
    int k = node->kind;
    bool extreme = k == REDUCE_max || k == REDUCE_min || k == REDUCE_argmax || k == REDUCE_argmin;
    return (Reduce){.kind = k,
                    .p = node_float(node, AT_P, 2),
                    .integer = !dtype_is_float(dtype) &&
                               (extreme || k == REDUCE_sum || k == REDUCE_prod),
                    .largest = k == REDUCE_max || k == REDUCE_argmax};
}

static Fold fold_start(const Reduce *r)
{
    switch (r->kind) {
    case REDUCE_prod: return (Fold){.v = 1, .i = 1};
    case REDUCE_all: return (Fold){.v = 1};
    case REDUCE_logsumexp: return (Fold){.v = -INFINITY};
    case REDUCE_norm: return (Fold){.v = r->p == -INFINITY ? INFINITY : 0};
    default: return (Fold){0};
    }
}

/* Whether x takes the place of the extreme `best`; the first of equals stays, nan wins. */
static bool better(const Reduce *r, double x, double best)
{
    if (best != best)
        return false;
    return x != x || (r->largest ? x > best : x < best);
}

static void fold_extreme(const Reduce *r, Fold *f, const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if ((f->n == 0 && i == 0) || better(r, x[i], f->v)) {
            f->v = x[i];
            f->i = f->n + i;
        }
}

static void fold_logsumexp(Fold *f, const double *x, int64_t n)
{
    double most = eval_max(x, n), sum = 0;
    double high = f->v != f->v || f->v > most ? f->v : most;
    double base = isinf(high) ? 0 : high, old = isinf(f->v) ? 0 : f->v;
    for (int64_t i = 0; i < n; i++)
        sum += fast_exp(x[i] - base);
    f->w = (f->n ? f->w * exp(old - base) : 0) + sum;
    f->v = high;
}

static void fold_norm(const Reduce *r, Fold *f, const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double size = fabs(x[i]);
        if (r->p == 2)
            f->v += size * size;
        else if (r->p == 1)
            f->v += size;
        else if (isinf(r->p))
            f->v = size != size || f->v != f->v ? (double)NAN
                   : r->p > 0                   ? fmax(f->v, size)
                                                : fmin(f->v, size);
        else
            f->v += r->p == 0 ? size != 0 : pow(size, r->p);
    }
}

/* Chan's rule for joining means and squares about them. */
static void join_variance(Fold *f, double mean, double squares, int64_t n)
{
    if (n == 0)
        return;
    double all = (double)(f->n + n), d = mean - f->v;
    f->w += squares + d * d * (double)f->n * (double)n / all;
    f->v += d * (double)n / all;
}

static void fold_variance(Fold *f, const double *x, int64_t n)
{
    double mean = eval_sum(x, n) / (double)(n ? n : 1);
    join_variance(f, mean, eval_sum_squares(x, n, mean), n);
}

static void fold_run(const Reduce *r, Fold *f, const double *x, int64_t n)
{
    switch (r->kind) {
    case REDUCE_sum:
    case REDUCE_mean: f->v += eval_sum(x, n); break;
    case REDUCE_prod:
        for (int64_t i = 0; i < n; i++)
            f->v *= x[i];
        break;
    case REDUCE_any:
    case REDUCE_count_nonzero:
        for (int64_t i = 0; i < n; i++)
            f->v += x[i] != 0;
        break;
    case REDUCE_all:
        for (int64_t i = 0; i < n; i++)
            f->v = f->v != 0 && x[i] != 0;
        break;
    case REDUCE_logsumexp: fold_logsumexp(f, x, n); break;
    case REDUCE_norm: fold_norm(r, f, x, n); break;
    case REDUCE_var:
    case REDUCE_std: fold_variance(f, x, n); break;
    default: fold_extreme(r, f, x, n); break;
    }
    f->n += n;
}

static void fold_integers(const Reduce *r, Fold *f, const int64_t *x, int64_t n, int64_t *index)
{
    for (int64_t i = 0; i < n; i++) {
        if (r->kind == REDUCE_sum) {
            f->i = (int64_t)((uint64_t)f->i + (uint64_t)x[i]);
        } else if (r->kind == REDUCE_prod) {
            f->i = (int64_t)((uint64_t)f->i * (uint64_t)x[i]);
        } else if ((f->n == 0 && i == 0) || (r->largest ? x[i] > f->i : x[i] < f->i)) {
            f->i = x[i];
            *index = f->n + i;
        }
    }
    f->n += n;
}

static void fold_merge(const Reduce *r, Fold *f, const Fold *g)
{
    int64_t before = f->n;
    switch (r->kind) {
    case REDUCE_prod: f->v *= g->v; break;
    case REDUCE_all: f->v = f->v != 0 && g->v != 0; break;
    case REDUCE_logsumexp: {
        double high = f->v > g->v || f->v != f->v ? f->v : g->v;
        double base = isinf(high) ? 0 : high;
        f->w = f->w * exp((isinf(f->v) ? 0 : f->v) - base) +
               g->w * exp((isinf(g->v) ? 0 : g->v) - base);
        f->v = high;
        break;
    }
    case REDUCE_norm:
        if (isinf(r->p))
            fold_norm(r, f, &g->v, 1);
        else
            f->v += g->v;
        break;
    case REDUCE_var:
    case REDUCE_std: join_variance(f, g->v, g->w, g->n); break;
    case REDUCE_max:
    case REDUCE_min:
    case REDUCE_argmax:
    case REDUCE_argmin:
        if (before == 0 || (g->n > 0 && better(r, g->v, f->v))) {
            f->v = g->v;
            f->i = before + g->i;
        }
        break;
    default: f->v += g->v; break;
    }
    f->n += g->n;
}

static double fold_end(const Reduce *r, const Fold *f, double correction)
{
    switch (r->kind) {
    case REDUCE_mean: return f->v / (double)f->n;
    case REDUCE_any: return f->v != 0;
    case REDUCE_logsumexp: return (isinf(f->v) ? 0 : f->v) + log(f->w);
    case REDUCE_norm:
        return r->p == 2                               ? sqrt(f->v)
               : r->p == 1 || r->p == 0 || isinf(r->p) ? f->v
                                                       : pow(f->v, 1 / r->p);
    case REDUCE_var:
    case REDUCE_std: {
        double variance = f->w / fmax(0, (double)f->n - correction);
        return r->kind == REDUCE_std ? sqrt(variance) : variance;
    }
    default: return f->v;
    }
}

/* --- lines -------------------------------------------------------------------------------- */

typedef struct Lines {
    Reduce reduce;
    const Tensor *in;
    Axis axis;
    double correction;
    Tensor *value, *index; /* either may be NULL */
} Lines;

static void line_store(const Lines *l, const Fold *f, int64_t index, int64_t at)
{
    if (l->index)
        tensor_store_i64(l->index, at, 1, 1, &index);
    if (l->value && l->reduce.integer)
        tensor_store_i64(l->value, at, 1, 1, &f->i);
    else if (l->value)
        tensor_set(l->value, at, fold_end(&l->reduce, f, l->correction));
}

static Fold fold_piece(const Lines *l, int64_t from, int64_t n)
{
    double x[RUN];
    Fold f = fold_start(&l->reduce);
    for (int64_t i = 0; i < n; i += RUN) {
        int64_t len = n - i < RUN ? n - i : RUN;
        tensor_load_f64(l->in, from + i * l->axis.inner, l->axis.inner, len, x);
        fold_run(&l->reduce, &f, x, len);
    }
    return f;
}

static void integer_lines(const Lines *l)
{
    Axis a = l->axis;
#pragma omp parallel for schedule(static) if (a.outer * a.n * a.inner > 32768)
    for (int64_t line = 0; line < a.outer * a.inner; line++) {
        int64_t x[RUN], from = line / a.inner * a.n * a.inner + line % a.inner, index = 0;
        Fold f = fold_start(&l->reduce);
        for (int64_t i = 0; i < a.n; i += RUN) {
            int64_t len = a.n - i < RUN ? a.n - i : RUN;
            tensor_load_i64(l->in, from + i * a.inner, a.inner, len, x);
            fold_integers(&l->reduce, &f, x, len, &index);
        }
        line_store(l, &f, index, line);
    }
}

/* Lines whose elements lie side by side, or kinds that have no loop over columns. */
static void floating_lines(const Lines *l)
{
    Axis a = l->axis;
    int64_t lines = a.outer * a.inner, pieces = a.n > PIECE ? (a.n + PIECE - 1) / PIECE : 1;
    Fold *folds = heap_alloc(sizeof *folds * (size_t)(lines * pieces + 1));
#pragma omp parallel for schedule(static) if (lines * a.n > 32768)
    for (int64_t t = 0; t < lines * pieces; t++) {
        int64_t line = t / pieces, start = t % pieces * PIECE;
        int64_t from = line / a.inner * a.n * a.inner + line % a.inner + start * a.inner;
        folds[t] = fold_piece(l, from, a.n - start < PIECE ? a.n - start : PIECE);
    }
    for (int64_t line = 0; line < lines; line++) {
        Fold *f = &folds[line * pieces];
        for (int64_t p = 1; p < pieces; p++)
            fold_merge(&l->reduce, f, f + p);
        line_store(l, f, f->i, line);
    }
    heap_free(folds);
}

static ATTR_CLONES void column_step(const Reduce *r, double *v, const double *x, int64_t n)
{
    if (r->kind == REDUCE_prod)
        for (int64_t c = 0; c < n; c++)
            v[c] *= x[c];
    else if (r->kind == REDUCE_max)
        for (int64_t c = 0; c < n; c++)
            v[c] = x[c] > v[c] || x[c] != x[c] ? x[c] : v[c];
    else if (r->kind == REDUCE_min)
        for (int64_t c = 0; c < n; c++)
            v[c] = x[c] < v[c] || x[c] != x[c] ? x[c] : v[c];
    else
        for (int64_t c = 0; c < n; c++)
            v[c] += x[c];
}

/* A block of neighbouring lines at once, a row of their elements at a time. */
static void column_block(const Lines *l, int64_t o, int64_t c0, int64_t n)
{
    double v[COLUMNS], x[COLUMNS];
    Axis a = l->axis;
    tensor_load_f64(l->in, o * a.n * a.inner + c0, 1, n, v);
    for (int64_t i = 1; i < a.n; i++) {
        tensor_load_f64(l->in, (o * a.n + i) * a.inner + c0, 1, n, x);
        column_step(&l->reduce, v, x, n);
    }
    for (int64_t c = 0; c < n; c++)
        v[c] = l->reduce.kind == REDUCE_mean ? v[c] / (double)a.n : v[c];
    tensor_store_f64(l->value, o * a.inner + c0, 1, n, v);
}

static void floating_columns(const Lines *l)
{
    Axis a = l->axis;
    int64_t blocks = (a.inner + COLUMNS - 1) / COLUMNS;
#pragma omp parallel for schedule(static) if (a.outer * a.n * a.inner > 32768)
    for (int64_t t = 0; t < a.outer * blocks; t++) {
        int64_t c0 = t % blocks * COLUMNS;
        column_block(l, t / blocks, c0, a.inner - c0 < COLUMNS ? a.inner - c0 : COLUMNS);
    }
}

static void reduce_lines(const Lines *l)
{
    int k = l->reduce.kind;
    bool simple = k == REDUCE_sum || k == REDUCE_mean || k == REDUCE_prod || k == REDUCE_max ||
                  k == REDUCE_min;
    if (l->reduce.integer)
        integer_lines(l);
    else if (simple && !l->index && l->axis.inner >= 8 && l->axis.n > 0)
        floating_columns(l);
    else
        floating_lines(l);
}

/* --- operators ---------------------------------------------------------------------------- */

/* The tensor with the flagged dims as one axis; the rest keep their order. */
static Tensor *gather_axis(EvalNode *e, const Tensor *in, const bool *flags, Axis *axis)
{
    Shape from = in->shape, to = {.rank = from.rank};
    int first = from.rank, last = 0, kept = 0, count = 0, at = 0;
    for (int i = 0; i < from.rank; i++)
        if (flags[i]) {
            first = i < first ? i : first;
            last = i + 1;
            count++;
        }
    if (count == 0)
        first = last = from.rank;
    if (last - first == count) {
        *axis = eval_axes(from, first, last);
        return eval_as(e, in, in->dtype);
    }
    int64_t stride[GRAPH_MAX_RANK];
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < from.rank; i++)
            if (flags[i] == (pass == 1)) {
                kept += pass == 0;
                stride[at] = eval_row_stride(from, i);
                to.dim[at++] = from.dim[i];
            }
    Tensor *t = eval_scratch(e, in->dtype, to);
    if (t)
        eval_copy_strided(in, 0, stride, t);
    *axis = eval_axes(to, kept, to.rank);
    return t;
}

static bool reduce_to(EvalNode *e, Tensor *value, Tensor *index)
{
    bool flags[GRAPH_MAX_RANK];
    Shape shape = e->in[0]->shape;
    eval_dim_flags(e->node, AT_DIMS, shape, flags);
    DType as = eval_asked_dtype(e);
    Tensor *in = eval_as(e, e->in[0], as);
    Axis axis = {1, 1, 1};
    Tensor *t = in ? gather_axis(e, in, flags, &axis) : NULL;
    Lines l = {.reduce = reduce_of(e->node, as),
               .in = t,
               .axis = axis,
               .correction = node_float(e->node, AT_A, 1),
               .value = value,
               .index = index};
    if (t)
        reduce_lines(&l);
    tensor_free(in);
    tensor_free(t);
    return t != NULL;
}

bool eval_op_REDUCE(EvalNode *e)
{
    bool index = e->node->kind == REDUCE_argmax || e->node->kind == REDUCE_argmin;
    return reduce_to(e, index ? NULL : e->out[0], index ? e->out[0] : NULL);
}

bool eval_op_REDUCE_INDEX(EvalNode *e) { return reduce_to(e, e->out[0], e->out[1]); }
