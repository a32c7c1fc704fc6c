/* acraft task OURS --same THEIRS: do two model files, or two directories of them, mean the same?
 * Files of two directories are paired by name, and by category where a name stands twice; a file
 * NAME/validation/module.py, as NPUKernelBench keeps them, has the name NAME.py. */
#include "cmd/task.h"
#include "torch/same.h"
#include <stdio.h>
#include <string.h>

enum { ANSWER_MISSING = TORCH_SAME_COUNT, ANSWER_REFUSED, ANSWER_LARGE, ANSWER_COUNT };

/* Readings whose graph rests on drawn values are compared for this many drawings; of every case,
 * for one. */
enum { DRAWINGS = 3 };

/* Limit of operations of a comparison by values. Where the case is free, one of at most
 * `few_steps` is taken. */
static const int64_t few_steps = INT64_C(1) << 22, most_steps = INT64_C(1) << 25;

typedef struct Pair {
    const char *ours, *theirs;
    int answer; /* TorchSame, or one of those above */
    TorchSameAnswer found;
    int64_t case_index; /* the case it holds for */
    /* --all-cases: how many there are, are the same, are too large to be compared */
    uint32_t cases, equal, large;
    NameList others; /* cases that are not, and how */
} Pair;

static const char *answer_name(int answer)
{
    return answer == ANSWER_MISSING   ? "missing"
           : answer == ANSWER_REFUSED ? "refused"
           : answer == ANSWER_LARGE   ? "too large to be compared element by element"
                                      : torch_same_name((TorchSame)answer);
}

static TorchTask *load(Arena *arena, const char *path, const TaskOptions *options, bool say)
{
    Diag diag = diag_make(arena, path, (Str){0});
    TorchTask *task = task_load(arena, path, options, &diag);
    if (!task && say)
        cmd_say(&diag, false);
    return task;
}

static void forget(Pair *pair)
{
    buf_free(&pair->found.a);
    buf_free(&pair->found.b);
    pair->found = (TorchSameAnswer){0};
}

/* One case under one seed. `arena` keeps what the answer says. */
static int compare_once(Arena *arena, Pair *pair, const TaskOptions *options, int64_t budget,
                        bool *looked)
{
    TorchTask *ours = load(arena, pair->ours, options, true);
    TorchTask *theirs = ours ? load(arena, pair->theirs, options, true) : NULL;
    forget(pair);
    if (!theirs)
        return ANSWER_REFUSED;
    *looked = ours->conditions || theirs->conditions;
    pair->found = torch_same(arena, ours, theirs,
                             &(TorchSameHow){pair->theirs, (uint64_t)options->seed, budget});
    return (int)pair->found.same;
}

/* One case; where data was looked at, for several drawings: the loosest answer counts. */
static int compare(Arena *arena, Pair *pair, const TaskOptions *options, int64_t budget)
{
    TaskOptions with = *options;
    int worst = 0;
    int drawings = options->all_cases ? 1 : DRAWINGS;
    for (int i = 0; i < drawings; i++) {
        bool looked = false;
        with.seed = options->seed + i;
        int answer = compare_once(arena, pair, &with, budget, &looked);
        worst = answer > worst ? answer : worst;
        if (worst > TORCH_SAME_LAST || !(looked || pair->found.at_values))
            break;
    }
    return worst;
}

