/* Reading back. In: a filter. Out: rows one by one, or short lists. */
#include "store/store_int.h"

/* ---- the filter as SQL ---- */

typedef struct Condition {
    const char *sql;
    const char *text; /* NULL: the number is bound */
    int64_t number;
} Condition;

enum { MOST_CONDITIONS = 9 };

static uint32_t conditions_of(const StoreFilter *f, Condition *out)
{
    uint32_t n = 0;
    if (f->run)
        out[n++] = (Condition){"a.run=?", NULL, f->run};
    if (f->task)
        out[n++] = (Condition){"a.task=?", NULL, f->task};
    if (f->attempt)
        out[n++] = (Condition){"a.id=?", NULL, f->attempt};
    if (f->suite)
        out[n++] = (Condition){"t.suite=?", f->suite, 0};
    if (f->category)
        out[n++] = (Condition){"t.category=?", f->category, 0};
    if (f->level)
        out[n++] = (Condition){"t.level=?", f->level, 0};
    if (f->name)
        out[n++] = (Condition){"t.name GLOB ?", f->name, 0};
    if (f->status)
        out[n++] = (Condition){"a.status=?", f->status, 0};
    if (f->failed)
        out[n++] = (Condition){"a.status<>?", "ok", 0};
    return n;
}

static sqlite3_stmt *select_where(Store *store, const char *select, const StoreFilter *filter,
                                  const char *order, Diag *diag)
{
    Condition conditions[MOST_CONDITIONS];
    uint32_t n = conditions_of(filter, conditions);
    Buf sql = {0};
    buf_puts(&sql, select);
    for (uint32_t i = 0; i < n; i++)
        buf_printf(&sql, " %s %s", i ? "AND" : "WHERE", conditions[i].sql);
    buf_puts(&sql, order);
    sqlite3_stmt *s = store_prepare(store, sql.at, diag);
    buf_free(&sql);
    StoreRow p = store_params(s);
    for (uint32_t i = 0; s && i < n; i++) {
        if (conditions[i].text)
            store_put_text(&p, conditions[i].text);
        else
            store_put_int(&p, conditions[i].number);
    }
    return s;
}

/* ---- attempts ---- */

struct StoreRows {
    Store *store;
    sqlite3_stmt *main, *texts, *cases;
    Diag *diag;
};

static const char select_attempts[] =
    "SELECT a.id, a.run, a.task, a.sample, a.turn, a.form, a.generator, a.seed, a.gen_seed, "
    "a.source, a.status, a.compiled, a.correct, a.hazards, a.reason, a.unsupported, "
    "a.predicted_us, a.bound_us, a.baseline_us, a.unfused_us, a.measured_us, a.copy_us, a.rule, "
    "a.provenance, a.licence, "
    "a.prompt, a.answer, a.diagnostics, a.model, a.tokens_in, a.tokens_out, a.model_seconds, "
    "a.usage, a.seconds, a.at, t.name, t.category, t.level, t.suite "
    "FROM attempts a JOIN tasks t ON t.id = a.task";

StoreRows *store_attempts(Store *store, const StoreFilter *filter, Diag *diag)
{
    StoreRows *rows = heap_alloc(sizeof *rows);
    *rows = (StoreRows){.store = store, .diag = diag};
    rows->main = select_where(store, select_attempts, filter,
                              " ORDER BY a.run, t.suite, t.category, t.name, t.id, a.sample, "
                              "a.turn",
                              diag);
    bool ok = rows->main != NULL;
    if (ok && filter->with_texts)
        ok = (rows->texts = store_prepare(
                  store, "SELECT path, blob FROM texts WHERE attempt=? ORDER BY ord", diag));
    if (ok && filter->with_cases)
        ok = (rows->cases = store_prepare(store,
                                          "SELECT name, seed, shapes, status, verdict, trace FROM "
                                          "cases WHERE attempt=? ORDER BY ord",
                                          diag));
    if (ok)
        return rows;
    store_done(rows);
    return NULL;
}

void store_done(StoreRows *rows)
{
    if (!rows)
        return;
    sqlite3_finalize(rows->main);
    sqlite3_finalize(rows->texts);
    sqlite3_finalize(rows->cases);
    heap_free(rows);
}

static VerdictStatus get_status(StoreRow *c)
{
    VerdictStatus status = VERDICT_INTERNAL;
    verdict_status_from_text(str_from(store_get_text(c)), &status);
    return status;
}

static VerdictAnswer get_answer(StoreRow *c)
{
    bool known = sqlite3_column_type(c->statement, c->at) != SQLITE_NULL;
    int64_t value = store_get_int(c);
    return !known ? VERDICT_UNKNOWN : value ? VERDICT_YES : VERDICT_NO;
}

static int64_t get_count(StoreRow *c)
{
    bool known = sqlite3_column_type(c->statement, c->at) != SQLITE_NULL;
    int64_t value = store_get_int(c);
    return known ? value : -1;
}

static StoreTurn get_turn(StoreRow *c)
{
    StoreTurn t;
    t.prompt = store_get_text(c);
    t.answer = store_get_text(c);
    t.diagnostics = store_get_text(c);
    t.model = store_get_text(c);
    t.tokens_in = get_count(c);
    t.tokens_out = get_count(c);
    t.seconds = store_get_number(c);
    t.usage = store_get_text(c);
    return t;
}

