/* Tuning and judging, over processes. In: a planned program. Out: its rule, a verdict per case.
 *
 *     processes   first                      then
 *     0           tuning ──────────┐         the full size (longest) ─────▶ the rest
 *     1           tiny tiles ─▶ tuning ─▶ rule ─▶ small, odd sizes ──────▶ the rest
 *
 * Cases with tiny tiles have a program of their own, so they need not wait for the rule. Answers
 * are put together in the order of the cases, whenever they came. */
#include "loop/make_int.h"

#include "loop/pieces.h"
#include <string.h>

/* Tiles of so few elements make odd sizes long: rows are streamed and split over the cores. */
enum { TINY_TILE = 64 };
/* Elements of all values of a task whose own size is judged with values in any case, and those up to
 * which it is where no smaller size takes the same branches. */
#define CHEAP_OWN 0x1p26
#define MOST_OWN 0x1p28
/* The interpreter's share of these. */
#define SLOWER 16
/* ... and where branches are not asked for. */
#define TINY_OWN 0x1p20

/* What is to be done in one go: cases by their number, after them pieces of tuning. */
typedef struct Going {
    Arena *arena;
    MakeJob *job;
    VEC(MakeCase) cases;
    MakeAnswer *answers; /* by case */
    uint32_t answered;
    bool lacks; /* this machine lacks what judging needs: the first case says so, none else */
    TuneWork *tuning;
    VEC(uint32_t) queue;
} Going;

static void keep_one(Going *g, const char *name)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < g->cases.len; i++)
        if (!strcmp(g->cases.at[i].name, name))
            g->cases.at[kept++] = g->cases.at[i];
    g->cases.len = kept;
}

static MakeCase own_case(const MakeSpec *spec)
{
    return (MakeCase){.name = "own", .scale = SCALE_FULL, .seed = spec->seed, .values = true};
}

/* Elements of a task whose own size is judged with values. */
static double most_own(const MakeSpec *spec)
{
    bool asked = spec->one && !strcmp(spec->one, "own");
    double most = asked ? MOST_OWN : spec->branches ? CHEAP_OWN : TINY_OWN;
    return spec->engine == EVAL_TWIN ? most : most / SLOWER;
}

static void list_cases(Going *g)
{
    const MakeSpec *spec = g->job->spec;
    const MakeResult *result = g->job->result;
    const Graph *graph = result->task->graph;
    bool checks_own = make_elements(graph) <= most_own(spec);
    vec_push(g->arena, &g->cases,
             ((MakeCase){.name = "small", .scale = SCALE_SMALL, .seed = spec->seed}));
    for (uint32_t i = 0; i < spec->fuzz; i++) {
        MakeCase c = {.name = str_format(g->arena, "fuzz%u", i),
                      .scale = SCALE_FUZZ,
                      .seed = spec->seed + 1 + i,
                      .draw = i,
                      .tile_limit = i % 2 && !spec->schedule_file ? TINY_TILE : 0};
        vec_push(g->arena, &g->cases, c);
    }
    if (spec->medium)
        vec_push(g->arena, &g->cases,
                 ((MakeCase){.name = "medium", .scale = SCALE_MEDIUM, .seed = spec->seed}));
    if (checks_own)
        vec_push(g->arena, &g->cases, own_case(spec));
    if (spec->full)
        vec_push(g->arena, &g->cases,
                 ((MakeCase){.name = "full", .scale = SCALE_FULL, .seed = spec->seed}));
    if (spec->one)
        keep_one(g, spec->one);
    g->answers = arena_array(g->arena, MakeAnswer, g->cases.len + 1);
}

/* ---- one piece ---- */

static bool wanted(void *context, uint32_t piece)
{
    const Going *g = context;
    uint32_t number = g->queue.at[piece];
    return number >= g->cases.len ? tune_work_wanted(g->tuning) : number == 0 || !g->lacks;
}

