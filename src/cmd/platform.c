/* acraft make|build MODEL.py --platform NAME. In: a model file. Out: a directory of sources for the platform,
 * compiled once where its compiler is installed; where the platform is this machine, values are compared at
 * small, odd and own sizes, and the time is measured. */
#include "cmd/platform.h"

#include "base/file.h"
#include "base/proc.h"
#include "base/temp.h"
#include "platform/platform.h"
#include "torch/torch.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SETS = 64, REPEATS = 9 };
#define OWN_MOST (INT64_C(2) << 30) /* bytes of operands that a run of the own size may have */

bool platform_is_other(const char *platform) { return platform && strcmp(platform, "ascend") != 0; }

static int complain(const char *why, const char *name)
{
    fprintf(stderr, "acraft: %s%s\n", why, name);
    return CMD_USAGE;
}

static int complain_platform(const char *name)
{
    return complain("--platform takes ascend, cuda, cpu or pallas, not ", name);
}

int platform_run(const char *name)
{
    const Platform *platform = platform_find(str_from(name));
    if (!platform)
        return complain_platform(name);
    if (platform->judge)
        fprintf(stderr, "acraft run: acraft make MODEL.py --platform %s runs%s\n", name,
                platform->not_measured ? " and compares" : ", compares and times");
    else if (platform->write)
        fprintf(stderr,
                "acraft run: nothing of platform %s runs from here yet; tools/platform_bench.py "
                "runs CUDA "
                "kernels that acraft build wrote, beside PyTorch\n",
                name);
    else
        fprintf(stderr, "acraft run: platform %s: %s\n", name, platform->instead);
    return CMD_LACKS;
}

/* "NAME=VALUE" */
static bool read_sets(Arena *arena, const NameList *list, TorchOptions *options)
{
    TorchSet *sets = arena_array(arena, TorchSet, MOST_SETS);
    for (uint32_t i = 0; list && i < list->len; i++) {
        const char *equals = strchr(list->at[i], '=');
        char *end = NULL;
        long long value = equals ? strtoll(equals + 1, &end, 10) : 0;
        if (!equals || end == equals + 1 || *end || i == MOST_SETS)
            return false;
        sets[i] = (TorchSet){str_dup(arena, (Str){list->at[i], (size_t)(equals - list->at[i])}),
                             value};
        options->n_sets++;
    }
    options->sets = sets;
    return true;
}

static bool read_dtype(const char *name, DType *dtype)
{
    *dtype = !name || !strcmp(name, "f32") ? DT_F32
             : !strcmp(name, "f16")        ? DT_F16
             : !strcmp(name, "bf16")       ? DT_BF16
                                           : DT_COUNT;
    return *dtype != DT_COUNT;
}

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

/* Cases of a kernel that were run on this machine. */
typedef struct Judged {
    uint32_t cases, ok, refused; /* refused: sizes that the platform's planner cannot plan */
    const char *bad;             /* the first case that is not ok, in words; NULL: none */
    double seconds;              /* of a launch at the task's own size; 0: too large, not run */
    double copy_rate;            /* bytes a second, of the same run */
    const char *large;           /* why the own size was not run; NULL: it was */
} Judged;

static void print_judged(const Platform *platform, const PlatformMade *made, const Judged *j)
{
    double bytes = (double)made->task->bytes;
    printf("  values    %u of %u cases ok (small%s%s)%s%s%s\n", j->ok, j->cases,
           j->cases > 2 - !!j->large ? ", odd" : "", j->large ? "" : " and own size",
           platform->judged_by ? platform->judged_by : "", j->bad ? "; first not: " : "",
           j->bad ? j->bad : "");
    if (j->refused)
        printf("  refused   %u odd size%s that this platform's planner cannot plan\n", j->refused,
               j->refused == 1 ? "" : "s");
    if (j->large)
        printf("  %s  nothing: %s\n", platform->not_measured ? "own size" : "measured", j->large);
    if (j->seconds > 0)
        printf(
            "  measured  %.1f us on this machine, median of %d: %.1f GB/s, %.2f of a copy's %.1f\n",
            j->seconds * 1e6, REPEATS, bytes / j->seconds / 1e9, bytes / j->seconds / j->copy_rate,
            j->copy_rate / 1e9);
}

static void json_text(Buf *out, const char *name, const char *text)
{
    buf_printf(out, ", \"%s\": ", name);
    if (text)
        buf_json_str(out, str_from(text));
    else
        buf_puts(out, "null");
}

static void json_made(const Platform *platform, const PlatformMade *made, const char *dir,
                      const Judged *j)
{
    Buf out = {0};
    buf_printf(&out, "{\"platform\": \"%s\", \"name\": \"%s\", \"bytes\": %lld, \"kernels\": [",
               platform->name, made->name, (long long)made->task->bytes);
    for (uint32_t i = 0; i < made->kernels.len; i++) {
        buf_puts(&out, i ? ", " : "");
        buf_json_str(&out, str_from(made->kernels.at[i]));
    }
    buf_char(&out, ']');
    json_text(&out, "written", dir);
    if (platform->not_measured)
        json_text(&out, "not_measured", platform->not_measured);
    if (j) {
        buf_printf(&out, ", \"cases\": %u, \"ok\": %u, \"refused\": %u", j->cases, j->ok,
                   j->refused);
        json_text(&out, "first_bad", j->bad);
        json_text(&out, platform->not_measured ? "own_size" : "not_measured", j->large);
        if (j->seconds > 0)
            buf_printf(&out, ", \"measured_us\": %.3f, \"copy_gbs\": %.3f", j->seconds * 1e6,
                       j->copy_rate / 1e9);
    }
    buf_puts(&out, "}\n");
    fputs(out.at, stdout);
    buf_free(&out);
}

