/* The bench loop; see bench.h. */
#include "loop/bench.h"

#include "base/version.h"
#include "loop/bench_int.h"
#include "loop/bench_platform.h"
#include "loop/bench_pool.h"
#include "loop/bench_wire.h"
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* ---- the run ---- */

static const char *settings_of(Arena *arena, const BenchSpec *spec, int64_t failed_of)
{
    const JudgeSpec *j = &spec->judge;
    Buf out = {0};
    buf_puts(&out, "{\"version\": ");
    buf_json_str(&out, str_from(spec->version));
    buf_printf(&out, ", \"judge\": %d", JUDGE_VERSION);
    buf_printf(&out,
               ", \"chip\": \"%s\", \"rule\": \"%s\", \"wording\": \"%s\", \"seed\": %llu, "
               "\"fuzz\": %u, \"listed\": %u, \"own_sizes\": %s, \"time\": %s, \"strict\": %s, "
               "\"form\": \"%s\", \"baseline\": ",
               j->chip->name, compare_rule_name(j->rule), spec->suite->wording,
               (unsigned long long)j->seed, j->fuzz, j->listed, j->own_sizes ? "true" : "false",
               j->time ? "true" : "false", j->strict ? "true" : "false", eval_form_text(j->form));
    buf_json_str(&out, path_base(j->baseline_name));
    buf_puts(&out, ", \"answers\": ");
    buf_json_str(&out, str_from(spec->answers_path));
    if (spec->model)
        buf_printf(&out, ", \"strategy\": \"%s\", \"turns\": %u, \"no_proofs\": %s%s",
                   prompt_strategy_row(spec->model->strategy)->name, spec->model->turns,
                   j->no_proofs ? "true" : "false", spec->model->settings);
    if (spec->platform)
        buf_printf(&out, ", \"platform\": \"%s\", \"scale\": \"%s\"", spec->platform->name,
                   torch_scale_name(spec->scale));
    if (failed_of)
        buf_printf(&out, ", \"failed_of\": %lld", (long long)failed_of);
    buf_puts(&out, "}");
    const char *text = buf_take(&out, arena);
    buf_free(&out);
    return text;
}

/* The newest run of this suite and generator that was over all samples. */
static int64_t last_run(const StoreRuns *runs, const BenchSpec *spec)
{
    for (uint32_t i = runs->len; i-- > 0;)
        if (!strcmp(runs->at[i].suite, spec->suite->name) &&
            !strcmp(runs->at[i].generator, spec->generator) &&
            !strstr(runs->at[i].settings, "\"failed_of\""))
            return runs->at[i].id;
    return 0;
}

/* The newest run of the suite and generator was judged by other rules than those of this program. */
static bool other_rules(const StoreRuns *runs, const BenchSpec *spec)
{
    char own[32];
    snprintf(own, sizeof own, "\"judge\": %d,", JUDGE_VERSION);
    for (uint32_t i = runs->len; i-- > 0;)
        if (!strcmp(runs->at[i].suite, spec->suite->name) &&
            !strcmp(runs->at[i].generator, spec->generator))
            return !strstr(runs->at[i].settings, own);
    return false;
}

static bool begin_run(Bench *b, Diag *diag)
{
    StoreRuns runs = {0};
    if (!store_runs(b->store, &b->arena, &runs, diag))
        return false;
    b->done->other_rules = other_rules(&runs, b->spec);
    if (b->spec->failed) {
        b->failed_of = last_run(&runs, b->spec);
        if (!b->failed_of) {
            diag_error(diag, "B005", (Span){0}, "no run of '%s' with '%s' is in the store yet",
                       b->spec->suite->name, b->spec->generator);
            return false;
        }
    }
    StoreRun run = {.suite = b->spec->suite->name,
                    .generator = b->spec->generator,
                    .settings = settings_of(&b->arena, b->spec, b->failed_of),
                    .label = b->spec->label,
                    .fresh = b->spec->fresh};
    if (!store_run_begin(b->store, &run, diag))
        return false;
    b->run = run.id;
    return true;
}

/* ---- items ---- */

static bool describe_task(Bench *b, const BenchTask *t, StoreTask *row, Diag *diag)
{
    const BenchSuite *suite = b->spec->suite;
    char hash[STORE_HASH];
    Arena scratch = {0};
    Str source;
    bool ok = file_read(&scratch, t->path, 16 << 20, &source, diag) &&
              store_blob_put(b->store, source, hash, diag);
    arena_drop(&scratch);
    if (ok)
        *row = (StoreTask){.suite = suite->name,
                           .name = t->name,
                           .category = t->category,
                           .level = t->level,
                           .path = t->path,
                           .source = str_dup(&b->arena, str_from(hash)),
                           .wording = suite->wording,
                           .licence = strcmp(suite->wording, "reworded") ? "" : "Apache-2.0"};
    return ok;
}

