/* The overview: totals, a table for each run, the plots. In: scores and rows. Out: HTML that reads
 * without any script. */
#include "report/report_int.h"

#include <math.h>
#include <string.h>
#include <time.h>

void report_run_name(Buf *out, const StoreRun *run)
{
    buf_printf(out, "run %lld \302\267 ", (long long)run->id);
    report_puts(out, run->generator);
    if (*run->label) {
        buf_puts(out, " \302\267 ");
        report_puts(out, run->label);
    }
}

static const ReportGroup *all_of(const ReportRun *run)
{
    return run->groups.len ? &vec_last(&run->groups) : NULL;
}

/* ---- totals ---- */

static void put_figure(Buf *out, const ReportShare *share, const char *name, uint32_t k)
{
    buf_puts(out, "<div class=\"figure\"><b>");
    report_percent(out, share->share);
    buf_printf(out, "%s</b><span>%s@%u</span>", isfinite(share->share) ? "<small>%</small>" : "",
               name, k);
    if (isfinite(share->low))
        buf_printf(out, "<span class=\"soft\">%.0f to %.0f</span>", 100 * share->low,
                   100 * share->high);
    buf_puts(out, "</div>");
}

static void put_totals(Buf *out, const ReportRun *run)
{
    const ReportGroup *all = all_of(run);
    buf_puts(out, "<div class=\"figures\">");
    if (all && all->scores.len) {
        const ReportScore *score = &all->scores.at[0];
        put_figure(out, &score->compile, "Compile", score->k);
        put_figure(out, &score->pass, "Pass", score->k);
        put_figure(out, &score->fast[REPORT_FAST - 1], "Fast1.0", score->k);
    }
    buf_printf(out, "<div class=\"figure\"><b>%u</b><span>tasks</span></div>",
               all ? all->tasks : 0);
    buf_printf(out, "<div class=\"figure\"><b>%u</b><span>samples</span>", run->samples);
    if (run->repaired)
        buf_printf(out, "<span class=\"soft\">%u right after repair</span>", run->repaired);
    buf_puts(out, "</div></div>\n");
}

/* ---- the table ---- */

static void put_share(Buf *out, const ReportShare *share)
{
    buf_puts(out, "<td class=\"n\"><span class=\"share\">");
    report_percent(out, share->share);
    buf_puts(out, "</span>");
    report_bar(out, share);
    if (isfinite(share->low) && isfinite(share->share))
        buf_printf(out, "<small>%.0f\342\200\223%.0f</small>", 100 * share->low, 100 * share->high);
    buf_puts(out, "</td>");
}

static void put_pair(Buf *out, const ReportShare *share, bool narrow_off)
{
    buf_printf(out, "<td class=\"n%s\">", narrow_off ? " narrow-off" : "");
    report_percent(out, share->share);
    buf_puts(out, " <span class=\"soft\">/ ");
    report_percent(out, share->of_correct);
    buf_puts(out, "</span></td>");
}

static void put_group(Buf *out, const ReportGroup *g, const ReportScore *s)
{
    buf_printf(out, "<tr%s><th scope=\"row\">", g->total ? " class=\"total\"" : "");
    report_puts(out, g->title);
    buf_printf(out, "</th><td class=\"n\">%u</td><td class=\"n lacks narrow-off\">%u</td>",
               g->tasks, g->unsupported);
    put_share(out, &s->compile);
    put_share(out, &s->pass);
    buf_puts(out, "<td class=\"n narrow-off\">");
    report_percent(out, s->pass_without);
    buf_puts(out, "</td>");
    for (int i = 0; i < REPORT_FAST; i++)
        put_pair(out, &s->fast[i], i + 1 < REPORT_FAST);
    buf_puts(out, "<td class=\"n\">");
    report_percent(out, g->bound.share);
    buf_puts(out, "</td></tr>\n");
}

static void put_table(Buf *out, const ReportRun *run, uint32_t which)
{
    uint32_t k = all_of(run)->scores.at[which].k;
    buf_printf(out,
               "<div class=\"wide\"><table class=\"scores\"><thead><tr><th></th><th>tasks</th>"
               "<th class=\"narrow-off\">unsupported</th><th>Compile@%u</th><th>Pass@%u</th><th "
               "class=\"narrow-off\">without unscored</th><th class=\"narrow-off\">Fast<sub>0.2"
               "</sub></th><th class=\"narrow-off\">Fast<sub>0.8</sub></th><th>"
               "Fast<sub>1.0</sub></th><th>bound</th></tr></thead>\n<tbody>\n",
               k, k);
    for (uint32_t i = 0; i < run->groups.len; i++)
        put_group(out, &run->groups.at[i], &run->groups.at[i].scores.at[which]);
    buf_puts(out, "</tbody></table></div>\n");
}

