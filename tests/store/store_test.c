/* The store: what goes in comes out, whole or not at all. */
#include "store/store.h"

#include "base/file.h"
#include "base/rng.h"
#include "tests/t.h"
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Place {
    Arena arena;
    Diag diag;
    const char *dir, *path;
} Place;

static void make_place(Place *p)
{
    *p = (Place){0};
    p->diag = diag_make(&p->arena, "", STR(""));
    REQUIRE(file_temp_dir(&p->arena, "acraft-store-test", &p->dir, &p->diag));
    p->path = path_join(&p->arena, p->dir, "results.db");
}

static void drop_place(Place *p)
{
    Diag diag = diag_make(&p->arena, "", STR(""));
    CHECK(file_remove_tree(p->dir, &diag));
    arena_drop(&p->arena);
}

static const char *said(const Place *p)
{
    return p->diag.items.len ? p->diag.items.at[0].text : "nothing";
}

static Store *open_store(Place *p, StoreMode mode)
{
    Store *store = store_open(p->path, mode, &p->diag);
    CHECK_MSG(store != NULL, "%s", said(p));
    if (!store)
        t_stop();
    return store;
}

static const StoreRun asked = {
    .suite = "tasks", .generator = "plan", .settings = "{\"n\": 1}", .label = "first"};

static int64_t add_task(Place *p, Store *store, const char *name, const char *category)
{
    char hash[STORE_HASH];
    REQUIRE(store_blob_put(store, STR("class Model: pass\n"), hash, &p->diag));
    StoreTask task = {.suite = "tasks",
                      .name = name,
                      .category = category,
                      .level = "1",
                      .path = "tasks/x.py",
                      .source = hash,
                      .wording = "reworded",
                      .licence = "Apache-2.0"};
    REQUIRE(store_tasks_put(store, &task, 1, &p->diag));
    return task.id;
}

static StoreAttempt attempt_of(Place *p, Store *store, int64_t run, int64_t task, uint32_t sample)
{
    static char hash[STORE_HASH];
    Str text = str_from(str_format(&p->arena, "craft = 1 # %u\n", sample));
    REQUIRE(store_blob_put(store, text, hash, &p->diag));
    const char *blob = str_dup(&p->arena, str_from(hash));
    StoreAttempt a = {.run = run,
                      .task = task,
                      .sample = sample,
                      .form = "craft",
                      .generator = "plan",
                      .seed = UINT64_MAX - sample,
                      .source = blob,
                      .status = sample % 3 ? VERDICT_OK : VERDICT_WRONG,
                      .compiled = VERDICT_YES,
                      .correct = sample % 3 ? VERDICT_YES : VERDICT_NO,
                      .reason = sample % 3 ? "" : "output 0: all zeros",
                      .predicted_us = 12.5,
                      .bound_us = (double)NAN,
                      .baseline_us = 20,
                      .unfused_us = (double)NAN,
                      .measured_us = 33.5,
                      .copy_us = (double)NAN,
                      .rule = "acraft",
                      .provenance = "planner",
                      .licence = "Apache-2.0",
                      .seconds = 0.5,
                      .when = 1700000000};
    a.dialogue.tokens_in = -1;
    a.dialogue.tokens_out = 7;
    a.dialogue.seconds = (double)NAN;
    vec_push(&p->arena, &a.texts, ((StoreText){"kernel.craft", blob}));
    StoreCase one = {.name = "small",
                     .seed = 3,
                     .shapes = "f32[8]",
                     .status = VERDICT_OK,
                     .verdict = "{\"status\": \"ok\"}"};
    StoreCase two = {.name = "fuzz0",
                     .seed = 4,
                     .shapes = "f32[7]",
                     .status = a.status,
                     .verdict = "{}",
                     .trace = blob};
    vec_push(&p->arena, &a.cases, one);
    vec_push(&p->arena, &a.cases, two);
    return a;
}

static uint64_t count(Place *p, Store *store, StoreFilter filter)
{
    uint64_t n = 0;
    CHECK_MSG(store_attempt_count(store, &filter, &n, &p->diag), "%s", said(p));
    return n;
}

