/* A candidate at full size. In: one that was right in smaller cases. Out: the case "full" and the times it
 * is scored by.
 *
 *     values fit ──▶ judged with values, like any other case; that run's time
 *     else       ──▶ Craft: what the sizes decide there, decided so in a case with values?
 *                        no:  a larger case with values, where one decides so
 *                    a run without values: bounds, hazards, outputs written, inputs read as the task
 *                    needs them, not faster than the chip
 *                    else no time */
#include "eval/time.h"

#include "craft/craft.h"
#include "graph/numbers.h"
#include "loop/bench_judge_int.h"
#include <string.h>

/* Bytes of all values up to which full size is judged with them. */
static int64_t most_values(const JudgeSpec *spec)
{
    return spec->most_values ? spec->most_values : INT64_C(64) << 20;
}

/* The limit where more depends on the case: a time is given, or what the text does at larger
 * sizes cannot be followed. */
static int64_t most_at_stake(const JudgeSpec *spec) { return 5 * most_values(spec); }

/* The limit where nothing else shows what the text does at full size. */
static int64_t most_at_last(const JudgeSpec *spec) { return 10 * most_values(spec); }

/* ---- the task at the sizes to be timed ---- */

/* The first baseline row of this task, which has the sizes. */
static const TorchEager *baseline_of(Arena *arena, const JudgeSpec *spec, const JudgeTask *task)
{
    const char *key = str_format(arena, "%s/%s", task->category, task->name);
    for (uint32_t i = 0; spec->baseline && i < spec->baseline->len; i++)
        if (!strcmp(spec->baseline->at[i].task, key))
            return &spec->baseline->at[i];
    return NULL;
}

/* A row with another window or another epsilon is of another operator: a text cannot be held to it. */
static bool is_same_operator(Arena *arena, const JudgeSpec *spec, const JudgeTask *task,
                             const TorchEager *row)
{
    Diag quiet = diag_make(arena, task->path, task->source);
    TorchOptions own = {.seed = spec->seed}, its = own;
    its.sets = row->sets;
    its.n_sets = row->n_sets;
    TorchTask *a = torch_read(arena, task->path, task->source, &own, &quiet);
    TorchTask *b = torch_read(arena, task->path, task->source, &its, &quiet);
    return a && b && graph_same_numbers(a->graph, b->graph);
}

/* At the baseline's sizes, or the task's own; `is_planned`: a program is made for whatever it is. */
static TorchTask *read_full(Arena *arena, const JudgeSpec *spec, const JudgeTask *task,
                            bool is_planned, CaseSpec *full, Judged *judged, Diag *diag)
{
    const TorchEager *row = baseline_of(arena, spec, task);
    TorchOptions options = {.seed = spec->seed};
    row = row && (is_planned || is_same_operator(arena, spec, task, row)) ? row : NULL;
    *full = (CaseSpec){.name = "full", .scale = SCALE_FULL, .seed = spec->seed, .listed = -1};
    if (row) {
        options.sets = full->sets = row->sets;
        options.n_sets = full->n_sets = row->n_sets;
    }
    TorchTask *read = torch_read(arena, task->path, task->source, &options, diag);
    if (read)
        judged->unfused_us = time_unfused_us(read->graph, spec->chip);
    if (read && row)
        judged->baseline_us = row->us;
    return read;
}

static void no_time(Arena *arena, CaseSpec full, const char *reason, Judged *judged,
                    const Diag *said, Buf *log)
{
    Verdict v = verdict_make();
    full.no_values = true;
    verdict_fail(&v, VERDICT_NO_TIME, STAGE_EXTRACT, reason);
    judge_add_case(arena, judged, &full, "", &v, said, log);
}

static const char *first_said(const Diag *said, const char *otherwise)
{
    return said->items.len ? said->items.at[0].text : otherwise;
}

/* ---- without values ---- */

/* Below what the chip could do at best: then it is not the task that was timed. */
static void check_bound(Arena *arena, Verdict *v)
{
    if (v->status == VERDICT_OK && v->predicted_us * JUDGE_MOST_SPEED < v->bound_us)
        verdict_fail(v, VERDICT_NO_TIME, STAGE_RUN,
                     str_format(arena, "%.1f us is faster than the chip can be: it needs %.1f us",
                                v->predicted_us, v->bound_us));
}