/* The tasks that have an item, or should have one. */
static bool put_tasks(Bench *b, Diag *diag)
{
    uint32_t all = b->spec->suite->tasks.len, n = 0;
    StoreTask *rows = arena_array(&b->arena, StoreTask, all + 1);
    uint32_t *of = arena_array(&b->arena, uint32_t, all + 1);
    bool *wanted = arena_array(&b->arena, bool, all + 1);
    b->task_ids = arena_array(&b->arena, int64_t, all + 1);
    for (uint32_t i = 0; i < b->items.len; i++)
        wanted[b->items.at[i].task] = true;
    for (uint32_t i = 0; i < all && b->spec->answers && !b->spec->answered_only; i++)
        wanted[i] = true;
    for (uint32_t i = 0; i < all; i++) {
        if (!wanted[i])
            continue;
        if (!describe_task(b, &b->spec->suite->tasks.at[i], &rows[n], diag))
            return false;
        of[n++] = i;
    }
    if (!store_tasks_put(b->store, rows, n, diag))
        return false;
    for (uint32_t i = 0; i < n; i++)
        b->task_ids[of[i]] = rows[i].id;
    return true;
}

static void list_items(Bench *b)
{
    const BenchAnswers *answers = b->spec->answers;
    if (answers) {
        for (uint32_t i = 0; i < answers->at.len; i++)
            vec_push(&b->arena, &b->items,
                     ((BenchItem){answers->at.at[i].task, answers->at.at[i].sample,
                                  &answers->at.at[i], false, false, false, 0}));
        return;
    }
    for (uint32_t s = 0; s < b->spec->samples; s++)
        for (uint32_t t = 0; t < b->spec->suite->tasks.len; t++)
            vec_push(&b->arena, &b->items, ((BenchItem){t, s, NULL, false, false, false, 0}));
}

static const char *key_of(Arena *arena, int64_t task, uint32_t sample)
{
    return str_format(arena, "%lld/%u", (long long)task, sample);
}

/* Marks the items that need no judging: those in the run already or, for --failed, those that were
 * ok in the run it goes back to. */
static bool mark_done(Bench *b, int64_t run, bool those_ok, Diag *diag)
{
    Map by_key = {0};
    for (uint32_t i = 0; i < b->items.len; i++)
        map_put(
            &b->arena, &by_key,
            str_from(key_of(&b->arena, b->task_ids[b->items.at[i].task], b->items.at[i].sample)),
            i);
    StoreFilter filter = {.run = run};
    uint32_t before = diag->errors;
    StoreRows *rows = store_attempts(b->store, &filter, diag);
    StoreAttempt a;
    Arena scratch = {0};
    while (rows && store_next(rows, &scratch, &a)) {
        uint32_t i;
        bool known = map_get(&by_key, str_from(key_of(&scratch, a.task, a.sample)), &i);
        if (known && (!those_ok || a.status == VERDICT_OK))
            b->items.at[i].done = true;
        arena_drop(&scratch);
    }
    arena_drop(&scratch);
    store_done(rows);
    return rows && diag->errors == before;
}

/* ---- what a worker gave back ---- */

StoreAttempt bench_empty_attempt(const Bench *b, const BenchItem *item)
{
    const BenchSpec *spec = b->spec;
    StoreAttempt a = {.run = b->run,
                      .task = b->task_ids[item->task],
                      .sample = item->sample,
                      .form = "",
                      .generator = spec->generator,
                      .seed = spec->judge.seed,
                      .source = "",
                      .reason = "",
                      .unsupported = "",
                      .predicted_us = (double)NAN,
                      .bound_us = (double)NAN,
                      .baseline_us = (double)NAN,
                      .unfused_us = (double)NAN,
                      .measured_us = (double)NAN,
                      .copy_us = (double)NAN,
                      .rule = compare_rule_name(spec->judge.rule),
                      .licence = "",
                      .when = (int64_t)time(NULL)};
    a.provenance = spec->version;
    a.dialogue.tokens_in = a.dialogue.tokens_out = -1;
    a.dialogue.seconds = (double)NAN;
    a.task_name = spec->suite->tasks.at[item->task].name;
    a.category = spec->suite->tasks.at[item->task].category;
    a.level = spec->suite->tasks.at[item->task].level;
    a.suite = spec->suite->name;
    return a;
}

