/* AscendC kernels of our own, one call or one idiom each, against values worked out here in double
 * precision. A case names its text, macros, inputs and the value each output element must have. */
#include "tests/t.h"

#include "base/file.h"
#include "tests/twin/twin_helper.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 3 };

typedef struct Case {
    const char *file;  /* under tests/twin/kernels */
    const char *body;  /* -DBODY for body.cpp; NULL: none */
    const char *type;  /* C++ type of the inputs: "float" */
    const char *out;   /* of the output; NULL: the same */
    uint32_t n, out_n; /* 0: 1024, as n */
    uint32_t inputs;   /* 0: 1 */
    double low, high;  /* range of the inputs; 0, 0: -4 to 4 */
    double (*want)(const double *const in[MOST], uint32_t i);
    double tolerance;   /* relative to max(1, |want|); 0: exact */
    uint32_t blocks;    /* 0: 1 */
    uint32_t workspace; /* bytes; 0: the kernel takes none */
} Case;

static DType dtype_of(const char *cxx)
{
    for (int d = 0; d < DT_COUNT; d++)
        if (strcmp(dtype_rows[d].cxx, cxx) == 0)
            return (DType)d;
    CHECK_MSG(false, "'%s' is no type of AscendC", cxx);
    t_stop();
}

/* The same numbers on every machine; rounded to the type they travel in. */
static void fill(DType type, void *data, double *wide, uint32_t n, double low, double high,
                 uint32_t seed)
{
    uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
    for (uint32_t i = 0; i < n; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        double v = low + (high - low) * (double)(state >> 40) / (double)(1u << 24);
        dtype_store(type, data, i, dtype_is_float(type) ? v : floor(v));
        wide[i] = dtype_load(type, data, i);
    }
}

static const char *define(Arena *arena, const char *name, const char *value)
{
    return str_format(arena, "%s=%s", name, value);
}

/* A case's text and macros. */
typedef struct Prepared {
    Arena arena;
    Str text;
    const char *defines[8], *include_dirs[2];
    uint32_t n, out_n, inputs;
} Prepared;

static Prepared prepare(const Case *c)
{
    Prepared p = {.n = c->n ? c->n : 1024, .inputs = c->inputs ? c->inputs : 1};
    p.out_n = c->out_n ? c->out_n : p.n;
    Arena *arena = &p.arena;
    Diag diag = diag_make(arena, c->file, str_from(""));
    const char *path = str_format(arena, "tests/twin/kernels/%s", c->file);
    REQUIRE(file_read(arena, path, 1 << 20, &p.text, &diag));
    char here[4096];
    REQUIRE(realpath("tests/twin/kernels", here));
    p.include_dirs[0] = str_format(arena, "%s", here);
    p.defines[0] = define(arena, "TYPE", c->type);
    p.defines[1] = define(arena, "OUT", c->out ? c->out : c->type);
    p.defines[2] = str_format(arena, "LEN=%u", p.n);
    p.defines[3] = str_format(arena, "OUT_LEN=%u", p.out_n);
    p.defines[4] = str_format(arena, "INPUTS=%u", p.inputs);
    p.defines[5] = c->body ? define(arena, "BODY", c->body) : NULL;
    return p;
}

static void run_case(const Case *c)
{
    Prepared p = prepare(c);
    uint32_t n = p.n, out_n = p.out_n;
    DType in_type = dtype_of(c->type), out_type = dtype_of(c->out ? c->out : c->type);
    TwinTensor tensors[MOST + 1] = {0};
    TwinArg args[MOST + 2] = {0};
    double *wide[MOST] = {0};
    for (uint32_t i = 0; i < MOST; i++) {
        uint32_t count = n;
        size_t bytes = count * dtype_bytes(in_type);
        void *data = calloc(1, bytes);
        wide[i] = calloc(count, sizeof *wide[i]);
        fill(in_type, data, wide[i], count, c->high > c->low ? c->low : -4,
             c->high > c->low ? c->high : 4, i + 1);
        tensors[i] = (TwinTensor){.name = i == 0   ? "gx"
                                          : i == 1 ? "gy"
                                                   : "gw",
                                  .dtype = in_type,
                                  .rank = 1,
                                  .shape = {count},
                                  .role = SIM_IN,
                                  .data = data,
                                  .bytes = bytes};
    }
    size_t bytes = out_n * dtype_bytes(out_type);
    tensors[MOST] = (TwinTensor){.name = "gz",
                                 .dtype = out_type,
                                 .rank = 1,
                                 .shape = {out_n},
                                 .role = SIM_OUT,
                                 .data = calloc(1, bytes),
                                 .bytes = bytes};
    for (uint32_t i = 0; i <= MOST; i++)
        args[i] = (TwinArg){.kind = TWIN_ARG_TENSOR, .index = i};
    args[MOST + 1] = (TwinArg){.kind = TWIN_ARG_WORKSPACE};
    TwinLaunch launch = {.tensors = tensors,
                         .tensor_count = MOST + 1,
                         .args = args,
                         .arg_count = MOST + 1 + (c->workspace ? 1 : 0),
                         .blocks = c->blocks ? c->blocks : 1,
                         .workspace = c->workspace};
    Trial t = {
        .text = p.text.at, .launch = &launch, .defines = p.defines, .include_dirs = p.include_dirs};
    trial_run(&t);
    const char *label = c->body ? c->body : c->file;
    CHECK_MSG(t.compiled, "%s: not compiled: %s %.600s", label, t.verdict.reason,
              buf_view(&t.messages).at);
    CHECK_MSG(!t.compiled || t.ran, "%s: did not run: %s", label, t.verdict.reason);
    for (size_t i = 0; i < t.verdict.hazards.len; i++)
        CHECK_MSG(false, "%s: %s %s", label, t.verdict.hazards.at[i].code,
                  t.verdict.hazards.at[i].message);
    for (uint32_t i = 0, bad = 0; t.ran && i < out_n && bad < 3; i++) {
        double got = dtype_load(out_type, tensors[MOST].data, i);
        double want = c->want((const double *const *)wide, i);
        double off = fabs(got - want) / fmax(1, fabs(want));
        bool same = got == want || (isnan(got) && isnan(want)) || off <= c->tolerance;
        bad += !CHECK_MSG(same, "%s [%s] at %u: got %.9g, want %.9g", label, c->type, i, got, want);
    }
    for (uint32_t i = 0; i <= MOST; i++)
        free(tensors[i].data);
    for (uint32_t i = 0; i < MOST; i++)
        free(wide[i]);
    trial_drop(&t);
    arena_drop(&p.arena);
}

