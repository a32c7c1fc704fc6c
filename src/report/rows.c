/* Attempts as rows. In: the store and the requested runs. Out: what the overview counts and draws,
 * and the same as compact JSON for the table of attempts. */
#include "report/report_int.h"

#include "base/map.h"
#include <math.h>
#include <string.h>

enum { MOST_REASON = 240, ALL_DRAWN = 400, DRAWING_MIB = 24 };

typedef struct Reading {
    Arena *arena;
    const ReportSpec *spec;
    ReportPack *pack;
    ReportRows *rows;
    ReportTexts texts;
    int64_t task;     /* of the last row */
    bool draw_all;    /* few attempts: the timelines of all of them, else one for each task */
    int64_t drawn_of; /* the task whose timeline was drawn last */
    Buf detail;
} Reading;

/* The largest relative error over the cases; NaN when none was compared. */
static double error_of(const StoreAttempt *a)
{
    double worst = (double)NAN;
    for (uint32_t i = 0; i < a->cases.len; i++) {
        Arena arena = {0};
        Diag diag = diag_make(&arena, "", STR(""));
        Verdict v;
        if (verdict_from_json(&arena, str_from(a->cases.at[i].verdict), &v, &diag) &&
            !(v.max_rel_err <= worst))
            worst = isnan(v.max_rel_err) ? worst : v.max_rel_err;
        arena_drop(&arena);
    }
    return worst;
}

static int64_t pack_detail(Reading *r, const StoreAttempt *a)
{
    if (!r->pack || report_pack_full(r->pack))
        return -1;
    r->texts.draw = r->draw_all || r->drawn_of != a->task;
    for (uint32_t i = 0; i < a->cases.len; i++)
        if (*a->cases.at[i].trace)
            r->drawn_of = a->task;
    buf_clear(&r->detail);
    report_detail(&r->texts, a, &r->detail);
    return report_pack_add(r->pack, NULL, buf_view(&r->detail));
}

static void note_task(Reading *r, const StoreAttempt *a)
{
    if (a->task == r->task)
        return;
    r->task = a->task;
    ReportTask task = {str_dup(r->arena, str_from(a->task_name)),
                       str_dup(r->arena, str_from(a->category)),
                       str_dup(r->arena, str_from(a->level))};
    vec_push(r->arena, &r->rows->tasks, task);
}

static void add_row(Reading *r, uint32_t run, const StoreAttempt *a)
{
    note_task(r, a);
    ReportRow row = {.id = a->id,
                     .run = run,
                     .task = r->rows->tasks.len - 1,
                     .sample = a->sample,
                     .turn = a->turn,
                     .status = a->status,
                     .last = true,
                     .predicted_us = a->predicted_us,
                     .bound_us = a->bound_us,
                     .baseline_us = a->baseline_us,
                     .measured_us = a->measured_us,
                     .copy_us = a->copy_us,
                     .max_rel_err = error_of(a),
                     .piece = pack_detail(r, a)};
    row.reason = report_cut(r->arena, str_copy(r->arena, str_from(a->reason)), MOST_REASON).at;
    ReportRow *before = r->rows->rows.len ? &vec_last(&r->rows->rows) : NULL;
    if (before && before->run == run && before->task == row.task && before->sample == row.sample)
        before->last = false;
    r->rows->left_out += r->pack && row.piece < 0;
    vec_push(r->arena, &r->rows->rows, row);
}

static bool read_run(Store *store, Reading *r, uint32_t run, Diag *diag)
{
    StoreFilter filter = {
        .run = r->spec->runs[run].run.id, .with_texts = r->pack != NULL, .with_cases = true};
    uint32_t before = diag->errors;
    StoreRows *rows = store_attempts(store, &filter, diag);
    Arena arena = {0};
    StoreAttempt a;
    uint64_t count = 0;
    r->task = r->drawn_of = 0;
    r->draw_all = store_attempt_count(store, &filter, &count, diag) && count <= ALL_DRAWN;
    r->texts.tasks.len = 0;
    if (!store_tasks(store, r->arena, filter.run, &r->texts.tasks, diag)) {
        store_done(rows);
        return false;
    }
    while (rows && store_next(rows, &arena, &a)) {
        add_row(r, run, &a);
        arena_drop(&arena);
    }
    arena_drop(&arena);
    store_done(rows);
    return rows && diag->errors == before;
}

