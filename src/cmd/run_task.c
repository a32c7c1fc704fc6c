/* acraft run --task: a candidate in any form against a task. In: a path, a model file. Out: the
 * verdict on one case, with the messages of checkers and compilers. */
#include "cmd/cmd.h"
#include "cmd/run.h"

#include "eval/fragile.h"
#include "eval/interval.h"
#include "graph/operand.h"
#include "torch/opdef.h"
#include <stdio.h>
#include <string.h>

typedef struct TaskJob {
    Arena *arena;
    const char *path;
    const RunOptions *options;
    EvalCandidate candidate;
    RunTask of;
    Verdict verdict;
    Buf trace, explain;
    Diag diag;
} TaskJob;

bool run_task_read(Arena *arena, const RunOptions *o, RunTask *of, Diag *diag)
{
    TorchScale scale;
    Str source;
    TorchOptions options = {
        .seed = o->seed, .cases = &of->cases, .float_type = o->float_type, .hf32 = o->hf32};
    *diag = diag_make(arena, o->task, (Str){0});
    if (!file_read(arena, o->task, 16 << 20, &source, diag) ||
        !torch_cases(arena, o->task, &of->cases, diag))
        return false;
    diag->source = source;
    uint32_t count = of->cases.lines.len ? of->cases.lines.len : 1;
    if (o->kase < 0 || (uint64_t)o->kase >= count) {
        diag_error(diag, "V011", (Span){0}, "the task has %u case%s, counted from 0", count,
                   count == 1 ? "" : "s");
        return false;
    }
    if (!torch_scale_from_name(str_from(o->scale), &scale)) {
        diag_error(diag, "V011", (Span){0}, "'%s' is no scale: full, medium, small, tiny, fuzz",
                   o->scale);
        return false;
    }
    options.case_index = (uint32_t)o->kase;
    of->task = torch_read_scaled(arena, o->task, source, &options, scale, diag);
    if (!of->task || !eval_reference(arena, of->task->graph, o->seed, o->rule, &of->ref, diag))
        return false;
    eval_reference_model(arena, o->task, source, of->task, &options, &of->ref);
    of->kase = of->cases.lines.len ? str_format(arena, "%lld", (long long)o->kase) : o->scale;
    return true;
}

void run_task_show_case(const RunTask *of, const char *scale, Buf *out)
{
    const Graph *g = of->ref.graph;
    Arena arena = {0};
    GraphNames names = graph_names(&arena, g);
    buf_printf(out, "%s, %s: ", of->task->name, scale);
    for (uint32_t i = 0; i < g->inputs.len; i++) {
        const Value *v = graph_value(g, g->inputs.at[i]);
        buf_printf(out, "%s%s %s", i ? ", " : "", v->name ? v->name : "input",
                   dtype_name(v->dtype));
        shape_print(v->shape, out);
    }
    for (uint32_t i = 0; i < g->outputs.len; i++) {
        const Value *v = graph_value(g, g->outputs.at[i]);
        buf_printf(out, "%s%s %s", i ? ", " : " -> ", names.outputs[i], dtype_name(v->dtype));
        shape_print(v->shape, out);
    }
    buf_char(out, '\n');
    arena_drop(&arena);
}

static void show_case(const TaskJob *job, Buf *out)
{
    run_task_show_case(&job->of, job->options->scale, out);
    if (job->candidate.extracted[0])
        buf_printf(out, "%s, found in: %s\n", eval_form_text(job->candidate.form),
                   job->candidate.extracted);
}

static int show(TaskJob *job)
{
    Buf out = {0};
    const Verdict *v = &job->verdict;
    cmd_say(&job->diag, CMD_OK);
    if (job->options->json) {
        verdict_to_json(v, &out);
        buf_char(&out, '\n');
    } else {
        show_case(job, &out);
        cmd_show_verdict(job->arena, job->path, v, &out);
        if (v->predicted_us > 0) {
            buf_printf(&out, "%.3f s; checked on 1 shape; predicted ", v->seconds);
            eval_put_predicted(v, &out);
            buf_printf(&out, ", bound %.1f us, not measured on a device\n", v->bound_us);
        }
        buf_str(&out, buf_view(&job->explain));
    }
    cmd_print(&out);
    if (job->options->trace && job->trace.len &&
        !file_write(job->options->trace, buf_view(&job->trace), &job->diag))
        return cmd_say(&job->diag, CMD_USAGE);
    return verdict_status_row(v->status)->exit;
}

/* Whether the sizes are what the candidate refuses. */
static bool is_refused(const TaskJob *job) { return job->verdict.status == VERDICT_BAD_TILING; }

