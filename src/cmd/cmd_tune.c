/* acraft tune: tries the choices of a Craft program on the cycle model and prints the curve. */
#include "cmd/cmd.h"

#include "cmd/progress.h"

#include "craft/craft.h"
#include "eval/interval.h"
#include "loop/bench_pool.h"
#include "loop/tune.h"
#include "torch/torch.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct TuneJob {
    Arena *arena;
    const char *craft_path, *task_path, *scale, *out;
    int64_t budget, jobs;
    bool trust, json, no_memo;
    const NpuChip *chip;
    uint64_t seed;
} TuneJob;

static void show(void *context, const TuneRow *row, uint32_t done, uint32_t all)
{
    (void)context, (void)row;
    progress_step("timing", done, all);
}

static void print_row(const TuneJob *job, const TuneRow *row, bool best)
{
    const char *text = tune_text(job->arena, row);
    if (job->json)
        printf("{\"choices\": \"%s\", \"predicted_us\": %.6g, \"best\": %s}\n", text, row->us,
               best ? "true" : "false");
    else if (row->us < 0)
        printf("  %-32s %s\n", text, row->why ? row->why : "does not run");
    else
        printf("  %-32s %10.1f us%s\n", text, row->us, best ? "  best" : "");
}

/* How many combinations the model cannot tell from the best one. */
static void print_end(const TuneJob *job, const TuneResult *result)
{
    NpuTimeClass class = eval_time_class(&result->verdict);
    double best = result->rows.at[result->best].us;
    uint32_t alike = 0, ran = 0;
    for (uint32_t i = 0; i < result->rows.len; i++) {
        double us = result->rows.at[i].us;
        ran += us > 0;
        alike += us > 0 && !npu_is_faster(class, best, us);
    }
    NpuInterval range = npu_interval(class, best);
    printf(
        "%u of %u combinations at the %s size; best predicted %.1f us, %.1f to %.1f, no board has "
        "run them\n",
        result->rows.len, result->all, job->scale, best, range.low, range.high);
    if (alike > 1)
        printf("%u of %u that run lie within the model's error of the best\n", alike, ran);
}

static bool read_task(const TuneJob *job, TorchTask **task, Diag *diag)
{
    static const char *const names[] = {"full", "medium", "small"};
    TorchOptions options = {.seed = job->seed};
    Str source;
    for (int i = 0; i < 3; i++) {
        if (strcmp(job->scale, names[i]))
            continue;
        if (!file_read(job->arena, job->task_path, 0, &source, diag))
            return false;
        *task = torch_read_scaled(job->arena, job->task_path, source, &options, (TorchScale)i,
                                  diag);
        return *task != NULL;
    }
    diag_error(diag, "E026", (Span){0}, "--scale takes full, medium or small");
    return false;
}

static int write_best(const TuneJob *job, Str text, Diag *diag)
{
    return file_write(job->out, text, diag) ? CMD_OK : cmd_say(diag, CMD_LACKS);
}

static int tune(const TuneJob *job)
{
    Arena *arena = job->arena;
    Diag diag = diag_make(arena, job->craft_path, STR(""));
    EvalCraft c = {.file = job->craft_path};
    EvalConfig config = {
        .chip = job->chip, .trust = job->trust, .no_memo = job->no_memo, .straight = true};
    TorchTask *task = NULL;
    EvalOperand *operands = NULL;
    TuneResult result;
    if (!file_read(arena, job->craft_path, 0, &c.text, &diag) || !read_task(job, &task, &diag))
        return cmd_say(&diag, CMD_USAGE);
    diag = diag_make(arena, job->craft_path, c.text);
    CraftFile *file = craft_read(arena, job->craft_path, c.text, &diag);
    IrProgram *p = file && diag_ok(&diag) ? craft_program(arena, file, 0, &diag) : NULL;
    if (!p || !eval_bind(arena, p, task->graph, &operands, &diag))
        return cmd_say(&diag, CMD_USAGE);
    c.operands = operands;
    c.operand_count = p->tensors.len;
    TuneSpec spec = {.candidate = &c,
                     .graph = task->graph,
                     .config = &config,
                     .budget = (uint32_t)job->budget,
                     .jobs = job->jobs ? (uint32_t)job->jobs : pool_processors(),
                     .progress = show};
    progress_begin("timing");
    bool ok = tune_program(arena, &spec, &result, &diag);
    progress_end();
    for (uint32_t i = 0; i < result.rows.len; i++)
        print_row(job, &result.rows.at[i], ok && i == result.best);
    if (!ok) {
        fprintf(stderr, "acraft: %s\n", result.verdict.reason ? result.verdict.reason : "no run");
        return cmd_say(&diag, CMD_NO);
    }
    if (!job->json)
        print_end(job, &result);
    return job->out
               ? write_best(job, tune_apply(arena, c.text, &result.rows.at[result.best]), &diag)
               : CMD_OK;
}

int cmd_tune(int argc, char **argv)
{
    TuneJob job = {.scale = "medium", .budget = 64};
    const CmdOption options[] = {
        {"task", CMD_TEXT, &job.task_path, "MODEL.py", "the task whose sizes are tuned for"},
        {"scale", CMD_TEXT, &job.scale, "SIZE", "full, medium or small (medium)"},
        {"budget", CMD_I64, &job.budget, "N", "most combinations to time (64)"},
        {"j", CMD_I64, &job.jobs, "N",
         "processes at once (one for each processor); the result is the same"},
        {"o", CMD_TEXT, &job.out, "FILE", "write the program with the best values first"},
        {"no-memo", CMD_FLAG, &job.no_memo, NULL,
         "execute what only repeats, too; the answer is the same"},
        {"trust", CMD_FLAG, &job.trust, NULL, "go on where the machine gives no full sandbox"},
    };
    CmdUsage usage = {"tune",
                      "FILE.craft --task MODEL.py",
                      "Times every combination of the program's choose() values on the cycle model,"
                      "\nwithout values, and prints the curve.",
                      "acraft tune softmax.craft --task tasks/activation/softmax.py",
                      options,
                      sizeof options / sizeof *options,
                      1,
                      1};
    CmdArgs args = {0};
    int status = CMD_OK;
    if (cmd_read(&usage, argc, argv, &args, &status)) {
        job.arena = &args.arena;
        job.craft_path = args.words[0];
        job.json = args.json;
        job.seed = (uint64_t)args.seed;
        job.chip = npu_chip_find(str_from(args.chip));
        const char *wrong = !job.task_path                          ? "--task MODEL.py is needed"
                            : !job.chip                             ? "no such chip"
                            : job.budget < 1 || job.budget > 100000 ? "--budget takes 1 to 100000"
                            : job.jobs < 0 || job.jobs > 1024       ? "-j takes 1 to 1024"
                                                                    : NULL;
        if (wrong)
            fprintf(stderr, "acraft tune: %s\n", wrong);
        status = wrong ? CMD_USAGE : tune(&job);
    }
    cmd_done(&args);
    return status;
}
