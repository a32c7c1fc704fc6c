/* The rows of one task. In: its number. Out: rows to write, to repair, to optimise, to choose. */
#include "rows/kinds_int.h"

#include "base/hash.h"
#include "base/meter.h"
#include "eval/candidate.h"
#include "gen/prompt/prompt.h"
#include "graph/eval.h"
#include "loop/feedback.h"
#include <string.h>

enum {
    REPAIR_TRIES = 3,   /* places for an error that are tried in a program */
    OTHERS = 48,        /* tasks that are drawn for an error that a task has no place for */
    NUMBERS = 2048,     /* of which they are taken */
    CUBE_OPERATORS = 3, /* of a product whose repair is short enough */
    MISSES = 6,         /* programs with a place in which it raised something else */
    MOST_BYTES = 5000,  /* of a row: under 2,048 tokens, mostly */
};

const char *rows_kind_name(RowsKind kind)
{
    static const char *const names[] = {
#define KIND(id, name, share, yield, meaning) name,
#include "rows/kind.def"
#undef KIND
    };
    return names[kind];
}

uint32_t rows_kind_share(RowsKind kind)
{
    static const uint32_t shares[] = {
#define KIND(id, name, share, yield, meaning) share,
#include "rows/kind.def"
#undef KIND
    };
    return shares[kind];
}

uint32_t rows_kind_yield(RowsKind kind)
{
    static const uint32_t yields[] = {
#define KIND(id, name, share, yield, meaning) yield,
#include "rows/kind.def"
#undef KIND
    };
    return yields[kind];
}

bool rows_kind_is_long(RowsKind kind) { return kind == ROWS_FULL || kind == ROWS_MEND_FULL; }

Str work_text(Work *w, Buf *out)
{
    Str text = str_from(buf_take(out, w->arena));
    buf_free(out);
    return text;
}

bool work_drop(Work *w, RowsDrop why)
{
    w->made->dropped[why]++;
    return false;
}

/* ---- rows ---- */

static uint64_t schedule_hash(const RowsProgram *p)
{
    Buf text = {0};
    rows_put_schedule(p, &text);
    uint64_t hash = hash64(text.at, text.len);
    buf_free(&text);
    return hash;
}

Row work_row(Work *w, RowsKind kind, const RowsProgram *program)
{
    const Graph *g = w->task.read->graph;
    return (Row){
        .kind = kind,
        .number = str_format(w->arena, "%llu-%u", (unsigned long long)w->task.number, w->number++),
        .family = rows_family_name(w->task.family),
        .families = w->task.families,
        .flow = w->task.flow,
        .dtype = dtype_name(graph_value(g, g->inputs.at[0])->dtype),
        .operators = w->task.operators,
        .graph = w->graph,
        .schedule = schedule_hash(program),
        .error = "",
        .code = "",
        .verdict = "interpreter"};
}

static bool is_short(Work *w, const Row *row)
{
    return row->prompt.len + row->answer.len <= MOST_BYTES || work_drop(w, DROP_LONG);
}

static void add_row(Work *w, Row row)
{
    if (is_short(w, &row))
        vec_push(w->arena, &w->made->rows, row);
}

/* Through the AscendC text and the twin as well: the verdicts must be the same. */
static bool confirm(Work *w, Str craft, bool right, Row *row)
{
    Verdict verdict = verdict_make();
    Diag diag = diag_make(w->arena, "kernel.craft", craft);
    bool ok = rows_judge(w->arena, craft, &w->cases, w->maker->chip, true, &verdict, &diag);
    bool ours = rows_is_unjudged(verdict.status);
    if (verdict.status == VERDICT_NO_TOOL) {
        w->made->contradiction =
            "the twin judges no text here: it needs clang and the headers that are "
            "installed with acraft; --text 0 goes on without it";
        return false;
    }
    if (ok != right && !ours) {
        Buf out = {0};
        verdict_to_text(&verdict, &out);
        w->made->contradiction = str_format(
            w->arena, "task %llu: the interpreter says %s, the text %s\n%.*s\n%.*s",
            (unsigned long long)w->task.number, right ? "right" : "wrong", ok ? "right" : "wrong",
            STR_ARG(craft), (int)out.len, out.at);
        buf_free(&out);
        return false;
    }
    row->verdict = ours ? "interpreter" : "interpreter and text";
    return true;
}

