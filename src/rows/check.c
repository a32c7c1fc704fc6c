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

static void count_tokens(Checking *c, Str text)
{
    Arena scratch = {0};
    TokenList ids = {0};
    bpe_encode(c->bpe, &scratch, text, false, &ids);
    c->check->over += ids.len + 1 > ROWS_TOKENS;
    c->check->longest = ids.len + 1 > c->check->longest ? ids.len + 1 : c->check->longest;
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
    c->check->mends += kind == ROWS_MEND;
    uint32_t want = rows_want_of(kind, field(row, "error"), field(row, "code"));
    if (want < ROWS_WANTS)
        c->wants[want]++;
}

static void check_row(Checking *c, const json_t *row)
{
    const char *kind = json_string_value(json_object_get(row, "kind"));
    Buf text = {0};
    uint32_t found;
    buf_puts(&text, text_of(row, 0));
    buf_puts(&text, text_of(row, 1));
    char *hash = str_format(c->arena, "%016llx", (unsigned long long)hash64(text.at, text.len));
    c->check->rows++;
    c->check->twice += map_get(&c->seen, str_from(hash), &found);
    map_put(c->arena, &c->seen, str_from(hash), 1);
    count_tokens(c, buf_view(&text));
    count_error(c, row);
    if (c->suites && kind && strcmp(kind, rows_kind_name(ROWS_EXPLAIN)))
        compare_task(c, json_string_value(json_object_get(row, "id")));
    buf_free(&text);
}

bool rows_check(Arena *arena, const RowsCheckSpec *spec, RowsCheck *check, Diag *diag)
{
    RowsSuites suites = {0};
    Str text, line;
    const char *tokenizer = spec->tokenizer ? spec->tokenizer
                                            : path_join(arena, spec->dir, "tokenizer.json");
    *check = (RowsCheck){0};
    if (!file_read(arena, path_join(arena, spec->dir, "rows.jsonl"), 0, &text, diag))
        return false;
    Bpe *bpe = bpe_open(tokenizer, diag);
    if (!bpe)
        return false;
    if (spec->tasks)
        rows_suites_add(&suites, spec->tasks);
    Checking c = {
        .arena = arena, .suites = spec->tasks ? &suites : NULL, .bpe = bpe, .check = check};
    check->hash = hash64(text.at, text.len);
    bool ok = true;
    while (ok && str_next(&text, '\n', &line)) {
        json_t *row = line.len ? json_loadb(line.at, line.len, 0, NULL) : NULL;
        ok = row || !line.len;
        if (row)
            check_row(&c, row);
        json_decref(row);
    }
    if (!ok)
        diag_error(diag, "R001", (Span){0}, "%s: rows.jsonl is damaged", spec->dir);
    check->diagnostics = rows_want_least(c.wants, false);
    check->findings = rows_want_least(c.wants, true);
    check->of_operators = OP_COUNT;
    for (int i = 0; i < OP_COUNT; i++)
        check->operators += c.operators[i];
    bpe_close(bpe);
    arena_drop(&suites.arena);
    return ok;
}
