/* acraft plan: the planner's candidates with their costs; the cost of a schedule that somebody wrote. */
#include "cmd/cmd.h"

#include "cmd/platform.h"
#include "cmd/progress.h"

#include "eval/bound.h"
#include "gen/plan/candidates.h"
#include "torch/torch.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct PlanWish {
    const char *schedule, *out, *dtype, *platform;
    NameList sets;
    int64_t top, most;
    bool nest, brief, hf32, tf32;
} PlanWish;

typedef struct PlanShow {
    Arena *arena;
    const NpuChip *chip;
    const PlanWish *wish;
    const TorchTask *task;
    PlanCandidates found;
    PlanCandidate own; /* of --schedule */
} PlanShow;

static const char *by_of(const Plan *plan)
{
    return plan->schedule ? "loop nests" : plan->strategy;
}

/* ---- for people ---- */

static const char *bytes_of(Arena *arena, double bytes)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    int unit = 0;
    for (; bytes >= 999.5 && unit < 4; unit++)
        bytes /= 1000;
    return str_format(arena, unit ? "%.3g %s" : "%.0f %s", bytes, units[unit]);
}

static void put_indented(const char *text, int depth, Buf *out)
{
    Str rest = str_from(text), line;
    while (str_next(&rest, '\n', &line))
        if (line.len)
            buf_printf(out, "%*s%.*s\n", depth, "", STR_ARG(line));
}

/* How many timed candidates the model cannot tell from the fastest one. */
static uint32_t count_alike(const PlanCandidates *f, uint32_t *timed)
{
    double best = INFINITY;
    uint32_t alike = 0;
    *timed = 0;
    for (uint32_t i = 0; i < f->rows.len; i++)
        if (f->rows.at[i].timed && f->rows.at[i].cost.us < best)
            best = f->rows.at[i].cost.us;
    for (uint32_t i = 0; i < f->rows.len; i++) {
        const PlanCandidate *c = &f->rows.at[i];
        *timed += c->timed;
        alike += c->timed && !npu_is_faster(NPU_TIME_VECTOR, best, c->cost.us);
    }
    return alike;
}

static void put_cost(const PlanShow *s, const PlanCandidate *c, Buf *out)
{
    if (!c->timed) {
        buf_printf(out, "not timed: %s\n", c->cost.why);
        return;
    }
    NpuInterval i = npu_interval(NPU_TIME_VECTOR, c->cost.us);
    buf_printf(out, "%.1f us (%.1f to %.1f), %u cores, most by %s; ", c->cost.us, i.low, i.high,
               c->cost.cores, c->cost.bound);
    buf_printf(out, "from GM %s, ",
               bytes_of(s->arena, (double)c->cost.gm_read - (double)c->cost.l2_read));
    buf_printf(out, "from L2 %s, ", bytes_of(s->arena, (double)c->cost.l2_read));
    buf_printf(out, "out %s; ", bytes_of(s->arena, (double)c->cost.gm_written));
    buf_printf(out, "UB %lld of %u\n", (long long)c->cost.ub, s->chip->ub);
}

static void put_candidate(const PlanShow *s, const PlanCandidate *c, const char *mark, Buf *out)
{
    buf_printf(out, "%-4s%s%s: ", mark, by_of(&c->plan), c->taken ? ", taken" : "");
    put_cost(s, c, out);
    if (c->plan.schedule)
        put_indented(c->plan.schedule, 6, out);
    for (uint32_t i = 0; i < c->plan.stages.len; i++) {
        const PlanStage *stage = &c->plan.stages.at[i];
        buf_printf(out, "      %u. %s: %s\n", i + 1, stage->operators,
                   stage->schedule ? "loop nests" : stage->strategy);
        if (stage->schedule)
            put_indented(stage->schedule, 9, out);
    }
}