static void print_made(const Platform *platform, const PlatformMade *made, const char *dir,
                       const char *compiled, const Judged *judged)
{
    printf("%s: %s, %u kernel%s, at least %.1f MB\n", made->name, platform->language,
           made->kernels.len, made->kernels.len == 1 ? "" : "s", (double)made->task->bytes / 1e6);
    for (uint32_t i = 0; i < made->kernels.len; i++)
        printf("  kernel    %s\n", made->kernels.at[i]);
    printf("  compiled  %s\n", compiled);
    if (judged)
        print_judged(platform, made, judged);
    else
        printf("  values    not compared: nothing has run%s%s\n",
               platform->needs ? "; acraft make runs it where there is " : "",
               platform->needs ? platform->needs : "");
    if (platform->not_measured)
        printf("  measured  nothing: %s\n", platform->not_measured);
    if (dir)
        printf("  written   %s: %u files\n", dir, made->files.len);
    else
        printf("  written   nothing: -o DIR writes the files\n");
}

/* What the compiler says of the files; NULL: it refuses them. */
static const char *compile(Arena *arena, const Platform *platform, const char *dir,
                           const PlatformMade *made)
{
    Str said;
    bool lacks;
    if (platform->compile(arena, dir, made, &said, &lacks))
        return str_format(arena, "by %s for %s, without an error", platform->compiler,
                          platform->target);
    if (lacks)
        return str_format(arena, "no: %s is not on this machine", platform->compiler);
    fprintf(stderr, "%.*s", STR_ARG(said));
    return NULL;
}

/* ---- cases ---- */

/* How a model file is read, again for every case. */
typedef struct Source {
    const Platform *platform;
    const char *path, *name;
    Str model;
    TorchOptions options;
} Source;

static void note_bad(Arena *arena, Judged *j, const char *label, const PlatformRun *run, Diag *diag)
{
    Buf text = {0};
    for (uint32_t i = 0; run && i < run->n_outputs && !text.len; i++)
        if (!compare_ok(&run->outputs[i]))
            compare_print(&run->outputs[i], &text);
    const char *why = text.len          ? buf_take(&text, arena)
                      : diag->items.len ? diag->items.at[0].text
                                        : "it did not run";
    if (!j->bad)
        j->bad = str_format(arena, "%s: %s", label, why);
    buf_free(&text);
}

/* One case: files in a directory of its own, compiled, run, compared. */
static void judge_case(Arena *arena, const Source *s, const TorchTask *task, const char *label,
                       uint32_t repeats, Judged *j)
{
    TempDir dir;
    Diag diag = diag_make(arena, s->path, s->model), quiet = diag;
    PlatformMade made = {0};
    PlatformRun run = {0};
    EvalReference ref = {0};
    Str said;
    bool lacks, ran = false, ok = true;
    if (!s->platform->write(arena, task->graph, s->name, s->model, &made, &quiet)) {
        j->refused++;
        return;
    }
    j->cases++;
    if (!temp_dir_make(arena, "acraft-platform", &dir, &diag)) {
        note_bad(arena, j, label, NULL, &diag);
        return;
    }
    if (eval_reference(arena, task->graph, s->options.seed, RULE_ACRAFT, &ref, &diag)) {
        ran = emit_write(arena, path_join(arena, dir.path, "k"), &made.files, &diag) &&
              s->platform->compile(arena, path_join(arena, dir.path, "k"), &made, &said, &lacks) &&
              s->platform->judge(arena, path_join(arena, dir.path, "k"), &made, &ref, repeats, &run,
                                 &diag);
        eval_reference_free(&ref);
    }
    for (uint32_t i = 0; i < run.n_outputs; i++)
        ok = ok && compare_ok(&run.outputs[i]);
    if (ran && ok && run.n_outputs)
        j->ok++;
    else
        note_bad(arena, j, label, ran ? &run : NULL, &diag);
    if (repeats)
        j->seconds = run.seconds;
    temp_dir_remove(&dir, &quiet);
}

