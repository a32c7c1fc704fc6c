/* The model on a GPU: memory, one training step, and the device struct that the training loop calls.
 * Weights, gradients and moments are float blocks of the table's layout, with a bf16 copy of the
 * weights that the products read; activations are bf16 and all kept. The head runs over pieces of
 * rows, so that a large vocabulary needs no memory for all logits. */
#include "nn/cuda/kernels.cuh"
#include "nn/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

enum TensorId {
#define NN_TENSOR(id, ...) T_##id,
#include "nn/tensor.def"
#undef NN_TENSOR
    TENSOR_COUNT
};

/* Activations of one layer. */
struct LayerActs {
    bf16 *norm_attn, *qkv, *qk, *attn, *x_mid, *norm_ffn, *gu, *act;
    float *rstd_attn, *rstd_qk, *lse, *rstd_ffn;
};

struct CudaModel {
    NnDeviceModel shape;
    uint64_t *at;
    int batch, seq, rows, head_rows;
    AttnShape attn;
    cudaStream_t stream;
    Gemm *gemm;
    std::vector<void *> memory;
    float *block[NN_BLOCK_COUNT];
    bf16 *half; /* the weights */
    uint8_t *decay;
    std::vector<bf16 *> x; /* residual before each layer and after the last */
    std::vector<LayerActs> layers;
    bf16 *norm_out, *logits, *dx, *dnorm, *dqkv, *dqk, *dattn, *dact;
    float *rstd_out, *losses, *delta, *parts, *sums, *cosine, *sine, *embed_parts;
    int32_t *tokens, *targets, *order, *start, *piece_token;
    int32_t *staging; /* pinned: tokens, targets, order, start, piece_token */
    cudaEvent_t staged;
    bool first; /* no loss of this step yet */
};

template <typename T> static T *take(CudaModel *m, size_t count)
{
    void *memory = NULL;
    CUDA_OK(cudaMalloc(&memory, count * sizeof(T)));
    if (memory)
        m->memory.push_back(memory);
    return (T *)memory;
}

static float *weight(CudaModel *m, TensorId id, int layer)
{
    if (id == T_HEAD && m->shape.tied)
        id = T_EMBED;
    return m->block[NN_WEIGHTS] + m->at[(size_t)layer * TENSOR_COUNT + id];
}

static bf16 *half_weight(CudaModel *m, TensorId id, int layer)
{
    return m->half + (weight(m, id, layer) - m->block[NN_WEIGHTS]);
}

static float *grad(CudaModel *m, TensorId id, int layer)
{
    return m->block[NN_GRADS] + (weight(m, id, layer) - m->block[NN_WEIGHTS]);
}

static size_t q_size(const CudaModel *m) { return (size_t)m->shape.heads * m->shape.head_dim; }
static size_t kv_size(const CudaModel *m) { return (size_t)m->shape.kv_heads * m->shape.head_dim; }
static size_t qkv_size(const CudaModel *m) { return q_size(m) + 2 * kv_size(m); }

static const char *refuse_shape(const NnDeviceModel *s)
{
    if (s->tensor_count != TENSOR_COUNT)
        return "the library is of another version than the program";
    if (s->head_dim != 64 && s->head_dim != 128)
        return "head_dim is neither 64 nor 128, which is what the attention kernels take";
    if (s->width % 64 || s->ffn % 64 || s->vocab % 64)
        return "width, ffn and vocabulary are not multiples of 64";
    if (s->width > 6144)
        return "the width is over 6,144";
    return NULL;
}

static void take_layers(CudaModel *m)
{
    const NnDeviceModel &s = m->shape;
    size_t n = m->rows;
    for (uint32_t i = 0; i <= s.layers; i++)
        m->x.push_back(take<bf16>(m, n * s.width));
    for (uint32_t i = 0; i < s.layers; i++) {
        LayerActs a;
        a.norm_attn = take<bf16>(m, n * s.width);
        a.qkv = take<bf16>(m, n * qkv_size(m));
        a.qk = take<bf16>(m, n * (q_size(m) + kv_size(m)));
        a.attn = take<bf16>(m, n * q_size(m));
        a.x_mid = take<bf16>(m, n * s.width);
        a.norm_ffn = take<bf16>(m, n * s.width);
        a.gu = take<bf16>(m, n * 2 * s.ffn);
        a.act = take<bf16>(m, n * s.ffn);
        a.rstd_attn = take<float>(m, n);
        a.rstd_qk = take<float>(m, n * (s.heads + s.kv_heads));
        a.lse = take<float>(m, n * s.heads);
        a.rstd_ffn = take<float>(m, n);
        m->layers.push_back(a);
    }
}