static void keep_time(const Verdict *v, Judged *judged)
{
    if (v->status != VERDICT_OK || v->predicted_us * JUDGE_MOST_SPEED < v->bound_us)
        return;
    judged->predicted_us = v->predicted_us;
    judged->bound_us = v->bound_us;
}

static void time_craft(Arena *arena, EvalTimer *timer, const EvalOperand *operands,
                       const Graph *graph, CaseSpec full, Judged *judged, Verdict *v,
                       const Diag *said, Buf *log)
{
    if (timer)
        eval_timer_run(arena, timer, operands, NULL, 0, v);
    check_bound(arena, v);
    keep_time(v, judged);
    full.no_values = true;
    judge_add_case(arena, judged, &full, case_shapes(arena, graph), v, said, log);
}

static EvalTimer *open_timer(Arena *arena, const JudgeSpec *spec, const EvalCraft *craft,
                             const Graph *graph, Verdict *v, Diag *said)
{
    EvalConfig config = {.chip = spec->chip,
                         .engine = EVAL_TWIN,
                         .seed = spec->seed,
                         .trust = spec->trust,
                         .strict = spec->strict};
    return eval_timer_open(arena, craft, graph, &config, v, said);
}

void time_plan(Arena *arena, const JudgeSpec *spec, const JudgeTask *task, Judged *judged, Buf *log)
{
    Diag said = diag_make(arena, task->path, task->source);
    CaseSpec kase;
    TorchTask *full = read_full(arena, spec, task, true, &kase, judged, &said);
    Plan plan;
    if (!full || !plan_make(arena, full->graph, spec->chip, 0, &plan, &said)) {
        no_time(arena, kase, first_said(&said, "the task cannot be read at full size"), judged,
                &said, log);
        return;
    }
    EvalOperand *operands = arena_array(arena, EvalOperand, plan.operands.len + 1);
    for (uint32_t i = 0; i < plan.operands.len; i++)
        operands[i] = (EvalOperand){plan.operands.at[i].value, plan.operands.at[i].shape,
                                    plan.operands.at[i].updates, plan.operands.at[i].result};
    EvalCraft craft = {.file = str_format(arena, "%s.craft", plan.name),
                       .text = plan.craft,
                       .operands = operands,
                       .operand_count = plan.operands.len};
    Verdict v = verdict_make();
    Diag about = diag_make(arena, craft.file, craft.text);
    EvalTimer *timer = open_timer(arena, spec, &craft, full->graph, &v, &about);
    time_craft(arena, timer, operands, full->graph, kase, judged, &v, &about, log);
    eval_timer_close(timer);
}

/* ---- a Craft text that was not planned here ---- */

static bool bind_craft(Arena *arena, const EvalText *text, const Graph *graph, EvalCraft *craft,
                       Diag *diag)
{
    EvalOperand *operands;
    CraftFile *file = craft_read(arena, text->path, text->text, diag);
    IrProgram *p = file && diag_ok(diag) ? craft_program(arena, file, 0, diag) : NULL;
    if (!p || !eval_bind(arena, p, graph, &operands, diag))
        return false;
    *craft = (EvalCraft){.file = text->path,
                         .text = text->text,
                         .operands = operands,
                         .operand_count = p->operand_count};
    return true;
}

/* What the sizes of a case decide; NULL: it refuses them. */
IrDecisions *full_decisions(Judging *j, const EvalTimer *timer, const CaseSpec *c)
{
    Diag said = diag_make(j->arena, j->task->path, j->task->source);
    TorchOptions options;
    EvalCraft craft;
    IrDecisions *decisions;
    TorchTask *read = case_read(j->arena, j->task, c, j->cases, &options, &said);
    if (!read ||
        !bind_craft(j->arena, &j->judged->candidate.texts.at[0], read->graph, &craft, &said))
        return NULL;
    return eval_timer_decide(j->arena, timer, craft.operands, c->seed, &decisions, &said)
               ? decisions
               : NULL;
}

