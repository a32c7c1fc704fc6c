/* Writing the loop of an elementwise job: what each_body.c (tiles) and each_wide.c (one integer after
 * the other) share. */
#ifndef GEN_PLAN_EACH_LINES_H
#define GEN_PLAN_EACH_LINES_H

#include "gen/plan/each_int.h"

/* A value on chip: a buffer's view, a scalar's name, or a number. */
typedef struct EachCell {
    bool made, scalar, number;
    EachClass is;
    bool raw;         /* still in the dtype of memory */
    const char *text; /* as written */
    int slot;         /* of the buffer; -1: none */
    double value;
    uint32_t left; /* uses to come */
} EachCell;

typedef struct EachBody {
    EachPlan *p;
    const EachJob *job;
    const EachAxes *axes;
    EachBuffers *buffers;
    Buf loads, reads, steps, stores, *out;
    EachCell *cell; /* per use of the job */
    int depth;
    uint32_t number, scalars;
} EachBody;

/* One line, indented. */
void each_put(EachBody *b, Buf *out, const char *format, ...) ATTR_PRINTF(3, 4);
/* A buffer that is not in use, or a new one: its slot. */
int each_take(EachBody *b, char stem, DType dtype, int depth);
void each_free(EachBody *b, int slot); /* -1: none */
const char *each_view(EachBody *b, int slot);
/* Where the tensor is read or written; *tile: many elements at once, else one. */
const char *each_index(EachBody *b, const EachUse *use, const EachTensor *t, bool *tile);
/* The loop with its stages; everything written for the job is dropped. */
void each_finish(EachBody *b);

#endif