/* Values of one element: x, y, w are the inputs at i. */
#define WANT(name, expression)                                          \
    static double want_##name(const double *const in[MOST], uint32_t i) \
    {                                                                   \
        double x = in[0][i], y = in[1][i], w = in[2][i];                \
        (void)x, (void)y, (void)w;                                      \
        return (expression);                                            \
    }

static double as_float(double v) { return (double)(float)v; }
static double as_half(double v) { return (double)half_to_float(half_from_double(v)); }

WANT(add, as_float(x + y))
WANT(add_half, as_half(x + y))
WANT(sub, as_float(x - y))
WANT(mul, as_float(x *y))
WANT(div, as_float(x / y))
WANT(max2, fmax(x, y))
WANT(min, fmin(x, y))
WANT(sum_int, x + y)
WANT(exp, exp(x))
WANT(ln, log(x))
WANT(abs, fabs(x))
WANT(sqrt, sqrt(x))
WANT(rsqrt, 1 / sqrt(x))
WANT(reciprocal, 1 / x)
WANT(relu, x > 0 ? x : 0)
WANT(leaky, x > 0 ? x : as_float(x * 0.25))
WANT(adds, as_float(x + 1.5))
WANT(muls, as_float(x * 1.5))
WANT(axpy, as_float(y + 2 * x))
WANT(same, x)
WANT(sigmoid, 1 / (1 + exp(-x)))
WANT(tanh, tanh(x))
WANT(log2, log2(x))
WANT(log10, log10(x))
WANT(sin, sin(x))
WANT(cos, cos(x))
WANT(tan, tan(x))
WANT(asin, asin(x))
WANT(acos, acos(x))
WANT(atan, atan(x))
WANT(sinh, sinh(x))
WANT(cosh, cosh(x))
WANT(asinh, asinh(x))
WANT(acosh, acosh(x))
WANT(atanh, atanh(x))
WANT(erf, erf(x))
WANT(erfc, erfc(x))
WANT(sign, (x > 0) - (x < 0))
WANT(floor, floor(x))
WANT(ceil, ceil(x))
WANT(trunc, trunc(x))
WANT(rint, rint(x))
WANT(frac, x - trunc(x))
WANT(silu, x / (1 + exp(-x)))
WANT(gelu, 0.5 * x * (1 + tanh(0.7978845608 * (x + 0.044715 * x * x * x))))
WANT(power, pow(x, y))
WANT(square, x *x)
WANT(less, x < y ? 1 : 0)
WANT(select, x > 0 ? x : y)
WANT(index, i + 3.0)
WANT(block_sum, (in[0][i * 8] + in[0][i * 8 + 1]) + (in[0][i * 8 + 2] + in[0][i * 8 + 3]) +
                    ((in[0][i * 8 + 4] + in[0][i * 8 + 5]) + (in[0][i * 8 + 6] + in[0][i * 8 + 7])))
WANT(pair_sum, as_float(in[0][2 * i] + in[0][2 * i + 1]))
WANT(reversed, in[0][1023 - i])
WANT(even, in[0][2 * i])
WANT(spread, in[0][i / 8])
WANT(first, in[0][i / 64])
WANT(row, in[0][i % 64])

static double row_sum(const double *const in[MOST], uint32_t from, uint32_t n)
{
    double sum = 0;
    for (uint32_t k = 0; k < n; k++)
        sum += in[0][from + k];
    return sum;
}
static double row_max(const double *const in[MOST], uint32_t from, uint32_t n)
{
    double most = -INFINITY;
    for (uint32_t k = 0; k < n; k++)
        most = fmax(most, in[0][from + k]);
    return most;
}
static double want_repeat_sum(const double *const in[MOST], uint32_t i)
{
    return row_sum(in, i * 64, 64);
}
static double want_repeat_max(const double *const in[MOST], uint32_t i)
{
    return row_max(in, i * 64, 64);
}
static double want_sum(const double *const in[MOST], uint32_t i)
{
    return i == 0 ? row_sum(in, 0, 1000) : 0;
}
static double want_max(const double *const in[MOST], uint32_t i)
{
    return i == 0 ? row_max(in, 0, 1000) : 0;
}
static double want_whole(const double *const in[MOST], uint32_t i)
{
    return i == 0 ? row_sum(in, 0, 1024) : 0;
}
static double want_sum60(const double *const in[MOST], uint32_t i)
{
    return row_sum(in, i * 64, 60);
}
static double want_mean(const double *const in[MOST], uint32_t i)
{
    return row_sum(in, i * 64, 60) / 60;
}
static double want_arg_max(const double *const in[MOST], uint32_t i)
{
    double most = row_max(in, 0, 1000);
    for (uint32_t k = 0; k < 1000; k++)
        if (in[0][k] == most)
            return i == 0 ? most : (double)k;
    return -1;
}
static double want_softmax(const double *const in[MOST], uint32_t i)
{
    uint32_t from = i / 64 * 64;
    double most = row_max(in, from, 64), sum = 0;
    for (uint32_t k = 0; k < 64; k++)
        sum += exp(in[0][from + k] - most);
    return exp(in[0][i] - most) / sum;
}
static double want_sorted(const double *const in[MOST], uint32_t i)
{
    double v[1024];
    memcpy(v, in[0], sizeof v);
    for (uint32_t a = 0; a < 1024; a++)
        for (uint32_t b = a + 1; b < 1024; b++)
            if (v[b] > v[a]) {
                double t = v[a];
                v[a] = v[b];
                v[b] = t;
            }
    return v[i];
}

