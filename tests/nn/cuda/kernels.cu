/* Every CUDA kernel against the plain C layer on the same bf16 inputs; runs on a machine with a GPU.
 * An output is filled with not-a-number before; the distance is |got - want| / |want|. Each kernel
 * runs twice and must give the same bits. */
#include "nn/cuda/kernels.cuh"
extern "C" {
#include "nn/layer.h"
}

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <vector>

typedef std::vector<float> Floats;

static int failures;

static float random_unit(void)
{
    static uint64_t state = 88172645463325252ull;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (float)((double)(state >> 11) / (double)(1ull << 53)) * 2 - 1;
}

/* Random numbers that bf16 holds exactly. */
static Floats numbers(size_t count, float scale = 1, float offset = 0)
{
    Floats x(count);
    for (float &v : x)
        v = __bfloat162float(__float2bfloat16(offset + scale * 1.7f * random_unit()));
    return x;
}

/* Device memory with what the host holds; freed with the process. */
static bf16 *half_on_device(const Floats &x)
{
    std::vector<bf16> half(x.size());
    for (size_t i = 0; i < x.size(); i++)
        half[i] = __float2bfloat16(x[i]);
    bf16 *d;
    CUDA_OK(cudaMalloc(&d, x.size() * sizeof *d));
    CUDA_OK(cudaMemcpy(d, half.data(), x.size() * sizeof *d, cudaMemcpyHostToDevice));
    return d;
}

template <typename T> static T *on_device(const std::vector<T> &x)
{
    T *d;
    CUDA_OK(cudaMalloc(&d, x.size() * sizeof *d));
    CUDA_OK(cudaMemcpy(d, x.data(), x.size() * sizeof *d, cudaMemcpyHostToDevice));
    return d;
}

template <typename T> static T *poisoned(size_t count)
{
    T *d;
    CUDA_OK(cudaMalloc(&d, count * sizeof *d));
    CUDA_OK(cudaMemset(d, 0xFF, count * sizeof *d));
    return d;
}

static Floats fetch(const bf16 *d, size_t count)
{
    std::vector<bf16> half(count);
    CUDA_OK(cudaMemcpy(half.data(), d, count * sizeof *d, cudaMemcpyDeviceToHost));
    Floats x(count);
    for (size_t i = 0; i < count; i++)
        x[i] = __bfloat162float(half[i]);
    return x;
}

static Floats fetch(const float *d, size_t count)
{
    Floats x(count);
    CUDA_OK(cudaMemcpy(x.data(), d, count * sizeof *d, cudaMemcpyDeviceToHost));
    return x;
}

static void compare(const char *name, const Floats &got, const Floats &want, double limit)
{
    double wrong = 0, size = 0;
    for (size_t i = 0; i < want.size(); i++) {
        wrong += ((double)got[i] - want[i]) * ((double)got[i] - want[i]);
        size += (double)want[i] * want[i];
    }
    double distance = sqrt(wrong / (size > 0 ? size : 1));
    bool ok = distance < limit; /* false for not-a-number */
    failures += !ok;
    printf("%-34s %.2e %s\n", name, distance, ok ? "" : "FAILED");
}

static void same(const char *name, const Floats &a, const Floats &b)
{
    if (memcmp(a.data(), b.data(), a.size() * sizeof(float))) {
        failures++;
        printf("%-34s differs between two runs FAILED\n", name);
    }
}

static void check_norm(int rows, int width)
{
    Floats x = numbers((size_t)rows * width), w = numbers(width, 0.3f, 1), dy = numbers(x.size());
    Floats base = numbers(x.size()), y(x.size()), rstd(rows), dx = base, dw(width, 0.5f);
    nn_norm({(uint32_t)rows, (uint32_t)width, 1e-6f}, y.data(), rstd.data(), x.data(), w.data());
    nn_norm_back({(uint32_t)rows, (uint32_t)width, 1e-6f}, dx.data(), dw.data(), dy.data(), x.data(),
                 w.data(), rstd.data());
    bf16 *gx = half_on_device(x), *gy = poisoned<bf16>(x.size()), *gdy = half_on_device(dy);
    bf16 *gbase = half_on_device(base), *gdx = poisoned<bf16>(x.size());
    float *gw = on_device(w), *grstd = poisoned<float>(rows);
    float *parts = poisoned<float>((size_t)NN_PARTS * width);
    k_norm(0, rows, width, 1e-6f, gy, grstd, gx, gw);
    compare("norm", fetch(gy, x.size()), y, 4e-3);
    compare("norm: rstd", fetch(grstd, rows), rstd, 1e-5);
    Floats first;
    for (int round = 0; round < 2; round++) {
        float *gdw = on_device(Floats(width, 0.5f));
        k_norm_back(0, rows, width, gdx, gdw, parts, gbase, gdy, gx, gw, grstd);
        Floats got = fetch(gdw, width);
        if (round)
            same("norm back", got, first);
        first = got;
    }
    compare("norm back: dx", fetch(gdx, x.size()), dx, 4e-3);
    compare("norm back: dw", first, dw, 1e-3);
}

