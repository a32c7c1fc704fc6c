/* acraft run: one kernel file on the twin. In: the text and a launch given on the command line.
 * Out: what the outputs hold, every finding with its line, the verdict. */
#include "cmd/cmd.h"
#include "cmd/names.h"
#include "cmd/progress.h"
#include "cmd/platform.h"
#include "cmd/run.h"
#include "eval/interval.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- the launch ------------------------------------------------------------------------------ */

typedef struct Job {
    Arena *arena;
    const RunOptions *options;
    TwinOptions twin;
    TwinObserver observer;
    TwinSource source;
    VEC(TwinTensor) tensors;
    VEC(const char *) files; /* where an output goes; NULL: nowhere */
    TwinLaunch launch;
    TwinRun run;
    Verdict verdict;
    Diag diag;
} Job;

/* --out x=@FILE of a tensor that --inout gave says where its result goes. */
static bool names_inout(Job *job, const char *text)
{
    const char *equals = strchr(text, '='), *at = strchr(text, '@');
    size_t len = equals ? (size_t)(equals - text) : 0;
    for (uint32_t i = 0; len && i < job->tensors.len; i++) {
        const TwinTensor *tensor = &job->tensors.at[i];
        if (tensor->role != SIM_INOUT || strncmp(tensor->name, text, len) != 0 || tensor->name[len])
            continue;
        job->files.at[i] = at ? str_dup(job->arena, str_from(at + 1)) : NULL;
        return true;
    }
    return false;
}

/* Without values an input that comes from a file keeps its own: indices decide where a kernel goes. */
static bool add_tensors(Job *job, const NameList *list, SimRole role)
{
    for (uint32_t i = 0; i < list->len; i++) {
        TwinTensor tensor;
        const char *file = NULL;
        if (role == SIM_OUT && names_inout(job, list->at[i]))
            continue;
        bool given = role == SIM_IN && strchr(list->at[i], '@');
        bool ok = job->options->time_only && !given
                      ? twin_tensor_shape(job->arena, list->at[i], role, &tensor, &job->diag)
                      : twin_tensor_parse(job->arena, list->at[i], role, job->twin.seed, &tensor,
                                          &file, &job->diag);
        if (!ok)
            return false;
        vec_push(job->arena, &job->tensors, tensor);
        vec_push(job->arena, &job->files, role == SIM_OUT ? file : NULL);
    }
    return true;
}

bool run_read_tiling(Arena *arena, const RunOptions *options, Str *tiling, Diag *diag)
{
    const char *text = options->tiling;
    if (!text)
        return true;
    if (strchr(text, ':'))
        return twin_values_parse(arena, text, tiling, diag);
    return file_read(arena, text, 1 << 20, tiling, diag);
}

static bool bind(Job *job, const TwinKernel *kernel)
{
    const TwinParams *params = twin_kernel_params(kernel);
    TwinArg *args;
    if (!twin_bind(job->arena, params, job->tensors.at, job->tensors.len, &job->options->attrs,
                   &args, &job->diag))
        return false;
    twin_warn_of_order(params, job->tensors.at, args, &job->diag);
    job->launch.args = args;
    job->launch.arg_count = params->len;
    return true;
}

/* --- what comes out -------------------------------------------------------------------------- */

static void show_shape(Buf *out, const TwinTensor *tensor)
{
    buf_printf(out, "%s: %s[", tensor->name, dtype_name(tensor->dtype));
    for (uint32_t i = 0; i < tensor->rank; i++)
        buf_printf(out, "%s%llu", i ? "," : "", (unsigned long long)tensor->shape[i]);
    buf_char(out, ']');
}

static void show_values(Buf *out, const TwinTensor *tensor)
{
    size_t count = tensor->bytes / dtype_bytes(tensor->dtype), odd = 0;
    double least = INFINITY, most = -INFINITY, sum = 0;
    for (size_t i = 0; i < count; i++) {
        double value = dtype_load(tensor->dtype, tensor->data, i);
        if (!isfinite(value)) {
            odd++;
            continue;
        }
        least = fmin(least, value);
        most = fmax(most, value);
        sum += value;
    }
    if (count > odd)
        buf_printf(out, " from %.6g to %.6g, mean %.6g", least, most, sum / (double)(count - odd));
    if (odd)
        buf_printf(out, ", %zu inf or nan", odd);
    buf_puts(out, "; starts");
    for (size_t i = 0; i < count && i < 6; i++)
        buf_printf(out, " %.6g", dtype_load(tensor->dtype, tensor->data, i));
    buf_char(out, '\n');
}

