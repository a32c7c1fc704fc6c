/* Copies between memories in bursts: plain, padded, atomic into GM, and the ND to NZ layout. */
#include "base/dtype.h"
#include "sim/math.h"
#include "sim/vec.h"
#include <math.h>

/* --- atomics --- */

/* NaN wins, and +0 is above -0. */
static double atomic_combine(uint32_t how, double old, double value)
{
    bool above = value > old || (value == old && signbit(old) && !signbit(value));
    switch (how) {
    case REC_ATOMIC_ADD: return old + value;
    case REC_ATOMIC_MAX: return above || value != value ? value : old;
    default: return value != value || (!above && old == old) ? value : old;
    }
}

static int64_t integer_at(uint32_t dtype, const uint8_t *at)
{
    int8_t b;
    int16_t h;
    int32_t w;
    switch (dtype) {
    case NPU_DT_I8: memcpy(&b, at, 1); return b;
    case NPU_DT_I16: memcpy(&h, at, 2); return h;
    default: memcpy(&w, at, 4); return w;
    }
}

static void atomic_integer(uint32_t how, uint32_t dtype, uint8_t *to, const uint8_t *from)
{
    int64_t old = integer_at(dtype, to), value = integer_at(dtype, from);
    int64_t result = how == REC_ATOMIC_ADD                      ? old + value
                     : (how == REC_ATOMIC_MAX) == (value > old) ? value
                                                                : old;
    memcpy(to, &result, npu_dtype_bits(dtype) / 8);
}

static bool atomic_dtype_ok(uint32_t dtype)
{
    return dtype == NPU_DT_F32 || dtype == NPU_DT_F16 || dtype == NPU_DT_BF16 ||
           dtype == NPU_DT_I8 || dtype == NPU_DT_I16 || dtype == NPU_DT_I32;
}

static void atomic_copy(const CoreState *core, uint8_t *to, const uint8_t *from, uint64_t n)
{
    uint32_t how = core->atomic, dtype = core->atomic_dtype;
    uint32_t size = npu_dtype_bits(dtype) / 8;
    bool integer = dtype == NPU_DT_I8 || dtype == NPU_DT_I16 || dtype == NPU_DT_I32;
    for (uint64_t i = 0; i + size <= n; i += size) {
        if (integer) {
            atomic_integer(how, dtype, to + i, from + i);
            continue;
        }
        _Alignas(8) uint8_t a[8], b[8];
        memcpy(a, to + i, size);
        memcpy(b, from + i, size);
        double v = atomic_combine(how, dtype_load((DType)dtype, a, 0),
                                  dtype_load((DType)dtype, b, 0));
        if (dtype == NPU_DT_F16 && core->saturate) {
            float wide = (float)v;
            math_float_to_half((uint16_t *)(void *)a, &wide, 1, true);
        } else {
            dtype_store((DType)dtype, a, 0, v);
        }
        memcpy(to + i, a, size);
    }
}

/* --- one burst --- */

/* Remembers for the observers whether all of a record's bytes were there already. Only of stores to
 * GM and to the bias table: a copy of inputs that happen to repeat is a race all the same. */
static void note_same(Step *s, const SimMemory *d, uint64_t to, const void *from, uint64_t bytes,
                      bool known)
{
    if (s->core->wrote_same)
        s->core->wrote_same = memcmp(d->at + to, from, bytes) == 0 &&
                              memory_known(d, to, bytes) == known;
}

static bool read_gm(Step *s, uint64_t address, SimMemory *d, uint64_t to, uint64_t bytes)
{
    uint64_t offset, inside;
    if (bytes == 0)
        return true;
    SimGm *gm = sim_gm_range(s, address, bytes, false, &offset, &inside);
    if (!gm)
        return false;
    memcpy(d->at + to, gm->memory.at + offset, inside);
    memory_copy_known(d, to, &gm->memory, offset, inside);
    memset(d->at + to + inside, 0xFF, bytes - inside);
    memory_set_known(d, to + inside, bytes - inside, false);
    return true;
}

/* Whether known bytes are added to ones that nobody wrote. Bytes that are unknown on both sides come
 * from a tile that was filled in part; whoever reads them is told. */
static bool adds_to_unknown(const SimMemory *gm, uint64_t to, const SimMemory *a, uint64_t from,
                            uint64_t bytes)
{
    if (memory_known(gm, to, bytes))
        return false;
    for (uint64_t i = 0; i < bytes; i++)
        if (!memory_known(gm, to + i, 1) && memory_known(a, from + i, 1))
            return true;
    return false;
}