WANT(twice, 2 * x)
WANT(maxs, fmax(x, 0.5))
WANT(mul_add, as_float(x *y + w))
WANT(add_relu, fmax(0, as_float(x + y)))
WANT(and, (double)((int16_t)x &(int16_t)y))
WANT(or, (double)((int16_t)x | (int16_t)y))
WANT(xor, (double)((int16_t)x ^ (int16_t)y))
WANT(not, (double)~(int16_t)x)
WANT(shift_left, (double)((int32_t)x * 8))
WANT(shift_right, floor(x / 8))
WANT(block_max,
     fmax(fmax(fmax(in[0][i * 8], in[0][i * 8 + 1]), fmax(in[0][i * 8 + 2], in[0][i * 8 + 3])),
          fmax(fmax(in[0][i * 8 + 4], in[0][i * 8 + 5]), fmax(in[0][i * 8 + 6], in[0][i * 8 + 7]))))
WANT(transposed, in[0][i % 16 * 16 + i / 16])
WANT(first_64, i % 64 < 32 ? x : 7)
WANT(reverse, in[0][255 - i])
WANT(columns_64, in[0][i / 64 * 128 + i % 64])
WANT(by_bytes, i % 2 ? -1 : x)
WANT(blocks_back, in[0][(127 - i / 8) * 8 + i % 8])

static double want_atomic(const double *const in[MOST], uint32_t i)
{
    double sum = 0;
    for (uint32_t k = i; k < 1024; k += 8)
        sum += in[0][k];
    return sum;
}
static double product(const double *const in[MOST], uint32_t i, uint32_t k, uint32_t n)
{
    double sum = 0;
    for (uint32_t j = 0; j < k; j++)
        sum += in[0][i / n * k + j] * in[1][j * n + i % n];
    return sum;
}
static double want_cube(const double *const in[MOST], uint32_t i) { return product(in, i, 64, 48); }
static double want_matmul(const double *const in[MOST], uint32_t i)
{
    return product(in, i, 80, 64);
}
static double want_layernorm(const double *const in[MOST], uint32_t i)
{
    uint32_t from = i / 64 * 64;
    double mean = row_sum(in, from, 64) / 64, var = 0;
    for (uint32_t k = 0; k < 64; k++)
        var += (in[0][from + k] - mean) * (in[0][from + k] - mean) / 64;
    return (in[0][i] - mean) / sqrt(var + 1e-5);
}
static double want_log_softmax(const double *const in[MOST], uint32_t i)
{
    return log10(want_softmax(in, i));
}
static double want_softmax_grad(const double *const in[MOST], uint32_t i)
{
    uint32_t from = i / 64 * 64;
    double dot = 0;
    for (uint32_t k = 0; k < 64; k++)
        dot += in[0][from + k] * in[1][from + k];
    return (in[0][i] - dot) * in[1][i];
}
static double want_flash(const double *const in[MOST], uint32_t i)
{
    return exp(in[0][i] - row_max(in, i / 64 * 64, 64));
}

/* Row sums as SoftmaxFlashV2 leaves them: eight times the same. */
static double want_flash_sum(const double *const in[MOST], uint32_t i)
{
    double sum = 0;
    for (uint32_t k = 0; k < 64; k++)
        sum += want_flash(in, i / 8 * 64 + k);
    return sum;
}

WANT(swiglu, x *y / (1 + exp(-y)))
WANT(geglu, x * 0.5 * y * (1 + tanh(0.7978845608 * (y + 0.044715 * y * y * y))))
WANT(reglu, x *(y > 0 ? y : 0))
WANT(quant, rint(as_half(as_half(as_half(x) * 10) + 3)))

static double want_affine_layer(const double *const in[MOST], uint32_t i)
{
    return want_layernorm(in, i) * in[1][i % 64] + in[2][i % 64];
}
static double want_rms(const double *const in[MOST], uint32_t i)
{
    uint32_t from = i / 64 * 64;
    double square = 0;
    for (uint32_t k = 0; k < 64; k++)
        square += in[0][from + k] * in[0][from + k] / 64;
    return in[0][i] / sqrt(square + 1e-5) * in[1][i % 64];
}
static double want_top(const double *const in[MOST], uint32_t i)
{
    double v[128];
    memcpy(v, in[0] + i / 8 * 128, sizeof v);
    for (uint32_t taken = 0;; taken++) {
        uint32_t best = 0;
        for (uint32_t k = 1; k < 128; k++)
            best = v[k] > v[best] ? k : best;
        if (taken == i % 8)
            return v[best];
        v[best] = -INFINITY;
    }
}

WANT(mins, fmin(x, 0.5))
WANT(halved, as_half(x * 0.5))
WANT(bits, 4 + 63 + 3 + 2 + 1.5)
WANT(steps, 3 + 2.0 * i)
static double want_sorted_32(const double *const in[MOST], uint32_t i)
{
    uint32_t better = 0, from = i / 32 * 32;
    for (uint32_t candidate = from; candidate < from + 32; candidate++) {
        better = 0;
        for (uint32_t k = from; k < from + 32; k++)
            better += in[0][k] > in[0][candidate] ||
                      (in[0][k] == in[0][candidate] && k < candidate);
        if (better == i % 32)
            return in[0][candidate];
    }
    return NAN;
}

