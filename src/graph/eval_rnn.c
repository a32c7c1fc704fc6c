/* Recurrent networks: LSTM, GRU and plain, several layers, one or two directions.
 * In: x [T,N,I], [N,T,I] or [T,I], first states, weights; out: y and the last states. Gates of the
 * input are one matrix product over all steps; the state's part is one per step. */
#include "graph/eval_int.h"
#include <math.h>
#include <string.h>

typedef struct Rnn {
    EvalNode *e;
    DType as;
    int kind;
    int64_t T, N, hidden, state, gates; /* state: width of h (proj_size, else hidden) */
    int64_t layers, ways;
    bool bias, project;
} Rnn;

static Rnn rnn_of(EvalNode *e)
{
    Shape x = e->in[0]->shape;
    bool first = node_bool(e->node, AT_BATCH_FIRST), flat = x.rank == 2;
    Rnn r = {.e = e,
             .as = eval_compute_dtype(e->out[0]->dtype),
             .kind = e->node->kind,
             .T = x.dim[!flat && first ? 1 : 0],
             .N = flat ? 1 : x.dim[first ? 0 : 1],
             .hidden = node_int(e->node, AT_HIDDEN, 1),
             .layers = node_int(e->node, AT_LAYERS, 1),
             .ways = node_bool(e->node, AT_BIDIRECTIONAL) ? 2 : 1,
             .bias = node_bool(e->node, AT_BIAS)};
    int64_t size = node_int(e->node, AT_SIZE, 0);
    r.project = size > 0;
    r.state = size > 0 ? size : r.hidden;
    r.gates = r.kind == RNN_lstm ? 4 : r.kind == RNN_gru ? 3 : 1;
    return r;
}

/* Weights of one layer and direction, in the compute dtype. */
typedef struct Cell {
    Tensor *w_ih, *w_hh, *b_ih, *b_hh, *w_hr;
} Cell;

static Tensor *weight(const Rnn *r, uint32_t i) { return eval_as(r->e, r->e->in[i], r->as); }

static void cell_free(Cell *c)
{
    tensor_free(c->w_ih);
    tensor_free(c->w_hh);
    tensor_free(c->b_ih);
    tensor_free(c->b_hh);
    tensor_free(c->w_hr);
}

static bool cell_load(const Rnn *r, int64_t number, Cell *c)
{
    uint32_t each = 2 + (r->bias ? 2u : 0) + (r->project ? 1u : 0),
             at = 3 + (uint32_t)number * each;
    *c = (Cell){.w_ih = weight(r, at), .w_hh = weight(r, at + 1)};
    if (r->bias) {
        c->b_ih = weight(r, at + 2);
        c->b_hh = weight(r, at + 3);
    }
    if (r->project)
        c->w_hr = weight(r, at + each - 1);
    bool ok = c->w_ih && c->w_hh && (!r->bias || (c->b_ih && c->b_hh)) && (!r->project || c->w_hr);
    if (!ok)
        cell_free(c);
    return ok;
}

static void product(const Rnn *r, const void *x, int64_t rows, const Tensor *w, const Tensor *bias,
                    void *out)
{
    int64_t n = w->shape.dim[0], k = w->shape.dim[1];
    eval_matmul(&(EvalMatmul){.dtype = r->as,
                              .m = rows,
                              .n = n,
                              .k = k,
                              .batch = 1,
                              .a = x,
                              .b = w->at,
                              .c = out,
                              .a_row = k,
                              .a_col = 1,
                              .b_row = 1,
                              .b_col = k,
                              .bias = bias ? bias->at : NULL});
}

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

/* One sample, one step: gates of input gx and state gh to the new h (before projection) and c. */
static void cell_step(const Rnn *r, const double *gx, const double *gh, double *h, double *c)
{
    int64_t H = r->hidden;
    for (int64_t i = 0; i < H; i++) {
        if (r->kind == RNN_lstm) {
            double in = sigmoid(gx[i] + gh[i]), forget = sigmoid(gx[H + i] + gh[H + i]);
            double new = tanh(gx[2 * H + i] + gh[2 * H + i]),
                   out = sigmoid(gx[3 * H + i] + gh[3 * H + i]);
            c[i] = forget * c[i] + in * new;
            h[i] = out * tanh(c[i]);
        } else if (r->kind == RNN_gru) {
            double reset = sigmoid(gx[i] + gh[i]), update = sigmoid(gx[H + i] + gh[H + i]);
            double new = tanh(gx[2 * H + i] + reset * gh[2 * H + i]);
            h[i] = (1 - update) * new + update *h[i];
        } else {
            double sum = gx[i] + gh[i];
            h[i] = r->kind == RNN_relu ? (sum < 0 ? 0 : sum) : tanh(sum);
        }
    }
}

/* Working memory of one direction. */
typedef struct Run {
    Tensor *gx, *gh, *h, *c, *raw; /* [T*N,G*H], [N,G*H], [N,S], [N,H], [N,H] */
} Run;

static bool run_make(const Rnn *r, Run *run)
{
    int64_t G = r->gates * r->hidden;
    *run = (Run){.gx = eval_scratch(r->e, r->as, (Shape){2, {r->T * r->N, G}}),
                 .gh = eval_scratch(r->e, r->as, (Shape){2, {r->N, G}}),
                 .h = eval_scratch(r->e, r->as, (Shape){2, {r->N, r->state}}),
                 .c = eval_scratch(r->e, r->as, (Shape){2, {r->N, r->hidden}}),
                 .raw = eval_scratch(r->e, r->as, (Shape){2, {r->N, r->hidden}})};
    return run->gx && run->gh && run->h && run->c && run->raw;
}

