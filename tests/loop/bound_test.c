/* Planned kernels timed without data, at the full sizes of their tasks and at small ones: nothing is
 * faster than the chip could be, and passing over what repeats changes nothing. ACRAFT_ALL=1 takes
 * every task, ACRAFT_ALL=tasks/index those of a folder, and prints what it saw. */
#include "eval/time.h"

#include "base/file.h"
#include "gen/plan/plan.h"
#include "tests/t.h"
#include "torch/torch.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Sweep {
    bool memo_too; /* every time once more without passing over anything */
    bool print;
    uint32_t tasks, planned, timed, late, needs_data, below;
    double nearest; /* predicted / bound, the least seen */
} Sweep;

/* A plan and the kernel made of it; another size may use it when its plan has the same text. */
typedef struct Made {
    Plan plan;
    EvalCraft craft;
    EvalTimer *timer[2]; /* passing over what repeats, and not */
} Made;

static const EvalOperand *operands_of(Arena *arena, const Plan *plan)
{
    EvalOperand *operands = arena_array(arena, EvalOperand, plan->operands.len + 1);
    for (uint32_t i = 0; i < plan->operands.len; i++)
        operands[i] = (EvalOperand){.value = plan->operands.at[i].value,
                                    .shape = plan->operands.at[i].shape};
    return operands;
}

static EvalTimer *open_timer(Arena *arena, const Made *made, const Graph *graph, bool no_memo,
                             Verdict *v, Diag *diag)
{
    EvalConfig config = {.chip = npu_chip_find(STR("910B2")), .no_memo = no_memo, .seconds = 300};
    return eval_timer_open(arena, &made->craft, graph, &config, v, diag);
}

static void check_bound(Sweep *s, const char *what, const Verdict *v)
{
    bool below = v->predicted_us < v->bound_us;
    double ratio = v->bound_us > 0 ? v->predicted_us / v->bound_us : 0;
    s->timed++;
    s->below += below;
    if (s->print)
        printf("%-60s predicted %10.1f us, bound %10.1f us, %.2f times it\n", what, v->predicted_us,
               v->bound_us, ratio);
    if (ratio > 0 && (s->nearest <= 0 || ratio < s->nearest))
        s->nearest = ratio;
    CHECK_MSG(!below, "%s: predicted %g us, bound %g us", what, v->predicted_us, v->bound_us);
    CHECK_MSG(v->bound_us > 0 && v->predicted_us < 1e6, "%s: %g us, bound %g us", what,
              v->predicted_us, v->bound_us);
}

static void check_memo(const char *what, const Verdict *v, const Verdict *plain)
{
    bool late = v->status == VERDICT_TIMEOUT || plain->status == VERDICT_TIMEOUT;
    CHECK_MSG(late || (v->status == plain->status && v->cycles == plain->cycles &&
                       v->hazards.len == plain->hazards.len),
              "%s: %llu cycles, without memo %llu", what, (unsigned long long)v->cycles,
              (unsigned long long)plain->cycles);
}

/* One launch of a made kernel with the shapes of `plan`. */
static void time_once(Arena *arena, Sweep *s, Made *made, const Plan *plan, const char *what)
{
    const EvalOperand *operands = operands_of(arena, plan);
    Verdict v = verdict_make(), plain = verdict_make();
    bool ok = eval_timer_run(arena, made->timer[0], operands, NULL, 0, &v);
    if (made->timer[1]) {
        eval_timer_run(arena, made->timer[1], operands, NULL, 0, &plain);
        check_memo(what, &v, &plain);
    }
    if (ok)
        check_bound(s, what, &v);
    s->late += v.status == VERDICT_TIMEOUT;
    s->needs_data += v.status == VERDICT_NEEDS_DATA;
    bool known = v.status == VERDICT_TIMEOUT || v.status == VERDICT_NEEDS_DATA ||
                 v.status == VERDICT_BAD_TILING; /* the plan stops at its own range */
    CHECK_MSG(ok || known, "%s: %s", what, v.reason);
}

