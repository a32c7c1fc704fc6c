/* Makes rows in several processes. In: a spec. Out: files in its directory.
 *
 *     rows.jsonl          messages                       rows.index   one line a row, for taking up again
 *     preferences.jsonl   prompt, chosen, rejected       state        how far the files are good
 *     labels.jsonl        prompt, completion, label      card.md      counts
 *     twins.jsonl         kernels in AscendC for rows in Craft
 *     long.jsonl          whole AscendC operators: rows, and twins of rows
 *     tokenizer.json, rows.tokens
 *
 * Workers make the rows of whole tasks; replies are taken in the order of the tasks, so the files do not
 * depend on how many workers there are. New rows wait, kind by kind, until it is their kind's turn, so that the
 * shares hold at every row of the files. Which kinds a task is asked for depends on what the tasks up to AHEAD
 * before it gave: those that are short. How many were asked for a kind before it decides the errors of its rows
 * (wants.c). */
#include "rows/rows_int.h"

#include "base/file.h"
#include "base/meter.h"
#include "graph/eval.h"
#include "loop/bench_pool.h"
#include "nn/bpe.h"
#include <malloc.h>
#include <signal.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    AHEAD = 256,      /* tasks that may be asked before the oldest has come */
    SAVE_EVERY = 200, /* tasks */
    UNITS = 8000000,  /* of work for a task (base/meter.h): one to five seconds */
    BRIEF_UNITS = 1000000,
    TASK_SECONDS = 120, /* these two should never pass: the limit above comes first */
    CPU_SECONDS = 30,
    KEPT_MEMORY = 1 << 28, /* bytes that a worker does not give back between tasks */
    HOPELESS = 400,
    TRUST = 20, /* tasks after which what a kind has given counts as much as kind.def's guess */
};

static const uint64_t sought = 1u << ROWS_REPAIR | 1u << ROWS_MEND | 1u << ROWS_MEND_FULL;
static const int status_over = 90; /* of a worker whose task has spent its units */

static const char packed[] = "packed"; /* in place of a state's numbers: only files.c has to end */

typedef struct Reply {
    bool there;
    Str text;
    Arena arena;
} Reply;

/* The rows of a kind that were made and whose turn has not come; a text is the wire form of rows_put_row. */
typedef struct Waiting {
    VEC(Buf) row;
    uint32_t first; /* that is still there */
} Waiting;

typedef struct Making {
    Arena *arena;
    const RowsSpec *spec;
    Diag *diag;
    RowsMaker maker;
    RowsSuites suites;
    const RowsFacts *facts;
    RowsCounts counts;
    Map seen; /* keys and texts of rows */
    RowsFiles files;
    Waiting waiting[ROWS_KINDS];
    uint32_t kinds[AHEAD]; /* bits of the kinds that a task is asked for, by number modulo AHEAD */
    uint64_t tasks[ROWS_KINDS];  /* that were asked for the kind and have come */
    uint64_t given[ROWS_KINDS];  /* new rows of these tasks */
    uint64_t coming[ROWS_KINDS]; /* tasks that are asked for the kind and have not come */
    uint64_t next;               /* task whose reply is taken next */
    uint64_t asked;              /* task that is sent next */
    uint64_t barren;             /* tasks since the last row */
    uint32_t explained;
    Reply replies[AHEAD];
    double began;
    uint64_t rows_before;
    bool packed, finished; /* by an earlier call */
} Making;

/* ---- workers ---- */

static bool next_number(Str *rest, uint64_t *number)
{
    Str word;
    int64_t n;
    if (!str_next(rest, ' ', &word) || !str_to_i64(str_trim(word), &n) || n < 0)
        return false;
    *number = (uint64_t)n;
    return true;
}

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

/* Prints how many rows of a kind were dropped, and why; ROWS_EXPLAIN stands for the task as a
 * whole. */
static void put_drops(int kind, const uint32_t dropped[DROP_COUNT], Buf *out)
{
    buf_printf(out, "D %d", kind);
    for (int i = 0; i < DROP_COUNT; i++)
        buf_printf(out, " %u", dropped[i]);
    buf_char(out, '\n');
}

