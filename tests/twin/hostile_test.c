/* The hostile set: every kernel under tests/twin/hostile says in its head which verdict it must
 * get ("// want: STATUS|STATUS words of the reason"), and where the check of its imports already
 * stops it, which one the walls alone must give ("// open: ..."). */
#include "tests/t.h"

#include "base/file.h"
#include "tests/twin/twin_helper.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

/* Seconds. Patience for those that should end by themselves, the machine may be busy; those that never
 * end get little. */
typedef struct Limits {
    double compile, run, endless_compile, endless_run;
} Limits;
static const Limits usual = {40, 20, 4, 1};

/* No child is left. Without a process namespace the killed ones come to whoever adopts orphans, and
 * take a moment to be gone. */
static bool childless(void)
{
    for (int i = 0; i < 200; i++) {
        pid_t got = waitpid(-1, NULL, WNOHANG);
        if (got < 0)
            return true;
        if (got == 0)
            usleep(5000);
    }
    return false;
}

static void attack(const char *name, Str text, Str want, bool any_import, const Limits *limits)
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
    bool slow = str_find(want, STR("timeout")) >= 0;
    TwinLaunch launch = {
        .tensors = tensors, .tensor_count = 2, .args = args, .arg_count = 2, .blocks = 1};
    Trial t = {.text = text.at,
               .kernel = "attack",
               .launch = &launch,
               .options = {.compile_seconds = slow ? limits->endless_compile : limits->compile,
                           .run_seconds = slow ? limits->endless_run : limits->run,
                           .memory = 400 << 20,
                           .any_import = any_import}};
    trial_run(&t);
    check_verdict(name, want, &t);
    CHECK_MSG(y[0] == 0 && y[63] == 0, "%s forged a value", name);
    CHECK_MSG(childless(), "%s left a process behind", name);
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
            attack(names.at[i], text, want, any_import, &usual);
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

/* --- again and again --------------------------------------------------------------------------- */

/* What this process and everything it started holds. Being the reaper of its grandchildren, a process
 * that lost its parent counts as its own. */
typedef struct Holdings {
    int descriptors, children, mounts, cached, left_over;
    char left[256]; /* the last file of those left over */
} Holdings;

static int count_lines(const char *path)
{
    FILE *file = fopen(path, "r");
    int lines = 0;
    for (int c; file && (c = getc(file)) != EOF;)
        lines += c == '\n';
    if (file)
        fclose(file);
    return lines;
}

static int count_children(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "r");
    int children = 0;
    for (int pid; file && fscanf(file, "%d", &pid) == 1;)
        children++;
    if (file)
        fclose(file);
    return children;
}

/* Entries of a folder and those below it; only those that hold `word`, where one is given. The last one's
 * path goes to `name`. */
static int count_files(const char *folder, const char *word, int depth, char name[256])
{
    DIR *dir = depth < 8 ? opendir(folder) : NULL;
    int count = 0;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (!word || strstr(e->d_name, word)) {
            count++;
            snprintf(name, 256, "%.255s", path);
        }
        if (!word && e->d_type == DT_DIR)
            count += count_files(path, word, depth + 1, name);
    }
    if (dir)
        closedir(dir);
    return count;
}

static Holdings holdings(const char *private_folder)
{
    char cache[512], temporary[512];
    snprintf(cache, sizeof cache, "%s/cache", private_folder);
    snprintf(temporary, sizeof temporary, "%s/tmp", private_folder);
    Holdings h = {.descriptors = open_descriptors(),
                  .children = count_children(),
                  .mounts = count_lines("/proc/self/mountinfo")};
    h.cached = count_files(cache, NULL, 0, h.left);
    h.left[0] = 0;
    h.left_over = count_files(temporary, NULL, 0, h.left) +
                  count_files("/tmp", "acraft-was-here", 0, h.left) +
                  count_files("/dev/shm", "acraft", 0, h.left);
    return h;
}

/* One run of every kernel of the set, by the walls alone where it says what they give; with `fast` only
 * of those that neither wait nor bomb. */