static void put_legend(Buf *out, const ReportRun *run)
{
    buf_printf(out,
               "<p class=\"soft note\">Percent, with 95 %% intervals. <b>Unsupported</b> counts "
               "samples that acraft could not judge: they are failures in every column. "
               "\342\200\234Without unscored\342\200\235 "
               "leaves out samples of tasks that can be scored for nobody here. <b>Fast</b>: of "
               "all tasks / of the "
               "right ones, the end of the <em>predicted</em> time's interval against a "
               "<em>measured</em> baseline that %u "
               "of %u tasks have. <b>Bound</b>: mean of memory bound over predicted time, 0 for "
               "what is not right.",
               run->with_baseline, all_of(run)->tasks);
    if (isfinite(run->level_score))
        buf_printf(out, " <b>Level score</b> (weights .2 .3 .5): %.3f by samples, %.3f by cases.",
                   run->level_score, run->level_score_cases);
    buf_puts(out, "</p>\n");
}

/* ---- a run ---- */

static void put_date(Buf *out, int64_t when)
{
    time_t at = (time_t)when;
    struct tm tm;
    char text[32];
    if (when > 0 && gmtime_r(&at, &tm) && strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &tm))
        buf_puts(out, text);
}

static void put_run(Buf *out, const ReportRun *run, bool open)
{
    buf_printf(out, "<details class=\"run\"%s><summary><h2>", open ? " open" : "");
    report_puts(out, run->run.suite);
    buf_puts(out, "</h2><span class=\"soft\">");
    report_run_name(out, &run->run);
    buf_puts(out, " \302\267 ");
    put_date(out, run->run.started);
    buf_printf(out, "%s</span></summary>\n", run->run.finished ? "" : " \302\267 not finished");
    put_totals(out, run);
    report_status_strip(out, run->statuses, run->samples);
    for (uint32_t i = 0; all_of(run) && i < all_of(run)->scores.len; i++)
        put_table(out, run, i);
    if (all_of(run))
        put_legend(out, run);
    buf_puts(out, "<details class=\"settings\"><summary>settings</summary><pre>");
    report_puts(out, run->run.settings);
    buf_puts(out, "</pre></details></details>\n");
}

/* ---- all of it ---- */

static void put_attempts(const ReportSpec *spec, const ReportRows *rows, Buf *out)
{
    buf_printf(out,
               "<section id=\"attempts\"><h2>Attempts</h2><p class=\"soft\">%u stored. A row "
               "opens its source, diagnostics, verdicts and conversation.",
               rows->rows.len);
    if (!spec->live)
        buf_printf(out, " Texts longer than %d KiB are cut.", REPORT_TEXT_KIB);
    if (rows->left_out)
        buf_printf(
            out,
            " This file keeps the details of %u attempts, %d MiB at most; <code>acraft report "
            "--serve</code> shows every one.",
            rows->rows.len - rows->left_out, REPORT_ALL_KIB >> 10);
    buf_puts(out, "</p><div id=\"table\"><noscript>The list needs JavaScript; everything above "
                  "does not.</noscript></div></section>\n");
}

void report_overview(const ReportSpec *spec, const ReportRows *rows, Buf *out)
{
    buf_puts(out, "<div id=\"overview\">\n<h1>Report</h1>\n");
    if (!spec->count)
        buf_puts(out, "<p>The store has no run yet.</p>\n");
    for (uint32_t i = spec->count; i-- > 0;)
        put_run(out, &spec->runs[i], i + 1 == spec->count);
    if (spec->count > 1)
        report_compare(spec, rows, out);
    buf_puts(out, "<div class=\"plots\">\n");
    report_roofline(out, spec, rows);
    report_errors(out, rows);
    buf_puts(out, "</div>\n");
    report_published(spec, out);
    put_attempts(spec, rows, out);
    buf_puts(out, "</div>\n<div id=\"attempt\" hidden></div>\n");
}

static bool any_measured(const ReportRows *rows)
{
    for (uint32_t i = 0; i < rows->rows.len; i++)
        if (rows->rows.at[i].measured_us > 0)
            return true;
    return false;
}

bool report_page(Store *store, const ReportSpec *spec, Buf *html, Diag *diag)
{
    Arena arena = {0};
    ReportRows rows = {0};
    Buf json = {0};
    ReportPack *pack = spec->live ? NULL
                                  : report_pack_open(spec->most_all ? spec->most_all
                                                                    : (size_t)REPORT_ALL_KIB << 10);
    bool ok = report_rows_read(store, &arena, spec, pack, &rows, diag);
    report_open(html, "acraft report", any_measured(&rows) ? REPORT_MEASURED : REPORT_PREDICTED,
                spec->live);
    report_overview(spec, &rows, html);
    report_rows_json(spec, &rows, &json);
    report_script_json(html, "data", buf_view(&json));
    if (pack)
        report_pack_close(pack, html);
    report_close(html, spec->version, REPORT_WORDS);
    buf_free(&json);
    arena_drop(&arena);
    return ok;
}