static void take_scratch(CudaModel *m)
{
    const NnDeviceModel &s = m->shape;
    size_t n = m->rows, pieces = n / NN_EMBED_PIECE + s.vocab + 1;
    size_t widest = s.width > 2 * s.head_dim ? s.width : 2 * s.head_dim;
    m->norm_out = take<bf16>(m, n * s.width);
    m->logits = take<bf16>(m, (size_t)m->head_rows * s.vocab);
    m->dx = take<bf16>(m, n * s.width);
    m->dnorm = take<bf16>(m, n * s.width);
    m->dqkv = take<bf16>(m, n * qkv_size(m));
    m->dqk = take<bf16>(m, n * (q_size(m) + kv_size(m)));
    m->dattn = take<bf16>(m, n * q_size(m));
    m->dact = take<bf16>(m, n * s.ffn);
    m->rstd_out = take<float>(m, n);
    m->losses = take<float>(m, n);
    m->delta = take<float>(m, n * s.heads);
    m->parts = take<float>(m, NN_PARTS * widest);
    m->embed_parts = take<float>(m, pieces * s.width);
    m->sums = take<float>(m, 2); /* loss, square of the gradients' norm */
    m->tokens = take<int32_t>(m, 3 * n + 2 * pieces + 1);
    m->targets = m->tokens + n;
    m->order = m->targets + n;
    m->start = m->order + n;
    m->piece_token = m->start + pieces + 1;
}