EvalTimer *full_timer(Judging *j, const CaseSpec *c, Verdict *v)
{
    Diag said = diag_make(j->arena, j->task->path, j->task->source);
    TorchOptions options;
    EvalCraft craft;
    TorchTask *read = case_read(j->arena, j->task, c, j->cases, &options, &said);
    if (!read ||
        !bind_craft(j->arena, &j->judged->candidate.texts.at[0], read->graph, &craft, &said))
        return NULL;
    Diag about = diag_make(j->arena, craft.file, craft.text);
    return open_timer(j->arena, j->spec, &craft, read->graph, v, &about);
}

/* What the cases judged so far decided. */
typedef VEC(IrDecisions *) Decided;

static bool decided_in(const EvalTimer *timer, const IrDecisions *full, const IrDecisions *seen,
                       const Decided *all, Span *place)
{
    return ir_decided_in(eval_timer_program(timer), full, seen, all->at, all->len, place);
}

static bool decided_before(Judging *j, const EvalTimer *timer, const IrDecisions *full,
                           Decided *all, Span *place)
{
    for (uint32_t i = 0; i < j->done.len; i++) {
        IrDecisions *seen = full_decisions(j, timer, &j->done.at[i]);
        if (seen)
            vec_push(j->arena, all, seen);
    }
    for (uint32_t i = 0; i < all->len; i++)
        if (decided_in(timer, full, all->at[i], all, place))
            return true;
    return false;
}

/* A case at sizes of its own that the candidate can be judged at. */
typedef struct SizedCase {
    CaseSpec spec;
    IrDecisions *decided;
} SizedCase;
typedef VEC(SizedCase) SizedCases;

static bool has_sizes(const SizedCases *cases, const CaseSpec *c)
{
    for (uint32_t i = 0; i < cases->len; i++) {
        bool same = true;
        for (uint32_t k = 0; same && k < c->n_sets; k++)
            same = cases->at[i].spec.sets[k].value == c->sets[k].value;
        if (same)
            return true;
    }
    return false;
}

/* The cases of at most so many bytes, of these variants. */
static void sized_cases(Judging *j, const EvalTimer *timer, const TorchTask *task, int64_t bytes,
                        uint32_t from, uint32_t to, SizedCases *cases)
{
    SizedCase c;
    for (uint32_t v = from; v < to; v++) {
        if (!sizes_within(j->arena, j->task, task, bytes, v, &c.spec) || has_sizes(cases, &c.spec))
            continue;
        c.spec.seed = j->spec->seed;
        c.decided = full_decisions(j, timer, &c.spec);
        if (c.decided)
            vec_push(j->arena, cases, c);
    }
}

static bool judge_sized(Judging *j, SizedCase *c, Decided *all)
{
    c->spec.name = str_format(j->arena, "%s%u", c->spec.name, j->done.len);
    judge_case(j, &c->spec);
    vec_push(j->arena, all, c->decided);
    return j->judged->status == VERDICT_OK &&
           vec_last(&j->judged->cases).verdict.status == VERDICT_OK;
}

/* Judges the case with values, and of the small ones those whose loops turn as often as at full size.
 * False: that is not enough, nothing was judged; or it is not ok. */
static bool judge_with_help(Judging *j, const EvalTimer *timer, const IrDecisions *full,
                            SizedCase *c, SizedCases *small, Decided *all)
{
    Span place;
    uint32_t before = all->len, used = 0;
    vec_push(j->arena, all, c->decided);
    while (!decided_in(timer, full, c->decided, all, &place) && used < small->len)
        vec_push(j->arena, all, small->at[used++].decided);
    bool enough = decided_in(timer, full, c->decided, all, &place);
    all->len = before;
    if (!enough || !judge_sized(j, c, all))
        return false;
    for (uint32_t i = 0; i < used; i++)
        if (!decided_in(timer, full, c->decided, all, &place) &&
            !judge_sized(j, &small->at[i], all))
            return false;
    return true;
}

