/* Diagnostics as text and JSON, files and directories, child processes. */
#include "base/file.h"
#include "base/proc.h"
#include "base/temp.h"
#include "tests/t.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- diagnostics ----------------------------------------------------------------------- */

static const char *printed(const Diag *diag, Arena *arena)
{
    Buf out = {0};
    diag_print(diag, &out);
    const char *text = buf_take(&out, arena);
    buf_free(&out);
    return text;
}

T_TEST(diag_prints_in_order_with_carets)
{
    Arena arena = {0};
    Str source = STR("def f():\n\tload(a[:8192], x)\r\n    \xC3\xA4 = y z\n");
    Diag diag = diag_make(&arena, "k.craft", source);
    diag_warn(&diag, "W002", (Span){3, 10, 1}, "third");
    diag_error(&diag, "E031", (Span){2, 7, 8}, "'%s' holds %d elements", "a", 4096);
    diag_hint(&diag, "shorten the view");
    diag_note(&diag, NULL, (Span){1, 5, 1}, "in this function");
    diag_error(&diag, "E001", (Span){0, 0, 0}, "no place");
    diag_error(&diag, "E002", (Span){99, 1, 1}, "past the end");
    CHECK_EQ_STR(printed(&diag, &arena), "k.craft: error: no place [E001]\n"
                                         "k.craft:2:7: error: 'a' holds 4096 elements [E031]\n"
                                         "    2 | \tload(a[:8192], x)\n"
                                         "      | \t     ^~~~~~~~\n"
                                         "hint: shorten the view\n"
                                         "k.craft:1:5: note: in this function\n"
                                         "    1 | def f():\n"
                                         "      |     ^\n"
                                         "k.craft:3:10: warning: third [W002]\n"
                                         "    3 |     \xC3\xA4 = y z\n"
                                         "      |         ^\n"
                                         "k.craft:99:1: error: past the end [E002]\n");
    CHECK_EQ_INT(diag.errors, 3);
    CHECK_EQ_INT(diag.warnings, 1);
    CHECK(!diag_ok(&diag));
    arena_drop(&arena);
}

T_TEST(diag_cuts_long_lines_and_control_bytes)
{
    Arena arena = {0};
    char *line = arena_alloc(&arena, 5001);
    memset(line, 'x', 5000);
    line[2500] = '\x1b';
    Diag diag = diag_make(&arena, "k", (Str){line, 5000});
    diag_error(&diag, "E1", (Span){1, 2501, 3}, "here");
    diag_error(&diag, "E2", (Span){1, 4000000000u, 4000000000u}, "far out");
    const char *text = printed(&diag, &arena);
    CHECK(strlen(text) < 1500);
    CHECK(!strchr(text, '\x1b'));
    CHECK(strstr(text, "..."));
    Str out = str_from(text), first = {0}, source = {0}, caret = {0};
    CHECK(str_next(&out, '\n', &first) && str_next(&out, '\n', &source));
    CHECK(str_next(&out, '\n', &caret));
    CHECK_EQ_INT(str_find(caret, STR("^")), str_find(source, STR("?")));
    arena_drop(&arena);
}

T_TEST(diag_stops_collecting_but_counts)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "k", STR(""));
    diag.max_items = 2;
    for (int i = 0; i < 5; i++) {
        diag_error(&diag, "E1", (Span){0, 0, 0}, "n %d", i);
        diag_hint(&diag, "hint %d", i);
    }
    CHECK_EQ_INT(diag.errors, 5);
    CHECK_EQ_STR(printed(&diag, &arena), "k: error: n 0 [E1]\nhint: hint 0\n"
                                         "k: error: n 1 [E1]\nhint: hint 1\n3 more not shown\n");
    arena_drop(&arena);
}

T_TEST(diag_as_json)
{
    Arena arena = {0};
    Buf out = {0};
    Diag diag = diag_make(&arena, "k.craft", STR(""));
    diag_json(&diag, &out);
    CHECK_EQ_STR(out.at, "[]");
    buf_clear(&out);
    diag_error(&diag, "E031", (Span){2, 7, 8}, "say \"%s\"", "x");
    diag_json(&diag, &out);
    CHECK_EQ_STR(out.at, "[{\"level\": \"error\", \"code\": \"E031\", \"file\": \"k.craft\", "
                         "\"line\": 2, \"col\": 7, \"text\": \"say \\\"x\\\"\", \"hint\": null}]");
    buf_free(&out);
    arena_drop(&arena);
}

T_TEST(diag_keeps_the_source_of_each_file)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "a", STR("first"));
    diag_error(&diag, "E1", (Span){1, 1, 5}, "one");
    diag.file = "b";
    diag.source = STR("second");
    diag_error(&diag, "E2", (Span){1, 1, 6}, "two");
    CHECK_EQ_STR(printed(&diag, &arena),
                 "a:1:1: error: one [E1]\n    1 | first\n      | ^~~~~\n"
                 "b:1:1: error: two [E2]\n    1 | second\n      | ^~~~~~\n");
    arena_drop(&arena);
}