/* A share of rows, and those that `data split` holds out unless it is told otherwise. */
bool work_is_confirmed(Work *w, const Row *row)
{
    bool drawn = dice_chance(&w->dice, w->maker->text_share);
    return drawn || (w->maker->text_share && rows_composition(row->prompt) % 1000 < ROWS_UNSEEN);
}

/* ---- prompts and answers ---- */

/* Brief questions have what a task of a user has: nothing says which sizes a program fixes. */
static RowsShow graph_shown(const Work *w) { return w->maker->brief ? SHOW_BARE : SHOW_GRAPH; }

static Str task_prompt(Work *w, const char *ask)
{
    Buf out = {0};
    buf_printf(&out, "%s\n\n", ask);
    bool file = dice_chance(&w->dice, 50);
    rows_put_task(&w->task, file && !w->maker->brief ? SHOW_FILE : graph_shown(w), &out);
    return work_text(w, &out);
}

static void put_reasons(Work *w, const RowsProgram *p, Buf *out)
{
    if (w->maker->brief)
        return;
    rows_put_reasons(w->maker->chip, p, &w->dice, out);
    buf_char(out, '\n');
}

static Str write_answer(Work *w, const RowsProgram *p, Str craft)
{
    Buf out = {0};
    put_reasons(w, p, &out);
    rows_put_schedule(p, &out);
    if (p->nest || w->maker->brief)
        buf_char(&out, '\n');
    prompt_rows_program(craft, &out);
    return work_text(w, &out);
}

static const char *ask_to_write(Work *w)
{
    static const char *const asks[] = {
        "Write a Craft kernel for this task on %s.", "Give a schedule and a Craft kernel (%s) for:",
        "Kernel wanted in Craft, vector cores of %s, for this task:"};
    int64_t ask = dice_below(&w->dice, 3);
    bool cube = w->at[0].cube.products > 0;
    return str_format(w->arena, asks[w->maker->brief || (cube && ask == 2) ? 0 : ask],
                      w->maker->chip->name);
}

static void make_write(Work *w)
{
    const RowsProgram *p = &w->at[0];
    Row row = work_row(w, ROWS_WRITE, p);
    row.prompt = task_prompt(w, ask_to_write(w));
    row.answer = write_answer(w, p, p->craft);
    if (work_is_confirmed(w, &row) && !confirm(w, p->craft, true, &row))
        return;
    if (!is_short(w, &row))
        return;
    work_twins_of_write(w, &row);
    vec_push(w->arena, &w->made->rows, row);
}

static void make_choose(Work *w)
{
    const RowsProgram *p = &w->at[0];
    if (!p->nest && !w->maker->brief) {
        w->made->dropped[DROP_SCHEDULE]++;
        return;
    }
    Row row = work_row(w, ROWS_CHOOSE, p);
    Buf out = {0};
    row.prompt = task_prompt(
        w, str_format(w->arena, "Which schedule for this task on %s?", w->maker->chip->name));
    put_reasons(w, p, &out);
    rows_put_schedule(p, &out);
    row.answer = work_text(w, &out);
    if (!work_is_confirmed(w, &row) || confirm(w, p->craft, true, &row))
        add_row(w, row);
}

/* ---- optimise ---- */

static void put_profile(const RowsProgram *p, Buf *out)
{
    buf_printf(out, "predicted %.1f us;", p->us);
    for (int i = 0, n = 0; i < NPU_PIPE_ALL; i++)
        if (p->share[i] > 0)
            buf_printf(out, "%s %s %.0f %%", n++ ? "," : "", rows_pipe_text((enum NpuPipe)i),
                       100 * p->share[i]);
    buf_puts(out, " of the slowest core's time\n");
}

