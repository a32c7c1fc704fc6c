/* Adding runs, tasks and attempts. In: rows as store.h has them. Out: rows of the database, each
 * attempt with its texts and cases in one transaction. */
#include "store/store_int.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const Span no_place = {0, 0, 0};

/* ---- runs ---- */

/* A byte of PATH.lock for each run; the kernel drops the lock when the process ends, however. */
static bool hold_run(Store *store, int64_t run, Diag *diag)
{
    Arena arena = {0};
    const char *path = str_format(&arena, "%s.lock", store->path);
    if (store->lock < 0)
        store->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = run, .l_len = 1};
    bool held = store->lock >= 0 && fcntl(store->lock, F_SETLK, &lock) == 0;
    if (store->lock < 0)
        diag_error(diag, "D002", no_place, "cannot write '%s': %s", path, strerror(errno));
    else if (!held)
        diag_error(diag, "D005", no_place, "run %lld of '%s' is being worked on by another process",
                   (long long)run, store->path);
    arena_drop(&arena);
    return held;
}

static bool find_run(Store *store, StoreRun *run, Diag *diag)
{
    sqlite3_stmt *s = store_prepare(store,
                                    "SELECT id, started, finished FROM runs WHERE suite=? AND "
                                    "generator=? AND settings=? ORDER BY id DESC LIMIT 1",
                                    diag);
    if (!s)
        return false;
    StoreRow p = store_params(s);
    store_put_text(&p, run->suite);
    store_put_text(&p, run->generator);
    store_put_text(&p, run->settings);
    run->id = 0;
    if (!run->fresh && sqlite3_step(s) == SQLITE_ROW) {
        StoreRow c = store_columns(s, NULL);
        run->id = store_get_int(&c);
        run->started = store_get_int(&c);
        run->finished = store_get_int(&c);
    }
    sqlite3_finalize(s);
    return true;
}

static bool add_run(Store *store, StoreRun *run, Diag *diag)
{
    sqlite3_stmt *s = store_prepare(store,
                                    "INSERT INTO runs(suite, generator, settings, label, started) "
                                    "VALUES(?,?,?,?,?)",
                                    diag);
    if (!s)
        return false;
    run->started = (int64_t)time(NULL);
    run->finished = 0;
    StoreRow p = store_params(s);
    store_put_text(&p, run->suite);
    store_put_text(&p, run->generator);
    store_put_text(&p, run->settings);
    store_put_text(&p, run->label);
    store_put_int(&p, run->started);
    bool ok = store_step_once(store, s, diag);
    run->id = sqlite3_last_insert_rowid(store->db);
    return ok;
}

bool store_run_begin(Store *store, StoreRun *run, Diag *diag)
{
    if (!store_begin(store, diag))
        return false;
    bool ok = find_run(store, run, diag) && (run->id || add_run(store, run, diag));
    if (!ok)
        store_rollback(store);
    return ok && store_commit(store, diag) && hold_run(store, run->id, diag);
}

bool store_run_finish(Store *store, int64_t run, Diag *diag)
{
    sqlite3_stmt *s = store_prepare(store, "UPDATE runs SET finished=? WHERE id=?", diag);
    if (!s)
        return false;
    StoreRow p = store_params(s);
    store_put_int(&p, (int64_t)time(NULL));
    store_put_int(&p, run);
    return store_step_once(store, s, diag);
}

/* ---- tasks ---- */

static bool insert_task(Store *store, const StoreTask *t, Diag *diag)
{
    sqlite3_stmt *s = store_prepare(store,
                                    "INSERT OR IGNORE INTO tasks(suite, name, source, category, "
                                    "level, path, wording, licence) VALUES(?,?,?,?,?,?,?,?)",
                                    diag);
    if (!s)
        return false;
    StoreRow p = store_params(s);
    const char *fields[] = {t->suite, t->name, t->source,  t->category,
                            t->level, t->path, t->wording, t->licence};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        store_put_text(&p, fields[i]);
    return store_step_once(store, s, diag);
}

static bool find_task(Store *store, StoreTask *t, Diag *diag)
{
    sqlite3_stmt *s = store_prepare(
        store, "SELECT id FROM tasks WHERE suite=? AND name=? AND source=?", diag);
    if (!s)
        return false;
    StoreRow p = store_params(s);
    store_put_text(&p, t->suite);
    store_put_text(&p, t->name);
    store_put_text(&p, t->source);
    bool found = sqlite3_step(s) == SQLITE_ROW;
    t->id = found ? sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    return found || store_fail(store, "read", diag);
}

bool store_tasks_put(Store *store, StoreTask *tasks, uint32_t count, Diag *diag)
{
    bool ok = store_begin(store, diag);
    for (uint32_t i = 0; ok && i < count; i++)
        ok = insert_task(store, &tasks[i], diag) && find_task(store, &tasks[i], diag);
    if (!ok)
        store_rollback(store);
    return ok && store_commit(store, diag);
}

/* ---- attempts ---- */

static void put_answer(StoreRow *p, VerdictAnswer answer)
{
    if (answer == VERDICT_UNKNOWN)
        sqlite3_bind_null(p->statement, p->at++);
    else
        store_put_int(p, answer == VERDICT_YES);
}

static void put_count(StoreRow *p, int64_t count)
{
    if (count < 0)
        sqlite3_bind_null(p->statement, p->at++);
    else
        store_put_int(p, count);
}

