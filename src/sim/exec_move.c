/* Rearranging inside UB: masked copy, block broadcast, 16x16 transpose, the 16-row transpose. */
#include "sim/vec.h"

static void copy2(void *d, const void *a, const void *b, uint32_t n, const void *args)
{
    (void)b, (void)args;
    memmove(d, a, 2 * (size_t)n);
}

static void copy4(void *d, const void *a, const void *b, uint32_t n, const void *args)
{
    (void)b, (void)args;
    memmove(d, a, 4 * (size_t)n);
}

static bool move_copy(Step *s)
{
    uint32_t size = npu_dtype_bits(s->r->dtype[0]) / 8;
    VecShape shape = {.operands = 2, .size = {size, size}};
    VecPlan p;
    if (!vec_plan(&p, s, &shape))
        return false;
    vec_run(&p, size == 2 ? copy2 : copy4, NULL);
    return true;
}

static SimMemory *open_at(Step *s, int operand, uint64_t bytes, uint64_t *base)
{
    SimMemory *m = sim_local(s, operand, 1u << NPU_UB);
    *base = rec_byte(s->r->operand[operand].address);
    if (!m || !sim_aligned(s, operand, VEC_BLOCK) ||
        !sim_local_range(s, operand, m, *base, bytes, operand == 0))
        return NULL;
    return m;
}

static bool repeats_ok(Step *s)
{
    if (s->r->n[0] <= 255)
        return true;
    sim_report(s, SIM_FAULT_BAD_REPEAT, "%u repeats; one instruction takes 255", s->r->n[0]);
    return false;
}

/* Each of 8 source elements fills a block; 8 blocks a repeat. */
static bool move_broadcast(Step *s)
{
    const Record *r = s->r;
    uint32_t size = npu_dtype_bits(r->dtype[0]) / 8;
    uint64_t n = r->n[0], block = r->operand[0].block_stride * (uint64_t)VEC_BLOCK;
    uint64_t repeat = r->operand[0].repeat_stride * (uint64_t)VEC_BLOCK, to, from;
    block = block ? block : VEC_BLOCK;
    if (!repeats_ok(s))
        return false;
    SimMemory *d = open_at(s, 0, n ? (n - 1) * repeat + 7 * block + VEC_BLOCK : 0, &to);
    SimMemory *a = d ? open_at(s, 1, 8 * n * size, &from) : NULL;
    if (!a)
        return false;
    for (uint64_t i = 0; i < 8 * n; i++) {
        uint64_t at = to + i / 8 * repeat + i % 8 * block;
        uint8_t value[4];
        memcpy(value, a->at + from + i * size, size);
        for (uint32_t k = 0; k < VEC_BLOCK; k += size)
            memcpy(d->at + at + k, value, size);
        memory_set_known(d, at, VEC_BLOCK, memory_known(a, from + i * size, size));
    }
    sim_count(s, n, 8 * n * size, n * VEC_REPEAT);
    return true;
}

/* A 16x16 matrix of 16-bit elements. */
static bool move_transpose(Step *s)
{
    uint64_t to, from;
    SimMemory *d = open_at(s, 0, 512, &to), *a = d ? open_at(s, 1, 512, &from) : NULL;
    if (!a)
        return false;
    uint16_t in[256], out[256];
    bool known[256];
    memcpy(in, a->at + from, sizeof in);
    for (uint32_t i = 0; i < 256; i++) {
        out[i % 16 * 16 + i / 16] = in[i];
        known[i % 16 * 16 + i / 16] = memory_known(a, from + 2 * i, 2);
    }
    memcpy(d->at + to, out, sizeof out);
    for (uint32_t i = 0; i < 256; i++)
        memory_set_known(d, to + 2 * i, 2, known[i]);
    sim_count(s, 2, 512, 512);
    return true;
}

/* --- 16 addressed source blocks against 16 addressed destination blocks --- */