static void show_outputs(const Job *job, Buf *out)
{
    for (uint32_t i = 0; i < job->tensors.len; i++) {
        if (job->tensors.at[i].role == SIM_IN)
            continue;
        show_shape(out, &job->tensors.at[i]);
        show_values(out, &job->tensors.at[i]);
    }
}

static bool write_outputs(Job *job)
{
    for (uint32_t i = 0; i < job->tensors.len; i++)
        if (job->files.at[i] &&
            !twin_tensor_write(&job->tensors.at[i], job->files.at[i], &job->diag))
            return false;
    return true;
}

static int show(Job *job, bool ran)
{
    Buf out = {0};
    cmd_say(&job->diag, CMD_OK);
    job->verdict.seconds = job->run.seconds;
    twin_observed(job->arena, job->options->chip, &job->observer, &job->verdict);
    if (job->options->json) {
        verdict_to_json(&job->verdict, &out);
        buf_char(&out, '\n');
    } else {
        buf_str(&out, job->run.printed);
        if (ran && !job->options->time_only)
            show_outputs(job, &out);
        cmd_show_verdict(job->arena, job->verdict.candidate, &job->verdict, &out);
        if (ran) {
            buf_printf(&out, "%u cores, %llu records, %.3f s; checked on 1 shape; predicted ",
                       job->run.cores, (unsigned long long)job->run.records, job->run.seconds);
            eval_put_predicted(&job->verdict, &out);
            buf_puts(&out, ", not measured on a device\n");
        }
        buf_str(&out, buf_view(&job->observer.text));
    }
    cmd_print(&out);
    if (job->options->trace && job->observer.done &&
        !file_write(job->options->trace, buf_view(&job->observer.json), &job->diag))
        return cmd_say(&job->diag, CMD_USAGE);
    return verdict_status_row(job->verdict.status)->exit;
}

/* --- the command ----------------------------------------------------------------------------- */

static int run_kernel(Job *job)
{
    TwinKernel *kernel = twin_compile(job->arena, &job->source, &job->twin, &job->verdict,
                                      &job->diag);
    if (!kernel)
        return show(job, false);
    bool bound = bind(job, kernel), ran = false;
    if (bound)
        ran = twin_run(job->arena, kernel, &job->launch, &job->twin, &job->run, &job->verdict);
    twin_release(kernel);
    if (!bound)
        return cmd_say(&job->diag, CMD_USAGE);
    if (ran && !write_outputs(job))
        return cmd_say(&job->diag, CMD_USAGE);
    if (job->verdict.status == VERDICT_OK)
        job->verdict.stage = STAGE_DONE;
    return show(job, ran);
}

static const char *const *ended_list(Arena *arena, NameList *list)
{
    vec_push(arena, list, NULL);
    return list->at;
}

static int run_file(Job *job, const char *path, RunOptions *options)
{
    if (!file_read(job->arena, path, 16 << 20, &job->source.text, &job->diag) ||
        !run_read_tiling(job->arena, job->options, &job->launch.tiling, &job->diag))
        return cmd_say(&job->diag, CMD_USAGE);
    job->diag.source = job->source.text;
    job->source.path = path;
    job->source.dir = path_dir(job->arena, path);
    job->source.kernel = options->kernel;
    job->source.include_dirs = ended_list(job->arena, &options->include_dirs);
    job->source.defines = ended_list(job->arena, &options->defines);
    job->launch.tensors = job->tensors.at;
    job->launch.tensor_count = job->tensors.len;
    job->launch.blocks = (uint32_t)options->blocks;
    job->launch.tiling_key = (uint64_t)options->tiling_key;
    job->launch.workspace = (uint64_t)options->workspace;
    return run_kernel(job);
}

/* An operator project: op_host decides blocks and tiling. */
static int run_project(Job *job, const char *path, RunOptions *options)
{
    TwinProject project;
    if (!run_read_project(job->arena, path, options, &project, &job->diag))
        return cmd_say(&job->diag, CMD_USAGE);
    project.include_dirs = ended_list(job->arena, &options->include_dirs);
    project.defines = ended_list(job->arena, &options->defines);
    TwinOpened *opened = twin_project_open(job->arena, &project, &job->twin, &job->verdict,
                                           &job->diag);
    if (!opened)
        return show(job, false);
    TwinCase kase = {.op = options->kernel,
                     .tensors = job->tensors.at,
                     .tensor_count = job->tensors.len,
                     .attrs = options->attrs,
                     .typed = true};
    TwinTensors made = {0};
    bool ran = twin_project_run(job->arena, opened, &kase, &job->twin, &made, &job->run,
                                &job->verdict, &job->diag);
    twin_project_close(opened);
    for (uint32_t i = 0; i < made.len; i++) {
        vec_push(job->arena, &job->tensors, made.at[i]);
        vec_push(job->arena, &job->files, NULL);
    }
    if (ran && !write_outputs(job))
        return cmd_say(&job->diag, CMD_USAGE);
    if (job->verdict.status == VERDICT_OK)
        job->verdict.stage = STAGE_DONE;
    return show(job, ran);
}

