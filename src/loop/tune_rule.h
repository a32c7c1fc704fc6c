/* Choices as a rule over the shape: `tile = 2048 if n0 < 131072 else 8192`.
 *
 *     shapes x combinations, timed without values ─▶ table ─▶ the rule that loses least ─▶ Craft
 *
 * A rule asks one size, or the product of all, against one threshold; a constant is preferred
 * unless a rule gains. What it loses against each shape's own best is known for the shapes it was
 * fitted on; tests and bench/plan ask for it at others. */
#ifndef LOOP_TUNE_RULE_H
#define LOOP_TUNE_RULE_H

#include "loop/tune.h"

enum { TUNE_SIZES = 9 }; /* dims of a program, and their product */

/* Times at one shape, one for each combination; negative: it does not run. */
typedef struct TuneShape {
    const EvalOperand *operands;
    int64_t size[TUNE_SIZES];
    double *us;
} TuneShape;

typedef struct TuneTable {
    const char *name[TUNE_SIZES]; /* "n0", "n1", "n0 * n1" */
    uint32_t names;
    TuneRows rows; /* the combinations */
    VEC(TuneShape) shapes;
} TuneTable;

typedef struct TuneRule {
    uint32_t size;           /* asks table->name[size] < below */
    int64_t below;           /* 0: the same everywhere */
    uint32_t small, large;   /* of table->rows: below it, and otherwise */
    double mean_loss, worst; /* time / own best - 1, over the table's shapes */
} TuneRule;

/* The sizes that the program's dims have for these operands, in their order; false: some dim stands
 * nowhere alone. */
bool tune_dims(const IrProgram *p, const EvalOperand *operands, int64_t *dims);
/* Those that its kernels read, by name, and their product. */
bool tune_sizes(Arena *arena, const IrProgram *p, const EvalOperand *operands, TuneTable *table,
                int64_t size[TUNE_SIZES]);
/* Times spec's candidate at every shape (its own operands are not looked at). False: not even one
 * combination runs at every shape. */
bool tune_table(Arena *arena, const TuneSpec *spec, const EvalOperand *const *shapes,
                uint32_t count, TuneTable *table, Diag *diag);

/* The same in pieces, one for each shape and combination, for whoever has several processes
 * (pieces.h); tune_table does them one after the other. The text is compiled by the first piece a
 * process does. */
typedef struct TuneWork TuneWork;
/* NULL: the program is refused. `table` is filled as answers come. */
TuneWork *tune_work_open(Arena *arena, const TuneSpec *spec, const EvalOperand *const *shapes,
                         uint32_t count, TuneTable *table, Diag *diag);
uint32_t tune_work_pieces(const TuneWork *work);
bool tune_work_wanted(const TuneWork *work); /* until a piece says that values decide */
void tune_work_do(TuneWork *work, uint32_t piece, Buf *answer);
void tune_work_take(TuneWork *work, uint32_t piece, Str answer);
/* As tune_table returns; closes what was opened here. */
bool tune_work_end(TuneWork *work);

TuneRule tune_fit(const TuneTable *table);
/* What the rule takes there, over the shape's own best, less 1. */
double tune_loss(const TuneRule *rule, const TuneShape *shape, uint32_t rows);
/* The program with the rule in place of the choices it decides. */
Str tune_rule_apply(Arena *arena, Str craft, const TuneTable *table, const TuneRule *rule);
/* "tile = 2048 if n0 < 131072 else 8192"; "" where there is no choice */
const char *tune_rule_text(Arena *arena, const TuneTable *table, const TuneRule *rule);

#endif
