/* Operators on other platforms; see bench_platform.h. */
#include "loop/bench_platform.h"

#include "base/file.h"
#include "base/proc.h"
#include "base/temp.h"
#include "loop/bench_judge_int.h"
#include "loop/bench_pool.h"
#include <string.h>

static const int64_t most_peak = INT64_C(8) << 30; /* of the reference of the own sizes */
static const size_t most_said = 600;

/* The operator's name as a C identifier. */
static const char *plain_name(Arena *arena, const char *name)
{
    char *copy = str_format(arena, "%s%s", name[0] >= '0' && name[0] <= '9' ? "op_" : "", name);
    for (char *p = copy; *p; p++) {
        bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                     (*p >= '0' && *p <= '9') || *p == '_';
        *p = plain ? *p : '_';
    }
    return copy;
}

bool platform_op_write(Arena *arena, PlatformOp *op, bool *unread, Diag *diag)
{
    op->task = torch_read_scaled(arena, op->path, op->model, &op->options, op->scale, diag);
    *unread = !op->task;
    if (!op->task)
        return false;
    op->name = plain_name(arena, op->name ? op->name : op->task->name);
    op->made = (PlatformMade){0};
    return op->platform->write(arena, op->task->graph, op->name, op->model, op->wish, &op->made,
                               diag);
}

bool platform_runs(Arena *arena, const Platform *platform)
{
    return platform->judge && proc_find(arena, platform->compiler) &&
           (!platform->ready || platform->ready(arena));
}

/* ---- one case ---- */

typedef struct PlatformCase {
    Arena *arena;
    const JudgeSpec *spec;
    const PlatformOp *op;
    Judged *judged;
    Buf log;
} PlatformCase;

/* Compiles and runs what is written in the directory. */
static void run_in(const PlatformCase *p, const char *dir, const PlatformMade *made,
                   const EvalReference *ref, uint32_t repeats, double *seconds, Verdict *v)
{
    const Platform *platform = p->op->platform;
    Str said = STR("");
    bool lacks = false;
    v->stage = STAGE_COMPILE;
    if (platform->compile(p->arena, dir, made, &said, &lacks)) {
        v->compiled = VERDICT_YES;
        platform->judge(p->arena, dir, made, ref, repeats, seconds, v);
        return;
    }
    v->compiled = lacks ? VERDICT_UNKNOWN : VERDICT_NO;
    said = str_slice(said, 0, said.len < most_said ? said.len : most_said);
    verdict_fail(v, lacks ? VERDICT_NO_TOOL : VERDICT_NOT_COMPILED, STAGE_COMPILE,
                 lacks ? str_format(p->arena, "%s is not on this machine", platform->compiler)
                       : str_format(p->arena, "%s: %.*s", platform->compiler, STR_ARG(said)));
}

/* In a directory of its own. */
static double run_case(const PlatformCase *p, const CaseSpec *c, const TorchTask *task,
                       const PlatformMade *made, uint32_t repeats, Verdict *v)
{
    Diag said = diag_make(p->arena, p->op->path, p->op->model), quiet = said;
    EvalReference ref = {0};
    TempDir dir;
    double seconds = 0;
    if (!eval_reference(p->arena, task->graph, c->seed, p->spec->rule, &ref, &said)) {
        verdict_fail(v, VERDICT_UNSCORED, STAGE_EXTRACT,
                     said.items.len ? said.items.at[0].text : "there is no reference");
        return 0;
    }
    if (temp_dir_make(p->arena, "acraft-platform", &dir, &said)) {
        const char *at = path_join(p->arena, dir.path, "k");
        if (emit_write(p->arena, at, &made->files, &said))
            run_in(p, at, made, &ref, repeats, &seconds, v);
        temp_dir_remove(&dir, &quiet);
    }
    if (said.errors)
        verdict_fail(v, VERDICT_INTERNAL, STAGE_COMPILE, said.items.at[0].text);
    eval_reference_free(&ref);
    return seconds;
}

