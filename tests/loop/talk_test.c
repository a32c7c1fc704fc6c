/* Twenty conversations with known answers, through the whole bench: some answers are right at once,
 * some after a repair or two, some never. Everything but clocks is the same every time.
 *
 *     tests/loop/talk/NAME.talk    "task: PATH", then answers, each after a line "=== answer"
 *     tests/loop/talk/turns.txt    the verdict of every turn; T_BLESS=1 writes it
 */
#include "loop/bench.h"

#include "base/file.h"
#include "tests/t.h"
#include <stdlib.h>
#include <string.h>

static const char *const folder = "tests/loop/talk";

typedef struct Talk {
    const char *task; /* name of the model file */
    VEC(Str) answers;
} Talk;

typedef struct Script {
    VEC(Talk) talks;
    BenchTasks tasks;
} Script;

/* ---- the script as a generator ---- */

static void read_talk(Arena *arena, const char *path, Script *script)
{
    Diag diag = diag_make(arena, path, STR(""));
    Str text;
    REQUIRE(file_read(arena, path, 0, &text, &diag));
    static const char mark[] = "=== answer\n";
    Talk talk = {0};
    ptrdiff_t at = str_find(text, str_from(mark));
    Str head = str_trim(str_slice(text, 0, (size_t)at));
    const char *task = str_dup(arena, str_trim(str_slice(head, 5, head.len)));
    talk.task = str_dup(arena, path_stem(task));
    while (at >= 0) {
        text = str_slice(text, (size_t)at + sizeof mark - 1, text.len);
        at = str_find(text, str_from(mark));
        vec_push(arena, &talk.answers, at < 0 ? text : str_slice(text, 0, (size_t)at));
    }
    BenchTask row = {.name = talk.task, .category = "talk", .level = "", .path = task};
    vec_push(arena, &script->tasks, row);
    vec_push(arena, &script->talks, talk);
}

static void read_script(Arena *arena, Script *script)
{
    Diag diag = diag_make(arena, folder, STR(""));
    NameList names = {0};
    REQUIRE(file_list(arena, folder, &names, &diag));
    for (uint32_t i = 0; i < names.len; i++)
        if (str_ends(str_from(names.at[i]), ".talk"))
            read_talk(arena, path_join(arena, folder, names.at[i]), script);
}

static bool answer(void *self, Arena *arena, const ChatAsk *asks, uint32_t count,
                   ChatReply *replies, Diag *diag)
{
    const Script *s = self;
    (void)diag;
    for (uint32_t i = 0; i < count; i++) {
        replies[i] = (ChatReply){.usage = {100, 10, -1}, .model = "scripted", .error = ""};
        for (uint32_t k = 0; k < s->talks.len; k++)
            if (!strcmp(s->talks.at[k].task, asks[i].task) &&
                asks[i].turn < s->talks.at[k].answers.len)
                vec_push(arena, &replies[i].choices,
                         ((ChatChoice){.text = s->talks.at[k].answers.at[asks[i].turn]}));
        if (!replies[i].choices.len)
            replies[i].error = "the script is at its end";
    }
    return true;
}

/* ---- runs ---- */

static void add_attempt(const StoreAttempt *a, Buf *out)
{
    buf_printf(out, "%s %u: %s%s%s, source %.12s\n", a->task_name, a->turn,
               verdict_status_row(a->status)->text, a->reason[0] ? ": " : "", a->reason, a->source);
}

static void run_talks(Arena *arena, const char *dir, const char *name, Buf *out)
{
    Script script = {0};
    Diag diag = diag_make(arena, folder, STR(""));
    read_script(arena, &script);
    Generator generator = {.name = "scripted", .self = &script, .ask = answer};
    BenchModel model = {
        .generator = &generator, .strategy = PROMPT_CRAFT, .home = ".", .turns = 3, .settings = ""};
    BenchSuite suite = {.name = "talk", .wording = "reworded", .tasks = script.tasks};
    BenchSpec spec = {.suite = &suite,
                      .generator = "scripted",
                      .answers_path = "",
                      .model = &model,
                      .samples = 1,
                      .label = "",
                      .version = "test"};
    spec.judge = (JudgeSpec){.chip = npu_chip_find(STR("910B2")),
                             .seed = 5,
                             .tiny = true,
                             .trust = true,
                             .baseline_name = ""};
    CHECK_EQ_INT(script.talks.len, 20);
    Store *store = store_open(path_join(arena, dir, name), STORE_MAKE, &diag);
    REQUIRE(store);
    BenchDone done;
    CHECK_MSG(bench_run(store, &spec, &done, &diag), "%s",
              diag.items.len ? diag.items.at[0].text : "?");
    StoreFilter all = {.run = done.run};
    StoreRows *rows = store_attempts(store, &all, &diag);
    StoreAttempt a;
    while (rows && store_next(rows, arena, &a))
        add_attempt(&a, out);
    store_done(rows);
    store_close(store);
}

static void check_golden(Arena *arena, Str got)
{
    const char *path = path_join(arena, folder, "turns.txt");
    Diag diag = diag_make(arena, path, STR(""));
    Str want = {"", 0};
    if (getenv("T_BLESS"))
        CHECK(file_write(path, got, &diag));
    else if (CHECK(file_read(arena, path, 0, &want, &diag)))
        CHECK_EQ_SLICE(got, want.at);
}

T_TEST(talks_go_as_written)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    const char *dir;
    Buf turns = {0};
    REQUIRE(file_temp_dir(&arena, "acraft-talk", &dir, &diag));
    run_talks(&arena, dir, "one.db", &turns);
    check_golden(&arena, buf_view(&turns));
    buf_free(&turns);
    file_remove_tree(dir, &diag);
    arena_drop(&arena);
}