static void run_free(Run *run)
{
    tensor_free(run->gx);
    tensor_free(run->gh);
    tensor_free(run->h);
    tensor_free(run->c);
    tensor_free(run->raw);
}

static void first_state(const Tensor *from, int64_t number, Tensor *to)
{
    memset(to->at, 0, (size_t)to->count * dtype_bytes(to->dtype));
    for (int64_t i = 0; from && i < to->count; i++)
        tensor_set(to, i, tensor_get(from, number * to->count + i));
}

static void step(const Rnn *r, const Cell *cell, Run *run, int64_t t)
{
    int64_t G = r->gates * r->hidden, H = r->hidden;
    Tensor *raw = r->project ? run->raw : run->h;
    product(r, run->h->at, r->N, cell->w_hh, cell->b_hh, run->gh->at);
#pragma omp parallel if (r->N * G > 8192)
    {
        double *x = heap_alloc(sizeof *x * (size_t)(2 * G + 2 * H + 1)), *gh = x + G, *h = gh + G,
               *c = h + H;
#pragma omp for schedule(static)
        for (int64_t n = 0; n < r->N; n++) {
            tensor_load_f64(run->gx, (t * r->N + n) * G, 1, G, x);
            tensor_load_f64(run->gh, n * G, 1, G, gh);
            if (!r->project)
                tensor_load_f64(raw, n * H, 1, H, h);
            tensor_load_f64(run->c, n * H, 1, H, c);
            cell_step(r, x, gh, h, c);
            tensor_store_f64(raw, n * H, 1, H, h);
            tensor_store_f64(run->c, n * H, 1, H, c);
        }
        heap_free(x);
    }
    if (r->project)
        product(r, raw->at, r->N, cell->w_hr, NULL, run->h->at);
}

/* One direction of one layer: in [T,N,I] to its columns of out [T,N,ways*S]. */
static void direction(const Rnn *r, const Cell *cell, Run *run, const Tensor *in, int64_t number,
                      Tensor *out)
{
    int64_t way = number % r->ways, width = r->ways * r->state;
    size_t bytes = dtype_bytes(r->as), piece = (size_t)r->state * bytes;
    product(r, in->at, r->T * r->N, cell->w_ih, cell->b_ih, run->gx->at);
    first_state(r->e->in[1], number, run->h);
    first_state(r->kind == RNN_lstm ? r->e->in[2] : NULL, number, run->c);
    for (int64_t k = 0; k < r->T; k++) {
        int64_t t = way ? r->T - 1 - k : k;
        step(r, cell, run, t);
        for (int64_t n = 0; n < r->N; n++)
            memcpy((char *)out->at + (size_t)((t * r->N + n) * width + way * r->state) * bytes,
                   (const char *)run->h->at + (size_t)n * piece, piece);
    }
    for (int64_t i = 0; i < run->h->count; i++)
        tensor_set(r->e->out[1], number * run->h->count + i, tensor_get(run->h, i));
    for (int64_t i = 0; r->kind == RNN_lstm && i < run->c->count; i++)
        tensor_set(r->e->out[2], number * run->c->count + i, tensor_get(run->c, i));
}

/* [N,T,W] to [T,N,W] and back, converting. */
static Tensor *swap_leading(EvalNode *e, const Tensor *t, DType as, int64_t a, int64_t b,
                            int64_t width, bool swap)
{
    Tensor *in = eval_as(e, t, as);
    Tensor *out = in ? eval_scratch(e, as, (Shape){3, {a, b, width}}) : NULL;
    int64_t stride[3] = {swap ? width : b * width, swap ? a * width : width, 1};
    if (out)
        eval_copy_strided(in, 0, stride, out);
    tensor_free(in);
    return out;
}

static bool layer(const Rnn *r, int64_t number, Tensor **x)
{
    Tensor *out = eval_scratch(r->e, r->as, (Shape){3, {r->T, r->N, r->ways * r->state}});
    bool ok = out != NULL;
    for (int64_t way = 0; ok && way < r->ways; way++) {
        Cell cell;
        Run run = {0};
        ok = cell_load(r, number * r->ways + way, &cell);
        if (!ok)
            break;
        ok = run_make(r, &run);
        if (ok)
            direction(r, &cell, &run, *x, number * r->ways + way, out);
        run_free(&run);
        cell_free(&cell);
    }
    tensor_free(*x);
    *x = out;
    return ok;
}

bool eval_op_RNN(EvalNode *e)
{
    Rnn r = rnn_of(e);
    Shape in = e->in[0]->shape;
    bool swap = in.rank == 3 && node_bool(e->node, AT_BATCH_FIRST);
    Tensor *x = swap_leading(e, e->in[0], r.as, r.T, r.N, in.dim[in.rank - 1], swap);
    bool ok = x != NULL;
    for (int64_t i = 0; ok && i < r.layers; i++)
        ok = layer(&r, i, &x);
    int64_t width = r.ways * r.state;
    Tensor *y = ok ? swap_leading(e, x, r.as, swap ? r.N : r.T, swap ? r.T : r.N, width, swap)
                   : NULL;
    if (y)
        for (int64_t i = 0; i < y->count; i++)
            tensor_set(e->out[0], i, tensor_get(y, i));
    tensor_free(x);
    tensor_free(y);
    return y != NULL;
}
