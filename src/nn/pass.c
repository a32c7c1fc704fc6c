/* Forward and backward through the whole model, one straight line each; the sizes of what is kept
 * stand in activation.def. */
#include "nn/train.h"

#include "nn/layer.h"
#include <string.h>

static size_t act_floats(const NnConfig *c, uint64_t rows, bool training)
{
    size_t forward = 0, backward = 0;
#define NN_ACT(name, copies, floats) forward += (size_t)(copies)*rows * (floats);
#define NN_GRAD(name, copies, floats) backward += (size_t)(copies)*rows * (floats);
#include "nn/activation.def"
#undef NN_ACT
    return forward + (training ? backward : 0);
}

static void place_acts(NnActs *acts, float *block, const NnConfig *c, uint64_t rows, bool training)
{
    size_t at = 0;
#define NN_ACT(name, copies, floats) \
    acts->name = block + at;         \
    at += (size_t)(copies)*rows * (floats);
#define NN_GRAD(name, copies, floats)          \
    acts->name = training ? block + at : NULL; \
    at += (size_t)(copies)*rows * (floats);
#include "nn/activation.def"
#undef NN_ACT
}

NnPass *nn_pass_open(const NnModel *model, uint32_t batch, uint32_t seq, NnPool *pool,
                     bool training)
{
    const NnConfig *c = &model->table.config;
    uint64_t rows = (uint64_t)batch * seq;
    NnPass *pass = heap_alloc(sizeof *pass);
    *pass = (NnPass){model, batch, seq, training, pool, {0}, NULL, NULL, NULL};
    pass->block = nn_floats_new(act_floats(c, rows, training));
    place_acts(&pass->acts, pass->block, c, rows, training);
    pass->cosine = nn_floats_new((uint64_t)seq * c->head_dim / 2);
    pass->sine = nn_floats_new((uint64_t)seq * c->head_dim / 2);
    nn_rotary_table(pass->cosine, pass->sine, seq, c->head_dim, c->rope_theta);
    return pass;
}

void nn_pass_close(NnPass *pass)
{
    if (!pass)
        return;
    nn_floats_free(pass->block);
    nn_floats_free(pass->cosine);
    nn_floats_free(pass->sine);
    heap_free(pass);
}

static NnAttn attn_size(const NnPass *p)
{
    const NnConfig *c = &p->model->table.config;
    return (NnAttn){p->batch,    p->seq,      c->heads,  c->kv_heads,
                    c->head_dim, c->norm_eps, p->cosine, p->sine};
}

/* The activations of one layer: every array of several copies moved on to its copy. */
static NnActs layer_acts(const NnPass *p, uint32_t layer)
{
    const NnConfig *c = &p->model->table.config;
    uint64_t rows = (uint64_t)p->batch * p->seq;
    NnActs acts = p->acts;
#define NN_ACT(name, copies, floats) \
    if ((copies) > 1)                \
        acts.name += (size_t)layer * rows * (floats);
#define NN_GRAD(name, copies, floats)
#include "nn/activation.def"
#undef NN_ACT
    return acts;
}

static void add_rows(float *out, const float *a, const float *b, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        out[i] = a[i] + b[i];
}

static void attention_forward(NnPass *p, const NnActs *a, uint32_t layer)
{
    const NnModel *m = p->model;
    const NnConfig *c = &m->table.config;
    uint32_t rows = p->batch * p->seq;
    NnAttn size = attn_size(p);
    nn_norm((NnNorm){rows, c->width, c->norm_eps}, a->norm_attn, a->rstd_attn, a->x,
            nn_weight(m, NN_NORM_ATTN, layer));
    nn_linear(p->pool, (NnLinear){rows, c->width, nn_qkv_size(c)}, a->qkv, a->norm_attn,
              nn_weight(m, NN_Q, layer));
    nn_qk(&size, a->qk, a->rstd_qk, a->qkv, nn_weight(m, NN_NORM_Q, layer),
          nn_weight(m, NN_NORM_K, layer));
    nn_attention(p->pool, &size, a->attn, a->lse, a->qk, a->qkv);
    nn_linear(p->pool, (NnLinear){rows, nn_q_size(c), c->width}, a->x_mid, a->attn,
              nn_weight(m, NN_O, layer));
    add_rows(a->x_mid, a->x, a->x_mid, (uint64_t)rows * c->width);
}

