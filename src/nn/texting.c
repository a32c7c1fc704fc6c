/* TextING, forward and backward; texting.h has the formulas. In: graphs of texts. Out: logits, loss, gradients.
 * A batch's graphs stand one after another: its nodes are rows of one matrix in every layer. */
#include "nn/texting.h"

#include "base/rng.h"
#include "nn/layer.h"
#include "nn/nn.h"
#include "nn/text_int.h"
#include <math.h>
#include <string.h>

enum { MOST_STEPS = 4 };

/* ---- weights ---- */

static void make_table(Texting *t)
{
    const uint32_t W = t->config.words, E = t->config.vector, H = t->config.width,
                   K = t->config.classes;
    const TextingTensor table[] = {
#define TEXTING_TENSOR(id, name, rows, cols, fan) {name, rows, cols, fan, 0, 0},
#include "nn/texting.def"
#undef TEXTING_TENSOR
    };
    for (int i = 0; i < TEXTING_TENSOR_COUNT; i++) {
        TextingTensor *one = &t->tensors[i];
        *one = table[i];
        one->at = t->total;
        one->count = (uint64_t)one->rows * (one->cols ? one->cols : 1);
        t->total += (one->count + 15) / 16 * 16;
    }
}

/* Glorot's uniform range for matrices, 0 for vectors; words begin small, as the paper's unknown words. */
Texting texting_new(const TextingConfig *config, uint64_t seed)
{
    Texting t = {.config = *config};
    if (config->steps > MOST_STEPS)
        t.config.steps = MOST_STEPS;
    make_table(&t);
    t.weights = nn_floats_new(t.total);
    for (int i = 0; i < TEXTING_TENSOR_COUNT; i++) {
        const TextingTensor *one = &t.tensors[i];
        double range = i == TEXTING_VECTORS ? 0.1 : sqrt(6.0 / (one->fan + one->cols));
        for (uint64_t k = 0; one->cols && k < one->count; k++)
            t.weights[one->at + k] = (float)(range * (2 * rng_uniform(seed, (uint64_t)i, k) - 1));
    }
    return t;
}

void texting_close(Texting *model)
{
    nn_floats_free(model->weights);
    model->weights = NULL;
}

/* ---- a batch ---- */

/* What a step keeps for the backward pass, all [N, H] unless stated otherwise. */
typedef struct Step {
    float *a, *z, *r, *reset /* r x */, *c, *x; /* x: the new state */
} Step;

struct TextingPass {
    const Texting *model;
    NnPool *pool;
    TextingDropout dropout;
    const TextGraph *const *graphs;
    uint32_t *first; /* node of each graph; [graphs + 1] */
    uint32_t count, nodes, room_graphs, room_nodes, *best;
    float *block; /* that the following lie in */
    float *vectors, *encoded, *gates, *state, *score, *emit, *doc, *logits, *losses, *dlogits;
    float *ddoc, *dx, *dy, *dz, *da, *dgates, *dstate, *dvectors;
    Step steps[MOST_STEPS];
    int32_t *targets;
};

TextingPass *texting_pass_open(const Texting *model, NnPool *pool)
{
    TextingPass *p = heap_alloc(sizeof *p);
    *p = (TextingPass){.model = model, .pool = pool};
    return p;
}

static void free_rooms(TextingPass *p)
{
    nn_floats_free(p->block);
    heap_free(p->first);
    heap_free(p->best);
    heap_free(p->targets);
}

void texting_pass_close(TextingPass *pass)
{
    free_rooms(pass);
    heap_free(pass);
}

