/* CUDA as a platform: files from the planner's nests, compiled by nvcc. */
#include "platform/platform.h"

#include "base/proc.h"
#include "gen/cuda/cuda.h"

bool platform_cuda_write(Arena *arena, const Graph *graph, const char *name, Str model,
                         PlatformWish wish, PlatformMade *made, Diag *diag)
{
    CudaPlan *plan = arena_new(arena, CudaPlan);
    if (!cuda_plan(arena, graph, name, (CudaOptions){.tf32 = wish.tf32}, plan, diag))
        return false;
    cuda_files(arena, plan, graph, model, &made->files);
    made->name = plan->name;
    made->task = &plan->task;
    made->compiled = str_format(arena, "%s.cu", plan->name);
    for (uint32_t i = 0; i < plan->stages.len; i++) {
        const CudaStage *s = &plan->stages.at[i];
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

bool platform_cuda_compile(Arena *arena, const char *dir, const PlatformMade *made, Str *said,
                           bool *lacks)
{
    Diag quiet = diag_make(arena, dir, STR(""));
    ProcResult result = {0};
    const char *program = proc_find(arena, "nvcc");
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
