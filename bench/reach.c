/* How far the planner reaches: for every model file the strategy, and at how many sizes the planned
 * kernel gives the reference's values.
 *
 *     bench-reach [--twin] [--strict] [--medium] [--listed | --tiny] [--fuzz N]
 *                 [--log FILE [--seconds N]] FILE.py...
 *
 * Values come from the reference interpreter of tile IR, or with --twin from the simulated chip,
 * which also sees hazards. --strict counts only written synchronisation; a race that the device
 * compiler's own synchronisation orders is then counted apart ("inserted") and fails nothing, so that
 * one run answers for both. --medium adds the medium size. --listed judges the cases listed beside a
 * file of up to a million elements instead, or where all are larger the same cases shrunk, which
 * --tiny does anyhow. Ends with the counts.
 *
 * --log appends every answer to a file and leaves out the files that it has already, so that a long
 * sweep can be run in shares: --seconds begins no other file after so long (exit status 3), and the
 * counts at the end are those of the whole log. */
#include "loop/make.h"

#include "base/file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct Tally {
    uint32_t files, good, cases, ok, inserted;
} Tally;

static void count(Tally *tally, bool good, uint32_t cases, uint32_t ok, uint32_t inserted)
{
    tally->files++;
    tally->good += good;
    tally->cases += cases;
    tally->ok += ok;
    tally->inserted += inserted;
}

/* One line for the file, one more for each case that is not ok. */
static void tell(FILE *out, const char *path, bool ok, const MakeResult *result, const Diag *diag,
                 double seconds)
{
    fprintf(out, "%-44s %-10s %2u of %2u, %u inserted, %s, %.0f s\n", path,
            result->plan.strategy ? result->plan.strategy : "-", result->ok, result->verdicts.len,
            result->inserted, ok ? "good" : "bad", seconds);
    for (uint32_t i = 0; i < result->verdicts.len; i++) {
        const Verdict *v = &result->verdicts.at[i];
        if (v->status != VERDICT_OK)
            fprintf(out, "    %s: %s: %s\n", v->kase, verdict_status_row(v->status)->text,
                    v->reason ? v->reason : "");
    }
    if (!ok && result->ok == result->verdicts.len)
        fprintf(out, "    %s\n", diag->items.len ? diag->items.at[0].text : "no reason given");
    fflush(out);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void reach(const char *path, const MakeSpec *how, FILE *log, Tally *tally)
{
    Arena arena = {0};
    MakeSpec spec = *how;
    MakeResult result = {0};
    Diag diag = diag_make(&arena, path, STR(""));
    double start = now();
    spec.path = path;
    bool ok = file_read(&arena, path, 0, &spec.source, &diag);
    if (ok) {
        diag = diag_make(&arena, path, spec.source);
        ok = make_kernel(&arena, &spec, &result, &diag);
        if (how->listed && !how->tiny && !result.verdicts.len) { /* all are larger */
            spec.tiny = true;
            diag = diag_make(&arena, path, spec.source);
            ok = make_kernel(&arena, &spec, &result, &diag);
        }
    }
    count(tally, ok, result.verdicts.len, result.ok, result.inserted);
    tell(stdout, path, ok, &result, &diag, now() - start);
    if (log)
        tell(log, path, ok, &result, &diag, now() - start);
    arena_drop(&arena);
}

/* Whether the log has an answer for the file, which is then counted. */
static bool is_known(FILE *log, const char *path, Tally *tally)
{
    char line[4096], name[2048], strategy[64], good[8];
    uint32_t ok, cases, inserted;
    if (!log)
        return false;
    rewind(log);
    while (fgets(line, sizeof line, log)) {
        if (sscanf(line, "%2047s %63s %u of %u, %u inserted, %7[a-z]", name, strategy, &ok, &cases,
                   &inserted, good) != 6 ||
            strcmp(name, path) != 0)
            continue;
        count(tally, !strcmp(good, "good"), cases, ok, inserted);
        return true;
    }
    return false;
}

enum { LATER = 3 };

int main(int argc, char **argv)
{
    MakeSpec how = {.chip = npu_chip_find(STR("910B2")),
                    .seed = 1,
                    .fuzz = 6,
                    .engine = EVAL_INTERP,
                    .float_type = DT_F32,
                    .trust = true};
    Tally tally = {0};
    FILE *log = NULL;
    double seconds = 0, start = now();
    bool later = false;
    for (int i = 1; i < argc && !later; i++) {
        bool more = i + 1 < argc;
        if (!strcmp(argv[i], "--twin"))
            how.engine = EVAL_TWIN;
        else if (!strcmp(argv[i], "--strict"))
            how.strict = true;
        else if (!strcmp(argv[i], "--medium"))
            how.medium = true;
        else if (!strcmp(argv[i], "--listed"))
            how.listed = true;
        else if (!strcmp(argv[i], "--tiny"))
            how.listed = how.tiny = true;
        else if (!strcmp(argv[i], "--fuzz") && more)
            how.fuzz = (uint32_t)atoi(argv[++i]);
        else if (!strcmp(argv[i], "--seconds") && more)
            seconds = atof(argv[++i]);
        else if (!strcmp(argv[i], "--log") && more)
            log = fopen(argv[++i], "a+");
        else if (is_known(log, argv[i], &tally))
            continue;
        else if (seconds > 0 && now() - start >= seconds)
            later = true;
        else
            reach(argv[i], &how, log, &tally);
    }
    if (log)
        fclose(log);
    printf("%u of %u files, %u of %u cases", tally.good, tally.files, tally.ok, tally.cases);
    printf(how.strict ? ", %u with inserted synchronisation\n" : "\n", tally.inserted);
    return later ? LATER : tally.good == tally.files ? 0 : 1;
}