/* Places in the block, or (block NULL) the number of floats they take. */
static uint64_t lay_out(TextingPass *p, float *block, uint64_t N, uint64_t D)
{
    const uint64_t E = p->model->config.vector, H = p->model->config.width,
                   K = p->model->config.classes;
    struct {
        float **at;
        uint64_t count;
    } rooms[18 + 6 * MOST_STEPS] = {
        {&p->vectors, N * E},    {&p->encoded, N * H},    {&p->gates, N * 3 * H},
        {&p->state, N * 2 * H},  {&p->score, N},          {&p->emit, N * H},
        {&p->doc, D * H},        {&p->logits, D * K},     {&p->losses, D},
        {&p->dlogits, D * K},    {&p->ddoc, D * H},       {&p->dx, N * H},
        {&p->dy, N * H},         {&p->dz, N * H},         {&p->da, N * H},
        {&p->dgates, N * 3 * H}, {&p->dstate, N * 2 * H}, {&p->dvectors, N * E},
    };
    for (uint32_t s = 0; s < MOST_STEPS; s++) {
        Step *t = &p->steps[s];
        float **at[6] = {&t->a, &t->z, &t->r, &t->reset, &t->c, &t->x};
        for (uint32_t i = 0; i < 6; i++) {
            rooms[18 + s * 6 + i].at = at[i];
            rooms[18 + s * 6 + i].count = s < p->model->config.steps ? N * H : 0;
        }
    }
    uint64_t total = 0;
    for (uint32_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        if (block)
            *rooms[i].at = block + total;
        total += (rooms[i].count + 15) / 16 * 16;
    }
    return total;
}

static void make_room(TextingPass *p, uint32_t graphs, uint32_t nodes)
{
    if (graphs <= p->room_graphs && nodes <= p->room_nodes)
        return;
    p->room_graphs = graphs > p->room_graphs ? graphs : p->room_graphs;
    p->room_nodes = nodes > p->room_nodes ? nodes + nodes / 2 : p->room_nodes;
    free_rooms(p);
    p->first = heap_alloc((p->room_graphs + 1) * sizeof *p->first);
    p->best = heap_alloc(((size_t)p->room_graphs * p->model->config.width + 1) * sizeof *p->best);
    p->targets = heap_alloc((p->room_graphs + 1) * sizeof *p->targets);
    p->block = nn_floats_new(lay_out(p, NULL, p->room_nodes, p->room_graphs));
    lay_out(p, p->block, p->room_nodes, p->room_graphs);
}

static const float *weight(const TextingPass *p, TextingTensorId id)
{
    return p->model->weights + p->model->tensors[id].at;
}

/* ---- dropout ---- */

/* What is kept is multiplied by 1 / (1 - rate); `layer` tells the masks of a batch apart. */
static float keep(const TextingDropout *d, uint64_t layer, uint64_t index)
{
    if (d->rate <= 0)
        return 1;
    uint64_t bits = rng_u64(d->seed, d->stream * 16 + layer, index / 4) >> (index % 4 * 16) &
                    0xffff;
    return (double)bits < d->rate * 65536 ? 0 : (float)(1 / (1 - d->rate));
}

enum { DROP_VECTORS, DROP_DOC, DROP_EDGES };

static void drop(const TextingDropout *d, uint64_t layer, float *x, uint64_t count)
{
    for (uint64_t i = 0; d->rate > 0 && i < count; i++)
        x[i] *= keep(d, layer, i);
}

/* ---- forward ---- */

static float sigmoid(float x) { return 1 / (1 + expf(-x)); }

static void linear(const TextingPass *p, float *y, const float *x, TextingTensorId w,
                   const float *bias)
{
    const TextingTensor *t = &p->model->tensors[w];
    nn_linear(p->pool, (NnLinear){p->nodes, t->cols, t->rows}, y, x, weight(p, w));
    for (uint32_t n = 0; bias && n < p->nodes; n++)
        for (uint32_t o = 0; o < t->rows; o++)
            y[(size_t)n * t->rows + o] += bias[o];
}

