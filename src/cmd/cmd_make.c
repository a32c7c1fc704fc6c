/* acraft make: plans a kernel for a model file, judges it, writes the operator project. */
#include "cmd/cmd.h"

#include "cmd/make.h"
#include "cmd/progress.h"
#include "cmd/platform.h"
#include "emit/emit.h"
#include "loop/bench_pool.h"
#include "loop/make.h"
#include "loop/make_join.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void show_progress(void *context, const Verdict *v, uint32_t done, uint32_t all)
{
    (void)context, (void)v;
    if (done == all)
        progress_step("writing, and judging what is written", 0, 0);
    else
        progress_step("judging", done, all);
}

static void show_written_progress(void *context, uint32_t done, uint32_t all)
{
    (void)context;
    progress_step("judging what is written", done, all);
}

/* One line for each case. */
static void print_json(const MakeMade *made, uint32_t count)
{
    Buf lines = {0};
    for (uint32_t m = 0; m < count; m++)
        for (uint32_t i = 0; i < made[m].result.verdicts.len; i++) {
            verdict_to_json(&made[m].result.verdicts.at[i], &lines);
            buf_char(&lines, '\n');
        }
    fputs(lines.len ? lines.at : "", stdout);
    buf_free(&lines);
}

/* The options of this command, beside those of every command. */
typedef struct MakeWish {
    const char *dir, *dtypes, *listed, *one, *platform, *scale, *schedule;
    NameList sets;
    NameList ranges;
    int64_t fuzz, jobs;
    bool trust, no_memo, interp, plan_only, strict, medium, rounded, hf32, tf32;
} MakeWish;

enum { MOST_DTYPES = 3, MOST_FUZZ = 10000 };

/* "f32,f16" */
static bool read_dtypes(const char *text, DType *dtypes, uint32_t *count)
{
    Str rest = str_from(text), name;
    for (*count = 0; str_next(&rest, ',', &name);) {
        DType dtype = str_is(name, "f32")    ? DT_F32
                      : str_is(name, "f16")  ? DT_F16
                      : str_is(name, "bf16") ? DT_BF16
                                             : DT_COUNT;
        for (uint32_t i = 0; i < *count; i++)
            if (dtypes[i] == dtype)
                dtype = DT_COUNT;
        if (dtype == DT_COUNT || *count == MOST_DTYPES)
            return false;
        dtypes[(*count)++] = dtype;
    }
    return *count > 0;
}

static bool read_ranges(Arena *arena, const NameList *texts, MakeRanges *ranges)
{
    MakeRange *at = arena_array(arena, MakeRange, texts->len + 1);
    for (uint32_t i = 0; i < texts->len; i++) {
        if (!sizes_range(arena, str_from(texts->at[i]), &at[i])) {
            fprintf(stderr, "acraft: --range wants NAME=LOW..HIGH, 1 <= LOW <= HIGH, not '%s'\n",
                    texts->at[i]);
            return false;
        }
    }
    *ranges = (MakeRanges){at, texts->len};
    return true;
}

static bool refuse_option(const char *why)
{
    fprintf(stderr, "acraft: %s\n", why);
    return false;
}

/* --case: the N-th of a list, or one of the cases that are drawn. */
static bool read_case(const MakeWish *wish, MakeSpec *spec)
{
    int64_t draw = 0;
    Str one = str_from(wish->one ? wish->one : "");
    bool fuzz = str_starts(one, "fuzz") && str_to_i64(str_slice(one, 4, one.len), &draw);
    if (!wish->one)
        return true;
    if (wish->dir)
        return refuse_option("--case judges one case and writes nothing: leave -o out");
    if (wish->listed)
        return (str_to_i64(one, &spec->only) && spec->only > 0) ||
               refuse_option("with --listed, --case takes the number of a case, from 1");
    if (fuzz ? draw < 0 || draw >= MOST_FUZZ
             : !str_is(one, "small") && !str_is(one, "medium") && !str_is(one, "own") &&
                   !str_is(one, "full"))
        return refuse_option(
            "--case takes small, medium, full, own, or fuzz0, fuzz1, ...; with --listed "
            "the number of a case");
    spec->one = wish->one;
    spec->medium = spec->medium || str_is(one, "medium");
    spec->fuzz = fuzz && draw >= spec->fuzz ? (uint32_t)draw + 1 : spec->fuzz;
    return true;
}

