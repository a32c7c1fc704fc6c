/* Runs side by side: what was set differently, the scores, and task by task what was gained and
 * lost against the first run of the same suite. */
#include "report/report_int.h"

#include "base/map.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---- settings that differ ---- */

static void put_value(Buf *out, json_t *value)
{
    char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    report_puts(out, json_is_string(value) ? json_string_value(value) : text ? text : "-");
    free(text);
}

static bool differs(const ReportSpec *spec, json_t *const *settings, const char *key)
{
    for (uint32_t i = 1; i < spec->count; i++)
        if (!json_equal(json_object_get(settings[i], key), json_object_get(settings[0], key)) &&
            (json_object_get(settings[i], key) || json_object_get(settings[0], key)))
            return true;
    return false;
}

static void put_differences(const ReportSpec *spec, json_t *const *settings, uint32_t which,
                            Buf *out)
{
    const char *key, *comma = "";
    json_t *value;
    json_object_foreach(settings[which], key, value)
    {
        if (!differs(spec, settings, key))
            continue;
        buf_puts(out, comma);
        report_puts(out, key);
        buf_puts(out, " ");
        put_value(out, value);
        comma = ", ";
    }
    if (!*comma)
        buf_puts(out, "-");
}

/* ---- task by task ---- */

/* By name of the task: 1 when some sample of the run is right, 0 when none is. */
static Map outcomes_of(Arena *arena, const ReportRows *rows, uint32_t run)
{
    Map outcomes = {0};
    for (uint32_t i = 0; i < rows->rows.len; i++) {
        const ReportRow *r = &rows->rows.at[i];
        Str name = str_from(rows->tasks.at[r->task].name);
        uint32_t before = 0;
        if (r->run != run || !r->last)
            continue;
        map_get(&outcomes, name, &before);
        map_put(arena, &outcomes, name, before | (r->status == VERDICT_OK));
    }
    return outcomes;
}

typedef struct Change {
    uint32_t gained, lost, both;
    Buf gained_names, lost_names;
} Change;

static void count_task(Change *c, const char *name, uint32_t before, uint32_t after)
{
    Buf *names = after > before ? &c->gained_names : &c->lost_names;
    c->both++;
    c->gained += after > before;
    c->lost += after < before;
    if (after == before)
        return;
    buf_puts(names, names->len ? ", " : "");
    report_puts(names, name);
}

/* The run of the same suite it is compared with: the first one. */
static uint32_t first_of_suite(const ReportSpec *spec, uint32_t run)
{
    for (uint32_t i = 0; i < run; i++)
        if (!strcmp(spec->runs[i].run.suite, spec->runs[run].run.suite))
            return i;
    return run;
}

static void compare_tasks(const ReportSpec *spec, const ReportRows *rows, uint32_t run, Change *c)
{
    Arena arena = {0};
    Map first = outcomes_of(&arena, rows, first_of_suite(spec, run));
    Map here = outcomes_of(&arena, rows, run);
    uint32_t last_task = UINT32_MAX;
    for (uint32_t i = 0; i < rows->rows.len; i++) {
        const ReportRow *r = &rows->rows.at[i];
        if (r->run != run || r->task == last_task)
            continue;
        last_task = r->task;
        const char *name = rows->tasks.at[r->task].name;
        uint32_t before, after;
        if (map_get(&first, str_from(name), &before) && map_get(&here, str_from(name), &after))
            count_task(c, name, before, after);
    }
    arena_drop(&arena);
}

static void put_names(Buf *out, const char *title, const Buf *names)
{
    if (names->len)
        buf_printf(out, "<div><b>%s</b> %s</div>", title, names->at);
}

static void put_change(const ReportSpec *spec, const ReportRows *rows, uint32_t run, Buf *out)
{
    uint32_t first = first_of_suite(spec, run);
    Change c = {0};
    if (first == run) {
        buf_puts(out, "<td class=\"soft\">the first of its suite</td>");
        return;
    }
    compare_tasks(spec, rows, run, &c);
    buf_printf(out, "<td><details><summary>+%u \342\210\222%u of %u against run %lld</summary>",
               c.gained, c.lost, c.both, (long long)spec->runs[first].run.id);
    put_names(out, "gained", &c.gained_names);
    put_names(out, "lost", &c.lost_names);
    buf_puts(out, "</details></td>");
    buf_free(&c.gained_names);
    buf_free(&c.lost_names);
}

/* ---- the table ---- */

static void put_score(Buf *out, const ReportShare *s)
{
    buf_puts(out, "<td class=\"n\"><span class=\"share\">");
    report_percent(out, s->share);
    buf_puts(out, "</span>");
    report_bar(out, s);
    buf_puts(out, "</td>");
}

static void put_run(const ReportSpec *spec, const ReportRows *rows, json_t *const *settings,
                    uint32_t i, Buf *out)
{
    const ReportRun *run = &spec->runs[i];
    const ReportGroup *all = run->groups.len ? &vec_last(&run->groups) : NULL;
    if (!all || !all->scores.len)
        return;
    const ReportScore *s = &all->scores.at[0];
    buf_puts(out, "<tr><th scope=\"row\">");
    report_puts(out, run->run.suite);
    buf_puts(out, "<br><small>");
    report_run_name(out, &run->run);
    buf_puts(out, "</small></th><td class=\"small narrow-off\">");
    put_differences(spec, settings, i, out);
    buf_printf(out,
               "</td><td class=\"n narrow-off\">%u</td><td class=\"n lacks narrow-off\">%u</td>",
               all->tasks, all->unsupported);
    put_score(out, &s->compile);
    put_score(out, &s->pass);
    put_score(out, &s->fast[REPORT_FAST - 1]);
    put_score(out, &all->bound);
    put_change(spec, rows, i, out);
    buf_puts(out, "</tr>\n");
}

void report_compare(const ReportSpec *spec, const ReportRows *rows, Buf *out)
{
    json_t **settings = heap_alloc(spec->count * sizeof(json_t *));
    for (uint32_t i = 0; i < spec->count; i++)
        settings[i] = json_loads(spec->runs[i].run.settings, 0, NULL);
    buf_puts(
        out,
        "<section id=\"compare\"><h2>Runs side by side</h2>\n<div class=\"wide\"><table "
        "class=\"scores runs\"><thead><tr><th>run</th><th class=\"narrow-off\">what differs</th>"
        "<th class=\"narrow-off\">tasks</th><th "
        "class=\"narrow-off\">unsupported</th><th>Compile</th><th>Pass</th><th>Fast<sub>1.0</sub></"
        "th><th>"
        "bound</th><th>tasks gained and lost</th></tr></thead>\n<tbody>\n");
    for (uint32_t i = 0; i < spec->count; i++)
        put_run(spec, rows, settings, i, out);
    buf_puts(out, "</tbody></table></div>\n<p class=\"soft note\">A task is gained when some "
                  "sample of it is right here and none was there. Runs of different suites stand "
                  "in one table but do not compare.</p></section>\n");
    for (uint32_t i = 0; i < spec->count; i++)
        json_decref(settings[i]);
    heap_free(settings);
}