static Judged judge_cases(Arena *arena, const Source *s, const TorchTask *own, int64_t bytes,
                          int64_t odd)
{
    Judged j = {0};
    int64_t peak = 0;
    EvalOptions wide = {.wide = true};
    for (uint32_t i = 0; i <= odd; i++) {
        Diag quiet = diag_make(arena, s->path, s->model);
        TorchOptions options = s->options;
        options.seed += i;
        TorchScale least = s->platform->not_measured ? SCALE_TINY : SCALE_SMALL;
        TorchTask *task = torch_open(arena, s->path, &options, i ? SCALE_FUZZ : least, &quiet);
        if (task && !graph_any_empty(task->graph))
            judge_case(arena, s, task, i ? str_format(arena, "odd %u", i) : "small", 0, &j);
    }
    int64_t most = s->platform->own_most;
    if (bytes > most || !graph_eval_bytes(own->graph, &wide, &peak) || peak > 4 * OWN_MOST) {
        j.large = str_format(arena,
                             "%.1f GB of operands at the task's own size; --set and --scale "
                             "make it smaller",
                             (double)bytes / 1e9);
        return j;
    }
    judge_case(arena, s, own, "own size", s->platform->not_measured ? 0 : REPEATS, &j);
    if (s->platform->not_measured)
        return j;
    j.copy_rate = platform_cpu_copy_rate(arena, bytes > 1 << 20 ? bytes : 1 << 20);
    if (j.copy_rate <= 0)
        j.seconds = 0;
    return j;
}

static int write_made(CmdArgs *args, const PlatformAsk *ask, const Platform *platform,
                      const PlatformMade *made, const Judged *judged, Diag *diag)
{
    Arena *arena = &args->arena;
    const char *compiled = "no: only with -o DIR";
    if (platform->compiler && !proc_find(arena, platform->compiler))
        compiled = str_format(arena, "no: %s is not on this machine", platform->compiler);
    if (judged && (judged->bad || !judged->ok)) {
        if (args->json)
            json_made(platform, made, NULL, judged);
        fprintf(stderr, "acraft: nothing is written: %s\n",
                judged->bad ? judged->bad : "no case of it could be compared");
        return CMD_NO;
    }
    if (ask->dir && !emit_write(arena, ask->dir, &made->files, diag))
        return cmd_say(diag, CMD_NO);
    if (ask->dir && ask->compile)
        compiled = compile(arena, platform, ask->dir, made);
    else if (judged)
        compiled = str_format(arena, "by %s, for every case", platform->compiler);
    if (!compiled) {
        fprintf(stderr, "acraft: %s refuses %s/%s; the fault is acraft's\n", platform->compiler,
                ask->dir, made->compiled);
        return CMD_LACKS;
    }
    if (args->json)
        json_made(platform, made, ask->dir, judged);
    else
        print_made(platform, made, ask->dir, ask->compile || !ask->dir ? compiled : "not requested",
                   judged);
    return CMD_OK;
}

/* The model file and the sizes it was read with, for whoever compares values (tools/platform_bench.py). */
static void add_task(Arena *arena, const TorchTask *task, Str model, EmitFiles *files)
{
    Buf sizes = {0};
    buf_puts(&sizes, "");
    for (uint32_t i = 0; i < task->knobs.len; i++)
        buf_printf(&sizes, "%s %lld\n", task->knobs.at[i].name, (long long)task->knobs.at[i].value);
    EmitFile text = {.path = "model.py", .text = model};
    EmitFile list = {.path = "sizes", .text = str_from(buf_take(&sizes, arena))};
    vec_push(arena, files, text);
    vec_push(arena, files, list);
    buf_free(&sizes);
}

int platform_write(CmdArgs *args, const PlatformAsk *ask)
{
    Arena *arena = &args->arena;
    const char *path = args->words[0];
    const Platform *platform = platform_find(str_from(ask->platform));
    TorchOptions options = {.seed = (uint64_t)args->seed};
    TorchScale scale = SCALE_FULL;
    PlatformMade made = {0};
    Diag diag = diag_make(arena, path, STR(""));
    Str model;
    if (!platform)
        return complain_platform(ask->platform);
    if (!platform->write) {
        fprintf(stderr, "acraft: platform %s: %s\n", platform->name, platform->instead);
        return CMD_LACKS;
    }
    if (ask->scale && !torch_scale_from_name(str_from(ask->scale), &scale))
        return complain("--scale takes full, medium, small, tiny or fuzz, not ", ask->scale);
    if (!read_sets(arena, ask->sets, &options))
        return complain("--set wants NAME=NUMBER", "");
    if (!read_dtype(ask->dtype, &options.float_type))
        return complain("--dtype takes one of f32, f16, bf16 here, not ", ask->dtype);
    if (!file_read(arena, path, 0, &model, &diag))
        return cmd_say(&diag, CMD_USAGE);
    diag = diag_make(arena, path, model);
    TorchTask *task = torch_open(arena, path, &options, scale, &diag);
    if (!task)
        return cmd_say(&diag, CMD_USAGE);
    Source source = {platform, path, plain_name(arena, task->name), model, options};
    if (!platform->write(arena, task->graph, source.name, model, &made, &diag))
        return cmd_say(&diag, CMD_LACKS);
    add_task(arena, task, model, &made.files);
    Judged judged;
    bool runs = ask->compile && platform->judge && proc_find(arena, platform->compiler) &&
                (!platform->ready || platform->ready(arena));
    if (runs)
        judged = judge_cases(arena, &source, task, made.task->bytes, ask->odd);
    return write_made(args, ask, platform, &made, runs ? &judged : NULL, &diag);
}