static void forget_unknown(SimMemory *gm, uint64_t to, const SimMemory *a, uint64_t from,
                           uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes && !memory_known(a, from, bytes); i++)
        if (!memory_known(a, from + i, 1))
            memory_set_known(gm, to + i, 1, false);
}

static bool write_gm(Step *s, uint64_t address, const SimMemory *a, uint64_t from, uint64_t bytes)
{
    uint64_t offset, inside;
    if (bytes == 0)
        return true;
    SimGm *gm = sim_gm_range(s, address, bytes, true, &offset, &inside);
    if (!gm)
        return false;
    bytes = inside;
    if (!memory_known(a, from, bytes))
        sim_gm_taint(s, gm, offset, bytes, rec_address(rec_space(s->r->operand[1].address), from));
    if (s->core->atomic == REC_ATOMIC_NONE) {
        note_same(s, &gm->memory, offset, a->at + from, bytes, memory_known(a, from, bytes));
        memcpy(gm->memory.at + offset, a->at + from, bytes);
        memory_copy_known(&gm->memory, offset, a, from, bytes);
        return true;
    }
    if (adds_to_unknown(&gm->memory, offset, a, from, bytes))
        sim_report_range(s, SIM_FAULT_GM_UNINITIALISED,
                         (SimRange){NPU_GM, true, rec_byte(address), rec_byte(address) + bytes},
                         "atomic operation on elements of %s that nobody initialised",
                         gm->region.name);
    atomic_copy(s->core, gm->memory.at + offset, a->at + from, bytes);
    forget_unknown(&gm->memory, offset, a, from, bytes);
    return true;
}

/* --- plain bursts --- */

typedef struct Burst {
    uint64_t count, bytes, source_gap, target_gap;
} Burst;

static bool burst_read(Step *s, Burst *b, bool blocks)
{
    const Record *r = s->r;
    *b = (Burst){r->n[0], r->n[1], r->n[2], r->n[3]};
    if (b->count > 4095 || b->bytes > 2097151) {
        sim_report(s, SIM_FAULT_BAD_COUNT,
                   "%llu bursts of %llu bytes; at most 4095 of 2097151 bytes",
                   (unsigned long long)b->count, (unsigned long long)b->bytes);
        return false;
    }
    if (blocks && b->bytes % VEC_BLOCK) {
        sim_report(s, SIM_FAULT_NOT_BLOCKS,
                   "%llu bytes; DataCopy moves whole blocks, the last %llu bytes are dropped",
                   (unsigned long long)b->bytes, (unsigned long long)(b->bytes % VEC_BLOCK));
        b->bytes -= b->bytes % VEC_BLOCK;
    }
    return true;
}

/* The on-chip side of a burst copy: memory, alignment, the whole range. */
static SimMemory *burst_local(Step *s, int operand, uint32_t spaces, uint32_t align, uint64_t count,
                              uint64_t step, uint64_t bytes)
{
    SimMemory *m = sim_local(s, operand, spaces);
    if (!m || !sim_aligned(s, operand, align))
        return NULL;
    uint64_t end = count && bytes ? (count - 1) * step + bytes : 0;
    return sim_local_range(s, operand, m, rec_byte(s->r->operand[operand].address), end,
                           operand == 0)
               ? m
               : NULL;
}

static bool is_gm(Step *s, int operand)
{
    if (rec_space(s->r->operand[operand].address) == NPU_GM)
        return true;
    sim_report(s, SIM_FAULT_BAD_SPACE, "the %s of this copy must be in GM",
               operand ? "source" : "destination");
    return false;
}

static bool element_aligned(Step *s, int operand)
{
    uint32_t size = npu_dtype_bits(s->r->dtype[operand]) / 8;
    return size < 2 || sim_aligned(s, operand, size);
}

static bool copy_in(Step *s, uint32_t space)
{
    Burst b;
    if (!burst_read(s, &b, true) || !is_gm(s, 1) || !element_aligned(s, 1))
        return false;
    uint64_t step = b.bytes + b.target_gap;
    SimMemory *d = burst_local(s, 0, 1u << space, VEC_BLOCK, b.count, step, b.bytes);
    if (!d)
        return false;
    uint64_t to = rec_byte(s->r->operand[0].address), from = s->r->operand[1].address;
    for (uint64_t i = 0; i < b.count; i++)
        if (!read_gm(s, from + i * (b.bytes + b.source_gap), d, to + i * step, b.bytes))
            return false;
    sim_count(s, b.count, b.count * b.bytes, b.count * b.bytes);
    return true;
}

