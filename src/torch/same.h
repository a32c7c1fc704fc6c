/* Do two tasks mean the same? Three means, from the strictest to the widest:
 *
 *   normal forms    graph_normal: equal text proves equal meaning
 *   plain forms     graph_plain: the same, however tensors are held and handed over
 *   elements        unroll.h: every element of every result is the same scalar expression, at the
 *                   sizes at hand; integer inputs that a file's control flow looked at have the
 *                   values drawn, and so do numbers that one file holds as a tensor, the other as
 *                   an attribute; a branch taken on floating values is assumed, as taken
 *
 * Where the other task is a suite's reference with an op definition beside it (opdef.h), a
 * difference in the types of results, or results the reference leaves out, is settled by that
 * definition: our operands must be its operands, our results have its types. */
#ifndef TORCH_SAME_H
#define TORCH_SAME_H

#include "torch/torch.h"

/* From the strictest answer to the loosest; up to TORCH_SAME_LAST it is the same operator. */
typedef enum TorchSame {
    TORCH_SAME,     /* also in how inputs are drawn */
    TORCH_DRAWN,    /* inputs drawn otherwise */
    TORCH_ARRANGED, /* operands held otherwise */
    TORCH_DEFINED,  /* results typed by the op definition, equal before the last cast */
    TORCH_ADDED,    /* ... and results of the op definition that the reference leaves out */
    TORCH_SAME_LAST = TORCH_ADDED,
    TORCH_TYPED, /* equal before the last cast, no definition settles it */
    TORCH_PART,  /* theirs are among ours, no definition settles it */
    TORCH_DIFFERENT,
    TORCH_SAME_COUNT
} TorchSame;

typedef struct TorchSameAnswer {
    TorchSame same;
    bool by_element; /* proved element by element */
    bool too_large;  /* not tried: more elements than the budget */
    bool at_values;  /* for the values drawn, see above */
    const char *why; /* why they could not be compared; NULL: no reason */
    Buf a, b;        /* DIFFERENT: normal forms, the caller's to free */
} TorchSameAnswer;

const char *torch_same_name(TorchSame same);

typedef struct TorchSameHow {
    const char *theirs_path; /* finds the op definition */
    uint64_t seed;           /* both were read with it */
    int64_t budget;          /* steps for the comparison by elements (unroll.h) */
} TorchSameHow;

TorchSameAnswer torch_same(Arena *arena, const TorchTask *ours, const TorchTask *theirs,
                           const TorchSameHow *how);

#endif