static void first_difference(const Pair *pair)
{
    uint32_t line = 1;
    Str a = buf_view(&pair->found.a), b = buf_view(&pair->found.b), x, y;
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

static const char *how(const Pair *pair)
{
    static const char *const words[] = {"", " (for the values drawn)", " (element by element)",
                                        " (element by element, for the values drawn)"};
    return words[pair->found.by_element * 2 + pair->found.at_values];
}

static int same_files(Arena *arena, const char *ours, const char *theirs,
                      const TaskOptions *options)
{
    Pair pair = {.ours = ours, .theirs = theirs};
    int answer = compare(arena, &pair, options, most_steps);
    bool same = answer <= TORCH_SAME_LAST;
    if (answer != ANSWER_REFUSED && options->json)
        printf("{\"same\": %s}\n", same ? "true" : "false");
    else if (answer != ANSWER_REFUSED)
        printf("%s%s\n", answer_name(answer), how(&pair));
    if (pair.found.why && !options->json)
        printf("%s\n", pair.found.why);
    if (pair.found.too_large && !same && !options->json)
        puts("too large to be compared element by element; another --case may be small enough");
    if (answer == TORCH_DIFFERENT && !options->json)
        first_difference(&pair);
    forget(&pair);
    return same ? CMD_OK : answer == ANSWER_REFUSED ? CMD_USAGE : CMD_NO;
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

static uint32_t case_count(Arena *arena, const char *path)
{
    TorchCases cases = {0};
    Diag diag = diag_make(arena, path, (Str){0});
    torch_cases(arena, path, &cases, &diag);
    return cases.lines.len ? cases.lines.len : 1;
}

/* The requested case, or the next one that can be compared in `budget` steps. */
static bool compare_within(Arena *arena, Pair *pair, const TaskOptions *options, int64_t budget)
{
    TaskOptions with = *options;
    bool again = true;
    for (uint32_t n = case_count(arena, pair->ours); again && with.case_index < n;
         with.case_index++) {
        Arena one = {0};
        int answer = compare(&one, pair, &with, budget);
        again = pair->found.too_large && answer == TORCH_DIFFERENT;
        pair->answer = answer;
        pair->case_index = with.case_index;
        if (pair->found.why)
            pair->found.why = str_dup(arena, str_from(pair->found.why));
        arena_drop(&one);
    }
    return !again;
}

static void compare_pair(Arena *arena, Pair *pair, const TaskOptions *options)
{
    if (!compare_within(arena, pair, options, few_steps))
        compare_within(arena, pair, options, most_steps);
}

/* Every case of our list. */
static void compare_cases(Arena *arena, Pair *pair, const TaskOptions *options)
{
    TaskOptions with = *options;
    pair->cases = case_count(arena, pair->ours);
    for (uint32_t i = 0; i < pair->cases; i++) {
        Arena one = {0};
        with.case_index = i;
        int answer = compare(&one, pair, &with, few_steps);
        bool same = answer <= TORCH_SAME_LAST;
        bool large = answer == TORCH_DIFFERENT && pair->found.too_large;
        pair->equal += same;
        pair->large += large;
        pair->answer = answer > pair->answer && !large ? answer : pair->answer;
        if (!same && !large)
            vec_push(arena, &pair->others,
                     str_format(arena, "case %u: %s%s", i, answer_name(answer),
                                pair->found.why ? str_format(arena, ": %s", pair->found.why) : ""));
        pair->found.why = NULL;
        arena_drop(&one);
    }
    if (pair->large == pair->cases)
        pair->answer = ANSWER_LARGE;
}

static void json_pair(const Pair *pair, Buf *out)
{
    buf_puts(out, "{\"path\": ");
    buf_json_str(out, str_from(pair->ours));
    buf_puts(out, ", \"other\": ");
    buf_json_str(out, str_from(pair->theirs ? pair->theirs : ""));
    buf_printf(out, ", \"answer\": \"%s\", \"same\": %s, \"by_element\": %s, \"case\": %lld",
               answer_name(pair->answer), pair->answer <= TORCH_SAME_LAST ? "true" : "false",
               pair->found.by_element ? "true" : "false", (long long)pair->case_index);
    if (pair->cases)
        buf_printf(out, ", \"cases\": %u, \"equal\": %u", pair->cases, pair->equal);
    buf_puts(out, "}\n");
}

static void text_pair(Arena *arena, const Pair *pair, Buf *out)
{
    Str name = path_stem(pair->ours), category = path_base(path_dir(arena, pair->ours));
    buf_printf(out, "%-16.*s %-48.*s %s", STR_ARG(category), STR_ARG(name),
               answer_name(pair->answer));
    if (pair->cases)
        buf_printf(out, " (%u of %u cases%s)", pair->equal, pair->cases,
                   pair->large ? ", the others too large to be compared" : "");
    else
        buf_puts(out, how(pair));
    if (!pair->cases && pair->case_index)
        buf_printf(out, ", case %lld", (long long)pair->case_index);
    if (pair->found.why)
        buf_printf(out, ": %s", pair->found.why);
    buf_char(out, '\n');
    for (uint32_t i = 0; i < pair->others.len; i++)
        buf_printf(out, "    %s\n", pair->others.at[i]);
}

static void print_pair(Arena *arena, const Pair *pair, bool json)
{
    Buf out = {0};
    if (json)
        json_pair(pair, &out);
    else
        text_pair(arena, pair, &out);
    fwrite(out.at, 1, out.len, stdout);
    fflush(stdout);
    buf_free(&out);
    if (pair->answer == TORCH_DIFFERENT && !json && !pair->cases)
        first_difference(pair);
}

typedef struct Tally {
    uint32_t count[ANSWER_COUNT], by_element, same, all, cases, equal, large;
} Tally;

static void print_tally(const Tally *t)
{
    printf("\n%u of %u the same operator, %u of them element by element:\n", t->same, t->all,
           t->by_element);
    for (int i = 0; i < ANSWER_COUNT; i++) {
        if (t->count[i])
            printf("%6u  %s\n", t->count[i], answer_name(i));
    }
    if (t->cases)
        printf("%u of %u cases the same; %u were too large to be compared element by element\n",
               t->equal, t->cases, t->large);
}

static int same_dirs(Arena *arena, const char *ours, const char *theirs, const TaskOptions *options)
{
    NameList a = {0}, b = {0};
    Tally tally = {0};
    Diag diag = diag_make(arena, ours, (Str){0});
    if (!torch_suite(arena, ours, &a, &diag) || !torch_suite(arena, theirs, &b, &diag))
        return cmd_say(&diag, CMD_USAGE);
    for (uint32_t i = 0; i < a.len; i++) {
        Pair pair = {.ours = a.at[i], .theirs = find_partner(arena, &b, a.at[i])};
        if (!pair.theirs)
            pair.answer = ANSWER_MISSING;
        else if (options->all_cases)
            compare_cases(arena, &pair, options);
        else
            compare_pair(arena, &pair, options);
        bool same = pair.answer <= TORCH_SAME_LAST;
        tally.count[pair.answer]++;
        tally.same += same;
        tally.by_element += same && pair.found.by_element;
        tally.cases += pair.cases;
        tally.equal += pair.equal;
        tally.large += pair.large;
        print_pair(arena, &pair, options->json);
        forget(&pair);
    }
    tally.all = a.len;
    if (!options->json)
        print_tally(&tally);
    return tally.same == a.len ? CMD_OK : CMD_NO;
}

int task_same(Arena *arena, const char *ours, const char *theirs, const TaskOptions *options)
{
    if (file_is_dir(ours) != file_is_dir(theirs)) {
        fprintf(stderr, "acraft task: --same compares two files or two directories\n");
        return CMD_USAGE;
    }
    return file_is_dir(ours) ? same_dirs(arena, ours, theirs, options)
                             : same_files(arena, ours, theirs, options);
}
