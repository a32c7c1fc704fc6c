/* Makes rows in several processes. In: a spec. Out: files in its directory.
 *
 *     rows.jsonl          messages                       rows.index   one line a row, for taking up again
 *     preferences.jsonl   prompt, chosen, rejected       state        how far the files are good
 *     labels.jsonl        prompt, completion, label      card.md      counts
 *     tokenizer.json, rows.tokens
 *
 * Workers make the rows of whole tasks; replies are taken in the order of the tasks, so the files do not
 * depend on how many workers there are. A row is kept if it is new and its kind is still short of its
 * share. */
#include "rows/rows_int.h"

#include "base/file.h"
#include "base/meter.h"
#include "graph/eval.h"
#include "loop/bench_pool.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    AHEAD = 8192,     /* tasks that may be asked before the oldest has come */
    SAVE_EVERY = 200, /* tasks */
    UNITS = 8000000,  /* of work for a task (base/meter.h): one to five seconds */
    BRIEF_UNITS = 2000000,
    TASK_SECONDS = 120, /* these two should never pass: the limit above comes first */
    CPU_SECONDS = 30,
    FILES = 4,
    HOPELESS = 400,
};

static const int status_over = 90; /* of a worker whose task has spent its units */

static const char *const file_names[FILES] = {"rows.jsonl", "preferences.jsonl", "labels.jsonl",
                                              "rows.index"};

typedef struct Reply {
    bool there;
    Str text;
    Arena arena;
} Reply;

typedef struct Making {
    Arena *arena;
    const RowsSpec *spec;
    Diag *diag;
    RowsMaker maker;
    RowsSuites suites;
    const RowsFacts *facts;
    RowsCounts counts;
    Map seen; /* keys and texts of rows */
    FILE *file[FILES];
    uint64_t wanted[ROWS_KINDS];
    uint64_t next;   /* task whose reply is taken next */
    uint64_t asked;  /* task that is sent next */
    uint64_t barren; /* tasks since the last row */
    uint32_t explained;
    Reply replies[AHEAD];
    double began;
    uint64_t rows_before;
} Making;

/* ---- workers ---- */

/* The process ends: no task leaves anything behind in the next. */
static void give_up(void) { _exit(status_over); }

/* The kernel ends the process where work is not counted. */
static void limit_seconds(void)
{
    struct rlimit limit = {0};
    rlim_t used = (rlim_t)(clock() / CLOCKS_PER_SEC);
    if (getrlimit(RLIMIT_CPU, &limit) == 0) {
        limit.rlim_cur = used + CPU_SECONDS;
        setrlimit(RLIMIT_CPU, &limit);
    }
}

/* Of a kind; ROWS_EXPLAIN: of the task as a whole. */
static void put_drops(int kind, const uint32_t dropped[DROP_COUNT], Buf *out)
{
    buf_printf(out, "D %d", kind);
    for (int i = 0; i < DROP_COUNT; i++)
        buf_printf(out, " %u", dropped[i]);
    buf_char(out, '\n');
}

static void work(void *context, Str request, Buf *reply)
{
    Making *m = context;
    Arena arena = {0};
    Str number, rest = request;
    int64_t task = 0, kinds = 0;
    str_next(&rest, ' ', &number);
    if (!str_to_i64(number, &task) || !str_to_i64(rest, &kinds))
        return;
    graph_eval_threads(1);
    RowsMade made = {.arena = &arena};
    limit_seconds();
    meter_start(m->spec->brief ? BRIEF_UNITS : UNITS, give_up);
    rows_of_task(&m->maker, (uint64_t)task, (uint32_t)kinds, &made);
    meter_start(0, NULL);
    put_drops(ROWS_EXPLAIN, made.dropped, reply);
    for (int i = 0; i < ROWS_EXPLAIN; i++)
        if (kinds >> i & 1)
            put_drops(i, made.of_kind[i], reply);
    for (uint32_t i = 0; i < made.rows.len; i++)
        rows_put_row(m->spec, &made.rows.at[i], reply);
    if (made.contradiction)
        buf_printf(reply, "C %s\n", made.contradiction);
    arena_drop(&arena);
}

/* ---- state ---- */

static const char *in_dir(const Making *m, const char *name)
{
    return path_join(m->arena, m->spec->dir, name);
}

