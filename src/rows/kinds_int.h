/* Inside the making of rows: one task on its way to rows, and what the files that make rows of it share. */
#ifndef ROWS_KINDS_INT_H
#define ROWS_KINDS_INT_H

#include "rows/rows_int.h"

enum {
    POINTS = 5,  /* schedules that are timed for a task */
    REPAIRS = 2, /* rows of a task */
};

typedef struct Work {
    const RowsMaker *maker;
    Arena *arena;
    Dice dice;
    RowsTask task;
    RowsCases cases;
    RowsProgram at[POINTS]; /* the fastest first */
    uint32_t points;
    uint64_t graph;
    uint32_t number; /* of the next row */
    VEC(Str) twins;  /* broken programs that get an AscendC copy */
    RowsMade *made;
} Work;

Str work_text(Work *w, Buf *out);      /* frees `out` */
bool work_drop(Work *w, RowsDrop why); /* counts it; false */
/* Whether this row is judged through the text, too. */
bool work_is_confirmed(Work *w, const Row *row);
Row work_row(Work *w, RowsKind kind, const RowsProgram *program);

/* ---- errors ---- */

/* What came of a task for an error. */
typedef enum WorkEnd { WORK_NO_PLACE, WORK_MISSED, WORK_MADE } WorkEnd;
typedef WorkEnd WorkMake(Work *w, RowsKind kind, uint32_t want);
/* The rows of a kind, each with the error whose turn it is, of this task (`is_made`) or of others in its place. */
void work_seek(Work *w, bool is_made, RowsKind kind, WorkMake *make);
/* A broken program of the want, by any of the table's rows for it. */
bool work_break(Work *w, Str text, uint32_t want, RowsBreak *broken);
/* Whether the error raised what it is meant to, which its cause speaks of. Wrong values: always. */
bool work_is_explained(const RowsBreak *broken, const Verdict *verdict, const Diag *diag);
/* Whether the row counts for the want, or for none. */
bool work_is_wanted(const Row *row, uint32_t want);

/* ---- AscendC (kinds_ascendc.c) ---- */

void work_ascendc(Work *w, RowsKind kind);
WorkEnd work_mend(Work *w, RowsKind kind, uint32_t want);
/* Gives a row the same in AscendC, as a kernel for one shape and as a whole operator. */
void work_twins_of_write(Work *w, Row *row);
/* `broken`: the row's program; where it has no values to be wrong (the checker refuses it), another error of the same
 * right program that has. */
void work_twins_of_repair(Work *w, Row *row, const RowsBreak *broken, bool wrong_values);

#endif