static uint32_t attack_round(Arena *a, const NameList *names, uint32_t most, bool fast, bool walls)
{
    static const Limits soak = {20, 10, 1.5, 0.3}, patient = {40, 20, 4, 1};
    static const char *const quick[] = {"null_pointer.cpp", "forge_garbage.cpp",
                                        "kill_everyone.cpp", "wait_for_ever.cpp",
                                        "stack_overflow.cpp"};
    Diag diag = diag_make(a, FOLDER, (Str){0});
    uint32_t runs = 0;
    for (uint32_t i = 0; i < (fast ? 5 : names->len) && runs < most; i++, runs++) {
        Str text, want;
        const char *name = fast ? quick[i] : names->at[i];
        REQUIRE(file_read(a, path_join(a, FOLDER, name), 0, &text, &diag));
        bool open = walls && find_mark(text, "// open: ", &want);
        REQUIRE(open || find_mark(text, "// want: ", &want));
        attack(name, text, want, open, fast ? &patient : &soak);
    }
    return runs;
}

/* Nothing may pile up. SOAK_RUNS=1000 makes that many runs over the whole set, in rounds, and prints what
 * is held after each; SOAK_DONE=FILE keeps count there (and the cache beside it) and goes on from it;
 * SOAK_SECONDS ends a share. */
T_TEST(hostile_kernels_leave_nothing_behind)
{
    const char *wanted = getenv("SOAK_RUNS"), *done_file = getenv("SOAK_DONE"),
               *seconds = getenv("SOAK_SECONDS");
    uint32_t total = wanted ? (uint32_t)atoi(wanted) : 20, done = 0;
    time_t end = time(NULL) + (seconds ? atoi(seconds) : 1 << 20);
    char folder[256] = "/tmp/acraft-soak-XXXXXX", path[300];
    bool keeps = done_file && snprintf(folder, sizeof folder, "%.200s.d", done_file) > 0;
    REQUIRE(keeps ? mkdir(folder, 0700) == 0 || errno == EEXIST : mkdtemp(folder) != NULL);
    REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    snprintf(path, sizeof path, "%s/tmp", folder);
    REQUIRE((mkdir(path, 0700) == 0 || errno == EEXIST) && setenv("TMPDIR", path, 1) == 0);
    snprintf(path, sizeof path, "%s/cache", folder);
    REQUIRE((mkdir(path, 0700) == 0 || errno == EEXIST) && setenv("XDG_CACHE_HOME", path, 1) == 0);
    Arena a = {0};
    Diag diag = diag_make(&a, FOLDER, (Str){0});
    NameList names = {0};
    REQUIRE(file_list(&a, FOLDER, &names, &diag));
    Str before = {0};
    if (done_file && file_exists(done_file) && file_read(&a, done_file, 64, &before, &diag))
        done = (uint32_t)atoi(str_dup(&a, before));
    Holdings first = {0};
    for (uint32_t round = 0; done < total && time(NULL) < end; round++) {
        done += attack_round(&a, &names, total - done, !wanted, round % 2 == 0);
        Holdings now = holdings(folder);
        first = round == 0 ? now : first;
        CHECK_EQ_INT(now.descriptors, first.descriptors);
        CHECK_EQ_INT(now.children, 0);
        CHECK_EQ_INT(now.mounts, first.mounts);
        CHECK(now.cached <= 6 * (int)names.len); /* what was compiled, once each */
        CHECK_MSG(now.left_over == 0, "left behind: %s", now.left);
        if (wanted)
            printf(
                "%u runs: %d descriptors, %d children, %d mounts, %d files in the cache, %d left\n",
                done, now.descriptors, now.children, now.mounts, now.cached, now.left_over);
        if (done_file)
            CHECK(file_write(done_file, str_from(str_format(&a, "%u", done)), &diag));
        fflush(stdout);
    }
    arena_drop(&a);
    const char *const remove[] = {"rm", "-rf", keeps && done < total ? "/nonexistent" : folder,
                                  NULL};
    pid_t pid = fork();
    if (pid == 0) {
        execvp("rm", (char *const *)remove);
        _exit(127);
    }
    CHECK(waitpid(pid, NULL, 0) == pid);
}
