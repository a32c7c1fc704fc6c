/* Reference evaluation against PyTorch eager on the CPU, in the same run.
 *
 * Reads the model files of bench/reference, evaluates each as typed (f32 held as f32, what PyTorch
 * does) and wide (f32 held as f64, what outputs are judged by), and has tools/torch_time.py time
 * PyTorch on the same values where a Python with PyTorch is found (ACRAFT_PYTHON, else python3).
 * Best of several runs each; the last line is the geometric mean of the ratios.
 */
#include "torch/torch.h"
#include "graph/export.h"
#include "base/file.h"
#include "base/proc.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TASKS_MOST = 64 };

typedef struct Task {
    const char *path, *name, *dir;
    double typed, wide, torch; /* milliseconds; 0: not there */
} Task;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void say_errors(const Diag *diag)
{
    Buf out = {0};
    diag_print(diag, &out);
    fputs(out.at ? out.at : "", stderr);
    buf_free(&out);
}

/* Milliseconds of the best of at least five runs and one second; 0 after an error. */
static double best_of(const Graph *g, const TaskInputs *in, bool wide, Tensor **out, Diag *diag)
{
    EvalOptions options = {.seed = 1, .wide = wide};
    double best = INFINITY, start = now();
    for (int runs = 0; runs < 6 || now() - start < 1; runs++) {
        double t = now();
        if (!graph_eval(g, in->inputs, in->params, &options, out, diag))
            return 0;
        t = now() - t;
        best = runs && t < best ? t : best;
        for (uint32_t o = 0; o < g->outputs.len; o++)
            tensor_free(out[o]);
    }
    return best * 1e3;
}

static bool time_ours(Task *t, Diag *diag)
{
    Arena arena = {0};
    TaskInputs in = {0};
    TorchTask *task = torch_read_file(&arena, t->path, &(TorchOptions){.seed = 1}, diag);
    bool ok = task && graph_inputs(task->graph, 1, LAW_GIVEN, &in, diag) &&
              graph_export(t->dir, task->graph, &in, NULL, (Str){0}, diag);
    if (ok) {
        Tensor **out = arena_array(&arena, Tensor *, task->graph->outputs.len + 1);
        t->typed = best_of(task->graph, &in, false, out, diag);
        t->wide = best_of(task->graph, &in, true, out, diag);
    }
    graph_inputs_free(&in);
    arena_drop(&arena);
    return ok && t->typed > 0;
}

static void read_times(Str text, Task *tasks, uint32_t n)
{
    Str line, name;
    while (str_next(&text, '\n', &line)) {
        double ms;
        if (!str_next(&line, ' ', &name) || !str_to_double(str_trim(line), &ms))
            continue;
        for (uint32_t i = 0; i < n; i++)
            if (str_is(name, tasks[i].name))
                tasks[i].torch = ms;
    }
}

static void time_torch(Arena *arena, Task *tasks, uint32_t n, Diag *diag)
{
    const char *python = getenv("ACRAFT_PYTHON"), *argv[3 + 2 * TASKS_MOST] = {0};
    uint32_t k = 0;
    argv[k++] = python ? python : "python3";
    argv[k++] = "tools/torch_time.py";
    for (uint32_t i = 0; i < n; i++) {
        argv[k++] = tasks[i].path;
        argv[k++] = tasks[i].dir;
    }
    ProcResult result;
    ProcSpec spec = {.argv = argv, .seconds = 600};
    if (!proc_run(arena, &spec, &result, diag))
        return;
    if (result.end != PROC_EXITED || result.status != 0)
        printf("PyTorch was not timed: %.*s\n", STR_ARG(str_trim(result.err)));
    read_times(result.out, tasks, n);
}

static void print_table(const Task *tasks, uint32_t n)
{
    double typed = 0, wide = 0, count = 0;
    printf("%-22s %12s %12s %12s %10s %10s\n", "task", "typed ms", "wide ms", "PyTorch ms",
           "typed/PT", "wide/PT");
    for (uint32_t i = 0; i < n; i++) {
        const Task *t = &tasks[i];
        printf("%-22s %12.2f %12.2f", t->name, t->typed, t->wide);
        if (t->torch > 0 && t->typed > 0) {
            printf(" %12.2f %10.2f %10.2f", t->torch, t->typed / t->torch, t->wide / t->torch);
            typed += log(t->typed / t->torch);
            wide += log(t->wide / t->torch);
            count += 1;
        }
        putchar('\n');
    }
    if (count > 0)
        printf("%-22s %12s %12s %12s %10.2f %10.2f\n", "geometric mean", "", "", "",
               exp(typed / count), exp(wide / count));
}

static bool list_tasks(Arena *arena, const char *scratch, Task *tasks, uint32_t *n, Diag *diag)
{
    NameList names = {0};
    if (!file_list(arena, "bench/reference", &names, diag))
        return false;
    for (uint32_t i = 0; i < names.len && *n < TASKS_MOST; i++) {
        if (!str_ends(str_from(names.at[i]), ".py"))
            continue;
        Task *t = &tasks[(*n)++];
        t->path = path_join(arena, "bench/reference", names.at[i]);
        t->name = str_dup(arena, path_stem(t->path));
        t->dir = path_join(arena, scratch, t->name);
    }
    return true;
}

int main(void)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "bench", (Str){0});
    Task *tasks = arena_array(&arena, Task, TASKS_MOST);
    const char *scratch;
    uint32_t n = 0;
    bool ok = file_temp_dir(&arena, "acraft-bench", &scratch, &diag) &&
              list_tasks(&arena, scratch, tasks, &n, &diag);
    for (uint32_t i = 0; ok && i < n; i++) { /* side by side: the machine may be busy by turns */
        ok = time_ours(&tasks[i], &diag);
        time_torch(&arena, &tasks[i], ok ? 1 : 0, &diag);
    }
    if (ok) {
        print_table(tasks, n);
        ok = file_remove_tree(scratch, &diag);
    }
    if (!ok)
        say_errors(&diag);
    arena_drop(&arena);
    return ok ? 0 : 1;
}