T_TEST(store_keeps_an_attempt_as_it_was)
{
    Place p;
    make_place(&p);
    Store *store = open_store(&p, STORE_MAKE);
    StoreRun run = asked;
    REQUIRE(store_run_begin(store, &run, &p.diag));
    int64_t task = add_task(&p, store, "relu", "activation");
    StoreAttempt a = attempt_of(&p, store, run.id, task, 3);
    REQUIRE(store_attempt_add(store, &a, &p.diag));
    store_close(store);

    store = open_store(&p, STORE_READ);
    StoreFilter filter = {.with_texts = true, .with_cases = true};
    StoreRows *rows = store_attempts(store, &filter, &p.diag);
    StoreAttempt b;
    Str text;
    REQUIRE(rows && store_next(rows, &p.arena, &b));
    CHECK_EQ_INT(b.id, a.id);
    CHECK(b.seed == a.seed && b.status == VERDICT_WRONG && b.correct == VERDICT_NO);
    CHECK_EQ_STR(b.reason, a.reason);
    CHECK_EQ_STR(b.task_name, "relu");
    CHECK(b.predicted_us == 12.5 && b.measured_us == 33.5 && isnan(b.copy_us) &&
          isnan(b.bound_us) && b.dialogue.tokens_in == -1);
    CHECK_EQ_INT(b.dialogue.tokens_out, 7);
    CHECK_EQ_INT(b.cases.len, 2);
    CHECK_EQ_STR(b.cases.at[1].name, "fuzz0");
    CHECK(b.cases.at[1].status == VERDICT_WRONG);
    CHECK_EQ_INT(b.texts.len, 1);
    REQUIRE(store_blob_get(store, &p.arena, b.texts.at[0].blob, &text, &p.diag));
    CHECK_EQ_SLICE(text, "craft = 1 # 3\n");
    CHECK(!store_next(rows, &p.arena, &b) && diag_ok(&p.diag));
    store_done(rows);
    store_close(store);
    drop_place(&p);
}

T_TEST(store_adds_the_same_attempt_once)
{
    Place p;
    make_place(&p);
    Store *store = open_store(&p, STORE_MAKE);
    StoreRun run = asked, again = asked, fresh = asked;
    REQUIRE(store_run_begin(store, &run, &p.diag));
    REQUIRE(store_run_begin(store, &again, &p.diag));
    CHECK_EQ_INT(again.id, run.id);
    fresh.fresh = true;
    REQUIRE(store_run_begin(store, &fresh, &p.diag));
    CHECK(fresh.id != run.id);
    int64_t task = add_task(&p, store, "relu", "activation");
    CHECK_EQ_INT(add_task(&p, store, "relu", "activation"), task);
    StoreAttempt a = attempt_of(&p, store, run.id, task, 1);
    StoreAttempt b = attempt_of(&p, store, run.id, task, 1);
    b.status = VERDICT_HANG;
    REQUIRE(store_attempt_add(store, &a, &p.diag));
    REQUIRE(store_attempt_add(store, &b, &p.diag));
    CHECK_EQ_INT(a.id, b.id);
    CHECK_EQ_INT(count(&p, store, (StoreFilter){.status = "hang"}), 0);
    CHECK_EQ_INT(count(&p, store, (StoreFilter){0}), 1);
    store_close(store);
    drop_place(&p);
}

T_TEST(store_filters)
{
    Place p;
    make_place(&p);
    Store *store = open_store(&p, STORE_MAKE);
    StoreRun run = asked;
    REQUIRE(store_run_begin(store, &run, &p.diag));
    int64_t relu = add_task(&p, store, "relu", "activation");
    int64_t sum = add_task(&p, store, "sum_reduction", "reduce");
    for (uint32_t i = 0; i < 6; i++) {
        StoreAttempt a = attempt_of(&p, store, run.id, i % 2 ? relu : sum, i);
        REQUIRE(store_attempt_add(store, &a, &p.diag));
    }
    CHECK_EQ_INT(count(&p, store, (StoreFilter){.name = "sum*"}), 3);
    CHECK_EQ_INT(count(&p, store, (StoreFilter){.category = "activation", .failed = true}), 1);
    CHECK_EQ_INT(count(&p, store, (StoreFilter){.status = "wrong", .run = run.id}), 2);
    CHECK_EQ_INT(count(&p, store, (StoreFilter){.level = "2"}), 0);
    CHECK_EQ_INT(count(&p, store, (StoreFilter){.suite = "x'; DROP TABLE runs; --"}), 0);
    StoreTasks tasks = {0};
    REQUIRE(store_tasks(store, &p.arena, run.id, &tasks, &p.diag));
    CHECK_EQ_INT(tasks.len, 2);
    StoreRuns runs = {0};
    REQUIRE(store_runs(store, &p.arena, &runs, &p.diag));
    CHECK_EQ_INT(runs.len, 1);
    CHECK_EQ_STR(runs.at[0].label, "first");
    REQUIRE(store_run_finish(store, run.id, &p.diag));
    store_close(store);
    drop_place(&p);
}

