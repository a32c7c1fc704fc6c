/* Sorting: 32 values with indices, merges of up to four sorted lists, and the older proposals
 * (eight halves: x1 y1 x2 y2 score label and two spare). Descending; equals keep their order. */
#include "sim/math.h"
#include "sim/vec.h"

enum { PAIR = 8, PROPOSAL = 16, LISTS = 4 };

static SimMemory *open_at(Step *s, int operand, uint32_t align, uint64_t bytes, uint64_t *base)
{
    SimMemory *m = sim_local(s, operand, 1u << NPU_UB);
    *base = rec_byte(s->r->operand[operand].address);
    if (!m || !sim_aligned(s, operand, align) ||
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

static float half_at(const uint8_t *at)
{
    uint16_t half;
    float v;
    memcpy(&half, at, 2);
    math_half_to_float(&v, &half, 1);
    return v;
}

static float score_at(const uint8_t *at, bool half)
{
    float v;
    if (half)
        return half_at(at);
    memcpy(&v, at, 4);
    return v;
}

/* Whether a comes before b. NaN sorts first, so that the order is total. */
static bool before(float a, float b) { return a > b || (a != a && b == b); }

/* Orders 0..n-1 by score, stable. */
static void order_of(const float *score, uint32_t n, uint8_t *order)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = i;
        for (; at > 0 && before(score[i], score[order[at - 1]]); at--)
            order[at] = order[at - 1];
        order[at] = (uint8_t)i;
    }
}

static bool sort32(Step *s)
{
    bool half = s->r->dtype[0] == NPU_DT_F16;
    uint32_t size = half ? 2 : 4, n = s->r->n[0];
    uint64_t to, values, indices;
    if (!repeats_ok(s))
        return false;
    SimMemory *d = open_at(s, 0, VEC_BLOCK, 256ull * n, &to);
    SimMemory *v = d ? open_at(s, 1, VEC_BLOCK, 32ull * size * n, &values) : NULL;
    SimMemory *x = v ? open_at(s, 2, VEC_BLOCK, 128ull * n, &indices) : NULL;
    if (!x)
        return false;
    for (uint32_t r = 0; r < n; r++) {
        float score[32];
        uint8_t order[32], out[256] = {0};
        uint64_t from = values + 32ull * size * r, index = indices + 128ull * r;
        for (uint32_t i = 0; i < 32; i++)
            score[i] = score_at(v->at + from + i * size, half);
        order_of(score, 32, order);
        for (uint32_t i = 0; i < 32; i++) {
            memcpy(out + PAIR * i, v->at + from + order[i] * size, size);
            memcpy(out + PAIR * i + 4, x->at + index + 4u * order[i], 4);
        }
        memcpy(d->at + to + 256ull * r, out, sizeof out);
        memory_set_known(d, to + 256ull * r, 256,
                         memory_known(v, from, 32ull * size) && memory_known(x, index, 128));
    }
    sim_count(s, n, n * (32ull * size + 128), 256ull * n);
    return true;
}

/* --- merging --- */

typedef struct Merge {
    SimMemory *memory, *d;
    uint64_t list[LISTS], to;
    uint32_t length[LISTS], taken[LISTS];
    uint32_t unit; /* bytes of an entry */
    bool proposals, half, stop_when_empty;
} Merge;

static float head(const Merge *m, uint32_t list)
{
    const uint8_t *at = m->memory->at + m->list[list] + (uint64_t)m->taken[list] * m->unit;
    return m->proposals ? half_at(at + 8) : score_at(at, m->half);
}

static bool exhausted(const Merge *m)
{
    for (uint32_t i = 0; i < LISTS; i++)
        if (m->length[i] && m->taken[i] == m->length[i])
            return true;
    return false;
}

static int best_list(const Merge *m)
{
    int best = -1;
    for (uint32_t i = 0; i < LISTS; i++)
        if (m->taken[i] < m->length[i] && (best < 0 || before(head(m, i), head(m, (uint32_t)best))))
            best = (int)i;
    return best;
}