/* What the files depend on besides the program. */
static const char *config_text(const Making *m)
{
    Buf out = {0};
    buf_printf(&out, "seed %llu rows %llu chip %s text %u%s mix", (unsigned long long)m->spec->seed,
               (unsigned long long)m->spec->rows, m->spec->chip->name, m->spec->text_share,
               m->spec->brief ? " brief" : "");
    for (int i = 0; i < ROWS_KINDS; i++)
        buf_printf(&out, " %u", m->spec->share[i]);
    char *text = buf_take(&out, m->arena);
    buf_free(&out);
    return text;
}

static bool save_state(Making *m)
{
    Buf out = {0};
    buf_printf(&out, "%s\n%llu %u", config_text(m), (unsigned long long)m->next, m->explained);
    for (int i = 0; i < FILES; i++) {
        fflush(m->file[i]);
        buf_printf(&out, " %lld", (long long)ftello(m->file[i]));
    }
    for (int i = 0; i < DROP_COUNT; i++)
        buf_printf(&out, " %llu", (unsigned long long)m->counts.dropped[i]);
    buf_char(&out, '\n');
    bool ok = file_write(in_dir(m, "state"), buf_view(&out), m->diag);
    buf_free(&out);
    return ok;
}

static bool next_number(Str *rest, uint64_t *number)
{
    Str word;
    int64_t n;
    if (!str_next(rest, ' ', &word) || !str_to_i64(str_trim(word), &n) || n < 0)
        return false;
    *number = (uint64_t)n;
    return true;
}

static bool fail(Making *m, const char *why)
{
    diag_error(m->diag, "R001", (Span){0}, "%s: %s", m->spec->dir, why);
    return false;
}

/* Reads the index: counts, and what is there already. */
static bool read_index(Making *m)
{
    Str text, line;
    if (!file_read(m->arena, in_dir(m, "rows.index"), 0, &text, m->diag))
        return false;
    while (str_next(&text, '\n', &line)) {
        RowsEntry entry;
        if (!line.len)
            continue;
        if (!rows_entry_parse(line, &entry))
            return fail(m, "rows.index is damaged");
        counts_add(&m->counts, &entry);
        map_put(m->arena, &m->seen, entry.key, 1);
        map_put(m->arena, &m->seen, entry.text, 1);
    }
    return true;
}

/* Cuts the files to what the state says is good. */
static bool take_up(Making *m, Str state)
{
    Str config, rest = state;
    uint64_t explained, length;
    str_next(&rest, '\n', &config);
    if (!str_is(config, config_text(m))) {
        fail(m, str_format(m->arena, "it holds rows of another run (%.*s)", STR_ARG(config)));
        diag_hint(m->diag, "give the same options, or another directory with -o");
        return false;
    }
    if (!next_number(&rest, &m->next) || !next_number(&rest, &explained))
        return fail(m, "its state is damaged");
    m->explained = (uint32_t)explained;
    for (int i = 0; i < FILES; i++)
        if (!next_number(&rest, &length) || truncate(in_dir(m, file_names[i]), (off_t)length))
            return fail(m, "its state does not fit its files");
    for (int i = 0; i < DROP_COUNT; i++)
        if (!next_number(&rest, &m->counts.dropped[i]))
            return fail(m, "its state is damaged");
    return read_index(m);
}

static bool open_files(Making *m)
{
    Str state = {0};
    const char *path = in_dir(m, "state");
    if (!file_make_dirs(m->spec->dir, m->diag))
        return false;
    bool again = file_exists(path);
    if (again && (!file_read(m->arena, path, 0, &state, m->diag) || !take_up(m, state)))
        return false;
    for (int i = 0; i < FILES; i++) {
        m->file[i] = fopen(in_dir(m, file_names[i]), again ? "ab" : "wb");
        if (!m->file[i])
            return fail(m, str_format(m->arena, "%s cannot be written", file_names[i]));
        fseeko(m->file[i], 0, SEEK_END);
    }
    m->asked = m->next;
    m->rows_before = m->counts.rows;
    return true;
}

static void close_files(Making *m)
{
    for (int i = 0; i < FILES; i++)
        if (m->file[i])
            fclose(m->file[i]);
}

/* ---- replies ---- */

static bool is_new(Making *m, const RowsEntry *entry)
{
    uint32_t found;
    if (map_get(&m->seen, entry->key, &found) || map_get(&m->seen, entry->text, &found))
        return false;
    map_put(m->arena, &m->seen, str_copy(m->arena, entry->key), 1);
    map_put(m->arena, &m->seen, str_copy(m->arena, entry->text), 1);
    return true;
}

