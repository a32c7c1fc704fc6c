/* Picking tasks. In: a suite's name or a directory, and what to leave out. Out: model files with
 * name, category and level. */
#include "loop/bench_suite.h"

#include "base/map.h"
#include "torch/torch.h"
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static const Span no_place = {0, 0, 0};

typedef struct SuiteRow {
    const char *name, *ours, *theirs, *categories, *meaning;
} SuiteRow;

static const SuiteRow rows[] = {
#define SUITE(name, ours, theirs, categories, meaning) {name, ours, theirs, categories, meaning},
#include "loop/bench_suite.def"
#undef SUITE
};
enum { ROWS = sizeof rows / sizeof *rows };

void bench_suite_names(Buf *out)
{
    for (size_t i = 0; i < ROWS; i++)
        buf_printf(out, "  %-18s %s\n", rows[i].name, rows[i].meaning);
}

/* "ascendcraft, multikernelbench, ..." */
static const char *names_of_suites(Arena *arena)
{
    const char *names = rows[0].name;
    for (size_t i = 1; i < ROWS; i++)
        names = str_format(arena, "%s, %s", names, rows[i].name);
    return names;
}

static const SuiteRow *find_row(const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (!strcmp(rows[i].name, name))
            return &rows[i];
    return NULL;
}

/* ---- what a file says of itself ---- */

/* "level: 1" in the text at the top of the file. */
static const char *docstring_line(Arena *arena, Str text, const char *key)
{
    Str rest = str_slice(text, 0, 2048), line;
    if (!str_starts(rest, "\"\"\""))
        return NULL;
    while (str_next(&rest, '\n', &line)) {
        if (str_is(str_trim(line), "\"\"\""))
            return NULL;
        if (str_starts(line, key))
            return str_dup(arena, str_trim(str_slice(line, strlen(key), line.len)));
    }
    return NULL;
}

/* The digits of a folder of the path that is called level3 or some_level3. */
static const char *level_of_path(Arena *arena, const char *path)
{
    Str rest = str_from(path), part;
    const char *level = "";
    while (str_next(&rest, '/', &part)) {
        ptrdiff_t at = str_find(part, STR("level"));
        Str digits = at < 0 ? (Str){0} : str_slice(part, (size_t)at + 5, part.len);
        int64_t number;
        if (digits.len && str_to_i64(digits, &number) && (at == 0 || part.at[at - 1] == '_'))
            level = str_dup(arena, digits);
    }
    return level;
}

/* T/validation/module.py is the task T. */
static const char *shown_path(Arena *arena, const char *path)
{
    const char *dir = path_dir(arena, path);
    bool inner = str_is(path_base(path), "module.py") && str_is(path_base(dir), "validation");
    return inner ? path_dir(arena, dir) : path;
}

static bool describe(Arena *arena, const char *path, BenchTask *task, Diag *diag)
{
    Str text;
    if (!file_read(arena, path, 16 << 20, &text, diag))
        return false;
    const char *shown = shown_path(arena, path);
    const char *category = docstring_line(arena, text, "category:");
    const char *level = docstring_line(arena, text, "level:");
    task->path = path;
    task->name = str_dup(arena, path_stem(shown));
    task->category = category ? category : str_dup(arena, path_base(path_dir(arena, shown)));
    task->level = level ? level : level_of_path(arena, path);
    return true;
}

/* ---- picking ---- */

static bool listed(const NameList *list, const char *name, bool pattern)
{
    for (uint32_t i = 0; i < list->len; i++)
        if (pattern ? fnmatch(list->at[i], name, 0) == 0 : !strcmp(list->at[i], name))
            return true;
    return list->len == 0;
}

static bool has_word(const char *words, const char *word)
{
    Str rest = str_from(words), one;
    while (str_next(&rest, ' ', &one))
        if (str_is(one, word))
            return true;
    return *words == 0;
}