#define B "body.cpp"
static const Case elementwise[] = {
    {B, "Add(out, x, y, LEN)", "float", .inputs = 2, .want = want_add},
    {B, "Add(out, x, y, LEN)", "half", .inputs = 2, .want = want_add_half},
    {B, "Add(out, x, y, LEN)", "int32_t", .inputs = 2, .low = -1000, .high = 1000,
     .want = want_sum_int},
    {B, "Add(out, x, y, LEN)", "int16_t", .inputs = 2, .low = -1000, .high = 1000,
     .want = want_sum_int},
    {B, "Add(out, x, y, 64, LEN / 64, {1, 1, 1, 8, 8, 8})", "float", .inputs = 2, .want = want_add},
    {B, "out = x + y", "float", .inputs = 2, .want = want_add},
    {B, "Sub(out, x, y, LEN)", "float", .inputs = 2, .want = want_sub},
    {B, "Mul(out, x, y, LEN)", "float", .inputs = 2, .want = want_mul},
    {B, "Div(out, x, y, LEN)", "float", .inputs = 2, .low = 1, .high = 4, .want = want_div},
    {B, "Max(out, x, y, LEN)", "float", .inputs = 2, .want = want_max2},
    {B, "Min(out, x, y, LEN)", "half", .inputs = 2, .want = want_min},
    {B, "Exp(out, x, LEN)", "float", .want = want_exp, .tolerance = 1e-6},
    {B, "Ln(out, x, LEN)", "float", .low = 0.1, .high = 9, .want = want_ln, .tolerance = 1e-6},
    {B, "Abs(out, x, LEN)", "half", .want = want_abs},
    {B, "Sqrt(out, x, LEN)", "float", .low = 0.1, .high = 9, .want = want_sqrt, .tolerance = 1e-6},
    {B, "Rsqrt(out, x, LEN)", "float", .low = 0.1, .high = 9, .want = want_rsqrt,
     .tolerance = 1e-6},
    {B, "Reciprocal(out, x, LEN)", "float", .low = 0.1, .high = 9, .want = want_reciprocal,
     .tolerance = 1e-6},
    {B, "Relu(out, x, LEN)", "float", .want = want_relu},
    {B, "LeakyRelu(out, x, 0.25f, LEN)", "float", .want = want_leaky},
    {B, "Adds(out, x, 1.5f, LEN)", "float", .want = want_adds},
    {B, "Muls(out, x, 1.5f, LEN)", "float", .want = want_muls},
    {B, "Adds(out, y, 0.0f, LEN); PipeBarrier<PIPE_V>(); Axpy(out, x, 2.0f, LEN)", "float",
     .inputs = 2, .want = want_axpy},
    {B, "Duplicate(out, 0.0f, LEN); PipeBarrier<PIPE_V>(); Add(out, out, x, LEN)", "float",
     .want = want_same},
    {B, "DataCopy(out, x, LEN)", "float", .want = want_same},
    {B, "Copy(out, x, 64, LEN / 64, {1, 1, 8, 8})", "float", .want = want_same},
    {B, /* in Counter mode the mask counts the elements of a repeat, and repeats count */
     "SetMaskCount(); SetVectorMask<float, MaskMode::COUNTER>(LEN / 2); "
     "Copy<float, false>(out, x, MASK_PLACEHOLDER, 2, {1, 1, LEN / 16, LEN / 16}); "
     "SetMaskNorm(); ResetMask()",
     "float", .want = want_same},
    {B, "Cast(out, x, RoundMode::CAST_NONE, LEN)", "half", "float", .want = want_same},
    {B, "Cast(out, x, RoundMode::CAST_FLOOR, LEN)", "float", "int32_t", .want = want_floor},
    {B, "Cast(out, x, RoundMode::CAST_NONE, LEN)", "int32_t", "float", .low = -100, .high = 100,
     .want = want_same},
};

static const Case more_elementwise[] = {
    {B, "Maxs(out, x, 0.5f, LEN)", "float", .want = want_maxs},
    {B, "ClampMin(out, x, tmp, 0.5f, LEN)", "float", .want = want_maxs},
    {B, "DataCopy(out, w, LEN); PipeBarrier<PIPE_V>(); MulAddDst(out, x, y, LEN)", "float",
     .inputs = 3, .want = want_mul_add, .tolerance = 1e-6},
    {B, "DataCopy(out, x, LEN); PipeBarrier<PIPE_V>(); FusedMulAdd(out, y, w, LEN)", "float",
     .inputs = 3, .want = want_mul_add, .tolerance = 1e-6},
    {B, "AddRelu(out, x, y, LEN)", "float", .inputs = 2, .want = want_add_relu},
    {B, "And(out, x, y, LEN)", "int16_t", .inputs = 2, .low = -1000, .high = 1000,
     .want = want_and},
    {B, "Or(out, x, y, LEN)", "int16_t", .inputs = 2, .low = -1000, .high = 1000, .want = want_or},
    {B, "Xor(out, x, y, tmp, LEN)", "int16_t", .inputs = 2, .low = -1000, .high = 1000,
     .want = want_xor},
    {B, "Not(out, x, LEN)", "int16_t", .low = -1000, .high = 1000, .want = want_not},
    {B, "ShiftLeft(out, x, 3, LEN)", "int32_t", .low = -1000, .high = 1000,
     .want = want_shift_left},
    {B, "ShiftRight(out, x, 3, LEN)", "int32_t", .low = -1000, .high = 1000,
     .want = want_shift_right},
    {B,
     "uint64_t m[] = {0xffffffffull, 0}; Duplicate(out, 7.0f, LEN); PipeBarrier<PIPE_V>();"
     "Adds(out, x, 0.0f, m, LEN / 64, {1, 1, 8, 8})",
     "float", .want = want_first_64},
    {B,
     "Duplicate(out, 7.0f, LEN); PipeBarrier<PIPE_V>(); SetVectorMask<float>(0, 0xffffffffull);"
     "Adds<float, false>(out, x, 0.0f, MASK_PLACEHOLDER, LEN / 64, {1, 1, 8, 8}); ResetMask()",
     "float", .want = want_first_64},
    {B,
     "SetMaskCount(); SetVectorMask<float, MaskMode::COUNTER>(0, LEN);"
     "Muls<float, false>(out, x, 2.0f, MASK_PLACEHOLDER, 1, {1, 1, 8, 8}); SetMaskNorm(); "
     "ResetMask()",
     "float", .want = want_twice},
    {B, "Cast(out, x, RoundMode::CAST_RINT, LEN)", "half", "int8_t", .want = want_rint},
    {B,
     "LocalTensor<bfloat16_t> b = tmp.ReinterpretCast<bfloat16_t>(); Cast(b, x, "
     "RoundMode::CAST_RINT, LEN);"
     "PipeBarrier<PIPE_V>(); Cast(out, b, RoundMode::CAST_NONE, LEN)",
     "float", .want = want_same, .tolerance = 4e-3},
    {B, "printf(\"%d %f\\n\", 3, 1.5f); DumpTensor(x, 1, 8); DataCopy(out, x, LEN)", "float",
     .want = want_same},
    {"tail.cpp", NULL, "float", .n = 1003, .blocks = 5, .want = want_twice},
    {"tail.cpp", NULL, "half", .n = 777, .blocks = 3, .want = want_twice},
    {"events.cpp", NULL, "float", .want = want_exp, .tolerance = 1e-6},
    {"scalar.cpp", NULL, "float", .n = 256, .want = want_reverse},
    {"bind.cpp", NULL, "float", .n = 2048, .out_n = 1024, .want = want_columns_64},
};