static void ffn_forward(NnPass *p, const NnActs *a, uint32_t layer)
{
    const NnModel *m = p->model;
    const NnConfig *c = &m->table.config;
    uint32_t rows = p->batch * p->seq;
    float *next = a->x + (size_t)rows * c->width;
    nn_norm((NnNorm){rows, c->width, c->norm_eps}, a->norm_ffn, a->rstd_ffn, a->x_mid,
            nn_weight(m, NN_NORM_FFN, layer));
    nn_linear(p->pool, (NnLinear){rows, c->width, 2 * c->ffn}, a->gu, a->norm_ffn,
              nn_weight(m, NN_GATE, layer));
    nn_swiglu(rows, c->ffn, a->act, a->gu);
    nn_linear(p->pool, (NnLinear){rows, c->ffn, c->width}, next, a->act,
              nn_weight(m, NN_DOWN, layer));
    add_rows(next, a->x_mid, next, (uint64_t)rows * c->width);
}

static void embed(const NnPass *p, const int32_t *tokens)
{
    uint32_t width = p->model->table.config.width;
    const float *table = nn_weight(p->model, NN_EMBED, 0);
    for (uint32_t n = 0; n < p->batch * p->seq; n++)
        memcpy(p->acts.x + (size_t)n * width, table + (size_t)tokens[n] * width,
               width * sizeof *table);
}

const float *nn_pass_forward(NnPass *p, const int32_t *tokens)
{
    const NnConfig *c = &p->model->table.config;
    uint32_t rows = p->batch * p->seq;
    embed(p, tokens);
    for (uint32_t layer = 0; layer < c->layers; layer++) {
        NnActs a = layer_acts(p, layer);
        attention_forward(p, &a, layer);
        ffn_forward(p, &a, layer);
    }
    nn_norm((NnNorm){rows, c->width, c->norm_eps}, p->acts.norm_out, p->acts.rstd_out,
            layer_acts(p, c->layers).x, nn_weight(p->model, NN_NORM_OUT, 0));
    nn_linear(p->pool, (NnLinear){rows, c->width, c->vocab}, p->acts.logits, p->acts.norm_out,
              nn_weight(p->model, NN_HEAD, 0));
    return p->acts.logits;
}

uint32_t nn_target_count(const int32_t *targets, uint32_t count)
{
    uint32_t learnt = 0;
    for (uint32_t i = 0; i < count; i++)
        learnt += targets[i] >= 0;
    return learnt;
}

double nn_pass_loss(NnPass *p, const int32_t *targets, float weight)
{
    uint32_t rows = p->batch * p->seq;
    double sum = 0;
    nn_cross_entropy(p->pool, rows, p->model->table.config.vocab, p->acts.losses, p->acts.dlogits,
                     p->acts.logits, targets, weight);
    for (uint32_t n = 0; n < rows; n++)
        sum += (double)p->acts.losses[n];
    return sum;
}

/* The part of the gradient block that belongs to a tensor. */
static float *grad(const NnPass *p, float *grads, NnTensorId id, uint32_t layer)
{
    return nn_block_tensor(&p->model->table, grads, id, layer);
}

