/* The checker: what is proved of a program over all shapes in its stated ranges. Each rule of
 * proof.def gives obligations; an obligation is proved, checked at run time (a warning, and
 * whoever runs the kernel looks at it) or refused (it fails for every shape: an error). */
#ifndef IR_PROVE_H
#define IR_PROVE_H

#include "ir/range.h"

typedef enum IrProofKind {
#define PROOF(name, ...) IR_PROOF_##name,
#include "ir/proof.def"
#undef PROOF
    IR_PROOF_COUNT
} IrProofKind;

typedef enum IrProofState { IR_PROVED, IR_WATCHED, IR_REFUSED } IrProofState;

typedef struct IrProofRow {
    const char *watch, *refuse, *rule, *repair;
    const char *bad, *good; /* Craft lines */
} IrProofRow;

extern const IrProofRow ir_proof_rows[IR_PROOF_COUNT];

typedef struct IrProofItem {
    IrProofKind kind;
    IrProofState state;
    uint32_t kernel;
    Span at;
    const char *text; /* NULL when proved */
} IrProofItem;

typedef struct IrReport {
    uint32_t count[3]; /* by IrProofState */
    VEC(IrProofItem) items;
    int64_t ub_peak, ub_size; /* bytes, the largest over kernels and choices */
} IrReport;

/* Annotates and proves. Adds a warning for each obligation left to run time, an error for each refused one.
 * True when none was refused. */
bool ir_prove(Arena *arena, IrProgram *p, const NpuChip *chip, IrReport *report, Diag *diag);

#endif
