/* The reference interpreter: what a tile IR program means, and what is wrong with it.
 *
 *     IrRun run = {.p = program, .chip = chip, .operands = operands};
 *     ir_run(&arena, &run);
 *     if (run.status == IR_RUN_OK) ... operands[i].items[0].data
 *
 * Cores run one after the other, in order or permuted by `seed`, each until it ends or waits
 * (sync_all, a channel); the same seed gives the same run. Every element of on-chip memory and
 * of written tensors has a shadow: what is read before it is written, outside its bounds,
 * misaligned, of the wrong size, or written by two cores without a sync_all() between, is a
 * fault with its place and its numbers.
 *
 * Meaning of numbers. An elementwise operation is computed as if exactly (transcendental
 * functions: in double) and rounded once to the element type, nearest even. bf16 is computed as
 * f32; i8, u8 and bool as f16, then rounded and saturated. i16, i32, i64 and their unsigned
 * kin wrap. Sums and products of reductions, scans and mmad accumulate in double in the order of
 * the elements and are rounded once at the end (mmad: once per mmad, to f32). Casts round
 * once by the named mode; to integers they saturate, and NaN becomes 0. min, max and their
 * reductions give NaN when any operand is. Sorting puts NaN first, as the largest.
 *
 * With `addresses_only` no data exists: scalars that come from data are unknown, what depends
 * on them is skipped, and everything else is checked as before. */
#ifndef IR_RUN_H
#define IR_RUN_H

#include "ir/ir.h"
#include "npu/npu.h"

typedef enum IrFaultKind {
#define PROOF(name, ...) IR_FAULT_##name,
#include "ir/proof.def"
#undef PROOF
#define FAULT(name, ...) IR_FAULT_##name,
#include "ir/fault.def"
#undef FAULT
    IR_FAULT_COUNT
} IrFaultKind;

typedef struct IrFaultRow {
    const char *code, *rule, *repair;
} IrFaultRow;

extern const IrFaultRow ir_fault_rows[IR_FAULT_COUNT];

typedef struct IrFault {
    IrFaultKind kind;
    Span at;
    uint32_t kernel; /* UINT32_MAX: the host */
    int64_t core;
    const char *text; /* "core 3 reads x at flat offset 4096 of 4000" */
} IrFault;

/* A host tensor: row-major, without gaps. */
typedef struct IrData {
    uint32_t rank;
    int64_t dims[IR_MAX_RANK];
    void *data;
} IrData;

/* One operand: a tensor, a list of them, or an optional one that is absent (count 0). */
typedef struct IrOperand {
    uint32_t count;
    IrData *items;
} IrOperand;

typedef struct IrValue {
    int64_t i; /* i64, bool */
    float f;
} IrValue;

typedef enum IrRunStatus {
    IR_RUN_OK,
    IR_RUN_REFUSED, /* a shape, an attribute or an assert of the host function: `text` */
    IR_RUN_FAULT,   /* `faults` */
} IrRunStatus;

typedef struct IrRun {
    const IrProgram *p; /* verified */
    const NpuChip *chip;
    /* In the order of the program's operands. An output without data gets its shape and its
     * memory, in the arena, from the run. With addresses_only only lists are looked at, and
     * whether optional tensors are there; NULL: all are, lists are empty. */
    IrOperand *operands;
    const int64_t *dims;    /* in the order of p->dims; NULL: read from the operands */
    const IrValue *attrs;   /* in the order of p->attrs; NULL: the defaults */
    const int64_t *choices; /* of the CHOICE variables in order; NULL: the defaults */
    uint64_t seed;          /* 0: cores in order */
    bool addresses_only;
    bool keep_going;    /* after a fault, with addresses_only */
    uint64_t max_steps; /* statements and 16ths of elements; 0: 2^32 */
    uint64_t max_bytes; /* of workspaces, buffers and shadows; 0: 2^32 */

    IrRunStatus status;
    const char *text; /* why it was refused */
    VEC(IrFault) faults;
    uint64_t steps;
} IrRun;

/* Fills the lower half of `run`. True when the status is IR_RUN_OK. */
bool ir_run(Arena *arena, IrRun *run);

/* The shape of an operand (no list) under these sizes, in the order of p->dims, and attributes
 * (NULL: the defaults). Of `operands` only lists are looked at; NULL: they are empty. False: it
 * has no shape. */
bool ir_operand_shape(const IrProgram *p, const NpuChip *chip, const int64_t *dims,
                      const IrValue *attrs, IrOperand *operands, uint32_t operand, IrData *shape);

#endif