static const Case several_cores[] = {
    {"atomic.cpp", NULL, "float", .out_n = 8, .blocks = 4, .want = want_atomic, .tolerance = 1e-4},
    {"workspace.cpp", NULL, "float", .out_n = 1, .blocks = 4, .workspace = 4096, .want = want_whole,
     .tolerance = 1e-4},
    {"cube.cpp", NULL, "half", "float", .n = 3072, .out_n = 1536, .inputs = 2, .want = want_cube,
     .tolerance = 1e-4},
    {"matmul.cpp", NULL, "half", "float", .n = 5120, .out_n = 3072, .inputs = 2,
     .want = want_matmul, .tolerance = 1e-4},
};

static const Case mathematics[] = {
    {B, "Sigmoid(out, x, tmp, LEN)", "float", .want = want_sigmoid, .tolerance = 1e-6},
    {B, "Sigmoid(out, x, LEN)", "half", .want = want_sigmoid, .tolerance = 1e-3},
    {B, "Tanh(out, x, tmp, LEN)", "float", .want = want_tanh, .tolerance = 1e-6},
    {B, "Log(out, x, LEN)", "float", .low = 0.1, .high = 9, .want = want_ln, .tolerance = 1e-6},
    {B, "Log2(out, x, tmp, LEN)", "float", .low = 0.1, .high = 9, .want = want_log2,
     .tolerance = 1e-6},
    {B, "Log10(out, x, tmp, LEN)", "float", .low = 0.1, .high = 9, .want = want_log10,
     .tolerance = 1e-6},
    {B, "Sin(out, x, tmp, LEN)", "float", .low = -100, .high = 100, .want = want_sin,
     .tolerance = 2e-6},
    {B, "Cos(out, x, tmp, LEN)", "float", .low = -100, .high = 100, .want = want_cos,
     .tolerance = 2e-6},
    {B, "Tan(out, x, tmp, LEN)", "float", .low = -1.5, .high = 1.5, .want = want_tan,
     .tolerance = 1e-5},
    {B, "Asin(out, x, tmp, LEN)", "float", .low = -1, .high = 1, .want = want_asin,
     .tolerance = 2e-6},
    {B, "Acos(out, x, tmp, LEN)", "float", .low = -1, .high = 1, .want = want_acos,
     .tolerance = 2e-6},
    {B, "Atan(out, x, tmp, LEN)", "float", .low = -50, .high = 50, .want = want_atan,
     .tolerance = 1e-6},
    {B, "Sinh(out, x, tmp, LEN)", "float", .want = want_sinh, .tolerance = 1e-6},
    {B, "Cosh(out, x, tmp, LEN)", "float", .want = want_cosh, .tolerance = 1e-6},
    {B, "Asinh(out, x, tmp, LEN)", "float", .want = want_asinh, .tolerance = 1e-6},
    {B, "Acosh(out, x, tmp, LEN)", "float", .low = 1, .high = 9, .want = want_acosh,
     .tolerance = 2e-6},
    {B, "Atanh(out, x, tmp, LEN)", "float", .low = -0.9, .high = 0.9, .want = want_atanh,
     .tolerance = 1e-6},
    {B, "Erf(out, x, tmp, LEN)", "float", .want = want_erf, .tolerance = 1e-6},
    {B, "Erfc(out, x, tmp, LEN)", "float", .want = want_erfc, .tolerance = 1e-6},
    {B, "Sign(out, x, tmp, LEN)", "float", .want = want_sign},
    {B, "Floor(out, x, tmp, LEN)", "float", .want = want_floor},
    {B, "Ceil(out, x, tmp, LEN)", "half", .want = want_ceil},
    {B, "Trunc(out, x, tmp, LEN)", "float", .want = want_trunc},
    {B, "Round(out, x, tmp, LEN)", "float", .want = want_rint},
    {B, "Frac(out, x, tmp, LEN)", "float", .want = want_frac, .tolerance = 1e-6},
    {B, "Silu(out, x, LEN)", "float", .want = want_silu, .tolerance = 1e-6},
    {B, "Gelu(out, x, tmp, LEN)", "float", .want = want_gelu, .tolerance = 1e-6},
    {B, "Power(out, x, y, tmp, LEN)", "float", .inputs = 2, .low = 0.1, .high = 4,
     .want = want_power, .tolerance = 3e-6},
    {B, "Power(out, x, 2.0f, tmp, LEN)", "float", .want = want_square, .tolerance = 3e-6},
};

