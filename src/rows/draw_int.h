/* Inside the drawing of tasks: a graph that grows, with its sizes as Python expressions. */
#ifndef ROWS_DRAW_INT_H
#define ROWS_DRAW_INT_H

#include "rows/rows_int.h"

enum { DRAW_INPUTS = 8 };

/* A size: the number it has in this task, and how the file writes it. */
typedef struct Size {
    int64_t n;
    const char *text;
    int64_t factor; /* the text is "factor * name": the axis can be split; 0: it cannot */
} Size;

typedef struct Sizes {
    int rank;
    Size dim[GRAPH_MAX_RANK];
} Sizes;

typedef struct Draw {
    Arena *arena;
    Dice dice;
    Graph *g;
    Diag diag;
    RowsFamily family;
    uint32_t families; /* of which a step was drawn: a bit for each */
    DType dtype;
    VEC(Sizes) sizes; /* by value */
    VEC(RowsKnob) knobs;
    Sizes inputs[DRAW_INPUTS];
    const char
        *below[DRAW_INPUTS]; /* of integer inputs: the text of their upper bound in the file */
    VEC(ValueId) older;      /* values that may be used again */
    VEC(ValueId) results;    /* further ones */
    ValueId at;              /* the newest value */
    bool failed;
    bool ended; /* no further step: a place, or one value */
} Draw;

static inline Sizes draw_sizes(const Draw *d, ValueId id) { return d->sizes.at[id]; }
/* Adds a node; on failure notes it and gives `at`. `sizes`: of its result. */
ValueId draw_node(Draw *d, Op op, int kind, const ValueId *in, uint32_t n_in, const Attr *attr,
                  uint32_t n_attr, Sizes sizes);
ValueId draw_input(Draw *d, Sizes sizes, DType dtype);
ValueId draw_mask_input(Draw *d, Sizes sizes);              /* booleans */
ValueId draw_index_input(Draw *d, Sizes sizes, Size below); /* integers from 0 on */
ValueId draw_whole_input(Draw *d, Sizes sizes, DType dtype, Size below);
ValueId draw_number(Draw *d, double number);
ValueId draw_whole(Draw *d, int64_t number); /* as Python's integers are */
ValueId draw_tensor(Draw *d, Op op, int kind, const ValueId *in, uint32_t n_in, const Attr *attr,
                    uint32_t n_attr);                  /* a node of its first operand's sizes */
Size draw_knob(Draw *d, int64_t n);                    /* a new size of the file */
Sizes draw_first_sizes(Draw *d);                       /* of a task's first input */
void draw_set_sizes(Draw *d, ValueId id, Sizes sizes); /* of a node's second result */

/* Pieces of steps (draw_step.c). */
ValueId draw_unary(Draw *d, int kind, ValueId x, double a, double b);
ValueId draw_binary(Draw *d, int kind, ValueId a, ValueId b);
ValueId draw_positive(Draw *d, ValueId x); /* |x| + 0.5 */
/* Draws a unary operator on operands that stay in the function's domain (spell.def). */
ValueId draw_unary_in_domain(Draw *d, int kind, ValueId x);
ValueId draw_binary_in_domain(Draw *d, int kind, ValueId a, ValueId b);
/* Over the axes whose bit is set; with all of them and without `keep` one value. */
ValueId draw_reduce(Draw *d, int kind, ValueId x, uint32_t dims, bool keep);
double draw_scale(Draw *d); /* a positive number as files have them */

/* Steps of draw_more.c. */
const char *draw_name(Draw *d); /* of an input: no other has it */
void draw_large(Draw *d, Sizes *sizes);
void draw_scan(Draw *d);
void draw_channel(Draw *d);
void draw_update(Draw *d);
void draw_place(Draw *d);
void draw_scalar(Draw *d);
/* Steps of draw_kinds.c. */
void draw_distance(Draw *d);
void draw_pick(Draw *d);
void draw_compare(Draw *d);
bool draw_masked_input(Draw *d); /* where and products with an input of booleans */
bool draw_whole_norm(Draw *d);   /* divided by one value of all elements */
/* A whole task of a family behind MIXED (draw_wide.c); its pieces in draw_integer.c, draw_rare.c. */
void draw_wide(Draw *d);
void draw_integers(Draw *d);
void draw_move(Draw *d);
void draw_rare(Draw *d);
void draw_shipped(Draw *d); /* draw_shipped.c */
/* The sizes with axis `dim` of n elements, a number in the file. */
Sizes draw_with(Draw *d, Sizes sizes, int dim, int64_t n);
Attr draw_ints(Draw *d, AttrKey key, const int64_t *from, uint32_t n);
/* One more step on the newest value: elementwise, or one of a family. */
void draw_elementwise(Draw *d);
void draw_step(Draw *d, RowsFamily family);

#endif
