/* Decoding with a key-value cache: rows of any sequences go through the layers together; each
 * attends to the cache of its own sequence up to its own position. */
#include "nn/infer_int.h"

#include "base/attr.h"
#include "nn/layer.h"
#include <math.h>
#include <string.h>

enum { MOST_ROWS = 64 }; /* that go through the layers at once */

struct NnSession {
    const NnInfer *model;
    NnPool *pool;
    uint32_t slots, context;
    uint32_t *length; /* of each slot */
    uint16_t *cache;  /* bf16 [layers][slots][context][2][G D] */
    float *cosine, *sine;
    float *block;
    /* MOST_ROWS rows each */
    float *x, *norm, *qkv, *attn, *gu, *act, *wanted;
    uint32_t slot[MOST_ROWS], position[MOST_ROWS];
};

static size_t cache_row(const NnSession *s)
{
    return 2 * (size_t)nn_kv_size(&s->model->table.config);
}

static uint16_t *cache_at(const NnSession *s, uint32_t layer, uint32_t slot, uint32_t position)
{
    return s->cache + (((size_t)layer * s->slots + slot) * s->context + position) * cache_row(s);
}

/* Hands out the pieces of one block; with block NULL it only counts. */
static size_t place_buffers(NnSession *s, float *block)
{
    const NnConfig *c = &s->model->table.config;
    size_t at = 0;
    struct {
        float **into;
        size_t floats;
    } rows[] = {{&s->x, (size_t)MOST_ROWS * c->width},
                {&s->norm, (size_t)MOST_ROWS * c->width},
                {&s->wanted, (size_t)MOST_ROWS * c->width},
                {&s->qkv, (size_t)MOST_ROWS * nn_qkv_size(c)},
                {&s->attn, (size_t)MOST_ROWS * nn_q_size(c)},
                {&s->gu, (size_t)MOST_ROWS * 2 * c->ffn},
                {&s->act, (size_t)MOST_ROWS * c->ffn},
                {&s->cosine, (size_t)s->context * c->head_dim / 2},
                {&s->sine, (size_t)s->context * c->head_dim / 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        *rows[i].into = block ? block + at : NULL;
        at += (rows[i].floats + 15) / 16 * 16;
    }
    return at;
}

NnSession *nn_session_open(const NnInfer *model, NnPool *pool, uint32_t slots, uint32_t context)
{
    const NnConfig *c = &model->table.config;
    NnSession *s = heap_alloc(sizeof *s);
    *s = (NnSession){.model = model, .pool = pool, .slots = slots, .context = context};
    s->length = heap_alloc(slots * sizeof *s->length);
    s->cache = heap_alloc((size_t)c->layers * slots * context * cache_row(s) * sizeof *s->cache);
    s->block = nn_floats_new(place_buffers(s, NULL));
    place_buffers(s, s->block);
    nn_rotary_table(s->cosine, s->sine, context, c->head_dim, c->rope_theta);
    return s;
}

void nn_session_close(NnSession *s)
{
    if (!s)
        return;
    heap_free(s->length);
    heap_free(s->cache);
    nn_floats_free(s->block);
    heap_free(s);
}

const NnConfig *nn_session_config(const NnSession *s) { return &s->model->table.config; }

uint32_t nn_session_length(const NnSession *s, uint32_t slot) { return s->length[slot]; }

void nn_session_rewind(NnSession *s, uint32_t slot, uint32_t length)
{
    if (length < s->length[slot])
        s->length[slot] = length;
}

void nn_session_copy(NnSession *s, uint32_t to, uint32_t from)
{
    if (to == from)
        return;
    s->length[to] = s->length[from];
    for (uint32_t layer = 0; layer < s->model->table.config.layers; layer++)
        memcpy(cache_at(s, layer, to, 0), cache_at(s, layer, from, 0),
               s->length[from] * cache_row(s) * sizeof *s->cache);
}

static const float *vector_of(const NnInfer *m, NnTensorId id, uint32_t layer)
{
    return m->vectors + nn_table_get(&m->table, id, layer)->at;
}

static uint16_t to_bf16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

static float from_bf16(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* q and k of one row: every head normalised and rotated, in place. */
static void turn_heads(const NnSession *s, float *qkv, uint32_t position, uint32_t layer)
{
    const NnConfig *c = &s->model->table.config;
    uint32_t half = c->head_dim / 2;
    const float *cosine = s->cosine + (size_t)position * half;
    const float *sine = s->sine + (size_t)position * half;
    const float *wq = vector_of(s->model, NN_NORM_Q, layer);
    const float *wk = vector_of(s->model, NN_NORM_K, layer);
    for (uint32_t h = 0; h < c->heads + c->kv_heads; h++) {
        float *x = qkv + (size_t)h * c->head_dim, rstd;
        nn_norm((NnNorm){1, c->head_dim, c->norm_eps}, x, &rstd, x, h < c->heads ? wq : wk);
        for (uint32_t i = 0; i < half; i++) {
            float a = x[i], b = x[i + half];
            x[i] = a * cosine[i] - b * sine[i];
            x[i + half] = b * cosine[i] + a * sine[i];
        }
    }
}

static void store_row(const NnSession *s, const float *qkv, uint32_t row, uint32_t layer)
{
    const NnConfig *c = &s->model->table.config;
    uint16_t *into = cache_at(s, layer, s->slot[row], s->position[row]);
    for (size_t i = 0; i < cache_row(s); i++)
        into[i] = to_bf16(qkv[nn_q_size(c) + i]);
}

static inline float dot_bf16(const float *x, const uint16_t *k, uint32_t n)
{
    float sum[16] = {0};
    uint32_t i = 0;
    for (; i + 16 <= n; i += 16)
        for (uint32_t j = 0; j < 16; j++)
            sum[j] += x[i + j] * from_bf16(k[i + j]);
    for (uint32_t j = 0; i + j < n; j++)
        sum[j] += x[i + j] * from_bf16(k[i + j]);
    for (int half = 8; half; half /= 2)
        for (int j = 0; j < half; j++)
            sum[j] += sum[j + half];
    return sum[0];
}

static inline void add_bf16(float *out, const uint16_t *v, float scale, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        out[i] += scale * from_bf16(v[i]);
}

/* e^x within 2e-7 of its value, in operations that vectorise: 2^n times a polynomial of the rest. */
static inline float quick_exp(float x)
{
    x = x > 88 ? 88 : x < -87 ? -87 : x;
    float n = (x * 1.44269504f + 12582912) - 12582912;
    float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1;
    uint32_t bits = (uint32_t)((int32_t)n + 127) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

typedef struct CacheJob {
    NnSession *s;
    uint32_t layer;
} CacheJob;

/* One head of one row. Positions are processed in blocks: their scores, then their values, with the sums
 * so far scaled whenever a block brings a larger score. */
ATTR_CLONES static void attend_cached(const NnSession *s, uint32_t layer, uint32_t row, uint32_t h)
{
    enum { BLOCK = 64 };
    const NnConfig *c = &s->model->table.config;
    uint32_t g = h / (c->heads / c->kv_heads), dim = c->head_dim, end = s->position[row] + 1;
    const float *q = s->qkv + (size_t)row * nn_qkv_size(c) + (size_t)h * dim;
    float *out = s->attn + (size_t)row * nn_q_size(c) + (size_t)h * dim, score[BLOCK];
    float scale = 1 / sqrtf((float)dim), most = -INFINITY, sum = 0;
    memset(out, 0, dim * sizeof *out);
    for (uint32_t from = 0; from < end; from += BLOCK) {
        uint32_t n = end - from < BLOCK ? end - from : BLOCK;
        const uint16_t *k = cache_at(s, layer, s->slot[row], from) + (size_t)g * dim;
        float larger = most;
        for (uint32_t t = 0; t < n; t++) {
            score[t] = scale * dot_bf16(q, k + t * cache_row(s), dim);
            larger = score[t] > larger ? score[t] : larger;
        }
        float shrink = quick_exp(most - larger);
        for (uint32_t i = 0; i < dim; i++)
            out[i] *= shrink;
        for (uint32_t t = 0; t < n; t++)
            score[t] = quick_exp(score[t] - larger);
        sum *= shrink;
        for (uint32_t t = 0; t < n; t++) {
            sum += score[t];
            add_bf16(out, k + t * cache_row(s) + nn_kv_size(c), score[t], dim);
        }
        most = larger;
    }
    for (uint32_t i = 0; i < dim; i++)
        out[i] /= sum;
}

static void attend_cached_range(void *given, uint32_t from, uint32_t to)
{
    const CacheJob *j = given;
    uint32_t heads = j->s->model->table.config.heads;
    for (uint32_t i = from; i < to; i++)
        attend_cached(j->s, j->layer, i / heads, i % heads);
}

ATTR_CLONES static void gate_rows(uint32_t rows, uint32_t ffn, float *y, const float *gu)
{
    for (uint32_t n = 0; n < rows; n++) {
        const float *gate = gu + (size_t)n * 2 * ffn, *up = gate + ffn;
        for (uint32_t i = 0; i < ffn; i++)
            y[(size_t)n * ffn + i] = gate[i] * up[i] / (1 + quick_exp(-gate[i]));
    }
}

static void add_rows(float *x, const float *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] += y[i];
}

static void norm_rows(NnSession *s, float *y, const float *x, const float *w, uint32_t count)
{
    const NnConfig *c = &s->model->table.config;
    float rstd[MOST_ROWS];
    nn_norm((NnNorm){count, c->width, c->norm_eps}, y, rstd, x, w);
}

static void run_layer(NnSession *s, uint32_t layer, uint32_t count)
{
    const NnInfer *m = s->model;
    const NnConfig *c = &m->table.config;
    const InferLayer *l = &m->layers[layer];
    CacheJob job = {s, layer};
    norm_rows(s, s->norm, s->x, vector_of(m, NN_NORM_ATTN, layer), count);
    nn_int8_multiply(s->pool, &l->qkv, s->qkv, s->norm, count);
    for (uint32_t i = 0; i < count; i++) {
        turn_heads(s, s->qkv + (size_t)i * nn_qkv_size(c), s->position[i], layer);
        store_row(s, s->qkv + (size_t)i * nn_qkv_size(c), i, layer);
    }
    nn_pool_run(s->pool, count * c->heads, 1, attend_cached_range, &job);
    nn_int8_multiply(s->pool, &l->o, s->norm, s->attn, count);
    add_rows(s->x, s->norm, (size_t)count * c->width);
    norm_rows(s, s->norm, s->x, vector_of(m, NN_NORM_FFN, layer), count);
    nn_int8_multiply(s->pool, &l->gu, s->gu, s->norm, count);
    gate_rows(count, c->ffn, s->act, s->gu);
    nn_int8_multiply(s->pool, &l->down, s->norm, s->act, count);
    add_rows(s->x, s->norm, (size_t)count * c->width);
}

/* Up to MOST_ROWS rows; returns where the next logits go. */
static float *run_block(NnSession *s, const NnRow *rows, uint32_t count, float *logits)
{
    const NnInfer *m = s->model;
    uint32_t width = m->table.config.width, wanted = 0;
    for (uint32_t i = 0; i < count; i++) {
        s->slot[i] = rows[i].slot;
        s->position[i] = s->length[rows[i].slot]++;
        nn_int8_row(&m->embed, rows[i].token, s->x + (size_t)i * width);
    }
    for (uint32_t layer = 0; layer < m->table.config.layers; layer++)
        run_layer(s, layer, count);
    for (uint32_t i = 0; i < count; i++)
        if (rows[i].want)
            memcpy(s->wanted + (size_t)wanted++ * width, s->x + (size_t)i * width,
                   width * sizeof *s->x);
    if (wanted) {
        norm_rows(s, s->norm, s->wanted, vector_of(m, NN_NORM_OUT, 0), wanted);
        nn_int8_multiply(s->pool, m->table.config.tied ? &m->embed : &m->head, logits, s->norm,
                         wanted);
    }
    return logits + (size_t)wanted * m->table.config.vocab;
}

/* Whether every slot has room for its rows and every token exists. */
static bool rows_fit(const NnSession *s, const NnRow *rows, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (rows[i].slot >= s->slots || rows[i].token >= s->model->table.config.vocab)
            return false;
    for (uint32_t slot = 0; slot < s->slots; slot++) {
        uint64_t length = s->length[slot];
        for (uint32_t i = 0; i < count; i++)
            length += rows[i].slot == slot;
        if (length > s->context)
            return false;
    }
    return true;
}

bool nn_session_run(NnSession *s, const NnRow *rows, uint32_t count, float *logits)
{
    if (!rows_fit(s, rows, count))
        return false;
    for (uint32_t at = 0; at < count; at += MOST_ROWS) {
        uint32_t n = count - at < MOST_ROWS ? count - at : MOST_ROWS;
        logits = run_block(s, rows + at, n, logits);
    }
    return true;
}

bool nn_session_feed(NnSession *s, uint32_t slot, const uint32_t *tokens, uint32_t count,
                     float *logits)
{
    NnRow *rows = heap_alloc(count * sizeof *rows);
    for (uint32_t i = 0; i < count; i++)
        rows[i] = (NnRow){slot, tokens[i], i + 1 == count};
    bool ok = nn_session_run(s, rows, count, logits);
    heap_free(rows);
    return ok;
}
