/* The layers, forward and backward, in plain C: the reference that every faster version is tested
 * against. Rows are contiguous; matrices are [out, in]. A backward function that ends in `+=` below
 * adds to its output, the others overwrite. Sizes are named in nn.h. */
#ifndef NN_LAYER_H
#define NN_LAYER_H

#include "nn/pool.h"

/* y[N, out] = x[N, in] w^T */
typedef struct NnLinear {
    uint32_t rows, in, out;
} NnLinear;
void nn_linear(NnPool *pool, NnLinear size, float *y, const float *x, const float *w);
void nn_linear_back_input(NnPool *pool, NnLinear size, float *dx, const float *dy, const float *w);
/* dw += dy^T x */
void nn_linear_back_weight(NnPool *pool, NnLinear size, float *dw, const float *dy, const float *x);

/* y = x rstd w, rstd = 1 / sqrt(mean(x^2) + eps), per row; rstd is kept for the backward pass. */
typedef struct NnNorm {
    uint32_t rows, width;
    float eps;
} NnNorm;
void nn_norm(NnNorm size, float *y, float *rstd, const float *x, const float *w);
/* dx +=, dw += */
void nn_norm_back(NnNorm size, float *dx, float *dw, const float *dy, const float *x,
                  const float *w, const float *rstd);

/* Attention over B sequences of T positions. qkv[N, (H + 2 G) D] holds q, k, v of a row. */
typedef struct NnAttn {
    uint32_t batch, seq, heads, kv_heads, dim;
    float eps;
    const float *cosine, *sine; /* [T, D / 2], of nn_rotary_table */
} NnAttn;
/* cos and sin of position * theta^(-2 i / D). */
void nn_rotary_table(float *cosine, float *sine, uint32_t positions, uint32_t dim, float theta);
/* qk[N, (H + G) D]: every head of q and k normalised, weighted, then rotated on halves (i, i + D/2). */
void nn_qk(const NnAttn *a, float *qk, float *rstd, const float *qkv, const float *wq,
           const float *wk);
/* dqkv's q and k part; dwq +=, dwk += */
void nn_qk_back(const NnAttn *a, float *dqkv, float *dwq, float *dwk, const float *dqk,
                const float *qkv, const float *wq, const float *wk, const float *rstd);
/* out[N, H D], causal; lse[N, H] is the logarithm of the sum of exponentials of each row. */
void nn_attention(NnPool *pool, const NnAttn *a, float *out, float *lse, const float *qk,
                  const float *qkv);
/* dqk and dqkv's v part */
void nn_attention_back(NnPool *pool, const NnAttn *a, float *dqk, float *dqkv, const float *dout,
                       const float *out, const float *lse, const float *qk, const float *qkv);

/* y[N, F] = silu(gate) up, gate and up side by side in gu[N, 2 F] */
void nn_swiglu(uint32_t rows, uint32_t ffn, float *y, const float *gu);
void nn_swiglu_back(uint32_t rows, uint32_t ffn, float *dgu, const float *dy, const float *gu);

/* losses[N] = -log softmax(logits)[target], 0 where the target is negative (not learnt from).
 * dlogits, if not NULL, is weight times the gradient of their sum. */
void nn_cross_entropy(NnPool *pool, uint32_t rows, uint32_t vocab, float *losses, float *dlogits,
                      const float *logits, const int32_t *targets, float weight);

/* Sum of products in sixteen interleaved partial sums: the same bits for every vector length. */
float nn_dot(const float *a, const float *b, uint32_t n);

#endif