static bool put_blob(Bench *b, Arena *arena, Str text, const char **name, Diag *diag)
{
    char hash[STORE_HASH];
    if (text.len == 0)
        return true;
    if (!store_blob_put(b->store, text, hash, diag))
        return false;
    *name = str_dup(arena, str_from(hash));
    return true;
}

/* Answers that came from a file keep their raw text and where it was. */
static bool add_origin(Bench *b, Arena *arena, const BenchItem *item, StoreAttempt *a, Diag *diag)
{
    if (!item->answer) {
        a->provenance = str_format(arena, "%s, acraft %s", b->spec->generator, b->spec->version);
        a->licence = b->spec->model ? "" : "Apache-2.0";
        return true;
    }
    a->provenance = item->answer->path;
    return put_blob(b, arena, item->answer->text, &a->dialogue.answer, diag) &&
           put_blob(b, arena, item->answer->prompt, &a->dialogue.prompt, diag);
}

static bool add_attempt(Bench *b, StoreAttempt *a, Diag *diag)
{
    if (!store_attempt_add(b->store, a, diag))
        return false;
    if (b->spec->progress)
        b->spec->progress(b->spec->context, a, b->done->kept + b->done->judged + 1, b->done->all);
    return true;
}

/* The server gave no answer, or this machine lacks what judging needs: nothing is known of the sample. It is
 * not stored, so that the same command takes it up again. */
static bool is_refused(Bench *b, json_t *turns)
{
    json_t *last = json_array_get(turns, json_array_size(turns) - 1);
    const char *reason = json_string_value(json_object_get(last, "reason"));
    const char *text = json_string_value(json_object_get(last, "status"));
    bool no_texts = json_array_size(json_object_get(last, "texts")) == 0;
    VerdictStatus status = VERDICT_OK;
    verdict_status_from_text(str_from(text ? text : ""), &status);
    bool refused = status == VERDICT_NO_TOOL || status == VERDICT_NO_WALL ||
                   (status == VERDICT_INTERNAL && b->spec->model && no_texts);
    if (refused) {
        b->done->refused++;
        snprintf(b->done->why, sizeof b->done->why, "%s", reason ? reason : "");
    }
    return refused;
}

/* One attempt for each turn of the reply. */
static bool keep_turns(Bench *b, Arena *arena, const BenchItem *item, const PoolReply *reply,
                       Diag *diag)
{
    json_error_t error;
    json_t *turns = json_loadb(reply->text.at, reply->text.len, JSON_ALLOW_NUL, &error);
    if (!json_is_array(turns))
        panic("a worker's reply is no list: %s", error.text);
    bool ok = true, refused = is_refused(b, turns);
    for (size_t i = 0; ok && !refused && i < json_array_size(turns); i++) {
        StoreAttempt a = bench_empty_attempt(b, item);
        a.turn = (uint32_t)i;
        a.seconds = reply->seconds / (double)json_array_size(turns);
        ok = add_origin(b, arena, item, &a, diag) &&
             wire_attempt(b->store, arena, json_array_get(turns, i), &a, diag) &&
             add_attempt(b, &a, diag);
    }
    json_decref(turns);
    return ok;
}

static bool keep_failure(Bench *b, Arena *arena, const BenchItem *item, const PoolReply *reply,
                         Diag *diag)
{
    StoreAttempt a = bench_empty_attempt(b, item);
    bool late = reply->end == POOL_LATE;
    a.status = late ? VERDICT_TIMEOUT : VERDICT_INTERNAL;
    a.seconds = reply->seconds;
    if (late)
        a.reason = str_format(arena, "not judged within %g s", b->spec->seconds);
    else if (reply->signal)
        a.reason = str_format(arena, "the judging process died twice: %s",
                              strsignal(reply->signal));
    else
        a.reason = str_format(arena, "the judging process ended twice with status %d",
                              reply->status);
    return add_origin(b, arena, item, &a, diag) && add_attempt(b, &a, diag);
}

/* The status of the last turn; internal, too, when there is none. */
static VerdictStatus last_status(Str reply)
{
    json_error_t error;
    json_t *turns = json_loadb(reply.at, reply.len, JSON_ALLOW_NUL, &error);
    json_t *last = json_array_get(turns, json_array_size(turns) - 1);
    const char *text = json_string_value(json_object_get(last, "status"));
    VerdictStatus status = VERDICT_INTERNAL;
    verdict_status_from_text(str_from(text ? text : ""), &status);
    json_decref(turns);
    return status;
}