T_TEST(store_blobs_keep_any_bytes)
{
    Place p;
    make_place(&p);
    Store *store = open_store(&p, STORE_MAKE);
    size_t sizes[] = {0, 1, 100, 4 << 20};
    for (int i = 0; i < 4; i++) {
        char *bytes = arena_alloc(&p.arena, sizes[i] + 1), hash[STORE_HASH];
        for (size_t k = 0; k < sizes[i]; k++)
            bytes[k] = (char)rng_u64(1, (uint64_t)i, k / 3);
        Str back;
        REQUIRE(store_blob_put(store, (Str){bytes, sizes[i]}, hash, &p.diag));
        REQUIRE(store_blob_put(store, (Str){bytes, sizes[i]}, hash, &p.diag));
        REQUIRE(store_blob_get(store, &p.arena, hash, &back, &p.diag));
        CHECK(str_equal(back, (Str){bytes, sizes[i]}));
    }
    store_close(store);
    drop_place(&p);
}

T_TEST(store_notices_a_changed_blob)
{
    Place p;
    make_place(&p);
    Store *store = open_store(&p, STORE_MAKE);
    char one[STORE_HASH], two[STORE_HASH];
    Str text;
    REQUIRE(store_blob_put(store, STR("one"), one, &p.diag));
    REQUIRE(store_blob_put(store, STR("two"), two, &p.diag));
    const char *at_one = str_format(&p.arena, "%s.blobs/%.2s/%s.zst", p.path, one, one + 2);
    const char *at_two = str_format(&p.arena, "%s.blobs/%.2s/%s.zst", p.path, two, two + 2);
    REQUIRE(rename(at_one, at_two) == 0);
    CHECK(!store_blob_get(store, &p.arena, two, &text, &p.diag));
    CHECK_EQ_STR(p.diag.items.at[0].code, "D006");
    CHECK(!store_blob_get(store, &p.arena, one, &text, &p.diag));
    CHECK(!store_blob_get(store, &p.arena, "../../etc/passwd", &text, &p.diag));
    REQUIRE(truncate(at_two, 5) == 0);
    CHECK(!store_blob_get(store, &p.arena, two, &text, &p.diag));
    store_close(store);
    drop_place(&p);
}

T_TEST(store_refuses_what_is_no_store)
{
    Place p;
    make_place(&p);
    CHECK(!store_open(p.path, STORE_READ, &p.diag));
    CHECK_EQ_STR(p.diag.items.at[0].code, "D001");
    REQUIRE(file_write(p.path, STR("this is no database, it is a text of some length"), &p.diag));
    CHECK(!store_open(p.path, STORE_MAKE, &p.diag));
    CHECK_EQ_STR(vec_last(&p.diag.items).code, "D003");
    drop_place(&p);
}

static int64_t child_status(pid_t child)
{
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

T_TEST(store_lets_one_process_work_on_a_run)
{
    Place p;
    make_place(&p);
    Store *store = open_store(&p, STORE_MAKE);
    StoreRun run = asked;
    REQUIRE(store_run_begin(store, &run, &p.diag));
    pid_t child = fork();
    if (child == 0) {
        Store *mine = store_open(p.path, STORE_WRITE, &p.diag);
        StoreRun same = asked, other = asked;
        other.settings = "{\"n\": 2}";
        bool refused = mine && !store_run_begin(mine, &same, &p.diag) &&
                       !strcmp(p.diag.items.at[0].code, "D005");
        bool taken = mine && store_run_begin(mine, &other, &p.diag);
        store_close(mine);
        _exit(refused && taken ? 0 : 1);
    }
    CHECK_EQ_INT(child_status(child), 0);
    store_close(store);
    drop_place(&p);
}

/* ---- deaths ---- */

static void add_until_killed(Place *p)
{
    Store *store = store_open(p->path, STORE_MAKE, &p->diag);
    StoreRun run = asked;
    if (!store || !store_run_begin(store, &run, &p->diag))
        _exit(9);
    int64_t task = add_task(p, store, "relu", "activation");
    for (uint32_t i = 0;; i++) {
        StoreAttempt a = attempt_of(p, store, run.id, task, i);
        if (!store_attempt_add(store, &a, &p->diag))
            _exit(8);
        if (write(1000, "x", 1) != 1)
            _exit(7);
    }
}

/* What the child says was added is there after kill -9, whole. */
static void kill_once(Place *p, uint64_t round)
{
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 1000);
        add_until_killed(p);
    }
    close(ends[1]);
    usleep((useconds_t)rng_range(5, 1, round, 20000, 120000));
    kill(child, SIGKILL);
    CHECK_EQ_INT(child_status(child), -SIGKILL);
    char bytes[4096];
    uint64_t told = 0;
    ssize_t got;
    while ((got = read(ends[0], bytes, sizeof bytes)) > 0)
        told += (uint64_t)got;
    close(ends[0]);
    Store *store = open_store(p, STORE_WRITE);
    uint64_t kept = count(p, store, (StoreFilter){0});
    CHECK_MSG(kept >= told, "%llu were added, %llu are kept", (unsigned long long)told,
              (unsigned long long)kept);
    store_close(store);
}

