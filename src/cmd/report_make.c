/* From the runs of a store to a page: src/loop counts, src/report draws, and this carries the
 * figures from one to the other. */
#include "cmd/report.h"

#include "cmd/cmd.h"
#include "loop/bench_table.h"
#include <math.h>

static ReportShare share_of(const ScoreOf *of, ScoreKind kind)
{
    ScoreShare s = score_of_all(of, kind);
    return (ReportShare){s.share, s.low, s.high, score_of_correct(of, kind)};
}

static ReportScore score_group(const BenchGroup *group, uint32_t k)
{
    ScoreOf of = bench_group_of(group, k), without = of;
    without.without_unscored = true;
    ReportScore s = {.k = k,
                     .compile = share_of(&of, SCORE_COMPILE),
                     .pass = share_of(&of, SCORE_PASS),
                     .pass_without = score_of_all(&without, SCORE_PASS).share};
    for (int i = 0; i < REPORT_FAST; i++)
        s.fast[i] = share_of(&of, (ScoreKind)(SCORE_FAST_0_2 + i));
    return s;
}

static ReportGroup group_of(Arena *arena, const BenchGroup *from, const uint32_t *ks)
{
    ScoreOf of = bench_group_of(from, 1);
    ScoreShare bound = score_anchored(&of);
    ReportGroup g = {.title = from->title,
                     .tasks = from->tasks.len,
                     .unsupported = bench_group_unsupported(from),
                     .bound = {bound.share, bound.low, bound.high, bound.share}};
    for (; *ks; ks++)
        vec_push(arena, &g.scores, score_group(from, *ks));
    return g;
}

/* One level alone makes no level score. */
static bool has_levels(const BenchGroups *groups)
{
    bool any = false;
    for (uint32_t i = 0; i < groups->len; i++)
        any |= str_starts(str_from(groups->at[i].title), "level ");
    return any;
}

static bool score_run(Store *store, Arena *arena, int64_t id, const uint32_t *ks, ReportRun *run,
                      Diag *diag)
{
    BenchScores scores;
    if (!bench_scores(store, arena, id, &scores, diag))
        return false;
    *run = (ReportRun){.run = scores.run, .samples = scores.samples, .repaired = scores.repaired};
    for (int i = 0; i < VERDICT_STATUS_COUNT; i++)
        run->statuses[i] = scores.statuses[i];
    for (uint32_t i = 0; i < scores.tasks.len; i++)
        run->with_baseline += scores.tasks.at[i].has_baseline;
    BenchGroups groups = bench_groups(arena, &scores);
    for (uint32_t i = 0; i + 1 < groups.len; i++) /* the last has a column of its own */
        vec_push(arena, &run->groups, group_of(arena, &groups.at[i], ks));
    vec_last(&run->groups).total = true;
    ScoreOf all = bench_group_of(&groups.at[groups.len - 2], 1);
    bool levels = has_levels(&groups);
    run->level_score = levels ? score_levels(&all, false) : (double)NAN;
    run->level_score_cases = levels ? score_levels(&all, true) : (double)NAN;
    return true;
}

static bool wanted(const ReportAsk *ask, int64_t id)
{
    bool found = ask->run_count == 0;
    for (uint32_t i = 0; i < ask->run_count; i++)
        found |= ask->runs[i] == id;
    return found;
}

static bool all_there(const ReportAsk *ask, const StoreRuns *runs, Diag *diag)
{
    for (uint32_t i = 0; i < ask->run_count; i++) {
        bool found = false;
        for (uint32_t j = 0; j < runs->len; j++)
            found |= runs->at[j].id == ask->runs[i];
        if (!found) {
            diag_error(diag, "B005", (Span){0}, "there is no run %lld in the store",
                       (long long)ask->runs[i]);
            return false;
        }
    }
    return true;
}

bool report_make(Store *store, const ReportAsk *ask, Buf *html, Diag *diag)
{
    Arena arena = {0};
    StoreRuns runs = {0};
    VEC(ReportRun) scored = {0};
    bool ok = store_runs(store, &arena, &runs, diag) && all_there(ask, &runs, diag);
    for (uint32_t i = 0; ok && i < runs.len; i++) {
        ReportRun run;
        if (!wanted(ask, runs.at[i].id))
            continue;
        ok = score_run(store, &arena, runs.at[i].id, ask->ks, &run, diag);
        if (ok)
            vec_push(&arena, &scored, run);
    }
    ReportSpec spec = {
        .runs = scored.at, .count = scored.len, .version = ACRAFT_VERSION, .live = ask->live};
    ok = ok && report_page(store, &spec, html, diag);
    arena_drop(&arena);
    return ok;
}
