/* Trying a program's choices; see tune.h. In: a Craft program and shapes. Out: a predicted time
 * per combination. */
#include "loop/tune.h"

#include "craft/craft.h"

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

static void try_row(Arena *arena, const TuneSpec *spec, EvalTimer *timer, TuneRow *row,
                    TuneResult *result)
{
    Verdict v = verdict_make();
    bool ran = eval_timer_run(arena, timer, spec->candidate->operands, row->settings,
                              row->setting_count, &v);
    row->us = ran ? v.predicted_us : -1;
    row->why = ran ? NULL : v.reason;
    bool first = result->rows.len == 0;
    bool better = ran && !first && result->rows.at[result->best].us >= 0 &&
                  row->us < result->rows.at[result->best].us;
    if (first || better || (ran && result->rows.at[result->best].us < 0)) {
        result->best = result->rows.len;
        result->verdict = v;
    }
    vec_push(arena, &result->rows, *row);
}

bool tune_program(Arena *arena, const TuneSpec *spec, TuneResult *result, Diag *diag)
{
    const EvalCraft *c = spec->candidate;
    Choices choices = {0};
    *result = (TuneResult){.verdict = verdict_make()};
    CraftFile *file = craft_read(arena, c->file, c->text, diag);
    IrProgram *p = file && diag_ok(diag) ? craft_program(arena, file, 0, diag) : NULL;
    EvalTimer *timer = p ? eval_timer_open(arena, c, spec->graph, spec->config, &result->verdict,
                                           diag)
                         : NULL;
    if (!timer)
        return false;
    find_choices(p, &choices);
    result->all = combinations(&choices);
    uint32_t most = spec->budget && spec->budget < result->all ? spec->budget : result->all;
    TuneRows rows = {0};
    tune_rows(arena, p, most, &rows);
    for (uint32_t i = 0; i < rows.len; i++) {
        try_row(arena, spec, timer, &rows.at[i], result);
        if (spec->progress)
            spec->progress(spec->context, &rows.at[i], i + 1, most);
    }
    eval_timer_close(timer);
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

/* choose("tile", [4096, 2048]) with 2048 first */
static Str put_first(Arena *arena, Str craft, const EvalSetting *s)
{
    const char *head = str_format(arena, "choose(\"%s\", [", s->name);
    ptrdiff_t at = str_find(craft, str_from(head));
    if (at < 0)
        return craft;
    size_t from = (size_t)at + str_from(head).len;
    Str rest = str_slice(craft, from, craft.len), piece;
    ptrdiff_t end = str_find(rest, STR("]"));
    if (end < 0)
        return craft;
    Str list = str_slice(rest, 0, (size_t)end);
    const char *value = str_format(arena, "%lld", (long long)s->value);
    Buf out = {0};
    buf_str(&out, str_slice(craft, 0, from));
    buf_puts(&out, value);
    while (str_next(&list, ',', &piece)) {
        piece = str_trim(piece);
        if (!str_is(piece, value))
            buf_printf(&out, ", %.*s", STR_ARG(piece));
    }
    buf_str(&out, str_slice(rest, (size_t)end, rest.len));
    Str text = str_from(buf_take(&out, arena));
    buf_free(&out);
    return text;
}

Str tune_apply(Arena *arena, Str craft, const TuneRow *row)
{
    for (uint32_t i = 0; i < row->setting_count; i++)
        craft = put_first(arena, craft, &row->settings[i]);
    return craft;
}