static bool list_address(Step *s, uint32_t slot, uint64_t offset, uint64_t *at)
{
    uint64_t address = s->core->va[slot];
    const SimMemory *m = &s->core->memory[NPU_UB];
    *at = rec_byte(address) + offset;
    bool write = slot < 16;
    if (rec_space(address) != NPU_UB) {
        sim_report(s, SIM_FAULT_BAD_SPACE, "%s address %u is not in UB",
                   write ? "destination" : "source", slot % 16);
        return false;
    }
    if (*at % VEC_BLOCK) {
        sim_report_range(s, SIM_FAULT_MISALIGNED, (SimRange){NPU_UB, write, *at, *at + VEC_BLOCK},
                         "%s address %u is not a multiple of 32", write ? "destination" : "source",
                         slot % 16);
        return false;
    }
    if (*at + VEC_BLOCK > m->bytes) {
        sim_report_range(s, SIM_FAULT_OVERFLOW, (SimRange){NPU_UB, write, *at, *at + VEC_BLOCK},
                         "%s address %u lies past the end of UB", write ? "destination" : "source",
                         slot % 16);
        return false;
    }
    return true;
}

static bool read_rows(Step *s, uint64_t offset, uint8_t in[16][32], bool known[16][32])
{
    const SimMemory *m = &s->core->memory[NPU_UB];
    for (uint32_t i = 0; i < 16; i++) {
        uint64_t at;
        if (!list_address(s, 16 + i, offset, &at))
            return false;
        memcpy(in[i], m->at + at, 32);
        for (uint32_t k = 0; k < 32; k++)
            known[i][k] = memory_known(m, at + k, 1);
    }
    return true;
}

/* Where element `column` of source row `row` goes: list slot and byte. False: nowhere. */
static bool target_of(const Record *r, uint32_t size, uint32_t row, uint32_t column, uint32_t *slot,
                      uint32_t *byte)
{
    if (size == 1) {
        uint32_t from = r->mode & 2 ? 16 : 0;
        if (column < from || column >= from + 16)
            return false;
        *slot = column - from;
        *byte = row + (r->mode & 1 ? 16 : 0);
        return true;
    }
    *slot = size == 2 ? column : 2 * column + row / 8;
    *byte = size == 2 ? 2 * row : 4 * (row % 8);
    return true;
}

static bool write_rows(Step *s, uint64_t offset, uint32_t size, uint8_t in[16][32],
                       bool known[16][32])
{
    SimMemory *m = &s->core->memory[NPU_UB];
    uint64_t at[16];
    for (uint32_t i = 0; i < 16; i++)
        if (!list_address(s, i, offset, &at[i]))
            return false;
    for (uint32_t row = 0; row < 16; row++)
        for (uint32_t column = 0; column < 32 / size; column++) {
            uint32_t slot, byte;
            if (!target_of(s->r, size, row, column, &slot, &byte))
                continue;
            memcpy(m->at + at[slot] + byte, in[row] + column * size, size);
            memory_set_known(m, at[slot] + byte, size, known[row][column * size]);
        }
    return true;
}

static bool move_to_5hd(Step *s)
{
    const Record *r = s->r;
    uint32_t size = npu_dtype_bits(r->dtype[0]) / 8, n = r->n[0];
    if (!repeats_ok(s))
        return false;
    uint64_t d_step = r->operand[0].repeat_stride * (uint64_t)VEC_BLOCK;
    uint64_t s_step = r->operand[1].repeat_stride * (uint64_t)VEC_BLOCK;
    for (uint32_t i = 0; i < n; i++) {
        /* With one repeat the strides are added to the list addresses (TransDataTo5HD.md). */
        uint64_t times = n == 1 ? 1 : i;
        uint8_t in[16][32];
        bool known[16][32];
        if (!read_rows(s, times * s_step, in, known) ||
            !write_rows(s, times * d_step, size, in, known))
            return false;
    }
    sim_count(s, n, 512ull * n, 512ull * n);
    return true;
}

bool exec_move(Step *s)
{
    switch (s->r->op) {
    case NPU_COPY: return move_copy(s);
    case NPU_BRCB: return move_broadcast(s);
    case NPU_TRANSPOSE: return move_transpose(s);
    default: return move_to_5hd(s);
    }
}
