/* Full size with values, in part: tensors of full size hold the rows of a small case over and over; some blocks of a
 * launch run on them, as far as they come; what they write must be the small case's rows.
 *
 *     EvalSample s;
 *     if (eval_sample_open(arena, full, small, &s)) {
 *         ... launch with eval_sample_tensor(&s, value) and s.twin ...
 *         eval_sample_compare(arena, &s, verdict);
 *     }
 *     eval_sample_close(&s);
 *
 * Only for tasks whose rows depend on nothing but themselves (loop/bench_sample.c sees to that). Memory is that of the
 * small case, and of the pages that were written. */
#ifndef EVAL_SAMPLE_H
#define EVAL_SAMPLE_H

#include "eval/eval.h"
#include "twin/twin.h"

typedef struct EvalSample {
    const Graph *full;
    const EvalReference *small; /* reference of the same operator with fewer rows */
    TwinSample twin;
    TwinTensor *tensors; /* inputs, parameters, outputs of the full graph, in this order */
    uint32_t count;
    uint32_t
        launches; /* of kernels by host code so far: what one leaves in part another cannot go on from */
} EvalSample;

/* False: some tensor cannot be laid out so. To be closed all the same. */
bool eval_sample_open(Arena *arena, const Graph *full, const EvalReference *small, uint64_t seed,
                      EvalSample *sample);
void eval_sample_close(EvalSample *sample);
/* The memory of an input, a parameter or an output; NULL: it is none of them. */
const TwinTensor *eval_sample_tensor(const EvalSample *sample, ValueId value);
/* Another memory is what holds an output; the sample frees it. */
void eval_sample_replace(EvalSample *sample, uint32_t output, TwinTensor *memory);
/* True: something was written, and all of it is right. False: `verdict` says what is wrong; still ok: nothing was
 * written. */
bool eval_sample_compare(Arena *arena, const EvalSample *sample, Verdict *verdict);

#endif