/* The smallest case that decides as full size does, judged with values. */
static bool judge_like_full(Judging *j, const EvalTimer *timer, const TorchTask *task,
                            const IrDecisions *full, Decided *all)
{
    uint32_t n = task->knobs.len, from[2] = {0, n}, to[2] = {n, sizes_variants(task)};
    SizedCases small = {0};
    sized_cases(j, timer, task, most_values(j->spec) / 16, 0, n, &small);
    enum { SIZES = 6 }; /* a program may go by several times what the L2 cache holds */
    int64_t most = most_values(j->spec);
    const int64_t bytes[SIZES] = {most / 16, most / 4, most, 4 * most, 10 * most, 16 * most};
    for (int more = 0; more < 2; more++) /* with one size shrunk as far as it goes, then less far */
        for (int i = 0; i < SIZES; i++) {
            SizedCases cases = {0};
            sized_cases(j, timer, task, bytes[i], from[more], to[more], &cases);
            for (uint32_t k = 0; k < cases.len && j->judged->status == VERDICT_OK; k++)
                if (judge_with_help(j, timer, full, &cases.at[k], &small, all))
                    return true;
        }
    return false;
}

/* True: what full size decides was seen with values. */
static bool decides_as_judged(Judging *j, const EvalTimer *timer, const TorchTask *task,
                              const EvalOperand *operands, Verdict *v)
{
    Diag said = diag_make(j->arena, j->task->path, (Str){0});
    IrDecisions *full;
    Decided all = {0};
    Span place = {0};
    if (!eval_timer_decide(j->arena, timer, operands, j->spec->seed, &full, &said)) {
        bool refused = said.items.len && !strcmp(said.items.at[0].code, "H001");
        verdict_fail(v, refused ? VERDICT_BAD_TILING : VERDICT_NO_TIME, STAGE_TILING,
                     first_said(&said, "its loops are too long to follow"));
        return false;
    }
    if (decided_before(j, timer, full, &all, &place) || judge_like_full(j, timer, task, full, &all))
        return true;
    verdict_fail(v, VERDICT_NO_TIME, STAGE_TILING,
                 str_format(j->arena,
                            "line %u does at full size what it does in no case with values",
                            place.line));
    return false;
}

/* What is told from a right answer by large numbers and zeros only must be told so at this size, too. */
static void strew_full(Judging *j, CaseSpec *kase)
{
    kase->strew = j->strew;
    if (strew_any(&kase->strew) &&
        case_ready(j->cache, j->spec, j->task, kase)->status != VERDICT_OK)
        kase->strew = (Strew){0};
}

/* Full size with its values, where they fit. False: they do not, or not all was well. */
static bool judge_whole(Judging *j, CaseSpec *kase, const Graph *graph)
{
    uint32_t before = j->done.len;
    int64_t bytes;
    if (j->whole_tried || !sizes_bytes(graph, &bytes) || bytes > most_at_last(j->spec) ||
        case_ready(j->cache, j->spec, j->task, kase)->status != VERDICT_OK)
        return false;
    j->whole_tried = true;
    strew_full(j, kase);
    judge_case(j, kase);
    if (j->spec->time)
        keep_time(&vec_last(&j->judged->cases).verdict, j->judged);
    return j->done.len > before;
}

/* What happens at full size could not be followed, or was seen in no case: then with values, all of it. */
static bool is_open(const Judging *j, const Verdict *v)
{
    return j->judged->status == VERDICT_OK &&
           (v->status == VERDICT_NO_TIME || v->status == VERDICT_NEEDS_DATA ||
            v->status == VERDICT_TIMEOUT);
}

typedef struct CraftSample {
    Judging *j;
    EvalTimer *timer;
    const EvalOperand *operands;
} CraftSample;

static bool run_craft_sample(void *context, struct EvalSample *sample)
{
    CraftSample *s = context;
    return eval_timer_sample(s->j->arena, s->timer, s->operands, sample);
}