/* Listed cases say their own dtypes and sizes. */
static bool read_listed(const MakeWish *wish, MakeSpec *spec)
{
    Str size = str_from(wish->listed ? wish->listed : "own");
    bool plain = wish->ranges.len == 0 && str_is(str_from(wish->dtypes), "f32");
    if (!str_is(size, "own") && !str_is(size, "tiny"))
        return refuse_option("--listed takes own or tiny");
    if (wish->listed && !plain)
        return refuse_option(
            "--listed takes dtypes and sizes from the list: not with --dtype or --range");
    spec->listed = wish->listed != NULL;
    spec->tiny = str_is(size, "tiny");
    return read_case(wish, spec);
}

static bool has_list(Arena *arena, const char *path, Diag *diag)
{
    TorchCases cases = {0};
    if (!torch_cases(arena, path, &cases, diag))
        return false;
    if (!cases.lines.len)
        diag_error(diag, "M016", (Span){0}, "--listed: there is no list of cases beside the file");
    return cases.lines.len > 0;
}

/* A word as a shell reads it back. */
static void put_word(Buf *out, const char *word)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_-./=,:+@%";
    buf_char(out, ' ');
    if (*word && word[strspn(word, safe)] == 0) {
        buf_puts(out, word);
        return;
    }
    buf_char(out, '\'');
    for (const char *c = word; *c; c++)
        if (*c == '\'')
            buf_puts(out, "'\\''");
        else
            buf_char(out, *c);
    buf_char(out, '\'');
}

/* The command that made it, but for its case and where it was to be written. */
static const char *command_of(CmdArgs *args, const MakeWish *wish, DType dtype)
{
    Buf out = {0};
    buf_puts(&out, "acraft make");
    put_word(&out, args->words[0]);
    if (dtype != DT_F32)
        buf_printf(&out, " --dtype %s", dtype_name(dtype));
    for (uint32_t i = 0; i < wish->ranges.len; i++) {
        buf_puts(&out, " --range");
        put_word(&out, wish->ranges.at[i]);
    }
    if (args->seed)
        buf_printf(&out, " --seed %lld", (long long)args->seed);
    if (strcmp(args->chip, "910B2"))
        buf_printf(&out, " --chip %s", args->chip);
    if (wish->schedule) {
        buf_puts(&out, " --schedule");
        put_word(&out, wish->schedule);
    }
    buf_puts(&out, wish->hf32 ? " --hf32" : "");
    buf_puts(&out, wish->strict ? " --strict" : "");
    buf_puts(&out, wish->interp ? " --interp" : "");
    buf_puts(&out, wish->trust ? " --trust" : "");
    char *text = buf_take(&out, &args->arena);
    buf_free(&out);
    return text;
}

/* The joined program once more, for every dtype, as it will be written. */
static bool check_joined(Arena *arena, const MakeSpec *spec, MakeMade *made, uint32_t count,
                         Str craft, Diag *diag)
{
    for (uint32_t i = 0; count > 1 && i < count; i++) {
        MakeSpec own = *spec;
        own.float_type = made[i].dtype;
        own.trace = NULL;
        Verdict v = verdict_make();
        if (!make_again(arena, &own, &made[i].result, craft, &v)) {
            diag_error(diag, "M015", (Span){0}, "the joined program fails for %s: %s: %s",
                       dtype_name(made[i].dtype), verdict_status_row(v.status)->text, v.reason);
            return false;
        }
        vec_push(arena, &made[i].result.verdicts, v);
        made[i].result.ok++;
    }
    return true;
}

