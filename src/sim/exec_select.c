/* Comparing and choosing: Compare and Compares write one bit per element, Select reads them. */
#include "sim/math.h"
#include "sim/vec.h"

static bool compare_floats(float a, float b, uint8_t mode)
{
    switch (mode) {
    case NPU_LT: return a < b;
    case NPU_GT: return a > b;
    case NPU_EQ: return a == b;
    case NPU_LE: return a <= b;
    case NPU_GE: return a >= b;
    default: return a < b || a > b; /* not-equal is false with NaN, by the vendor's table */
    }
}

static float element(uint8_t dtype, const uint8_t *raw, uint32_t i)
{
    float v;
    if (dtype == NPU_DT_F16)
        math_half_to_float(&v, (const uint16_t *)(const void *)raw + i, 1);
    else
        memcpy(&v, raw + 4 * (size_t)i, 4);
    return v;
}

/* The bits of one repeat: elements of a against those of b. i32 has only equality. */
static void compare_repeat(const Record *r, const uint8_t *a, const uint8_t *b, uint32_t n,
                           uint64_t bits[2])
{
    uint8_t dtype = r->dtype[1];
    bits[0] = bits[1] = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool holds = dtype == NPU_DT_I32
                         ? memcmp(a + 4 * (size_t)i, b + 4 * (size_t)i, 4) == 0
                         : compare_floats(element(dtype, a, i), element(dtype, b, i), r->mode);
        bits[i / 64] |= (uint64_t)holds << (i % 64);
    }
}

static bool compare_checks(Step *s)
{
    const Record *r = s->r;
    if (r->mode >= NPU_COMPARE_COUNT) {
        sim_report(s, SIM_FAULT_BAD_MODE, "comparison %u", r->mode);
        return false;
    }
    if (!npu_dtype_ok(r->op, r->dtype[1]) || (r->dtype[1] == NPU_DT_I32 && r->mode != NPU_EQ)) {
        sim_report(s, SIM_FAULT_BAD_DTYPE, "this comparison does not take %s",
                   npu_dtype_text(r->dtype[1]));
        return false;
    }
    return true;
}

static void fill_scalar(uint8_t *to, const Record *r, uint32_t size)
{
    for (uint32_t i = 0; i < VEC_REPEAT; i += size)
        memcpy(to + i, &r->scalar, size);
}

/* Counter mode compares whole repeats only; the mask has no say (Compare.md, A2). */
static bool compare_plan(Step *s, VecPlan *p, Record *whole, uint32_t size, int operands)
{
    uint32_t per = VEC_REPEAT / size;
    *whole = *s->r;
    if (whole->op != NPU_COMPARE_REGISTER)
        whole->mask[0] = whole->flags & REC_COUNTER ? whole->mask[0] : ~0ull,
        whole->mask[1] = ~0ull;
    if (whole->flags & REC_COUNTER) {
        if (whole->mask[0] % per)
            sim_report_fault(
                s,
                (SimFault){.code = SIM_FAULT_NOT_BLOCKS,
                           .repair = "compare a multiple of 256 bytes: give source and mask room "
                                     "for the rounded count, and use only the answers you need"},
                "%llu elements; only whole 256-byte units of %u elements are compared",
                (unsigned long long)whole->mask[0], per);
        whole->mask[0] -= whole->mask[0] % per;
    }
    /* Answers come for whole repeats: what stands behind a short tensor is read, and answers for it
     * mean nothing. */
    for (int i = 1; i < operands; i++)
        whole->operand[i].bytes = (whole->operand[i].bytes + VEC_REPEAT - 1) / VEC_REPEAT *
                                  VEC_REPEAT;
    s->r = whole;
    VecShape shape = {.operands = operands, .size = {size, size, size}, .no_dst = true};
    return vec_plan(p, s, &shape);
}

static bool compare_to_register(Step *s, const VecPlan *p)
{
    uint8_t a[VEC_REPEAT], b[VEC_REPEAT];
    uint64_t bits[2];
    if (p->repeats != 1) {
        sim_report(s, SIM_FAULT_BAD_REPEAT, "the compare register holds one repeat");
        return false;
    }
    vec_gather(p, 1, 0, a);
    vec_gather(p, 2, 0, b);
    compare_repeat(s->r, a, b, p->per_repeat, bits);
    for (uint32_t e = 0; e < p->per_repeat; e++) {
        uint64_t bit = 1ull << (e % 64), *word = &s->core->compare[e / 64];
        if (vec_active(p, 0, e))
            *word = (*word & ~bit) | (bits[e / 64] & bit);
    }
    memcpy(s->core->pub.view->compare, s->core->compare, sizeof s->core->compare);
    return true;
}