/* y[i] += sum over neighbours j of A[i, j] x[j]; backwards, y[j] += A[i, j] x[i]. */
static void add_neighbours(const TextingPass *p, uint32_t step, bool backwards, float *y,
                           const float *x)
{
    uint32_t H = p->model->config.width;
    uint64_t edge = 0;
    for (uint32_t d = 0; d < p->count; d++) {
        const TextGraph *g = p->graphs[d];
        for (uint32_t i = 0; i < g->nodes; i++)
            for (uint32_t e = g->first[i]; e < g->first[i + 1]; e++, edge++) {
                float w = g->weights[e] * keep(&p->dropout, DROP_EDGES + step, edge);
                size_t at = (size_t)(p->first[d] + i) * H,
                       other = (size_t)(p->first[d] + g->to[e]) * H;
                float *to = y + (backwards ? other : at);
                const float *from = x + (backwards ? at : other);
                for (uint32_t k = 0; w != 0 && k < H; k++)
                    to[k] += w * from[k];
            }
    }
}

static void step_forward(TextingPass *p, uint32_t index, const float *x)
{
    const uint32_t N = p->nodes, H = p->model->config.width;
    Step *s = &p->steps[index];
    memset(s->a, 0, (size_t)N * H * sizeof(float));
    add_neighbours(p, index, false, s->a, x);
    linear(p, p->gates, s->a, TEXTING_FROM_NEIGHBOURS, weight(p, TEXTING_GATES_BIAS));
    linear(p, p->state, x, TEXTING_FROM_STATE, NULL);
    for (uint32_t n = 0; n < N; n++)
        for (uint32_t k = 0; k < H; k++) {
            size_t at = (size_t)n * H + k, gate = (size_t)n * 3 * H + k,
                   own = (size_t)n * 2 * H + k;
            s->z[at] = sigmoid(p->gates[gate] + p->state[own]);
            s->r[at] = sigmoid(p->gates[gate + H] + p->state[own + H]);
            s->reset[at] = s->r[at] * x[at];
        }
    linear(p, s->c, s->reset, TEXTING_FROM_RESET, NULL);
    for (uint32_t n = 0; n < N; n++)
        for (uint32_t k = 0; k < H; k++) {
            size_t at = (size_t)n * H + k;
            s->c[at] = tanhf(s->c[at] + p->gates[(size_t)n * 3 * H + 2 * H + k]);
            s->x[at] = s->z[at] * s->c[at] + (1 - s->z[at]) * x[at];
        }
}

/* The state before step `index`; with index = steps, the last. */
static float *state_before(const TextingPass *p, uint32_t index)
{
    return index ? p->steps[index - 1].x : p->encoded;
}

/* doc = mean + max over the words of sig(score) emit; 0 for a text without known words. */
static void read_out(TextingPass *p)
{
    const uint32_t H = p->model->config.width;
    memset(p->doc, 0, (size_t)p->count * H * sizeof(float));
    for (uint32_t d = 0; d < p->count; d++)
        for (uint32_t k = 0; k < H && p->graphs[d]->nodes; k++) {
            double sum = 0;
            float most = 0;
            for (uint32_t n = p->first[d]; n < p->first[d + 1]; n++) {
                float g = p->score[n] * p->emit[(size_t)n * H + k];
                sum += (double)g;
                if (n == p->first[d] || g > most) {
                    most = g;
                    p->best[(size_t)d * H + k] = n;
                }
            }
            p->doc[(size_t)d * H + k] = (float)(sum / p->graphs[d]->nodes) + most;
        }
}

static void take_vectors(TextingPass *p)
{
    const uint32_t E = p->model->config.vector;
    for (uint32_t d = 0; d < p->count; d++)
        for (uint32_t i = 0; i < p->graphs[d]->nodes; i++)
            memcpy(p->vectors + (size_t)(p->first[d] + i) * E,
                   weight(p, TEXTING_VECTORS) + (size_t)p->graphs[d]->words[i] * E,
                   E * sizeof(float));
    drop(&p->dropout, DROP_VECTORS, p->vectors, (uint64_t)p->nodes * E);
}

