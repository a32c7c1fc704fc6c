/* Checks the files of a run again. In: its directory, the suites' files. Out: counts.
 *
 * Every row's task is drawn again from the row's id and compared with the suites; every row is encoded with the
 * run's tokenizer; equal rows are found by their text. */
#include "rows/rows_int.h"

#include "base/file.h"
#include "base/hash.h"
#include "nn/bpe.h"
#include <jansson.h>
#include <string.h>

typedef struct Checking {
    Arena *arena;
    const RowsSuites *suites;
    const Bpe *bpe;
    Map seen;
    uint64_t wants[ROWS_WANTS];
    bool operators[OP_COUNT];
    uint64_t last_task; /* number + 1 of the task that was compared last */
    RowsCheck *check;
} Checking;

static const char *text_of(const json_t *row, size_t message)
{
    const json_t *m = json_array_get(json_object_get(row, "messages"), message);
    const char *text = json_string_value(json_object_get(m, "content"));
    return text ? text : "";
}

static void count_tokens(Checking *c, Str text, size_t most)
{
    Arena scratch = {0};
    TokenList ids = {0};
    bpe_encode(c->bpe, &scratch, text, false, &ids);
    c->check->over += ids.len + 1 > most;
    if (most == ROWS_TOKENS && ids.len + 1 > c->check->longest)
        c->check->longest = ids.len + 1;
    arena_drop(&scratch);
}

/* "41-17-3": seed, task, row. */
static bool read_id(const char *id, uint64_t *seed, uint64_t *task)
{
    Str rest = str_from(id ? id : ""), word;
    int64_t s, t;
    if (!str_next(&rest, '-', &word) || !str_to_i64(word, &s) || !str_next(&rest, '-', &word) ||
        !str_to_i64(word, &t) || s < 0 || t < 0)
        return false;
    *seed = (uint64_t)s;
    *task = (uint64_t)t;
    return true;
}

static void count_graph(Checking *c, Arena *scratch, const Graph *graph)
{
    Buf text = {0};
    uint32_t found;
    graph_print(graph_normal(scratch, graph), &text);
    Str hash = str_from(
        str_format(c->arena, "g%016llx", (unsigned long long)hash64(text.at, text.len)));
    c->check->graphs += !map_get(&c->seen, hash, &found);
    map_put(c->arena, &c->seen, hash, 1);
    buf_free(&text);
}

static void compare_task(Checking *c, const char *id)
{
    uint64_t seed, number;
    if (!read_id(id, &seed, &number)) {
        c->check->lost++;
        return;
    }
    if (number + 1 == c->last_task)
        return;
    Arena scratch = {0};
    RowsTask task = {.number = number};
    bool differs;
    c->last_task = number + 1;
    c->check->tasks++;
    if (!rows_draw(&scratch, seed, number, &task, &differs)) {
        c->check->lost++;
    } else {
        RowsNear near = rows_near(&scratch, c->suites, &task);
        c->check->near_graph += near == NEAR_GRAPH;
        c->check->near_words += near == NEAR_WORDS;
        count_graph(c, &scratch, task.read->graph);
        for (uint32_t i = 0; i < task.drawn->nodes.len; i++)
            c->operators[task.drawn->nodes.at[i].op] = true;
    }
    arena_drop(&scratch);
}

static Str field(const json_t *row, const char *name)
{
    const char *text = json_string_value(json_object_get(row, name));
    return str_from(text ? text : "");
}

static void count_error(Checking *c, const json_t *row)
{
    RowsKind kind = ROWS_WRITE;
    while (kind < ROWS_EXPLAIN && !str_is(field(row, "kind"), rows_kind_name(kind)))
        kind++;
    c->check->repairs += kind == ROWS_REPAIR;
    c->check->mends += kind == ROWS_MEND || kind == ROWS_MEND_FULL;
    uint32_t want = rows_want_of(kind, field(row, "error"), field(row, "code"));
    if (want < ROWS_WANTS)
        c->wants[want]++;
}

