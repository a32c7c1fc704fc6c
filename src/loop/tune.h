/* Searching a program's choices with the cycle model: every combination of its `choose` values, in
 * order, timed without values at the given shapes. Deterministic; the default comes first. */
#ifndef LOOP_TUNE_H
#define LOOP_TUNE_H

#include "eval/time.h"

typedef struct TuneRow {
    const EvalSetting *settings;
    uint32_t setting_count;
    double us; /* predicted; negative: it would not run, and why says why */
    const char *why;
} TuneRow;

typedef VEC(TuneRow) TuneRows;

typedef struct TuneSpec {
    const EvalCraft *candidate; /* its operands have the shapes to tune for */
    const Graph *graph;
    const EvalConfig *config;
    uint32_t budget; /* most runs; 0: all combinations */
    uint32_t jobs;   /* processes of tune_program; 0 and 1: this one. The result is the same */
    /* Called after each run; NULL: nobody. */
    void (*progress)(void *context, const TuneRow *row, uint32_t done, uint32_t all);
    void *context;
} TuneSpec;

typedef struct TuneResult {
    TuneRows rows;   /* the first is the default */
    uint32_t best;   /* number of the best row, the earlier one of equals */
    uint32_t all;    /* combinations there are; more than rows: the budget ended first */
    Verdict verdict; /* of the best */
} TuneResult;

/* Every combination of the program's choices, the default first; at most `most`, 0: all. */
void tune_rows(Arena *arena, const IrProgram *p, uint32_t most, TuneRows *rows);
/* False: not even the default would run; result->verdict says why. */
bool tune_program(Arena *arena, const TuneSpec *spec, TuneResult *result, Diag *diag);
/* The program with the row's values as defaults. */
Str tune_apply(Arena *arena, Str craft, const TuneRow *row);
/* "tile = 4096, depth = 2" */
const char *tune_text(Arena *arena, const TuneRow *row);

#endif