static void make_optimise(Work *w)
{
    const RowsProgram *fast = &w->at[0], *slow = &w->at[w->points - 1];
    if (w->points < 2 || !npu_is_faster(NPU_TIME_VECTOR, fast->us, slow->us)) {
        w->made->dropped[DROP_NOT_FASTER]++;
        return;
    }
    Row row = work_row(w, ROWS_OPTIMISE, fast);
    Buf prompt = {0}, answer = {0};
    row.schedule ^= schedule_hash(slow) * 3;
    buf_puts(&prompt, "Make this kernel faster.\n\n");
    rows_put_task(&w->task, graph_shown(w), &prompt);
    buf_char(&prompt, '\n');
    rows_put_schedule(slow, &prompt);
    prompt_rows_program(slow->craft, &prompt);
    put_profile(slow, &prompt);
    row.prompt = work_text(w, &prompt);
    buf_printf(&answer, "Predicted: %.1f us in place of %.1f us. ", fast->us, slow->us);
    rows_put_changes(slow, fast, &w->dice, &answer);
    rows_put_reasons(w->maker->chip, fast, &w->dice, &answer);
    buf_char(&answer, '\n');
    rows_put_schedule(fast, &answer);
    buf_char(&answer, '\n');
    prompt_rows_program(fast->craft, &answer);
    row.answer = work_text(w, &answer);
    if (!is_short(w, &row))
        return;
    if (w->maker->text_share &&
        (!confirm(w, slow->craft, true, &row) || !confirm(w, fast->craft, true, &row)))
        return;
    add_row(w, row);
}

/* ---- repair ---- */

static const char *first_code(const Diag *diag)
{
    for (uint32_t i = 0; i < diag->items.len; i++)
        if (diag->items.at[i].level == DIAG_ERROR)
            return diag->items.at[i].code;
    return "";
}

static Str message_of(Work *w, const RowsBreak *broken, const Verdict *verdict, const Diag *diag)
{
    Buf out = {0};
    EvalCandidate candidate = {
        .form = FORM_CRAFT, .name = "kernel.craft", .entry = "", .extracted = ""};
    vec_push(w->arena, &candidate.texts, ((EvalText){"kernel.craft", broken->craft}));
    Feedback feedback = {.verdict = verdict, .diag = diag, .candidate = &candidate};
    feedback_text(w->arena, &feedback, &out);
    return work_text(w, &out);
}

static Str repair_answer(Work *w, const RowsBreak *broken, const RowsProgram *p)
{
    Buf out = {0};
    if (w->maker->brief) {
        prompt_rows_program(p->craft, &out);
        return work_text(w, &out);
    }
    buf_puts(&out, broken->cause);
    if (!broken->all)
        buf_printf(&out, " Line %u of the repaired program reads `%.*s`.", broken->line,
                   STR_ARG(str_trim(broken->right)));
    buf_puts(&out, "\n\n");
    prompt_rows_program(p->craft, &out);
    return work_text(w, &out);
}

bool work_is_explained(const RowsBreak *broken, const Verdict *verdict, const Diag *diag)
{
    bool raised = !*broken->code;
    for (uint32_t i = 0; i < diag->items.len && !raised; i++)
        raised = diag->items.at[i].level == DIAG_ERROR &&
                 !strcmp(diag->items.at[i].code, broken->code);
    for (uint32_t i = 0; i < verdict->hazards.len && !raised; i++)
        raised = !strcmp(verdict->hazards.at[i].code, broken->code);
    return raised;
}

bool work_is_wanted(const Row *row, uint32_t want)
{
    uint32_t got = rows_want_of(row->kind, str_from(row->error), str_from(row->code));
    return got == want || got == ROWS_WANTS;
}

bool work_break(Work *w, Str text, uint32_t want, RowsBreak *broken)
{
    uint32_t craft = rows_break_count(), n = want < craft ? craft : rows_wants();
    uint32_t from = want < craft ? 0 : craft;
    uint32_t first = (uint32_t)dice_below(&w->dice, n - from);
    Str class = str_from(want < craft ? "" : rows_twin_break_class(want - craft));
    Str code = str_from(want < craft ? rows_break_code(want) : rows_twin_break_code(want - craft));
    for (uint32_t i = 0; i < n - from; i++) {
        uint32_t row = from + (first + i) % (n - from);
        if (rows_want_is(row, class, code) &&
            (want < craft ? rows_break(w->arena, text, row, w->maker->chip, &w->dice, broken)
                          : rows_twin_break(w->arena, text, row - craft, &w->dice, broken)))
            return true;
    }
    return false;
}