static bool copy_out(Step *s, uint32_t space, bool padded)
{
    Burst b;
    if (!burst_read(s, &b, !padded) || !is_gm(s, 0) || !element_aligned(s, 0))
        return false;
    uint64_t rounded = (b.bytes + VEC_BLOCK - 1) / VEC_BLOCK * VEC_BLOCK;
    uint64_t step = rounded + b.source_gap;
    SimMemory *a = burst_local(s, 1, 1u << space, VEC_BLOCK, b.count, step, b.bytes);
    if (!a)
        return false;
    if (s->core->atomic && !atomic_dtype_ok(s->core->atomic_dtype))
        sim_report(s, SIM_FAULT_ATOMIC_DTYPE, "no atomic form for %s",
                   npu_dtype_text(s->core->atomic_dtype));
    uint64_t from = rec_byte(s->r->operand[1].address), to = s->r->operand[0].address;
    s->core->wrote_same = s->sim->watchers.len && s->core->atomic == REC_ATOMIC_NONE;
    for (uint64_t i = 0; i < b.count; i++)
        if (!write_gm(s, to + i * (b.bytes + b.target_gap), a, from + i * step, b.bytes))
            return false;
    sim_count(s, b.count, b.count * b.bytes, b.count * b.bytes);
    return true;
}

static bool copy_local(Step *s, uint32_t from_space, uint32_t to_space, uint32_t to_align)
{
    Burst b;
    if (!burst_read(s, &b, true))
        return false;
    uint64_t d_step = b.bytes + b.target_gap, a_step = b.bytes + b.source_gap;
    SimMemory *d = burst_local(s, 0, 1u << to_space, to_align, b.count, d_step, b.bytes);
    SimMemory *a = d ? burst_local(s, 1, 1u << from_space, VEC_BLOCK, b.count, a_step, b.bytes)
                     : NULL;
    if (!a)
        return false;
    uint64_t to = rec_byte(s->r->operand[0].address), from = rec_byte(s->r->operand[1].address);
    s->core->wrote_same = s->sim->watchers.len && to_space == NPU_BT;
    for (uint64_t i = 0; i < b.count; i++) {
        note_same(s, d, to + i * d_step, a->at + from + i * a_step, b.bytes,
                  memory_known(a, from + i * a_step, b.bytes));
        memmove(d->at + to + i * d_step, a->at + from + i * a_step, b.bytes);
        memory_copy_known(d, to + i * d_step, a, from + i * a_step, b.bytes);
    }
    sim_count(s, b.count, b.count * b.bytes, b.count * b.bytes);
    return true;
}

/* Bias: half is widened as it is copied into the table. */
static bool copy_bias(Step *s)
{
    if (s->r->dtype[1] != NPU_DT_F16 || s->r->dtype[0] != NPU_DT_F32)
        return copy_local(s, NPU_L1, NPU_BT, 64);
    Burst b;
    if (!burst_read(s, &b, true))
        return false;
    SimMemory *d = burst_local(s, 0, 1u << NPU_BT, 64, 1, 0, b.count * b.bytes * 2);
    SimMemory *a = d ? burst_local(s, 1, 1u << NPU_L1, VEC_BLOCK, b.count, b.bytes + b.source_gap,
                                   b.bytes)
                     : NULL;
    if (!a)
        return false;
    uint64_t to = rec_byte(s->r->operand[0].address), from = rec_byte(s->r->operand[1].address);
    s->core->wrote_same = s->sim->watchers.len;
    for (uint64_t i = 0; i < b.count * b.bytes / 2; i++) {
        uint64_t at = from + i * 2 / b.bytes * (b.bytes + b.source_gap) + i * 2 % b.bytes;
        uint16_t half;
        float wide;
        memcpy(&half, a->at + at, 2);
        math_half_to_float(&wide, &half, 1);
        note_same(s, d, to + 4 * i, &wide, 4, memory_known(a, at, 2));
        memcpy(d->at + to + 4 * i, &wide, 4);
        memory_set_known(d, to + 4 * i, 4, memory_known(a, at, 2));
    }
    return true;
}