/* Seconds of a launch; 0: it was not timed. */
static double judge_one(PlatformCase *p, const CaseSpec *c, const TorchTask *task, uint32_t repeats)
{
    const PlatformOp *op = p->op;
    bool own = task == op->task;
    PlatformMade made = own ? op->made : (PlatformMade){0};
    Diag said = diag_make(p->arena, op->path, op->model), quiet = said;
    Verdict v = verdict_make();
    double start = pool_clock(), seconds = 0;
    v.task = op->name;
    v.candidate = str_format(p->arena, "%s, %s", op->name, op->platform->name);
    if (task && !own &&
        !op->platform->write(p->arena, task->graph, op->name, op->model, op->wish, &made, &quiet)) {
        p->judged->refused++;
        return 0;
    }
    if (task)
        seconds = run_case(p, c, task, &made, repeats, &v);
    else
        verdict_fail(&v, VERDICT_UNSCORED, STAGE_EXTRACT, "the case cannot be read");
    v.seconds = pool_clock() - start;
    judge_add_case(p->arena, p->judged, c, task ? case_shapes(p->arena, task->graph) : "", &v,
                   &said, &p->log);
    return v.status == VERDICT_OK ? seconds : 0;
}

/* ---- all cases ---- */

static void judge_small(PlatformCase *p)
{
    const PlatformOp *op = p->op;
    JudgeTask task = {.path = op->path, .name = op->name, .source = op->model};
    JudgeSpec spec = *p->spec;
    TorchCases cases = {0};
    CaseSpecs list = {0};
    Diag quiet = diag_make(p->arena, op->path, op->model);
    if (!torch_cases(p->arena, op->path, &cases, &quiet))
        cases = (TorchCases){0};
    spec.tiny = op->platform->not_measured != NULL; /* an interpreter is slow */
    spec.own_sizes = false;
    case_list(p->arena, &spec, &cases, &list);
    for (uint32_t i = 0; i < list.len; i++) {
        CaseSpec *c = &list.at[i];
        TorchOptions options;
        c->sets = op->options.sets;
        c->n_sets = op->options.n_sets;
        c->float_type = op->options.float_type;
        judge_one(p, c, case_read(p->arena, &task, c, &cases, &options, &quiet), 0);
    }
}

static void judge_own(PlatformCase *p)
{
    const PlatformOp *op = p->op;
    const Platform *platform = op->platform;
    CaseSpec c = {.name = "full", .scale = op->scale, .seed = p->spec->seed, .listed = -1};
    EvalOptions wide = {.wide = true};
    int64_t bytes = op->made.task->bytes, peak = 0;
    bool timed = p->spec->time && !platform->not_measured;
    if (bytes > platform->own_most || !graph_eval_bytes(op->task->graph, &wide, &peak) ||
        peak > most_peak) {
        p->judged->not_run = str_format(p->arena,
                                        "%.1f GB of operands at the task's own size; --set and "
                                        "--scale make it smaller",
                                        (double)bytes / 1e9);
        return;
    }
    double seconds = judge_one(p, &c, op->task, timed ? PLATFORM_REPEATS : 0);
    double rate = seconds > 0 ? platform_cpu_copy_rate(p->arena, bytes > 1 << 20 ? bytes : 1 << 20)
                              : 0;
    if (rate > 0) {
        p->judged->measured_us = seconds * 1e6;
        p->judged->copy_us = (double)bytes / rate * 1e6;
    }
}

bool judge_platform(Arena *arena, const JudgeSpec *spec, const PlatformOp *op, Judged *judged)
{
    PlatformCase p = {.arena = arena, .spec = spec, .op = op, .judged = judged};
    judge_nothing(judged, op->name, VERDICT_OK, "");
    judged->config = judge_config(arena, spec);
    judged->seed = spec->seed;
    if (!op->edited)
        judge_small(&p);
    judge_own(&p);
    return judge_sum_up(arena, judged, &p.log);
}