static bool wanted(const BenchPick *pick, const SuiteRow *row, const BenchTask *task)
{
    return (!row || has_word(row->categories, task->category)) &&
           listed(&pick->categories, task->category, false) &&
           listed(&pick->levels, task->level, false) && listed(&pick->names, task->name, true);
}

static int by_category_and_name(const void *a, const void *b)
{
    const BenchTask *x = a, *y = b;
    int c = strcmp(x->category, y->category);
    return c ? c : strcmp(x->name, y->name) ? strcmp(x->name, y->name) : strcmp(x->path, y->path);
}

static void tell_apart(Arena *arena, BenchTasks *tasks)
{
    Map seen = {0};
    uint32_t first;
    for (uint32_t i = 0; i < tasks->len; i++) {
        BenchTask *t = &tasks->at[i];
        if (map_get(&seen, str_from(t->name), &first))
            t->name = str_format(arena, "%s/%s", t->category, t->name);
        map_put(arena, &seen, str_from(t->name), i);
    }
}

static const char *dir_of(Arena *arena, const BenchPick *pick, const SuiteRow *row, Diag *diag)
{
    if (!row) {
        if (file_exists(pick->suite))
            return pick->suite;
        diag_error(diag, "B001", no_place, "there is no suite and no directory '%s'", pick->suite);
        diag_hint(diag, "a directory with model files, or one of %s", names_of_suites(arena));
        return NULL;
    }
    if (pick->suite_dir) {
        const char *inner = path_join(arena, pick->suite_dir, row->theirs);
        return file_is_dir(inner) ? inner : pick->suite_dir;
    }
    if (!pick->home) {
        diag_error(diag, "B001", no_place, "acraft's own tasks/ was not found; set ACRAFT_HOME");
        return NULL;
    }
    return path_join(arena, path_join(arena, pick->home, "tasks"), row->ours);
}

static bool model_files(Arena *arena, const char *path, NameList *files, Diag *diag)
{
    if (file_is_dir(path))
        return torch_suite(arena, path, files, diag);
    vec_push(arena, files, path);
    return true;
}

/* "activation, loss": each once, in the order of the files. */
static const char *categories_of(Arena *arena, const SuiteRow *row, const BenchTasks *tasks)
{
    Map seen = {0};
    const char *all = "";
    uint32_t first;
    for (uint32_t i = 0; i < tasks->len; i++) {
        const char *category = tasks->at[i].category;
        if (map_get(&seen, str_from(category), &first) ||
            (row && !has_word(row->categories, category)))
            continue;
        map_put(arena, &seen, str_from(category), i);
        all = str_format(arena, "%s%s%s", all, *all ? ", " : "", category);
    }
    return all;
}

bool bench_suite(Arena *arena, const BenchPick *pick, BenchSuite *suite, Diag *diag)
{
    const SuiteRow *row = find_row(pick->suite);
    const char *dir = dir_of(arena, pick, row, diag);
    NameList files = {0};
    BenchTasks all = {0};
    *suite = (BenchSuite){.name = pick->suite};
    suite->wording = row && !pick->suite_dir ? "reworded" : "original";
    if (!dir || !model_files(arena, dir, &files, diag))
        return false;
    for (uint32_t i = 0; i < files.len; i++) {
        BenchTask task;
        if (!describe(arena, files.at[i], &task, diag))
            return false;
        vec_push(arena, &all, task);
        if (wanted(pick, row, &task))
            vec_push(arena, &suite->tasks, task);
    }
    if (suite->tasks.len == 0) {
        diag_error(diag, "B001", no_place, "no task of '%s' has such a category, level and name",
                   pick->suite);
        diag_hint(diag, "its categories are %s", categories_of(arena, row, &all));
        return false;
    }
    qsort(suite->tasks.at, suite->tasks.len, sizeof *suite->tasks.at, by_category_and_name);
    tell_apart(arena, &suite->tasks);
    return true;
}
