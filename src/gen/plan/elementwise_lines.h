/* Writing the loop of an elementwise job: what elementwise_body.c (tiles) and elementwise_int64.c (one integer after
 * the other) share. */
#ifndef GEN_PLAN_ELEMENTWISE_LINES_H
#define GEN_PLAN_ELEMENTWISE_LINES_H

#include "gen/plan/elementwise_int.h"

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
void elementwise_put(EachBody *b, Buf *out, const char *format, ...) ATTR_PRINTF(3, 4);
/* A buffer that is not in use, or a new one: its slot. */
int elementwise_take(EachBody *b, char stem, DType dtype, int depth);
void elementwise_free(EachBody *b, int slot); /* -1: none */
const char *elementwise_view(EachBody *b, int slot);
/* Where the tensor is read or written; *tile: many elements at once, else one. */
const char *elementwise_index(EachBody *b, const EachUse *use, const EachTensor *t, bool *tile);
/* The loop with its stages; everything written for the job is dropped. */
void elementwise_finish(EachBody *b);

#endif