/* Memory of a task stays with the process for the next one: giving it back cost a sixth of the time. */
static void keep_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, KEPT_MEMORY);
    mallopt(M_TRIM_THRESHOLD, KEPT_MEMORY);
    mallopt(M_TOP_PAD, KEPT_MEMORY / 16);
}

static void work(void *context, Str request, Buf *reply)
{
    Making *m = context;
    Arena arena = {0};
    uint64_t task = 0, kinds = 0;
    RowsMade made = {.arena = &arena};
    bool whole = next_number(&request, &task) && next_number(&request, &kinds);
    for (int i = 0; i < ROWS_EXPLAIN && whole; i++)
        whole = next_number(&request, &made.turn[i]);
    if (!whole)
        return;
    keep_memory();
    graph_eval_threads(1);
    limit_seconds();
    uint64_t units = m->spec->brief ? BRIEF_UNITS : UNITS;
    meter_start(units + (kinds & sought ? ROWS_SEEK_UNITS : 0), give_up);
    rows_of_task(&m->maker, rows_task_number(task, m->spec->brief), (uint32_t)kinds, &made);
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
    buf_printf(&out, "form 4 seed %llu rows %llu chip %s text %u%s%s mix",
               (unsigned long long)m->spec->seed, (unsigned long long)m->spec->rows,
               m->spec->chip->name, m->spec->text_share, m->spec->brief ? " brief" : "",
               m->spec->twins ? " twins" : "");
    for (int i = 0; i < ROWS_KINDS; i++)
        buf_printf(&out, " %u", m->spec->share[i]);
    char *text = buf_take(&out, m->arena);
    buf_free(&out);
    return text;
}

/* Options; numbers; the kinds of the tasks ahead; rows that wait. */
static bool save_state(Making *m)
{
    Buf out = {0};
    buf_printf(&out, "%s\n%llu %u", config_text(m), (unsigned long long)m->next, m->explained);
    rows_files_put(&m->files, &out);
    for (int i = 0; i < DROP_COUNT; i++)
        buf_printf(&out, " %" PRIu64, m->counts.dropped[i]);
    for (int i = 0; i < ROWS_KINDS; i++)
        buf_printf(&out, " %" PRIu64 " %" PRIu64, m->tasks[i], m->given[i]);
    for (int i = 0; i < AHEAD; i++)
        buf_printf(&out, " %u", m->kinds[i]);
    buf_char(&out, '\n');
    for (int i = 0; i < ROWS_KINDS; i++)
        for (uint32_t k = m->waiting[i].first; k < m->waiting[i].row.len; k++)
            buf_str(&out, buf_view(&m->waiting[i].row.at[k]));
    bool ok = rows_files_save(m->arena, &m->files, &out, m->diag);
    buf_free(&out);
    return ok;
}

static bool save_packed(Making *m)
{
    Buf out = {0};
    buf_printf(&out, "%s\n%s\n", config_text(m), packed);
    bool ok = rows_files_save(m->arena, &m->files, &out, m->diag);
    buf_free(&out);
    return ok;
}

static bool fail_making(Making *m, const char *why)
{
    diag_error(m->diag, "R001", (Span){0}, "%s", why);
    return false;
}

static void remember(Making *m, const RowsEntry *entry)
{
    map_put(m->arena, &m->seen, str_copy(m->arena, entry->key), 1);
    map_put(m->arena, &m->seen, str_copy(m->arena, entry->text), 1);
}

/* Reads the index: counts, and what is there already. */
static bool read_index(Making *m)
{
    Str text, line;
    if (!file_read(m->arena, in_dir(m, "rows.index"), ROWS_BYTES, &text, m->diag))
        return false;
    while (str_next(&text, '\n', &line)) {
        RowsEntry entry;
        RowsKind kind;
        Str hash, json;
        if (rows_twin_parse(line, &kind, &hash, &json)) {
            map_put(m->arena, &m->seen, str_copy(m->arena, hash), 1);
            m->counts.twins[kind]++;
            continue;
        }
        if (!line.len)
            continue;
        if (!rows_entry_parse(line, &entry))
            return fail_making(m, "rows.index is damaged");
        counts_add(&m->counts, &entry);
        remember(m, &entry);
    }
    return true;
}

