/* The matrix unit: Mmad, and Fixpipe out of L0C.
 *
 *     A (m x k) in L0A as Zz, B (k x n) in L0B as Zn, C (m x n) in L0C as Nz; a fractal is 512
 *     bytes in L0A and L0B, 16 x 16 accumulators (1024 bytes) in L0C.
 *
 * Floats: the products of one fractal depth are summed exactly enough in double, then added to the
 * accumulator with one rounding; the vendor documents no order. */
#include "base/dtype.h"
#include "sim/math.h"
#include "sim/sim_int.h"

enum { FRACTAL = 512, BLOCK = 32, DEEP = 64, MOST = 4096 };

typedef struct Product {
    SimMemory *a, *b, *c, *bias;
    uint64_t a_at, b_at, c_at, bias_at;
    uint32_t m, n, k, k0, k1, m1, n1, bits; /* bits of an element of A and B */
    bool integer, zero, with_bias, hf32, ties_to_zero;
    uint8_t dtype;
} Product;

static uint64_t a_byte(const Product *p, uint32_t m, uint32_t k)
{
    if (p->m == 1) /* a row vector lies dense (GEMV) */
        return p->a_at + (uint64_t)k * p->bits / 8;
    return p->a_at + ((uint64_t)(m / 16) * p->k1 + k / p->k0) * FRACTAL + m % 16 * BLOCK +
           k % p->k0 * p->bits / 8;
}

static uint64_t b_byte(const Product *p, uint32_t k, uint32_t n)
{
    return p->b_at + ((uint64_t)(k / p->k0) * p->n1 + n / 16) * FRACTAL + n % 16 * BLOCK +
           k % p->k0 * p->bits / 8;
}

static uint64_t c_byte(const Product *p, uint32_t m, uint32_t n)
{
    return p->c_at + (((uint64_t)(n / 16) * p->m1 + m / 16) * 256 + m % 16 * 16 + n % 16) * 4;
}

static uint64_t bytes_of(const Product *p, uint64_t count) { return (count * p->bits + 7) / 8; }

/* Element k of a row or column whose byte is given. */
static double load(const Product *p, const uint8_t *at, uint32_t k)
{
    uint32_t bits = 0;
    memcpy(&bits, at, p->bits < 8 ? 1 : p->bits / 8);
    switch (p->dtype) {
    case NPU_DT_I4: return ((int32_t)(bits >> k % 2 * 4 & 15) ^ 8) - 8;
    case NPU_DT_F16: return (double)half_to_float((uint16_t)bits);
    case NPU_DT_BF16: return (double)bf16_to_float((uint16_t)bits);
    case NPU_DT_I8: return (int8_t)bits;
    default:
        return (double)(p->hf32 ? hf32_round(math_float(bits), p->ties_to_zero) : math_float(bits));
    }
}

static bool product_dtypes(Step *s, Product *p)
{
    const uint8_t *t = s->r->dtype;
    p->dtype = t[1];
    p->integer = t[1] == NPU_DT_I8 || t[1] == NPU_DT_I4;
    bool floats = t[1] == NPU_DT_F16 || t[1] == NPU_DT_BF16 || t[1] == NPU_DT_F32;
    if (t[1] == t[2] && ((p->integer && t[0] == NPU_DT_I32) || (floats && t[0] == NPU_DT_F32))) {
        p->bits = npu_dtype_bits(t[1]);
        return true;
    }
    sim_report(s, SIM_FAULT_BAD_DTYPE, "no product of %s and %s into %s", npu_dtype_text(t[1]),
               npu_dtype_text(t[2]), npu_dtype_text(t[0]));
    return false;
}