/* Bytes merged; `write` off only counts them. */
static uint64_t merge_run(Merge *m, bool write)
{
    uint64_t done = 0;
    memset(m->taken, 0, sizeof m->taken);
    for (int list; (list = best_list(m)) >= 0; done += m->unit) {
        if (m->stop_when_empty && exhausted(m))
            break;
        uint64_t from = m->list[list] + (uint64_t)m->taken[list]++ * m->unit;
        if (!write)
            continue;
        memmove(m->d->at + m->to + done, m->memory->at + from, m->unit);
        memory_copy_known(m->d, m->to + done, m->memory, from, m->unit);
    }
    return done;
}

static bool some_buffer_in(const CoreState *core, uint64_t from, uint64_t to)
{
    for (uint32_t i = 0; i < core->buffers.len; i++) {
        const SimBuffer *b = &core->buffers.at[i];
        uint64_t at = rec_byte(b->address), all = (uint64_t)b->bytes * b->slots;
        if (rec_space(b->address) == NPU_UB && at < to && from < at + all)
            return true;
    }
    return core->buffers.len == 0; /* no InitBuffer: whose bytes those are is not known */
}

/* How much a merge writes that stops when a list runs out, only the data say; the vendor's own size
 * check leaves it out. Behind its tensor it is a fault where some buffer lies, else it is only a warning. */
static bool early_range(Step *s, const Merge *m, uint64_t bytes)
{
    const RecordOperand *o = &s->r->operand[0];
    uint64_t end = (m->to + o->bytes + VEC_BLOCK - 1) / VEC_BLOCK * VEC_BLOCK, to = m->to + bytes;
    if (o->bytes == 0 || to <= end || to > m->d->bytes || some_buffer_in(s->core, end, to))
        return sim_local_range(s, 0, m->d, m->to, bytes, true);
    sim_report_range(s, SIM_FAULT_MERGE_PAST, (SimRange){NPU_UB, true, end, to},
                     "the merge writes %llu bytes behind its tensor, where no buffer lies",
                     (unsigned long long)(to - end));
    return true;
}

static bool merge_ranges(Step *s, Merge *m, uint32_t repeats, uint64_t step)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < LISTS; i++) {
        uint64_t bytes = (uint64_t)m->length[i] * m->unit, end = m->list[i] + bytes;
        total += bytes;
        if (bytes == 0)
            continue;
        if (m->list[i] % 8 || end + (repeats - 1) * step > m->memory->bytes) {
            sim_report_range(s, m->list[i] % 8 ? SIM_FAULT_MISALIGNED : SIM_FAULT_OVERFLOW,
                             (SimRange){NPU_UB, false, m->list[i], end},
                             "list %u lies at UB %llu to %llu", i, (unsigned long long)m->list[i],
                             (unsigned long long)end);
            return false;
        }
    }
    sim_count(s, repeats, repeats * total, repeats * total);
    if (m->stop_when_empty && repeats == 1)
        return early_range(s, m, merge_run(m, false));
    return sim_local_range(s, 0, m->d, m->to, repeats * total, true);
}

static bool merge(Step *s)
{
    const Record *r = s->r;
    Merge m = {.proposals = r->op == NPU_MERGE_SORT4, .half = r->dtype[0] == NPU_DT_F16};
    m.unit = m.proposals ? PROPOSAL : PAIR;
    m.stop_when_empty = r->mode & 16;
    m.memory = m.d = sim_local(s, 0, 1u << NPU_UB);
    uint32_t align = m.proposals && m.half ? PROPOSAL : VEC_BLOCK; /* MrgSort4.md */
    if (!m.d || !sim_aligned(s, 0, align) || !repeats_ok(s))
        return false;
    m.to = rec_byte(r->operand[0].address);
    uint64_t step = 0;
    for (uint32_t i = 0; i < LISTS; i++) {
        m.list[i] = i < 3 ? rec_byte(r->operand[i + 1].address) : r->n[5];
        m.length[i] = r->mode >> i & 1 ? r->n[1 + i] : 0;
        step += (uint64_t)m.length[i] * m.unit;
        if (m.length[i] > 4095) {
            sim_report(s, SIM_FAULT_BAD_PARAMETER, "list %u has %u entries; at most 4095", i,
                       m.length[i]);
            return false;
        }
    }
    if (r->n[0] == 0)
        return true;
    if (!merge_ranges(s, &m, r->n[0], step))
        return false;
    for (uint32_t i = 0; i < r->n[0]; i++) {
        merge_run(&m, true);
        for (uint32_t k = 0; k < LISTS; k++)
            m.list[k] += step;
        m.to += step;
    }
    for (uint32_t i = 0; i < LISTS; i++)
        s->core->pub.view->merged[i] = (uint16_t)m.taken[i];
    return true;
}