/* Takes a row from the wire form, and what belongs to it. False: there is none. */
static bool next_row(Str *text, RowsEntry *entry, Str *row)
{
    Str rest = *text, line;
    if (!str_next(&rest, '\n', &line) || !rows_entry_parse(line, entry) ||
        !str_next(&rest, '\n', &line))
        return false;
    while (str_starts(rest, "P ") || str_starts(rest, "L ") || str_starts(rest, "T\t"))
        str_next(&rest, '\n', &line);
    *row = str_slice(*text, 0, text->len - rest.len);
    *text = rest;
    return true;
}

static void let_wait(Making *m, const RowsEntry *entry, Str row)
{
    Buf copy = {0};
    buf_str(&copy, row);
    remember(m, entry);
    vec_push(m->arena, &m->waiting[entry->kind].row, copy);
}

static bool take_up_numbers(Making *m, Str rest)
{
    uint64_t explained, length, kinds;
    int64_t good[ROWS_FILES];
    if (!next_number(&rest, &m->next) || !next_number(&rest, &explained))
        return fail_making(m, "its state is damaged");
    m->explained = (uint32_t)explained;
    for (int i = 0; i < ROWS_FILES; i++) {
        if (!next_number(&rest, &length))
            return fail_making(m, "its state is damaged");
        good[i] = (int64_t)length;
    }
    if (!rows_files_open(m->arena, &m->files, good, m->diag))
        return false;
    for (int i = 0; i < DROP_COUNT; i++)
        if (!next_number(&rest, &m->counts.dropped[i]))
            return fail_making(m, "its state is damaged");
    for (int i = 0; i < ROWS_KINDS; i++)
        if (!next_number(&rest, &m->tasks[i]) || !next_number(&rest, &m->given[i]))
            return fail_making(m, "its state is damaged");
    for (int i = 0; i < AHEAD; i++) {
        if (!next_number(&rest, &kinds) || kinds >> ROWS_KINDS)
            return fail_making(m, "its state is damaged");
        m->kinds[i] = (uint32_t)kinds;
        for (int k = 0; k < ROWS_KINDS; k++)
            m->coming[k] += kinds >> k & 1;
    }
    return true;
}

static bool is_same_run(Making *m, Str config)
{
    if (str_is(config, config_text(m)))
        return true;
    fail_making(m, str_format(m->arena, "it holds rows of another run (%.*s)", STR_ARG(config)));
    diag_hint(m->diag, "give the same options, or another directory with -o");
    return false;
}

/* Cuts the files to what the state says is good. */
static bool take_up(Making *m, Str state)
{
    Str config, numbers, rest = state, row;
    RowsEntry entry;
    str_next(&rest, '\n', &config);
    if (!is_same_run(m, config))
        return false;
    m->finished = file_exists(in_dir(m, "card.md")); /* it is written last */
    if (m->finished)
        return true;
    str_next(&rest, '\n', &numbers);
    m->packed = str_is(numbers, packed);
    if (m->packed)
        return true;
    if (!take_up_numbers(m, numbers) || !read_index(m))
        return false;
    while (next_row(&rest, &entry, &row))
        let_wait(m, &entry, row);
    return !rest.len || fail_making(m, "its state is damaged");
}

/* ---- replies ---- */

static bool is_new(const Making *m, const RowsEntry *entry)
{
    uint32_t found;
    return !map_get(&m->seen, entry->key, &found) && !map_get(&m->seen, entry->text, &found);
}

static void write_twin(Making *m, Str line)
{
    RowsKind kind;
    Str hash, json;
    uint32_t found;
    if (!rows_twin_parse(line, &kind, &hash, &json) || map_get(&m->seen, hash, &found)) {
        m->counts.dropped[DROP_TWIN]++;
        return;
    }
    map_put(m->arena, &m->seen, str_copy(m->arena, hash), 1);
    m->counts.twins[kind]++;
    fprintf(m->files.file[rows_kind_is_long(kind) ? FILE_LONG : FILE_TWINS], "%.*s\n",
            STR_ARG(json));
    fprintf(m->files.file[FILE_INDEX], "T\t%d\t%.*s\t\n", (int)kind, STR_ARG(hash));
}