const float *texting_forward(TextingPass *p, const TextGraph *const *graphs, uint32_t count,
                             TextingDropout dropout)
{
    const TextingConfig *c = &p->model->config;
    uint32_t nodes = 0;
    for (uint32_t d = 0; d < count; d++)
        nodes += graphs[d]->nodes;
    make_room(p, count, nodes);
    p->graphs = graphs;
    p->count = count;
    p->nodes = nodes;
    p->dropout = dropout;
    for (uint32_t d = 0; d < count; d++) {
        p->first[d + 1] = p->first[d] + graphs[d]->nodes;
        p->targets[d] = (int32_t)graphs[d]->label;
    }
    take_vectors(p);
    linear(p, p->encoded, p->vectors, TEXTING_ENCODE, weight(p, TEXTING_ENCODE_BIAS));
    for (uint64_t i = 0; i < (uint64_t)nodes * c->width; i++)
        p->encoded[i] = tanhf(p->encoded[i]);
    for (uint32_t s = 0; s < c->steps; s++)
        step_forward(p, s, state_before(p, s));
    const float *last = state_before(p, c->steps);
    linear(p, p->score, last, TEXTING_ATTEND, weight(p, TEXTING_ATTEND_BIAS));
    linear(p, p->emit, last, TEXTING_EMIT, weight(p, TEXTING_EMIT_BIAS));
    for (uint32_t n = 0; n < nodes; n++)
        p->score[n] = sigmoid(p->score[n]);
    for (uint64_t i = 0; i < (uint64_t)nodes * c->width; i++)
        p->emit[i] = tanhf(p->emit[i]);
    read_out(p);
    drop(&p->dropout, DROP_DOC, p->doc, (uint64_t)count * c->width);
    nn_linear(p->pool, (NnLinear){count, c->width, c->classes}, p->logits, p->doc,
              weight(p, TEXTING_CLASSES));
    for (uint32_t d = 0; d < count; d++)
        for (uint32_t k = 0; k < c->classes; k++)
            p->logits[(size_t)d * c->classes + k] += weight(p, TEXTING_CLASSES_BIAS)[k];
    return p->logits;
}

/* ---- backward ---- */

static float *gradient(const TextingPass *p, float *grads, TextingTensorId id)
{
    return grads + p->model->tensors[id].at;
}

/* Adds to the gradients of a product and its bias; dx, where asked for, is overwritten. */
static void linear_back(const TextingPass *p, uint32_t rows, float *grads, TextingTensorId w,
                        TextingTensorId bias, const float *dy, const float *x, float *dx)
{
    const TextingTensor *t = &p->model->tensors[w];
    NnLinear size = {rows, t->cols, t->rows};
    nn_linear_back_weight(p->pool, size, gradient(p, grads, w), dy, x);
    if (dx)
        nn_linear_back_input(p->pool, size, dx, dy, weight(p, w));
    for (uint32_t n = 0; bias != w && n < rows; n++)
        for (uint32_t o = 0; o < t->rows; o++)
            gradient(p, grads, bias)[o] += dy[(size_t)n * t->rows + o];
}

static void add_to(float *y, const float *x, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        y[i] += x[i];
}

/* From ddoc to dx, the gradient of the last state. */
static void read_out_back(TextingPass *p, float *grads, const float *last)
{
    const uint32_t H = p->model->config.width, N = p->nodes;
    for (uint32_t d = 0; d < p->count; d++)
        for (uint32_t n = p->first[d]; n < p->first[d + 1]; n++) {
            float dscore = 0;
            for (uint32_t k = 0; k < H; k++) {
                size_t at = (size_t)n * H + k, doc = (size_t)d * H + k;
                float dg = p->ddoc[doc] * (1 / (float)p->graphs[d]->nodes + (p->best[doc] == n));
                dscore += dg * p->emit[at];
                p->dy[at] = dg * p->score[n] * (1 - p->emit[at] * p->emit[at]);
            }
            p->dz[n] = dscore * p->score[n] * (1 - p->score[n]);
        }
    linear_back(p, N, grads, TEXTING_ATTEND, TEXTING_ATTEND_BIAS, p->dz, last, p->dx);
    linear_back(p, N, grads, TEXTING_EMIT, TEXTING_EMIT_BIAS, p->dy, last, p->da);
    add_to(p->dx, p->da, (uint64_t)N * H);
}