static void show_all(const PlanShow *s, Buf *out)
{
    const PlanCandidates *f = &s->found;
    bool seen = false;
    buf_printf(out, "%s on %s, at the sizes of the file; predicted, no board has run them\n",
               s->task->name, s->chip->name);
    buf_printf(
        out, "attainable %.1f us: each operand once at the rates that copies reach, and a launch\n",
        f->least_us);
    NpuWork work = eval_work(s->task->graph);
    buf_printf(out, "bound %.1f us: the same at the chip's peak rates, without a launch\n",
               npu_bound(s->chip, &work).us);
    if (s->wish->nest && f->nest)
        buf_puts(out, f->nest);
    if (s->wish->schedule)
        put_candidate(s, &s->own, "own", out);
    for (uint32_t i = 0; i < f->rows.len && i < s->wish->top; i++) {
        put_candidate(s, &f->rows.at[i], str_format(s->arena, "%u.", i + 1), out);
        seen = seen || f->rows.at[i].taken;
    }
    for (uint32_t i = (uint32_t)s->wish->top; i < f->rows.len && !seen; i++)
        if (f->rows.at[i].taken) {
            buf_printf(out, "the one that `acraft make` builds is number %u of %u:\n", i + 1,
                       f->rows.len);
            put_candidate(s, &f->rows.at[i], str_format(s->arena, "%u.", i + 1), out);
        }
    if (f->legend)
        buf_printf(out, "names in schedules of loop nests:\n%s", f->legend);
    if (f->rows.len > s->wish->top)
        buf_printf(out, "%u candidates were timed: --top %u shows all\n", f->rows.len, f->rows.len);
    buf_printf(out, "why: %s\n", f->why);
    uint32_t timed, alike = count_alike(f, &timed);
    if (alike > 1)
        buf_printf(out, "%u of %u timed lie within the model's error of the fastest\n", alike,
                   timed);
}

/* Without times: the same text as long as the plan is the same. */
static void show_brief(const PlanShow *s, Buf *out)
{
    for (uint32_t i = 0; i < s->found.rows.len; i++) {
        const Plan *plan = &s->found.rows.at[i].plan;
        if (!s->found.rows.at[i].taken)
            continue;
        buf_printf(out, "taken by %s\n", by_of(plan));
        buf_puts(out, plan->schedule ? plan->schedule : "");
        for (uint32_t k = 0; k < plan->stages.len; k++) {
            const PlanStage *stage = &plan->stages.at[k];
            buf_printf(out, "%u. %s: %s\n", k + 1, stage->operators,
                       stage->schedule ? "loop nests" : stage->strategy);
            if (stage->schedule)
                put_indented(stage->schedule, 4, out);
        }
        if (plan->schedule)
            return;
    }
    if (s->found.no_nest)
        buf_printf(out, "no schedule of loop nests: %s\n", s->found.no_nest);
    for (uint32_t i = 0; i < s->found.rows.len; i++)
        if (s->found.rows.at[i].plan.schedule) {
            buf_puts(out, "loop nests would be\n");
            put_indented(s->found.rows.at[i].plan.schedule, 4, out);
            return;
        }
}

/* ---- for programs ---- */

static void put_text(const char *key, const char *text, Buf *out)
{
    buf_printf(out, "\"%s\": ", key);
    if (text)
        buf_json_str(out, str_from(text));
    else
        buf_puts(out, "null");
}

static void json_candidate(const PlanCandidate *c, Buf *out)
{
    buf_char(out, '{');
    put_text("by", c->plan.schedule ? "nest" : c->plan.strategy, out);
    buf_puts(out, ", ");
    put_text("schedule", c->plan.schedule, out);
    buf_printf(out, ", \"taken\": %s", c->taken ? "true" : "false");
    if (c->timed) {
        NpuInterval i = npu_interval(NPU_TIME_VECTOR, c->cost.us);
        buf_printf(out,
                   ", \"predicted_us\": %.6g, \"low_us\": %.6g, \"high_us\": %.6g, \"cores\": %u",
                   c->cost.us, i.low, i.high, c->cost.cores);
        buf_printf(out,
                   ", \"gm_read\": %llu, \"l2_read\": %llu, \"gm_written\": %llu, "
                   "\"ub_bytes\": %lld, ",
                   (unsigned long long)(c->cost.gm_read - c->cost.l2_read),
                   (unsigned long long)c->cost.l2_read, (unsigned long long)c->cost.gm_written,
                   (long long)c->cost.ub);
        put_text("bound", c->cost.bound, out);
    }
    buf_puts(out, ", \"stages\": [");
    for (uint32_t i = 0; i < c->plan.stages.len; i++) {
        buf_puts(out, i ? ", {" : "{");
        put_text("operators", c->plan.stages.at[i].operators, out);
        buf_puts(out, ", ");
        put_text("strategy", c->plan.stages.at[i].strategy, out);
        buf_puts(out, ", ");
        put_text("schedule", c->plan.stages.at[i].schedule, out);
        buf_char(out, '}');
    }
    buf_puts(out, "]}");
}

