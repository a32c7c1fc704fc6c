/* acraft task OURS --same THEIRS: do two model files, or two directories of them, mean the same?
 * Files of two directories are paired by name, and by category where a name stands twice; a file
 * NAME/validation/module.py, as NPUKernelBench keeps them, has the name NAME.py. */
#include "cmd/task.h"
#include <stdio.h>
#include <string.h>

/* From the strictest answer to the loosest; up to ARRANGED the operator is the same. */
typedef enum Answer {
    SAME,
    DRAWN,
    ARRANGED,
    TYPED,
    PART,
    DIFFERENT,
    MISSING,
    REFUSED,
    ANSWER_COUNT
} Answer;

static const char *const answer_names[ANSWER_COUNT] = {"the same",
                                                       "the same, inputs drawn otherwise",
                                                       "the same, operands held otherwise",
                                                       "the same before the last cast",
                                                       "the same in the results both give",
                                                       "not the same",
                                                       "missing",
                                                       "refused"};

typedef struct Pair {
    const char *ours, *theirs;
    Buf a, b; /* their normal forms */
} Pair;

static const Graph *load(Arena *arena, const char *path, const TaskOptions *options)
{
    Diag diag = diag_make(arena, path, (Str){0});
    TorchTask *task = task_load(arena, path, options, &diag);
    if (!task)
        task_say(&diag, false);
    return task ? task->graph : NULL;
}

static bool equal_forms(Arena *arena, Pair *pair, const Graph *ours, const Graph *theirs)
{
    buf_clear(&pair->a);
    buf_clear(&pair->b);
    graph_print(graph_normal(arena, ours), &pair->a);
    graph_print(graph_normal(arena, theirs), &pair->b);
    return str_equal(buf_view(&pair->a), buf_view(&pair->b));
}

/* The model alone, its tensors as declared. */
static const Graph *undrawn(Arena *arena, const Graph *graph)
{
    Graph *bare = arena_new(arena, Graph);
    *bare = *graph;
    bare->source = NULL;
    return bare;
}

static bool equal_plain(Arena *arena, Pair *pair, const Graph *ours, const Graph *theirs,
                        bool loose)
{
    const Graph *a = graph_plain(arena, ours, loose);
    for (int names = 1; names >= 0; names--) {
        Graph *b = graph_plain(arena, theirs, loose);
        graph_align(arena, a, b, names);
        if (equal_forms(arena, pair, a, b))
            return true;
    }
    return false;
}

/* The graph with one of its results. */
static const Graph *one_result(Arena *arena, const Graph *graph, uint32_t which)
{
    Graph *one = arena_new(arena, Graph);
    *one = *graph;
    memset(&one->outputs, 0, sizeof one->outputs);
    vec_push(arena, &one->outputs, graph->outputs.at[which]);
    return one;
}

/* Whether each of their results is one of ours, before the last cast. */
static bool equal_part(Arena *arena, Pair *pair, const Graph *ours, const Graph *theirs)
{
    const Graph *a = graph_plain(arena, ours, true);
    Graph *b = graph_plain(arena, theirs, true);
    if (b->outputs.len > a->outputs.len || !graph_align(arena, a, b, true))
        return false;
    for (uint32_t i = 0; i < b->outputs.len; i++) {
        bool found = false;
        for (uint32_t k = 0; k < a->outputs.len && !found; k++)
            found = equal_forms(arena, pair, one_result(arena, a, k), one_result(arena, b, i));
        if (!found)
            return false;
    }
    return b->outputs.len > 0;
}

static Answer compare_graphs(Arena *arena, Pair *pair, const Graph *ours, const Graph *theirs)
{
    if (equal_forms(arena, pair, ours, theirs))
        return SAME;
    if (equal_forms(arena, pair, undrawn(arena, ours), undrawn(arena, theirs)))
        return DRAWN;
    if (equal_plain(arena, pair, ours, theirs, false))
        return ARRANGED;
    if (equal_plain(arena, pair, ours, theirs, true))
        return TYPED;
    if (equal_part(arena, pair, ours, theirs))
        return PART;
    equal_plain(arena, pair, ours, theirs, true); /* the forms that are shown */
    return DIFFERENT;
}

static Answer compare(Pair *pair, const TaskOptions *options)
{
    Arena arena = {0};
    const Graph *ours = load(&arena, pair->ours, options);
    const Graph *theirs = ours ? load(&arena, pair->theirs, options) : NULL;
    Answer answer = theirs ? compare_graphs(&arena, pair, ours, theirs) : REFUSED;
    arena_drop(&arena);
    return answer;
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
        printf("{\"same\": %s}\n", answer <= ARRANGED ? "true" : "false");
    else if (answer != REFUSED)
        puts(answer_names[answer]);
    if (answer == DIFFERENT && !options->json)
        first_difference(&pair);
    pair_free(&pair);
    return answer <= ARRANGED ? CMD_OK : answer == REFUSED ? CMD_USAGE : CMD_NO;
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
    if (answer == DIFFERENT && !json)
        first_difference(pair);
}

static void print_counts(const uint32_t *counts, uint32_t all, const char *theirs)
{
    printf("%u of %u the same, %u the same with inputs drawn otherwise, %u with operands held "
           "otherwise, %u before the last cast, %u in the results both give, %u not the same, "
           "%u missing in %s, %u refused\n",
           counts[SAME], all, counts[DRAWN], counts[ARRANGED], counts[TYPED], counts[PART],
           counts[DIFFERENT], counts[MISSING], theirs, counts[REFUSED]);
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
        print_counts(counts, a.len, theirs);
    return counts[SAME] + counts[DRAWN] + counts[ARRANGED] == a.len ? CMD_OK : CMD_NO;
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