static void work(void *context, uint32_t piece, Buf *text)
{
    Going *g = context;
    uint32_t number = g->queue.at[piece];
    if (number >= g->cases.len) {
        tune_work_do(g->tuning, number - g->cases.len, text);
        return;
    }
    Arena scratch = {0};
    MakeAnswer answer;
    make_judge(&scratch, g->job, &g->cases.at[number], &answer);
    make_answer_put(&answer, text);
    arena_drop(&scratch);
}

static void take_piece(void *context, uint32_t piece, Str text, const char *died)
{
    Going *g = context;
    const MakeSpec *spec = g->job->spec;
    uint32_t number = g->queue.at[piece];
    if (number >= g->cases.len) {
        tune_work_take(g->tuning, number - g->cases.len, text);
        return;
    }
    MakeAnswer *answer = &g->answers[number];
    if (!make_answer_take(g->arena, text, answer))
        make_answer_lost(g->arena, g->job->result->task->name, g->cases.at[number].name, died,
                         answer);
    VerdictStatus status = answer->verdict.status;
    g->lacks = g->lacks || status == VERDICT_NO_TOOL || status == VERDICT_NO_WALL;
    g->answered += answer->end != MAKE_LATER;
    if (spec->progress && answer->end == MAKE_JUDGED)
        spec->progress(spec->context, &answer->verdict, g->answered, g->cases.len);
}

/* ---- all of them ---- */

static void add_tiny(Going *g, uint32_t most)
{
    for (uint32_t i = 0; i < g->cases.len && most; i++)
        if (g->cases.at[i].tile_limit && g->answers[i].end == MAKE_NONE) {
            vec_push(g->arena, &g->queue, i);
            most--;
        }
}

static bool queued(const Going *g, uint32_t number)
{
    for (uint32_t i = 0; i < g->queue.len; i++)
        if (g->queue.at[i] == number)
            return true;
    return false;
}

static void go(Going *g)
{
    Pieces pieces = {.count = g->queue.len,
                     .jobs = g->job->spec->jobs,
                     .wanted = wanted,
                     .work = work,
                     .take = take_piece,
                     .context = g};
    pieces_do(&pieces);
    g->queue.len = 0;
}

/* The first piece has the program compiled; meanwhile there is another to compile. */
static void tune(Going *g)
{
    uint32_t first = g->cases.len;
    vec_push(g->arena, &g->queue, first);
    add_tiny(g, UINT32_MAX);
    for (uint32_t i = 1; i < tune_work_pieces(g->tuning); i++)
        vec_push(g->arena, &g->queue, first + i);
    g->job->tunes = true;
    go(g);
    g->job->tunes = false;
    make_tune_end(g->arena, g->job, g->tuning);
}

static bool is_timing(const MakeCase *c) { return c->scale == SCALE_FULL && !c->values; }

/* The longest first, then one with a program of its own, so that both are compiled at once. */
static void judge(Going *g)
{
    const MakeSpec *spec = g->job->spec;
    uint32_t all = g->cases.len;
    if (spec->full && all && is_timing(&g->cases.at[all - 1]))
        vec_push(g->arena, &g->queue, all - 1);
    add_tiny(g, 1);
    for (uint32_t i = 0; i < all; i++)
        if ((g->answers[i].end == MAKE_NONE || g->answers[i].end == MAKE_LATER) && !queued(g, i))
            vec_push(g->arena, &g->queue, i);
    go(g);
}

/* ---- branches of the host function ---- */

static void add_later(Going *g, const MakeCase *more, uint32_t count)
{
    uint32_t before = g->cases.len;
    MakeAnswer *answers = arena_array(g->arena, MakeAnswer, before + count + 1);
    for (uint32_t i = 0; i < before; i++)
        answers[i] = g->answers[i];
    g->answers = answers;
    for (uint32_t i = 0; i < count; i++) {
        vec_push(g->arena, &g->queue, before + i);
        vec_push(g->arena, &g->cases, more[i]);
    }
    go(g);
}

