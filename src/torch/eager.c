/* Reads tasks/kernelbench.tsv and finds the row of a task at a size. */
#include "torch/eager.h"

#include <string.h>

enum { COLUMNS = 5 };

static bool bad_line(Diag *diag, uint32_t line, const char *why)
{
    diag_error(diag, "T030", (Span){.line = line, .col = 1}, "%s", why);
    return false;
}

/* "N=2048 KERNEL[1]=5" */
static bool read_sets(Arena *arena, Str text, TorchEager *row)
{
    VEC(TorchSet) sets = {0};
    Str word;
    while (text.len && str_next(&text, ' ', &word)) {
        Str name;
        TorchSet set = {0};
        if (!str_next(&word, '=', &name) || !name.len || !str_to_i64(word, &set.value))
            return false;
        set.name = str_dup(arena, name);
        vec_push(arena, &sets, set);
    }
    row->sets = sets.at;
    row->n_sets = sets.len;
    return true;
}

static bool read_row(Arena *arena, Str line, uint32_t number, TorchEager *row, Diag *diag)
{
    Str cell[COLUMNS] = {0};
    int n = 0;
    while (n < COLUMNS && str_next(&line, '\t', &cell[n]))
        n++;
    if (n < COLUMNS - 1)
        return bad_line(diag, number, "a row has five columns: problem, task, sets, time, note");
    if (!str_to_double(cell[3], &row->us) || !(row->us > 0))
        return bad_line(diag, number, "the fourth column is a time in microseconds");
    if (!read_sets(arena, cell[2], row))
        return bad_line(diag, number, "the third column is NAME=NUMBER NAME=NUMBER ...");
    row->problem = str_dup(arena, cell[0]);
    row->task = str_dup(arena, cell[1]);
    row->note = str_dup(arena, cell[4]);
    return true;
}

bool torch_eager_read(Arena *arena, const char *path, TorchEagerTable *table, Diag *diag)
{
    Str text, line;
    bool header = true;
    if (!file_read(arena, path, 1 << 22, &text, diag))
        return false;
    for (uint32_t number = 1; str_next(&text, '\n', &line); number++) {
        if (!line.len || line.at[0] == '#')
            continue;
        TorchEager row = {0};
        if (!header && !read_row(arena, line, number, &row, diag))
            return false;
        if (!header)
            vec_push(arena, table, row);
        header = false;
    }
    return true;
}

bool torch_eager_beside(Arena *arena, const char *model_path, TorchEagerTable *table, Diag *diag)
{
    const char *suite = path_dir(arena, path_dir(arena, model_path));
    const char *path = path_join(arena, suite, "kernelbench.tsv");
    return !file_exists(path) || torch_eager_read(arena, path, table, diag);
}

/* --- looking up --------------------------------------------------------------------------- */

static bool is_task(const TorchEager *row, const TorchTask *task)
{
    Str name = str_from(row->task), category;
    return str_next(&name, '/', &category) && str_equal(category, str_from(task->category)) &&
           str_equal(name, str_from(task->name));
}

static int64_t size_in_row(const TorchEager *row, const TorchKnob *knob)
{
    for (uint32_t i = 0; i < row->n_sets; i++) {
        if (strcmp(row->sets[i].name, knob->name) == 0)
            return row->sets[i].value;
    }
    return knob->original;
}

const TorchEager *torch_eager_find(const TorchEagerTable *table, const TorchTask *task)
{
    for (uint32_t i = 0; i < table->len; i++) {
        const TorchEager *row = &table->at[i];
        bool same = is_task(row, task);
        for (uint32_t k = 0; k < task->knobs.len && same; k++)
            same = task->knobs.at[k].value == size_in_row(row, &task->knobs.at[k]);
        if (same)
            return row;
    }
    return NULL;
}
