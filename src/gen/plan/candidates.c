/* Candidates of a task beside each other. In: a graph. Out: what `acraft make` takes, and what loop nests give. */
#include "gen/plan/candidates.h"

#include "gen/plan/planners.h"
#include "gen/plan/schedule/search.h"
#include "gen/plan/int64.h"
#include <string.h>

static void add_candidate(Arena *arena, PlanCandidates *out, PlanCandidate c)
{
    vec_push(arena, &out->rows, c);
    for (uint32_t i = out->rows.len - 1; i > 0; i--) {
        PlanCandidate *a = &out->rows.at[i - 1], *b = &out->rows.at[i];
        if (!b->timed || (a->timed && a->cost.us <= b->cost.us))
            break;
        PlanCandidate other = *a;
        *a = *b;
        *b = other;
    }
}

static const PlanCandidate *taken_of(const PlanCandidates *out)
{
    for (uint32_t i = 0; i < out->rows.len; i++)
        if (out->rows.at[i].taken)
            return &out->rows.at[i];
    return NULL;
}

/* The fastest schedule of loop nests. */
static const PlanCandidate *nest_of(const PlanCandidates *out)
{
    for (uint32_t i = 0; i < out->rows.len; i++)
        if (out->rows.at[i].plan.schedule && out->rows.at[i].timed)
            return &out->rows.at[i];
    return NULL;
}

/* A gain that the model's error covers is told as such. */
static const char *within_error(double us, double than)
{
    return npu_is_faster(NPU_TIME_VECTOR, us, than) ? "" : ", which is within the model's error";
}

static const char *reason_of(Arena *arena, const PlanCandidates *out, const Graph *graph)
{
    const PlanCandidate *taken = taken_of(out), *nest = nest_of(out);
    if (!taken->timed && !taken->cost.why)
        return "nothing is timed";
    if (!taken->timed)
        return str_format(arena, "%s, so that nothing is compared: the first program is taken",
                          taken->cost.why);
    double us = taken->cost.us;
    if (taken->plan.schedule && out->rows.len == 1)
        return "it is the only one";
    if (taken->plan.schedule && nest && nest->cost.us < us * CLOCK_GAIN)
        return str_format(arena,
                          "`make` times %u programs of a task of this size and stops near the "
                          "least; a longer search finds one that is %.0f %% faster%s",
                          clock_budget(graph), 100 * (us / nest->cost.us - 1),
                          within_error(nest->cost.us, us));
    if (taken->plan.schedule)
        return "it is the fastest schedule; one that is not faster by more than 3 % does not "
               "replace an earlier one";
    if (!nest)
        return str_format(arena, "there is no schedule of loop nests: %s",
                          out->no_nest ? out->no_nest : "none can be timed");
    if (nest->cost.us >= us * CLOCK_GAIN)
        return str_format(arena,
                          "the fastest schedule of loop nests takes %.3g times as long; it has to "
                          "be faster by more than 3 %%",
                          nest->cost.us / us);
    if (us < CLOCK_NEAR * out->least_us)
        return str_format(
            arena,
            "it takes %.3g times the least, so that `make` compares no other program, "
            "though loop nests take %.3g of its time%s",
            us / out->least_us, nest->cost.us / us, within_error(nest->cost.us, us));
    return str_format(
        arena,
        "the task is too large for `make` to time others; loop nests take %.3g of its "
        "time%s",
        nest->cost.us / us, within_error(nest->cost.us, us));
}

static void add_nest_texts(Arena *arena, const Graph *graph, PlanCandidates *to)
{
    Diag quiet = diag_make(arena, "plan", STR(""));
    Nest *nest = nest_derive(arena, graph, &quiet);
    if (!nest)
        nest = nest_derive_kind(arena, graph, NEST_WINDOWED, &quiet);
    Buf out = {0};
    if (!nest)
        return;
    nest_merge(nest);
    nest_print(nest, &out);
    to->nest = buf_take(&out, arena);
    buf_clear(&out);
    nest_legend(nest, &out);
    to->legend = buf_take(&out, arena);
    buf_free(&out);
}

bool plan_candidates(Arena *arena, const Graph *graph, const NpuChip *chip, uint32_t most,
                     PlanCandidates *out, Diag *diag)
{
    Plan plan = {0};
    PlanTried tried = {0};
    uint32_t best;
    Diag quiet = diag_make(arena, diag->file, diag->source);
    *out = (PlanCandidates){.least_us = clock_least(graph, chip)};
    if (!plan_make(arena, graph, chip, 0, &plan, diag))
        return false;
    const ValueId *outer;
    const Graph *nests = plan_nest_graph(arena, graph_share(arena, int64_bounds(arena, graph)),
                                         &outer, &quiet);
    if (!nests || !plan_nest_tried(arena, nests, chip, plan.name, most, &tried, &best, &quiet))
        out->no_nest = quiet.items.len ? quiet.items.at[0].text : "no schedule is legal";
    if (nests)
        add_nest_texts(arena, nests, out);
    PlanCandidate taken = {.plan = plan, .taken = true};
    taken.timed = most && clock_cost(&plan, chip, &taken.cost);
    add_candidate(arena, out, taken);
    for (uint32_t i = 0; i < tried.len; i++)
        if (!plan.schedule || strcmp(plan.schedule, tried.at[i].plan.schedule) != 0)
            add_candidate(
                arena, out,
                (PlanCandidate){tried.at[i].plan, tried.at[i].timed, tried.at[i].cost, false});
    out->why = reason_of(arena, out, graph);
    return true;
}