/* --- padded bursts into UB --- */

typedef struct Padding {
    uint64_t left, right, total, rounded; /* bytes */
    uint32_t size;
    bool has_value;
    uint64_t value;
} Padding;

static bool padding_read(Step *s, const Burst *b, Padding *p)
{
    const Record *r = s->r;
    p->size = npu_dtype_bits(r->dtype[0]) / 8;
    p->size = p->size ? p->size : 1;
    p->left = (uint64_t)(r->n[4] & 0xFFFF) * p->size;
    p->right = (uint64_t)(r->n[4] >> 16) * p->size;
    p->total = p->left + b->bytes + p->right;
    p->rounded = (p->total + VEC_BLOCK - 1) / VEC_BLOCK * VEC_BLOCK;
    p->has_value = r->mode == 1 || s->core->pad_set;
    p->value = r->mode == 1 ? r->scalar : s->core->pad_value;
    if (p->left > VEC_BLOCK || p->right > VEC_BLOCK) {
        sim_report(s, SIM_FAULT_PAD_RANGE, "%llu bytes on the left, %llu on the right",
                   (unsigned long long)p->left, (unsigned long long)p->right);
        return false;
    }
    if (p->size == 8 && r->mode == 1 && r->scalar) {
        sim_report(s, SIM_FAULT_BAD_PARAMETER, "8-byte types can only be padded with 0");
        return false;
    }
    return true;
}

/* Fills [from, to) of d with `value`, or leaves it undefined. */
static void fill(SimMemory *d, uint64_t from, uint64_t to, uint64_t value, uint32_t size,
                 bool known)
{
    for (uint64_t at = from; at < to; at += size)
        memcpy(d->at + at, &value, to - at < size ? to - at : size);
    if (!known)
        memset(d->at + from, 0xFF, to - from);
    memory_set_known(d, from, to - from, known);
}

/* Without left and right padding a short burst is filled up with its own first element, whatever
 * value is given; else the filler is the padding value, or undefined when there is none
 * (DataCopyPad.md). */
static void fill_around(SimMemory *d, uint64_t to, const Burst *b, const Padding *p)
{
    uint64_t data = to + p->left, end = data + b->bytes;
    if (p->left == 0 && p->right == 0) {
        uint64_t first = 0;
        memcpy(&first, d->at + data, p->size);
        fill(d, end, to + p->rounded, first, p->size, memory_known(d, data, p->size));
        return;
    }
    fill(d, to, data, p->value, p->size, p->has_value);
    fill(d, end, to + p->rounded, p->value, p->size, p->has_value);
}

static bool copy_padded_in(Step *s)
{
    Burst b;
    Padding p;
    if (!burst_read(s, &b, false) || !padding_read(s, &b, &p) || !is_gm(s, 1))
        return false;
    if (b.bytes == 0 || b.count == 0)
        return true;
    uint64_t step = p.rounded + b.target_gap;
    SimMemory *d = burst_local(s, 0, 1u << NPU_UB | 1u << NPU_L1, VEC_BLOCK, b.count, step,
                               p.rounded);
    if (!d)
        return false;
    uint64_t to = rec_byte(s->r->operand[0].address), from = s->r->operand[1].address;
    for (uint64_t i = 0; i < b.count; i++) {
        if (!read_gm(s, from + i * (b.bytes + b.source_gap), d, to + i * step + p.left, b.bytes))
            return false;
        fill_around(d, to + i * step, &b, &p);
    }
    sim_count(s, b.count, b.count * b.bytes, b.count * p.rounded);
    return true;
}

/* --- ND to NZ --- */

typedef struct NzShape {
    uint64_t matrices, rows, columns, source_matrix, source_row, block, row, matrix;
    uint32_t size, c0;
} NzShape;