static bool make(Arena *arena, Sweep *s, const Graph *graph, Made *made, const char *what)
{
    Verdict v = verdict_make();
    Diag diag = diag_make(arena, made->plan.name, made->plan.craft);
    made->craft = (EvalCraft){.file = made->plan.name,
                              .text = made->plan.craft,
                              .operands = operands_of(arena, &made->plan),
                              .operand_count = made->plan.operands.len};
    for (int i = 0; i < (s->memo_too ? 2 : 1); i++)
        made->timer[i] = open_timer(arena, made, graph, i == 1, &v, &diag);
    return CHECK_MSG(made->timer[0], "%s: no kernel: %s %s", what, v.reason,
                     diag.items.len ? diag.items.at[0].text : "");
}

static void time_scale(Arena *arena, Sweep *s, const char *path, TorchScale scale, Made *last)
{
    static const char *const names[] = {"full", "medium", "small"};
    Diag diag = diag_make(arena, path, STR(""));
    const char *what = str_format(arena, "%s, %s", path, names[scale]);
    TorchTask *task = torch_open(arena, path, &(TorchOptions){0}, scale, &diag);
    Plan plan;
    if (!task || !plan_make(arena, task->graph, npu_chip_find(STR("910B2")), 0, &plan, &diag))
        return;
    s->planned += scale == SCALE_FULL;
    bool same = last->timer[0] && str_equal(last->plan.craft, plan.craft);
    if (!same && scale != SCALE_FULL && !s->print)
        return; /* another compilation is for the sweep */
    if (!same) {
        *last = (Made){.plan = plan};
        if (!make(arena, s, task->graph, last, what))
            return;
    }
    time_once(arena, s, last, &plan, what);
}

static void time_task(Sweep *s, const char *path, bool small)
{
    Arena arena = {0};
    Made full = {0}, other;
    s->tasks++;
    time_scale(&arena, s, path, SCALE_FULL, &full);
    other = full;
    if (small)
        time_scale(&arena, s, path, SCALE_SMALL, &other);
    for (int i = 0; i < 2; i++) {
        eval_timer_close(full.timer[i]);
        if (other.timer[i] != full.timer[i])
            eval_timer_close(other.timer[i]);
    }
    arena_drop(&arena);
}

static void time_folder(Sweep *s, const char *dir)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, dir, STR(""));
    NameList paths = {0};
    REQUIRE(torch_suite(&arena, dir, &paths, &diag));
    for (uint32_t i = 0; i < paths.len; i++)
        time_task(s, paths.at[i], true);
    printf(
        "%s: %u tasks, %u planned, %u times predicted, %u below the bound, nearest %.2f of it; %u "
        "need data, %u ran out of time\n",
        dir, s->tasks, s->planned, s->timed, s->below, s->nearest, s->needs_data, s->late);
    CHECK(s->tasks > 0);
    arena_drop(&arena);
}

static void time_list(Sweep *s, const char *const *paths, uint32_t count, bool small)
{
    for (uint32_t i = 0; i < count; i++)
        time_task(s, paths[i], small);
    CHECK_EQ_INT(s->planned, count);
    CHECK(s->timed + s->late >= count);
}

T_TEST(bound_is_never_beaten)
{
    static const char *const few[] = {"tasks/loss/mse_loss.py", "tasks/loss/hinge_loss.py",
                                      "tasks/index/embedding.py"};
    const char *all = getenv("ACRAFT_ALL");
    Sweep s = {.memo_too = !all, .print = all};
    if (all)
        time_folder(&s, strcmp(all, "1") == 0 ? "tasks" : all);
    else
        time_list(&s, few, sizeof few / sizeof *few, false);
}

/* One of every category, in two parts. */
T_TEST(bound_holds_over_the_categories_0)
{
    static const char *const some[] = {
        "tasks/activation/relu.py",
        "tasks/broadcast/add_bias_broadcast.py",
        "tasks/index/gather.py",
        "tasks/loss/kl_div_loss.py",
        "tasks/math/matrix_scalar_multiplication.py",
    };
    Sweep s = {0};
    time_list(&s, some, sizeof some / sizeof *some, true);
}

T_TEST(bound_holds_over_the_categories_1)
{
    static const char *const some[] = {
        "tasks/mhc/mhc_post.py",
        "tasks/normalization/rms_norm.py",
        "tasks/optimizer/sgd.py",
        "tasks/pooling/max_pooling_1d.py",
        "tasks/reduce/sum_reduction_over_a_dimension.py",
    };
    Sweep s = {0};
    time_list(&s, some, sizeof some / sizeof *some, true);
}