static bool product_memories(Step *s, Product *p)
{
    const Record *r = s->r;
    p->c = sim_local(s, 0, 1u << NPU_L0C);
    p->a = p->c ? sim_local(s, 1, 1u << NPU_L0A) : NULL;
    p->b = p->a ? sim_local(s, 2, 1u << NPU_L0B) : NULL;
    if (!p->b || !sim_aligned(s, 0, 1024) || !sim_aligned(s, 1, FRACTAL) ||
        !sim_aligned(s, 2, FRACTAL))
        return false;
    p->c_at = rec_byte(r->operand[0].address);
    p->a_at = rec_byte(r->operand[1].address);
    p->b_at = rec_byte(r->operand[2].address);
    if (!p->with_bias)
        return true;
    p->bias = sim_local(s, 3, 1u << NPU_BT);
    p->bias_at = rec_byte(r->operand[3].address);
    return p->bias && sim_aligned(s, 3, 64) &&
           sim_local_range(s, 3, p->bias, p->bias_at, 4ull * p->n, false);
}

static bool product_open(Step *s, Product *p)
{
    const Record *r = s->r;
    *p = (Product){.m = r->n[0],
                   .n = r->n[1],
                   .k = r->n[2],
                   .zero = r->mode & 1,
                   .with_bias = r->mode & 2,
                   .hf32 = s->core->hf32,
                   .ties_to_zero = s->core->hf32_to_zero};
    if (p->m >= MOST || p->n >= MOST || p->k >= MOST) {
        sim_report(s, SIM_FAULT_BAD_PARAMETER, "m %u, n %u, k %u; each is at most 4095", p->m, p->n,
                   p->k);
        return false;
    }
    if (!product_dtypes(s, p) || !product_memories(s, p))
        return false;
    p->k0 = BLOCK * 8 / p->bits;
    p->k1 = (p->k + p->k0 - 1) / p->k0;
    if (r->mode & 4 && p->bits == 32)
        p->k1 = (p->k + 15) / 16 * 2;
    p->m1 = (p->m + 15) / 16;
    p->n1 = (p->n + 15) / 16;
    if (!p->m || !p->n || !p->k)
        return true;
    uint64_t a_bytes = p->m == 1 ? bytes_of(p, p->k) : (uint64_t)p->m1 * p->k1 * FRACTAL;
    return sim_local_range(s, 0, p->c, p->c_at, 1024ull * p->m1 * p->n1, true) &&
           sim_local_range(s, 1, p->a, p->a_at, a_bytes, false) &&
           sim_local_range(s, 2, p->b, p->b_at, (uint64_t)p->k1 * p->n1 * FRACTAL, false);
}

/* --- values: 16 rows of C at a time over the depth of one fractal --- */

static void start_row(const Product *p, uint32_t m, double *row)
{
    for (uint32_t n = 0; n < p->n; n++) {
        float f = 0;
        int32_t i = 0;
        const uint8_t *at = p->with_bias ? p->bias->at + p->bias_at + 4ull * n
                                         : p->c->at + c_byte(p, m, n);
        if (!p->zero || p->with_bias) {
            memcpy(&f, at, 4);
            memcpy(&i, at, 4);
        }
        row[n] = p->integer ? (double)i : (double)f;
    }
}

static void end_row(const Product *p, uint32_t m, const double *row)
{
    for (uint32_t n = 0; n < p->n; n++) {
        float f = (float)row[n];
        int32_t i = p->integer ? (int32_t)(int64_t)row[n] : 0;
        memcpy(p->c->at + c_byte(p, m, n), p->integer ? (void *)&i : (void *)&f, 4);
    }
}

static void add_depth(const Product *p, uint32_t m, const double *b, uint32_t k, uint32_t depth,
                      double *row)
{
    double sum[MOST];
    memset(sum, 0, p->n * sizeof *sum);
    for (uint32_t d = 0; d < depth; d++) {
        double a = load(p, p->a->at + a_byte(p, m, k + d), k + d);
        math_add_scaled(sum, b + (size_t)d * p->n, a, p->n);
    }
    for (uint32_t n = 0; n < p->n; n++)
        row[n] = p->integer ? row[n] + sum[n] : (double)(float)(row[n] + sum[n]);
}