/* Every form for every dtype, read back from files and judged. */
static bool check_written(Arena *arena, const MakeSpec *spec, MakeMade *made, uint32_t count,
                          MakeProgram *program, MakeWritten *written, Diag *diag)
{
    MakeSpec first = *spec;
    first.float_type = made[0].dtype;
    *program = make_attributes(arena, &first, &made[0].result, program->craft);
    for (uint32_t i = 0; i < count; i++) {
        MakeSpec own = *spec;
        own.float_type = made[i].dtype;
        own.trace = NULL;
        if (!make_written(arena, &own, &made[i].result, program, &written[i], diag))
            return false;
    }
    return true;
}

/* "  handed    project, direct, mkb: right at small: x f32[4,16]" */
static void show_written(const MakeProgram *program, const MakeWritten *written, Buf *out)
{
    const EvalWritten *forms = &written->forms;
    if (program->text)
        buf_printf(out, "  attributes %s\n", program->text);
    buf_puts(out, "  handed    ");
    for (uint32_t i = 0, n = 0; i < forms->forms.len; i++)
        if (!forms->forms.at[i].lacks)
            buf_printf(out, "%s%s", n++ ? ", " : "", eval_form_text(forms->forms.at[i].form));
    if (written->cases.len)
        buf_puts(out, ": read back from the files, values and hazards ok\n");
    else
        buf_puts(out, ": not run from the files: the one size of the program is too large\n");
    for (uint32_t i = 0; i < written->cases.len; i++)
        buf_printf(out, "            %s\n", written->cases.at[i]);
    for (uint32_t i = 0; i < forms->forms.len; i++)
        if (forms->forms.at[i].lacks)
            buf_printf(out, "            no %s: %s\n", eval_form_text(forms->forms.at[i].form),
                       forms->forms.at[i].lacks);
}

static bool write_project(Arena *arena, const MakeSpec *spec, MakeMade *made, uint32_t count,
                          const MakeWritten *written, Str craft, Str summary, const char *dir,
                          Diag *diag)
{
    MakeSpec first = *spec;
    MakeFiles files = {.name = made[0].result.plan.name,
                       .task = spec->path,
                       .craft = craft,
                       .summary = summary,
                       .chip = spec->chip};
    const MakeResult *result = &made[0].result;
    bool several = result->task->graph->nodes.len > 1;
    files.unfused_us = several && isfinite(result->unfused_us) ? result->unfused_us : 0;
    files.eager_us = isfinite(result->eager_us) ? result->eager_us : 0;
    files.operands = make_operand_names(arena, result->task->graph, &result->plan);
    files.sizes = make_size_names(arena, result->task->graph, &result->plan);
    if (emit_is_op_type(made[0].result.task->name))
        files.type = made[0].result.task->name;
    first.float_type = made[0].dtype;
    make_samples(arena, &first, &made[0].result, &files.samples);
    files.trace = spec->trace ? buf_view(spec->trace) : (Str){0};
    if (spec->trace)
        files.timed_trace = make_full_trace(arena, &first, &made[0].result);
    for (uint32_t m = 0; m < count; m++)
        for (uint32_t i = 0; i < made[m].result.verdicts.len; i++)
            vec_push(arena, &files.verdicts, &made[m].result.verdicts.at[i]);
    for (uint32_t m = 0; written && m < count; m++)
        for (uint32_t i = 0; i < written[m].verdicts.len; i++)
            vec_push(arena, &files.written, &written[m].verdicts.at[i]);
    Buf dtypes = {0};
    for (uint32_t m = 0; m < count; m++) {
        buf_puts(&dtypes, m ? " and " : "");
        make_put_dtypes(made[m].result.task, &dtypes);
    }
    files.dtypes = buf_take(&dtypes, arena);
    files.several = count > 1;
    buf_free(&dtypes);
    files.forms = written ? &written[0].forms.files : NULL;
    files.graph = written ? NULL : result->task->graph;
    files.source = spec->source;
    return make_write(arena, &files, dir, diag);
}