static const Case choosing[] = {
    {B,
     "CompareScalar(tmp, x, 0.0f, CMPMODE::GT, LEN); Select(out, tmp, x, y, "
     "SELMODE::VSEL_TENSOR_TENSOR_MODE, LEN)",
     "float", .inputs = 2, .want = want_select},
    {B,
     "Compare(tmp, x, y, CMPMODE::LT, LEN); Duplicate(out, 1.0f, LEN); Select(out, tmp, out, 0.0f, "
     "SELMODE::VSEL_TENSOR_SCALAR_MODE, LEN)",
     "float", .inputs = 2, .want = want_less},
    {B, "CreateVecIndex(out, 3, LEN)", "int32_t", .want = want_index},
    {B,
     "LocalTensor<int32_t> at = tmp.ReinterpretCast<int32_t>(); ArithProgression(at, 4092, -4, "
     "LEN);"
     "Gather(out, x, at.ReinterpretCast<uint32_t>(), 0u, LEN)",
     "float", .want = want_reversed},
    {B, "uint64_t kept; GatherMask(out, x, uint8_t(1), false, 0u, {1, LEN / 64, 8, 0}, kept)",
     "float", .out_n = 512, .want = want_even},
    {B,
     "LocalTensor<float> s = tmp.ReinterpretCast<float>(), t = tmp[8192].ReinterpretCast<float>();"
     "LocalTensor<int32_t> at = tmp[16384].ReinterpretCast<int32_t>(); ArithProgression(at, 0, 1, "
     "LEN);"
     "LocalTensor<uint32_t> i = at.ReinterpretCast<uint32_t>(); Sort<float, true>(s, x, i, t, LEN "
     "/ 32); Extract(out, i, s, LEN / 32)",
     "float", .want = want_sorted},
    {B, "Transpose(out, x)", "half", .n = 256, .want = want_transposed},
    {B,
     "uint64_t to[16], from[16]; for (int i = 0; i < 16; i++) { to[i] = (uint64_t)out[i * "
     "16].GetPhyAddr();"
     "from[i] = (uint64_t)x[i * 16].GetPhyAddr(); } TransDataTo5HD<half>(to, from, "
     "TransDataTo5HDParams(false, false, 1, 0, 0))",
     "half", .n = 256, .want = want_transposed},
    {B,
     "LocalTensor<uint16_t> m = tmp.ReinterpretCast<uint16_t>(); Duplicate(m, uint16_t(0x0100), "
     "LEN / 2); LocalTensor<uint8_t> t = tmp[4096];"
     "PipeBarrier<PIPE_V>(); SelectWithBytesMask(out, x, -1.0f, m.ReinterpretCast<uint8_t>(), t, "
     "SelectWithBytesMaskShapeInfo(16, 64, 64))",
     "float", .want = want_by_bytes},
    {B,
     "LocalTensor<uint32_t> bits = tmp.ReinterpretCast<uint32_t>(); Duplicate(bits, 0x55555555u, "
     "64); uint64_t kept;"
     "PipeBarrier<PIPE_V>(); GatherMask(out, x, bits, false, 0u, {1, LEN / 64, 8, 0}, kept)",
     "float", .out_n = 512, .want = want_even},
    {B,
     "LocalTensor<int32_t> at = tmp.ReinterpretCast<int32_t>(); ArithProgression(at, 4064, -32, "
     "LEN / 8);"
     "Gatherb(out, x, at.ReinterpretCast<uint32_t>(), LEN / 64, {1, 8})",
     "float", .want = want_blocks_back},
    {B, "Brcb(out, x, LEN / 64, {1, 8})", "float", .want = want_spread},
    {B,
     "const uint32_t to[] = {16, 64}, from[] = {16, 1}; LocalTensor<uint8_t> t = tmp; "
     "BroadCast<float, 2, 1>(out, x, to, from, t)",
     "float", .want = want_first},
    {B,
     "const uint32_t to[] = {16, 64}, from[] = {1, 64}; LocalTensor<uint8_t> t = tmp; "
     "BroadCast<float, 2, 0>(out, x, to, from, t)",
     "float", .want = want_row},
};

static const Case reductions[] = {
    {B, "BlockReduceSum(out, x, LEN / 64, 64, 1, 1, 8)", "float", .out_n = 128,
     .want = want_block_sum, .tolerance = 1e-6},
    {B, "PairReduceSum(out, x, LEN / 64, 64, 1, 1, 8)", "float", .out_n = 512,
     .want = want_pair_sum},
    {B, "WholeReduceSum(out, x, 64, LEN / 64, 1, 1, 8)", "float", .out_n = 16,
     .want = want_repeat_sum, .tolerance = 1e-5},
    {B, "WholeReduceMax(out, x, 64, LEN / 64, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE)", "float",
     .out_n = 16, .want = want_repeat_max},
    {B, "BlockReduceMax(out, x, LEN / 64, 64, 1, 1, 8)", "float", .out_n = 128,
     .want = want_block_max},
    {B,
     "SetVectorMask<float>(0, ~0ull); BlockReduceSumIntrinsicsImpl("
     "(__ubuf__ float *)out.GetPhyAddr(), (__ubuf__ float *)x.GetPhyAddr(), LEN / 64, 1, 1, 8)",
     "float", .out_n = 128, .want = want_block_sum, .tolerance = 1e-6},
    {B,
     "SetVectorMask<float>(0, ~0ull); BlockReduceMaxIntrinsicsImpl("
     "(__ubuf__ float *)out.GetPhyAddr(), (__ubuf__ float *)x.GetPhyAddr(), LEN / 64, 1, 1, 8)",
     "float", .out_n = 128, .want = want_block_max},
    {B,
     "SetVectorMask<float>(0, ~0ull); PairReduceSumIntrinsicsImpl("
     "(__ubuf__ float *)out.GetPhyAddr(), (__ubuf__ float *)x.GetPhyAddr(), LEN / 64, 1, 1, 8)",
     "float", .out_n = 512, .want = want_pair_sum},
    {B,
     "Muls(x, x, -1.0f, LEN); PipeBarrier<PIPE_V>(); SetVectorMask<float>(0, ~0ull); "
     "BlockReduceMinIntrinsicsImpl((__ubuf__ float *)out.GetPhyAddr(), (__ubuf__ float "
     "*)x.GetPhyAddr(), LEN / 64, 1, 1, 8); "
     "PipeBarrier<PIPE_V>(); Muls(out, out, -1.0f, 128)",
     "float", .out_n = 128, .want = want_block_max},
    {"layernorm.cpp", NULL, "float", .want = want_layernorm, .tolerance = 1e-5},
    {B,
     "LogSoftMaxTiling t = {16, 64}; LocalTensor<float> s = tmp[16384].ReinterpretCast<float>(), m "
     "= tmp[20480].ReinterpretCast<float>();"
     "LogSoftMax(out, s, m, x, tmp, t, SoftMaxShapeInfo{16, 64, 16, 64})",
     "float", .want = want_log_softmax, .tolerance = 1e-6},
    {B,
     "SoftMaxTiling t = {16, 64}; SoftmaxGrad(out, x, y, tmp, t, false, SoftMaxShapeInfo{16, 64, "
     "16, 64})",
     "float", .inputs = 2, .want = want_softmax_grad, .tolerance = 1e-5},
    {B,
     "SoftMaxTiling t = {16, 64}; LocalTensor<float> s = tmp[16384].ReinterpretCast<float>(), m = "
     "tmp[20480].ReinterpretCast<float>(),"
     "e = tmp[24576].ReinterpretCast<float>(); SoftmaxFlashV2(out, s, m, x, e, s, m, tmp, t, "
     "SoftMaxShapeInfo{16, 64, 16, 64})",
     "float", .want = want_flash, .tolerance = 1e-6},
    {B,
     "SoftMaxTiling t = {16, 64}; LocalTensor<float> d = tmp[16384].ReinterpretCast<float>(), m = "
     "tmp[20480].ReinterpretCast<float>(), e = tmp[24576].ReinterpretCast<float>();"
     "SoftMaxShapeInfo i{16, 64, 16, 32}; SoftmaxFlashV2(d, out, m, x, e, out, m, tmp, t, i);"
     "SoftmaxFlashV2<float, true>(d, out, m, x[32], e, out, m, tmp, t, i)",
     "float", .out_n = 128, .want = want_flash_sum, .tolerance = 1e-6},
    {B, "ReduceSum(out, x, tmp.ReinterpretCast<float>(), 1000)", "float", .out_n = 1,
     .want = want_sum, .tolerance = 1e-5},
    {B, "ReduceSum(out, x, tmp.ReinterpretCast<float>(), 64, LEN / 64, 8)", "float", .out_n = 1,
     .want = want_whole, .tolerance = 1e-5},
    {B, "ReduceMax(out, x, tmp.ReinterpretCast<float>(), 1000)", "float", .out_n = 1,
     .want = want_max},
    {B,
     "LocalTensor<float> t = tmp.ReinterpretCast<float>(); ReduceMax(out, x, t, 1000, true);"
     "int32_t at = out.ReinterpretCast<int32_t>().GetValue(1); out.SetValue(1, float(at))",
     "float", .out_n = 2, .want = want_arg_max},
    {B, "Sum(out, x, tmp, SumParams{16, 64, 60})", "float", .out_n = 16, .want = want_sum60,
     .tolerance = 1e-5},
    {B, "Mean(out, x, tmp, MeanParams{16, 64, 60})", "float", .out_n = 16, .want = want_mean,
     .tolerance = 1e-5},
    {B, "SoftMaxTiling t = {16, 64}; SoftMax(out, x, tmp, t, SoftMaxShapeInfo{16, 64, 16, 64})",
     "float", .want = want_softmax, .tolerance = 1e-6},
    {B, "SoftMaxTiling t = {16, 64}; SoftMax(out, x, tmp, t, SoftMaxShapeInfo{16, 64, 16, 64})",
     "half", .want = want_softmax, .tolerance = 1e-3},
};

