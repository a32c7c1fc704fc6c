/* acraft make: the same files twice, one line of JSON for each case that was judged, and plain words
 * for a case that is not there. */
#include "cmd/cmd.h"
#include "tests/t.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_WORDS = 12 };

/* The command's status; what it prints on standard output goes to `text`. */
static int make(Arena *arena, const char *const *words, Str *text)
{
    char path[] = "/tmp/acraft-make-XXXXXX";
    char *argv[MOST_WORDS + 1] = {"make"};
    int argc = 1, file = mkstemp(path), out = dup(1), err = dup(2);
    int nowhere = open("/dev/null", O_WRONLY);
    for (; words[argc - 1] && argc < MOST_WORDS; argc++)
        argv[argc] = (char *)words[argc - 1];
    REQUIRE(file >= 0);
    fflush(stdout);
    dup2(file, 1);
    dup2(nowhere, 2);
    int status = cmd_make(argc, argv);
    fflush(stdout);
    dup2(out, 1);
    dup2(err, 2);
    Diag diag = diag_make(arena, path, (Str){0});
    REQUIRE(file_read(arena, path, 1 << 20, text, &diag));
    unlink(path);
    close(file), close(out), close(err), close(nowhere);
    return status;
}

static void check_same_trees(Arena *arena, const char *a, const char *b, uint32_t *files)
{
    Diag diag = diag_make(arena, a, (Str){0});
    NameList left, right;
    REQUIRE(file_list(arena, a, &left, &diag) && file_list(arena, b, &right, &diag));
    CHECK_EQ_INT(left.len, right.len);
    for (uint32_t i = 0; i < left.len && i < right.len; i++) {
        const char *from = path_join(arena, a, left.at[i]), *to = path_join(arena, b, right.at[i]);
        Str x, y;
        CHECK_EQ_STR(left.at[i], right.at[i]);
        if (file_is_dir(from)) {
            check_same_trees(arena, from, to, files);
            continue;
        }
        REQUIRE(file_read(arena, from, 0, &x, &diag) && file_read(arena, to, 0, &y, &diag));
        CHECK_MSG(str_equal(x, y), "%s differs", left.at[i]);
        ++*files;
    }
}

T_TEST(make_writes_the_same_files_twice)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", (Str){0});
    const char *dir, *made[2];
    uint32_t files = 0;
    Str said[2];
    REQUIRE(file_temp_dir(&arena, "acraft-make-test", &dir, &diag));
    for (int i = 0; i < 2; i++) {
        made[i] = path_join(&arena, dir, i ? "two" : "one");
        const char *words[] = {"tests/newcomer/operators/middle_rms.py",
                               "-o",
                               made[i],
                               "--fuzz",
                               "2",
                               "--trust",
                               "--seed",
                               "7",
                               NULL};
        CHECK_EQ_INT(make(&arena, words, &said[i]), CMD_OK);
    }
    check_same_trees(&arena, made[0], made[1], &files);
    CHECK_MSG(files > 10, "%u files", files);
    file_remove_tree(dir, &diag);
    arena_drop(&arena);
}

T_TEST(make_takes_one_listed_case)
{
    Arena arena = {0};
    Str text;
    const char *file = "tasks/npukernelbench/level1/Math/Sqrt.py";
    const char *words[] = {file,     "--listed", "tiny",    "--case", "3",
                           "--json", "--strict", "--trust", NULL};
    CHECK_EQ_INT(make(&arena, words, &text), CMD_OK);
    CHECK_MSG(str_find(text, STR("\"case\": \"listed2\", \"status\": \"ok\"")) >= 0, "%.*s",
              STR_ARG(text));
    CHECK_EQ_INT(str_find(text, STR("\n")), (ptrdiff_t)text.len - 1);
    words[4] = "300000";
    CHECK_EQ_INT(make(&arena, words, &text), CMD_USAGE);
    arena_drop(&arena);
}