static int run_path(Arena *arena, const char *path, RunOptions *options)
{
    Job job = {.arena = arena, .options = options, .verdict = verdict_make()};
    job.verdict.candidate = path;
    job.diag = diag_make(arena, path, (Str){0});
    job.twin = (TwinOptions){.chip = options->chip,
                             .seed = options->seed,
                             .trust = options->trust,
                             .run_seconds = options->seconds,
                             .time_only = options->time_only,
                             .no_memo = options->no_memo,
                             .keep_going = true};
    job.observer = (TwinObserver){
        .strict = options->strict, .trace = options->trace != NULL, .explain = options->explain};
    twin_observe(&job.twin, &job.observer);
    int status = CMD_USAGE;
    if (!add_tensors(&job, &options->inputs, SIM_IN) ||
        !add_tensors(&job, &options->inouts, SIM_INOUT) ||
        !add_tensors(&job, &options->outputs, SIM_OUT))
        status = cmd_say(&job.diag, CMD_USAGE);
    else
        status = file_is_dir(path) || str_ends(str_from(path), ".craft")
                     ? run_project(&job, path, options)
                     : run_file(&job, path, options);
    for (uint32_t i = 0; i < job.tensors.len; i++)
        twin_tensor_free(&job.tensors.at[i]);
    twin_observer_free(&job.observer);
    return status;
}

static int misplaced(const char *why)
{
    fprintf(stderr, "acraft run: %s\n", why);
    return CMD_USAGE;
}

static int run_any(Arena *arena, const char *path, RunOptions *options)
{
    if (options->task)
        return run_task(arena, path, options);
    EvalCandidate program;
    bool is_program = run_is_program(arena, path, options, &program);
    if (is_program && options->time_only)
        return misplaced("--time-only is not for a program with its own main: values decide what "
                         "it does");
    if (is_program)
        return run_program(arena, path, &program, options);
    if (options->files || options->args.len)
        return misplaced("--files and --arg are for a program with its own main that launches");
    return run_path(arena, path, options);
}

/* A directory for another platform says itself at which sizes its kernel runs. */
static int run_platform(CmdArgs *args, const char *platform, const RunOptions *o)
{
    if (!o->task && !o->dtype && !o->scale && !o->kernel && !o->inputs.len && !o->inouts.len &&
        !o->outputs.len && !o->attrs.len && !o->time_only && !o->explain && !o->trace && !o->files)
        return platform_run(args, platform, o->rule);
    fprintf(stderr, "acraft run: a kernel for another platform is run as its directory has it: "
                    "only --rule, --seed and --json go with it\n");
    return CMD_USAGE;
}

/* Runs it where the options fit together; else the exit status, with a message. */
static int run_checked(CmdArgs *args, const char *rule, const char *platform, RunOptions *o)
{
    o->json = args->json;
    o->seed = (uint64_t)args->seed;
    o->chip = npu_chip_find(str_from(args->chip));
    o->blocks_given = o->blocks != 0;
    o->blocks = o->blocks ? o->blocks : 1;
    if (o->ulp < 0 || o->ulp > 1000) {
        fprintf(stderr, "acraft run: --ulp takes 1 to 1000 rounds\n");
        return CMD_USAGE;
    }
    if (!compare_rule_from_name(str_from(rule), &o->rule)) {
        fprintf(stderr, "acraft run: no rule is called '%s'; there are %s\n", rule,
                names_of_rules(&args->arena));
        return CMD_USAGE;
    }
    if (platform_is_other(platform) || (!platform && platform_wrote(&args->arena, args->words[0])))
        return run_platform(args, platform, o);
    if (!o->chip->simulated) {
        fprintf(stderr, "acraft run: %s is known, but its architecture %u is not modelled\n",
                o->chip->name, o->chip->arch);
        return CMD_USAGE;
    }
    if (o->blocks < 1 || o->workspace < 0) {
        fprintf(stderr, "acraft run: --blocks and --workspace count from 1 and 0\n");
        return CMD_USAGE;
    }
    progress_begin("running");
    int status = run_any(&args->arena, args->words[0], o);
    progress_end();
    return status;
}

