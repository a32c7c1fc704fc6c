/* acraft make|build MODEL.py --platform NAME: a directory of sources for the platform, compiled once where its compiler
 * is installed; where the platform is this machine, values are compared at small, odd and own sizes, and the time
 * is measured. acraft run DIR: the same of such a directory, with the texts that stand in it, at its own sizes. */
#include "cmd/platform.h"

#include "base/file.h"
#include "base/proc.h"
#include "loop/bench_platform.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SETS = 64 };
static const char file_name[] = "platform.json"; /* how the model file beside it was read */

bool platform_is_other(const char *platform) { return platform && strcmp(platform, "ascend") != 0; }

static int complain(const char *why, const char *name)
{
    fprintf(stderr, "acraft: %s%s\n", why, name);
    return CMD_USAGE;
}

const Platform *platform_named(const char *name)
{
    const Platform *platform = platform_find(str_from(name));
    if (!platform)
        complain("--platform takes ascend, cuda, cpu or pallas, not ", name);
    return platform;
}

/* Whether kernels of it run here; else says what does, or what is missing. */
bool platform_can_run(Arena *arena, const Platform *platform, const char *command)
{
    if (platform->judge && platform_runs(arena, platform))
        return true;
    if (platform->judge)
        fprintf(stderr, "acraft %s: platform %s needs %s%s%s on this machine\n", command,
                platform->name, platform->compiler, platform->needs ? " and " : "",
                platform->needs ? platform->needs : "");
    else if (platform->write)
        fprintf(stderr,
                "acraft %s: nothing of platform %s runs from here yet; tools/platform_bench.py "
                "runs CUDA kernels that acraft build wrote, beside PyTorch\n",
                command, platform->name);
    else
        fprintf(stderr, "acraft %s: platform %s: %s\n", command, platform->name, platform->instead);
    return false;
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

/* ---- what is said ---- */

static uint32_t count_ok(const Judged *j)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < j->cases.len; i++)
        n += j->cases.at[i].verdict.status == VERDICT_OK;
    return n;
}

static void print_judged(const PlatformOp *op, const Judged *j)
{
    const Platform *platform = op->platform;
    double bytes = (double)op->made.task->bytes;
    uint32_t smaller = j->cases.len - !j->not_run;
    printf("  values    %u of %u cases ok (%s%s%s%s)%s%s%s\n", count_ok(j), j->cases.len,
           smaller ? "small" : "", smaller > 1 ? ", odd" : "",
           j->not_run ? ""
           : smaller  ? " and own size"
                      : "own size",
           platform->judged_by ? platform->judged_by : "",
           j->status == VERDICT_OK ? "" : "; first not: ", j->reason, "");
    if (j->refused)
        printf("  refused   %u odd size%s that this platform's planner cannot plan\n", j->refused,
               j->refused == 1 ? "" : "s");
    if (j->not_run)
        printf("  %s  nothing: %s\n", platform->not_measured ? "own size" : "measured", j->not_run);
    if (j->measured_us > 0)
        printf("  measured  %.1f us on this machine, median of %d: %.1f GB/s, %.2f of a copy's "
               "%.1f\n",
               j->measured_us, PLATFORM_REPEATS, bytes / j->measured_us / 1e3,
               j->copy_us / j->measured_us, bytes / j->copy_us / 1e3);
}

static void json_text(Buf *out, const char *name, const char *text)
{
    buf_printf(out, ", \"%s\": ", name);
    if (text)
        buf_json_str(out, str_from(text));
    else
        buf_puts(out, "null");
}

static void json_made(const PlatformOp *op, const char *dir, const Judged *j)
{
    const Platform *platform = op->platform;
    const PlatformMade *made = &op->made;
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
        buf_printf(&out, ", \"status\": \"%s\", \"cases\": %u, \"ok\": %u, \"refused\": %u",
                   verdict_status_row(j->status)->text, j->cases.len, count_ok(j), j->refused);
        json_text(&out, "first_bad", j->status == VERDICT_OK ? NULL : j->reason);
        json_text(&out, platform->not_measured ? "own_size" : "not_measured", j->not_run);
        if (j->measured_us > 0)
            buf_printf(&out, ", \"measured_us\": %.3f, \"copy_gbs\": %.3f", j->measured_us,
                       (double)made->task->bytes / j->copy_us / 1e3);
    }
    buf_puts(&out, "}\n");
    fputs(out.at, stdout);
    buf_free(&out);
}