/* The row whose index line was read: kept or not, with what follows it. */
static bool take_row(Making *m, Str index, Str json)
{
    RowsEntry entry;
    if (!rows_entry_parse(index, &entry))
        return false;
    if (m->counts.kinds[entry.kind] >= m->wanted[entry.kind])
        return false;
    if (!is_new(m, &entry)) {
        m->counts.dropped[DROP_TWICE]++;
        return false;
    }
    counts_add(&m->counts, &entry);
    m->barren = 0;
    fprintf(m->file[0], "%.*s\n", STR_ARG(json));
    fprintf(m->file[3], "%.*s\n", STR_ARG(index));
    return true;
}

/* Questions go between the other rows, in an order that mixes the tables. */
static void add_explained(Making *m)
{
    uint32_t all = rows_fact_count(m->facts);
    uint64_t others = m->counts.rows - m->counts.kinds[ROWS_EXPLAIN];
    uint64_t of = m->spec->rows - m->wanted[ROWS_EXPLAIN];
    while (m->counts.kinds[ROWS_EXPLAIN] < m->wanted[ROWS_EXPLAIN] && m->explained < all &&
           (m->counts.kinds[ROWS_EXPLAIN] + 1) * of <= (others + 1) * m->wanted[ROWS_EXPLAIN]) {
        Arena scratch = {0};
        Buf out = {0};
        uint64_t number = ((uint64_t)m->explained++ * 7919 + m->spec->seed) % all;
        Row row = rows_explain(&scratch, m->facts, (uint32_t)number);
        rows_put_row(m->spec, &row, &out);
        Str text = buf_view(&out), index, json;
        if (str_next(&text, '\n', &index) && str_next(&text, '\n', &json))
            take_row(m, index, json);
        buf_free(&out);
        arena_drop(&scratch);
    }
}

static uint32_t open_kinds(const Making *m)
{
    uint32_t kinds = 0;
    for (int i = 0; i < ROWS_EXPLAIN; i++)
        kinds |= m->counts.kinds[i] < m->wanted[i] ? 1u << i : 0;
    return kinds;
}

/* Only of kinds that were still wanted: how far a worker is ahead does not count. */
static void take_drops(Making *m, Str rest, uint32_t kinds)
{
    uint64_t kind = 0, n;
    if (!next_number(&rest, &kind) || kind > ROWS_EXPLAIN || !(kinds >> kind & 1))
        return;
    for (int i = 0; i < DROP_COUNT && next_number(&rest, &n); i++)
        m->counts.dropped[i] += n;
}

/* False: a contradiction. */
static bool take_reply(Making *m, Str text)
{
    Str line, json;
    bool kept = false;
    uint32_t kinds = open_kinds(m) | 1u << ROWS_EXPLAIN;
    while (str_next(&text, '\n', &line)) {
        if (str_starts(line, "D "))
            take_drops(m, str_slice(line, 2, line.len), kinds);
        else if (str_starts(line, "R\t")) {
            str_next(&text, '\n', &json);
            kept = take_row(m, line, json);
            add_explained(m);
        } else if (str_starts(line, "P ") && kept) {
            fprintf(m->file[1], "%.*s\n", STR_ARG(str_slice(line, 2, line.len)));
        } else if (str_starts(line, "L ") && kept) {
            fprintf(m->file[2], "%.*s\n", STR_ARG(str_slice(line, 2, line.len)));
        } else if (str_starts(line, "C ")) {
            diag_error(m->diag, "R002", (Span){0}, "%.*s\n%.*s",
                       STR_ARG(str_slice(line, 2, line.len)), STR_ARG(text));
            return false;
        }
    }
    m->barren++;
    return true;
}

/* ---- the run ---- */

static void want_kinds(Making *m)
{
    uint64_t left = m->spec->rows, facts = rows_fact_count(m->facts);
    for (int i = ROWS_KINDS - 1; i > 0; i--) {
        m->wanted[i] = m->spec->rows * m->spec->share[i] / 100;
        if (i == ROWS_EXPLAIN && m->wanted[i] > facts)
            m->wanted[i] = facts;
        left -= m->wanted[i];
    }
    m->wanted[ROWS_WRITE] = left;
    for (int i = 1; i < ROWS_EXPLAIN && !m->spec->share[ROWS_WRITE]; i++)
        if (m->spec->share[i]) { /* nothing is to be written: the rest goes to the next kind */
            m->wanted[i] += left;
            m->wanted[ROWS_WRITE] = left = 0;
        }
}