T_TEST(store_survives_kill)
{
    Place p;
    make_place(&p);
    store_close(open_store(&p, STORE_MAKE));
    for (uint64_t round = 0; round < 5; round++)
        kill_once(&p, round);
    drop_place(&p);
}

/* A copy of a store that was not closed, its log cut at a random byte. */
static void cut_log(Place *p, uint64_t round)
{
    const char *log = str_format(&p->arena, "%s-wal", p->path);
    const char *copy = path_join(&p->arena, p->dir, "copy.db");
    const char *copy_log = str_format(&p->arena, "%s-wal", copy);
    Str main_bytes, log_bytes;
    REQUIRE(file_read(&p->arena, p->path, 0, &main_bytes, &p->diag));
    REQUIRE(file_read(&p->arena, log, 0, &log_bytes, &p->diag));
    size_t keep = (size_t)rng_range(6, 2, round, 0, (int64_t)log_bytes.len);
    unlink(str_format(&p->arena, "%s-shm", copy));
    REQUIRE(file_write(copy, main_bytes, &p->diag));
    REQUIRE(file_write(copy_log, str_slice(log_bytes, 0, keep), &p->diag));
    Store *store = store_open(copy, STORE_MAKE, &p->diag);
    CHECK_MSG(store != NULL, "log cut to %zu of %zu: %s", keep, log_bytes.len, said(p));
    if (!store)
        return;
    StoreFilter filter = {.with_texts = true, .with_cases = true};
    StoreRows *rows = store_attempts(store, &filter, &p->diag);
    StoreAttempt a;
    while (rows && store_next(rows, &p->arena, &a))
        CHECK(a.texts.len == 1 && a.cases.len == 2);
    CHECK(diag_ok(&p->diag));
    store_done(rows);
    store_close(store);
}

T_TEST(store_survives_a_cut_log)
{
    Place p;
    make_place(&p);
    Store *store = open_store(&p, STORE_MAKE);
    StoreRun run = asked;
    REQUIRE(store_run_begin(store, &run, &p.diag));
    int64_t task = add_task(&p, store, "relu", "activation");
    for (uint32_t i = 0; i < 20; i++) {
        StoreAttempt a = attempt_of(&p, store, run.id, task, i);
        REQUIRE(store_attempt_add(store, &a, &p.diag));
    }
    for (uint64_t round = 0; round < 30; round++)
        cut_log(&p, round);
    store_close(store);
    drop_place(&p);
}

/* ---- no room, no right ---- */

/* In a child that may write no file beyond 200 kB: adds until it cannot, says how many it added. */
static void fill_up(Place *p)
{
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {200000, 200000};
    Store *store = store_open(p->path, STORE_WRITE, &p->diag);
    StoreRun run = asked;
    if (!store || setrlimit(RLIMIT_FSIZE, &limit) || !store_run_begin(store, &run, &p->diag))
        _exit(200);
    int64_t task = add_task(p, store, "relu", "activation");
    for (uint32_t i = 0; i < 190; i++) {
        StoreAttempt a = attempt_of(p, store, run.id, task, i);
        if (!store_attempt_add(store, &a, &p->diag))
            _exit(!strcmp(p->diag.items.at[0].code, "D002") ? (int)i : 201);
    }
    _exit(202);
}

T_TEST(store_says_when_the_disk_is_full)
{
    Place p;
    make_place(&p);
    store_close(open_store(&p, STORE_MAKE));
    pid_t child = fork();
    if (child == 0)
        fill_up(&p);
    int64_t added = child_status(child);
    CHECK_MSG(added > 0 && added < 190, "the child ended with %lld", (long long)added);
    Store *store = open_store(&p, STORE_WRITE);
    CHECK_EQ_INT(count(&p, store, (StoreFilter){0}), added);
    store_close(store);
    drop_place(&p);
}

/* As nobody, who may only read here. */
static void try_to_write(Place *p)
{
    if (geteuid() == 0 && setuid(65534))
        _exit(3);
    bool refused = !store_open(p->path, STORE_WRITE, &p->diag) &&
                   !strcmp(p->diag.items.at[0].code, "D002");
    bool none = !store_open(path_join(&p->arena, p->dir, "new.db"), STORE_MAKE, &p->diag) &&
                !strcmp(vec_last(&p->diag.items).code, "D001");
    _exit(refused && none ? 0 : 1);
}

T_TEST(store_says_when_it_may_not_write)
{
    Place p;
    make_place(&p);
    store_close(open_store(&p, STORE_MAKE));
    REQUIRE(chmod(p.path, 0444) == 0 && chmod(p.dir, 0555) == 0);
    pid_t child = fork();
    if (child == 0)
        try_to_write(&p);
    CHECK_EQ_INT(child_status(child), 0);
    REQUIRE(chmod(p.dir, 0755) == 0);
    drop_place(&p);
}