static void print_made(const PlatformOp *op, const char *dir, const char *compiled,
                       const Judged *judged)
{
    const Platform *platform = op->platform;
    const PlatformMade *made = &op->made;
    printf("%s: %s, %u kernel%s, at least %.1f MB\n", made->name, platform->language,
           made->kernels.len, made->kernels.len == 1 ? "" : "s", (double)made->task->bytes / 1e6);
    for (uint32_t i = 0; i < made->kernels.len; i++)
        printf("  kernel    %s\n", made->kernels.at[i]);
    printf("  compiled  %s\n", compiled);
    if (judged)
        print_judged(op, judged);
    else
        printf("  values    not compared: nothing has run%s%s\n",
               platform->needs ? "; acraft make runs it where there is " : "",
               platform->needs ? platform->needs : "");
    if (platform->not_measured)
        printf("  measured  nothing: %s\n", platform->not_measured);
    if (dir)
        printf("  written   %s: %u files\n", dir, made->files.len);
    else
        printf("  written   nothing: acraft make MODEL.py --platform %s -o DIR writes the files\n",
               platform->name);
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

static int write_made(CmdArgs *args, const PlatformAsk *ask, const PlatformOp *op,
                      const Judged *judged, Diag *diag)
{
    Arena *arena = &args->arena;
    const Platform *platform = op->platform;
    const char *compiled = "no: only with -o DIR";
    if (platform->compiler && !proc_find(arena, platform->compiler))
        compiled = str_format(arena, "no: %s is not on this machine", platform->compiler);
    if (judged && judged->status != VERDICT_OK) {
        if (args->json)
            json_made(op, NULL, judged);
        fprintf(stderr, "acraft: nothing is written: %s\n", judged->reason);
        return CMD_NO;
    }
    if (ask->dir && !emit_write(arena, ask->dir, &op->made.files, diag))
        return cmd_say(diag, CMD_NO);
    if (ask->dir && ask->compile)
        compiled = compile(arena, platform, ask->dir, &op->made);
    else if (judged)
        compiled = str_format(arena, "by %s, for every case", platform->compiler);
    if (!compiled) {
        fprintf(stderr, "acraft: %s refuses %s/%s; the fault is acraft's\n", platform->compiler,
                ask->dir, op->made.compiled);
        return CMD_LACKS;
    }
    if (args->json)
        json_made(op, ask->dir, judged);
    else
        print_made(op, ask->dir, ask->compile || !ask->dir ? compiled : "not requested", judged);
    return CMD_OK;
}

/* The model file and how it was read, for acraft run and tools/platform_bench.py. */
static void add_task(Arena *arena, PlatformOp *op)
{
    Buf text = {0};
    buf_printf(&text, "{\"platform\": \"%s\", \"name\": \"%s\", \"dtype\": \"%s\", \"sizes\": {",
               op->platform->name, op->name, dtype_name(op->options.float_type));
    for (uint32_t i = 0; i < op->task->knobs.len; i++) {
        buf_puts(&text, i ? ", " : "");
        buf_json_str(&text, str_from(op->task->knobs.at[i].name));
        buf_printf(&text, ": %lld", (long long)op->task->knobs.at[i].value);
    }
    buf_puts(&text, "}");
    if (op->wish.tf32)
        buf_puts(&text, ", \"tf32\": true");
    buf_puts(&text, "}\n");
    EmitFile model = {.path = "model.py", .text = op->model};
    EmitFile how = {.path = file_name, .text = str_from(buf_take(&text, arena))};
    vec_push(arena, &op->made.files, model);
    vec_push(arena, &op->made.files, how);
    buf_free(&text);
}

int platform_write(CmdArgs *args, const PlatformAsk *ask)
{
    Arena *arena = &args->arena;
    const char *path = args->words[0];
    PlatformOp op = {.platform = platform_named(ask->platform),
                     .path = path,
                     .options = {.seed = (uint64_t)args->seed},
                     .wish = {.tf32 = ask->tf32},
                     .scale = SCALE_FULL};
    JudgeSpec spec = {.chip = npu_chip_find(str_from(args->chip)),
                      .seed = (uint64_t)args->seed,
                      .fuzz = (uint32_t)ask->odd,
                      .time = true};
    Judged judged;
    Diag diag = diag_make(arena, path, STR(""));
    bool unread;
    if (!op.platform)
        return CMD_USAGE;
    if (!op.platform->write) {
        fprintf(stderr, "acraft: platform %s: %s\n", op.platform->name, op.platform->instead);
        return CMD_LACKS;
    }
    if (ask->tf32 && !op.platform->tf32)
        return complain("--tf32 is for --platform cuda, not ", op.platform->name);
    if (ask->scale && !torch_scale_from_name(str_from(ask->scale), &op.scale))
        return complain("--scale takes full, medium, small, tiny or fuzz, not ", ask->scale);
    if (!read_sets(arena, ask->sets, &op.options))
        return complain("--set wants NAME=NUMBER", "");
    if (!read_dtype(ask->dtype, &op.options.float_type))
        return complain("--dtype takes one of f32, f16, bf16 here, not ", ask->dtype);
    if (!file_read(arena, path, 0, &op.model, &diag))
        return cmd_say(&diag, CMD_USAGE);
    diag = diag_make(arena, path, op.model);
    if (!platform_op_write(arena, &op, &unread, &diag))
        return cmd_say(&diag, unread ? CMD_USAGE : CMD_LACKS);
    add_task(arena, &op);
    bool runs = ask->compile && platform_runs(arena, op.platform);
    if (runs)
        judge_platform(arena, &spec, &op, &judged);
    return write_made(args, ask, &op, runs ? &judged : NULL, &diag);
}

/* ---- a directory that make or build wrote ---- */

/* Its platform.json; NULL: there is none, or it is damaged: `diag` says so. */
static json_t *read_file(Arena *arena, const char *dir, Diag *diag)
{
    json_error_t error;
    Str text;
    const char *path = path_join(arena, dir, file_name);
    if (!file_read(arena, path, 1 << 20, &text, diag))
        return NULL;
    json_t *root = json_loadb(text.at, text.len, JSON_REJECT_DUPLICATES, &error);
    if (json_is_object(root) && json_is_string(json_object_get(root, "platform")) &&
        json_is_string(json_object_get(root, "name")) &&
        json_is_string(json_object_get(root, "dtype")) &&
        json_is_object(json_object_get(root, "sizes")))
        return root;
    json_decref(root);
    diag_error(diag, "P101", (Span){0},
               "%s does not say how model.py was read: acraft make MODEL.py --platform NAME -o "
               "DIR writes it",
               path);
    return NULL;
}

static void read_sizes(Arena *arena, json_t *sizes, TorchOptions *options)
{
    TorchSet *sets = arena_array(arena, TorchSet, json_object_size(sizes) + 1);
    const char *name;
    json_t *value;
    json_object_foreach(sizes, name, value) sets[options->n_sets++] = (TorchSet){
        str_dup(arena, str_from(name)), json_integer_value(value)};
    options->sets = sets;
}

/* The operator as the directory has it: the planner's files, with the texts that stand there now. */
static bool read_dir(Arena *arena, const char *dir, PlatformOp *op, Diag *diag)
{
    bool unread;
    json_t *how = read_file(arena, dir, diag);
    if (!how)
        return false;
    const char *name = json_string_value(json_object_get(how, "platform"));
    op->platform = platform_find(str_from(name));
    op->name = str_dup(arena, str_from(json_string_value(json_object_get(how, "name"))));
    read_sizes(arena, json_object_get(how, "sizes"), &op->options);
    op->wish.tf32 = json_is_true(json_object_get(how, "tf32"));
    bool known = read_dtype(json_string_value(json_object_get(how, "dtype")),
                            &op->options.float_type) &&
                 op->platform && op->platform->write;
    if (!known)
        diag_error(diag, "P101", (Span){0}, "%s names a platform or dtype that there is not",
                   path_join(arena, dir, file_name));
    json_decref(how);
    op->path = path_join(arena, dir, "model.py");
    if (!known || !file_read(arena, op->path, 0, &op->model, diag) ||
        !platform_op_write(arena, op, &unread, diag))
        return false;
    op->edited = true;
    for (uint32_t i = 0; i < op->made.files.len; i++)
        if (!file_read(arena, path_join(arena, dir, op->made.files.at[i].path), 0,
                       &op->made.files.at[i].text, diag))
            return false;
    return true;
}

bool platform_wrote(Arena *arena, const char *dir)
{
    return file_is_dir(dir) && file_exists(path_join(arena, dir, file_name));
}

int platform_run(CmdArgs *args, const char *name, CompareRule rule)
{
    Arena *arena = &args->arena;
    const char *dir = args->words[0];
    const Platform *asked = name ? platform_named(name) : NULL;
    PlatformOp op = {.scale = SCALE_FULL, .options = {.seed = (uint64_t)args->seed}};
    JudgeSpec spec = {.chip = npu_chip_find(str_from(args->chip)),
                      .seed = (uint64_t)args->seed,
                      .rule = rule,
                      .time = true};
    Judged judged;
    Diag diag = diag_make(arena, dir, STR(""));
    if (name && !asked)
        return CMD_USAGE;
    if (asked && !platform_can_run(arena, asked, "run"))
        return CMD_LACKS;
    if (!platform_wrote(arena, dir)) {
        fprintf(stderr,
                "acraft run: '%s' is no directory that acraft make MODEL.py --platform %s -o DIR "
                "wrote\n",
                dir, name);
        return CMD_USAGE;
    }
    if (!read_dir(arena, dir, &op, &diag))
        return cmd_say(&diag, CMD_USAGE);
    if (asked && asked != op.platform) {
        fprintf(stderr, "acraft run: '%s' is for platform %s\n", dir, op.platform->name);
        return CMD_USAGE;
    }
    if (!platform_can_run(arena, op.platform, "run"))
        return CMD_LACKS;
    judge_platform(arena, &spec, &op, &judged);
    if (args->json)
        json_made(&op, dir, &judged);
    else
        printf("%s: %s, %s\n", op.name, op.platform->language, dir), print_judged(&op, &judged);
    if (judged.status == VERDICT_OK && judged.cases.len)
        return CMD_OK;
    return verdict_status_row(judged.status)->exit ? verdict_status_row(judged.status)->exit
                                                   : CMD_LACKS;
}
