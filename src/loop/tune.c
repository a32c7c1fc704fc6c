/* Trying a program's choices; see tune.h. In: a Craft program and shapes. Out: a predicted time
 * per combination. */
#include "loop/tune.h"

#include "craft/craft.h"
#include "loop/pieces.h"
#include "loop/craft_edit.h"

enum { MAX_CHOICES = 8 };

typedef struct Choices {
    const IrVar *of[MAX_CHOICES];
    uint32_t at[MAX_CHOICES]; /* which value is next */
    uint32_t len;
} Choices;

static void find_choices(const IrProgram *p, Choices *c)
{
    for (uint32_t i = 0; i < p->vars.len && c->len < MAX_CHOICES; i++)
        if (p->vars.at[i].kind == IR_VAR_CHOICE && p->vars.at[i].choices.len)
            c->of[c->len++] = &p->vars.at[i];
}

static uint32_t combinations(const Choices *c)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < c->len && n < UINT32_MAX; i++)
        n *= c->of[i]->choices.len;
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* The last choice turns fastest. */
static bool turn(Choices *c)
{
    for (uint32_t i = c->len; i-- > 0;) {
        if (++c->at[i] < c->of[i]->choices.len)
            return true;
        c->at[i] = 0;
    }
    return false;
}

static TuneRow row_of(Arena *arena, const Choices *c)
{
    EvalSetting *settings = arena_array(arena, EvalSetting, c->len + 1);
    for (uint32_t i = 0; i < c->len; i++)
        settings[i] = (EvalSetting){c->of[i]->name, (double)c->of[i]->choices.at[c->at[i]]};
    return (TuneRow){.settings = settings, .setting_count = c->len, .us = -1};
}

void tune_rows(Arena *arena, const IrProgram *p, uint32_t most, TuneRows *rows)
{
    Choices choices = {0};
    find_choices(p, &choices);
    do {
        vec_push(arena, rows, row_of(arena, &choices));
    } while (turn(&choices) && (!most || rows->len < most));
}

/* ---- every combination, over processes ---- */

typedef struct Trying {
    Arena *arena;
    const TuneSpec *spec;
    EvalTimer *timer;
    TuneResult *result;
    Verdict *verdicts; /* by row */
    uint32_t done;
} Trying;

static bool wanted(void *context, uint32_t row)
{
    (void)context, (void)row;
    return true;
}

static void work(void *context, uint32_t number, Buf *answer)
{
    const Trying *t = context;
    const TuneRow *row = &t->result->rows.at[number];
    Arena scratch = {0};
    Verdict v = verdict_make();
    eval_timer_run(&scratch, t->timer, t->spec->candidate->operands, row->settings,
                   row->setting_count, &v);
    verdict_to_json(&v, answer);
    arena_drop(&scratch);
}

static void take_row(void *context, uint32_t number, Str answer, const char *died)
{
    Trying *t = context;
    TuneRow *row = &t->result->rows.at[number];
    Verdict *v = &t->verdicts[number];
    Diag quiet = diag_make(t->arena, "", (Str){0});
    if (died || !verdict_from_json(t->arena, answer, v, &quiet)) {
        *v = verdict_make();
        verdict_fail(v, VERDICT_INTERNAL, STAGE_RUN,
                     str_format(t->arena, "it was not timed: %s", died ? died : "no answer"));
    }
    row->us = v->status == VERDICT_OK ? v->predicted_us : -1;
    row->why = v->status == VERDICT_OK ? NULL : v->reason;
    if (t->spec->progress)
        t->spec->progress(t->spec->context, row, ++t->done, t->result->rows.len);
}

/* The earlier of equals; the first where none runs. */
static uint32_t best_of(const TuneRows *rows)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < rows->len; i++)
        if (rows->at[i].us >= 0 && (rows->at[best].us < 0 || rows->at[i].us < rows->at[best].us))
            best = i;
    return best;
}

bool tune_program(Arena *arena, const TuneSpec *spec, TuneResult *result, Diag *diag)
{
    const EvalCraft *c = spec->candidate;
    Choices choices = {0};
    Trying t = {.arena = arena, .spec = spec, .result = result};
    *result = (TuneResult){.verdict = verdict_make()};
    CraftFile *file = craft_read(arena, c->file, c->text, diag);
    IrProgram *p = file && diag_ok(diag) ? craft_program(arena, file, 0, diag) : NULL;
    t.timer = p ? eval_timer_open(arena, c, spec->graph, spec->config, &result->verdict, diag)
                : NULL;
    if (!t.timer)
        return false;
    find_choices(p, &choices);
    result->all = combinations(&choices);
    tune_rows(arena, p, spec->budget, &result->rows);
    t.verdicts = arena_array(arena, Verdict, result->rows.len);
    pieces_do(&(Pieces){result->rows.len, spec->jobs, wanted, work, take_row, &t});
    eval_timer_close(t.timer);
    result->best = best_of(&result->rows);
    result->verdict = t.verdicts[result->best];
    return result->rows.at[result->best].us >= 0;
}

const char *tune_text(Arena *arena, const TuneRow *row)
{
    Buf out = {0};
    for (uint32_t i = 0; i < row->setting_count; i++)
        buf_printf(&out, "%s%s = %lld", i ? ", " : "", row->settings[i].name,
                   (long long)row->settings[i].value);
    char *text = out.len ? buf_take(&out, arena) : "no choices";
    buf_free(&out);
    return text;
}

Str tune_apply(Arena *arena, Str craft, const TuneRow *row)
{
    for (uint32_t i = 0; i < row->setting_count; i++)
        craft = edit_choice_first(arena, craft, row->settings[i].name,
                                  (int64_t)row->settings[i].value);
    return craft;
}
