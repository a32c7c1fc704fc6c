/* The probe: can this task, on these inputs, tell a right kernel from a trivial one?
 *
 *     relu on numbers in [0, 1)          the input passes            -> law signed
 *     product of 4096 such numbers       zeros pass                  -> law near-one
 *     a maximum minus its own mean       zeros pass for any input    -> reported; nothing to be done
 *
 * Finds what would pass and what is never exercised, and picks the law (inputs.h) under which
 * least of that is left, while every value stays finite.
 */
#ifndef GRAPH_PROBE_H
#define GRAPH_PROBE_H

#include "graph/inputs.h"

/* FLAG(NAME, "what it means") */
#define PROBE_FLAGS(FLAG)                                                             \
    FLAG(ZEROS, "zeros pass")                                                         \
    FLAG(ONES, "ones pass")                                                           \
    FLAG(CONSTANT, "a constant passes")                                               \
    FLAG(INPUT, "an input passes")                                                    \
    FLAG(AFFINE, "a linear function of an input passes nearly everywhere")            \
    FLAG(MOSTLY_ZERO, "zeros pass for three of four elements that are not zero")      \
    FLAG(OTHER_SEED, "the answer to other inputs passes")                             \
    FLAG(DEAD_PARAM, "a parameter or input is all zeros or ones: ignoring it passes") \
    FLAG(DEAD_BRANCH, "a case of an operator never occurs (negative, clamped, ...)")  \
    FLAG(DEAD_STEP, "a reduction over one element does nothing")                      \
    FLAG(REPEATED_INDEX, "a place is written twice: the result is not defined")

enum {
#define FLAG(name, text) PROBE_BIT_##name,
    PROBE_FLAGS(FLAG)
#undef FLAG
        PROBE_FLAG_COUNT
};
#define PROBE(name) (1u << PROBE_BIT_##name)
/* What a task may not let pass if its score is to mean anything. */
#define PROBE_TRIVIAL \
    (PROBE(ZEROS) | PROBE(ONES) | PROBE(CONSTANT) | PROBE(INPUT) | PROBE(OTHER_SEED))

const char *probe_flag_text(int bit);

typedef struct Probe {
    InputLaw law;   /* the one to use */
    unsigned given; /* PROBE(...) flags under the file's own inputs */
    unsigned left;  /* flags that remain under `law`; not 0: no law excludes these answers */
} Probe;

bool graph_probe(const Graph *graph, const CompareSpec *spec, const EvalOptions *options,
                 Probe *probe, Diag *diag);
/* One line: "zeros pass; inputs: near-one", or nothing when there is nothing to say. */
void probe_print(const Probe *probe, Buf *out);

#endif