static void check_swiglu(int rows, int ffn)
{
    Floats gu = numbers((size_t)rows * 2 * ffn, 2), dy = numbers((size_t)rows * ffn);
    Floats y(dy.size()), dgu(gu.size());
    nn_swiglu(rows, ffn, y.data(), gu.data());
    nn_swiglu_back(rows, ffn, dgu.data(), dy.data(), gu.data());
    bf16 *g = half_on_device(gu), *gdy = half_on_device(dy), *gy = poisoned<bf16>(dy.size());
    k_swiglu(0, rows, ffn, gy, g);
    compare("swiglu", fetch(gy, y.size()), y, 4e-3);
    k_swiglu_back(0, rows, ffn, g, gdy, g); /* in place */
    compare("swiglu back", fetch(g, gu.size()), dgu, 4e-3);
}

static void check_cross_entropy(int rows, int vocab)
{
    Floats logits = numbers((size_t)rows * vocab, 4), losses(rows), d(logits.size());
    std::vector<int32_t> targets(rows);
    for (int i = 0; i < rows; i++)
        targets[i] = i % 5 == 2 ? -1 : (i * 37) % vocab;
    nn_cross_entropy(NULL, rows, vocab, losses.data(), d.data(), logits.data(), targets.data(), 0.1f);
    bf16 *g = half_on_device(logits);
    float *gl = poisoned<float>(rows);
    int32_t *gt = on_device(targets);
    k_cross_entropy(0, rows, vocab, gl, g, gt, 0.1f, false);
    compare("cross entropy, only loss", fetch(g, logits.size()), logits, 1e-9);
    k_cross_entropy(0, rows, vocab, gl, g, gt, 0.1f, true);
    compare("cross entropy: loss", fetch(gl, rows), losses, 1e-5);
    compare("cross entropy: gradient", fetch(g, logits.size()), d, 4e-3);
}

/* [N, H] of the reference as [B, H, T] of the kernels */
static Floats by_head(const Floats &x, int batch, int seq, int heads)
{
    Floats out(x.size());
    for (int b = 0; b < batch; b++)
        for (int t = 0; t < seq; t++)
            for (int h = 0; h < heads; h++)
                out[((size_t)b * heads + h) * seq + t] = x[((size_t)b * seq + t) * heads + h];
    return out;
}