static WorkEnd make_repair(Work *w, const RowsProgram *p, RowsBreak broken, uint32_t want)
{
    Verdict verdict = verdict_make();
    Diag diag = diag_make(w->arena, "kernel.craft", STR(""));
    if (rows_judge(w->arena, broken.craft, &w->cases, w->maker->chip, false, &verdict, &diag)) {
        w->made->dropped[DROP_HARMLESS]++;
        return WORK_MISSED;
    }
    Row row = work_row(w, ROWS_REPAIR, p);
    Buf prompt = {0}, task = {0};
    row.error = broken.class;
    row.code = verdict.status == VERDICT_WRONG ? "wrong values" : first_code(&diag);
    if (!*row.code && verdict.hazards.len)
        row.code = verdict.hazards.at[0].code;
    if (!*row.code)
        row.code = verdict_status_row(verdict.status)->text;
    if (!work_is_explained(&broken, &verdict, &diag) || !work_is_wanted(&row, want)) {
        w->made->dropped[DROP_OTHER]++;
        return WORK_MISSED;
    }
    rows_put_task(&w->task, graph_shown(w), &task);
    prompt_rows_repair(buf_view(&task), broken.craft, message_of(w, &broken, &verdict, &diag),
                       &prompt);
    buf_free(&task);
    row.prompt = work_text(w, &prompt);
    row.answer = repair_answer(w, &broken, p);
    bool runs = verdict.status == VERDICT_WRONG; /* the others are refused before they run */
    if (!is_short(w, &row) ||
        (work_is_confirmed(w, &row) && !confirm(w, runs ? broken.craft : p->craft, !runs, &row)))
        return WORK_NO_PLACE;
    row.task = task_prompt(w, ask_to_write(w));
    Dice again = w->dice; /* both programs get the same words around them */
    row.right = write_answer(w, p, p->craft);
    w->dice = again;
    row.worse = write_answer(w, p, broken.craft);
    work_twins_of_repair(w, &row, &broken, verdict.status == VERDICT_WRONG);
    vec_push(w->arena, &w->made->rows, row);
    return WORK_MADE;
}

/* A repair of the task's program. */
static WorkEnd work_repair(Work *w, RowsKind kind, uint32_t want)
{
    WorkEnd end = WORK_MISSED;
    RowsBreak broken;
    (void)kind;
    for (int i = 0; i < REPAIR_TRIES && end == WORK_MISSED; i++)
        end = work_break(w, w->at[0].craft, want, &broken) ? make_repair(w, &w->at[0], broken, want)
                                                           : WORK_NO_PLACE;
    return end;
}

/* ---- tasks ---- */

static bool draw_task(Work *w)
{
    bool differs;
    if (!rows_draw(w->arena, w->maker->seed, w->task.number, &w->task, &differs)) {
        if (differs)
            w->made->contradiction = str_format(
                w->arena, "task %llu: the reader makes another graph of its file\n%.*s",
                (unsigned long long)w->task.number, STR_ARG(w->task.model));
        return work_drop(w, DROP_GRAPH);
    }
    RowsNear near = w->maker->suites ? rows_near(w->arena, w->maker->suites, &w->task) : NEAR_NOT;
    if (near != NEAR_NOT)
        return work_drop(w, near == NEAR_GRAPH ? DROP_SUITE_GRAPH : DROP_SUITE_WORDS);
    Buf text = {0};
    graph_print(graph_normal(w->arena, w->task.read->graph), &text);
    w->graph = hash64(text.at, text.len);
    buf_free(&text);
    return true;
}

/* The program that every task has: of least analytic cost, with four pieces a core. */
static bool plan_task(Work *w)
{
    static const PlanPoint first = {.parts = 4}, round = {.parts = 4, .rounded = true};
    const Graph *graph = w->task.read->graph;
    if ((rows_is_short(graph) && rows_rounding_decides(w->arena, graph)) ||
        rows_place_decides(w->arena, graph))
        return work_drop(w, DROP_DECIDES);
    w->points = rows_program(w->arena, &w->task, w->maker->chip, w->maker->brief ? &round : &first,
                             &w->at[0]);
    return w->points || work_drop(w, DROP_PLAN);
}

static VerdictStatus judge_program(Work *w, const RowsProgram *p)
{
    Verdict verdict = verdict_make();
    Diag diag = diag_make(w->arena, "kernel.craft", STR(""));
    rows_judge(w->arena, p->craft, &w->cases, w->maker->chip, false, &verdict, &diag);
    return verdict.status;
}

