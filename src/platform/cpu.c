/* The CPU as a platform: C files from nests, compiled by cc, run in the sandbox, compared with the reference. */
#include "platform/platform.h"

#include "base/file.h"
#include "base/proc.h"
#include "box/box.h"
#include "gen/cpu/cpu.h"
#include "platform/platform_int.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMPILE_SECONDS = 120, RUN_SECONDS = 300 };

bool platform_cpu_write(Arena *arena, const Graph *graph, const char *name, Str model,
                        PlatformWish wish, PlatformMade *made, Diag *diag)
{
    (void)wish;
    CpuPlan *plan = arena_new(arena, CpuPlan);
    if (!cpu_plan(arena, graph, name, plan, diag))
        return false;
    cpu_files(arena, plan, graph, model, &made->files);
    made->name = plan->name;
    made->task = &plan->task;
    made->compiled = str_format(arena, "%s.c", plan->name);
    for (uint32_t i = 0; i < plan->kernels.len; i++)
        vec_push(arena, &made->kernels, plan->kernels.at[i]);
    return true;
}

static bool run_cc(Arena *arena, const char *dir, const char *program, const char *first,
                   const char *second, Str *said)
{
    Diag quiet = diag_make(arena, dir, STR(""));
    ProcResult result = {0};
    const char *cc = proc_find(arena, "cc");
    const char *argv[] = {cc,
                          "-std=c17",
                          "-O3",
                          "-fopenmp",
                          "-ffp-contract=fast",
                          "-fno-math-errno",
                          "-fno-trapping-math",
                          "-o",
                          program,
                          first,
                          second ? second : "-lm",
                          second ? "-lm" : NULL,
                          NULL};
    ProcSpec spec = {.argv = argv, .dir = dir, .seconds = COMPILE_SECONDS};
    *said = STR("");
    if (!cc || !proc_run(arena, &spec, &result, &quiet))
        return false;
    *said = result.err.len ? result.err : result.out;
    return result.end == PROC_EXITED && result.status == 0;
}

bool platform_cpu_compile(Arena *arena, const char *dir, const PlatformMade *made, Str *said,
                          bool *lacks)
{
    *said = STR("");
    *lacks = !proc_find(arena, "cc");
    return !*lacks && run_cc(arena, dir, "run", str_format(arena, "%s_run.c", made->name),
                             made->compiled, said);
}

/* ---- runs ---- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of the numbers a program printed, one a line. */
static double median_of(Str text)
{
    enum { MOST = 64 };
    double at[MOST];
    uint32_t n = 0;
    Str line;
    while (n < MOST && str_next(&text, '\n', &line)) {
        char number[32];
        snprintf(number, sizeof number, "%.*s", STR_ARG(line));
        if (line.len)
            at[n++] = strtod(number, NULL);
    }
    qsort(at, n, sizeof *at, by_size);
    return n ? at[n / 2] : 0;
}

static BoxResult run_boxed(Arena *arena, const char *dir, const char *argument, int64_t bytes)
{
    static const char *const readable[] = {
        "/usr", "/lib", "/lib64", "/bin", "/sys/devices/system/cpu", NULL};
    const char *threads = getenv("OMP_NUM_THREADS");
    const char *env[] = {"LC_ALL=C",
                         threads ? str_format(arena, "OMP_NUM_THREADS=%s", threads) : NULL, NULL};
    const char *argv[] = {path_join(arena, dir, "run"), argument, NULL};
    BoxSpec spec = {.argv = argv,
                    .env = env,
                    .profile = BOX_TOOL,
                    .as_self = true,
                    .readable = readable,
                    .writable = dir,
                    .seconds = RUN_SECONDS,
                    .cpu_seconds = RUN_SECONDS * 64,
                    .memory = (uint64_t)bytes + (512u << 20),
                    .file_bytes = (uint64_t)bytes + (1u << 20),
                    .processes = 512,
                    .allow_missing = true}; /* the text is our own, or its owner runs it */
    BoxResult result;
    box_run(arena, &spec, &result);
    return result;
}

static bool has_ended(const BoxResult *r) { return r->end == BOX_EXITED && r->status == 0; }