static void write_row(Making *m, Str row)
{
    Str index, json, line;
    RowsEntry entry;
    str_next(&row, '\n', &index);
    str_next(&row, '\n', &json);
    rows_entry_parse(index, &entry);
    counts_add(&m->counts, &entry);
    m->barren = 0;
    fprintf(m->files.file[rows_kind_is_long(entry.kind) ? FILE_LONG : FILE_ROWS], "%.*s\n",
            STR_ARG(json));
    fprintf(m->files.file[FILE_INDEX], "%.*s\n", STR_ARG(index));
    while (row.len && str_next(&row, '\n', &line))
        if (line.at[0] == 'T')
            write_twin(m, line);
        else
            fprintf(m->files.file[line.at[0] == 'P' ? FILE_PREFERENCES : FILE_LABELS], "%.*s\n",
                    STR_ARG(str_slice(line, 2, line.len)));
}

/* The next question of the tables, in an order that mixes them. False: there is none. */
static bool write_explained(Making *m)
{
    uint32_t all = rows_fact_count(m->facts);
    bool written = false;
    while (!written && m->explained < all) {
        Arena scratch = {0};
        Buf out = {0};
        RowsEntry entry;
        uint64_t number = ((uint64_t)m->explained++ * 7919 + m->spec->seed) % all;
        Row row = rows_explain(&scratch, m->facts, (uint32_t)number);
        rows_put_row(m->spec, &row, &out);
        Str text = buf_view(&out), whole;
        written = next_row(&text, &entry, &whole) && is_new(m, &entry);
        if (written) {
            remember(m, &entry);
            write_row(m, whole);
        }
        buf_free(&out);
        arena_drop(&scratch);
    }
    return written;
}

/* The kind that gets what others leave: questions end with the tables. */
static RowsKind rest_kind(const RowsSpec *spec)
{
    int kind = ROWS_WRITE;
    while (kind < ROWS_EXPLAIN && !spec->share[kind])
        kind++;
    return (RowsKind)kind;
}

/* The kind that is shortest of its share when one more row is written. */
static RowsKind next_kind(const Making *m)
{
    int64_t rows = (int64_t)m->counts.rows + 1, rest = 100 * rows, lag[ROWS_KINDS];
    RowsKind other = rest_kind(m->spec), best = other;
    for (int i = 0; i < ROWS_KINDS; i++) {
        int64_t due = (int64_t)m->spec->share[i] * rows;
        int64_t facts = (int64_t)m->counts.kinds[i] + rows_fact_count(m->facts) - m->explained;
        if (i == ROWS_EXPLAIN && due > 100 * facts)
            due = 100 * facts;
        if (i != (int)other)
            rest -= due;
        lag[i] = due - 100 * (int64_t)m->counts.kinds[i];
    }
    lag[other] = rest - 100 * (int64_t)m->counts.kinds[other];
    for (int i = 0; i < ROWS_KINDS; i++)
        if (lag[i] > lag[best])
            best = (RowsKind)i;
    return best;
}

/* Rows whose turn it is. */
static void write_rows(Making *m)
{
    while (m->counts.rows < m->spec->rows) {
        RowsKind kind = next_kind(m);
        Waiting *w = &m->waiting[kind];
        if (kind == ROWS_EXPLAIN) {
            if (!write_explained(m) && rest_kind(m->spec) == ROWS_EXPLAIN)
                return;
        } else if (w->first < w->row.len) {
            Buf *row = &w->row.at[w->first++];
            write_row(m, buf_view(row));
            buf_free(row);
        } else {
            return;
        }
    }
}

/* Rows in thousandths that a kind will have once the tasks that are asked have come. */
static uint64_t expected(const Making *m, RowsKind kind, uint64_t *of_task)
{
    const Waiting *w = &m->waiting[kind];
    *of_task = (rows_kind_yield(kind) * TRUST + 1000 * m->given[kind]) / (TRUST + m->tasks[kind]);
    return 1000 * (m->counts.kinds[kind] + w->row.len - w->first) + *of_task * m->coming[kind];
}

/* Decides which kinds a task is asked for: all that are within a task's rows of the shortest. */
static void ask_kinds(Making *m, uint64_t task)
{
    const uint32_t *share = m->spec->share;
    uint64_t least = UINT64_MAX, of_task;
    uint32_t kinds = 0;
    for (int i = 0; i < ROWS_EXPLAIN; i++)
        if (share[i]) {
            uint64_t filled = expected(m, (RowsKind)i, &of_task) / share[i];
            least = filled < least ? filled : least;
        }
    for (int i = 0; i < ROWS_EXPLAIN; i++)
        if (share[i] && expected(m, (RowsKind)i, &of_task) <= least * share[i] + of_task) {
            kinds |= 1u << i;
            m->coming[i]++;
        }
    m->kinds[task % AHEAD] = kinds;
}

