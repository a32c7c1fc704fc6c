/* Training runs as a page: the curves of a directory of `acraft train`, those of its rounds below it, or a file. */
#include "cmd/report.h"

#include "cmd/cmd.h"

typedef VEC(ReportCurve) ReportCurves;

static bool add_curve(Arena *arena, const char *path, const char *name, ReportCurves *curves,
                      Diag *diag)
{
    ReportCurve curve = {.name = name};
    if (!file_read(arena, path, 0, &curve.lines, diag))
        return false;
    vec_push(arena, curves, curve);
    return true;
}

/* DIR/round-1/run, DIR/round-2/run, ... as far as they are there. */
static bool add_rounds(Arena *arena, const char *dir, ReportCurves *curves, Diag *diag)
{
    for (int round = 1;; round++) {
        const char *run = path_join(arena, dir, str_format(arena, "round-%d/run", round));
        const char *path = path_join(arena, run, "curve.jsonl");
        if (!file_exists(path))
            return true;
        if (!add_curve(arena, path, run, curves, diag))
            return false;
    }
}

static bool add_run(Arena *arena, const char *run, ReportCurves *curves, Diag *diag)
{
    uint32_t before = curves->len;
    const char *path = file_is_dir(run) ? path_join(arena, run, "curve.jsonl") : run;
    if ((!file_is_dir(run) || file_exists(path)) && !add_curve(arena, path, run, curves, diag))
        return false;
    if (file_is_dir(run) && !add_rounds(arena, run, curves, diag))
        return false;
    if (curves->len > before)
        return true;
    diag_error(diag, "R001", (Span){0}, "'%s' has no curve.jsonl, nor round-1/run/curve.jsonl",
               run);
    diag_hint(diag, "name the directory that acraft train was given with -o");
    return false;
}

bool report_training(const NameList *runs, Buf *html, Diag *diag)
{
    Arena arena = {0};
    ReportCurves curves = {0};
    bool ok = true;
    for (uint32_t i = 0; i < runs->len && ok; i++)
        ok = add_run(&arena, runs->at[i], &curves, diag);
    if (ok)
        report_curves(curves.at, curves.len, ACRAFT_VERSION, html);
    arena_drop(&arena);
    return ok;
}