static VerdictStatus status_of(BoxEnd end)
{
    switch (end) {
    case BOX_TIMEOUT: return VERDICT_TIMEOUT;
    case BOX_MEMORY: return VERDICT_MEMORY;
    case BOX_OUTPUT: return VERDICT_OUTPUT;
    case BOX_FORBIDDEN: return VERDICT_FORBIDDEN;
    case BOX_REFUSED: return VERDICT_NO_WALL;
    case BOX_FAILED: return VERDICT_INTERNAL;
    default: return VERDICT_CRASHED;
    }
}

static void note_end(Arena *arena, const BoxResult *r, Verdict *verdict)
{
    const char *number = r->end == BOX_EXITED || r->end == BOX_SIGNAL
                             ? str_format(arena, " (%d)", r->status)
                             : "";
    verdict_fail(verdict, status_of(r->end), STAGE_RUN,
                 str_format(arena, "the program %s%s%s%.*s", box_end_text(r->end), number,
                            r->err.len ? ": " : "", STR_ARG(r->err)));
}

void platform_cpu_judge(Arena *arena, const char *dir, const PlatformMade *made,
                        const EvalReference *ref, uint32_t repeats, double *seconds,
                        Verdict *verdict)
{
    *seconds = 0;
    verdict->stage = STAGE_RUN;
    if (!platform_write_inputs(arena, dir, made->task, ref, verdict))
        return;
    BoxResult r = run_boxed(arena, dir, str_format(arena, "%u", repeats),
                            made->task->bytes + made->task->workspace);
    if (!has_ended(&r)) {
        note_end(arena, &r, verdict);
        return;
    }
    *seconds = repeats ? median_of(r.out) : 0;
    platform_compare_results(arena, dir, made->task, ref, verdict);
}

/* The yardstick: every thread copies its share. */
static const char copy_text[] =
    "#define _POSIX_C_SOURCE 200809L\n"
    "#include <omp.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include "
    "<time.h>\n"
    "static double now(void)\n{\n    struct timespec t;\n    clock_gettime(CLOCK_MONOTONIC, &t);\n"
    "    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;\n}\n"
    "int main(int argc, char **argv)\n{\n"
    "    const size_t bytes = argc > 1 ? strtoull(argv[1], NULL, 10) / 2 / 64 * 64 : 64;\n"
    "    char *x = aligned_alloc(64, bytes + 64), *y = aligned_alloc(64, bytes + 64);\n"
    "    if (!x || !y)\n        return 1;\n"
    "    for (int i = 0; i < 6; i++) {\n        const double start = now();\n"
    "#pragma omp parallel\n        {\n"
    "            const size_t n = (size_t)omp_get_num_threads(), t = "
    "(size_t)omp_get_thread_num();\n"
    "            const size_t from = bytes / 64 * t / n * 64, to = bytes / 64 * (t + 1) / n * 64;\n"
    "            if (i)\n                memcpy(y + from, x + from, to - from);\n"
    "            else {\n                memset(x + from, 1, to - from);\n"
    "                memset(y + from, 2, to - from);\n            }\n        }\n"
    "        if (i)\n            printf(\"%.9f\\n\", now() - start);\n    }\n"
    "    return y[bytes / 2] == 1 ? 0 : 1;\n}\n";

double platform_cpu_copy_rate(Arena *arena, int64_t bytes)
{
    const char *dir;
    Diag quiet = diag_make(arena, "copy.c", STR(""));
    Str said;
    double seconds = 0;
    if (!file_temp_dir(arena, "acraft-copy", &dir, &quiet))
        return 0;
    if (file_write(path_join(arena, dir, "copy.c"), str_from(copy_text), &quiet) &&
        run_cc(arena, dir, "run", "copy.c", NULL, &said)) {
        BoxResult r = run_boxed(arena, dir, str_format(arena, "%lld", (long long)bytes), bytes);
        seconds = has_ended(&r) ? median_of(r.out) : 0;
    }
    file_remove_tree(dir, &quiet);
    return seconds > 0 ? (double)(bytes / 128 * 128) / seconds : 0;
}