/* Computes the floats of nn_rotary_table on the device. */
static void take_rotary(CudaModel *m)
{
    int half = m->shape.head_dim / 2;
    std::vector<float> cosine((size_t)m->seq * half), sine((size_t)m->seq * half);
    for (int i = 0; i < half; i++) {
        float frequency =
            (float)(1 / pow((double)m->shape.rope_theta, 2.0 * i / m->shape.head_dim));
        for (int t = 0; t < m->seq; t++) {
            cosine[(size_t)t * half + i] = cosf((float)t * frequency);
            sine[(size_t)t * half + i] = sinf((float)t * frequency);
        }
    }
    m->cosine = take<float>(m, cosine.size());
    m->sine = take<float>(m, sine.size());
    CUDA_OK(cudaMemcpy(m->cosine, cosine.data(), cosine.size() * 4, cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpy(m->sine, sine.data(), sine.size() * 4, cudaMemcpyHostToDevice));
}

static void take_blocks(CudaModel *m)
{
    uint64_t total = m->shape.total, flags = (total + 63) / 64;
    for (int i = 0; i < NN_BLOCK_COUNT; i++) {
        m->block[i] = take<float>(m, total);
        if (m->block[i])
            CUDA_OK(cudaMemset(m->block[i], 0, total * sizeof(float)));
    }
    m->half = take<bf16>(m, total);
    m->decay = take<uint8_t>(m, flags);
    if (m->decay)
        CUDA_OK(cudaMemcpy(m->decay, m->shape.decay, flags, cudaMemcpyHostToDevice));
}

static void cuda_close(void *device)
{
    CudaModel *m = (CudaModel *)device;
    cudaStreamSynchronize(m->stream);
    cuda_profile_print();
    for (void *memory : m->memory)
        cudaFree(memory);
    cudaFreeHost(m->staging);
    cudaEventDestroy(m->staged);
    cudaStreamDestroy(m->stream);
    gemm_close(m->gemm);
    free(m->at);
    delete m;
}

static void *cuda_open(const NnDeviceModel *shape, uint32_t batch, uint32_t seq, char *why,
                       size_t size)
{
    int devices = 0;
    const char *refused = refuse_shape(shape);
    if (!refused && (cudaGetDeviceCount(&devices) != cudaSuccess || !devices))
        refused = "no CUDA device answers";
    if (refused) {
        snprintf(why, size, "%s", refused);
        return NULL;
    }
    CudaModel *m = new CudaModel();
    cuda_clear_failure();
    m->shape = *shape;
    m->batch = (int)batch;
    m->seq = (int)seq;
    m->rows = (int)(batch * seq);
    m->first = true;
    uint64_t most = (1u << 28) / shape->vocab; /* logits of half a GiB at most */
    m->head_rows = (uint64_t)m->rows < most ? m->rows : (int)most;
    size_t at_bytes = (size_t)shape->layers * TENSOR_COUNT * sizeof *m->at;
    m->at = (uint64_t *)malloc(at_bytes);
    memcpy(m->at, shape->at, at_bytes);
    CUDA_OK(cudaStreamCreate(&m->stream));
    CUDA_OK(cudaEventCreateWithFlags(&m->staged, cudaEventDisableTiming));
    m->gemm = gemm_open();
    take_blocks(m);
    take_layers(m);
    take_scratch(m);
    take_rotary(m);
    size_t words = 6 * (size_t)m->rows + 2 * (size_t)shape->vocab + 64;
    CUDA_OK(cudaMallocHost(&m->staging, words * sizeof *m->staging));
    m->attn = {m->batch, m->seq, (int)shape->heads, (int)shape->kv_heads, (int)shape->head_dim,
               shape->norm_eps, m->cosine, m->sine};
    CUDA_OK(cudaStreamSynchronize(m->stream));
    if (!cuda_failure())
        return m;
    snprintf(why, size, "%s", cuda_failure());
    cuda_close(m);
    cudaGetLastError();
    return NULL;
}

static void cuda_put(void *device, NnBlock block, const float *values)
{
    CudaModel *m = (CudaModel *)device;
    CUDA_OK(cudaStreamSynchronize(m->stream));
    CUDA_OK(cudaMemcpy(m->block[block], values, m->shape.total * sizeof *values,
                       cudaMemcpyHostToDevice));
    if (block == NN_WEIGHTS)
        k_to_bf16(m->stream, m->shape.total, m->half, m->block[NN_WEIGHTS]);
}

static void cuda_get(void *device, NnBlock block, float *values)
{
    CudaModel *m = (CudaModel *)device;
    CUDA_OK(cudaStreamSynchronize(m->stream));
    CUDA_OK(cudaMemcpy(values, m->block[block], m->shape.total * sizeof *values,
                       cudaMemcpyDeviceToHost));
}

/* Sorts the rows by token and cuts them into pieces for the gradient of the embedding. */
static int sort_rows(CudaModel *m, const int32_t *tokens, int32_t *order, int32_t *start,
                     int32_t *piece_token)
{
    std::vector<int32_t> place(m->shape.vocab + 1, 0);
    for (int n = 0; n < m->rows; n++)
        place[tokens[n] + 1]++;
    int pieces = 0;
    for (uint32_t v = 0; v < m->shape.vocab; v++) {
        int count = place[v + 1];
        for (int from = 0; from < count; from += NN_EMBED_PIECE) {
            start[pieces] = place[v] + from;
            piece_token[pieces++] = (int32_t)v;
        }
        place[v + 1] += place[v];
    }
    start[pieces] = m->rows;
    for (int n = 0; n < m->rows; n++)
        order[place[tokens[n]]++] = n;
    return pieces;
}

static void send(CudaModel *m, const int32_t *tokens, const int32_t *targets)
{
    size_t n = m->rows;
    CUDA_OK(cudaEventSynchronize(m->staged));
    memcpy(m->staging, tokens, n * sizeof *tokens);
    memcpy(m->staging + n, targets, n * sizeof *targets);
    CUDA_OK(cudaMemcpyAsync(m->tokens, m->staging, 2 * n * sizeof *tokens, cudaMemcpyHostToDevice,
                            m->stream));
}

/* While the device works on the layers, the host sorts. Returns the number of pieces. */
static int send_order(CudaModel *m, const int32_t *tokens)
{
    size_t n = m->rows, most = n / NN_EMBED_PIECE + m->shape.vocab + 1;
    int32_t *order = m->staging + 2 * n, *start = order + n, *token = start + most + 1;
    int pieces = sort_rows(m, tokens, order, start, token);
    CUDA_OK(cudaMemcpyAsync(m->order, order, (n + 2 * most + 1) * sizeof *order,
                            cudaMemcpyHostToDevice, m->stream));
    CUDA_OK(cudaEventRecord(m->staged, m->stream));
    return pieces;
}

static void forward_layer(CudaModel *m, int i)
{
    const NnDeviceModel &s = m->shape;
    LayerActs &a = m->layers[i];
    cudaStream_t q = m->stream;
    int n = m->rows, c = (int)s.width;
    k_norm(q, n, c, s.norm_eps, a.norm_attn, a.rstd_attn, m->x[i], weight(m, T_NORM_ATTN, i));
    gemm_forward(m->gemm, q, n, c, (int)qkv_size(m), a.qkv, a.norm_attn, half_weight(m, T_Q, i),
                 NULL);
    k_qk(q, m->attn, a.qk, a.rstd_qk, a.qkv, weight(m, T_NORM_Q, i), weight(m, T_NORM_K, i));
    k_attention(q, m->attn, a.attn, a.lse, a.qk, a.qkv);
    gemm_forward(m->gemm, q, n, (int)q_size(m), c, a.x_mid, a.attn, half_weight(m, T_O, i), m->x[i]);
    k_norm(q, n, c, s.norm_eps, a.norm_ffn, a.rstd_ffn, a.x_mid, weight(m, T_NORM_FFN, i));
    gemm_forward(m->gemm, q, n, c, 2 * (int)s.ffn, a.gu, a.norm_ffn, half_weight(m, T_GATE, i), NULL);
    k_swiglu(q, n, (int)s.ffn, a.act, a.gu);
    gemm_forward(m->gemm, q, n, (int)s.ffn, c, m->x[i + 1], a.act, half_weight(m, T_DOWN, i), a.x_mid);
}

static void forward(CudaModel *m)
{
    const NnDeviceModel &s = m->shape;
    k_embed(m->stream, m->rows, (int)s.width, m->x[0], half_weight(m, T_EMBED, 0), m->tokens);
    for (uint32_t i = 0; i < s.layers; i++)
        forward_layer(m, (int)i);
    k_norm(m->stream, m->rows, (int)s.width, s.norm_eps, m->norm_out, m->rstd_out, m->x[s.layers],
           weight(m, T_NORM_OUT, 0));
}

/* Logits, losses and, for learning, their gradients down to the last norm, piece by piece. */
static void head(CudaModel *m, float loss_weight, bool learn)
{
    int c = (int)m->shape.width, v = (int)m->shape.vocab;
    for (int from = 0; from < m->rows; from += m->head_rows) {
        int n = m->rows - from < m->head_rows ? m->rows - from : m->head_rows;
        bf16 *x = m->norm_out + (size_t)from * c;
        gemm_forward(m->gemm, m->stream, n, c, v, m->logits, x, half_weight(m, T_HEAD, 0), NULL);
        k_cross_entropy(m->stream, n, v, m->losses + from, m->logits, m->targets + from, loss_weight,
                        learn);
        if (!learn)
            continue;
        gemm_back_weight(m->gemm, m->stream, n, c, v, grad(m, T_HEAD, 0), m->logits, x);
        gemm_back_input(m->gemm, m->stream, n, c, v, m->dnorm + (size_t)from * c, m->logits,
                        half_weight(m, T_HEAD, 0));
    }
}

static void backward_ffn(CudaModel *m, int i)
{
    const NnDeviceModel &s = m->shape;
    LayerActs &a = m->layers[i];
    cudaStream_t q = m->stream;
    int n = m->rows, c = (int)s.width, f = (int)s.ffn;
    gemm_back_weight(m->gemm, q, n, f, c, grad(m, T_DOWN, i), m->dx, a.act);
    gemm_back_input(m->gemm, q, n, f, c, m->dact, m->dx, half_weight(m, T_DOWN, i));
    k_swiglu_back(q, n, f, a.gu, m->dact, a.gu);
    gemm_back_weight(m->gemm, q, n, c, 2 * f, grad(m, T_GATE, i), a.gu, a.norm_ffn);
    gemm_back_input(m->gemm, q, n, c, 2 * f, m->dnorm, a.gu, half_weight(m, T_GATE, i));
    k_norm_back(q, n, c, m->dx, grad(m, T_NORM_FFN, i), m->parts, m->dx, m->dnorm, a.x_mid,
                weight(m, T_NORM_FFN, i), a.rstd_ffn);
}

static void backward_attention(CudaModel *m, int i)
{
    const NnDeviceModel &s = m->shape;
    LayerActs &a = m->layers[i];
    cudaStream_t q = m->stream;
    int n = m->rows, c = (int)s.width;
    gemm_back_weight(m->gemm, q, n, (int)q_size(m), c, grad(m, T_O, i), m->dx, a.attn);
    gemm_back_input(m->gemm, q, n, (int)q_size(m), c, m->dattn, m->dx, half_weight(m, T_O, i));
    k_attention_back(q, m->attn, m->dqk, m->dqkv, m->delta, m->dattn, a.attn, a.lse, a.qk, a.qkv);
    k_qk_back(q, m->attn, m->dqkv, grad(m, T_NORM_Q, i), grad(m, T_NORM_K, i), m->parts, m->dqk,
              a.qkv, weight(m, T_NORM_Q, i), weight(m, T_NORM_K, i), a.rstd_qk);
    gemm_back_weight(m->gemm, q, n, c, (int)qkv_size(m), grad(m, T_Q, i), m->dqkv, a.norm_attn);
    gemm_back_input(m->gemm, q, n, c, (int)qkv_size(m), m->dnorm, m->dqkv, half_weight(m, T_Q, i));
    k_norm_back(q, n, c, m->dx, grad(m, T_NORM_ATTN, i), m->parts, m->dx, m->dnorm, m->x[i],
                weight(m, T_NORM_ATTN, i), a.rstd_attn);
}

static void cuda_learn(void *device, const int32_t *tokens, const int32_t *targets, float loss_weight)
{
    CudaModel *m = (CudaModel *)device;
    const NnDeviceModel &s = m->shape;
    send(m, tokens, targets);
    forward(m);
    head(m, loss_weight, true);
    k_sum(m->stream, m->rows, m->sums, m->losses, !m->first);
    m->first = false;
    k_norm_back(m->stream, m->rows, (int)s.width, m->dx, grad(m, T_NORM_OUT, 0), m->parts, NULL,
                m->dnorm, m->x[s.layers], weight(m, T_NORM_OUT, 0), m->rstd_out);
    for (int i = (int)s.layers - 1; i >= 0; i--) {
        backward_ffn(m, i);
        backward_attention(m, i);
    }
    int pieces = send_order(m, tokens);
    k_embed_back(m->stream, pieces, (int)s.width, grad(m, T_EMBED, 0), m->embed_parts, m->dx, m->order,
                 m->start, m->piece_token);
}

static int cuda_update(void *device, const NnDeviceStep *step, NnDeviceResult *result)
{
    CudaModel *m = (CudaModel *)device;
    uint64_t total = m->shape.total;
    AdamArgs a;
    a.rate = (float)(step->rate / (1 - pow(step->beta1, (double)step->step)));
    a.full_rate = (float)step->rate;
    a.root = (float)sqrt(1 - pow(step->beta2, (double)step->step));
    a.beta1 = (float)step->beta1;
    a.beta2 = (float)step->beta2;
    a.eps = (float)step->eps;
    a.decay = (float)step->decay;
    a.clip = (float)step->clip;
    float sums[2] = {0, 0};
    k_square_sum(m->stream, total, m->sums + 1, m->parts, m->block[NN_GRADS]);
    k_adam(m->stream, total, a, m->block[NN_WEIGHTS], m->half, m->block[NN_MOMENT1],
           m->block[NN_MOMENT2], m->block[NN_GRADS], m->decay, m->sums + 1);
    CUDA_OK(cudaMemcpyAsync(sums, m->sums, sizeof sums, cudaMemcpyDeviceToHost, m->stream));
    CUDA_OK(cudaStreamSynchronize(m->stream));
    m->first = true;
    result->loss = sums[0];
    result->norm = sqrt(sums[1]);
    return cuda_failure() == NULL;
}

static double cuda_evaluate(void *device, const int32_t *tokens, const int32_t *targets)
{
    CudaModel *m = (CudaModel *)device;
    float sum = 0;
    send(m, tokens, targets);
    forward(m);
    head(m, 0, false);
    k_sum(m->stream, m->rows, m->parts, m->losses, false);
    CUDA_OK(cudaMemcpyAsync(&sum, m->parts, sizeof sum, cudaMemcpyDeviceToHost, m->stream));
    CUDA_OK(cudaStreamSynchronize(m->stream));
    return sum;
}

static const char *cuda_error(void *device)
{
    (void)device;
    return cuda_failure();
}

extern "C" const NnDevice *nn_cuda_device(void);

extern "C" const NnDevice *nn_cuda_device(void)
{
    static const NnDevice device = {"cuda",     cuda_open,   cuda_close,    cuda_put,  cuda_get,
                                    cuda_learn, cuda_update, cuda_evaluate, cuda_error};
    return &device;
}