static bool judge_task(Work *w)
{
    const RowsSizes *sizes = w->maker->brief ? &rows_sizes_brief : &rows_sizes;
    if (!rows_pin(w->arena, &w->task, w->at[0].craft, w->maker->chip))
        return work_drop(w, DROP_CASES);
    if (!rows_cases(w->arena, &w->task, w->at[0].craft, w->maker->chip, sizes, &w->dice, &w->cases))
        return work_drop(w, DROP_CASES);
    VerdictStatus status = judge_program(w, &w->at[0]);
    if (status != VERDICT_OK)
        return work_drop(w, status == VERDICT_WRONG ? DROP_ROUNDED : DROP_REFUSED);
    return rows_margin(w->arena, &w->task, w->at[0].craft, w->maker->chip, sizes, w->cases.law,
                       &w->dice) ||
           work_drop(w, DROP_ROUNDED);
}

static bool is_timed_already(const Work *w, Str craft)
{
    for (uint32_t i = 0; i < w->points; i++)
        if (str_equal(w->at[i].craft, craft))
            return true;
    return false;
}

/* Programs at further points of the schedule space, the fastest first. */
static void add_points(Work *w)
{
    static const PlanPoint points[] = {
        {.parts = 1}, {1, 4, 0, false}, {2, 4, 0, false}, {.parts = 4, .smaller = 3}};
    for (uint32_t i = 0; i < sizeof points / sizeof *points; i++) {
        RowsProgram p;
        if (!rows_program(w->arena, &w->task, w->maker->chip, &points[i], &p) ||
            is_timed_already(w, p.craft) || !rows_time(w->arena, w->maker->chip, &p))
            continue;
        uint32_t at = w->points++;
        for (; at > 0 && w->at[at - 1].us > p.us * 1.001; at--)
            w->at[at] = w->at[at - 1];
        w->at[at] = p;
    }
}

/* The task's program is judged already; the fastest and the slowest are shown, so they are judged, too. Timing is
 * what takes longest and comes last. */
static bool time_task(Work *w)
{
    if (w->maker->brief)
        return true;
    if (!rows_time(w->arena, w->maker->chip, &w->at[0]))
        return !w->at[0].nest || work_drop(w, DROP_TIME);
    Str judged = w->at[0].craft;
    add_points(w);
    while (!str_equal(w->at[0].craft, judged) && judge_program(w, &w->at[0]) != VERDICT_OK)
        memmove(&w->at[0], &w->at[1], --w->points * sizeof w->at[0]);
    const RowsProgram *slowest = &w->at[w->points - 1];
    if (w->points > 1 && !str_equal(slowest->craft, judged) &&
        judge_program(w, slowest) != VERDICT_OK)
        w->points = 1;
    return true;
}

/* False: it gives no rows. */
static bool make_task(Work *w)
{
    return draw_task(w) && plan_task(w) && judge_task(w) && time_task(w);
}

static Work *new_work(const RowsMaker *maker, uint64_t number, RowsMade *made)
{
    Work *w = arena_new(made->arena, Work);
    *w = (Work){.maker = maker,
                .arena = made->arena,
                .dice = {maker->seed ^ 0x9e3779b97f4a7c15u, number + 1, 0},
                .task = {.number = number},
                .made = made};
    return w;
}

/* ---- other tasks, for an error that the task's program has no place for ---- */

/* Before anything is run. The places that are tried later are drawn as if nobody had asked. */
static bool has_place(Work *w, uint32_t want)
{
    Dice kept = w->dice;
    RowsBreak broken;
    bool found = work_break(w, w->at[0].craft, want, &broken);
    w->dice = kept;
    return found;
}

/* The reasons of its answer name its time. */
static bool is_timed(Work *w)
{
    return w->maker->brief || rows_time(w->arena, w->maker->chip, &w->at[0]) || !w->at[0].nest;
}

/* Errors that only programs of the cube have a place for: other tasks are products then. */
static bool is_of_cube(uint32_t want)
{
    const char *class = want < rows_break_count() ? rows_break_class(want) : "";
    return !strcmp(class, "CUBE") || !strcmp(class, "CHANNEL") || !strcmp(class, "HANG");
}

