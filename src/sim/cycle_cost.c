/* Costs of single instructions, from isa.def, chip.def and cost.def. */
#include "sim/cycle_cost.h"
#include <string.h>

enum { BLOCK = 32, GROUPS = 16, REPEAT = 256 };

/* UB is 16 bank groups of 32-byte rows. Rows read in one repeat, counted by group: a byte each. */
typedef unsigned __int128 Groups;

/* The rows of one repeat whose first row is in group 0. One block that all eight lanes read (stride 0) is asked more than
 * once (ONE_BLOCK). */
static Groups rows_from_0(const RecordOperand *o, uint32_t blocks)
{
    Groups groups = 0;
    if (o->block_stride == 0 && blocks > 1)
        return (Groups)cost_constant(NPU_C_ONE_BLOCK);
    for (uint32_t b = 0; b < blocks; b++)
        groups += (Groups)1 << 8 * ((uint64_t)b * o->block_stride % GROUPS);
    return groups;
}

static Groups turned(Groups groups, uint64_t row)
{
    uint32_t by = 8 * (uint32_t)(row % GROUPS);
    return by ? groups << by | groups >> (128 - by) : groups;
}

/* How many rows the busiest group gives. */
static uint32_t fullest(Groups groups)
{
    uint8_t count[GROUPS], most = 1;
    memcpy(count, &groups, sizeof count);
    for (int i = 0; i < GROUPS; i++)
        most = count[i] > most ? count[i] : most;
    return most;
}

/* Which operands of a vector instruction lie as rows in UB. */
typedef struct Rows {
    int sources; /* operands 1 to that */
    bool result;
    bool both; /* the result is read first */
} Rows;

static Rows rows_of(const Record *r, enum NpuForm form)
{
    switch (form) {
    case NPU_F_BINARY: return (Rows){.sources = 2, .result = true};
    case NPU_F_TERNARY: return (Rows){.sources = 2, .result = true, .both = true};
    case NPU_F_UNARY:
    case NPU_F_SCALAR:
    case NPU_F_CAST: return (Rows){.sources = 1, .result = true};
    case NPU_F_AXPY: return (Rows){.sources = 1, .result = true, .both = true};
    case NPU_F_DUP: return (Rows){.result = true};
    case NPU_F_REDUCE: return (Rows){.sources = 1};
    case NPU_F_COMPARE: return (Rows){.sources = r->op == NPU_COMPARE_SCALAR ? 1 : 2};
    case NPU_F_SELECT: return (Rows){.sources = r->mode == NPU_SEL_SCALAR ? 1 : 2, .result = true};
    case NPU_F_MOVE: return (Rows){.sources = r->op == NPU_COPY, .result = r->op == NPU_COPY};
    default: return (Rows){0};
    }
}

/* The operands as the bank groups see them: rows of the first repeat, steps to the next. */
typedef struct Asked {
    Groups rows[4];
    uint64_t at[4], step[4];
    int reads, all; /* those read come first */
} Asked;

static void ask(Asked *a, const RecordOperand *o, uint32_t blocks)
{
    if (rec_space(o->address) != NPU_UB)
        return;
    a->rows[a->all] = rows_from_0(o, blocks);
    a->at[a->all] = rec_byte(o->address) / BLOCK;
    a->step[a->all++] = o->repeat_stride;
}

static Asked asked_by(const Record *r, Rows rows, uint32_t blocks)
{
    Asked a = {0};
    for (int i = 1; i <= rows.sources; i++)
        ask(&a, &r->operand[i], blocks);
    if (rows.both)
        ask(&a, &r->operand[0], blocks);
    a.reads = a.all;
    if (rows.result)
        ask(&a, &r->operand[0], blocks);
    return a;
}

/* Cycles of one repeat by bank groups: rows read from one group in turn, rows written likewise. */
static uint32_t repeat_rows(const Asked *a, uint32_t repeat)
{
    Groups reads = 0, writes = 0;
    for (int i = 0; i < a->all; i++)
        *(i < a->reads ? &reads : &writes) += turned(a->rows[i], a->at[i] + repeat * a->step[i]);
    uint32_t read = fullest(reads), write = fullest(writes);
    return read > write ? read : write;
}

