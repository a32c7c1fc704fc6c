/* Reading a baseline file; see bench_baseline.h for its form. */
#include "loop/bench_baseline.h"

#include <string.h>

static bool bad(Diag *diag, uint32_t line, const char *what)
{
    diag_error(diag, "B002", (Span){line, 1, 1}, "%s", what);
    return false;
}

static bool read_sets(Arena *arena, Str text, BenchBaselineRow *row)
{
    VEC(TorchSet) sets = {0};
    Str one;
    while (str_next(&text, ' ', &one)) {
        ptrdiff_t equals = str_find(one, STR("="));
        TorchSet set;
        if (one.len == 0)
            continue;
        if (equals <= 0 || !str_to_i64(str_slice(one, (size_t)equals + 1, one.len), &set.value))
            return false;
        set.name = str_dup(arena, str_slice(one, 0, (size_t)equals));
        vec_push(arena, &sets, set);
    }
    row->sets = sets.at;
    row->set_count = sets.len;
    return true;
}

static bool read_line(Arena *arena, Str line, uint32_t number, BenchBaseline *b, Diag *diag)
{
    BenchBaselineRow row = {0};
    Str task, us = {0}, sizes = {0};
    if (line.len == 0 || line.at[0] == '#' || str_starts(line, "task\t"))
        return true;
    str_next(&line, '\t', &task);
    if (!str_next(&line, '\t', &us) || !str_to_double(us, &row.us) || !(row.us > 0))
        return bad(diag, number, "a line is: task, microseconds, sizes, with tabs between");
    str_next(&line, '\t', &sizes);
    if (!read_sets(arena, sizes, &row))
        return bad(diag, number, "sizes are NAME=NUMBER, with spaces between");
    row.task = str_dup(arena, task);
    vec_push(arena, &b->rows, row);
    return true;
}

bool bench_baseline_read(Arena *arena, const char *path, BenchBaseline *baseline, Diag *diag)
{
    Str text, line;
    *baseline = (BenchBaseline){.name = path};
    if (!file_read(arena, path, 16 << 20, &text, diag))
        return false;
    Diag own = diag_make(arena, path, text);
    bool ok = true;
    for (uint32_t number = 1; ok && str_next(&text, '\n', &line); number++)
        ok = read_line(arena, line, number, baseline, &own);
    if (!ok)
        vec_push(diag->arena, &diag->items, own.items.at[0]), diag->errors++;
    return ok;
}

const BenchBaselineRow *bench_baseline_find(const BenchBaseline *baseline, const char *task)
{
    for (uint32_t i = 0; baseline && i < baseline->rows.len; i++)
        if (!strcmp(baseline->rows.at[i].task, task))
            return &baseline->rows.at[i];
    return NULL;
}