/* Makes a row of the task of that number. Why it comes to nothing is not counted. */
static WorkEnd try_other(const Work *own, uint64_t number, RowsKind kind, uint32_t want,
                         WorkMake *make)
{
    RowsMade *made = own->made;
    Work *w = new_work(own->maker, number, made);
    uint32_t dropped[DROP_COUNT];
    memcpy(dropped, made->dropped, sizeof dropped);
    w->number = 10 * (uint32_t)kind;
    bool craft = kind == ROWS_REPAIR;
    bool ready = draw_task(w) && (!is_of_cube(want) || w->task.operators <= CUBE_OPERATORS) &&
                 plan_task(w) && (!craft || has_place(w, want)) && judge_task(w) &&
                 (!craft || is_timed(w));
    WorkEnd end = ready && !made->contradiction ? make(w, kind, want) : WORK_NO_PLACE;
    if (end == WORK_NO_PLACE)
        memcpy(made->dropped, dropped, sizeof dropped);
    rows_cases_free(&w->cases);
    return end;
}

/* Units are left for drawing another task. */
static bool may_seek(const RowsMade *made)
{
    return !made->contradiction && (!meter_left() || meter_left() > ROWS_SEEK_UNITS / 2);
}

void work_seek(Work *w, bool is_made, RowsKind kind, WorkMake *make)
{
    const RowsMaker *maker = w->maker;
    for (uint32_t i = 0; i < REPAIRS; i++) {
        uint32_t want = rows_want_at(w->made->turn[kind] * REPAIRS + i, kind != ROWS_REPAIR);
        WorkEnd end = is_made ? make(w, kind, want) : WORK_NO_PLACE;
        uint32_t misses = end == WORK_MISSED, others = 0;
        uint32_t most = is_of_cube(want) ? 3 * OTHERS
                                         : OTHERS; /* two thirds are not even planned */
        for (uint32_t k = 1; end != WORK_MADE && k < NUMBERS && others < most && misses < MISSES &&
                             may_seek(w->made);
             k++) {
            uint64_t number = rows_other_number(w->task.number, i * NUMBERS + k, maker->brief);
            if (is_of_cube(want) && rows_number_family(maker->seed, number) != FAMILY_PRODUCT)
                continue;
            others++;
            end = try_other(w, number, kind, want, make);
            misses += end == WORK_MISSED;
        }
    }
}

bool rows_prepare(Arena *arena, const RowsMaker *maker, uint64_t number, RowsTask *task,
                  RowsCases *cases)
{
    RowsMade made = {.arena = arena};
    Work *w = new_work(maker, number, &made);
    bool ok = draw_task(w) && plan_task(w) && judge_task(w);
    *task = w->task;
    *cases = w->cases;
    return ok;
}

static bool is_sought(int kind)
{
    return kind == ROWS_REPAIR || kind == ROWS_MEND || kind == ROWS_MEND_FULL;
}

static void make_kind(Work *w, RowsKind kind, bool is_made)
{
    switch (kind) {
    case ROWS_WRITE: make_write(w); break;
    case ROWS_REPAIR: work_seek(w, is_made, kind, work_repair); break;
    case ROWS_OPTIMISE: make_optimise(w); break;
    case ROWS_ASCENDC:
    case ROWS_FULL: work_ascendc(w, kind); break;
    case ROWS_MEND:
    case ROWS_MEND_FULL: work_seek(w, is_made, kind, work_mend); break;
    default: make_choose(w); break;
    }
}

void rows_of_task(const RowsMaker *maker, uint64_t number, uint32_t kinds, RowsMade *made)
{
    Work *w = new_work(maker, number, made);
    bool is_made = make_task(w);
    uint32_t whole[DROP_COUNT];
    memcpy(whole, made->dropped, sizeof whole);
    Dice start = w->dice; /* a kind's rows do not depend on which others are made */
    for (int kind = 0; kind < ROWS_EXPLAIN && !made->contradiction; kind++) {
        w->dice = (Dice){start.seed, start.stream, start.at + 1000 * (uint64_t)(kind + 1)};
        w->number = 10 * (uint32_t)kind;
        if (!(kinds >> kind & 1) || (!is_made && !is_sought(kind)))
            continue;
        make_kind(w, (RowsKind)kind, is_made);
        for (int i = 0; i < DROP_COUNT; i++)
            made->of_kind[kind][i] = made->dropped[i] - whole[i];
        memcpy(made->dropped, whole, sizeof whole);
    }
    rows_cases_free(&w->cases);
}