/* When all operands move on alike, every repeat asks the groups in the same pattern. */
static bool in_step(const Record *r, Rows rows)
{
    uint16_t first = r->operand[rows.result ? 0 : 1].repeat_stride;
    for (int i = 1; i <= rows.sources; i++)
        if ((r->operand[i].repeat_stride ^ first) % GROUPS)
            return false;
    return true;
}

/* Addresses repeat modulo the 16 groups, so a few repeats tell about all. */
static double conflict_factor(const Record *r, Rows rows, SimRepeats reps)
{
    uint32_t blocks = (reps.elements * reps.widest + BLOCK - 1) / BLOCK;
    uint32_t sampled = reps.repeats < GROUPS ? reps.repeats : GROUPS, cycles = 0;
    if (sampled && in_step(r, rows))
        sampled = 1;
    Asked asked = asked_by(r, rows, blocks > 8 ? 8 : blocks);
    for (uint32_t i = 0; i < sampled; i++)
        cycles += repeat_rows(&asked, i);
    return sampled ? (double)cycles / sampled : 1;
}

static uint32_t plain_repeats(const Record *r)
{
    if (r->op == NPU_MERGE_SORT || r->op == NPU_MERGE_SORT4)
        return (r->n[1] + r->n[2] + r->n[3] + r->n[4] + 31) / 32 * r->n[0];
    if (r->op == NPU_GATHER_MASK) { /* in counter mode the mask counts the elements of one repeat */
        SimRepeats each = sim_repeats(r);
        return r->flags & REC_COUNTER ? each.repeats * r->n[0] : r->n[0];
    }
    if (r->op == NPU_COPY_UB_UB)
        return (uint32_t)(((uint64_t)r->n[0] * r->n[1] + REPEAT - 1) / REPEAT);
    return r->n[0];
}

InstructionCost cost_vector(const Record *r)
{
    const NpuIsa *row = npu_isa(r->op);
    SimRepeats reps = sim_repeats(r);
    InstructionCost cost = {.head = row->head, .tail = row->tail};
    bool counted = row->form != NPU_F_SORT && row->form != NPU_F_MOVE && row->form != NPU_F_COPY &&
                   r->op != NPU_GATHER_MASK;
    double repeats = counted || r->op == NPU_COPY ? reps.repeats : plain_repeats(r);
    cost.work = repeats * row->per_repeat;
    Rows rows = rows_of(r, row->form);
    if (rows.sources || rows.result) {
        /* A slow instruction has the time to fetch its rows one after the other. */
        double extra = (conflict_factor(r, rows, reps) - row->per_repeat) * repeats;
        cost.conflict = extra > 0 ? extra : 0;
        cost.work += cost.conflict;
    }
    return cost;
}

static double rate_of(uint32_t bytes_per_cycle, uint64_t bytes)
{
    return bytes_per_cycle ? (double)bytes / bytes_per_cycle : 0;
}

InstructionCost cost_cube(const Record *r, const NpuChip *chip, const SimAccess *access, uint32_t n,
                          bool hf32)
{
    InstructionCost cost = {.head = npu_isa(r->op)->head};
    uint64_t written = 0;
    for (uint32_t i = 0; i < n; i++)
        written += access[i].write ? sim_access_bytes(&access[i]) : 0;
    if (r->op == NPU_MMAD) {
        uint32_t bits = npu_dtype_bits(r->dtype[1]), k0 = bits ? 256 / bits : 16;
        double tiles = (double)((r->n[0] + 15) / 16) * ((r->n[1] + 15) / 16) *
                       ((r->n[2] + k0 - 1) / k0);
        cost.head = cost_constant(NPU_C_MAD_START);
        cost.work = tiles * (bits == 32 && !hf32 ? 2 : 1);
    } else if (r->op == NPU_FIXPIPE_L1) {
        cost.work = (double)written / cost_constant(NPU_C_FIX_L1);
    } else {
        bool a = rec_space(r->operand[0].address) == NPU_L0A;
        cost.work = rate_of(a ? chip->l1_l0a_rate : chip->l1_l0b_rate, written) /
                        cost_constant(NPU_C_L0_USED) +
                    cost_constant(NPU_C_MTE1_ISSUE);
    }
    return cost;
}
