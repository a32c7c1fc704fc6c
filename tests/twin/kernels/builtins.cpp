/* The device compiler's own functions over plain pointers, as some kernels mix them in. 128 floats (two
 * repeats) of x and y, 128 halves of h, 16 x 16 halves to transpose; out: one row of 128 per line of the
 * test's table; halves in a tensor of their own. */
#include "kernel_operator.h"

using namespace AscendC;

constexpr int32_t COUNT = 128;

class KernelBuiltins {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR h, GM_ADDR z, GM_ADDR t, GM_ADDR w, GM_ADDR n)
    {
        pipe.InitBuffer(buf, 64 * 1024);
        base = buf.Get<uint8_t>().GetPhyAddr();
        this->x = At<float>(0);
        this->y = At<float>(512);
        this->h = At<half>(1024);
        out = At<float>(4096);
        copy_gm_to_ubuf(this->x, (__gm__ float *)x, 0, 1, 16, 0, 0);
        copy_gm_to_ubuf_align_b32(this->y, (__gm__ float *)y, 0, 1, COUNT * sizeof(float), 0, 0, 0, 0);
        copy_gm_to_ubuf_align_b16(this->h, (__gm__ half *)h, 0, 1, 256 * sizeof(half), 0, 0, 0, 0);
        gm = (__gm__ float *)z;
        halves = (__gm__ half *)t;
        words = (__gm__ float *)w;
        numbers = (__gm__ int32_t *)n;
    }
    __aicore__ inline void Process()
    {
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        set_mask_norm();
        set_vector_mask(0, ~0ull);
        Arithmetic();
        Integers();
        Conversions();
        Reductions();
        Halves();
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        copy_ubuf_to_gm(gm, out, 0, 1, 16, 0, 0);
        copy_ubuf_to_gm_align_b32(gm + COUNT, out + COUNT, 0, 1, (rows - 1) * COUNT * sizeof(float), 0, 0, 0, 0);
    }

