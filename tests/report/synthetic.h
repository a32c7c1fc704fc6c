/* Stores made up for the tests of the report: as many attempts as wanted, of every status, some of
 * them conversations, with texts as hostile as a model could write. */
#ifndef TESTS_REPORT_SYNTHETIC_H
#define TESTS_REPORT_SYNTHETIC_H

#include "report/report.h"

typedef struct SyntheticSpec {
    uint32_t runs, tasks, samples; /* samples of each task in each run */
    uint32_t text_bytes;           /* of a candidate, about */
    bool hostile;                  /* names and texts that try to break out of the page */
    bool traces;                   /* a trace for the first attempts */
    bool all_traces;               /* one for every attempt, each task its own */
    bool measured;                 /* on this machine, beside the predicted times */
} SyntheticSpec;

/* A new store at `path`, and its runs with scores made up. */
Store *synthetic_store(Arena *arena, const char *path, const SyntheticSpec *spec, Diag *diag);
const ReportRun *synthetic_runs(Arena *arena, const SyntheticSpec *spec);
/* A trace of so many cores and instructions, as sim/trace.h writes it. */
Str synthetic_trace(Arena *arena, uint32_t cores, uint32_t instructions);

/* What a hostile text contains. */
extern const char synthetic_attack[];

#endif