static void take_drops(Making *m, Str rest)
{
    uint64_t kind = 0, n;
    if (!next_number(&rest, &kind))
        return;
    for (int i = 0; i < DROP_COUNT && next_number(&rest, &n); i++)
        m->counts.dropped[i] += n;
}

static void take_row(Making *m, const RowsEntry *entry, Str row)
{
    if (is_new(m, entry)) {
        m->given[entry->kind]++;
        let_wait(m, entry, row);
    } else {
        m->counts.dropped[DROP_TWICE]++;
    }
}

/* False: a contradiction. */
static bool take_reply(Making *m, Str text)
{
    Str line, row;
    RowsEntry entry;
    uint32_t kinds = m->kinds[m->next % AHEAD];
    for (int i = 0; i < ROWS_EXPLAIN; i++)
        if (kinds >> i & 1) {
            m->tasks[i]++;
            m->coming[i]--;
        }
    while (text.len) {
        if (next_row(&text, &entry, &row)) {
            take_row(m, &entry, row);
            continue;
        }
        str_next(&text, '\n', &line);
        if (str_starts(line, "D ")) {
            take_drops(m, str_slice(line, 2, line.len));
        } else if (str_starts(line, "C ")) {
            diag_error(m->diag, "R002", (Span){0}, "%.*s\n%.*s",
                       STR_ARG(str_slice(line, 2, line.len)), STR_ARG(text));
            return false;
        }
    }
    m->barren++;
    write_rows(m);
    ask_kinds(m, m->next + AHEAD);
    return true;
}

/* ---- the run ---- */

static bool open_files(Making *m)
{
    static const int64_t none[ROWS_FILES];
    Str state;
    m->files.dir = m->spec->dir;
    if (!rows_files_hold(m->arena, &m->files, &state, m->diag))
        return false;
    if (state.len && !take_up(m, state))
        return false;
    if (m->finished || m->packed)
        return true;
    for (uint64_t i = 0; i < AHEAD && !state.len; i++)
        ask_kinds(m, i);
    m->asked = m->next;
    m->rows_before = m->counts.rows;
    return state.len || (rows_files_open(m->arena, &m->files, none, m->diag) && save_state(m));
}

static void report(const Making *m)
{
    double seconds = pool_clock() - m->began;
    uint64_t made = m->counts.rows - m->rows_before;
    double left = made ? seconds / (double)made * (double)(m->spec->rows - m->counts.rows) : -1;
    if (m->spec->progress)
        m->spec->progress(m->spec->context, m->counts.rows, m->spec->rows, left);
}

/* Tasks before `task` that were asked for the kind. */
static uint64_t count_asked(const Making *m, int kind, uint64_t task)
{
    uint64_t n = m->tasks[kind];
    for (uint64_t i = m->next; i < task; i++)
        n += m->kinds[i % AHEAD] >> kind & 1;
    return n;
}

