/* The language model as plain data: its sizes, the table of its tensors, its weights.
 *
 *     tokens ─embed─▶ x ─┬─norm─▶ q k v ─norm, rotary─▶ attention ─o─(+)─┬─norm─▶ gate up ─▶ down ─(+)─▶ ...
 *                        └──────────────────────────────────────────┘    └───────────────────────┘
 *     ... ─norm─▶ head ─▶ logits
 *
 * The architecture is that of Qwen3 dense: RMSNorm before each block, grouped-query attention with
 * RMSNorm of every q and k head, rotary positions on halves, SwiGLU, no biases, a head that may
 * share the embedding. One table (tensor.def) drives memory, checkpoints and tests: all weights are
 * one block of floats, and gradients and optimiser moments are blocks of the same layout.
 *
 * Sizes in this folder: B sequences, T positions, N = B T rows, C width, H heads, G key-value heads,
 * D head_dim, F ffn, V vocab, L layers.
 */
#ifndef NN_NN_H
#define NN_NN_H

#include "base/diag.h"

typedef struct NnConfig {
    uint32_t layers, width, heads, kv_heads, head_dim, ffn, vocab, context;
    float rope_theta, norm_eps;
    bool tied; /* the head is the embedding */
} NnConfig;

/* About 27 M parameters: 8 layers of 512, vocabulary 2,048, context 2,048. */
NnConfig nn_config_default(void);
/* Whether such a model can exist and be addressed; says what is wrong (N001). */
bool nn_config_check(const NnConfig *config, Diag *diag);

typedef enum NnTensorId {
#define NN_TENSOR(id, ...) NN_##id,
#include "nn/tensor.def"
#undef NN_TENSOR
    NN_TENSOR_COUNT
} NnTensorId;

typedef struct NnTensor {
    NnTensorId id;
    uint32_t layer;      /* 0 for tensors that exist once */
    char name[96];       /* in a checkpoint */
    uint32_t rows, cols; /* a vector has cols 0 */
    uint64_t at, count;  /* place and number of its elements in the block */
} NnTensor;

typedef struct NnTable {
    NnConfig config;
    NnTensor *tensors; /* in order of memory */
    uint32_t count;
    uint64_t total; /* elements of all */
} NnTable;

/* Every tensor of such a model; the config must have been checked. */
NnTable nn_table_make(Arena *arena, const NnConfig *config);
const NnTensor *nn_table_get(const NnTable *table, NnTensorId id, uint32_t layer);
const NnTensor *nn_table_find(const NnTable *table, Str name); /* NULL: none of that name */
static inline uint64_t nn_tensor_cols(const NnTensor *t) { return t->cols ? t->cols : 1; }
/* Matrices are decayed and adapted, vectors are not. */
static inline bool nn_tensor_is_matrix(const NnTensor *t) { return t->cols != 0; }

typedef struct NnModel {
    NnTable table;
    float *weights; /* table.total floats */
} NnModel;

/* Zeroed weights, aligned to 64 bytes, on the heap; nn_close gives them back. */
NnModel nn_open(Arena *arena, const NnConfig *config);
void nn_close(NnModel *model);
/* Random weights to train from: the same seed gives the same bits everywhere. */
void nn_init(NnModel *model, uint64_t seed);
/* Zeroed floats, aligned to 64 bytes; nn_floats_free gives them back. */
float *nn_floats_new(uint64_t count);
void nn_floats_free(float *floats);

/* One tensor of a block laid out by the table. The head of a tied model is its embedding. */
float *nn_block_tensor(const NnTable *table, float *block, NnTensorId id, uint32_t layer);
static inline float *nn_weight(const NnModel *model, NnTensorId id, uint32_t layer)
{
    return nn_block_tensor(&model->table, model->weights, id, layer);
}

/* Sizes that several files need. */
static inline uint32_t nn_q_size(const NnConfig *c) { return c->heads * c->head_dim; }
static inline uint32_t nn_kv_size(const NnConfig *c) { return c->kv_heads * c->head_dim; }
static inline uint32_t nn_qkv_size(const NnConfig *c) { return nn_q_size(c) + 2 * nn_kv_size(c); }

#endif