static void multiply(const Product *p)
{
    double *c = heap_alloc((size_t)p->m * p->n * sizeof *c);
    double *b = heap_alloc((size_t)DEEP * p->n * sizeof *b);
    for (uint32_t m = 0; m < p->m; m++)
        start_row(p, m, c + (size_t)m * p->n);
    for (uint32_t k = 0; k < p->k; k += p->k0) {
        uint32_t depth = p->k - k < p->k0 ? p->k - k : p->k0;
        for (uint32_t d = 0; d < depth; d++)
            for (uint32_t n = 0; n < p->n; n++)
                b[(size_t)d * p->n + n] = load(p, p->b->at + b_byte(p, k + d, n), k + d);
        for (uint32_t m = 0; m < p->m; m++)
            add_depth(p, m, b, k, depth, c + (size_t)m * p->n);
    }
    for (uint32_t m = 0; m < p->m; m++)
        end_row(p, m, c + (size_t)m * p->n);
    heap_free(b);
    heap_free(c);
}

/* --- definedness: a row of A or a column of B that is not known spoils a row or column of C --- */

static bool row_known(const Product *p, uint32_t m)
{
    for (uint32_t k = 0; k < p->k; k += p->k0) {
        uint32_t n = p->k - k < p->k0 ? p->k - k : p->k0;
        if (!memory_known(p->a, a_byte(p, m, k), bytes_of(p, n)))
            return false;
    }
    return true;
}

static bool column_known(const Product *p, uint32_t n)
{
    for (uint32_t k = 0; k < p->k; k += p->k0) {
        uint32_t count = p->k - k < p->k0 ? p->k - k : p->k0;
        if (!memory_known(p->b, b_byte(p, k, n), bytes_of(p, count)))
            return false;
    }
    return !p->with_bias || memory_known(p->bias, p->bias_at + 4ull * n, 4);
}

static void spread_known(const Product *p)
{
    bool column[MOST];
    for (uint32_t n = 0; n < p->n; n++)
        column[n] = column_known(p, n);
    for (uint32_t m = 0; m < p->m; m++) {
        bool row = row_known(p, m);
        for (uint32_t n = 0; n < p->n; n++) {
            uint64_t at = c_byte(p, m, n);
            bool before = p->zero || p->with_bias || memory_known(p->c, at, 4);
            memory_set_known(p->c, at, 4, row && column[n] && before);
        }
    }
}

bool exec_mmad(Step *s)
{
    Product p;
    if (!product_open(s, &p))
        return false;
    if (!p.m || !p.n || !p.k)
        return true;
    multiply(&p);
    spread_known(&p);
    sim_count(s, (uint64_t)p.m1 * p.n1 * p.k1, bytes_of(&p, ((uint64_t)p.m + p.n) * p.k),
              4ull * p.m * p.n);
    return true;
}

/* --- Fixpipe --- */

typedef struct Outlet {
    SimMemory *c, *l1, *fb;
    uint64_t c_at, fb_at;
    uint32_t n, m, matrices, size;
    uint64_t source_stride, target_stride, source_matrix, target_matrix;
    uint64_t quant, scale;
    bool rows, relu, split;
    uint8_t from, to;
} Outlet;

static bool outlet_dtypes(Step *s, Outlet *o)
{
    static const struct {
        uint8_t from, to;
    } pair[REC_QUANT_COUNT] = {
        [REC_QUANT_F32_F16] = {NPU_DT_F32, NPU_DT_F16},
        [REC_QUANT_F32_BF16] = {NPU_DT_F32, NPU_DT_BF16},
        [REC_QUANT_DEQ_F16] = {NPU_DT_I32, NPU_DT_F16},
        [REC_QUANT_VDEQ_F16] = {NPU_DT_I32, NPU_DT_F16},
        [REC_QUANT_QF32_B8] = {NPU_DT_F32, NPU_DT_I8},
        [REC_QUANT_VQF32_B8] = {NPU_DT_F32, NPU_DT_I8},
        [REC_QUANT_REQ8] = {NPU_DT_I32, NPU_DT_I8},
        [REC_QUANT_VREQ8] = {NPU_DT_I32, NPU_DT_I8},
    };
    o->from = s->r->dtype[1], o->to = s->r->dtype[0];
    bool fits = o->quant < REC_QUANT_COUNT;
    if (fits && o->quant == REC_QUANT_NONE)
        fits = o->from == o->to && (o->from == NPU_DT_F32 || o->from == NPU_DT_I32);
    else if (fits)
        fits = o->from == pair[o->quant].from &&
               (o->to == pair[o->quant].to ||
                (o->to == NPU_DT_U8 && pair[o->quant].to == NPU_DT_I8));
    if (!fits)
        sim_report(s, SIM_FAULT_BAD_DTYPE, "no way from %s to %s with quantisation mode %llu",
                   npu_dtype_text(o->from), npu_dtype_text(o->to), (unsigned long long)o->quant);
    o->size = npu_dtype_bits(o->to) / 8;
    return fits;
}