/* --- proposals --- */

/* One repeat: 16 proposals. A field nobody wrote stays undefined wherever its proposal goes; a
 * score nobody wrote leaves the order open. */
static void sort_repeat(SimMemory *d, uint64_t to, const SimMemory *a, uint64_t from)
{
    float score[16];
    uint8_t order[16], out[256];
    bool known[128], ordered = true;
    for (uint32_t i = 0; i < 16; i++) {
        score[i] = half_at(a->at + from + PROPOSAL * i + 8);
        ordered = ordered && memory_known(a, from + PROPOSAL * i + 8, 2);
    }
    order_of(score, 16, order);
    for (uint32_t i = 0; i < 16; i++)
        memcpy(out + PROPOSAL * i, a->at + from + PROPOSAL * order[i], PROPOSAL);
    for (uint32_t i = 0; i < 128; i++)
        known[i] = ordered && memory_known(a, from + PROPOSAL * order[i / 8] + 2 * (i % 8), 2);
    memcpy(d->at + to, out, sizeof out);
    for (uint32_t i = 0; i < 128; i++)
        memory_set_known(d, to + 2 * i, 2, known[i]);
}

static bool sort_proposals(Step *s)
{
    uint64_t to, from;
    uint32_t n = s->r->n[0];
    if (!repeats_ok(s))
        return false;
    SimMemory *d = open_at(s, 0, VEC_BLOCK, 256ull * n, &to);
    SimMemory *a = d ? open_at(s, 1, VEC_BLOCK, 256ull * n, &from) : NULL;
    if (!a)
        return false;
    for (uint32_t r = 0; r < n; r++)
        sort_repeat(d, to + 256ull * r, a, from + 256ull * r);
    return true;
}

/* One field of 16 proposals a repeat, in or out. */
static bool move_field(Step *s)
{
    bool concat = s->r->op == NPU_PROPOSAL_CONCAT;
    uint32_t n = s->r->n[0], field = s->r->mode;
    uint64_t to, from;
    if (!repeats_ok(s))
        return false;
    if (field > 5) {
        sim_report(s, SIM_FAULT_BAD_MODE, "proposal field %u; there are 0 to 5", field);
        return false;
    }
    SimMemory *d = open_at(s, 0, VEC_BLOCK, (concat ? 256ull : 32ull) * n, &to);
    SimMemory *a = d ? open_at(s, 1, VEC_BLOCK, (concat ? 32ull : 256ull) * n, &from) : NULL;
    if (!a)
        return false;
    for (uint64_t i = 0; i < 16ull * n; i++) {
        uint64_t packed = i * PROPOSAL + 2 * field, loose = 2 * i;
        uint64_t in = from + (concat ? loose : packed), out = to + (concat ? packed : loose);
        memmove(d->at + out, a->at + in, 2);
        memory_copy_known(d, out, a, in, 2);
    }
    return true;
}

bool exec_sort(Step *s)
{
    switch (s->r->op) {
    case NPU_SORT32: return sort32(s);
    case NPU_MERGE_SORT:
    case NPU_MERGE_SORT4: return merge(s);
    case NPU_RP_SORT16: return sort_proposals(s);
    default: return move_field(s);
    }
}
