/* The table of tensors and the block of weights: from a configuration to names, shapes, places
 * and first values. */
#include "nn/nn.h"

#include "base/rng.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum When { ONCE, LAYER, UNTIED } When;
typedef enum Dim { NONE, VOCAB, WIDTH, HEADS, KV_HEADS, HEAD_DIM, FFN } Dim;
typedef enum Start { NORMAL, SMALL, ONE } Start;

typedef struct TensorRow {
    const char *name;
    When when;
    Dim rows, cols;
    Start start;
} TensorRow;

static const TensorRow rows[NN_TENSOR_COUNT] = {
#define NN_TENSOR(id, when, name, rows, cols, start) [NN_##id] = {name, when, rows, cols, start},
#include "nn/tensor.def"
#undef NN_TENSOR
};

NnConfig nn_config_default(void)
{
    return (NnConfig){.layers = 8,
                      .width = 512,
                      .heads = 8,
                      .kv_heads = 4,
                      .head_dim = 64,
                      .ffn = 1600,
                      .vocab = 2048,
                      .context = 2048,
                      .rope_theta = 10000,
                      .norm_eps = 1e-6f,
                      .tied = true};
}

static bool check_size(Diag *diag, const char *name, uint32_t value, uint32_t most)
{
    if (value >= 1 && value <= most)
        return true;
    diag_error(diag, "N001", (Span){0}, "%s is %u; a model has 1 to %u", name, value, most);
    return false;
}

bool nn_config_check(const NnConfig *c, Diag *diag)
{
    const uint32_t most = 1u << 20;
    bool ok = check_size(diag, "layers", c->layers, 1024) &&
              check_size(diag, "width", c->width, most) &&
              check_size(diag, "heads", c->heads, 4096) &&
              check_size(diag, "kv_heads", c->kv_heads, 4096) &&
              check_size(diag, "head_dim", c->head_dim, 1024) &&
              check_size(diag, "ffn", c->ffn, most) && check_size(diag, "vocab", c->vocab, most) &&
              check_size(diag, "context", c->context, 1u << 24);
    if (!ok)
        return false;
    if (c->heads % c->kv_heads)
        diag_error(diag, "N001", (Span){0}, "%u heads do not share %u key-value heads evenly",
                   c->heads, c->kv_heads);
    else if (c->head_dim % 2)
        diag_error(diag, "N001", (Span){0}, "head_dim %u is odd; rotary positions need halves",
                   c->head_dim);
    else if (!(c->rope_theta > 0) || !isfinite(c->rope_theta) || !(c->norm_eps > 0) ||
             !(c->norm_eps < 1))
        diag_error(diag, "N001", (Span){0}, "rope_theta %g or norm_eps %g is out of range",
                   (double)c->rope_theta, (double)c->norm_eps);
    else
        return true;
    return false;
}

static uint32_t dim_size(const NnConfig *c, Dim dim)
{
    switch (dim) {
    case NONE: return 0;
    case VOCAB: return c->vocab;
    case WIDTH: return c->width;
    case HEADS: return nn_q_size(c);
    case KV_HEADS: return nn_kv_size(c);
    case HEAD_DIM: return c->head_dim;
    case FFN: return c->ffn;
    }
    return 0;
}

static void add_tensor(NnTable *table, NnTensorId id, uint32_t layer)
{
    const TensorRow *row = &rows[id];
    NnTensor *t = &table->tensors[table->count++];
    *t = (NnTensor){.id = id, .layer = layer};
    t->rows = dim_size(&table->config, row->rows);
    t->cols = dim_size(&table->config, row->cols);
    t->count = t->rows * nn_tensor_cols(t);
    t->at = table->total;
    table->total += t->count;
    if (row->when == LAYER)
        snprintf(t->name, sizeof t->name, "model.layers.%u.%s", layer, row->name);
    else
        snprintf(t->name, sizeof t->name, "%s", row->name);
}

/* Tensors of a layer follow each other in the table and in memory, one layer after the other. */
static void add_layers(NnTable *table, NnTensorId from, NnTensorId to)
{
    for (uint32_t layer = 0; layer < table->config.layers; layer++)
        for (NnTensorId id = from; id < to; id++)
            add_tensor(table, id, layer);
}

NnTable nn_table_make(Arena *arena, const NnConfig *config)
{
    NnTable table = {.config = *config};
    table.tensors = arena_array(arena, NnTensor, (size_t)NN_TENSOR_COUNT * config->layers);
    for (NnTensorId id = 0; id < NN_TENSOR_COUNT; id++) {
        NnTensorId end = id;
        while (end < NN_TENSOR_COUNT && rows[end].when == LAYER)
            end++;
        if (end > id) {
            add_layers(&table, id, end);
            id = end - 1;
        } else if (rows[id].when == ONCE || !config->tied) {
            add_tensor(&table, id, 0);
        }
    }
    return table;
}

const NnTensor *nn_table_get(const NnTable *table, NnTensorId id, uint32_t layer)
{
    if (id == NN_HEAD && table->config.tied)
        id = NN_EMBED;
    for (uint32_t i = 0; i < table->count; i++)
        if (table->tensors[i].id == id && table->tensors[i].layer == layer)
            return &table->tensors[i];
    panic("nn: no tensor %d of layer %u", (int)id, layer);
}

const NnTensor *nn_table_find(const NnTable *table, Str name)
{
    for (uint32_t i = 0; i < table->count; i++)
        if (str_is(name, table->tensors[i].name))
            return &table->tensors[i];
    return NULL;
}

float *nn_block_tensor(const NnTable *table, float *block, NnTensorId id, uint32_t layer)
{
    return block + nn_table_get(table, id, layer)->at;
}

/* The heap's zeroed memory, moved up to the next multiple of 64; its start stands before. */
float *nn_floats_new(uint64_t count)
{
    enum { ALIGN = 64 };
    if (count > (SIZE_MAX - 2 * ALIGN) / sizeof(float))
        return heap_alloc(SIZE_MAX); /* runs the out-of-memory handler */
    char *start = heap_alloc((size_t)count * sizeof(float) + 2 * ALIGN);
    char *at = start + ALIGN + (ALIGN - (uintptr_t)start % ALIGN) % ALIGN;
    memcpy(at - sizeof start, &start, sizeof start);
    return (float *)(void *)at;
}

void nn_floats_free(float *floats)
{
    if (!floats)
        return;
    char *start;
    memcpy(&start, (char *)(void *)floats - sizeof start, sizeof start);
    heap_free(start);
}

NnModel nn_open(Arena *arena, const NnConfig *config)
{
    NnModel model = {.table = nn_table_make(arena, config)};
    model.weights = nn_floats_new(model.table.total);
    return model;
}

void nn_close(NnModel *model)
{
    nn_floats_free(model->weights);
    model->weights = NULL;
}

/* Normal with deviation 1 / sqrt(inputs); the embedding with 1 / sqrt(width), as it is the head. */
static double start_deviation(const NnTable *table, const NnTensor *t)
{
    double inputs = (double)nn_tensor_cols(t);
    double scale = rows[t->id].start == SMALL ? 1 / sqrt(2.0 * table->config.layers) : 1;
    return scale / sqrt(inputs);
}

void nn_init(NnModel *model, uint64_t seed)
{
    for (uint32_t i = 0; i < model->table.count; i++) {
        const NnTensor *t = &model->table.tensors[i];
        double deviation = start_deviation(&model->table, t);
        for (uint64_t k = 0; k < t->count; k++)
            model->weights[t->at + k] = rows[t->id].start == ONE
                                            ? 1
                                            : (float)(deviation * rng_normal(seed, i, k));
    }
}