static bool is_vector_quant(uint64_t quant)
{
    return quant == REC_QUANT_VDEQ_F16 || quant == REC_QUANT_VQF32_B8 || quant == REC_QUANT_VREQ8;
}

static bool outlet_open(Step *s, Outlet *o)
{
    const Record *r = s->r;
    *o = (Outlet){.n = r->n[0],
                  .m = r->n[1],
                  .source_stride = r->n[2] * 64ull,
                  .target_stride = r->n[3],
                  .matrices = r->n[4] & 0xFFFF,
                  .source_matrix = (uint64_t)(r->n[4] >> 16) * 1024,
                  .target_matrix = r->n[5],
                  .quant = r->mask[0],
                  .scale = r->scalar,
                  .rows = r->mode & 1,
                  .relu = r->mode & 2,
                  .split = r->mode & 4};
    if (o->n > 4095 || o->m > (o->rows ? 8192u : 65535u) ||
        (uint64_t)o->m * o->n * o->matrices > 1u << 24) {
        sim_report(s, SIM_FAULT_BAD_PARAMETER, "%u matrices of m %u, n %u", o->matrices, o->m,
                   o->n);
        return false;
    }
    if (!outlet_dtypes(s, o))
        return false;
    o->c = sim_local(s, 1, 1u << NPU_L0C);
    o->c_at = rec_byte(r->operand[1].address);
    if (!o->c || !sim_aligned(s, 1, 64))
        return false;
    if (is_vector_quant(o->quant)) {
        o->fb = sim_local(s, 2, 1u << NPU_FB);
        o->fb_at = rec_byte(r->operand[2].address);
        if (!o->fb || !sim_local_range(s, 2, o->fb, o->fb_at, 8ull * o->n, false))
            return false;
    }
    if (r->op == NPU_FIXPIPE_L1) {
        o->l1 = sim_local(s, 0, 1u << NPU_L1);
        return o->l1 && sim_aligned(s, 0, BLOCK);
    }
    return true;
}

/* Scale and offset of a packed quantisation word; the factor has 10 fraction bits. */
static double quantised(const Outlet *o, double v, uint64_t word, bool eight_bits)
{
    if (word >> 36 & 1) {
        int64_t moved = (int64_t)v >> ((word >> 32 & 15) + 1);
        v = moved < -32768 ? -32768 : moved > 32767 ? 32767 : (double)moved;
    }
    double factor = (double)math_float((uint32_t)word & ~0x1FFFu);
    int32_t offset = (int32_t)(word >> 37 & 0x1FF);
    offset = offset >= 256 ? offset - 512 : offset;
    v = (double)(float)(v * factor);
    if (o->relu && v < 0)
        v = 0;
    return eight_bits ? v + offset : v;
}

static int64_t to_byte(double v, bool is_signed)
{
    double low = is_signed ? -128 : 0, high = is_signed ? 127 : 255;
    if (v != v)
        return 0;
    return v <= low ? (int64_t)low : v >= high ? (int64_t)high : (int64_t)__builtin_rint(v);
}

