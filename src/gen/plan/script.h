/* Programs written from a text with holes: for strategies whose kernels have one fixed form.
 *
 *     "for o, i, t in mine(outer, m, tiles(inner, $S)):"      $S is filled in
 *
 * A hole is `$` and a capital letter. $F is the operator's name, $P the parameters of the host
 * function (inputs, parameters of the task, outputs, in the task's order), $A their names. */
#ifndef GEN_PLAN_SCRIPT_H
#define GEN_PLAN_SCRIPT_H

#include "gen/plan/plan.h"

enum { SCRIPT_MAX_OPERANDS = 16 };

typedef struct ScriptOperand {
    ValueId value;
    bool output;
    const char *name, *dims; /* "x", "outer, n" */
    Shape shape;
} ScriptOperand;

typedef struct Script {
    Arena *arena;
    const Graph *g;
    const char *name;
    uint32_t n;
    ScriptOperand operand[SCRIPT_MAX_OPERANDS];
    const char *hole[26];
} Script;

void script_add(Script *s, ValueId value, bool output, const char *name, const char *dims,
                Shape shape);
void script_set(Script *s, char hole, const char *text);
void script_number(Script *s, char hole, int64_t number);
/* Puts the text with its holes filled. */
void script_put(const Script *s, const char *text, Buf *out);
/* The finished plan; its text is taken from `out`. */
void script_finish(const Script *s, const char *strategy, int64_t tile, Buf *out, Plan *plan);
Shape script_shape2(int64_t a, int64_t b);
Shape script_shape3(int64_t a, int64_t b, int64_t c);
/* Product of the dims from..to-1. */
int64_t script_product(Shape s, int from, int to);

#endif