static void check_attention(int batch, int seq, int heads, int kv, int dim)
{
    size_t n = (size_t)batch * seq, qk_size = n * (heads + kv) * dim;
    size_t qkv_size = n * (heads + 2 * kv) * dim, out_size = n * heads * dim;
    Floats cosine((size_t)seq * dim / 2), sine(cosine.size());
    nn_rotary_table(cosine.data(), sine.data(), seq, dim, 10000);
    NnAttn a = {(uint32_t)batch, (uint32_t)seq, (uint32_t)heads, (uint32_t)kv, (uint32_t)dim, 1e-6f,
                cosine.data(), sine.data()};
    AttnShape g = {batch, seq, heads, kv, dim, 1e-6f, on_device(cosine), on_device(sine)};
    printf("attention %d x %d, %d heads, %d key heads of %d\n", batch, seq, heads, kv, dim);
    Floats qkv = numbers(qkv_size), wq = numbers(dim, 0.3f, 1), wk = numbers(dim, 0.3f, 1);
    Floats qk(qk_size), rstd(n * (heads + kv)), dwq(dim), dwk(dim), dqkv(qkv_size);
    nn_qk(&a, qk.data(), rstd.data(), qkv.data(), wq.data(), wk.data());
    bf16 *gqkv = half_on_device(qkv), *gqk = poisoned<bf16>(qk_size);
    float *gwq = on_device(wq), *gwk = on_device(wk), *grstd = poisoned<float>(rstd.size());
    k_qk(0, g, gqk, grstd, gqkv, gwq, gwk);
    compare("norm and rotation of q, k", fetch(gqk, qk_size), qk, 4e-3);
    Floats rounded = fetch(gqk, qk_size), out(out_size), lse(n * heads);
    nn_attention(NULL, &a, out.data(), lse.data(), rounded.data(), qkv.data());
    bf16 *gout = poisoned<bf16>(out_size);
    float *glse = poisoned<float>(lse.size()), *delta = poisoned<float>(lse.size());
    k_attention(0, g, gout, glse, gqk, gqkv);
    compare("attention", fetch(gout, out_size), out, 6e-3);
    compare("attention: lse", fetch(glse, lse.size()), by_head(lse, batch, seq, heads), 1e-4);
    Floats dout = numbers(out_size), dqk(qk_size);
    nn_attention_back(NULL, &a, dqk.data(), dqkv.data(), dout.data(), out.data(), lse.data(),
                      rounded.data(), qkv.data());
    bf16 *gdout = half_on_device(dout), *gdqk = poisoned<bf16>(qk_size);
    bf16 *gdqkv = poisoned<bf16>(qkv_size);
    Floats first;
    for (int round = 0; round < 2; round++) {
        k_attention_back(0, g, gdqk, gdqkv, delta, gdout, gout, glse, gqk, gqkv);
        Floats got = fetch(gdqk, qk_size);
        if (round)
            same("attention back", got, first);
        first = got;
    }
    compare("attention back: dq, dk", first, dqk, 1.5e-2);
    nn_qk_back(&a, dqkv.data(), dwq.data(), dwk.data(), first.data(), qkv.data(), wq.data(), wk.data(),
               rstd.data());
    float *parts = poisoned<float>((size_t)NN_PARTS * 2 * dim);
    float *gdwq = on_device(Floats(dim)), *gdwk = on_device(Floats(dim));
    k_qk_back(0, g, gdqkv, gdwq, gdwk, parts, gdqk, gqkv, gwq, gwk, grstd);
    compare("q, k, v back", fetch(gdqkv, qkv_size), dqkv, 8e-3);
    compare("q norm: dw", fetch(gdwq, dim), dwq, 2e-3);
    compare("k norm: dw", fetch(gdwk, dim), dwk, 2e-3);
}

static void check_gemm(int rows, int in, int out)
{
    Floats x = numbers((size_t)rows * in), w = numbers((size_t)out * in, 0.2f);
    Floats dy = numbers((size_t)rows * out), c = numbers(dy.size());
    Floats y(dy.size()), dx(x.size()), dw(w.size(), 0.25f);
    NnLinear size = {(uint32_t)rows, (uint32_t)in, (uint32_t)out};
    nn_linear(NULL, size, y.data(), x.data(), w.data());
    nn_linear_back_input(NULL, size, dx.data(), dy.data(), w.data());
    nn_linear_back_weight(NULL, size, dw.data(), dy.data(), x.data());
    Gemm *g = gemm_open();
    bf16 *gx = half_on_device(x), *gw = half_on_device(w), *gdy = half_on_device(dy);
    bf16 *gc = half_on_device(c), *gy = poisoned<bf16>(y.size()), *gdx = poisoned<bf16>(x.size());
    float *gdw = on_device(Floats(w.size(), 0.25f));
    gemm_forward(g, 0, rows, in, out, gy, gx, gw, NULL);
    compare("product", fetch(gy, y.size()), y, 4e-3);
    gemm_forward(g, 0, rows, in, out, gy, gx, gw, gc);
    for (size_t i = 0; i < y.size(); i++)
        y[i] += c[i];
    compare("product and residual", fetch(gy, y.size()), y, 4e-3);
    gemm_back_input(g, 0, rows, in, out, gdx, gdy, gw);
    gemm_back_weight(g, 0, rows, in, out, gdw, gdy, gx);
    compare("product back: dx", fetch(gdx, x.size()), dx, 4e-3);
    compare("product back: dw", fetch(gdw, w.size()), dw, 1e-4);
    gemm_close(g);
}