static void get_attempt(StoreRow *c, StoreAttempt *a)
{
    *a = (StoreAttempt){0};
    a->id = store_get_int(c);
    a->run = store_get_int(c);
    a->task = store_get_int(c);
    a->sample = (uint32_t)store_get_int(c);
    a->turn = (uint32_t)store_get_int(c);
    a->form = store_get_text(c);
    a->generator = store_get_text(c);
    a->seed = (uint64_t)store_get_int(c);
    a->gen_seed = (uint64_t)store_get_int(c);
    a->source = store_get_text(c);
    a->status = get_status(c);
    a->compiled = get_answer(c);
    a->correct = get_answer(c);
    a->hazards = (uint32_t)store_get_int(c);
    a->reason = store_get_text(c);
    a->unsupported = store_get_text(c);
    a->predicted_us = store_get_number(c);
    a->bound_us = store_get_number(c);
    a->baseline_us = store_get_number(c);
    a->unfused_us = store_get_number(c);
    a->measured_us = store_get_number(c);
    a->copy_us = store_get_number(c);
    a->rule = store_get_text(c);
    a->provenance = store_get_text(c);
    a->licence = store_get_text(c);
    a->dialogue = get_turn(c);
    a->seconds = store_get_number(c);
    a->when = store_get_int(c);
    a->task_name = store_get_text(c);
    a->category = store_get_text(c);
    a->level = store_get_text(c);
    a->suite = store_get_text(c);
}

static bool next_of(StoreRows *rows, sqlite3_stmt *s)
{
    int step = sqlite3_step(s);
    if (step != SQLITE_ROW && step != SQLITE_DONE)
        store_fail(rows->store, "read", rows->diag);
    return step == SQLITE_ROW;
}

static void read_texts(StoreRows *rows, Arena *arena, StoreAttempt *a)
{
    sqlite3_reset(rows->texts);
    sqlite3_bind_int64(rows->texts, 1, a->id);
    while (next_of(rows, rows->texts)) {
        StoreRow c = store_columns(rows->texts, arena);
        StoreText text;
        text.path = store_get_text(&c);
        text.blob = store_get_text(&c);
        vec_push(arena, &a->texts, text);
    }
}

static void read_cases(StoreRows *rows, Arena *arena, StoreAttempt *a)
{
    sqlite3_reset(rows->cases);
    sqlite3_bind_int64(rows->cases, 1, a->id);
    while (next_of(rows, rows->cases)) {
        StoreRow c = store_columns(rows->cases, arena);
        StoreCase kase;
        kase.name = store_get_text(&c);
        kase.seed = (uint64_t)store_get_int(&c);
        kase.shapes = store_get_text(&c);
        kase.status = get_status(&c);
        kase.verdict = store_get_text(&c);
        kase.trace = store_get_text(&c);
        vec_push(arena, &a->cases, kase);
    }
}

bool store_next(StoreRows *rows, Arena *arena, StoreAttempt *attempt)
{
    if (!next_of(rows, rows->main))
        return false;
    StoreRow c = store_columns(rows->main, arena);
    get_attempt(&c, attempt);
    if (rows->texts)
        read_texts(rows, arena, attempt);
    if (rows->cases)
        read_cases(rows, arena, attempt);
    return true;
}

bool store_attempt_count(Store *store, const StoreFilter *filter, uint64_t *count, Diag *diag)
{
    sqlite3_stmt *s = select_where(
        store, "SELECT count(*) FROM attempts a JOIN tasks t ON t.id = a.task", filter, "", diag);
    bool ok = s && sqlite3_step(s) == SQLITE_ROW;
    if (ok)
        *count = (uint64_t)sqlite3_column_int64(s, 0);
    else if (s)
        store_fail(store, "read", diag);
    sqlite3_finalize(s);
    return ok;
}

/* ---- runs and tasks ---- */

/* Ends a loop over a statement: true when it came to its last row. */
static bool finish(Store *store, sqlite3_stmt *s, int step, Diag *diag)
{
    bool ok = step == SQLITE_DONE || store_fail(store, "read", diag);
    sqlite3_finalize(s);
    return ok;
}

bool store_runs(Store *store, Arena *arena, StoreRuns *runs, Diag *diag)
{
    sqlite3_stmt *s = store_prepare(store,
                                    "SELECT id, suite, generator, settings, label, started, "
                                    "finished FROM runs ORDER BY id",
                                    diag);
    if (!s)
        return false;
    int step;
    while ((step = sqlite3_step(s)) == SQLITE_ROW) {
        StoreRow c = store_columns(s, arena);
        StoreRun r = {0};
        r.id = store_get_int(&c);
        r.suite = store_get_text(&c);
        r.generator = store_get_text(&c);
        r.settings = store_get_text(&c);
        r.label = store_get_text(&c);
        r.started = store_get_int(&c);
        r.finished = store_get_int(&c);
        vec_push(arena, runs, r);
    }
    return finish(store, s, step, diag);
}

bool store_tasks(Store *store, Arena *arena, int64_t run, StoreTasks *tasks, Diag *diag)
{
    sqlite3_stmt *s = store_prepare(
        store,
        "SELECT id, suite, name, category, level, path, source, wording, licence FROM tasks "
        "WHERE ?1=0 OR id IN (SELECT task FROM attempts WHERE run=?1) "
        "ORDER BY suite, category, name, id",
        diag);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    int step;
    while ((step = sqlite3_step(s)) == SQLITE_ROW) {
        StoreRow c = store_columns(s, arena);
        StoreTask t = {0};
        t.id = store_get_int(&c);
        t.suite = store_get_text(&c);
        t.name = store_get_text(&c);
        t.category = store_get_text(&c);
        t.level = store_get_text(&c);
        t.path = store_get_text(&c);
        t.source = store_get_text(&c);
        t.wording = store_get_text(&c);
        t.licence = store_get_text(&c);
        vec_push(arena, tasks, t);
    }
    return finish(store, s, step, diag);
}