/* --- files ----------------------------------------------------------------------------- */

typedef struct Scratch {
    Arena arena;
    Diag diag;
    const char *dir;
} Scratch;

static void scratch_open(Scratch *s)
{
    *s = (Scratch){0};
    s->diag = diag_make(&s->arena, NULL, STR(""));
    REQUIRE(file_temp_dir(&s->arena, "acraft-test", &s->dir, &s->diag));
}

static void scratch_close(Scratch *s)
{
    CHECK(file_remove_tree(s->dir, &s->diag));
    CHECK(!file_exists(s->dir));
    arena_drop(&s->arena);
}

T_TEST(file_writes_reads_and_leaves_nothing_else)
{
    Scratch s;
    scratch_open(&s);
    const char *path = path_join(&s.arena, s.dir, "a.txt");
    Str text;
    CHECK(file_write(path, STR("one\0two"), &s.diag));
    CHECK(file_read(&s.arena, path, 0, &text, &s.diag));
    CHECK(str_equal(text, STR("one\0two")));
    chmod(path, 0640);
    CHECK(file_write(path, STR("three"), &s.diag));
    CHECK(file_read(&s.arena, path, 5, &text, &s.diag));
    CHECK_EQ_STR(text.at, "three");
    struct stat at;
    CHECK(stat(path, &at) == 0);
    CHECK_EQ_INT(at.st_mode & 0777, 0640);
    NameList names;
    CHECK(file_list(&s.arena, s.dir, &names, &s.diag));
    CHECK_EQ_INT(names.len, 1);
    CHECK(diag_ok(&s.diag));
    CHECK(!file_read(&s.arena, path, 4, &text, &s.diag));
    CHECK_EQ_INT(s.diag.errors, 1);
    scratch_close(&s);
}

T_TEST(file_write_does_not_replace_links_and_devices)
{
    Scratch s;
    scratch_open(&s);
    const char *target = path_join(&s.arena, s.dir, "target");
    const char *link = path_join(&s.arena, s.dir, "link");
    CHECK(symlink("target", link) == 0);
    CHECK(file_write(link, STR("through"), &s.diag));
    Str text;
    CHECK(file_read(&s.arena, target, 0, &text, &s.diag));
    CHECK_EQ_STR(text.at, "through");
    CHECK(file_write("/dev/null", STR("gone"), &s.diag));
    struct stat at;
    CHECK(stat("/dev/null", &at) == 0 && S_ISCHR(at.st_mode));
    scratch_close(&s);
}

T_TEST(file_failures_name_the_path_and_the_reason)
{
    Scratch s;
    scratch_open(&s);
    Str text;
    NameList names;
    CHECK(!file_read(&s.arena, "/no/such/file", 0, &text, &s.diag));
    CHECK_EQ_STR(printed(&s.diag, &s.arena),
                 "error: cannot read '/no/such/file': No such file or directory [F001]\n");
    CHECK(!file_read(&s.arena, s.dir, 0, &text, &s.diag));
    CHECK(!file_write("/no/such/file", STR("x"), &s.diag));
    CHECK(!file_write(s.dir, STR("x"), &s.diag));
    CHECK(!file_list(&s.arena, "/no/such", &names, &s.diag));
    CHECK_EQ_INT(s.diag.errors, 5);
    scratch_close(&s);
}

T_TEST(directories_are_made_listed_and_removed)
{
    Scratch s;
    scratch_open(&s);
    const char *deep = path_join(&s.arena, s.dir, "x/y//z/");
    CHECK(file_make_dirs(deep, &s.diag));
    CHECK(file_make_dirs(deep, &s.diag));
    CHECK(file_is_dir(deep));
    CHECK(file_write(path_join(&s.arena, s.dir, "b"), STR(""), &s.diag));
    CHECK(file_write(path_join(&s.arena, s.dir, "a"), STR(""), &s.diag));
    NameList names;
    CHECK(file_list(&s.arena, s.dir, &names, &s.diag));
    REQUIRE(names.len == 3);
    CHECK_EQ_STR(names.at[0], "a");
    CHECK_EQ_STR(names.at[1], "b");
    CHECK_EQ_STR(names.at[2], "x");
    CHECK(!file_make_dirs(path_join(&s.arena, s.dir, "a/c"), &s.diag));
    CHECK(!file_make_dirs(path_join(&s.arena, s.dir, "a"), &s.diag));
    CHECK(symlink("/", path_join(&s.arena, s.dir, "root")) == 0);
    scratch_close(&s);
    CHECK(file_is_dir("/tmp"));
}

