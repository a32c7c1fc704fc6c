/* Timing combinations at shapes, piece by piece; see tune_rule.h. In: a Craft program and shapes.
 * Out: the table of predicted times. */
#include "loop/tune_rule.h"

#include "craft/craft.h"
#include <string.h>

typedef struct TunePiece {
    double us;
    VerdictStatus status;
} TunePiece;

struct TuneWork {
    Arena *arena;
    TuneSpec spec;
    TuneTable *table;
    EvalTimer *timer;
    bool tried;        /* to make it */
    TunePiece *pieces; /* by shape, then combination */
    bool needs_data;   /* some piece's time depends on values: none but those before it count */
};

TuneWork *tune_work_open(Arena *arena, const TuneSpec *spec, const EvalOperand *const *shapes,
                         uint32_t count, TuneTable *table, Diag *diag)
{
    const EvalCraft *c = spec->candidate;
    TuneWork *w = arena_new(arena, TuneWork);
    *w = (TuneWork){.arena = arena, .spec = *spec, .table = table};
    *table = (TuneTable){0};
    CraftFile *file = craft_read(arena, c->file, c->text, diag);
    IrProgram *p = file && diag_ok(diag) ? craft_program(arena, file, 0, diag) : NULL;
    if (!p)
        return NULL;
    tune_rows(arena, p, spec->budget, &table->rows);
    for (uint32_t s = 0; s < count; s++) {
        TuneShape shape = {.operands = shapes[s]};
        if (!tune_sizes(arena, p, shapes[s], table, shape.size))
            continue;
        shape.us = arena_array(arena, double, table->rows.len + 1);
        vec_push(arena, &table->shapes, shape);
    }
    w->pieces = arena_array(arena, TunePiece, tune_work_pieces(w) + 1);
    return w;
}

uint32_t tune_work_pieces(const TuneWork *w) { return w->table->shapes.len * w->table->rows.len; }

bool tune_work_wanted(const TuneWork *w) { return !w->needs_data; }

static EvalTimer *timer_of(TuneWork *w)
{
    const EvalCraft *c = w->spec.candidate;
    Diag said = diag_make(w->arena, c->file, c->text);
    Verdict v = verdict_make();
    if (!w->tried)
        w->timer = eval_timer_open(w->arena, c, w->spec.graph, w->spec.config, &v, &said);
    w->tried = true;
    return w->timer;
}

void tune_work_do(TuneWork *w, uint32_t piece, Buf *answer)
{
    Arena scratch = {0};
    uint32_t rows = w->table->rows.len;
    const TuneRow *row = &w->table->rows.at[piece % rows];
    const TuneShape *shape = &w->table->shapes.at[piece / rows];
    EvalTimer *timer = timer_of(w);
    Verdict v = verdict_make();
    bool ran = timer && eval_timer_run(&scratch, timer, shape->operands, row->settings,
                                       row->setting_count, &v);
    TunePiece p = {ran ? v.predicted_us : -1, v.status};
    buf_add(answer, &p, sizeof p);
    arena_drop(&scratch);
}

void tune_work_take(TuneWork *w, uint32_t piece, Str answer)
{
    TunePiece p = {.us = -1, .status = VERDICT_INTERNAL};
    if (answer.len == sizeof p)
        memcpy(&p, answer.at, sizeof p);
    w->pieces[piece] = p;
    w->needs_data |= p.status == VERDICT_NEEDS_DATA;
}

static bool some_row_runs(const TuneTable *table)
{
    for (uint32_t i = 0; i < table->rows.len; i++) {
        bool all = true;
        for (uint32_t s = 0; s < table->shapes.len; s++)
            all = all && table->shapes.at[s].us[i] > 0;
        if (all)
            return true;
    }
    return false;
}

/* As if they had been done in order and ended with the first whose time depends on values. */
static void fill_table(TuneWork *w)
{
    uint32_t rows = w->table->rows.len, all = tune_work_pieces(w);
    for (uint32_t i = 0; i < all; i++) {
        w->table->shapes.at[i / rows].us[i % rows] = w->pieces[i].us;
        if (w->pieces[i].status == VERDICT_NEEDS_DATA) {
            w->table->shapes.len = i / rows + 1;
            return;
        }
    }
}

bool tune_work_end(TuneWork *w)
{
    fill_table(w);
    eval_timer_close(w->timer);
    return w->table->shapes.len && some_row_runs(w->table);
}

bool tune_table(Arena *arena, const TuneSpec *spec, const EvalOperand *const *shapes,
                uint32_t count, TuneTable *table, Diag *diag)
{
    TuneWork *w = tune_work_open(arena, spec, shapes, count, table, diag);
    Buf answer = {0};
    if (!w)
        return false;
    for (uint32_t i = 0; i < tune_work_pieces(w) && tune_work_wanted(w); i++) {
        buf_clear(&answer);
        tune_work_do(w, i, &answer);
        tune_work_take(w, i, buf_view(&answer));
    }
    buf_free(&answer);
    return tune_work_end(w);
}