bool exec_compare(Step *s)
{
    const Record *given = s->r;
    if (!compare_checks(s))
        return false;
    uint32_t size = npu_dtype_bits(given->dtype[1]) / 8;
    bool scalar = given->op == NPU_COMPARE_SCALAR;
    Record whole;
    VecPlan p;
    if (!compare_plan(s, &p, &whole, size, scalar ? 2 : 3))
        return false;
    if (given->op == NPU_COMPARE_REGISTER)
        return compare_to_register(s, &p);
    SimMemory *d = sim_local(s, 0, 1u << NPU_UB);
    uint32_t bytes = p.per_repeat / 8;
    uint64_t base = rec_byte(given->operand[0].address);
    if (!d || !sim_aligned(s, 0, VEC_BLOCK) ||
        !sim_local_range(s, 0, d, base, (uint64_t)p.repeats * bytes, true))
        return false;
    uint8_t a[VEC_REPEAT], b[VEC_REPEAT];
    fill_scalar(b, given, size);
    bool known = vec_all_known(&p, 1) && (scalar || vec_all_known(&p, 2));
    for (uint32_t r = 0; r < p.repeats; r++) {
        uint64_t bits[2];
        vec_gather(&p, 1, r, a);
        if (!scalar)
            vec_gather(&p, 2, r, b);
        compare_repeat(given, a, b, p.per_repeat, bits);
        memcpy(d->at + base + (uint64_t)r * bytes, bits, bytes);
        /* A byte holds eight answers and has one shadow: that of its first element, so that the
         * rounded-up end of a tail does not hide the answers before it. */
        for (uint32_t i = 0; i < bytes; i++) {
            uint32_t e = 8 * i;
            bool byte_known = known ||
                              (memory_known(p.o[1].memory, vec_byte(&p.o[1], r, e), size) &&
                               (scalar ||
                                memory_known(p.o[2].memory, vec_byte(&p.o[2], r, e), size)));
            memory_set_known(d, base + (uint64_t)r * bytes + i, 1, byte_known);
        }
    }
    return true;
}

/* --- Select --- */

typedef struct Chooser {
    VecPlan plan;
    const SimMemory *bits; /* NULL: the compare register */
    uint64_t bits_at;
    bool fresh; /* every repeat takes further bits */
} Chooser;

static bool chosen(const Step *s, const Chooser *c, uint32_t r, uint32_t e, bool *known)
{
    *known = true;
    if (!c->bits)
        return s->core->compare[e / 64] >> (e % 64) & 1;
    uint64_t bit = (c->fresh ? (uint64_t)r * c->plan.per_repeat : 0) + e;
    *known = memory_known(c->bits, c->bits_at + bit / 8, 1);
    return c->bits->at[c->bits_at + bit / 8] >> (bit % 8) & 1;
}

static bool open_bits(Step *s, Chooser *c)
{
    const Record *r = s->r;
    c->fresh = r->mode != NPU_SEL_REGISTER;
    if (rec_space(r->operand[3].address) == NPU_NOWHERE) {
        if (r->mode == NPU_SEL_REGISTER)
            return true;
        sim_report(s, SIM_FAULT_BAD_RECORD, "Select without a selection mask");
        return false;
    }
    SimMemory *m = sim_local(s, 3, 1u << NPU_UB);
    if (!m || !sim_aligned(s, 3, VEC_BLOCK))
        return false;
    c->bits = m;
    c->bits_at = rec_byte(r->operand[3].address);
    uint64_t bits = c->fresh ? (uint64_t)c->plan.repeats * c->plan.per_repeat : c->plan.per_repeat;
    if (r->flags & REC_COUNTER && c->fresh)
        bits = r->mask[0];
    return sim_local_range(s, 3, m, c->bits_at, (bits + 7) / 8, false);
}

static void select_element(Step *s, Chooser *c, uint32_t r, uint32_t e)
{
    VecPlan *p = &c->plan;
    bool bit_known, first = chosen(s, c, r, e, &bit_known);
    uint32_t size = p->o[0].size;
    uint64_t to = vec_byte(&p->o[0], r, e);
    bool known = bit_known;
    if (!first && p->operands == 2) {
        memcpy(p->o[0].memory->at + to, &s->r->scalar, size);
    } else {
        const VecOperand *o = &p->o[first ? 1 : 2];
        uint64_t from = vec_byte(o, r, e);
        memmove(p->o[0].memory->at + to, o->memory->at + from, size);
        known = known && memory_known(o->memory, from, size);
    }
    memory_set_known(p->o[0].memory, to, size, known);
}

bool exec_select(Step *s)
{
    const Record *r = s->r;
    if (r->mode >= NPU_SELECT_COUNT) {
        sim_report(s, SIM_FAULT_BAD_MODE, "selection mode %u", r->mode);
        return false;
    }
    uint32_t size = npu_dtype_bits(r->dtype[0]) / 8;
    bool scalar = r->mode == NPU_SEL_SCALAR;
    VecShape shape = {.operands = scalar ? 2 : 3, .size = {size, size, size}};
    Chooser c = {.bits = NULL};
    if (!vec_plan(&c.plan, s, &shape))
        return false;
    if (c.plan.repeats == 0)
        return true;
    if (!open_bits(s, &c))
        return false;
    for (uint32_t i = 0; i < c.plan.repeats; i++)
        for (uint32_t e = 0; e < c.plan.per_repeat; e++)
            if (vec_active(&c.plan, i, e))
                select_element(s, &c, i, e);
    return true;
}