static const Case normalising[] = {
    {B,
     "LayerNormTiling t = {1, 16, 64, 64}; LocalTensor<float> m = "
     "tmp[16384].ReinterpretCast<float>(), v = tmp[20480].ReinterpretCast<float>();"
     "LayerNorm(out, m, v, x, y, w, tmp, 1e-5f, t)",
     "float", .inputs = 3, .want = want_affine_layer, .tolerance = 1e-5},
    {B, "RmsNormTiling t = {1, 16, 64, 64}; RmsNorm(out, x, y, tmp, 1e-5f, t)", "float",
     .inputs = 2, .want = want_rms, .tolerance = 1e-5},
    {B, "RmsNormTiling t = {1, 16, 64, 64}; RmsNorm(out, x, y, tmp, half(1e-5f), t)", "half",
     .inputs = 2, .want = want_rms, .tolerance = 1e-2},
    {B, "SwiGLU(out, x, y, 1.0f, tmp, LEN)", "float", .inputs = 2, .want = want_swiglu,
     .tolerance = 1e-6},
    {B, "GeGLU(out, x, y, tmp, LEN)", "float", .inputs = 2, .want = want_geglu, .tolerance = 1e-6},
    {B, "ReGlu(out, x, y, tmp, LEN)", "half", .inputs = 2, .want = want_reglu, .tolerance = 2e-3},
    {B, "AscendQuant(out, x, tmp, 10.0f, 3.0f, LEN)", "float", "int8_t", .want = want_quant},
    {B,
     "TopkTiling t = {}; TopKInfo k; k.outter = 8; k.inner = k.n = 128; LocalTensor<int32_t> i = "
     "tmp[30720].ReinterpretCast<int32_t>();"
     "LocalTensor<bool> f; TopK<float>(out, i, x, i, f, tmp, 8, t, k)",
     "float", .out_n = 64, .want = want_top},
};

WANT(saturated, fmin(65504, fmax(-65504, x + y)))
/* Halves in runs of 16, each sorted downwards. */
static double want_sorted_16(const double *const in[MOST], uint32_t i)
{
    for (uint32_t from = i / 16 * 16, candidate = from; candidate < from + 16; candidate++) {
        uint32_t better = 0;
        for (uint32_t k = from; k < from + 16; k++)
            better += in[0][k] > in[0][candidate] ||
                      (in[0][k] == in[0][candidate] && k < candidate);
        if (better == i % 16)
            return in[0][candidate];
    }
    return NAN;
}

WANT(sub_relu, fmax(0, as_float(x - y)))
WANT(faster_gelu, x / (1 + exp(-1.702 * x)))
static double want_faster_gelu_2(const double *const in[MOST], uint32_t i)
{
    double x = in[0][i], from_top = fmin(fabs(0.7071 * x), 1.769) - 1.769;
    return x * ((x >= 0 ? 1 : -1) * (0.5 - 0.1444 * from_top * from_top) + 0.5);
}