static void check_embed(int rows, int width, int vocab)
{
    Floats table = numbers((size_t)vocab * width), dx = numbers((size_t)rows * width);
    Floats x(dx.size()), grad(table.size(), 0.5f);
    std::vector<int32_t> tokens(rows), order, start, piece;
    for (int n = 0; n < rows; n++)
        tokens[n] = n % 3 ? 7 : (n * 31) % vocab; /* one token far more often than the others */
    for (int v = 0; v < vocab; v++)
        for (int n = 0, in_piece = 0; n < rows; n++) {
            if (tokens[n] != v)
                continue;
            if (in_piece++ % NN_EMBED_PIECE == 0) {
                start.push_back((int32_t)order.size());
                piece.push_back(v);
            }
            order.push_back(n);
        }
    start.push_back(rows);
    for (int n = 0; n < rows; n++)
        for (int i = 0; i < width; i++) {
            x[(size_t)n * width + i] = table[(size_t)tokens[n] * width + i];
            grad[(size_t)tokens[n] * width + i] += dx[(size_t)n * width + i];
        }
    bf16 *gx = poisoned<bf16>(x.size());
    float *gg = on_device(Floats(table.size(), 0.5f));
    k_embed(0, rows, width, gx, half_on_device(table), on_device(tokens));
    compare("embedding", fetch(gx, x.size()), x, 1e-9);
    k_embed_back(0, (int)piece.size(), width, gg, poisoned<float>(piece.size() * width),
                 half_on_device(dx), on_device(order), on_device(start), on_device(piece));
    compare("embedding back", fetch(gg, grad.size()), grad, 1e-5);
}

static void check_adam(int count)
{
    Floats w = numbers(count), g = numbers(count), m = numbers(count, 0.1f), v(count), want_w(count);
    std::vector<uint8_t> decay(count / 64);
    double square = 0;
    for (int i = 0; i < count; i++) {
        v[i] = 0.01f + fabsf(random_unit());
        decay[i / 64] = i / 64 % 3 == 1;
        square += (double)g[i] * g[i];
    }
    AdamArgs a = {0.02f, 0.9f, 0.95f, 1e-8f, 0.1f, 1.0f, 0.7f, 0.01f};
    float scale = (float)(1 / sqrt(square));
    for (int i = 0; i < count; i++) {
        float d = g[i] * scale, first = 0.9f * m[i] + 0.1f * d, second = 0.95f * v[i] + 0.05f * d * d;
        want_w[i] = (decay[i / 64] ? 1 - 0.01f * 0.1f : 1) * w[i] -
                    0.02f * first / (sqrtf(second) / 0.7f + 1e-8f);
    }
    float *gw = on_device(w), *gm = on_device(m), *gv = on_device(v), *gg = on_device(g);
    float *sum = poisoned<float>(1), *parts = poisoned<float>(NN_PARTS);
    bf16 *half = poisoned<bf16>(count);
    k_square_sum(0, count, sum, parts, gg);
    compare("square sum", fetch(sum, 1), Floats(1, (float)square), 1e-5);
    k_adam(0, count, a, gw, half, gm, gv, gg, on_device(decay), sum);
    compare("AdamW", fetch(gw, count), want_w, 1e-6);
    compare("AdamW: bf16 copy", fetch(half, count), want_w, 4e-3);
    compare("AdamW: zeroed gradients", fetch(gg, count), Floats(count), 1e-9);
}

int main(void)
{
    check_norm(1000, 512);
    check_norm(37, 1024);
    check_swiglu(300, 192);
    check_cross_entropy(70, 2048);
    check_cross_entropy(9, 4672);
    check_gemm(300, 128, 192);
    check_gemm(1024, 512, 1024);
    check_embed(3000, 128, 64);
    check_adam(64 * 333);
    check_attention(2, 256, 4, 2, 64);
    check_attention(2, 200, 4, 1, 64);
    check_attention(1, 77, 2, 2, 64);
    check_attention(3, 5, 2, 1, 64);
    check_attention(1, 300, 4, 2, 128);
    if (cuda_failure()) {
        failures++;
        printf("%s\n", cuda_failure());
    }
    printf("%s: %d failed\n", failures ? "FAILED" : "passed", failures);
    return failures != 0;
}