static void craft_full(Judging *j, const CaseSpec *kase, const TorchTask *full)
{
    Diag said = diag_make(j->arena, j->task->path, j->task->source);
    EvalCraft craft;
    Verdict v = verdict_make();
    if (!bind_craft(j->arena, &j->judged->candidate.texts.at[0], full->graph, &craft, &said)) {
        no_time(j->arena, *kase, first_said(&said, "it has no program at full size"), j->judged,
                &said, &j->log);
        return;
    }
    Diag about = diag_make(j->arena, craft.file, craft.text);
    EvalTimer *timer = open_timer(j->arena, j->spec, &craft, full->graph, &v, &about);
    bool seen = timer && decides_as_judged(j, timer, full, craft.operands, &v);
    if (timer && !seen && v.status == VERDICT_NO_TIME) {
        Verdict run = verdict_make(); /* no time, but faults count */
        eval_timer_run(j->arena, timer, craft.operands, NULL, 0, &run);
        v = run.status == VERDICT_OK ? v : run;
    }
    CraftSample sample = {j, timer, craft.operands};
    if (seen && j->judged->status == VERDICT_OK)
        judge_sample(j, full, run_craft_sample, &sample);
    CaseSpec whole = *kase;
    j->full_seen = seen || (is_open(j, &v) && judge_whole(j, &whole, full->graph));
    if (j->judged->status == VERDICT_OK && (seen || !j->full_seen) &&
        (j->spec->time || v.status != VERDICT_OK))
        time_craft(j->arena, seen ? timer : NULL, craft.operands, full->graph, *kase, j->judged, &v,
                   &about, &j->log);
    eval_timer_close(timer);
}

/* ---- all forms ---- */

static bool fits_with_values(const JudgeSpec *spec, const Graph *graph, bool craft)
{
    int64_t bytes;
    return sizes_bytes(graph, &bytes) &&
           bytes <= (craft && !spec->time ? most_values(spec) : most_at_stake(spec));
}

/* Too large for values: followed without them, else judged whole. */
static void other_full(Judging *j, CaseSpec kase, const TorchTask *full)
{
    TorchOptions options = {.seed = j->spec->seed, .sets = kase.sets, .n_sets = kase.n_sets};
    Diag said = diag_make(j->arena, j->judged->candidate.name, STR(""));
    Verdict v = verdict_make();
    j->full_seen = follow_full(j, full, &options, most_values(j->spec), &v, &said);
    bool whole = !j->full_seen && is_open(j, &v) && judge_whole(j, &kase, full->graph);
    if (j->judged->status == VERDICT_OK && !whole) {
        check_bound(j->arena, &v);
        if (j->spec->time)
            keep_time(&v, j->judged);
        kase.no_values = true;
        judge_add_case(j->arena, j->judged, &kase, case_shapes(j->arena, full->graph), &v, &said,
                       &j->log);
    }
    j->full_seen |= whole;
}

/* Answers to a clone's cases, and those judged at their own sizes, were at full size before. */
static bool was_full(const JudgeSpec *spec) { return spec->own_sizes || spec->only > 0; }

/* Right where values were compared is not right at full size, where it may do something else. */
static void leave_unseen(Judging *j)
{
    const JudgedCase *last = &vec_last(&j->judged->cases);
    bool full = !strcmp(last->name, "full") && last->verdict.reason[0];
    judge_leave_unseen(
        j, str_format(j->arena, "full: %s",
                      full ? last->verdict.reason : "no values were seen at this size"));
}

void judge_full(Judging *j)
{
    Diag said = diag_make(j->arena, j->task->path, j->task->source);
    CaseSpec kase;
    TorchTask *full = read_full(j->arena, j->spec, j->task, false, &kase, j->judged, &said);
    bool craft = j->judged->candidate.form == FORM_CRAFT && j->judged->candidate.texts.len == 1;
    if ((j->cases->lines.len || was_full(j->spec)) && !craft)
        return;
    if (!full) {
        if (j->spec->time)
            no_time(j->arena, kase, first_said(&said, "the task cannot be read at full size"),
                    j->judged, &said, &j->log);
        return;
    }
    CaseSpec whole = kase;
    j->full_seen = fits_with_values(j->spec, full->graph, craft) &&
                   judge_whole(j, &whole, full->graph);
    if (j->judged->status == VERDICT_OK && !j->full_seen && craft)
        craft_full(j, &kase, full);
    else if (j->judged->status == VERDICT_OK && !j->full_seen)
        other_full(j, kase, full);
    if (j->judged->status == VERDICT_OK && !j->full_seen && !was_full(j->spec))
        leave_unseen(j);
}