static void put_attempt(StoreRow *p, const StoreAttempt *a)
{
    store_put_int(p, a->run);
    store_put_int(p, a->task);
    store_put_int(p, a->sample);
    store_put_int(p, a->turn);
    store_put_text(p, a->form);
    store_put_text(p, a->generator);
    store_put_int(p, (int64_t)a->seed);
    store_put_int(p, (int64_t)a->gen_seed);
    store_put_text(p, a->source);
    store_put_text(p, verdict_status_row(a->status)->text);
    put_answer(p, a->compiled);
    put_answer(p, a->correct);
    store_put_int(p, a->hazards);
    store_put_text(p, a->reason);
    store_put_text(p, a->unsupported);
    store_put_number(p, a->predicted_us);
    store_put_number(p, a->bound_us);
    store_put_number(p, a->baseline_us);
    store_put_number(p, a->unfused_us);
    store_put_number(p, a->measured_us);
    store_put_number(p, a->copy_us);
    store_put_text(p, a->rule);
    store_put_text(p, a->provenance);
    store_put_text(p, a->licence);
    store_put_text(p, a->dialogue.prompt);
    store_put_text(p, a->dialogue.answer);
    store_put_text(p, a->dialogue.diagnostics);
    store_put_text(p, a->dialogue.model);
    put_count(p, a->dialogue.tokens_in);
    put_count(p, a->dialogue.tokens_out);
    store_put_number(p, a->dialogue.seconds);
    store_put_text(p, a->dialogue.usage);
    store_put_number(p, a->seconds);
    store_put_int(p, a->when);
}

static bool insert_attempt(Store *store, StoreAttempt *a, Diag *diag)
{
    sqlite3_stmt *s = store_prepare(
        store,
        "INSERT INTO attempts(run, task, sample, turn, form, generator, seed, gen_seed, source, "
        "status, compiled, correct, hazards, reason, unsupported, predicted_us, bound_us, "
        "baseline_us, unfused_us, measured_us, copy_us, rule, provenance, licence, prompt, answer, "
        "diagnostics, model, "
        "tokens_in, tokens_out, model_seconds, usage, seconds, at) "
        "VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        diag);
    if (!s)
        return false;
    StoreRow p = store_params(s);
    put_attempt(&p, a);
    bool ok = store_step_once(store, s, diag);
    a->id = sqlite3_last_insert_rowid(store->db);
    return ok;
}

static bool insert_text(Store *store, const StoreAttempt *a, uint32_t i, Diag *diag)
{
    sqlite3_stmt *s = store_prepare(store, "INSERT INTO texts VALUES(?,?,?,?)", diag);
    if (!s)
        return false;
    StoreRow p = store_params(s);
    store_put_int(&p, a->id);
    store_put_int(&p, i);
    store_put_text(&p, a->texts.at[i].path);
    store_put_text(&p, a->texts.at[i].blob);
    return store_step_once(store, s, diag);
}

static bool insert_case(Store *store, const StoreAttempt *a, uint32_t i, Diag *diag)
{
    sqlite3_stmt *s = store_prepare(store, "INSERT INTO cases VALUES(?,?,?,?,?,?,?,?)", diag);
    if (!s)
        return false;
    const StoreCase *c = &a->cases.at[i];
    StoreRow p = store_params(s);
    store_put_int(&p, a->id);
    store_put_int(&p, i);
    store_put_text(&p, c->name);
    store_put_int(&p, (int64_t)c->seed);
    store_put_text(&p, c->shapes);
    store_put_text(&p, verdict_status_row(c->status)->text);
    store_put_text(&p, c->verdict);
    store_put_text(&p, c->trace);
    return store_step_once(store, s, diag);
}

static bool insert_all(Store *store, StoreAttempt *a, Diag *diag)
{
    bool ok = insert_attempt(store, a, diag);
    for (uint32_t i = 0; ok && i < a->texts.len; i++)
        ok = insert_text(store, a, i, diag);
    for (uint32_t i = 0; ok && i < a->cases.len; i++)
        ok = insert_case(store, a, i, diag);
    return ok;
}

static bool find_attempt(Store *store, StoreAttempt *a, Diag *diag)
{
    sqlite3_stmt *s = store_prepare(
        store, "SELECT id FROM attempts WHERE run=? AND task=? AND sample=? AND turn=?", diag);
    if (!s)
        return false;
    StoreRow p = store_params(s);
    store_put_int(&p, a->run);
    store_put_int(&p, a->task);
    store_put_int(&p, a->sample);
    store_put_int(&p, a->turn);
    a->id = sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    return true;
}

bool store_attempts_drop(Store *store, int64_t run, int64_t task, const char *provenance,
                         Diag *diag)
{
    sqlite3_stmt *s = store_prepare(
        store, "DELETE FROM attempts WHERE run=? AND task=? AND provenance=? AND source=''", diag);
    if (!s)
        return false;
    StoreRow p = store_params(s);
    store_put_int(&p, run);
    store_put_int(&p, task);
    store_put_text(&p, provenance);
    return store_step_once(store, s, diag);
}

bool store_attempt_add(Store *store, StoreAttempt *attempt, Diag *diag)
{
    if (!store_begin(store, diag))
        return false;
    bool ok = find_attempt(store, attempt, diag) &&
              (attempt->id || insert_all(store, attempt, diag));
    if (!ok)
        store_rollback(store);
    return ok && store_commit(store, diag);
}
