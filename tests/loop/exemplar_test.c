/* Exemplars: right, what they say they are, and no answer key to any shipped task. */
#include "gen/prompt/exemplar.h"

#include "base/file.h"
#include "eval/candidate.h"
#include "gen/plan/plan.h"
#include "tests/t.h"
#include "torch/torch.h"
#include <stdlib.h>
#include <string.h>

static const char *const folder = "examples/exemplars";

static Exemplars read_all(Arena *arena)
{
    Exemplars all = {0};
    Diag diag = diag_make(arena, folder, STR(""));
    REQUIRE(exemplars_read(arena, folder, &all, &diag));
    return all;
}

static TorchTask *read_task(Arena *arena, const char *path, Str source, TorchScale scale,
                            uint64_t seed)
{
    Diag diag = diag_make(arena, path, source);
    TorchOptions options = {.seed = seed};
    return torch_read_scaled(arena, path, source, &options, scale, &diag);
}

static const char *path_of(Arena *arena, const Exemplar *e)
{
    return str_format(arena, "%s/%s.py", folder, e->name);
}

/* ---- right ---- */

static void run_one(Arena *arena, const Exemplar *e, TorchScale scale, uint64_t seed)
{
    TorchTask *task = read_task(arena, path_of(arena, e), e->task, scale, seed);
    REQUIRE(task);
    Diag diag = diag_make(arena, e->name, e->craft);
    EvalReference ref = {0};
    REQUIRE(eval_reference(arena, task->graph, seed, RULE_ACRAFT, &ref, &diag));
    EvalCandidate c = {.form = FORM_CRAFT, .name = e->name, .entry = "", .extracted = ""};
    vec_push(arena, &c.texts, ((EvalText){str_format(arena, "%s.craft", e->name), e->craft}));
    EvalConfig config = {.chip = npu_chip_find(STR("910B2")), .engine = EVAL_INTERP};
    Verdict v = verdict_make();
    eval_candidate(arena, &c, &ref, &config, &v, &diag);
    CHECK_MSG(v.status == VERDICT_OK, "%s: %s: %s", e->name, verdict_status_row(v.status)->text,
              v.reason);
    eval_reference_free(&ref);
}

T_TEST(exemplars_are_right)
{
    Arena arena = {0};
    Exemplars all = read_all(&arena);
    CHECK(all.len >= 20);
    for (uint32_t i = 0; i < all.len; i++) {
        Arena own = {0};
        run_one(&own, &all.at[i], SCALE_TINY, 1);
        arena_drop(&own);
    }
    arena_drop(&arena);
}

/* ---- what they say ---- */

T_TEST(exemplars_cover_every_category_twice)
{
    static const char *const categories[] = {"activation",    "broadcast", "index",  "loss",
                                             "math",          "pooling",   "reduce", "resize",
                                             "normalization", "optimizer"};
    Arena arena = {0};
    Exemplars all = read_all(&arena);
    for (size_t c = 0; c < sizeof categories / sizeof *categories; c++) {
        uint32_t count = 0;
        const char *first = "";
        for (uint32_t i = 0; i < all.len; i++)
            if (!strcmp(all.at[i].category, categories[c])) {
                CHECK_MSG(strcmp(first, all.at[i].pattern) != 0, "%s: twice %s", categories[c],
                          first);
                first = all.at[i].pattern;
                count++;
            }
        CHECK_MSG(count >= 2, "%s: %u exemplars", categories[c], count);
    }
    arena_drop(&arena);
}

/* ---- leaks ---- */

static const char *normal_text(Arena *arena, const Graph *graph)
{
    Buf text = {0};
    graph_print(graph_normal(arena, graph), &text);
    const char *copy = buf_take(&text, arena);
    buf_free(&text);
    return copy;
}

static void check_task(Arena *arena, const Exemplars *all, const char *path)
{
    Str source;
    Diag diag = diag_make(arena, path, STR(""));
    REQUIRE(file_read(arena, path, 0, &source, &diag));
    TorchTask *task = read_task(arena, path, source, SCALE_FULL, 0);
    Plan plan = {0};
    if (!task || !plan_make(arena, task->graph, npu_chip_find(STR("910B2")), 0, &plan, &diag))
        return;
    for (uint32_t i = 0; i < all->len; i++) {
        double share = exemplar_overlap(arena, all->at[i].craft, plan.craft);
        CHECK_MSG(share <= 0.5, "%s gives %s away: %.0f %% of its runs of 13 tokens",
                  all->at[i].name, path, 100 * share);
    }
}

/* Exemplars are vector kernels; networks are made of layers that are tasks of their own. */
static bool is_matrix_work(const char *path)
{
    static const char *const folders[] = {"/matmul/", "/convolution/", "/attention/",
                                          "/fuse/",   "/arch/",        "/level3/"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (strstr(path, folders[i]))
            return true;
    return false;
}

T_TEST(exemplars_leak_no_task)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "tasks", STR(""));
    Exemplars all = read_all(&arena);
    NameList paths = {0};
    REQUIRE(torch_suite(&arena, "tasks", &paths, &diag));
    CHECK(paths.len > 200);
    bool all_tasks = getenv("ACRAFT_ALL") != NULL; /* planning all of them takes many minutes */
    for (uint32_t i = 0; i < paths.len; i++) {
        Arena own = {0};
        if (all_tasks ? !strstr(paths.at[i], "/arch/") : !is_matrix_work(paths.at[i]))
            check_task(&own, &all, paths.at[i]);
        arena_drop(&own);
    }
    arena_drop(&arena);
}

T_TEST(exemplars_are_no_task)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "tasks", STR(""));
    Exemplars all = read_all(&arena);
    NameList paths = {0}, texts = {0};
    REQUIRE(torch_suite(&arena, "tasks", &paths, &diag));
    for (uint32_t i = 0; i < all.len; i++) {
        TorchTask *t = read_task(&arena, path_of(&arena, &all.at[i]), all.at[i].task, SCALE_FULL,
                                 0);
        REQUIRE(t);
        CHECK_MSG(!strcmp(exemplar_pattern(t->graph), all.at[i].pattern), "%s is '%s', not '%s'",
                  all.at[i].name, exemplar_pattern(t->graph), all.at[i].pattern);
        vec_push(&arena, &texts, normal_text(&arena, t->graph));
    }
    for (uint32_t i = 0; i < paths.len; i++) {
        Arena own = {0};
        Str source;
        REQUIRE(file_read(&own, paths.at[i], 0, &source, &diag));
        TorchTask *task = read_task(&own, paths.at[i], source, SCALE_FULL, 0);
        const char *text = task ? normal_text(&own, task->graph) : "";
        for (uint32_t k = 0; k < texts.len; k++)
            CHECK_MSG(strcmp(text, texts.at[k]) != 0, "%s is %s", all.at[k].name, paths.at[i]);
        arena_drop(&own);
    }
    arena_drop(&arena);
}
