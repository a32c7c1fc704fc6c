/* The platforms, one row each. */
#include "platform/platform.h"

#include "base/proc.h"
#include "gen/cuda/cuda.h"

static bool write_cuda(Arena *arena, const Graph *graph, const char *name, Str model,
                       PlatformMade *made, Diag *diag)
{
    CudaPlan plan;
    if (!cuda_plan(arena, graph, name, &plan, diag))
        return false;
    cuda_files(arena, &plan, graph, model, &made->files);
    made->name = plan.name;
    made->bytes = plan.task.bytes;
    made->compiled = str_format(arena, "%s.cu", plan.name);
    for (uint32_t i = 0; i < plan.stages.len; i++) {
        const CudaStage *s = &plan.stages.at[i];
        const char *cluster = s->cluster > 1 ? str_format(arena, " in clusters of %u", s->cluster)
                                             : "";
        const char *kept = s->items
                               ? str_format(arena, ", rows kept, %u elements a thread", s->items)
                               : "";
        const char *line = str_format(
            arena, "%-8s %lld blocks of %u threads%s, %u element%s at once%s", s->role,
            (long long)s->blocks, s->threads, cluster, s->vector, s->vector == 1 ? "" : "s", kept);
        vec_push(arena, &made->kernels, line);
    }
    return true;
}

const Platform platforms[] = {
    {.name = "ascend",
     .language = "AscendC",
     .chips = {{"910B2", 48, 0}},
     .memories = {{"UB", 196608, "tiles"}, {"L1", 524288, "matrices"}, {"L2", 192 << 20, ""}},
     .roles = "core, tile, lane",
     .compiler = "clang++",
     .instead = "leave --platform out: acraft make MODEL.py"},
    {.name = "cuda",
     .language = "CUDA C++",
     .chips = {{"H200", 132, 4274}, {"H100", 132, 0}, {"A100", 108, 0}},
     .memories = {{"registers", 256 << 10, "elements between two exchanges, rows"},
                  {"shared", 227 << 10, "partial results of a team"},
                  {"L2", 60 << 20, ""}},
     .roles = "grid, cluster, block, warp, lane, vector",
     .compiler = "nvcc",
     .runner = "nvidia-smi",
     .write = write_cuda},
    {.name = "cpu",
     .language = "C",
     .roles = "core, tile, lane",
     .compiler = "cc",
     .instead = "acraft build FILE.craft --as c writes plain C; it is not tuned yet"},
    {.name = "pallas",
     .language = "Pallas",
     .roles = "grid, block",
     .instead = "Pallas text is not there yet"},
};
const uint32_t platform_count = sizeof platforms / sizeof *platforms;

const Platform *platform_find(Str name)
{
    for (uint32_t i = 0; i < platform_count; i++)
        if (str_is(name, platforms[i].name))
            return &platforms[i];
    return NULL;
}

bool platform_compile(Arena *arena, const Platform *platform, const char *dir,
                      const PlatformMade *made, Str *said, bool *lacks)
{
    Diag quiet = diag_make(arena, dir, STR(""));
    ProcResult result = {0};
    const char *program = platform->compiler ? proc_find(arena, platform->compiler) : NULL;
    const char *argv[] = {program, "-std=c++17", "-O3",          "-arch=sm_90", "-cubin",
                          "-o",    "/dev/null",  made->compiled, NULL};
    ProcSpec spec = {.argv = argv, .dir = dir, .seconds = 300};
    *said = STR("");
    *lacks = !program;
    if (*lacks || !proc_run(arena, &spec, &result, &quiet))
        return false;
    *said = result.err.len ? result.err : result.out;
    return result.end == PROC_EXITED && result.status == 0;
}