/* The dtype of the first input of which a project declares floats, f32 if it has that. */
static DType project_type(Arena *arena, const EvalCandidate *c)
{
    for (uint32_t i = 0; i < c->texts.len && c->form == FORM_PROJECT; i++) {
        TorchOpdef def = {0};
        if (strstr(c->texts.at[i].path, "op_host/"))
            torch_opdef_parse(arena, c->texts.at[i].text, &def);
        for (uint32_t k = 0; k < def.len; k++) {
            DType first = DT_F32;
            bool any = false;
            for (uint32_t t = 0; t < def.at[k].types.len; t++) {
                DType type = def.at[k].types.at[t];
                if (type == DT_F32)
                    return DT_F32;
                if (dtype_is_float(type) && !any)
                    first = type;
                any = any || dtype_is_float(type);
            }
            if (any)
                return first;
        }
    }
    return DT_F32;
}

static bool choose_type(Arena *arena, const EvalCandidate *c, RunOptions *o)
{
    static const DType types[] = {DT_F32, DT_F16, DT_BF16};
    o->float_type = project_type(arena, c);
    if (!o->dtype && o->float_type != DT_F32)
        fprintf(stderr, "acraft run: the project declares %s: the task's inputs are drawn in it\n",
                dtype_name(o->float_type));
    if (!o->dtype)
        return true;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        o->float_type = types[i];
        if (!strcmp(o->dtype, dtype_name(types[i])))
            return true;
    }
    fprintf(stderr, "acraft run: --dtype takes f32, f16 or bf16, not '%s'\n", o->dtype);
    return false;
}

/* One case at options->scale. *refused, if not NULL: the candidate refuses these sizes, and
 * nothing was shown. */
static int run_scaled(Arena *arena, const char *path, RunOptions *options, bool *refused)
{
    TaskJob job = {.arena = arena, .path = path, .options = options, .verdict = verdict_make()};
    EvalConfig config = {.chip = options->chip,
                         .trust = options->trust,
                         .strict = options->strict,
                         .seconds = options->seconds,
                         .attrs = &options->attrs,
                         .blocks = options->blocks_given ? (uint32_t)options->blocks : 0};
    job.diag = diag_make(arena, path, (Str){0});
    if (options->ulp && (options->explain || options->trace)) {
        fprintf(stderr, "acraft run: --explain and --trace show one run, --ulp makes many\n");
        return CMD_USAGE;
    }
    config.trace = options->trace ? &job.trace : NULL;
    config.explain = options->explain ? &job.explain : NULL;
    if (!run_read_tiling(arena, options, &config.tiling, &job.diag) ||
        !eval_candidate_read(arena, path, &job.candidate, &job.diag))
        return cmd_say(&job.diag, CMD_USAGE);
    if (options->kernel)
        job.candidate.entry = options->kernel;
    if (!choose_type(arena, &job.candidate, options))
        return CMD_USAGE;
    bool read = run_task_read(arena, options, &job.of, &job.diag);
    int status = CMD_USAGE;
    if (read) {
        job.verdict.task = job.of.task->name;
        job.verdict.kase = job.of.kase;
        job.diag = diag_make(arena, path, (Str){0});
        if (options->ulp)
            eval_fragile(arena, &job.candidate, &job.of.ref, &config, (uint32_t)options->ulp,
                         &job.verdict, &job.diag);
        else
            eval_candidate(arena, &job.candidate, &job.of.ref, &config, &job.verdict, &job.diag);
        if (refused)
            *refused = is_refused(&job);
        status = refused && *refused ? CMD_NO : show(&job);
    } else {
        cmd_say(&job.diag, CMD_USAGE);
    }
    eval_reference_free(&job.of.ref);
    buf_free(&job.trace);
    buf_free(&job.explain);
    return status;
}

/* A program may be for the task's own sizes alone; then the small ones say nothing about it. */
int run_task(Arena *arena, const char *path, const RunOptions *options)
{
    RunOptions at = *options;
    Diag quiet = diag_make(arena, options->task, (Str){0});
    RunTask own = {0};
    bool refused = false;
    if (options->scale)
        return run_scaled(arena, path, &at, NULL);
    at.scale = "small";
    int status = run_scaled(arena, path, &at, &refused);
    if (!refused && status == CMD_NO && !options->json)
        fprintf(stderr,
                "acraft run: this was a small size of the task; a kernel with sizes written "
                "in as numbers needs that of the file: --scale full\n");
    if (!refused)
        return status;
    at.scale = "full";
    bool fits = run_task_read(arena, &at, &own, &quiet);
    eval_reference_free(&own.ref);
    if (fits)
        fprintf(stderr, "acraft run: the program refuses the task's small size; here is its own "
                        "(--scale small shows why)\n");
    else
        at.scale = "small";
    return run_scaled(arena, path, &at, NULL);
}