static void report(const Making *m)
{
    double seconds = pool_clock() - m->began;
    uint64_t made = m->counts.rows - m->rows_before;
    double left = made ? seconds / (double)made * (double)(m->spec->rows - m->counts.rows) : -1;
    if (m->spec->progress)
        m->spec->progress(m->spec->context, m->counts.rows, m->spec->rows, left);
}

static void send_tasks(Making *m, Pool *pool)
{
    while (pool_busy(pool) < pool_jobs(pool) && m->asked < m->next + AHEAD) {
        char request[64];
        snprintf(request, sizeof request, "%llu %u", (unsigned long long)m->asked, open_kinds(m));
        if (!pool_send(pool, m->asked, str_from(request)))
            return;
        m->asked++;
    }
}

static void keep_reply(Making *m, const PoolReply *got)
{
    Reply *r = &m->replies[got->id % AHEAD];
    r->there = true;
    if (got->end == POOL_DONE) {
        r->text = str_copy(&r->arena, got->text);
        return;
    }
    uint32_t dropped[DROP_COUNT] = {0};
    Buf out = {0};
    bool over = got->end == POOL_DIED && got->status == status_over;
    bool late = got->end == POOL_LATE || got->signal == SIGXCPU;
    dropped[over ? DROP_WORK : late ? DROP_LATE : DROP_DIED] = 1;
    put_drops(ROWS_EXPLAIN, dropped, &out);
    r->text = str_copy(&r->arena, buf_view(&out));
    buf_free(&out);
}

/* Replies in order, as far as they are there. False: a contradiction. */
static bool take_replies(Making *m)
{
    bool ok = true;
    for (Reply *r = &m->replies[m->next % AHEAD]; ok && r->there && open_kinds(m);
         r = &m->replies[m->next % AHEAD]) {
        ok = take_reply(m, r->text);
        arena_drop(&r->arena);
        *r = (Reply){0};
        m->next++;
        if (m->next % SAVE_EVERY == 0)
            ok = save_state(m) && ok;
    }
    return ok;
}

static RowsEnd run(Making *m)
{
    PoolSpec spec = {
        .jobs = m->spec->jobs, .seconds = TASK_SECONDS, .recycle = 200, .work = work, .context = m};
    Pool *pool = pool_open(&spec);
    RowsEnd end = pool ? ROWS_DONE : ROWS_FAILED;
    while (end == ROWS_DONE && open_kinds(m)) {
        PoolReply reply;
        if (m->spec->stop && *m->spec->stop)
            end = ROWS_STOPPED;
        else if (m->barren > HOPELESS && !fail(m, "hundreds of tasks in a row gave no row of the "
                                                  "kinds that are still wanted"))
            end = ROWS_FAILED;
        send_tasks(m, pool);
        if (end == ROWS_DONE && pool_next(pool, 1, -1, &reply)) {
            keep_reply(m, &reply);
            if (!take_replies(m))
                end = ROWS_CONTRADICTION;
        }
        report(m);
    }
    if (pool)
        pool_close(pool);
    return end;
}

static bool finish(Making *m)
{
    Buf card = {0};
    m->counts.tasks = m->next;
    if (!rows_pack(m->arena, m->spec, &m->counts, m->diag))
        return false;
    counts_card(&m->counts, m->spec, m->maker.suites, &card);
    bool ok = file_write(in_dir(m, "card.md"), buf_view(&card), m->diag);
    buf_free(&card);
    return ok;
}

RowsEnd rows_make(Arena *arena, const RowsSpec *spec, Diag *diag)
{
    Making *m = arena_new(arena, Making);
    *m = (Making){.arena = arena, .spec = spec, .diag = diag, .began = pool_clock()};
    m->counts.arena = arena;
    m->facts = rows_facts(arena);
    want_kinds(m);
    if (spec->tasks)
        rows_suites_add(&m->suites, spec->tasks);
    m->maker = (RowsMaker){.chip = spec->chip,
                           .suites = spec->tasks ? &m->suites : NULL,
                           .seed = spec->seed,
                           .text_share = spec->text_share,
                           .brief = spec->brief};
    if (!open_files(m)) {
        close_files(m);
        return ROWS_FAILED;
    }
    RowsEnd end = run(m);
    bool saved = save_state(m);
    close_files(m);
    if (end == ROWS_DONE && (!saved || !finish(m)))
        end = ROWS_FAILED;
    for (int i = 0; i < AHEAD; i++)
        arena_drop(&m->replies[i].arena);
    arena_drop(&m->suites.arena);
    return end;
}
