/* How far the planner reaches: for every model file the strategy, and at how many sizes the planned
 * kernel gives the reference's values.
 *
 *     bench-reach [--twin] [--strict] [--medium] [--listed | --tiny] [--fuzz N] FILE.py...
 *
 * Values come from the reference interpreter of tile IR, or with --twin from the simulated chip,
 * which also sees hazards. --strict counts only written synchronisation; a race that the device
 * compiler's own synchronisation orders is then counted apart ("inserted") and fails nothing, so that
 * one run answers for both. --medium adds the medium size. --listed judges the cases listed beside a
 * file of up to a million elements instead, --tiny the same cases shrunk. Ends with the counts. */
#include "loop/make.h"

#include "base/file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Tally {
    uint32_t files, good, cases, ok, inserted;
} Tally;

static const char *first_reason(const MakeResult *result, const Diag *diag, Arena *arena)
{
    for (uint32_t i = 0; i < result->verdicts.len; i++) {
        const Verdict *v = &result->verdicts.at[i];
        if (v->status != VERDICT_OK)
            return str_format(arena, "%s: %s: %s", v->kase, verdict_status_row(v->status)->text,
                              v->reason ? v->reason : "");
    }
    return diag->items.len ? diag->items.at[0].text : "no reason given";
}

static void reach(const char *path, const MakeSpec *how, Tally *tally)
{
    Arena arena = {0};
    MakeSpec spec = *how;
    MakeResult result = {0};
    Diag diag = diag_make(&arena, path, STR(""));
    spec.path = path;
    bool ok = file_read(&arena, path, 0, &spec.source, &diag);
    if (ok) {
        diag = diag_make(&arena, path, spec.source);
        ok = make_kernel(&arena, &spec, &result, &diag);
    }
    tally->files++;
    tally->good += ok;
    tally->cases += result.verdicts.len;
    tally->ok += result.ok;
    tally->inserted += result.inserted;
    printf("%-44s %-10s %2u of %2u", path, result.plan.strategy ? result.plan.strategy : "-",
           result.ok, result.verdicts.len);
    if (result.inserted)
        printf(", %u inserted", result.inserted);
    printf(ok ? "\n" : "  %s\n", ok ? "" : first_reason(&result, &diag, &arena));
    fflush(stdout);
    arena_drop(&arena);
}

int main(int argc, char **argv)
{
    MakeSpec how = {.chip = npu_chip_find(STR("910B2")),
                    .seed = 1,
                    .fuzz = 6,
                    .engine = EVAL_INTERP,
                    .float_type = DT_F32,
                    .trust = true};
    Tally tally = {0};
    for (int i = 1; i < argc; i++) {
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
        else if (!strcmp(argv[i], "--fuzz") && i + 1 < argc)
            how.fuzz = (uint32_t)atoi(argv[++i]);
        else
            reach(argv[i], &how, &tally);
    }
    printf("%u of %u files, %u of %u cases", tally.good, tally.files, tally.ok, tally.cases);
    printf(how.strict ? ", %u with inserted synchronisation\n" : "\n", tally.inserted);
    return tally.good == tally.files ? 0 : 1;
}
