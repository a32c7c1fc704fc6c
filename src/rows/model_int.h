/* Inside the writer of model files: a graph and the names of its values so far. */
#ifndef ROWS_MODEL_INT_H
#define ROWS_MODEL_INT_H

#include "rows/rows_int.h"

enum { WORD_METHODS = 1, WORD_INLINE = 2, WORD_NEGATIVE = 4, INLINE_MOST = 48 };

typedef struct Writer {
    Arena *arena;
    const Graph *g;
    uint64_t wording;
    const char **name; /* by value: a variable or an expression */
    bool *infix;       /* the expression needs brackets */
    uint32_t next;
    Buf body;
    bool failed;
} Writer;

const char *model_number(Arena *arena, double number);
/* An operand as an expression; NULL: it is not there. */
const char *model_operand(Writer *w, const Node *node, uint32_t i);
const char *model_bracketed(Writer *w, const Node *node, uint32_t i); /* fit for .method() */
const char *model_list(Writer *w, const Attr *list);                  /* "1, 2" */
/* The result that the graph uses: of sorts and the like the values, or the places. */
ValueId model_result(const Graph *graph, const Node *node);
/* Operators of the families behind MIXED (model_wide.c); NULL: it has no spelling. */
const char *model_wide(Writer *w, const Node *node);

#endif