bool report_rows_read(Store *store, Arena *arena, const ReportSpec *spec, ReportPack *pack,
                      ReportRows *rows, Diag *diag)
{
    Reading r = {.arena = arena,
                 .spec = spec,
                 .pack = pack,
                 .rows = rows,
                 .texts = {.store = store,
                           .pack = pack,
                           .drawing_room = (size_t)DRAWING_MIB << 20,
                           .most_text = spec->most_text ? spec->most_text : REPORT_TEXT_KIB << 10}};
    bool ok = true;
    for (uint32_t i = 0; ok && i < spec->count; i++)
        ok = read_run(store, &r, i, diag);
    buf_free(&r.detail);
    return ok;
}

/* ---- JSON ---- */

static void put_runs(const ReportSpec *spec, Buf *json)
{
    buf_puts(json, "{\"runs\":[");
    for (uint32_t i = 0; i < spec->count; i++) {
        Buf name = {0};
        const StoreRun *run = &spec->runs[i].run;
        buf_printf(&name, "run %lld", (long long)run->id);
        buf_printf(&name, " %s", *run->label ? run->label : run->generator);
        buf_puts(json, i ? "," : "");
        buf_json_str(json, buf_view(&name));
        buf_free(&name);
    }
    buf_puts(json, "],");
    report_statuses_json(json);
}

void report_statuses_json(Buf *json)
{
    buf_puts(json, "\"statuses\":[");
    for (int i = 0; i < VERDICT_STATUS_COUNT; i++) {
        const VerdictStatusRow *row = verdict_status_row((VerdictStatus)i);
        buf_printf(json, "%s[\"%s\",%d,\"%s\"]", i ? "," : "", row->text, row->counted,
                   row->meaning);
    }
    buf_puts(json, "]");
}

static void put_tasks(const ReportRows *rows, Buf *json)
{
    buf_puts(json, ",\"tasks\":[");
    for (uint32_t i = 0; i < rows->tasks.len; i++) {
        buf_puts(json, i ? ",[" : "[");
        buf_json_str(json, str_from(rows->tasks.at[i].name));
        buf_puts(json, ",");
        buf_json_str(json, str_from(rows->tasks.at[i].category));
        buf_puts(json, "]");
    }
    buf_puts(json, "]");
}

static void put_row(const ReportRow *row, uint32_t reason, Buf *json)
{
    buf_printf(json, "[%lld,%u,%u,%u,%u,%d,%u,%lld", (long long)row->id, row->run, row->task,
               row->sample, row->turn, (int)row->status, reason, (long long)row->piece);
    const double numbers[] = {row->predicted_us, row->bound_us,    row->baseline_us,
                              row->max_rel_err,  row->measured_us, row->copy_us};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        buf_puts(json, ",");
        report_json_number(json, numbers[i]);
    }
    buf_puts(json, "]");
}

/* Equal reasons are written once. */
static uint32_t reason_number(Arena *arena, Map *known, const char *text, Buf *reasons)
{
    uint32_t number = known->len;
    if (map_get(known, str_from(text), &number))
        return number;
    buf_puts(reasons, number ? "," : "");
    buf_json_str(reasons, str_from(text));
    map_put(arena, known, str_from(text), number);
    return number;
}

void report_rows_json(const ReportSpec *spec, const ReportRows *rows, Buf *json)
{
    Arena arena = {0};
    Map known = {0};
    Buf reasons = {0};
    put_runs(spec, json);
    put_tasks(rows, json);
    buf_puts(json, ",\"rows\":[");
    for (uint32_t i = 0; i < rows->rows.len; i++) {
        const ReportRow *row = &rows->rows.at[i];
        buf_puts(json, i ? "," : "");
        put_row(row, reason_number(&arena, &known, row->reason, &reasons), json);
    }
    buf_printf(json, "],\"reasons\":[%s]}", reasons.at ? reasons.at : "");
    buf_free(&reasons);
    arena_drop(&arena);
}
