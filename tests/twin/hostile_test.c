/* The hostile set: every kernel under tests/twin/hostile says in its head which verdict it must
 * get ("// want: STATUS|STATUS words of the reason"), and where the check of its imports already
 * stops it, which one the walls alone must give ("// open: ..."). */
#include "tests/t.h"

#include "base/file.h"
#include "tests/twin/twin_helper.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define FOLDER "tests/twin/hostile"

/* The rest of the line behind a mark in the text's head. */
static bool find_mark(Str text, const char *mark, Str *rest)
{
    ptrdiff_t at = str_find(str_slice(text, 0, 500), str_from(mark));
    if (at < 0)
        return false;
    Str tail = str_slice(text, (size_t)at + strlen(mark), text.len);
    return str_next(&tail, '\n', rest);
}

static bool status_matches(Str words, const char *status)
{
    Str word;
    while (str_next(&words, '|', &word))
        if (str_is(word, status))
            return true;
    return false;
}

static void check_verdict(const char *name, Str want, const Trial *t)
{
    Str statuses = {0}, rest = str_trim(want);
    str_next(&rest, ' ', &statuses);
    const char *status = verdict_status_row(t->verdict.status)->text;
    bool ok = status_matches(statuses, status) && str_find(str_from(t->verdict.reason), rest) >= 0;
    CHECK_MSG(ok, "%s: want '%.*s', got %s: %s\n%s", name, STR_ARG(want), status, t->verdict.reason,
              t->messages.at ? t->messages.at : "");
    if (getenv("HOSTILE_TABLE"))
        printf("%-20s %-14s %s\n", name, status, t->verdict.reason);
}

static void attack(const char *name, Str text, Str want, bool any_import)
{
    static float x[64], y[64];
    memset(y, 0, sizeof y);
    TwinTensor tensors[] = {
        {.name = "x",
         .dtype = DT_F32,
         .rank = 1,
         .shape = {64},
         .role = SIM_IN,
         .data = x,
         .bytes = sizeof x},
        {.name = "y",
         .dtype = DT_F32,
         .rank = 1,
         .shape = {64},
         .role = SIM_OUT,
         .data = y,
         .bytes = sizeof y},
    };
    TwinArg args[] = {{.kind = TWIN_ARG_TENSOR, .index = 0}, {.kind = TWIN_ARG_TENSOR, .index = 1}};
    /* Patience only for those that should end by themselves: the machine may be busy. */
    bool slow = str_find(want, STR("timeout")) >= 0;
    TwinLaunch launch = {
        .tensors = tensors, .tensor_count = 2, .args = args, .arg_count = 2, .blocks = 1};
    Trial t = {.text = text.at,
               .kernel = "attack",
               .launch = &launch,
               .options = {.compile_seconds = slow ? 4 : 40,
                           .run_seconds = slow ? 1 : 20,
                           .memory = 400 << 20,
                           .any_import = any_import}};
    trial_run(&t);
    check_verdict(name, want, &t);
    CHECK_MSG(y[0] == 0 && y[63] == 0, "%s forged a value", name);
    CHECK_MSG(waitpid(-1, NULL, WNOHANG) < 0, "%s left a process behind", name);
    trial_drop(&t);
}

static int open_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int count = 0;
    while (dir && readdir(dir))
        count++;
    if (dir)
        closedir(dir);
    return count;
}

static void attack_all(const char *mark, bool any_import, char first, char last)
{
    Arena a = {0};
    Diag diag = diag_make(&a, FOLDER, (Str){0});
    NameList names = {0};
    REQUIRE(file_list(&a, FOLDER, &names, &diag));
    CHECK(names.len >= 25);
    int before = open_descriptors();
    for (uint32_t i = 0; i < names.len; i++) {
        Str text, want;
        if (names.at[i][0] < first || names.at[i][0] > last)
            continue;
        REQUIRE(file_read(&a, path_join(&a, FOLDER, names.at[i]), 0, &text, &diag));
        bool marked = find_mark(text, mark, &want);
        CHECK_MSG(marked || any_import, "%s has no '%s'", names.at[i], mark);
        if (marked)
            attack(names.at[i], text, want, any_import);
    }
    CHECK_EQ_INT(open_descriptors(), before);
    CHECK(!file_exists("/tmp/acraft-was-here"));
    arena_drop(&a);
}

T_TEST(hostile_kernels_a_to_e) { attack_all("// want: ", false, 'a', 'e'); }
T_TEST(hostile_kernels_f_to_l) { attack_all("// want: ", false, 'f', 'l'); }
T_TEST(hostile_kernels_m_to_s) { attack_all("// want: ", false, 'm', 's'); }
T_TEST(hostile_kernels_t_to_z) { attack_all("// want: ", false, 't', 'z'); }
T_TEST(hostile_kernels_by_the_walls_alone_a_to_k) { attack_all("// open: ", true, 'a', 'k'); }
T_TEST(hostile_kernels_by_the_walls_alone_l_to_z) { attack_all("// open: ", true, 'l', 'z'); }

/* Again and again, the fast ones: nothing may pile up. ROUNDS=1000 for the long form. */
T_TEST(hostile_kernels_leave_nothing_behind)
{
    static const char *const names[] = {"null_pointer.cpp", "forge_garbage.cpp",
                                        "kill_everyone.cpp", "wait_for_ever.cpp",
                                        "stack_overflow.cpp"};
    const char *rounds = getenv("ROUNDS");
    Arena a = {0};
    Diag diag = diag_make(&a, FOLDER, (Str){0});
    int before = 0;
    for (int i = 0; i < (rounds ? atoi(rounds) : 50); i++) {
        Str text, want;
        const char *name = names[i % 5];
        REQUIRE(file_read(&a, path_join(&a, FOLDER, name), 0, &text, &diag));
        bool open = find_mark(text, "// open: ", &want);
        REQUIRE(open || find_mark(text, "// want: ", &want));
        attack(name, text, want, open);
        before = i == 4 ? open_descriptors() : before;
    }
    CHECK_EQ_INT(open_descriptors(), before);
    arena_drop(&a);
}
