/* The files of a run, when a run ends badly: what a state counts is there afterwards, and nothing else. */
#include "rows/rows_int.h"

#include "base/file.h"
#include "base/temp.h"
#include "tests/t.h"
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const int64_t none[ROWS_FILES];

static bool save(Arena *arena, const RowsFiles *files, const char *text, Diag *diag)
{
    Buf state = {0};
    buf_puts(&state, text);
    bool ok = rows_files_save(arena, files, &state, diag);
    buf_free(&state);
    return ok;
}

static Str read_text(Arena *arena, const char *dir, const char *name)
{
    Diag diag = diag_make(arena, name, STR(""));
    Str text = {0};
    CHECK(file_read(arena, path_join(arena, dir, name), 0, &text, &diag));
    return text;
}

/* A run of one line, and a second one that no state counts. */
static void begin_run(Arena *arena, const char *dir, Diag *diag)
{
    RowsFiles files = {.dir = dir};
    Str state;
    REQUIRE(rows_files_hold(arena, &files, &state, diag));
    CHECK_EQ_INT(state.len, 0);
    REQUIRE(rows_files_open(arena, &files, none, diag));
    fputs("one\n", files.file[FILE_ROWS]);
    CHECK(save(arena, &files, "first\n", diag));
    fputs("two\n", files.file[FILE_ROWS]);
    rows_files_release(&files);
}

T_TEST(lines_that_no_state_counts_are_cut_off)
{
    Arena arena = {0};
    TempDir dir;
    Diag diag = diag_make(&arena, "", STR(""));
    REQUIRE(temp_dir_make(&arena, "rows", &dir, &diag));
    begin_run(&arena, dir.path, &diag);
    CHECK(str_is(read_text(&arena, dir.path, "rows.jsonl"), "one\ntwo\n"));
    RowsFiles files = {.dir = dir.path};
    Str state;
    int64_t good[ROWS_FILES] = {[FILE_ROWS] = 4};
    REQUIRE(rows_files_hold(&arena, &files, &state, &diag));
    CHECK(str_is(state, "first\n"));
    CHECK(rows_files_open(&arena, &files, good, &diag));
    rows_files_release(&files);
    CHECK(str_is(read_text(&arena, dir.path, "rows.jsonl"), "one\n"));
    good[FILE_ROWS] = 5; /* a byte more than there is */
    REQUIRE(rows_files_hold(&arena, &files, &state, &diag));
    CHECK(!rows_files_open(&arena, &files, good, &diag));
    rows_files_release(&files);
    temp_dir_remove(&dir, &diag);
    arena_drop(&arena);
}

T_TEST(a_state_that_was_changed_is_refused)
{
    Arena arena = {0};
    TempDir dir;
    Diag diag = diag_make(&arena, "", STR(""));
    REQUIRE(temp_dir_make(&arena, "rows", &dir, &diag));
    begin_run(&arena, dir.path, &diag);
    const char *path = path_join(&arena, dir.path, "state");
    Str text = read_text(&arena, dir.path, "state"), state;
    RowsFiles files = {.dir = dir.path};
    for (size_t i = 0; i <= text.len;
         i++) { /* a byte changed; at the end: the last one is missing */
        char *changed = arena_array(&arena, char, text.len);
        memcpy(changed, text.at, text.len);
        if (i < text.len)
            changed[i] ^= 1;
        REQUIRE(file_write(path, (Str){changed, i < text.len ? text.len : text.len - 1}, &diag));
        CHECK_MSG(!rows_files_hold(&arena, &files, &state, &diag), "byte %zu", i);
        rows_files_release(&files);
    }
    REQUIRE(file_write(path, text, &diag));
    CHECK(rows_files_hold(&arena, &files, &state, &diag));
    rows_files_release(&files);
    temp_dir_remove(&dir, &diag);
    arena_drop(&arena);
}