static void show_json(const PlanShow *s, Buf *out)
{
    buf_char(out, '{');
    put_text("task", s->task->name, out);
    buf_puts(out, ", ");
    put_text("chip", s->chip->name, out);
    NpuWork work = eval_work(s->task->graph);
    buf_printf(out, ", \"least_us\": %.6g, \"bound_us\": %.6g, ", s->found.least_us,
               npu_bound(s->chip, &work).us);
    put_text("why", s->found.why, out);
    uint32_t timed, alike = count_alike(&s->found, &timed);
    buf_printf(out, ", \"timed\": %u, \"within_error\": %u, ", timed, alike);
    put_text("nest", s->found.nest, out);
    buf_puts(out, ", ");
    put_text("no_schedule", s->found.no_nest, out);
    if (s->wish->schedule) {
        buf_puts(out, ", \"own\": ");
        json_candidate(&s->own, out);
    }
    buf_puts(out, ", \"candidates\": [");
    for (uint32_t i = 0; i < s->found.rows.len; i++) {
        buf_puts(out, i ? ", " : "");
        json_candidate(&s->found.rows.at[i], out);
    }
    buf_puts(out, "]}\n");
}

/* ---- the command ---- */

/* "ROWS=64" */
static bool read_sets(CmdArgs *args, const PlanWish *wish, TorchOptions *options)
{
    TorchSet *sets = arena_array(&args->arena, TorchSet, wish->sets.len + 1);
    for (uint32_t i = 0; i < wish->sets.len; i++) {
        Str rest = str_from(wish->sets.at[i]), name;
        if (!str_next(&rest, '=', &name) || !name.len || !str_to_i64(rest, &sets[i].value)) {
            fprintf(stderr, "acraft plan: --set wants NAME=NUMBER, not '%s'\n", wish->sets.at[i]);
            return false;
        }
        sets[i].name = str_dup(&args->arena, name);
    }
    options->sets = sets;
    options->n_sets = wish->sets.len;
    return true;
}

/* The fastest schedule of loop nests to a file, to be changed by hand. */
static int write_schedule(const PlanShow *s, Diag *diag)
{
    for (uint32_t i = 0; i < s->found.rows.len; i++)
        if (s->found.rows.at[i].plan.schedule)
            return file_write(s->wish->out, str_from(s->found.rows.at[i].plan.schedule), diag)
                       ? CMD_OK
                       : cmd_say(diag, CMD_LACKS);
    fprintf(stderr, "acraft plan: no schedule to write, as no loop nest computes this task: %s\n",
            s->found.no_nest ? s->found.no_nest : "none that fits was found");
    return CMD_LACKS;
}

static bool read_own(PlanShow *s, Diag *diag)
{
    Str text;
    s->own = (PlanCandidate){0};
    if (!file_read(s->arena, s->wish->schedule, 0, &text, diag) ||
        !plan_by_schedule(s->arena, s->task->graph, s->chip, s->wish->schedule, text, &s->own.plan,
                          diag))
        return false;
    s->own.timed = clock_cost(&s->own.plan, s->chip, &s->own.cost);
    return true;
}

static int plan(CmdArgs *args, const PlanWish *wish, const TorchOptions *options)
{
    PlanShow s = {.arena = &args->arena, .chip = npu_chip_find(str_from(args->chip)), .wish = wish};
    Diag diag = diag_make(s.arena, args->words[0], STR(""));
    Str source;
    Buf out = {0};
    if (!file_read(s.arena, args->words[0], 0, &source, &diag))
        return cmd_say(&diag, CMD_USAGE);
    diag = diag_make(s.arena, args->words[0], source);
    s.task = torch_read(s.arena, args->words[0], source, options, &diag);
    if (!s.task || (wish->schedule && !read_own(&s, &diag)))
        return cmd_say(&diag, CMD_USAGE);
    progress_begin("timing candidates");
    bool ok = plan_candidates(s.arena, s.task->graph, s.chip,
                              wish->brief ? 0 : (uint32_t)wish->most, &s.found, &diag);
    progress_end();
    if (!ok)
        return cmd_say(&diag, CMD_LACKS);
    if (args->json)
        show_json(&s, &out);
    else if (wish->brief)
        show_brief(&s, &out);
    else
        show_all(&s, &out);
    cmd_print(&out);
    return wish->out ? write_schedule(&s, &diag) : CMD_OK;
}

