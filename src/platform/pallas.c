/* TPUs as a platform: Python files with Pallas kernels from nests, parsed by python3, run by JAX's interpreter. No TPU
 * runs them from here. */
#include "platform/platform.h"

#include "base/file.h"
#include "base/proc.h"
#include "gen/pallas/pallas.h"
#include "platform/platform_int.h"
#include <stdlib.h>
#include <string.h>

enum { PARSE_SECONDS = 60, RUN_SECONDS = 600 };

bool platform_pallas_write(Arena *arena, const Graph *graph, const char *name, Str model,
                           PlatformWish wish, PlatformMade *made, Diag *diag)
{
    (void)wish;
    PallasPlan *plan = arena_new(arena, PallasPlan);
    if (!pallas_plan(arena, graph, name, plan, diag))
        return false;
    pallas_files(arena, plan, graph, model, &made->files);
    made->name = plan->name;
    made->task = &plan->task;
    made->compiled = str_format(arena, "%s.py", plan->name);
    for (uint32_t i = 0; i < plan->kernels.len; i++)
        vec_push(arena, &made->kernels, plan->kernels.at[i]);
    return true;
}

/* ACRAFT_PYTHON, or python3. */
static const char *find_python(Arena *arena)
{
    const char *given = getenv("ACRAFT_PYTHON");
    return given && given[0] ? given : proc_find(arena, "python3");
}

static bool run_python(Arena *arena, const char *dir, const char *const *argv, uint32_t seconds,
                       Str *said)
{
    Diag quiet = diag_make(arena, dir, STR(""));
    ProcResult result = {0};
    ProcSpec spec = {.argv = argv, .dir = dir, .seconds = seconds};
    *said = STR("");
    if (!proc_run(arena, &spec, &result, &quiet))
        return false;
    *said = result.err.len ? result.err : result.out;
    return result.end == PROC_EXITED && result.status == 0;
}

bool platform_pallas_compile(Arena *arena, const char *dir, const PlatformMade *made, Str *said,
                             bool *lacks)
{
    const char *python = find_python(arena);
    const char *parse = "import ast, sys; ast.parse(open(sys.argv[1]).read())";
    const char *argv[] = {python, "-c", parse, made->compiled, NULL};
    *said = STR("");
    *lacks = !python;
    return python && run_python(arena, dir, argv, PARSE_SECONDS, said);
}

bool platform_pallas_ready(Arena *arena)
{
    const char *python = find_python(arena);
    const char *argv[] = {python, "-c", "import jax.experimental.pallas.tpu", NULL};
    Str said;
    return python && run_python(arena, ".", argv, PARSE_SECONDS, &said);
}

void platform_pallas_judge(Arena *arena, const char *dir, const PlatformMade *made,
                           const EvalReference *ref, uint32_t repeats, double *seconds,
                           Verdict *verdict)
{
    Str said;
    const char *python = find_python(arena);
    const char *mode = getenv("ACRAFT_PALLAS");
    const char *argv[] = {python, str_format(arena, "%s_run.py", made->name),
                          mode && mode[0] ? mode : "interpret", NULL};
    (void)repeats; /* an interpreter's time is nobody's */
    *seconds = 0;
    verdict->stage = STAGE_RUN;
    if (!platform_write_inputs(arena, dir, made->task, ref, verdict))
        return;
    if (run_python(arena, dir, argv, RUN_SECONDS, &said)) {
        platform_compare_results(arena, dir, made->task, ref, verdict);
        return;
    }
    size_t from = said.len > 300 ? said.len - 300 : 0;
    verdict_fail(
        verdict, VERDICT_CRASHED, STAGE_RUN,
        str_format(arena, "JAX's interpreter: %.*s", (int)(said.len - from), said.at + from));
}
