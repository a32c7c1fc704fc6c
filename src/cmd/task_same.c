/* acraft task OURS --same THEIRS: do two model files, or two directories of them, mean the same?
 * Files of two directories are paired by name, and by category where a name stands twice; a file
 * NAME/validation/module.py, as NPUKernelBench keeps them, has the name NAME.py. */
#include "cmd/task.h"
#include <stdio.h>
#include <string.h>

typedef enum Answer { SAME, DRAWN, DIFFERENT, MISSING, REFUSED, ANSWER_COUNT } Answer;

static const char *const answer_names[ANSWER_COUNT] = {
    "the same", "the same, inputs drawn otherwise", "not the same", "missing", "refused"};

typedef struct Pair {
    const char *ours, *theirs;
    Buf a, b; /* their normal forms */
} Pair;

static bool normal_text(Arena *arena, const char *path, const TaskOptions *options, Buf *out)
{
    Diag diag = diag_make(arena, path, (Str){0});
    TorchTask *task = task_load(arena, path, options, &diag);
    if (!task)
        return task_say(&diag, false);
    graph_print(graph_normal(arena, task->graph), out);
    return true;
}

/* A normal form without the block that says how inputs and parameters are drawn. */
static Str model_part(const Buf *text)
{
    Str all = buf_view(text);
    ptrdiff_t end = str_find(all, str_from("\nsource {"));
    return end < 0 ? all : str_slice(all, 0, (size_t)end);
}

static Answer compare(Pair *pair, const TaskOptions *options)
{
    Arena arena = {0};
    bool read = normal_text(&arena, pair->ours, options, &pair->a) &&
                normal_text(&arena, pair->theirs, options, &pair->b);
    arena_drop(&arena);
    if (!read)
        return REFUSED;
    if (str_equal(buf_view(&pair->a), buf_view(&pair->b)))
        return SAME;
    return str_equal(model_part(&pair->a), model_part(&pair->b)) ? DRAWN : DIFFERENT;
}

static void pair_free(Pair *pair)
{
    buf_free(&pair->a);
    buf_free(&pair->b);
}

static void first_difference(const Pair *pair)
{
    uint32_t line = 1;
    Str a = buf_view(&pair->a), b = buf_view(&pair->b), x, y;
    while (str_next(&a, '\n', &x) && str_next(&b, '\n', &y)) {
        if (!str_equal(x, y)) {
            printf("first difference, line %u of the normal forms:\n  %.*s\n  %.*s\n", line,
                   STR_ARG(x), STR_ARG(y));
            return;
        }
        line++;
    }
    printf("one normal form is longer than the other\n");
}

static int same_files(const char *ours, const char *theirs, const TaskOptions *options)
{
    Pair pair = {.ours = ours, .theirs = theirs};
    Answer answer = compare(&pair, options);
    if (answer != REFUSED && options->json)
        printf("{\"same\": %s}\n", answer == SAME ? "true" : "false");
    else if (answer != REFUSED)
        puts(answer_names[answer]);
    if ((answer == DRAWN || answer == DIFFERENT) && !options->json)
        first_difference(&pair);
    pair_free(&pair);
    return answer == SAME ? CMD_OK : answer == REFUSED ? CMD_USAGE : CMD_NO;
}

/* --- directories -------------------------------------------------------------------------- */

/* The path a file would have as CATEGORY/NAME.py. */
static const char *plain_path(Arena *arena, const char *path)
{
    const char *dir = path_dir(arena, path);
    bool inside = str_is(path_base(path), "module.py") && str_is(path_base(dir), "validation");
    return inside ? str_format(arena, "%s.py", path_dir(arena, dir)) : path;
}

static const char *find_partner(Arena *arena, const NameList *theirs, const char *ours)
{
    Str category = path_base(path_dir(arena, ours));
    const char *found = NULL;
    for (uint32_t i = 0; i < theirs->len; i++) {
        const char *path = plain_path(arena, theirs->at[i]);
        if (!str_equal(path_base(path), path_base(ours)))
            continue;
        if (str_equal(path_base(path_dir(arena, path)), category))
            return theirs->at[i];
        found = found ? found : theirs->at[i];
    }
    return found;
}

static void print_pair(Arena *arena, const Pair *pair, Answer answer, bool json)
{
    Str name = path_stem(pair->ours), category = path_base(path_dir(arena, pair->ours));
    Buf out = {0};
    if (json) {
        buf_puts(&out, "{\"path\": ");
        buf_json_str(&out, str_from(pair->ours));
        buf_puts(&out, ", \"other\": ");
        buf_json_str(&out, str_from(pair->theirs ? pair->theirs : ""));
        buf_printf(&out, ", \"answer\": \"%s\"}\n", answer_names[answer]);
    } else {
        buf_printf(&out, "%-16.*s %-84.*s %s\n", STR_ARG(category), STR_ARG(name),
                   answer_names[answer]);
    }
    fwrite(out.at, 1, out.len, stdout);
    buf_free(&out);
    if ((answer == DRAWN || answer == DIFFERENT) && !json)
        first_difference(pair);
}

static int same_dirs(Arena *arena, const char *ours, const char *theirs, const TaskOptions *options)
{
    NameList a = {0}, b = {0};
    uint32_t counts[ANSWER_COUNT] = {0};
    Diag diag = diag_make(arena, ours, (Str){0});
    if (!torch_suite(arena, ours, &a, &diag) || !torch_suite(arena, theirs, &b, &diag))
        return task_say(&diag, CMD_USAGE);
    for (uint32_t i = 0; i < a.len; i++) {
        Pair pair = {.ours = a.at[i], .theirs = find_partner(arena, &b, a.at[i])};
        Answer answer = pair.theirs ? compare(&pair, options) : MISSING;
        counts[answer]++;
        print_pair(arena, &pair, answer, options->json);
        pair_free(&pair);
    }
    if (!options->json)
        printf("%u of %u the same, %u the same with inputs drawn otherwise, %u not the same, "
               "%u missing in %s, %u refused\n",
               counts[SAME], a.len, counts[DRAWN], counts[DIFFERENT], counts[MISSING], theirs,
               counts[REFUSED]);
    return counts[SAME] == a.len ? CMD_OK : CMD_NO;
}

int task_same(Arena *arena, const char *ours, const char *theirs, const TaskOptions *options)
{
    if (file_is_dir(ours) != file_is_dir(theirs)) {
        fprintf(stderr, "acraft task: --same compares two files or two directories\n");
        return CMD_USAGE;
    }
    return file_is_dir(ours) ? same_dirs(arena, ours, theirs, options)
                             : same_files(ours, theirs, options);
}