/* Joins, checks and writes what was made; prints the summary. */
static int finish(CmdArgs *args, const MakeWish *wish, const MakeSpec *spec, MakeMade *made,
                  uint32_t count, Diag *diag)
{
    Arena *arena = &args->arena;
    MakeVariant *variants = arena_array(arena, MakeVariant, count + 1);
    Buf summary = {0};
    MakeProgram program = {0};
    MakeWritten *forms = arena_array(arena, MakeWritten, count + 1);
    bool ok = true, written = false, judges = wish->dir && spec->engine == EVAL_TWIN;
    for (uint32_t i = 0; i < count; i++) {
        variants[i] = (MakeVariant){&made[i].result.plan, made[i].dtype};
        ok = ok && made[i].ok;
    }
    ok = ok && make_join(arena, variants, count, &program.craft, diag) &&
         check_joined(arena, spec, made, count, program.craft, diag) &&
         (!judges || check_written(arena, spec, made, count, &program, forms, diag));
    for (uint32_t i = 0; i < count; i++) {
        MakeManner manner = {wish->interp, spec->listed ? wish->listed : NULL,
                             command_of(args, wish, made[i].dtype)};
        make_show(&made[i], &manner, &summary);
        if (ok && judges)
            show_written(&program, &forms[i], &summary);
    }
    if (ok && wish->dir)
        written = write_project(arena, spec, made, count, judges ? forms : NULL, program.craft,
                                buf_view(&summary), wish->dir, diag);
    progress_end();
    if (args->json) {
        print_json(made, count);
    } else {
        fputs(summary.at, stdout);
        if (written)
            printf(
                "  written   %s: the operator project, %s.craft, report.html, verdicts.jsonl%s\n",
                wish->dir, made[0].result.plan.name, spec->trace ? ", trace.json" : "");
        else if (ok && !wish->dir)
            printf("  written   nothing: -o DIR writes the operator project and its report\n");
    }
    buf_free(&summary);
    if (!ok)
        return cmd_say(diag, make_lacks(&made[0].result) ? CMD_LACKS : CMD_NO);
    return wish->dir && !written ? cmd_say(diag, CMD_LACKS) : CMD_OK;
}

static int make_all(CmdArgs *args, const MakeWish *wish, MakeSpec *spec, const DType *dtypes,
                    uint32_t count)
{
    Arena *arena = &args->arena;
    Diag diag = diag_make(arena, spec->path, spec->source);
    MakeMade *made = arena_array(arena, MakeMade, count + 1);
    Buf *trace = spec->trace;
    for (uint32_t i = 0; i < count; i++) {
        spec->float_type = made[i].dtype = dtypes[i];
        spec->trace = i ? NULL : trace;
        made[i].ok = make_kernel(arena, spec, &made[i].result, &diag);
        if (!made[i].result.plan.craft.len)
            return cmd_say(&diag, made[i].result.task && !wish->schedule ? CMD_LACKS : CMD_USAGE);
        if (!diag_ok(&diag) && !made[i].result.verdicts.len)
            return cmd_say(&diag, CMD_USAGE); /* a range it cannot have */
        if (!made[i].result.verdicts.len && !wish->plan_only)
            return cmd_say(&diag, CMD_USAGE);
        if (wish->plan_only) {
            progress_end();
            fputs(made[i].result.plan.craft.at, stdout);
        }
    }
    spec->trace = trace;
    return wish->plan_only ? CMD_OK : finish(args, wish, spec, made, count, &diag);
}

