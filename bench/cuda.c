/* CUDA kernels beside PyTorch, as they were measured: the table and its sums.
 *
 *     bench-cuda [RESULTS.tsv]        (bench/cuda/h200.tsv)
 *
 * Prints for every task the least bytes over the time as a share of the copy rate of the same run, the times
 * of the kernel, of PyTorch eager and of torch.compile; then how many are faster and slower by more than 5 %
 * than each, and the geometric means. tools/platform_bench.py writes such a file on a machine with a GPU; nothing
 * is measured here. */
#include "base/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 8, LARGE = 100000000 };

typedef struct Side {
    uint32_t count, faster, slower;
    double log_sum;
} Side;

typedef struct Totals {
    uint32_t tasks, right, large;
    double share_log;
    Side eager, compiled;
} Totals;

static void count_side(Side *side, double ours, double theirs)
{
    if (!(theirs > 0))
        return;
    side->count++;
    side->faster += theirs / ours > 1.05;
    side->slower += ours / theirs > 1.05;
    side->log_sum += log(theirs / ours);
}

static double number(Str field)
{
    char text[40];
    size_t n = field.len < sizeof text - 1 ? field.len : sizeof text - 1;
    memcpy(text, field.at, n);
    text[n] = 0;
    return n ? strtod(text, NULL) : NAN;
}

static void print_time(double ms)
{
    if (ms > 0)
        printf(" %9.4f", ms);
    else
        printf(" %9s", "-");
}

static void print_task(Totals *t, Str line, double rate)
{
    Str field[COLUMNS] = {{0}};
    for (uint32_t i = 0; i < COLUMNS && str_next(&line, '\t', &field[i]); i++) {
    }
    double bytes = number(field[1]), error = number(field[2]), ours = number(field[3]);
    double share = bytes / ours / 1e6 / rate;
    t->tasks++;
    if (!(ours > 0)) {
        printf("%-40.*s %.*s\n", STR_ARG(field[0]), STR_ARG(field[7]));
        return;
    }
    t->right += error <= 1;
    printf("%-40.*s %8.1f %6.2f", STR_ARG(field[0]), bytes / 1e6, share);
    print_time(ours);
    print_time(number(field[4]));
    print_time(number(field[5]));
    printf("%s\n", error <= 1 ? "" : "  WRONG");
    if (bytes >= LARGE) {
        t->large++;
        t->share_log += log(share);
    }
    count_side(&t->eager, ours, number(field[4]));
    count_side(&t->compiled, ours, number(field[5]));
}

static void print_side(const char *name, const Side *s)
{
    if (s->count)
        printf("beside %-13s %u tasks: %u faster by more than 5 %%, %u slower by more than 5 %%, "
               "%.2f times in the geometric mean\n",
               name, s->count, s->faster, s->slower, exp(s->log_sum / s->count));
}

int main(int argc, char **argv)
{
    Arena arena = {0};
    const char *path = argc > 1 ? argv[1] : "bench/cuda/h200.tsv";
    Diag diag = diag_make(&arena, path, STR(""));
    Totals t = {0};
    Str text, line;
    double rate = 0;
    if (!file_read(&arena, path, 0, &text, &diag)) {
        fprintf(stderr, "bench-cuda: %s cannot be read\n", path);
        return 2;
    }
    while (str_next(&text, '\n', &line)) {
        if (!line.len || str_starts(line, "task\t"))
            continue;
        if (line.at[0] == '#') {
            const char *copy = strstr(line.at, "copy ");
            rate = copy ? strtod(copy + 5, NULL) : rate;
            printf("%.*s\n%-40s %8s %6s %9s %9s %9s\n", STR_ARG(line), "task", "MB", "share",
                   "ours", "eager", "compile");
            continue;
        }
        print_task(&t, line, rate);
    }
    printf("\n%u of %u tasks have PyTorch's values (1e-4)\n", t.right, t.tasks);
    if (t.large)
        printf("share of the copy rate, %u tasks of at least 100 MB: %.2f in the geometric mean\n",
               t.large, exp(t.share_log / t.large));
    print_side("eager:", &t.eager);
    print_side("torch.compile:", &t.compiled);
    arena_drop(&arena);
    return t.right == t.tasks ? 0 : 1;
}
