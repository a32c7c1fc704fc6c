/* What is handed over, judged from the files: for every model file each written form (Craft file,
 * operator project, direct launch, both answers of MultiKernelBench) at a small, an odd and the
 * task's own size.
 *
 *     bench-written [--own ELEMENTS] [--dtype f16|bf16] [--form FORM]... [--seed N] [--jobs N]
 *                   [--log FILE [--seconds N]] FILE.py...
 *
 * The task is planned, not tuned. --own judges the task's own size up to so many elements of all its
 * values (4 million); --form names the forms that are judged (all). --log appends every answer to a
 * file and leaves out the files it has already, so that a long sweep can be run in shares: --seconds
 * begins no other file after so long (exit status 3); the counts at the end are those of this run. */
#include "loop/make_written.h"

#include "base/file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct Counts {
    uint32_t files, good, unplanned, unjudged, forms, ok;
} Counts;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* One line for the file, one more for each form that is not ok or not there. */
static void tell(FILE *out, const char *path, bool ok, const MakeWritten *w, const Diag *diag,
                 double seconds)
{
    fprintf(out, "%s %s", ok ? "ok " : "BAD", path);
    for (uint32_t i = 0; i < w->cases.len; i++)
        fprintf(out, " | %s", w->cases.at[i]);
    fprintf(out, " | %u verdicts, %.0f s\n", w->verdicts.len, seconds);
    for (uint32_t i = 0; i < w->verdicts.len; i++)
        if (w->verdicts.at[i].status != VERDICT_OK)
            fprintf(out, "    %s %s: %s: %s\n", w->verdicts.at[i].candidate, w->verdicts.at[i].kase,
                    verdict_status_row(w->verdicts.at[i].status)->text, w->verdicts.at[i].reason);
    for (uint32_t i = 0; i < w->forms.forms.len; i++)
        if (w->forms.forms.at[i].lacks)
            fprintf(out, "    no %s: %s\n", eval_form_text(w->forms.forms.at[i].form),
                    w->forms.forms.at[i].lacks);
    if (!ok && !w->verdicts.len)
        fprintf(out, "    %s\n",
                diag->items.len
                    ? diag->items.at[0].text
                    : "nothing was judged: it takes its own size alone, which is too large");
    fflush(out);
}

/* As make does it: where values in 16 bits are wrong, every step is rounded. */
static bool judge_plan(Arena *arena, MakeSpec *spec, MakeWritten *written, bool *planned,
                       Diag *diag)
{
    bool ok = false, wrong = true;
    for (int rounds = 0; rounds < 2 && !ok && wrong; rounds++) {
        MakeResult result = {0};
        spec->rounds = rounds;
        *planned = make_kernel(arena, spec, &result, diag) && result.plan.craft.len;
        MakeProgram program = {0};
        if (*planned)
            program = make_attributes(arena, spec, &result, result.plan.craft);
        ok = *planned && make_written(arena, spec, &result, &program, written, diag);
        wrong = false;
        for (uint32_t i = 0; i < written->verdicts.len; i++)
            wrong = wrong || written->verdicts.at[i].status == VERDICT_WRONG;
    }
    return ok;
}

static void judge_file(const char *path, const MakeSpec *how, FILE *log, Counts *counts)
{
    Arena arena = {0};
    MakeSpec spec = *how;
    MakeWritten written = {0};
    Diag diag = diag_make(&arena, path, STR(""));
    double start = now();
    bool planned = false;
    spec.path = path;
    bool ok = file_read(&arena, path, 0, &spec.source, &diag) &&
              judge_plan(&arena, &spec, &written, &planned, &diag);
    counts->unjudged += ok && !written.verdicts.len;
    ok = ok && written.verdicts.len;
    counts->files++;
    counts->unplanned += !planned;
    counts->good += ok;
    counts->forms += written.verdicts.len;
    for (uint32_t i = 0; i < written.verdicts.len; i++)
        counts->ok += written.verdicts.at[i].status == VERDICT_OK;
    tell(stdout, path, ok, &written, &diag, now() - start);
    if (log)
        tell(log, path, ok, &written, &diag, now() - start);
    arena_drop(&arena);
}

static bool is_logged(FILE *log, const char *path)
{
    char line[4096];
    bool found = false;
    if (!log)
        return false;
    rewind(log);
    while (fgets(line, sizeof line, log) && !found) {
        size_t n = strlen(path);
        found = strlen(line) > 4 + n && !strncmp(line + 4, path, n) && line[4 + n] == ' ';
    }
    fseek(log, 0, SEEK_END);
    return found;
}

int main(int argc, char **argv)
{
    MakeSpec how = {.chip = npu_chip_find(STR("910B2")),
                    .seed = 1,
                    .engine = EVAL_TWIN,
                    .float_type = DT_F32,
                    .plan_only = true,
                    .trust = true,
                    .jobs = 2};
    Counts counts = {0};
    FILE *log = NULL;
    double seconds = 0, start = now();
    EvalForm form;
    bool later = false;
    for (int i = 1; i < argc && !later; i++) {
        bool more = i + 1 < argc;
        if (!strcmp(argv[i], "--own") && more)
            how.written_own = atof(argv[++i]);
        else if (!strcmp(argv[i], "--seed") && more)
            how.seed = (uint64_t)atoll(argv[++i]);
        else if (!strcmp(argv[i], "--dtype") && more)
            how.float_type = !strcmp(argv[++i], "f16") ? DT_F16 : DT_BF16;
        else if (!strcmp(argv[i], "--jobs") && more)
            how.jobs = (uint32_t)atoi(argv[++i]);
        else if (!strcmp(argv[i], "--form") && more &&
                 eval_form_from_text(str_from(argv[i + 1]), &form))
            how.written_forms |= 1u << form, i++;
        else if (!strcmp(argv[i], "--log") && more)
            log = fopen(argv[++i], "a+");
        else if (!strcmp(argv[i], "--seconds") && more)
            seconds = atof(argv[++i]);
        else if (is_logged(log, argv[i]))
            continue;
        else if (seconds > 0 && now() - start >= seconds)
            later = true;
        else
            judge_file(argv[i], &how, log, &counts);
    }
    if (log)
        fclose(log);
    printf("%u of %u files ok, %u not planned, %u not judged; %u of %u forms at sizes ok\n",
           counts.good, counts.files, counts.unplanned, counts.unjudged, counts.ok, counts.forms);
    return later ? 3 : counts.good + counts.unplanned == counts.files ? 0 : 1;
}
