/* Reference values: runs a graph on tensors, on the CPU, by all its threads.
 *
 *     Tensor **in = ..., **par = ...;                    inputs.h makes both
 *     EvalOptions o = {.wide = true};
 *     if (graph_eval(g, in, par, &o, outputs, &diag)) ...   outputs[i] is the caller's
 *
 * Numbers. f32 operators sum in double and round once; f16 and bf16 operators compute in f32 or
 * double and round once, as PyTorch does on the CPU; integers wrap. `wide` holds every f32 value
 * of the graph as f64 and rounds outputs at the end: the value the task means, against which a
 * kernel in f32 is judged. Results do not depend on the number of threads.
 * Randomness: dropout is the identity; `random` nodes read rng streams under `seed`.
 */
#ifndef GRAPH_EVAL_H
#define GRAPH_EVAL_H

#include "graph/tensor.h"

typedef struct EvalOptions {
    uint64_t seed;
    bool wide;     /* f32 as f64 */
    bool wide_out; /* with wide: outputs stay f64 instead of being rounded to f32 */
    /* 1 or -1: what is rounded to whole numbers (round, floor, ceil, trunc, a cast to integers) is first
     * moved up or down by the error it may have: `allowed` of its value and the rms of its tensor. */
    int nudge;
    const struct CompareSpec *allowed;
    int64_t memory; /* refuse before anything is allocated when more bytes are needed; 0: any */
} EvalOptions;

/* The most bytes held at once, inputs and parameters counted, found without allocating.
 * False when it is over 2^62. */
bool graph_eval_bytes(const Graph *graph, const EvalOptions *options, int64_t *peak);

/* `inputs` and `params` stand in the order of graph->inputs and graph->params, with the dtypes
 * and shapes of those values. Fills outputs[graph->outputs.len]; on failure all are NULL, the
 * reason is in diag, and false is returned. Outputs never share elements with inputs. */
bool graph_eval(const Graph *graph, Tensor *const *inputs, Tensor *const *params,
                const EvalOptions *options, Tensor **outputs, Diag *diag);
/* Evaluates the graph twice more, with every rounding to whole numbers nudged one way (0) and
 * the other (1). Fills others[2 * graph->outputs.len]; an output that does not differ from
 * `want` is NULL, and all are where nothing is rounded. */
bool graph_eval_others(const Graph *graph, Tensor *const *inputs, Tensor *const *params,
                       const EvalOptions *options, const struct CompareSpec *spec,
                       Tensor *const *want, Tensor **others, Diag *diag);
/* For a process that others of ours work beside: so many threads from now on. */
void graph_eval_threads(int most);

#endif