static int make(CmdArgs *args, const MakeWish *wish)
{
    Arena *arena = &args->arena;
    Diag diag = diag_make(arena, args->words[0], STR(""));
    DType dtypes[MOST_DTYPES];
    uint32_t count;
    Buf trace = {0};
    MakeSpec spec = {.path = args->words[0],
                     .chip = npu_chip_find(str_from(args->chip)),
                     .seed = (uint64_t)args->seed,
                     .fuzz = (uint32_t)wish->fuzz,
                     .medium = wish->medium,
                     .strict = wish->strict,
                     .trust = wish->trust,
                     .no_memo = wish->no_memo,
                     .engine = wish->interp ? EVAL_INTERP : EVAL_TWIN,
                     .full = !wish->interp,
                     .branches = wish->fuzz > 0,
                     .plan_only = wish->plan_only,
                     .rounds = wish->rounded,
                     .hf32 = wish->hf32,
                     .jobs = wish->jobs ? (uint32_t)wish->jobs : pool_processors(),
                     .trace = wish->dir && !wish->interp ? &trace : NULL,
                     .progress = show_progress,
                     .progress_written = show_written_progress};
    if (!spec.chip || !read_dtypes(wish->dtypes, dtypes, &count)) {
        fprintf(stderr,
                spec.chip ? "acraft: --dtype takes f32, f16, bf16, each once, not '%s'\n"
                          : "acraft: no chip is called '%s'\n",
                spec.chip ? wish->dtypes : args->chip);
        return CMD_USAGE;
    }
    if (!read_ranges(arena, &wish->ranges, &spec.ranges) || !read_listed(wish, &spec))
        return CMD_USAGE;
    if (!file_read(arena, spec.path, 0, &spec.source, &diag) ||
        (spec.listed && !has_list(arena, spec.path, &diag)))
        return cmd_say(&diag, CMD_USAGE);
    spec.schedule_file = wish->schedule;
    if (wish->schedule && !file_read(arena, wish->schedule, 0, &spec.schedule, &diag))
        return cmd_say(&diag, CMD_USAGE);
    if (wish->schedule && (wish->listed || count > 1)) {
        fprintf(stderr, "acraft: --schedule is for one dtype and the sizes of the file: not with "
                        "--listed or several dtypes\n");
        return CMD_USAGE;
    }
    bool new_dir = wish->dir && !file_exists(wish->dir);
    if (wish->dir && !emit_may_write(arena, wish->dir, &diag))
        return cmd_say(&diag, CMD_USAGE);
    if (new_dir)
        rmdir(wish->dir); /* until there is something to write */
    progress_begin("planning and tuning");
    int status = make_all(args, wish, &spec, dtypes, count);
    progress_end();
    if (status != CMD_OK && new_dir)
        rmdir(wish->dir); /* writing failed */
    buf_free(&trace);
    return status;
}

static int complain_make(const char *why)
{
    fprintf(stderr, "acraft: %s\n", why);
    return CMD_USAGE;
}

/* Options that do not fit are refused before anything is planned. */
static int make_checked(CmdArgs *args, MakeWish *wish, const GenOptions *gen, int64_t samples,
                        bool or_plan)
{
    PromptStrategy unused;
    bool other = platform_is_other(wish->platform);
    if (wish->fuzz < 0 || wish->fuzz > MOST_FUZZ)
        return complain_make("--fuzz takes 0 to 10000");
    if (wish->jobs < 0 || wish->jobs > 1024)
        return complain_make("-j takes 1 to 1024");
    if (samples < 1 || samples > 1000)
        return complain_make("-n takes 1 to 1000");
    if (!gen_strategy(gen, &unused))
        return CMD_USAGE;
    if (!other && (wish->scale || wish->sets.len))
        return complain_make(
            "--scale and --set go with --platform cuda, cpu or pallas; sizes of an Ascend "
            "kernel are given by --range");
    if (wish->hf32 && (other || !gen_is_plan(gen)))
        return complain_make("--hf32 is for kernels that the planner makes for Ascend");
    if (wish->tf32 && !other)
        return complain_make("--tf32 goes with --platform cuda");
    if (other)
        return platform_write(args,
                              &(PlatformAsk){wish->platform, wish->dir, wish->scale, wish->dtypes,
                                             &wish->sets, true, wish->fuzz, wish->tf32});
    if (gen_is_plan(gen))
        return make(args, wish);
    int status = make_by_model(args, &(MakeAsk){*gen, wish->dir, wish->fuzz, samples, wish->trust});
    return or_plan && (status == CMD_NO || status == CMD_LACKS) ? make(args, wish) : status;
}

