/* Comparison of a candidate's output with the reference (rules derived in docs/tolerances.md).
 *
 * Shape, dtype, count and finiteness come first, whatever the rule; then each element against the
 * rule's tolerance. The result says how far off, where first, and what the errors look like.
 */
#ifndef GRAPH_COMPARE_H
#define GRAPH_COMPARE_H

#include "graph/tensor.h"

typedef enum CompareRule {
    RULE_ACRAFT,         /* per dtype, scaled to the output and the length of reductions */
    RULE_MKB,            /* |d| <= 1e-4 + 1e-4 |want|, bool exact */
    RULE_MKB_LOOSE,      /* as RULE_MKB with a tolerance of 1e-2, as the paper ran it */
    RULE_NPUKB,          /* bad when |d| > 1e-3 and |d| > 1e-3 (|want| + 1e-7) */
    RULE_NPUKB_SCALED,   /* |d| <= r max(1, |want|), r by dtype */
    RULE_NPUKB_MATMUL,   /* as RULE_NPUKB with the constants for matrix products */
    RULE_NPUKB_FRACTION, /* at most 0.1 % of elements off by more than 1e-3, absolute and relative */
    RULE_COUNT
} CompareRule;

const char *compare_rule_name(CompareRule rule);
bool compare_rule_from_name(Str name, CompareRule *rule); /* "acraft", "mkb", "npukb", ... */

enum { COMPARE_OTHERS = 3 };

/* What a rule must know of the task. Zero: nothing known, as for one elementwise operator. */
typedef struct CompareSpec {
    CompareRule rule;
    int64_t reduction; /* elements summed into one at most */
    int64_t depth;     /* rounding operators on the longest path from an input */
    double noise;      /* rms error of the graph's own f32 evaluation, when it was measured */
    const Tensor *
        own; /* the result of that evaluation, where some of its elements are far off; NULL otherwise */
    /* Rule acraft: other right answers, where a float that is rounded to a whole number lies so near a tie
     * that its own error decides; an element may be that of any of them. NULL: none. */
    const Tensor *others[COMPARE_OTHERS];
    double bound; /* npukb, npukb-fraction: in place of 1e-3; 0: as it is */
    int named;    /* npukb-scaled, -matmul: 1 + the dtype that decides; 0: the output's */
} CompareSpec;

/* How many products or terms of a node end in one element; 1 for elementwise operators. */
int64_t compare_reduction(const Graph *graph, const Node *node);

/* Reads reduction and depth off a graph. */
CompareSpec compare_spec(const Graph *graph, CompareRule rule);
/* By node: it rounds floats that are no whole numbers yet. From the heap; NULL: none does. */
bool *compare_roundings(const Graph *graph);
double compare_rms(const Tensor *tensor); /* of its finite elements */

typedef enum CompareStatus {
    COMPARE_OK,
    COMPARE_COUNT, /* another number of outputs */
    COMPARE_DTYPE,
    COMPARE_SHAPE,
    COMPARE_FINITE, /* inf or nan where the reference is finite, or the other way round */
    COMPARE_WRONG
} CompareStatus;

enum { PATTERN_MOST = 120 };

typedef struct CompareResult {
    CompareStatus status;
    double max_abs_err, max_rel_err;
    double tolerance_used; /* the largest error as a share of what its element may be off */
    int64_t count, bad;
    int64_t first_bad;          /* flat index; -1: none */
    Shape shape;                /* of the reference, to turn first_bad into coordinates */
    double got, want, allowed;  /* at first_bad */
    char pattern[PATTERN_MOST]; /* "all zeros", "the tail of every row, from column 96 on", ... */
} CompareResult;

/* `inputs` (may be NULL) are looked through for "equals input k". */
CompareResult compare_tensors(const Tensor *got, const Tensor *want, const CompareSpec *spec,
                              const Tensor *const *inputs, uint32_t n_inputs);
static inline bool compare_ok(const CompareResult *r) { return r->status == COMPARE_OK; }
/* Whether compare_tensors would be ok, without looking further than the first elements that are not.
 * `rms` is compare_rms(want); filled: every element is one value (of complex ones: only 0 can fit). */
bool compare_fits(const Tensor *got, const Tensor *want, const CompareSpec *spec, double rms);
bool compare_fits_filled(double value, const Tensor *want, const CompareSpec *spec, double rms);
/* One line: "wrong: 12 of 4096 elements, first [3,17] got 0 want 1.25 (allowed 2e-06); ..." */
void compare_print(const CompareResult *result, Buf *out);
/* What one element may be off, for tests and reports. rms is that of the whole reference. */
double compare_allowed(const CompareSpec *spec, DType dtype, double want, double rms);

#endif
