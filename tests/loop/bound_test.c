/* Planned kernels at the full size of their tasks, timed without data: nothing is faster than the
 * chip could be, and passing over what repeats changes nothing. ACRAFT_ALL=1 takes every task,
 * ACRAFT_ALL=index those of a folder. */
#include "eval/time.h"

#include "base/file.h"
#include "gen/plan/plan.h"
#include "tests/t.h"
#include "torch/torch.h"
#include <stdlib.h>
#include <string.h>

static EvalCraft craft_of(Arena *arena, const Plan *plan)
{
    EvalOperand *operands = arena_array(arena, EvalOperand, plan->operands.len + 1);
    for (uint32_t i = 0; i < plan->operands.len; i++)
        operands[i] = (EvalOperand){plan->operands.at[i].value, plan->operands.at[i].shape};
    return (EvalCraft){.file = plan->name,
                       .text = plan->craft,
                       .operands = operands,
                       .operand_count = plan->operands.len};
}

static bool run_timer(Arena *arena, const EvalCraft *craft, const Graph *graph, bool no_memo,
                      Verdict *v, Diag *diag)
{
    EvalConfig config = {.chip = npu_chip_find(STR("910B2")), .no_memo = no_memo};
    EvalTimer *t = eval_timer_open(arena, craft, graph, &config, v, diag);
    bool ok = t && eval_timer_run(arena, t, craft->operands, NULL, 0, v);
    eval_timer_close(t);
    return ok;
}

/* False: not planned, which is not the question here. */
static bool time_task(const char *path)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, path, STR(""));
    Str source;
    TorchOptions options = {0};
    Plan plan;
    Verdict v = verdict_make(), plain = verdict_make();
    REQUIRE(file_read(&arena, path, 0, &source, &diag));
    TorchTask *task = torch_read(&arena, path, source, &options, &diag);
    bool planned = task &&
                   plan_make(&arena, task->graph, npu_chip_find(STR("910B2")), 0, &plan, &diag);
    if (planned) {
        EvalCraft craft = craft_of(&arena, &plan);
        bool ok = run_timer(&arena, &craft, task->graph, false, &v, &diag);
        run_timer(&arena, &craft, task->graph, true, &plain, &diag);
        bool late = v.status == VERDICT_TIMEOUT || plain.status == VERDICT_TIMEOUT;
        CHECK_MSG(late || (v.status == plain.status && v.cycles == plain.cycles &&
                           v.hazards.len == plain.hazards.len),
                  "%s: %llu cycles, without memo %llu", path, (unsigned long long)v.cycles,
                  (unsigned long long)plain.cycles);
        planned = v.status != VERDICT_BAD_TILING; /* the plan stops at its own range */
        CHECK_MSG(ok || late || !planned || v.status == VERDICT_NEEDS_DATA, "%s: %s", path,
                  v.reason);
        CHECK_MSG(!ok || v.predicted_us >= v.bound_us, "%s: predicted %g us, bound %g us", path,
                  v.predicted_us, v.bound_us);
        CHECK_MSG(!ok || (v.bound_us > 0 && v.predicted_us < 1e6), "%s: %g us", path,
                  v.predicted_us);
    }
    arena_drop(&arena);
    return planned;
}

static uint32_t time_folder(const char *dir)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, dir, STR(""));
    NameList names = {0};
    uint32_t planned = 0;
    REQUIRE(file_list(&arena, dir, &names, &diag));
    for (uint32_t i = 0; i < names.len; i++)
        if (str_ends(str_from(names.at[i]), ".py"))
            planned += time_task(path_join(&arena, dir, names.at[i]));
    arena_drop(&arena);
    return planned;
}

T_TEST(bound_is_never_beaten)
{
    static const char *const few[] = {"tasks/activation/softmax.py", "tasks/loss/mse_loss.py",
                                      "tasks/loss/hinge_loss.py", "tasks/index/embedding.py"};
    static const char *const folders[] = {"activation", "broadcast",     "index",     "loss",
                                          "math",       "normalization", "optimizer", "pooling",
                                          "reduce",     "resize"};
    const char *all = getenv("ACRAFT_ALL");
    for (uint32_t i = 0; !all && i < sizeof few / sizeof *few; i++)
        CHECK_MSG(time_task(few[i]), "%s is not planned", few[i]);
    Arena arena = {0};
    uint32_t planned = 0;
    for (uint32_t i = 0; all && i < sizeof folders / sizeof *folders; i++)
        if (strcmp(all, "1") == 0 || strcmp(all, folders[i]) == 0)
            planned += time_folder(path_join(&arena, "tasks", folders[i]));
    CHECK(!all || planned > (strcmp(all, "1") == 0 ? 50 : 0));
    arena_drop(&arena);
}
