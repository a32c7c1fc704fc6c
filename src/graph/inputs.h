/* Inputs and parameters of a task.
 *
 * Values come from the graph's source graph under a seed: the same for reference and candidate, on
 * every machine. A law other than the file's own replaces its random numbers, for tasks that on
 * the inputs they ask for cannot tell a right answer from a trivial one (probe.h).
 */
#ifndef GRAPH_INPUTS_H
#define GRAPH_INPUTS_H

#include "graph/compare.h"
#include "graph/eval.h"

typedef enum InputLaw {
    LAW_GIVEN,  /* as the file says */
    LAW_VARIED, /* as the file says, but parameters that are one number, and inputs of zeros or
                     ones, vary around it */
    LAW_SIGNED, /* uniform becomes normal, scaled to the range; the rest as varied, from here on */
    LAW_WIDE,   /* normal(0, 4): both tails of saturating functions */
    LAW_NEAR_ONE, /* +-(1 + 0.01 normal): products neither vanish nor explode */
    LAW_POSITIVE, /* 0.5 + uniform(0, 2): away from 0, for logarithms and roots */
    LAW_EDGE,     /* signed with zeros, repeats, tiny and large values scattered in */
    LAW_COUNT
} InputLaw;

const char *input_law_name(InputLaw law);
bool input_law_from_name(Str name, InputLaw *law);

typedef struct TaskInputs {
    Tensor **inputs, **params; /* as graph_eval takes them */
    uint32_t n_inputs, n_params;
    uint64_t seed;
} TaskInputs;

/* Fills `out`; false with the reason in diag. Under every law but the file's own, indices that are
 * written to (index_copy, scatter, index_put) are made distinct, where that is possible: which of
 * several writes to one place wins is not defined. */
bool graph_inputs(const Graph *graph, uint64_t seed, InputLaw law, TaskInputs *out, Diag *diag);
/* One input or parameter by itself, of the file's own law: the same values graph_inputs gives it, at
 * the cost of this one. NULL: it has no source, or no memory. */
Tensor *graph_input(const Graph *graph, uint64_t seed, ValueId value, Diag *diag);
/* Makes indices that are written to distinct again. */
void graph_inputs_distinct(const Graph *graph, TaskInputs *in, uint64_t seed);
void graph_inputs_free(TaskInputs *in);

#endif