static void ffn_backward(NnPass *p, const NnActs *a, uint32_t layer, float *grads)
{
    const NnModel *m = p->model;
    const NnConfig *c = &m->table.config;
    uint32_t rows = p->batch * p->seq;
    NnLinear down = {rows, c->ffn, c->width}, up = {rows, c->width, 2 * c->ffn};
    nn_linear_back_weight(p->pool, down, grad(p, grads, NN_DOWN, layer), a->dx, a->act);
    nn_linear_back_input(p->pool, down, a->dact, a->dx, nn_weight(m, NN_DOWN, layer));
    nn_swiglu_back(rows, c->ffn, a->dgu, a->dact, a->gu);
    nn_linear_back_weight(p->pool, up, grad(p, grads, NN_GATE, layer), a->dgu, a->norm_ffn);
    nn_linear_back_input(p->pool, up, a->dnorm, a->dgu, nn_weight(m, NN_GATE, layer));
    nn_norm_back((NnNorm){rows, c->width, c->norm_eps}, a->dx, grad(p, grads, NN_NORM_FFN, layer),
                 a->dnorm, a->x_mid, nn_weight(m, NN_NORM_FFN, layer), a->rstd_ffn);
}

static void attention_backward(NnPass *p, const NnActs *a, uint32_t layer, float *grads)
{
    const NnModel *m = p->model;
    const NnConfig *c = &m->table.config;
    uint32_t rows = p->batch * p->seq;
    NnAttn size = attn_size(p);
    NnLinear o = {rows, nn_q_size(c), c->width}, qkv = {rows, c->width, nn_qkv_size(c)};
    nn_linear_back_weight(p->pool, o, grad(p, grads, NN_O, layer), a->dx, a->attn);
    nn_linear_back_input(p->pool, o, a->dattn, a->dx, nn_weight(m, NN_O, layer));
    nn_attention_back(p->pool, &size, a->dqk, a->dqkv, a->dattn, a->attn, a->lse, a->qk, a->qkv);
    nn_qk_back(&size, a->dqkv, grad(p, grads, NN_NORM_Q, layer), grad(p, grads, NN_NORM_K, layer),
               a->dqk, a->qkv, nn_weight(m, NN_NORM_Q, layer), nn_weight(m, NN_NORM_K, layer),
               a->rstd_qk);
    nn_linear_back_weight(p->pool, qkv, grad(p, grads, NN_Q, layer), a->dqkv, a->norm_attn);
    nn_linear_back_input(p->pool, qkv, a->dnorm, a->dqkv, nn_weight(m, NN_Q, layer));
    nn_norm_back((NnNorm){rows, c->width, c->norm_eps}, a->dx, grad(p, grads, NN_NORM_ATTN, layer),
                 a->dnorm, a->x, nn_weight(m, NN_NORM_ATTN, layer), a->rstd_attn);
}

static void head_backward(NnPass *p, float *grads)
{
    const NnConfig *c = &p->model->table.config;
    const NnActs *a = &p->acts;
    uint32_t rows = p->batch * p->seq;
    NnLinear head = {rows, c->width, c->vocab};
    nn_linear_back_weight(p->pool, head, grad(p, grads, NN_HEAD, 0), a->dlogits, a->norm_out);
    nn_linear_back_input(p->pool, head, a->dnorm, a->dlogits, nn_weight(p->model, NN_HEAD, 0));
    memset(a->dx, 0, (size_t)rows * c->width * sizeof *a->dx);
    nn_norm_back((NnNorm){rows, c->width, c->norm_eps}, a->dx, grad(p, grads, NN_NORM_OUT, 0),
                 a->dnorm, layer_acts(p, c->layers).x, nn_weight(p->model, NN_NORM_OUT, 0),
                 a->rstd_out);
}

void nn_pass_backward(NnPass *p, const int32_t *tokens, float *grads)
{
    const NnConfig *c = &p->model->table.config;
    head_backward(p, grads);
    for (uint32_t layer = c->layers; layer-- > 0;) {
        NnActs a = layer_acts(p, layer);
        ffn_backward(p, &a, layer, grads);
        attention_backward(p, &a, layer, grads);
    }
    float *table = grad(p, grads, NN_EMBED, 0);
    for (uint32_t n = 0; n < p->batch * p->seq; n++)
        for (uint32_t i = 0; i < c->width; i++)
            table[(size_t)tokens[n] * c->width + i] += p->acts.dx[(size_t)n * c->width + i];
}