static void send_tasks(Making *m, Pool *pool)
{
    while (pool_busy(pool) < pool_jobs(pool) && m->asked < m->next + AHEAD) {
        Buf request = {0};
        buf_printf(&request, "%llu %u", (unsigned long long)m->asked, m->kinds[m->asked % AHEAD]);
        for (int i = 0; i < ROWS_EXPLAIN; i++)
            buf_printf(&request, " %" PRIu64, count_asked(m, i, m->asked));
        bool sent = pool_send(pool, m->asked, buf_view(&request));
        buf_free(&request);
        if (!sent)
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

static bool is_complete(const Making *m) { return m->counts.rows >= m->spec->rows; }

/* Replies in order, as far as they are there. */
static RowsEnd take_replies(Making *m)
{
    RowsEnd end = ROWS_DONE;
    for (Reply *r = &m->replies[m->next % AHEAD]; end == ROWS_DONE && r->there && !is_complete(m);
         r = &m->replies[m->next % AHEAD]) {
        bool ok = take_reply(m, r->text);
        arena_drop(&r->arena);
        *r = (Reply){0};
        m->next++;
        if (!ok)
            end = ROWS_CONTRADICTION;
        else if (m->next % SAVE_EVERY == 0 && !save_state(m))
            end = ROWS_FAILED;
    }
    return end;
}

static RowsEnd run(Making *m)
{
    PoolSpec spec = {
        .jobs = m->spec->jobs, .seconds = TASK_SECONDS, .recycle = 200, .work = work, .context = m};
    Pool *pool = pool_open(&spec);
    RowsEnd end = pool ? ROWS_DONE : ROWS_FAILED;
    while (end == ROWS_DONE && !is_complete(m)) {
        PoolReply reply;
        if (m->spec->stop && *m->spec->stop)
            end = ROWS_STOPPED;
        else if (m->barren > HOPELESS &&
                 !fail_making(m, "hundreds of tasks in a row gave no row of the "
                                 "kinds that are still wanted"))
            end = ROWS_FAILED;
        send_tasks(m, pool);
        if (end == ROWS_DONE && pool_next(pool, 1, -1, &reply) &&
            !(m->spec->stop && *m->spec->stop)) {
            keep_reply(m, &reply);
            end = take_replies(m);
        }
        report(m);
    }
    if (pool)
        pool_close(pool);
    return end;
}

/* Whenever it is broken off, the next call ends it: first the new files are made beside the others, then these are
 * replaced. */
static bool pack(Making *m)
{
    const char *dir = in_dir(m, packed);
    Buf card = {0};
    m->counts.tasks = m->next;
    if ((file_exists(dir) && !file_remove_tree(dir, m->diag)) || !file_make_dirs(dir, m->diag) ||
        !rows_pack(m->arena, m->spec, dir, &m->counts, m->diag))
        return false;
    counts_card(&m->counts, m->spec, m->maker.suites, &card);
    bool ok = file_write(path_join(m->arena, dir, "card.md"), buf_view(&card), m->diag);
    buf_free(&card);
    return ok && save_packed(m);
}

static RowsEnd make(Making *m)
{
    if (m->finished)
        return ROWS_DONE;
    RowsEnd end = m->packed ? ROWS_DONE : run(m);
    /* After a failed write or a contradiction the state before stands, and the same call comes there again. */
    bool good = end == ROWS_DONE || end == ROWS_STOPPED;
    if (!m->packed && good && !save_state(m))
        return ROWS_FAILED;
    if (end == ROWS_DONE &&
        ((!m->packed && !pack(m)) || !rows_files_move(m->arena, &m->files, m->diag)))
        end = ROWS_FAILED;
    return end;
}

/* Checked before the first row, so that a wrong path does not fail after hours of work. */
static bool has_tokenizer(const RowsSpec *spec, Diag *diag)
{
    Bpe *bpe = spec->tokenizer ? bpe_open(spec->tokenizer, diag) : NULL;
    bool ok = !spec->tokenizer || bpe;
    bpe_close(bpe);
    return ok;
}

RowsEnd rows_make(Arena *arena, const RowsSpec *spec, Diag *diag)
{
    if (!has_tokenizer(spec, diag))
        return ROWS_FAILED;
    Making *m = arena_new(arena, Making);
    *m = (Making){.arena = arena, .spec = spec, .diag = diag, .began = pool_clock()};
    m->counts.arena = arena;
    m->facts = rows_facts(arena);
    bool open = open_files(m);
    if (open && !m->finished && spec->tasks)
        rows_suites_add(&m->suites, spec->tasks);
    m->maker = (RowsMaker){.chip = spec->chip,
                           .suites = spec->tasks ? &m->suites : NULL,
                           .seed = spec->seed,
                           .text_share = spec->text_share,
                           .brief = spec->brief,
                           .twins = spec->twins};
    RowsEnd end = open ? make(m) : ROWS_FAILED;
    rows_files_release(&m->files);
    for (int i = 0; i < AHEAD; i++)
        arena_drop(&m->replies[i].arena);
    for (int i = 0; i < ROWS_KINDS; i++)
        for (uint32_t k = m->waiting[i].first; k < m->waiting[i].row.len; k++)
            buf_free(&m->waiting[i].row.at[k]);
    arena_drop(&m->suites.arena);
    return end;
}