/* A limit on the size of files stands for the end of a disk. */
T_TEST(a_write_that_fails_leaves_the_state_before)
{
    Arena arena = {0};
    TempDir dir;
    Diag diag = diag_make(&arena, "", STR(""));
    REQUIRE(temp_dir_make(&arena, "rows", &dir, &diag));
    begin_run(&arena, dir.path, &diag);
    Str before = read_text(&arena, dir.path, "state"), state;
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit limit = {8192, 8192};
        const int64_t good[ROWS_FILES] = {[FILE_ROWS] = 4};
        RowsFiles files = {.dir = dir.path};
        Diag own = diag_make(&arena, "", STR(""));
        signal(SIGXFSZ, SIG_IGN);
        bool ok = setrlimit(RLIMIT_FSIZE, &limit) == 0 &&
                  rows_files_hold(&arena, &files, &state, &own) &&
                  rows_files_open(&arena, &files, good, &own);
        for (int i = 0; ok && i < 4000; i++)
            fputs("more\n", files.file[FILE_ROWS]);
        _exit(!ok ? 2 : save(&arena, &files, "second\n", &own));
    }
    int status = -1;
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_EQ_INT(status, 0); /* the save failed */
    CHECK(str_equal(read_text(&arena, dir.path, "state"), before));
    temp_dir_remove(&dir, &diag);
    arena_drop(&arena);
}

T_TEST(a_directory_has_one_run_at_a_time)
{
    Arena arena = {0};
    TempDir dir;
    Diag diag = diag_make(&arena, "", STR(""));
    REQUIRE(temp_dir_make(&arena, "rows", &dir, &diag));
    RowsFiles files = {.dir = dir.path};
    Str state;
    for (int released = 0; released < 2; released++) {
        if (!released)
            REQUIRE(rows_files_hold(&arena, &files, &state, &diag));
        else
            rows_files_release(&files);
        pid_t child = fork();
        if (child == 0) {
            RowsFiles other = {.dir = dir.path};
            Diag own = diag_make(&arena, "", STR(""));
            _exit(rows_files_hold(&arena, &other, &state, &own));
        }
        int status = -1;
        REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
        CHECK_EQ_INT(WEXITSTATUS(status), released);
    }
    temp_dir_remove(&dir, &diag);
    arena_drop(&arena);
}

T_TEST(files_of_somebody_else_are_not_overwritten)
{
    static const char *const names[] = {"rows.jsonl", "labels.jsonl", "card.md", "tokenizer.json"};
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    for (int i = 0; i < 4; i++) {
        TempDir dir;
        REQUIRE(temp_dir_make(&arena, "rows", &dir, &diag));
        RowsFiles files = {.dir = dir.path};
        Str state;
        REQUIRE(file_write(path_join(&arena, dir.path, names[i]), STR("mine"), &diag));
        CHECK_MSG(!rows_files_hold(&arena, &files, &state, &diag), "%s", names[i]);
        rows_files_release(&files);
        CHECK(str_is(read_text(&arena, dir.path, names[i]), "mine"));
        temp_dir_remove(&dir, &diag);
    }
    arena_drop(&arena);
}

/* Broken off between two of the moves: the next call ends them. */
T_TEST(packed_files_are_moved_up)
{
    Arena arena = {0};
    TempDir dir;
    Diag diag = diag_make(&arena, "", STR(""));
    REQUIRE(temp_dir_make(&arena, "rows", &dir, &diag));
    RowsFiles files = {.dir = dir.path};
    const char *packed = path_join(&arena, dir.path, "packed");
    REQUIRE(file_make_dirs(packed, &diag));
    REQUIRE(file_write(path_join(&arena, dir.path, "rows.jsonl"), STR("old"), &diag));
    REQUIRE(file_write(path_join(&arena, dir.path, "long.jsonl"), STR("moved"), &diag));
    REQUIRE(file_write(path_join(&arena, packed, "rows.jsonl"), STR("new"), &diag));
    REQUIRE(file_write(path_join(&arena, packed, "card.md"), STR("card"), &diag));
    for (int i = 0; i < 2; i++) {
        CHECK(rows_files_move(&arena, &files, &diag));
        CHECK(str_is(read_text(&arena, dir.path, "rows.jsonl"), "new"));
        CHECK(str_is(read_text(&arena, dir.path, "long.jsonl"), "moved"));
        CHECK(str_is(read_text(&arena, dir.path, "card.md"), "card"));
        CHECK(!file_exists(packed));
    }
    temp_dir_remove(&dir, &diag);
    arena_drop(&arena);
}