/* What the cases that were right have decided in the shipped program. */
static IrTurns turns_seen(const Going *g)
{
    IrTurns seen = {0};
    for (uint32_t i = 0; i < g->cases.len; i++) {
        const MakeAnswer *a = &g->answers[i];
        for (uint32_t k = 0; a->verdict.status == VERDICT_OK && k < a->turns.len; k++)
            if (!ir_turns_have(&seen, a->turns.at[k]))
                vec_push(g->arena, &seen, a->turns.at[k]);
    }
    return seen;
}

static bool all_ok(const Going *g)
{
    for (uint32_t i = 0; i < g->cases.len; i++)
        if (g->answers[i].end == MAKE_JUDGED && g->answers[i].verdict.status != VERDICT_OK)
            return false;
    return true;
}

static bool has_case(const Going *g, const char *name)
{
    for (uint32_t i = 0; i < g->cases.len; i++)
        if (!strcmp(g->cases.at[i].name, name))
            return true;
    return false;
}

static bool own_is_missed(const MakeResult *result)
{
    for (uint32_t i = 0; i < result->branches.len; i++)
        if (result->branches.at[i].own && !result->branches.at[i].ran)
            return true;
    return false;
}

/* Whether the time at the task's own size is still unknown because values decide it. */
static bool full_needs_values(const Going *g)
{
    for (uint32_t i = 0; i < g->cases.len; i++)
        if (!strcmp(g->cases.at[i].name, "full"))
            return g->answers[i].end == MAKE_LEFT_OUT;
    return false;
}

/* Each branch that a size can take is run with values, the task's own first. */
static void judge_branches(Going *g)
{
    const MakeSpec *spec = g->job->spec;
    MakeResult *result = g->job->result;
    double most = spec->engine == EVAL_TWIN ? MOST_OWN : MOST_OWN / SLOWER;
    MakeCase more[MAKE_BRANCH_CASES];
    if (g->lacks || spec->one || !spec->branches || !all_ok(g))
        return;
    IrTurns seen = turns_seen(g);
    uint32_t count = make_branch_cases(g->arena, g->job, &seen, more);
    if (count)
        add_later(g, more, count);
    seen = turns_seen(g);
    make_branches(g->arena, g->job, &seen, result);
    if (has_case(g, "own") || !(own_is_missed(result) || full_needs_values(g)) ||
        make_elements(result->task->graph) > most)
        return;
    more[0] = own_case(spec);
    add_later(g, more, 1);
    seen = turns_seen(g);
    make_branches(g->arena, g->job, &seen, result);
}

static void sum_up(Going *g, Diag *diag)
{
    const MakeSpec *spec = g->job->spec;
    MakeResult *result = g->job->result;
    for (uint32_t i = 0; i < (g->lacks ? 1 : g->cases.len); i++) {
        MakeAnswer *a = &g->answers[i];
        if (a->end != MAKE_JUDGED)
            continue;
        result->inserted += make_excuse(spec, &a->verdict);
        result->ok += a->verdict.status == VERDICT_OK;
        result->other_plans += a->planned && !a->same && !g->cases.at[i].tile_limit;
        result->small_tiles += a->planned && g->cases.at[i].tile_limit != 0;
        vec_push(g->arena, &result->verdicts, a->verdict);
        for (uint32_t k = 0; k < a->said.items.len; k++)
            vec_push(diag->arena, &diag->items, a->said.items.at[k]);
        if (spec->trace && !spec->trace->len)
            buf_str(spec->trace, a->trace);
    }
}

void make_tune_and_judge(Arena *arena, MakeJob *job, Diag *diag)
{
    const MakeSpec *spec = job->spec;
    Going g = {.arena = arena, .job = job};
    if (!spec->tune_only)
        list_cases(&g);
    g.tuning = spec->full && !spec->schedule_file ? make_tune_open(arena, job) : NULL;
    if (g.tuning && tune_work_pieces(g.tuning))
        tune(&g);
    if (spec->tune_only)
        return;
    judge(&g);
    judge_branches(&g);
    sum_up(&g, diag);
}