T_TEST(paths_split_and_join)
{
    Arena arena = {0};
    CHECK_EQ_STR(path_join(&arena, "a", "b"), "a/b");
    CHECK_EQ_STR(path_join(&arena, "a/", "b"), "a/b");
    CHECK_EQ_STR(path_join(&arena, "a", "/b"), "/b");
    CHECK_EQ_STR(path_join(&arena, "", "b"), "b");
    CHECK_EQ_STR(path_dir(&arena, "a/b.c"), "a");
    CHECK_EQ_STR(path_dir(&arena, "b.c"), ".");
    CHECK_EQ_STR(path_dir(&arena, "/b.c"), "/");
    CHECK_EQ_SLICE(path_base("a/b.c"), "b.c");
    CHECK_EQ_SLICE(path_stem("a.d/b.c"), "b");
    CHECK_EQ_SLICE(path_stem("a/b.tar.gz"), "b.tar");
    CHECK_EQ_SLICE(path_stem("a.d/b"), "b");
    CHECK_EQ_SLICE(path_stem(".hidden"), ".hidden");
    arena_drop(&arena);
}

T_TEST(temp_dir_of_a_killed_owner_goes_with_the_next)
{
    Scratch s;
    scratch_open(&s);
    const char *was = getenv("TMPDIR");
    setenv("TMPDIR", s.dir, 1);
    pid_t child = fork();
    if (child == 0) {
        TempDir killed;
        _exit(!temp_dir_make(&s.arena, "one", &killed, &s.diag) ||
              !file_write(path_join(&s.arena, killed.path, "f"), STR("x"), &s.diag));
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    TempDir other, first, second;
    NameList names;
    CHECK(temp_dir_make(&s.arena, "other", &other, &s.diag));
    CHECK(file_list(&s.arena, s.dir, &names, &s.diag) && names.len == 2);
    CHECK(temp_dir_make(&s.arena, "one", &first, &s.diag));
    CHECK(temp_dir_make(&s.arena, "one", &second, &s.diag));
    CHECK(file_list(&s.arena, s.dir, &names, &s.diag) && names.len == 3);
    CHECK(file_is_dir(other.path) && file_is_dir(first.path) && file_is_dir(second.path));
    CHECK(temp_dir_remove(&first, &s.diag) && temp_dir_remove(&second, &s.diag) &&
          temp_dir_remove(&other, &s.diag));
    CHECK(file_list(&s.arena, s.dir, &names, &s.diag) && names.len == 0);
    if (was)
        setenv("TMPDIR", was, 1);
    else
        unsetenv("TMPDIR");
    scratch_close(&s);
}

/* --- processes ------------------------------------------------------------------------- */

static ProcResult shell(Scratch *s, const char *script, ProcSpec spec)
{
    const char *argv[] = {"sh", "-c", script, NULL};
    spec.argv = argv;
    ProcResult result;
    REQUIRE(proc_run(&s->arena, &spec, &result, &s->diag));
    return result;
}

T_TEST(proc_brings_back_output_and_status)
{
    Scratch s;
    scratch_open(&s);
    ProcResult r = shell(&s, "echo out; echo err >&2; exit 5", (ProcSpec){0});
    CHECK(r.end == PROC_EXITED);
    CHECK_EQ_INT(r.status, 5);
    CHECK_EQ_SLICE(r.out, "out\n");
    CHECK_EQ_SLICE(r.err, "err\n");
    r = shell(&s, "kill -SEGV $$", (ProcSpec){0});
    CHECK(r.end == PROC_SIGNALED);
    CHECK_EQ_INT(r.status, 11);
    r = shell(&s, "cat", (ProcSpec){.input = STR("through")});
    CHECK_EQ_SLICE(r.out, "through");
    r = shell(&s, "cat", (ProcSpec){0});
    CHECK_EQ_SLICE(r.out, "");
    scratch_close(&s);
}

T_TEST(proc_sets_directory_and_environment)
{
    Scratch s;
    scratch_open(&s);
    setenv("T_OLD", "before", 1);
    setenv("T_KEPT", "kept", 1);
    const char *env[] = {"T_OLD=after", "T_NEW=new", NULL};
    ProcResult r = shell(&s, "pwd; echo $T_OLD $T_KEPT $T_NEW",
                         (ProcSpec){.dir = s.dir, .env = env});
    CHECK_EQ_SLICE(r.out, str_format(&s.arena, "%s\nafter kept new\n", s.dir));
    scratch_close(&s);
}

T_TEST(proc_time_limit_kills_the_whole_group)
{
    Scratch s;
    scratch_open(&s);
    ProcResult r = shell(&s, "echo begun; (trap '' TERM; sleep 30; echo late) & sleep 30",
                         (ProcSpec){.seconds = 0.3});
    CHECK(r.end == PROC_TIMEOUT);
    CHECK_EQ_SLICE(r.out, "begun\n");
    CHECK_MSG(r.seconds >= 0.3 && r.seconds < 5, "took %g s", r.seconds);
    scratch_close(&s);
}

T_TEST(proc_does_not_wait_for_what_the_child_left_behind)
{
    Scratch s;
    scratch_open(&s);
    ProcResult r = shell(&s, "sleep 30 & echo done", (ProcSpec){.seconds = 20});
    CHECK(r.end == PROC_EXITED);
    CHECK_EQ_SLICE(r.out, "done\n");
    CHECK_MSG(r.seconds < 5, "took %g s", r.seconds);
    r = shell(&s, "exec >&- 2>&-; sleep 0.1; exit 4", (ProcSpec){.seconds = 20});
    CHECK_EQ_INT(r.status, 4);
    scratch_close(&s);
}

T_TEST(proc_cuts_output_but_drains_it)
{
    Scratch s;
    scratch_open(&s);
    ProcResult r = shell(&s, "head -c 3000000 /dev/zero; echo end >&2",
                         (ProcSpec){.output_limit = 1000, .seconds = 30});
    CHECK(r.end == PROC_EXITED);
    CHECK_EQ_INT(r.status, 0);
    CHECK_EQ_INT(r.out.len, 1000);
    CHECK(r.cut);
    CHECK_EQ_SLICE(r.err, "end\n");
    scratch_close(&s);
}

T_TEST(proc_big_input_and_output_do_not_deadlock)
{
    Scratch s;
    scratch_open(&s);
    size_t size = 5000000;
    char *text = arena_alloc(&s.arena, size);
    memset(text, 'x', size);
    ProcResult r = shell(&s, "tee /dev/stderr", (ProcSpec){.input = {text, size}, .seconds = 40});
    CHECK(r.end == PROC_EXITED);
    CHECK_EQ_INT(r.out.len, size);
    CHECK_EQ_INT(r.err.len, size);
    CHECK(!r.cut);
    r = shell(&s, "exit 0", (ProcSpec){.input = {text, size}, .seconds = 40});
    CHECK(r.end == PROC_EXITED);
    r = shell(&s, "exec 0<&-; sleep 0.2; echo alive", (ProcSpec){.input = {text, size}});
    CHECK_EQ_SLICE(r.out, "alive\n");
    scratch_close(&s);
}

T_TEST(proc_says_what_cannot_be_started)
{
    Scratch s;
    scratch_open(&s);
    ProcResult r;
    ProcSpec spec = {.argv = (const char *[]){"no-such-program-here", NULL}};
    CHECK(!proc_run(&s.arena, &spec, &r, &s.diag));
    CHECK(r.end == PROC_NOT_STARTED);
    CHECK_EQ_STR(s.diag.items.at[0].text,
                 "cannot run 'no-such-program-here': No such file or directory");
    spec = (ProcSpec){.argv = (const char *[]){"sh", NULL}, .dir = "/no/such/dir"};
    CHECK(!proc_run(&s.arena, &spec, &r, &s.diag));
    CHECK_EQ_INT(s.diag.errors, 2);
    CHECK(proc_find(&s.arena, "sh") != NULL);
    CHECK(proc_find(&s.arena, "") == NULL);
    CHECK(proc_find(&s.arena, s.dir) == NULL);
    scratch_close(&s);
}

/* ---- the harness itself ---- */

/* Runs by itself only where the next test asks for it. */
T_TEST(harness_sleeper)
{
    if (getenv("HARNESS_SLEEPS"))
        usleep(1500000);
}

T_TEST(harness_spinner)
{
    volatile uint64_t turns = 0;
    while (getenv("HARNESS_SPINS"))
        turns++;
}

T_TEST(harness_limits_processor_time)
{
    Scratch s;
    scratch_open(&s);
    ProcResult r = shell(
        &s,
        str_format(&s.arena, "HARNESS_SLEEPS=1 T_SECONDS=1 T_FILTER=harness_sleeper /proc/%d/exe",
                   (int)getpid()),
        (ProcSpec){.seconds = 60});
    CHECK_EQ_SLICE(r.out, "1 passed, 0 failed\n");
    r = shell(&s,
              str_format(&s.arena,
                         "HARNESS_SPINS=1 T_SECONDS=1 T_FILTER=harness_spinner /proc/%d/exe",
                         (int)getpid()),
              (ProcSpec){.seconds = 60});
    CHECK(str_find(r.out, STR("not done after 1 s of processor time")) > 0);
    CHECK(str_ends(r.out, "0 passed, 1 failed\n"));
    scratch_close(&s);
}