int cmd_run(int argc, char **argv)
{
    RunOptions o = {0};
    const char *rule = "acraft", *platform = NULL;
    const CmdOption options[] = {
        {"task", CMD_TEXT, &o.task, "MODEL.py", "inputs and reference values of this task"},
        {"platform", CMD_TEXT, &platform, "NAME",
         "ascend, cpu or pallas: PATH is a directory that make --platform wrote (what wrote it)"},
        {"dtype", CMD_TEXT, &o.dtype, "T",
         "with --task: f32, f16 or bf16 for tensors whose file names no dtype (f32, or what a "
         "project declares)"},
        {"scale", CMD_TEXT, &o.scale, "S",
         "sizes of the task: full, medium, small, fuzz (default: small, or full where the program "
         "has no other)"},
        {"case", CMD_I64, &o.kase, "N", "which case of the task (0)"},
        {"rule", CMD_TEXT, &rule, "R", "how values are compared: acraft, mkb, npukb, ..."},
        {"ulp", CMD_I64, &o.ulp, "N", "judge N times more with other last bits and core order"},
        {"kernel", CMD_TEXT, &o.kernel, "NAME", "the entry, where the text has several"},
        {"in", CMD_LIST, &o.inputs, "X=f16[8,64]", "an input, random; or X=@X.npy, X=f16[..]@RAW"},
        {"inout", CMD_LIST, &o.inouts, "X=...",
         "a tensor that is read and written; a file it comes from stays, --out X=@FILE writes the "
         "result"},
        {"out", CMD_LIST, &o.outputs, "Y=f16[8,64]", "an output; @FILE behind it writes it"},
        {"attr", CMD_LIST, &o.attrs, "NAME=VALUE", "an attribute, or a parameter by value"},
        {"blocks", CMD_I64, &o.blocks, "N",
         "blocks to launch (1; with --task as many as the chip has cores)"},
        {"tiling", CMD_TEXT, &o.tiling, "FILE|u32:8192,f32:1e-6,..", "the tiling bytes"},
        {"tiling-key", CMD_I64, &o.tiling_key, "K", "the tiling key (0)"},
        {"workspace", CMD_I64, &o.workspace, "BYTES", "the user's workspace (0)"},
        {"I", CMD_LIST, &o.include_dirs, "DIR", "where to look for headers"},
        {"D", CMD_LIST, &o.defines, "M=V", "a macro, as DTYPE_X=half"},
        {"files", CMD_TEXT, &o.files, "DIR",
         "a program with its own main reads and writes files below it"},
        {"arg", CMD_LIST, &o.args, "A", "handed to the main of such a program"},
        {"seconds", CMD_F64, &o.seconds, "S", "time limit of the run (60)"},
        {"time-only", CMD_FLAG, &o.time_only, NULL,
         "no values but those of inputs from files: bounds, hazards and time of a launch of any "
         "size"},
        {"no-memo", CMD_FLAG, &o.no_memo, NULL,
         "with --time-only: execute what only repeats, too; the answer is the same"},
        {"explain", CMD_FLAG, &o.explain, NULL, "where the time goes, and what to change first"},
        {"trace", CMD_TEXT, &o.trace, "FILE.json", "the run as a picture, for ui.perfetto.dev"},
        {"hf32", CMD_FLAG, &o.hf32, NULL,
         "with --task: convolutions of f32 round their factors to 11 bits after the point (HF32)"},
        {"strict", CMD_FLAG, &o.strict, NULL, "count only synchronisation that is written"},
        {"trust", CMD_FLAG, &o.trust, NULL, "run even where the sandbox has holes"},
    };
    CmdUsage usage = {
        "run",
        "PATH [--task MODEL.py | --in ... --out ... | --files DIR]",
        "Runs on simulated cores: an AscendC kernel, an operator project (op_host and op_kernel), "
        "a "
        "Craft file,\na program with its own main that launches kernels. With --task also answers "
        "in the "
        "forms of\nMultiKernelBench and NPUKernelBench, host code that launches, and raw answers "
        "of "
        "models; their\nvalues are compared with the task's.",
        "acraft run examples/ascendc/axpy_faster.cpp --in x=f32[2097152] --in y=f32[2097152] "
        "--out z=f32[2097152] --blocks 48",
        options,
        sizeof options / sizeof *options,
        1,
        1};
    CmdArgs args = {0};
    int status = CMD_OK;
    if (cmd_read(&usage, argc, argv, &args, &status))
        status = run_checked(&args, rule, platform, &o);
    cmd_done(&args);
    return status;
}