int cmd_plan(int argc, char **argv)
{
    PlanWish wish = {.top = 3, .most = 16, .dtype = "f32"};
    const CmdOption options[] = {
        {"top", CMD_I64, &wish.top, "N", "how many candidates to show, the fastest first (3)"},
        {"most", CMD_I64, &wish.most, "N", "most schedules of loop nests to time (16)"},
        {"schedule", CMD_TEXT, &wish.schedule, "FILE",
         "show the cost of the schedule in this file, too; refuse one that is illegal"},
        {"o", CMD_TEXT, &wish.out, "FILE", "write the fastest schedule of loop nests there"},
        {"nest", CMD_FLAG, &wish.nest, NULL, "show the loop nests: axes, values, accesses"},
        {"brief", CMD_FLAG, &wish.brief, NULL,
         "only what is taken, without times: the same text for the same plan"},
        {"dtype", CMD_TEXT, &wish.dtype, "TYPE",
         "f32, f16 or bf16: of tensors whose file names no dtype (f32)"},
        {"hf32", CMD_FLAG, &wish.hf32, NULL,
         "convolutions of f32 round their factors to 11 bits after the point (HF32), as those of "
         "torch_npu do"},
        {"tf32", CMD_FLAG, &wish.tf32, NULL,
         "with --platform cuda: products may round factors of f32 to tf32 (10 bits after the "
         "point)"},
        {"set", CMD_LIST, &wish.sets, "N=V", "another value for an integer of the file"},
        {"platform", CMD_TEXT, &wish.platform, "NAME",
         "cuda, cpu or pallas: the kernels its planner makes, without candidates (ascend)"},
    };
    CmdUsage usage = {"plan",
                      "MODEL.py [--top N] [--schedule FILE]",
                      "Shows what the planner considers for a task: schedules with predicted time "
                      "and its interval,\nbytes from GM and L2, use of UB, and why one is taken. "
                      "`acraft make --schedule FILE` builds\nthe one in a file.",
                      "acraft plan tasks/activation/softmax.py --set ROWS=4096 --set COLS=512",
                      options,
                      sizeof options / sizeof *options,
                      1,
                      1};
    CmdArgs args = {0};
    int status = CMD_OK;
    if (cmd_read(&usage, argc, argv, &args, &status)) {
        TorchOptions read = {.seed = (uint64_t)args.seed, .hf32 = wish.hf32};
        read.float_type = !strcmp(wish.dtype, "f16")    ? DT_F16
                          : !strcmp(wish.dtype, "bf16") ? DT_BF16
                                                        : DT_F32;
        const char *wrong = !npu_chip_find(str_from(args.chip))  ? "no such chip"
                            : wish.top < 1 || wish.top > 10000   ? "--top takes 1 to 10000"
                            : wish.most < 1 || wish.most > 10000 ? "--most takes 1 to 10000"
                            : strcmp(wish.dtype, dtype_name(read.float_type))
                                ? "--dtype takes f32, f16 or bf16"
                                : NULL;
        bool other = !wrong && platform_is_other(wish.platform);
        PlatformAsk ask = {wish.platform, NULL, NULL, wish.dtype, &wish.sets, false, 0, wish.tf32};
        if (wrong)
            fprintf(stderr, "acraft plan: %s\n", wrong);
        if (other && (wish.schedule || wish.out || wish.nest))
            fprintf(stderr,
                    "acraft plan: schedules are for Ascend: --schedule, --nest and -o do not "
                    "go with --platform %s\n",
                    wish.platform);
        status = other && (wish.schedule || wish.out || wish.nest) ? CMD_USAGE
                 : other                                           ? platform_write(&args, &ask)
                 : wrong || !read_sets(&args, &wish, &read)        ? CMD_USAGE
                                                                   : plan(&args, &wish, &read);
    }
    cmd_done(&args);
    return status;
}