static bool nz_read(Step *s, NzShape *z)
{
    const Record *r = s->r;
    uint32_t bits = npu_dtype_bits(r->dtype[0]);
    z->size = bits == 4 ? 1 : bits / 8; /* two of 4 bits go as one byte, and are counted so */
    if (z->size == 0 || z->size > 4) {
        sim_report(s, SIM_FAULT_BAD_DTYPE, "the ND to NZ copy does not take %s",
                   npu_dtype_text(r->dtype[0]));
        return false;
    }
    z->c0 = VEC_BLOCK / z->size;
    z->matrices = r->n[0], z->rows = r->n[1], z->columns = r->n[2];
    z->source_matrix = (uint64_t)r->n[3] * z->size, z->source_row = (uint64_t)r->n[4] * z->size;
    z->block = (uint64_t)r->n[5] * VEC_BLOCK;
    z->row = (r->mask[0] & 0xFFFFFFFF) * VEC_BLOCK, z->matrix = (r->mask[0] >> 32) * z->size;
    if (z->matrices > 4095 || z->rows > 16384 || z->columns > 65535 || r->n[5] > 16384 ||
        (r->mask[0] & 0xFFFFFFFF) > 16384 || z->matrices * z->rows * z->columns > 1u << 24) {
        sim_report(s, SIM_FAULT_BAD_PARAMETER, "%u matrices of %u x %u", r->n[0], r->n[1], r->n[2]);
        return false;
    }
    return true;
}

static bool nz_row(Step *s, const NzShape *z, SimMemory *d, uint64_t to, uint64_t from)
{
    for (uint64_t c = 0; c < z->columns; c += z->c0) {
        uint64_t n = z->columns - c < z->c0 ? z->columns - c : z->c0;
        uint64_t at = to + c / z->c0 * z->block;
        if (!read_gm(s, from + c * z->size, d, at, n * z->size))
            return false;
        fill(d, at + n * z->size, at + VEC_BLOCK, 0, 1, true);
    }
    return true;
}

static bool copy_nz(Step *s)
{
    NzShape z;
    if (!nz_read(s, &z) || !is_gm(s, 1))
        return false;
    if (!z.matrices || !z.rows || !z.columns)
        return true;
    uint64_t end = (z.matrices - 1) * z.matrix + (z.rows - 1) * z.row +
                   (z.columns - 1) / z.c0 * z.block + VEC_BLOCK;
    SimMemory *d = burst_local(s, 0, 1u << NPU_L1, VEC_BLOCK, 1, 0, end);
    if (!d)
        return false;
    uint64_t to = rec_byte(s->r->operand[0].address), from = s->r->operand[1].address;
    for (uint64_t m = 0; m < z.matrices; m++)
        for (uint64_t row = 0; row < z.rows; row++)
            if (!nz_row(s, &z, d, to + m * z.matrix + row * z.row,
                        from + m * z.source_matrix + row * z.source_row))
                return false;
    uint64_t bytes = z.matrices * z.rows * z.columns * z.size;
    sim_count(s, z.matrices * z.rows, bytes, bytes);
    return true;
}

bool exec_copy_check(Step *s)
{
    Burst b;
    Padding p;
    NzShape z;
    switch (s->r->op) {
    case NPU_COPY_GM_UB:
    case NPU_COPY_GM_L1: return burst_read(s, &b, true) && sim_aligned(s, 0, VEC_BLOCK);
    case NPU_COPY_UB_GM:
    case NPU_COPY_L1_GM: return burst_read(s, &b, true) && sim_aligned(s, 1, VEC_BLOCK);
    case NPU_PAD_GM_UB:
        return burst_read(s, &b, false) && padding_read(s, &b, &p) && sim_aligned(s, 0, VEC_BLOCK);
    case NPU_PAD_UB_GM: return burst_read(s, &b, false) && sim_aligned(s, 1, VEC_BLOCK);
    case NPU_ND2NZ_GM_L1: return nz_read(s, &z) && sim_aligned(s, 0, VEC_BLOCK);
    default: return true;
    }
}

bool exec_copy(Step *s)
{
    switch (s->r->op) {
    case NPU_COPY_GM_UB: return copy_in(s, NPU_UB);
    case NPU_COPY_GM_L1: return copy_in(s, NPU_L1);
    case NPU_COPY_UB_GM: return copy_out(s, NPU_UB, false);
    case NPU_COPY_L1_GM: return copy_out(s, NPU_L1, false);
    case NPU_PAD_UB_GM: return copy_out(s, NPU_UB, true);
    case NPU_PAD_GM_UB: return copy_padded_in(s);
    case NPU_COPY_UB_UB: return copy_local(s, NPU_UB, NPU_UB, VEC_BLOCK);
    case NPU_COPY_L1_FB: return copy_local(s, NPU_L1, NPU_FB, 64);
    case NPU_COPY_L1_BT: return copy_bias(s);
    default: return copy_nz(s);
    }
}