/* dx of the state after a step becomes that of the state before. */
static void step_back(TextingPass *p, uint32_t index, float *grads)
{
    const uint32_t N = p->nodes, H = p->model->config.width;
    const Step *s = &p->steps[index];
    const float *x = state_before(p, index);
    for (uint32_t n = 0; n < N; n++)
        for (uint32_t k = 0; k < H; k++) {
            size_t at = (size_t)n * H + k, gate = (size_t)n * 3 * H + k;
            float dz = p->dx[at] * (s->c[at] - x[at]);
            p->dgates[gate] = dz * s->z[at] * (1 - s->z[at]);
            p->dgates[gate + 2 * H] = p->dy[at] = p->dx[at] * s->z[at] * (1 - s->c[at] * s->c[at]);
            p->dx[at] *= 1 - s->z[at];
        }
    linear_back(p, N, grads, TEXTING_FROM_RESET, TEXTING_FROM_RESET, p->dy, s->reset, p->dz);
    for (uint32_t n = 0; n < N; n++)
        for (uint32_t k = 0; k < H; k++) {
            size_t at = (size_t)n * H + k, gate = (size_t)n * 3 * H + k,
                   own = (size_t)n * 2 * H + k;
            p->dgates[gate + H] = p->dz[at] * x[at] * s->r[at] * (1 - s->r[at]);
            p->dx[at] += p->dz[at] * s->r[at];
            p->dstate[own] = p->dgates[gate];
            p->dstate[own + H] = p->dgates[gate + H];
        }
    linear_back(p, N, grads, TEXTING_FROM_STATE, TEXTING_FROM_STATE, p->dstate, x, p->dy);
    add_to(p->dx, p->dy, (uint64_t)N * H);
    linear_back(p, N, grads, TEXTING_FROM_NEIGHBOURS, TEXTING_GATES_BIAS, p->dgates, s->a, p->da);
    add_neighbours(p, index, true, p->dx, p->da);
}

static void vectors_back(TextingPass *p, float *grads)
{
    const uint32_t E = p->model->config.vector, H = p->model->config.width;
    for (uint64_t i = 0; i < (uint64_t)p->nodes * H; i++)
        p->dx[i] *= 1 - p->encoded[i] * p->encoded[i];
    linear_back(p, p->nodes, grads, TEXTING_ENCODE, TEXTING_ENCODE_BIAS, p->dx, p->vectors,
                p->dvectors);
    drop(&p->dropout, DROP_VECTORS, p->dvectors, (uint64_t)p->nodes * E);
    for (uint32_t d = 0; d < p->count; d++)
        for (uint32_t i = 0; i < p->graphs[d]->nodes; i++)
            add_to(gradient(p, grads, TEXTING_VECTORS) + (size_t)p->graphs[d]->words[i] * E,
                   p->dvectors + (size_t)(p->first[d] + i) * E, E);
}

double texting_backward(TextingPass *p, float *grads)
{
    const TextingConfig *c = &p->model->config;
    double loss = 0;
    if (!p->count)
        return 0;
    nn_cross_entropy(p->pool, p->count, c->classes, p->losses, p->dlogits, p->logits, p->targets,
                     1 / (float)p->count);
    for (uint32_t d = 0; d < p->count; d++)
        loss += (double)p->losses[d];
    linear_back(p, p->count, grads, TEXTING_CLASSES, TEXTING_CLASSES_BIAS, p->dlogits, p->doc,
                p->ddoc);
    drop(&p->dropout, DROP_DOC, p->ddoc, (uint64_t)p->count * c->width);
    read_out_back(p, grads, state_before(p, c->steps));
    for (uint32_t s = c->steps; s-- > 0;)
        step_back(p, s, grads);
    vectors_back(p, grads);
    return loss / p->count;
}

void texting_classify(TextingPass *pass, const TextGraph *graph, float *probabilities)
{
    const float *logits = texting_forward(pass, &graph, 1, (TextingDropout){0});
    memcpy(probabilities, logits, pass->model->config.classes * sizeof *probabilities);
    text_softmax(probabilities, pass->model->config.classes);
}