int cmd_make(int argc, char **argv)
{
    MakeWish wish = {.dtypes = "f32", .fuzz = 8};
    bool or_plan = false;
    int64_t samples = 1;
    GenOptions gen = gen_options();
    const CmdOption options[] = {
        {"o", CMD_TEXT, &wish.dir, "DIR",
         "write project, Craft program, report and verdicts there"},
        {"dtype", CMD_TEXT, &wish.dtypes, "LIST",
         "f32, f16, bf16: of tensors whose file names no dtype; several in one project (f32)"},
        {"platform", CMD_TEXT, &wish.platform, "NAME",
         "ascend, or sources for the sizes of the file: cuda is compiled where nvcc is, cpu runs "
         "and "
         "is measured here, pallas runs in JAX's interpreter (ascend)"},
        {"scale", CMD_TEXT, &wish.scale, "S",
         "with --platform: full, medium, small, tiny or fuzz instead of the file's sizes"},
        {"set", CMD_LIST, &wish.sets, "NAME=N", "with --platform: one of the file's integers"},
        {"range", CMD_LIST, &wish.ranges, "N=A..B",
         "sizes the kernel is for; N is an integer of the file (any size)"},
        {"schedule", CMD_TEXT, &wish.schedule, "FILE",
         "build the schedule in this file as it is (`acraft plan` shows those of the planner)"},
        {"fuzz", CMD_I64, &wish.fuzz, "N", "odd-sized cases to judge (default 8)"},
        {"medium", CMD_FLAG, &wish.medium, NULL,
         "judge values at a medium size, too (up to 512 MiB)"},
        {"strict", CMD_FLAG, &wish.strict, NULL,
         "count only synchronisation that is written; what the device compiler inserts is "
         "reported"},
        {"no-memo", CMD_FLAG, &wish.no_memo, NULL,
         "timing without values: execute what only repeats, too; the answer is the same"},
        {"trust", CMD_FLAG, &wish.trust, NULL, "go on where the machine gives no full sandbox"},
        {"interp", CMD_FLAG, &wish.interp, NULL,
         "judge on the reference interpreter, not the twin"},
        {"listed", CMD_TEXT, &wish.listed, "SIZE",
         "judge all cases beside the file: own sizes, or tiny"},
        {"case", CMD_TEXT, &wish.one, "CASE",
         "only this one: small, fuzz3, medium, own, full; with --listed the N-th, whatever its "
         "size"},
        {"rounded", CMD_FLAG, &wish.rounded, NULL,
         "round f16 and bf16 at every step at once, not only after wrong values"},
        {"hf32", CMD_FLAG, &wish.hf32, NULL,
         "convolutions of f32 round their factors to 11 bits after the point (HF32), as those of "
         "torch_npu do; the reference does so, too"},
        {"tf32", CMD_FLAG, &wish.tf32, NULL,
         "with --platform cuda: products may round factors of f32 to tf32 (10 bits after the "
         "point)"},
        {"plan", CMD_FLAG, &wish.plan_only, NULL, "only print the planned Craft program"},
        {"j", CMD_I64, &wish.jobs, "N",
         "processes at once (one for each processor); the result is the same"},
        {"", CMD_HEAD, NULL, NULL, "With a model that writes the kernel:"},
        GEN_OPTIONS(gen),
        {"n", CMD_I64, &samples, "N", "conversations, the best one wins (1)"},
        {"or-plan", CMD_FLAG, &or_plan, NULL, "plan it when no answer passes"},
        {"", CMD_HEAD, NULL, NULL, "With every command:"},
    };
    CmdUsage usage = {"make",
                      "MODEL.py [-o DIR] [--dtype f32,f16,bf16] [--range N=1..65536]",
                      "Plans a kernel for the task (or has a model write it: --gen), checks it, "
                      "and runs it on the "
                      "twin\nat small, odd and own sizes and in each branch of its host function. "
                      "Tunes it, times it "
                      "at the\ntask's own size, and writes the operator project. A kernel that "
                      "fails anywhere is not "
                      "written.",
                      "acraft make tasks/activation/softmax.py -o softmax",
                      options,
                      sizeof options / sizeof *options,
                      1,
                      1};
    CmdArgs args = {0};
    int status = CMD_OK;
    if (cmd_read(&usage, argc, argv, &args, &status))
        status = make_checked(&args, &wish, &gen, samples, or_plan);
    cmd_done(&args);
    return status;
}
