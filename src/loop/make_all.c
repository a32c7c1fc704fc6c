/* Tuning and judging, over processes. In: a planned program. Out: its rule, a verdict per case.
 *
 *     processes   first                      then
 *     0           tuning ──────────┐         the full size (longest) ─────▶ the rest
 *     1           tiny tiles ─▶ tuning ─▶ rule ─▶ small, odd sizes ──────▶ the rest
 *
 * Cases with tiny tiles have a program of their own, so they need not wait for the rule. Answers
 * are put together in the order of the cases, whenever they came. */
#include "loop/make_int.h"

#include "loop/make_cases.h"
#include "loop/pieces.h"
#include <string.h>

/* Tiles of so few elements make odd sizes long: rows are streamed and split over the cores. */
enum { TINY_TILE = 64 };
/* Elements of a tensor that a case is worth which nothing else stands for. */
enum { MOST_OWN = 1 << 23 };

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

/* To judge its own size for want of another. */
static bool has_too_much(const MakeSpec *spec, const Graph *graph)
{
    return make_has_more(graph, spec->engine == EVAL_TWIN ? MOST_OWN : MOST_OWN / 4);
}

static MakeCase own_case(const MakeSpec *spec)
{
    return (MakeCase){"own", SCALE_FULL, spec->seed, 0, 0, true};
}

static void list_cases(Going *g)
{
    const MakeSpec *spec = g->job->spec;
    const MakeResult *result = g->job->result;
    const Graph *graph = result->task->graph;
    bool checks_own = (!make_has_ranges(result->plan.craft) && !make_is_large(graph)) ||
                      (spec->one && !strcmp(spec->one, "own") && !has_too_much(spec, graph));
    vec_push(g->arena, &g->cases, ((MakeCase){"small", SCALE_SMALL, spec->seed, 0, 0, false}));
    for (uint32_t i = 0; i < spec->fuzz; i++) {
        MakeCase c = {str_format(g->arena, "fuzz%u", i),
                      SCALE_FUZZ,
                      spec->seed + 1 + i,
                      i,
                      i % 2 ? TINY_TILE : 0,
                      false};
        vec_push(g->arena, &g->cases, c);
    }
    if (spec->medium)
        vec_push(g->arena, &g->cases,
                 ((MakeCase){"medium", SCALE_MEDIUM, spec->seed, 0, 0, false}));
    if (checks_own)
        vec_push(g->arena, &g->cases, own_case(spec));
    if (spec->full)
        vec_push(g->arena, &g->cases, ((MakeCase){"full", SCALE_FULL, spec->seed, 0, 0, false}));
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

static void take(void *context, uint32_t piece, Str text, const char *died)
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
                     .take = take,
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

/* Whether a case ran the shipped program, with values. */
static bool shipped_ran(const Going *g)
{
    for (uint32_t i = 0; i < g->cases.len; i++)
        if (g->answers[i].end == MAKE_JUDGED && g->answers[i].same && !g->cases.at[i].tile_limit)
            return true;
    return false;
}

/* Where every other size has a program of its own, the task's own size is judged, if it can be. */
static void judge_shipped(Going *g)
{
    const MakeSpec *spec = g->job->spec;
    MakeResult *result = g->job->result;
    MakeAnswer *answers = arena_array(g->arena, MakeAnswer, g->cases.len + 2);
    if (g->lacks || spec->one || shipped_ran(g))
        return;
    result->unrun = has_too_much(spec, result->task->graph);
    if (result->unrun)
        return;
    for (uint32_t i = 0; i < g->cases.len; i++)
        answers[i] = g->answers[i];
    g->answers = answers;
    vec_push(g->arena, &g->queue, g->cases.len);
    vec_push(g->arena, &g->cases, own_case(spec));
    go(g);
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
    g.tuning = spec->full ? make_tune_open(arena, job) : NULL;
    if (g.tuning && tune_work_pieces(g.tuning))
        tune(&g);
    if (spec->tune_only)
        return;
    judge(&g);
    judge_shipped(&g);
    sum_up(&g, diag);
}