/* A worker that died by itself, or whose judging failed, is given a second chance: the machine may have
 * been short of memory. What fails twice is kept as a failure: a candidate could have caused it. */
static bool take_reply(Bench *b, const PoolReply *reply, Diag *diag)
{
    BenchItem *item = &b->items.at[reply->id];
    Arena arena = {0};
    uint32_t refused = b->done->refused;
    bool failed = reply->end == POOL_DIED || (reply->end == POOL_DONE && !b->spec->model &&
                                              last_status(reply->text) == VERDICT_INTERNAL);
    if (failed && item->deaths++ == 0) {
        item->again = true;
        return true;
    }
    bool ok = reply->end == POOL_DONE ? keep_turns(b, &arena, item, reply, diag)
                                      : keep_failure(b, &arena, item, reply, diag);
    b->done->internal += failed && b->done->refused == refused;
    item->done = ok && b->done->refused == refused;
    b->done->judged += item->done;
    arena_drop(&arena);
    return ok;
}

/* ---- the loop ---- */

static bool next_item(Bench *b, uint32_t *index)
{
    for (uint32_t i = 0; i < b->items.len; i++) {
        BenchItem *item = &b->items.at[i];
        if (item->again || (!item->done && !item->sent)) {
            item->again = false;
            item->sent = true;
            *index = i;
            return true;
        }
    }
    return false;
}

static bool over_budget(const Bench *b, double start)
{
    return b->spec->budget > 0 && pool_clock() - start >= b->spec->budget;
}

/* What has failed for everyone so far will fail for the rest. */
enum { ENOUGH_REFUSALS = 3 };

static bool is_hopeless(Bench *b)
{
    b->done->gave_up = b->done->refused >= ENOUGH_REFUSALS && b->done->judged == 0;
    return b->done->gave_up;
}

static bool drive(Bench *b, Pool *pool, double start, Diag *diag)
{
    for (;;) {
        uint32_t index;
        while (pool_busy(pool) < pool_jobs(pool) && !over_budget(b, start) && !is_hopeless(b) &&
               next_item(b, &index)) {
            char request[16];
            int n = snprintf(request, sizeof request, "%u", index);
            if (!pool_send(pool, index, (Str){request, (size_t)n})) {
                diag_error(diag, "B006", (Span){0}, "no process can be started: %s",
                           "too many are running, or memory is short");
                return false;
            }
        }
        PoolReply reply;
        if (pool_busy(pool) == 0)
            return true;
        if (pool_next(pool, 1, -1, &reply) && !take_reply(b, &reply, diag))
            return false;
    }
}

static uint32_t count_done(const Bench *b)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->items.len; i++)
        n += b->items.at[i].done;
    return n;
}

enum { RECYCLE = 32 };

static bool judge_items(Bench *b, Diag *diag)
{
    double start = pool_clock();
    PoolSpec pool_spec = {.jobs = b->spec->jobs,
                          .seconds = b->spec->seconds,
                          .recycle = RECYCLE,
                          .work = bench_work,
                          .context = b};
    Pool *pool = pool_open(&pool_spec);
    bool ok = drive(b, pool, start, diag);
    pool_close(pool);
    struct rusage usage;
    if (getrusage(RUSAGE_CHILDREN, &usage) == 0)
        b->done->peak_bytes = (uint64_t)usage.ru_maxrss * 1024;
    b->done->seconds = pool_clock() - start;
    b->done->out_of_time = ok && over_budget(b, start) && count_done(b) < b->items.len;
    return ok;
}

bool bench_run(Store *store, const BenchSpec *spec, BenchDone *done, Diag *diag)
{
    Bench b = {.store = store, .spec = spec, .done = done, .cache = judge_cache_open()};
    *done = (BenchDone){0};
    list_items(&b);
    bool ok = begin_run(&b, diag) && put_tasks(&b, diag);
    ok = ok && (!spec->answers || bench_missing_drop(&b, diag)) &&
         (!b.failed_of || mark_done(&b, b.failed_of, true, diag)) &&
         mark_done(&b, b.run, false, diag);
    done->run = b.run;
    done->all = b.items.len;
    done->kept = count_done(&b);
    ok = ok && judge_items(&b, diag);
    ok = ok && (!spec->answers || spec->answered_only || bench_missing_put(&b, diag));
    if (ok && count_done(&b) == b.items.len)
        ok = store_run_finish(store, b.run, diag);
    judge_cache_close(b.cache);
    arena_drop(&b.arena);
    return ok;
}