private:
    template <typename T> __aicore__ inline __ubuf__ T *At(uint32_t byte) { return (__ubuf__ T *)(base + byte); }
    __aicore__ inline __ubuf__ float *Row()
    {
        pipe_barrier(PIPE_V);
        return out + COUNT * rows++;
    }
    __aicore__ inline void Arithmetic()
    {
        vadd(Row(), x, y, 2, 1, 1, 1, 8, 8, 8);
        vsub(Row(), x, y, 2, 1, 1, 1, 8, 8, 8);
        vmul(Row(), x, y, 2, 1, 1, 1, 8, 8, 8);
        vdiv(Row(), x, y, 2, 1, 1, 1, 8, 8, 8);
        vmax(Row(), x, y, 2, 1, 1, 1, 8, 8, 8);
        vmin(Row(), x, y, 2, 1, 1, 1, 8, 8, 8);
        __ubuf__ float *d = Row();
        vector_dup(d, 3.0f, 2, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
        vmadd(d, x, y, 2, 1, 1, 1, 8, 8, 8);
        d = Row();
        vector_dup(d, 3.0f, 2, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
        vmla(d, x, y, 2, 1, 1, 1, 8, 8, 8);
        d = Row();
        vector_dup(d, 3.0f, 2, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
        vaxpy(d, x, 0.5f, 2, 1, 1, 8, 8);
        vabs(Row(), x, 2, 1, 1, 8, 8);
        vexp(Row(), x, 2, 1, 1, 8, 8);
        vln(Row(), y, 2, 1, 1, 8, 8);
        vrec(Row(), y, 2, 1, 1, 8, 8);
        vsqrt(Row(), y, 2, 1, 1, 8, 8);
        vrsqrt(Row(), y, 2, 1, 1, 8, 8);
        vrelu(Row(), x, 2, 1, 1, 8, 8);
        vadds(Row(), x, 1.5f, 2, 1, 1, 8, 8);
        vmuls(Row(), x, 1.5f, 2, 1, 1, 8, 8);
        vmaxs(Row(), x, 0.5f, 2, 1, 1, 8, 8);
        vmins(Row(), x, 0.5f, 2, 1, 1, 8, 8);
        vlrelu(Row(), x, 0.25f, 2, 1, 1, 8, 8);
        DuplicateImpl(Row(), 7.0f, COUNT);
        copy_ubuf_to_ubuf(Row(), x, 0, 1, 16, 0, 0);
        /* a count instead of lanes, and lanes with holes */
        d = Row();
        vector_dup(d, 0.0f, 2, 1, 1, 8, 8);
        set_mask_count();
        set_vector_mask(0, 100);
        pipe_barrier(PIPE_V);
        vadds(d, x, 0.0f, 1, 1, 1, 8, 8);
        set_mask_norm();
        set_vector_mask(0, 0x5555555555555555ull);
        pipe_barrier(PIPE_V);
        vmuls(d, x, 2.0f, 1, 1, 1, 8, 8);
        set_vector_mask(0, ~0ull);
    }
    __aicore__ inline void Integers()
    {
        set_vector_mask(~0ull, ~0ull);
        __ubuf__ int16_t *a = (__ubuf__ int16_t *)x, *b = (__ubuf__ int16_t *)y;
        vand((__ubuf__ int16_t *)Row(), a, b, 2, 1, 1, 1, 8, 8, 8);
        vor((__ubuf__ int16_t *)Row(), a, b, 2, 1, 1, 1, 8, 8, 8);
        vnot((__ubuf__ int16_t *)Row(), a, 2, 1, 1, 8, 8);
        set_vector_mask(0, ~0ull);
    }
    __aicore__ inline void Conversions()
    {
        __ubuf__ half *narrow = At<half>(2048);
        __ubuf__ bfloat16_t *brain = At<bfloat16_t>(2560);
        __ubuf__ int32_t *whole = At<int32_t>(3072);
        vconv_f162f32(Row(), h, 2, 1, 1, 8, 4);
        vconv_f322f16(narrow, x, 2, 1, 1, 4, 8);
        pipe_barrier(PIPE_V);
        vconv_f162f32(Row(), narrow, 2, 1, 1, 8, 4);
        vconv_f322f16r(narrow, x, 2, 1, 1, 4, 8);
        pipe_barrier(PIPE_V);
        vconv_f162f32(Row(), narrow, 2, 1, 1, 8, 4);
        vconv_f322bf16r(brain, x, 2, 1, 1, 4, 8);
        pipe_barrier(PIPE_V);
        vconv_bf162f32(Row(), brain, 2, 1, 1, 8, 4);
        vconv_f322s32r(whole, x, 2, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
        vconv_s322f32(Row(), whole, 2, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
        vconv_f322s32f(whole, x, 2, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
        vconv_s322f32(Row(), whole, 2, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
        vconv_f322s32c(whole, x, 2, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
        vconv_s322f32(Row(), whole, 2, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
        vconv_f322s32z(whole, x, 2, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
        vconv_s322f32(Row(), whole, 2, 1, 1, 8, 8);
    }
    /* One row: two sums, two maxima, two minima, 16 of each block's sum, maximum, minimum, 64 pairs. */
    __aicore__ inline void Reductions()
    {
        __ubuf__ float *d = Row();
        DuplicateImpl(d, 0.0f, COUNT);
        pipe_barrier(PIPE_V);
        vcadd(d, x, 2, 1, 1, 8, 0);
        vcmax(d + 8, x, 2, 1, 1, 8, ONLY_VALUE);
        vcmin(d + 16, x, 2, 1, 1, 8, ONLY_VALUE);
        vcgadd(d + 24, x, 2, 1, 1, 8);
        vcgmax(d + 40, x, 2, 1, 1, 8);
        vcgmin(d + 56, x, 2, 1, 1, 8);
        vcadd(nullptr, x, 2, 1, 1, 8, 1);
        pipe_barrier(PIPE_ALL);
        int64_t bits = get_acc_val();
        DuplicateImpl(d + 72, *(float *)&bits, 8);
        d = Row();
        DuplicateImpl(d, 0.0f, COUNT);
        pipe_barrier(PIPE_V);
        vcpadd(d, x, 2, 1, 1, 8);
    }
    __aicore__ inline void Halves()
    {
        __ubuf__ half *t = At<half>(40960), *u = At<half>(41472);
        set_vector_mask(~0ull, ~0ull);
        vtranspose(t, h);
        uint64_t to[16], from[16];
        for (int32_t i = 0; i < 16; i++) {
            to[i] = (uint64_t)(u + 16 * i);
            from[i] = (uint64_t)(h + 16 * i);
        }
        set_va_reg_sb(VA0, to);
        set_va_reg_sb(VA1, to + 8);
        set_va_reg_sb(VA2, from);
        set_va_reg_sb(VA3, from + 8);
        scatter_vnchwconv_b16(VA0, VA2, 1, 0, 0);
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
        DataCopyUB2GMImpl(halves, t, DataCopyParams(1, 16, 0, 0));
        copy_ubuf_to_gm_align_b16(halves + 256, u, 0, 1, 512, 0, 0, 0, 0);
        copy_ubuf_to_gm_align_b8((__gm__ uint8_t *)(halves + 512), (__ubuf__ uint8_t *)h, 0, 1, 10, 0, 0, 0, 0);
        /* and back, with a value set for what pads it */
        set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID2);
        wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID2);
        DataCopyGM2UBImpl(u, halves, DataCopyParams(1, 1, 0, 0));
        set_mov_pad_val(half(9.0f));
        copy_gm_to_ubuf_align_b8((__ubuf__ uint8_t *)(u + 16), (__gm__ uint8_t *)(halves + 256), 0, 1, 32, 0, 0, 0, 0);
        set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID2);
        wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID2);
        copy_ubuf_to_gm(halves + 528, u, 0, 1, 2, 0, 0);
        Atomics(u);
        set_deqscale(half(1.0f));
    }

    /* Once as it is, then added to itself, or brought between y and 1; 32-bit words 16 x 8 turned. */
    __aicore__ inline void Atomics(__ubuf__ half *u)
    {
        pipe_barrier(PIPE_MTE3);
        copy_ubuf_to_gm(halves + 560, u, 0, 1, 1, 0, 0);
        copy_ubuf_to_gm(words, x, 0, 1, 1, 0, 0);
        copy_ubuf_to_gm(words + 8, x, 0, 1, 1, 0, 0);
        copy_ubuf_to_gm(numbers, At<int32_t>(3072), 0, 1, 1, 0, 0);
        DuplicateImpl(At<float>(48 * 1024), 1.0f, 8);
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID3);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID3);
        pipe_barrier(PIPE_MTE3);
        set_atomic_f16();
        copy_ubuf_to_gm(halves + 560, u, 0, 1, 1, 0, 0);
        set_atomic_f32();
        copy_ubuf_to_gm(words, x, 0, 1, 1, 0, 0);
        set_atomic_max();
        copy_ubuf_to_gm(words + 8, y, 0, 1, 1, 0, 0);
        set_atomic_min();
        copy_ubuf_to_gm(words + 8, At<float>(48 * 1024), 0, 1, 1, 0, 0);
        set_atomic_add();
        set_atomic_bf16();
        set_atomic_s16();
        set_atomic_s8();
        set_atomic_s32();
        copy_ubuf_to_gm(numbers, At<int32_t>(3072), 0, 1, 1, 0, 0);
        set_atomic_none();
        __ubuf__ float *w = At<float>(45056);
        uint64_t to[16], from[16];
        for (int32_t i = 0; i < 16; i++) {
            to[i] = (uint64_t)(w + i / 2 * 16 + i % 2 * 8);
            from[i] = (uint64_t)(x + 8 * i);
        }
        set_va_reg_sb(VA4, to);
        set_va_reg_sb(VA5, to + 8);
        set_va_reg_sb(VA6, from);
        set_va_reg_sb(VA7, from + 8);
        scatter_vnchwconv_b32(VA4, VA6, 1, 0, 0);
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID3);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID3);
        copy_ubuf_to_gm(words + 16, w, 0, 1, 16, 0, 0);
    }

    TPipe pipe;
    TBuf<> buf;
    uint64_t base;
    __ubuf__ float *x, *y, *out;
    __ubuf__ half *h;
    __gm__ float *gm, *words;
    __gm__ int32_t *numbers;
    __gm__ half *halves;
    int32_t rows = 0;
};

extern "C" __global__ __aicore__ void kernel(GM_ADDR x, GM_ADDR y, GM_ADDR h, GM_ADDR z, GM_ADDR t, GM_ADDR w, GM_ADDR n)
{
    KernelBuiltins op;
    op.Init(x, y, h, z, t, w, n);
    op.Process();
}