/* Whether a row of that text is there already, and has at most so many tokens. */
static void check_text(Checking *c, const json_t *row, size_t most)
{
    Buf text = {0};
    uint32_t found;
    buf_puts(&text, text_of(row, 0));
    buf_puts(&text, text_of(row, 1));
    char *hash = str_format(c->arena, "%016llx", (unsigned long long)hash64(text.at, text.len));
    c->check->twice += map_get(&c->seen, str_from(hash), &found);
    map_put(c->arena, &c->seen, str_from(hash), 1);
    count_tokens(c, buf_view(&text), most);
    buf_free(&text);
}

static void check_row(Checking *c, const json_t *row)
{
    const char *kind = json_string_value(json_object_get(row, "kind"));
    c->check->rows++;
    check_text(c, row, ROWS_TOKENS);
    count_error(c, row);
    if (c->suites && kind && strcmp(kind, rows_kind_name(ROWS_EXPLAIN)))
        compare_task(c, json_string_value(json_object_get(row, "id")));
}

/* A row of twins.jsonl or long.jsonl. */
static void check_other(Checking *c, const json_t *row, size_t most)
{
    c->check->others++;
    check_text(c, row, most);
    count_error(c, row);
}

/* most 0: rows.jsonl, whose rows name the tasks. */
static bool check_lines(Checking *c, const char *dir, const char *name, size_t most, Diag *diag)
{
    const char *path = path_join(c->arena, dir, name);
    Str text, line;
    if (most && !file_exists(path))
        return true;
    if (!file_read(c->arena, path, ROWS_BYTES, &text, diag))
        return false;
    if (!most)
        c->check->hash = hash64(text.at, text.len);
    for (uint32_t number = 1; str_next(&text, '\n', &line); number++) {
        json_t *row = line.len ? json_loadb(line.at, line.len, 0, NULL) : NULL;
        if (line.len && !row) {
            diag_error(diag, "R001", (Span){0}, "line %u of %s is damaged", number, name);
            return false;
        }
        if (row && most)
            check_other(c, row, most);
        else if (row)
            check_row(c, row);
        json_decref(row);
    }
    return true;
}

/* A run that has ended has a card; it is written last. */
static bool is_finished(Arena *arena, const char *dir, Diag *diag)
{
    if (file_exists(path_join(arena, dir, "card.md")))
        return true;
    if (!file_exists(path_join(arena, dir, "state")))
        diag_error(diag, "R001", (Span){0}, "no rows of acraft data make are here");
    else
        diag_error(diag, "R001", (Span){0}, "the run is not finished");
    diag_hint(diag, "acraft data make -o %s with the run's options makes its rows", dir);
    return false;
}

bool rows_check(Arena *arena, const RowsCheckSpec *spec, RowsCheck *check, Diag *diag)
{
    RowsSuites suites = {0};
    const char *tokenizer = spec->tokenizer ? spec->tokenizer
                                            : path_join(arena, spec->dir, "tokenizer.json");
    *check = (RowsCheck){0};
    if (!is_finished(arena, spec->dir, diag))
        return false;
    Bpe *bpe = bpe_open(tokenizer, diag);
    if (!bpe)
        return false;
    if (spec->tasks)
        rows_suites_add(&suites, spec->tasks);
    Checking c = {
        .arena = arena, .suites = spec->tasks ? &suites : NULL, .bpe = bpe, .check = check};
    bool ok = check_lines(&c, spec->dir, "rows.jsonl", 0, diag) &&
              check_lines(&c, spec->dir, "twins.jsonl", ROWS_TOKENS, diag) &&
              check_lines(&c, spec->dir, "long.jsonl", ROWS_LONG_TOKENS, diag);
    check->diagnostics = rows_want_least(c.wants, false);
    check->findings = rows_want_least(c.wants, true);
    check->of_operators = OP_COUNT;
    for (int i = 0; i < OP_COUNT; i++)
        check->operators += c.operators[i];
    bpe_close(bpe);
    arena_drop(&suites.arena);
    return ok;
}
