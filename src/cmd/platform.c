/* acraft make|build MODEL.py --platform NAME. In: a model file. Out: a directory of sources for the platform,
 * compiled once where its compiler is installed. */
#include "cmd/platform.h"

#include "platform/platform.h"
#include "torch/torch.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SETS = 64 };

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
    if (platform->write)
        fprintf(
            stderr,
            "acraft run: nothing of platform %s runs from here yet; tools/cuda_bench.py runs CUDA "
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

static void print_made(const Platform *platform, const PlatformMade *made, const char *dir,
                       const char *compiled)
{
    printf("%s: %s, %u kernel%s, at least %.1f MB\n", made->name, platform->language,
           made->kernels.len, made->kernels.len == 1 ? "" : "s", (double)made->bytes / 1e6);
    for (uint32_t i = 0; i < made->kernels.len; i++)
        printf("  kernel    %s\n", made->kernels.at[i]);
    printf("  compiled  %s\n", compiled);
    if (dir)
        printf("  written   %s: %u files\n", dir, made->files.len);
    else
        printf("  written   nothing: -o DIR writes the files\n");
    printf("  values    not compared: nothing has run on a device\n");
}

/* What the compiler says of the files; NULL: it refuses them. */
static const char *compile(Arena *arena, const Platform *platform, const char *dir,
                           const PlatformMade *made)
{
    Str said;
    bool lacks;
    if (platform_compile(arena, platform, dir, made, &said, &lacks))
        return str_format(arena, "by %s for sm_90, without an error", platform->compiler);
    if (lacks)
        return str_format(arena, "no: %s is not on this machine", platform->compiler);
    fprintf(stderr, "%.*s", STR_ARG(said));
    return NULL;
}

static int write_made(CmdArgs *args, const PlatformAsk *ask, const Platform *platform,
                      const PlatformMade *made, Diag *diag)
{
    Arena *arena = &args->arena;
    const char *compiled = "no: only with -o DIR";
    if (ask->dir && !emit_write(arena, ask->dir, &made->files, diag))
        return cmd_say(diag, CMD_NO);
    if (ask->dir && ask->compile)
        compiled = compile(arena, platform, ask->dir, made);
    if (!compiled) {
        fprintf(stderr, "acraft: %s refuses %s/%s; the fault is acraft's\n", platform->compiler,
                ask->dir, made->compiled);
        return CMD_LACKS;
    }
    if (!args->json)
        print_made(platform, made, ask->dir,
                   ask->compile || !ask->dir ? compiled : "not asked for");
    return CMD_OK;
}

/* The model file and the sizes it was read with, for whoever compares values (tools/cuda_bench.py). */
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
    if (!platform->write(arena, task->graph, plain_name(arena, task->name), model, &made, &diag))
        return cmd_say(&diag, CMD_LACKS);
    add_task(arena, task, model, &made.files);
    return write_made(args, ask, platform, &made, &diag);
}
