/* Inside the checker: the walk's state and what its parts give each other. */
#ifndef IR_PROVE_INT_H
#define IR_PROVE_INT_H

#include "ir/poly.h"
#include "ir/prove.h"

typedef struct ProofWalk {
    Arena *arena;
    IrProgram *p;
    const NpuChip *chip;
    Prover *pr;
    IrReport *report;
    Diag *diag;
    uint32_t kernel;
    const IrKernel *k;
} ProofWalk;

void proof_add(ProofWalk *w, IrProofKind kind, IrProofState state, Span at, const char *text);
/* Facts that hold inside a loop, a share, an if; the caller restores facts.len afterwards. What
 * was known of scalars that the loop's body assigns is forgotten. */
void proof_enter_loop(ProofWalk *w, const IrStmt *loop);
void proof_enter_share(ProofWalk *w, const IrStmt *share);

/* Calls `each` for every variable that the block assigns, at any depth. */
void proof_each_assigned(const IrProgram *p, const IrBlock *block,
                         void each(void *context, IrVarId var), void *context);

void proof_accesses(ProofWalk *w); /* bounds, views, shapes, alignment, loops, sync */
void proof_coverage(ProofWalk *w); /* cover, once */
void proof_outputs(ProofWalk *w);  /* every output has a kernel that writes it; of the host */
/* Per tensor of the kernel: an inout parameter that has to write all of an output. */
const bool *proof_first_writers(const ProofWalk *w);
void proof_written(ProofWalk *w);
void proof_gm(ProofWalk *w); /* written, of tensors */
void proof_capacity(ProofWalk *w);
void proof_channels(ProofWalk *w);
void proof_arith(ProofWalk *w);
void proof_arith_host(ProofWalk *w);
void proof_cross(ProofWalk *w); /* cores meeting in one tensor */

/* May the value differ between cores? It names the core, or a scalar computed or read there. */
bool proof_differs(const ProofWalk *w, IrExprId e);
const char *proof_expr(ProofWalk *w, IrExprId e);

#endif