/* One element as the bytes it leaves as. */
static uint32_t outlet_bits(const Outlet *o, uint32_t raw, uint32_t column)
{
    float f = math_float(raw);
    double v = o->from == NPU_DT_F32 ? (double)f : (double)(int32_t)raw;
    uint64_t word = o->scale;
    if (o->fb)
        memcpy(&word, o->fb->at + o->fb_at + 8ull * column, 8);
    switch (o->quant) {
    case REC_QUANT_NONE: return o->relu && v < 0 ? 0 : raw;
    case REC_QUANT_F32_F16: return half_from_float(o->relu && f < 0 ? 0 : f);
    case REC_QUANT_F32_BF16: return bf16_from_float(o->relu && f < 0 ? 0 : f);
    case REC_QUANT_DEQ_F16:
    case REC_QUANT_VDEQ_F16: return half_from_double(quantised(o, v, word, false));
    default:
        if (o->from == NPU_DT_F32)
            word &= ~(1ull << 36);
        return (uint32_t)to_byte(quantised(o, v, word, true), o->to == NPU_DT_I8) & 0xFF;
    }
}

/* Byte offset in the destination of element (row, column). */
static uint64_t outlet_target(const Outlet *o, uint32_t matrix, uint32_t row, uint32_t column)
{
    if (o->rows)
        return ((uint64_t)matrix * o->target_matrix + row * o->target_stride + column) * o->size;
    uint32_t wide = o->split ? 8 : o->size == 1 ? 32 : 16;
    return column / wide * o->target_stride * BLOCK +
           ((uint64_t)row * wide + column % wide) * o->size;
}

static bool outlet_put(Step *s, const Outlet *o, uint64_t at, uint32_t bits, bool known)
{
    if (o->l1) {
        uint64_t to = rec_byte(s->r->operand[0].address) + at;
        if (!sim_local_range(s, 0, o->l1, to, o->size, true))
            return false;
        memcpy(o->l1->at + to, &bits, o->size);
        memory_set_known(o->l1, to, o->size, known);
        return true;
    }
    uint64_t offset, inside;
    SimGm *gm = sim_gm_range(s, s->r->operand[0].address + at, o->size, true, &offset, &inside);
    if (!gm)
        return false;
    if (inside < o->size)
        return true;
    if (!known)
        sim_gm_taint(s, gm, offset, o->size, s->r->operand[1].address);
    if (s->core->atomic == REC_ATOMIC_ADD && o->to == NPU_DT_F32) {
        float old;
        memcpy(&old, gm->memory.at + offset, 4);
        bits = math_bits(old + math_float(bits));
        known = known && memory_known(&gm->memory, offset, 4);
    } else if (s->core->atomic != REC_ATOMIC_NONE) {
        sim_report(s, SIM_FAULT_UNSUPPORTED, "atomic Fixpipe into %s", npu_dtype_text(o->to));
        return false;
    }
    memcpy(gm->memory.at + offset, &bits, o->size);
    memory_set_known(&gm->memory, offset, o->size, known);
    return true;
}

static bool outlet_matrix(Step *s, const Outlet *o, uint32_t matrix)
{
    uint64_t base = o->c_at + matrix * o->source_matrix;
    for (uint32_t row = 0; row < o->m; row++)
        for (uint32_t column = 0; column < o->n; column++) {
            uint64_t from = base + column / 16 * o->source_stride + (row * 16ull + column % 16) * 4;
            uint32_t raw;
            if (!sim_local_range(s, 1, o->c, from, 4, false))
                return false;
            memcpy(&raw, o->c->at + from, 4);
            bool known = memory_known(o->c, from, 4) &&
                         (!o->fb || memory_known(o->fb, o->fb_at + 8ull * column, 8));
            if (!outlet_put(s, o, outlet_target(o, matrix, row, column),
                            outlet_bits(o, raw, column), known))
                return false;
        }
    return true;
}

bool exec_fixpipe(Step *s)
{
    Outlet o;
    if (!outlet_open(s, &o))
        return false;
    uint32_t matrices = o.rows ? o.matrices : 1;
    for (uint32_t i = 0; i < matrices; i++)
        if (!outlet_matrix(s, &o, i))
            return false;
    uint64_t elements = (uint64_t)matrices * o.m * o.n;
    sim_count(s, (elements + 255) / 256, 4 * elements, o.size * elements);
    return true;
}
