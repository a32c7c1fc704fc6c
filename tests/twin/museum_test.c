/* The bug museum: public bugs of AscendC programmers, rebuilt (tests/museum). The comment of each
 * text tells how to run it, as options of `acraft run`; a line that must be named carries
 * "// <-- CODE". Before the fix the last run names every such line; after it nothing is said. */
#include "tests/t.h"

#include "base/file.h"
#include "tests/twin/twin_helper.h"
#include "twin/observe.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 32, MOST_TENSORS = 4 };

typedef struct Visit {
    Arena arena;
    Str text;
    Diag diag;
    TwinOptions options;
    TwinObserver observer;
    TwinTensor tensors[MOST_TENSORS];
    TwinLaunch launch;
    const char *attrs[MOST_TENSORS];
    uint32_t attr_count;
    Verdict verdict;
} Visit;

static void add_tensor(Visit *v, const char *text, SimRole role)
{
    REQUIRE(v->launch.tensor_count < MOST_TENSORS);
    TwinTensor *t = &v->tensors[v->launch.tensor_count++];
    const char *file;
    REQUIRE(v->options.time_only ? twin_tensor_shape(&v->arena, text, role, t, &v->diag)
                                 : twin_tensor_parse(&v->arena, text, role, 0, t, &file, &v->diag));
}

static uint32_t split(Arena *arena, Str line, const char *words[MOST_WORDS])
{
    uint32_t n = 0;
    Str word;
    line = str_trim(line);
    while (line.len && str_next(&line, ' ', &word))
        if (word.len && n < MOST_WORDS)
            words[n++] = str_format(arena, "%.*s", (int)word.len, word.at);
    return n;
}

static void read_launch(Visit *v, Str line)
{
    const char *words[MOST_WORDS];
    uint32_t n = split(&v->arena, line, words);
    v->launch.blocks = 1;
    v->launch.tensors = v->tensors;
    for (uint32_t i = 0; i < n; i++) {
        const char *word = words[i], *value = i + 1 < n ? words[i + 1] : "";
        if (strcmp(word, "--strict") == 0 || strcmp(word, "--time-only") == 0) {
            *(word[2] == 's' ? &v->observer.strict : &v->options.time_only) = true;
            continue;
        }
        i++;
        if (strcmp(word, "--in") == 0)
            add_tensor(v, value, SIM_IN);
        else if (strcmp(word, "--out") == 0)
            add_tensor(v, value, SIM_OUT);
        else if (strcmp(word, "--inout") == 0)
            add_tensor(v, value, SIM_INOUT);
        else if (strcmp(word, "--blocks") == 0)
            v->launch.blocks = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(word, "--attr") == 0)
            v->attrs[v->attr_count++ % MOST_TENSORS] = value;
        else
            CHECK_MSG(false, "the museum knows no option %s", word);
    }
}

static void bind_launch(Visit *v, const TwinKernel *kernel)
{
    const TwinParams *params = twin_kernel_params(kernel);
    NameList given = {0};
    for (uint32_t i = 0; i < v->attr_count; i++)
        vec_push(&v->arena, &given,
                 str_format(&v->arena, "%.*s", (int)strcspn(v->attrs[i], "="), v->attrs[i]));
    TwinArg *args;
    REQUIRE(
        twin_bind(&v->arena, params, v->tensors, v->launch.tensor_count, &given, &args, &v->diag));
    for (uint32_t p = 0; p < params->len; p++)
        for (uint32_t i = 0; i < given.len; i++)
            if (strcmp(params->at[p].name, given.at[i]) == 0) {
                args[p].kind = TWIN_ARG_VALUE;
                REQUIRE(twin_value_parse(&v->arena, params->at[p].type,
                                         strchr(v->attrs[i], '=') + 1, &args[p].bytes, &v->diag));
            }
    v->launch.args = args;
    v->launch.arg_count = params->len;
}

static void run_visit(Visit *v, const char *path, Str line)
{
    TwinSource source = {.path = path, .text = v->text};
    v->diag = diag_make(&v->arena, path, v->text);
    v->options.keep_going = true;
    v->verdict = verdict_make();
    read_launch(v, line);
    twin_observe(&v->options, &v->observer);
    TwinKernel *kernel = twin_compile(&v->arena, &source, &v->options, &v->verdict, &v->diag);
    CHECK_MSG(kernel, "%s does not compile", path);
    if (!kernel)
        return;
    bind_launch(v, kernel);
    TwinRun run;
    twin_run(&v->arena, kernel, &v->launch, &v->options, &run, &v->verdict);
    twin_release(kernel);
}

