/* What is known of an integer expression without running it: bounds and divisibility.
 * `ir_annotate` computes them once for every variable of a program, from the ranges of its
 * sizes and choices, through the launches, into the loops; after it the other two are exact
 * readings of the same facts for any expression. Lowering and the prover both rest on this. */
#ifndef IR_RANGE_H
#define IR_RANGE_H

#include "ir/ir.h"
#include "npu/npu.h"

/* Inclusive; INT64_MIN and INT64_MAX stand for "no bound". */
typedef struct IrInterval {
    int64_t lo, hi;
} IrInterval;

/* Fills lo, hi and multiple of CHOICE, HOST, PARAM, LOOP and once-assigned LOCAL variables. */
void ir_annotate(IrProgram *p, const NpuChip *chip);
/* The same for whoever comes after the asserts of the host, as kernels and lowering do: what they
 * say of products of sizes and choices holds, too. */
void ir_annotate_launched(IrProgram *p, const NpuChip *chip);
IrInterval ir_interval(const IrProgram *p, const NpuChip *chip, IrExprId id);
/* The largest m known such that the value is always a multiple of m; 0: it is always 0. */
int64_t ir_multiple(const IrProgram *p, const NpuChip *chip, IrExprId id);
int64_t ir_chip_value(const NpuChip *chip, IrChipFact fact);
/* How often each variable is assigned, by statements of any kind but loops. In the arena. */
uint32_t *ir_count_assigns(const IrProgram *p, Arena *arena);

#endif
