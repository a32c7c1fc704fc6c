/* Inside make: a case, and what planning one gives. */
#ifndef LOOP_MAKE_INT_H
#define LOOP_MAKE_INT_H

#include "loop/make.h"

typedef struct MakeCase {
    const char *name;
    TorchScale scale;
    uint64_t seed;
    uint32_t draw;      /* which of the odd-sized cases */
    int64_t tile_limit; /* 0: the program as it is shipped */
    bool values;        /* the full size too is judged by its values */
} MakeCase;

typedef VEC(Str) MakeTexts;
/* An earlier text of the same program, which then need not be compiled again; else the text itself,
 * for the next. The reasons at the top may differ: they speak of one size. */
Str make_known(Arena *arena, MakeTexts *texts, Str craft);

typedef struct MakeJob {
    const MakeSpec *spec;
    TorchCases cases; /* listed beside the model file; the first is taken */
    MakeResult *result;
    MakeTexts texts; /* judged beside the shipped one */
    uint32_t all;    /* cases to judge */
    bool rounds;     /* f16 and bf16 are rounded at every step */
} MakeJob;

/* Plans the task's graph, as the job rounds. */
bool make_plan(Arena *arena, const MakeJob *job, Graph *graph, int64_t tile_limit, Plan *plan,
               Diag *diag);

/* Under strict: races that the device compiler's own synchronisation orders are kept as findings, but
 * a case with right values and no others is ok. True: it is such a case. */
bool make_excuse(const MakeSpec *spec, Verdict *verdict);

TorchOptions make_options(const MakeJob *job, uint64_t seed);
EvalCraft make_candidate(Arena *arena, const Plan *plan);

/* make_tune.c: the shipped program gets a rule over the shape for its choices, fitted at sizes
 * between small and medium. Leaves it as it is where there is nothing to choose. */
void make_tune(Arena *arena, MakeJob *job);
/* make_range.c: dims of the shipped program that are a stated size get its range. */
bool make_limit(Arena *arena, MakeJob *job, Diag *diag);

/* The text with a legend of the program's names that it speaks of (make_names.c). */
const char *make_names(Arena *arena, const Graph *graph, const Plan *plan, const char *text);

#endif
