/* A trace as the page draws it. In: Chrome's trace format as sim/trace.h writes it. Out: tables of
 * names and one flat list of numbers, which pack ten times smaller:
 *
 *     {"unit": "us", "rows": [["core 0 (AIV)", "MTE2"], ...], "names": ["DataCopy", ...],
 *      "lines": ["x.cpp:12", ...], "waits": ["", "flag of V", ...],
 *      "events": [row, start, length, name, line, waited, wait, ...], "left_out": 0}
 *
 * Times are whole tenths of nanoseconds. Rows are in order of core and pipe. */
#include "report/report_int.h"

#include "base/map.h"
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_EVENTS = 60000, MOST_ROWS = 1024 };

/* Texts in order of first use. */
typedef struct Names {
    Map known;
    VEC(const char *) list;
} Names;

typedef struct TraceRow {
    int64_t core, pipe;
    const char *core_name, *pipe_name;
} TraceRow;

typedef struct Drawing {
    Arena arena;
    Names names, lines, waits;
    TraceRow rows[MOST_ROWS];
    uint32_t row_count;
    uint32_t events;
    uint64_t left_out;
    Buf list;
} Drawing;

static uint32_t number_of(Drawing *d, Names *names, const char *text)
{
    uint32_t number = names->list.len;
    if (map_get(&names->known, str_from(text), &number))
        return number;
    const char *kept = str_dup(&d->arena, str_from(text));
    map_put(&d->arena, &names->known, str_from(kept), number);
    vec_push(&d->arena, &names->list, kept);
    return number;
}

static const char *text_at(json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static int64_t tenths(json_t *event, const char *key)
{
    double us = json_number_value(json_object_get(event, key));
    return fabs(us) < 1e14 ? (int64_t)llround(us * 1e4) : 0;
}

/* ---- rows ---- */

static const char *core_name(const Drawing *d, int64_t core)
{
    for (uint32_t i = 0; i < d->row_count; i++)
        if (d->rows[i].core == core)
            return d->rows[i].core_name;
    return "";
}

/* Names of rows come before the events on them; a process without a thread has pipe -1. */
static void note_row(Drawing *d, json_t *event)
{
    bool process = !strcmp(text_at(event, "name"), "process_name");
    if (d->row_count == MOST_ROWS)
        return;
    TraceRow row = {json_integer_value(json_object_get(event, "pid")),
                    process ? -1 : json_integer_value(json_object_get(event, "tid")), "", ""};
    const char *name = str_dup(&d->arena,
                               str_from(text_at(json_object_get(event, "args"), "name")));
    row.core_name = process ? name : core_name(d, row.core);
    row.pipe_name = process ? "" : name;
    d->rows[d->row_count++] = row;
}

static int by_place(const void *a, const void *b)
{
    const TraceRow *x = a, *y = b;
    if (x->core != y->core)
        return x->core < y->core ? -1 : 1;
    return (x->pipe > y->pipe) - (x->pipe < y->pipe);
}

static bool find_row(const Drawing *d, json_t *event, uint32_t *row)
{
    TraceRow key = {json_integer_value(json_object_get(event, "pid")),
                    json_integer_value(json_object_get(event, "tid")), "", ""};
    const TraceRow *at = bsearch(&key, d->rows, d->row_count, sizeof *d->rows, by_place);
    *row = at ? (uint32_t)(at - d->rows) : 0;
    return at != NULL;
}

/* ---- events ---- */

static void add_event(Drawing *d, json_t *event)
{
    uint32_t row;
    if (d->events == MOST_EVENTS || !find_row(d, event, &row)) {
        d->left_out++;
        return;
    }
    json_t *args = json_object_get(event, "args");
    buf_printf(&d->list, "%s%u,%lld,%lld,%u,%u,%lld,%u", d->events++ ? "," : "", row,
               (long long)tenths(event, "ts"), (long long)tenths(event, "dur"),
               number_of(d, &d->names, text_at(event, "name")),
               number_of(d, &d->lines, text_at(args, "line")), (long long)tenths(args, "waited_us"),
               number_of(d, &d->waits, text_at(args, "for")));
}

static void walk(Drawing *d, json_t *list, const char *phase, void (*visit)(Drawing *, json_t *))
{
    size_t i;
    json_t *event;
    json_array_foreach(list, i, event) if (!strcmp(text_at(event, "ph"), phase)) visit(d, event);
}

static void put_names(Buf *json, const char *key, const Names *names)
{
    buf_printf(json, ",\"%s\":[", key);
    for (uint32_t i = 0; i < names->list.len; i++) {
        buf_puts(json, i ? "," : "");
        buf_json_str(json, str_from(names->list.at[i]));
    }
    buf_puts(json, "]");
}

static void put_drawing(const Drawing *d, Buf *json)
{
    buf_puts(json, "{\"rows\":[");
    for (uint32_t i = 0; i < d->row_count; i++) {
        buf_puts(json, i ? ",[" : "[");
        buf_json_str(json, str_from(d->rows[i].core_name));
        buf_puts(json, ",");
        buf_json_str(json, str_from(d->rows[i].pipe_name));
        buf_puts(json, "]");
    }
    buf_puts(json, "]");
    put_names(json, "names", &d->names);
    put_names(json, "lines", &d->lines);
    put_names(json, "waits", &d->waits);
    buf_printf(json, ",\"left_out\":%llu,\"events\":[%s]}", (unsigned long long)d->left_out,
               d->list.at ? d->list.at : "");
}

bool report_timeline(Str trace, Buf *json)
{
    json_t *root = json_loadb(trace.at ? trace.at : "", trace.len, 0, NULL);
    json_t *list = json_object_get(root, "traceEvents");
    bool ok = json_is_array(list);
    if (ok) {
        Drawing *d = heap_alloc(sizeof *d);
        walk(d, list, "M", note_row);
        qsort(d->rows, d->row_count, sizeof *d->rows, by_place);
        walk(d, list, "X", add_event);
        json_int_t missing = json_integer_value(json_object_get(root, "left_out"));
        d->left_out += missing > 0 ? (uint64_t)missing : 0;
        put_drawing(d, json);
        buf_free(&d->list);
        arena_drop(&d->arena);
        heap_free(d);
    }
    json_decref(root);
    return ok;
}
