/* Inside the checker: the walk's state and what its parts give each other. */
#ifndef IR_PROVE_INT_H
#define IR_PROVE_INT_H

#include "ir/poly.h"
#include "ir/prove.h"

/* A scalar that is 0 when a loop begins and grows once in each of its turns, by no more than the
 * piece in hand; so over all cores by no more than `most`, the size of all pieces together. */
typedef struct ProofTotal {
    IrVarId loop; /* the variable of the loop's first axis */
    IrVarId var;
    Poly most;
} ProofTotal;

/* A prefix over the cores' counts, as proof_prefix.c draws it. */
typedef struct ProofPrefix {
    IrVarId start,
        all; /* sums over the cores before this one and over all cores; 0: nobody adds them up */
    IrExprId count; /* this core's own */
    uint32_t at;    /* statement of the kernel behind which `start` is known */
    bool bounded;   /* all counts together stay inside what a split of the kernel has */
} ProofPrefix;

/* The share whose piece holds all that a statement touches, on this axis of its tensor. */
typedef struct ProofHome {
    IrStmtId share; /* 0: none */
    uint32_t axis;
} ProofHome;

typedef struct ProofWalk {
    Arena *arena;
    IrProgram *p;
    const NpuChip *chip;
    Prover *pr;
    IrReport *report;
    Diag *diag;
    uint32_t kernel;
    const IrKernel *k;
    VEC(ProofTotal) totals;
    ProofPrefix prefix;
    ProofHome *homes; /* per statement; found by proof_accesses */
    IrRange held; /* range of a loop that is taken to turn once for the moment (proof_cross.c) */
} ProofWalk;

void proof_add(ProofWalk *w, IrProofKind kind, IrProofState state, Span at, const char *text);
/* Facts that hold inside a loop or a share; the caller restores facts.len afterwards. What was
 * known of scalars that the loop's body assigns is forgotten. */
void proof_enter_loop(ProofWalk *w, const IrStmt *loop);
void proof_assume_loop(ProofWalk *w, const IrStmt *loop); /* of its axes alone */
void proof_enter_share(ProofWalk *w, const IrStmt *share);
/* After a statement: what it assigned is forgotten, what it leaves known holds to the end of the
 * block. */
void proof_leave(ProofWalk *w, const IrStmt *s);
void proof_forget_assigned(ProofWalk *w, const IrStmt *s); /* by the statement and inside it */

/* Calls `each` for every variable that the block assigns, at any depth. */
void proof_each_assigned(const IrProgram *p, const IrBlock *block,
                         void each(void *context, IrVarId var), void *context);

/* A rule that carries a state through a kernel. */
typedef struct ProofFlow ProofFlow;
struct ProofFlow {
    ProofWalk *w;
    void *state; /* what is known at this place */
    size_t bytes;
    bool silent;                                       /* only the state at the end is needed */
    void (*step)(ProofFlow *f, const IrStmt *s);       /* a statement without blocks of its own */
    void (*forget)(void *flow, IrVarId var);           /* the scalar gets another value */
    void (*begin_loop)(ProofFlow *f, const IrStmt *s); /* before its first turn; NULL: nothing */
    /* The state is that at the end of a turn, `before` what held at the beginning of each. */
    void (*end_loop)(ProofFlow *f, const IrStmt *s, void *before);
    /* The state is that after the else, `then` that after the other branch. */
    void (*end_if)(ProofFlow *f, const IrStmt *s, void *then);
};

void proof_flow(ProofFlow *f, const IrBlock *block);
void proof_flow_kernel(ProofFlow *f);

void proof_accesses(ProofWalk *w); /* bounds, views, shapes, alignment, loops, sync */
void proof_coverage(ProofWalk *w); /* cover, once */
void proof_outputs(ProofWalk *w);  /* every output has a kernel that writes it; of the host */
/* Per tensor of the kernel: an inout parameter that has to write all of an output. */
const bool *proof_first_writers(const ProofWalk *w);
void proof_written(ProofWalk *w);
void proof_gm(ProofWalk *w); /* written, of tensors */
void proof_gather(ProofWalk *w);
void proof_capacity(ProofWalk *w);
void proof_channels(ProofWalk *w);
void proof_arith(ProofWalk *w);
void proof_arith_host(ProofWalk *w);
void proof_cross(ProofWalk *w); /* accesses of several cores to one tensor */

/* May the value differ between cores? It names the core, or a scalar computed or read there. */
bool proof_differs(const ProofWalk *w, IrExprId e);
const char *proof_expr(ProofWalk *w, IrExprId e);
/* Whether the expression has the same value on every core and each time it is evaluated. */
bool proof_is_steady(const ProofWalk *w, IrExprId e);
/* A share or a loop that splits the same thing over all cores, the same whenever it is met. */
bool proof_splits_steadily(const ProofWalk *w, const IrStmt *s);

/* A store that appends to a tensor, in one turn of a loop with this total after the other:
 * t[b + total : b + total + e] = ..., then total += e. Then after the loop t[b : b + total] is
 * written. */
bool proof_appends(const ProofWalk *w, const IrStmt *loop, const IrStmt *store, uint32_t *axis,
                   IrVarId *total);

void proof_find_prefix(ProofWalk *w);
void proof_learn_sum(ProofWalk *w, const IrStmt *loop); /* after a loop that adds up counts */

#endif