/* Calls that `tools/api_cover` would miss otherwise. */
static const Case seldom[] = {
    {B, "Mins(out, x, 0.5f, LEN)", "float", .want = want_mins},
    {B, "SubRelu(out, x, y, LEN)", "float", .inputs = 2, .want = want_sub_relu},
    {B, "FasterGelu<TYPE, true, false>(out, x, tmp, LEN)", "float", .want = want_faster_gelu,
     .tolerance = 1e-6},
    {B, "FasterGeluV2(out, x, tmp, LEN)", "float", .want = want_faster_gelu_2, .tolerance = 1e-6},
    {B, "ClampMax(out, x, tmp, 0.5f, LEN)", "float", .want = want_mins},
    {B, "Swish(out, x, LEN, 1.0f)", "float", .want = want_silu, .tolerance = 1e-6},
    {B, "SetDeqScale(half(0.5f)); Cast(out, x, RoundMode::CAST_NONE, LEN)", "int32_t", "half",
     .low = -100, .high = 100, .want = want_halved},
    {B,
     "Duplicate(out, float(ScalarGetCountOfValue<1>(0xF0)) + float(ScalarCountLeadingZero(1)) + "
     "float(ScalarGetSFFValue<1>(8)) + float(ScalarCast<float, int32_t, "
     "RoundMode::CAST_RINT>(2.5f)) "
     "+ ToFloat(ToBfloat16(1.5f)), LEN)",
     "float", .want = want_bits},
    {B, "Arange(out, 3.0f, 2.0f, LEN)", "float", .want = want_steps},
    {B,
     "LocalTensor<int32_t> at = tmp.ReinterpretCast<int32_t>(); ArithProgression(at, 0, 1, LEN);"
     "LocalTensor<float> s = tmp[8192].ReinterpretCast<float>(); PipeBarrier<PIPE_V>();"
     "Sort32(s, x, at.ReinterpretCast<uint32_t>(), LEN / 32); PipeBarrier<PIPE_V>(); uint64_t kept;"
     "GatherMask(out, s, uint8_t(1), false, 0u, {1, LEN / 32, 8, 0}, kept)",
     "float", .want = want_sorted_32},
    {B,
     "LocalTensor<float> t = tmp.ReinterpretCast<float>(); ReduceSum(t, x, t, LEN);"
     "Duplicate(out, GetAccVal<float>(), 8)",
     "float", .out_n = 1, .want = want_whole, .tolerance = 1e-5},
    {B, "ReduceRepeat<ReduceType::SUM>(out, x, 64, LEN / 64, 1, 1, 8)", "float", .out_n = 16,
     .want = want_repeat_sum, .tolerance = 1e-5},
    {B, "ReduceDataBlock<ReduceType::MAX>(out, x, 64, LEN / 64, 1, 1, 8)", "float", .out_n = 128,
     .want = want_block_max},
    {B, "ReducePairElem<ReduceType::SUM>(out, x, 64, LEN / 64, 1, 1, 8)", "float", .out_n = 512,
     .want = want_pair_sum},
    {B, "RepeatReduceSum(out, x, LEN / 64, 64, 0, 1, 1, 8)", "float", .out_n = 16,
     .want = want_repeat_sum, .tolerance = 1e-5},
    {B, "SetSaturationFlag<SaturationMode::FLOAT>(true); Add(out, x, y, LEN)", "half", .inputs = 2,
     .low = -60000, .high = 60000, .want = want_saturated, .tolerance = 1e-3},
    {B,
     "LocalTensor<half> p = tmp.ReinterpretCast<half>(); ProposalConcat(p, x, LEN / 16, 4);"
     "PipeBarrier<PIPE_V>(); RpSort16(p, p, LEN / 16); PipeBarrier<PIPE_V>();"
     "ProposalExtract(out, p, LEN / 16, 4)",
     "half", .want = want_sorted_16},
};
#undef B

/* What must not compile, and what the message must say. */
static const struct {
    const char *body, *type, *says;
} refused[] = {
    {"Add(out, x, x, LEN)", "int8_t", "acraft: Add does not exist for int8_t on Atlas A2"},
    {"Add(out, x, x, LEN)", "bfloat16_t", "acraft: Add does not exist for bfloat16_t on Atlas A2"},
    {"Exp(out, x, LEN)", "int32_t", "acraft: Exp does not exist for int32_t on Atlas A2"},
    {"LocalTensor<half> h; Cast(out.ReinterpretCast<bfloat16_t>(), h, RoundMode::CAST_NONE, LEN)",
     "float", "acraft: Cast does not exist between these dtypes on Atlas A2"},
    {"Scatter(out, x, x, 0u, LEN)", "float", "acraft: Scatter does not exist on Atlas A2"},
    {"Neg(out, x, LEN)", "float", "acraft: Neg does not exist on Atlas A2"},
    {"Rint(out, x, LEN)", "float", "acraft: Rint does not exist on Atlas A2"},
    {"LoadImageToLocal(out, x, x, LEN)", "float", "acraft-unsupported: LoadImageToLocal"},
    {"GlobalTensor<float> g; Add(out, x, g, LEN)", "float",
     "no matching function for call to 'Add'"},
    {"FancyAdd(out, x, x, LEN)", "float", "FancyAdd"},
};

T_TEST(kernels_refused)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        Case c = {.file = "body.cpp", .body = refused[i].body, .type = refused[i].type};
        Prepared p = prepare(&c);
        Trial t = {.text = p.text.at, .defines = p.defines, .include_dirs = p.include_dirs};
        trial_run(&t);
        CHECK_MSG(!t.compiled, "%s [%s] compiled", c.body, c.type);
        CHECK_MSG(str_find(buf_view(&t.messages), str_from(refused[i].says)) >= 0 ||
                      strstr(t.verdict.reason, refused[i].says),
                  "%s [%s]: %s", c.body, c.type, t.verdict.reason);
        trial_drop(&t);
        arena_drop(&p.arena);
    }
}

static void run_cases(const Case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        run_case(&cases[i]);
}
#define RUN(cases) run_cases(cases, sizeof cases / sizeof *cases)

T_TEST(kernels_elementwise) { RUN(elementwise); }
T_TEST(kernels_more_elementwise) { RUN(more_elementwise); }
T_TEST(kernels_several_cores) { RUN(several_cores); }
T_TEST(kernels_normalising) { RUN(normalising); }
T_TEST(kernels_mathematics) { RUN(mathematics); }
T_TEST(kernels_choosing) { RUN(choosing); }
T_TEST(kernels_reductions) { RUN(reductions); }
T_TEST(kernels_seldom_seen) { RUN(seldom); }