static void leave(Visit *v)
{
    for (uint32_t i = 0; i < v->launch.tensor_count; i++)
        twin_tensor_free(&v->tensors[i]);
    twin_observer_free(&v->observer);
    arena_drop(&v->arena);
}

static void check_silent(const Visit *v, const char *path)
{
    CHECK_MSG(v->verdict.status == VERDICT_OK, "%s: %s", path, v->verdict.reason);
    for (uint32_t i = 0; i < v->verdict.hazards.len; i++)
        CHECK_MSG(false, "%s:%u: %s %s", path, v->verdict.hazards.at[i].line,
                  v->verdict.hazards.at[i].code, v->verdict.hazards.at[i].message);
}

static bool named(const Visit *v, const char *code, uint32_t line)
{
    for (uint32_t i = 0; i < v->verdict.hazards.len; i++)
        if (strcmp(v->verdict.hazards.at[i].code, code) == 0 &&
            v->verdict.hazards.at[i].line == line)
            return true;
    return false;
}

/* Every "// <-- CODE CODE" of the text must have been found at its line. */
static uint32_t check_named(Visit *v, const char *path)
{
    Str rest = v->text, line;
    uint32_t number = 0, marks = 0;
    while (rest.len && str_next(&rest, '\n', &line)) {
        number++;
        int64_t at = str_find(line, str_from("// <-- "));
        if (at < 0)
            continue;
        const char *codes[MOST_WORDS];
        uint32_t n = split(&v->arena, str_slice(line, (size_t)at + 7, line.len), codes);
        for (uint32_t i = 0; i < n; i++, marks++)
            CHECK_MSG(named(v, codes[i], number), "%s:%u: %s is not named; %u findings, %s", path,
                      number, codes[i], v->verdict.hazards.len, v->verdict.reason);
    }
    return marks;
}

/* Runs every "run:" line of the text; before the fix only the last one is wrong. */
static void visit(const char *name, const char *when, bool fixed)
{
    Arena arena = {0};
    const char *path = str_format(&arena, "tests/museum/%s_%s.cpp", name, when);
    Diag diag = diag_make(&arena, path, str_from(""));
    Str text, line;
    REQUIRE(file_read(&arena, path, 1 << 16, &text, &diag));
    uint32_t runs = 0, total = 0;
    for (Str rest = text; rest.len && str_next(&rest, '\n', &line);)
        total += str_find(line, str_from(" * run: ")) == 0;
    for (Str rest = text; rest.len && str_next(&rest, '\n', &line);) {
        if (str_find(line, str_from(" * run: ")) != 0)
            continue;
        int64_t end = str_find(line, str_from("*/"));
        Visit v = {.text = text};
        run_visit(&v, path, str_slice(line, 8, end < 0 ? line.len : (size_t)end));
        if (fixed || ++runs < total)
            check_silent(&v, path);
        else
            CHECK_MSG(check_named(&v, path) > 0, "%s marks no line", path);
        leave(&v);
    }
    CHECK_MSG(total > 0, "%s has no run line", path);
    arena_drop(&arena);
}

static void show(const char *const *names)
{
    for (; *names; names++) {
        visit(*names, "before", false);
        visit(*names, "after", true);
    }
}
#define ROOM(title, ...)                                        \
    T_TEST(museum_##title)                                      \
    {                                                           \
        static const char *const names[] = {__VA_ARGS__, NULL}; \
        show(names);                                            \
    }

ROOM(hangs_of_a_core, "two_sets", "two_pipes", "nine_tensors")
ROOM(hangs_of_all_cores, "syncall_cube", "too_many_blocks")
ROOM(hangs_of_a_chain, "block_event", "turn_count")
ROOM(other_hangs, "wait_twice", "hoisted_wait", "never_freed")
ROOM(buffers_not_returned, "store_not_returned", "load_not_returned", "event_nine")
ROOM(waits_forgotten, "branch_barrier", "store_then_load", "empty_loop", "hidden_writer")
ROOM(race_between_cores, "halves_exchange")
ROOM(alignment_and_tails, "row_of_126", "narrow_rows", "tail_513", "slice_at_16_bytes")
ROOM(memory, "tile_too_large", "hidden_scratch", "wider_operand")
ROOM(full_size, "offsets_of_32_bits")
