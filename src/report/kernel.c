/* The page of one kernel: what it is and why, its texts, its verdicts, its timeline. In: what
 * `acraft make` has at hand. Out: a page of the same looks as the report on runs. */
#include "report/report_int.h"

#include <math.h>
#include <stdio.h>

enum { MOST_TEXT = 1 << 20, MOST_PACKED = 64 << 20 };

const Verdict *report_timed(const ReportKernel *k)
{
    const Verdict *timed = NULL;
    for (uint32_t i = 0; i < k->verdicts.len; i++) {
        const Verdict *v = k->verdicts.at[i];
        if (isfinite(v->predicted_us) && (!timed || !(v->bound_us < timed->bound_us)))
            timed = v;
    }
    return timed;
}

/* A case that was run for its time and hazards alone: nothing was compared. */
static bool without_values(const Verdict *v)
{
    return v->status == VERDICT_OK && v->correct == VERDICT_UNKNOWN;
}

static uint32_t right_of(const ReportKernel *k)
{
    uint32_t right = 0;
    for (uint32_t i = 0; i < k->verdicts.len; i++)
        right += k->verdicts.at[i]->status == VERDICT_OK && !without_values(k->verdicts.at[i]);
    return right;
}

static uint32_t right_written_of(const ReportKernel *k)
{
    uint32_t right = 0;
    for (uint32_t i = 0; i < k->written.len; i++)
        right += k->written.at[i]->status == VERDICT_OK;
    return right;
}

static uint32_t timed_only_of(const ReportKernel *k)
{
    uint32_t timed = 0;
    for (uint32_t i = 0; i < k->verdicts.len; i++)
        timed += without_values(k->verdicts.at[i]);
    return timed;
}

/* ---- the headline ---- */

static void put_figure(Buf *out, const char *value, const char *what)
{
    buf_printf(out, "<div class=\"figure\"><b>%s</b><span>%s</span></div>", value, what);
}

/* How many times faster than a yardstick, which is named with its own time. */
static void put_times(const ReportKernel *k, double than_us, const char *of, const char *how,
                      Buf *out)
{
    Buf value = {0}, what = {0};
    double us = report_timed(k)->predicted_us;
    if (!(than_us > 0) || !(us > 0) || !isfinite(than_us))
        return;
    double times = than_us / us;
    buf_printf(&value, times < 9.95 ? "%.1f\303\227" : "%.0f\303\227", times);
    buf_printf(&what, "as fast as %s, ", of);
    report_time(&what, than_us);
    buf_printf(&what, " %s", how);
    if (than_us >= k->low_us && than_us <= k->high_us)
        buf_puts(&what, "; within the model's error");
    put_figure(out, value.at, what.at);
    buf_free(&value);
    buf_free(&what);
}

static bool is_full(const Verdict *v)
{
    return str_is(str_from(v->kase), "full") || str_is(str_from(v->kase), "own");
}

static void put_prediction(const ReportKernel *k, Buf *out)
{
    const Verdict *timed = report_timed(k);
    Buf value = {0}, what = {0};
    report_time(&value, timed->predicted_us);
    bool own = is_full(timed);
    buf_puts(&what, own ? "predicted at the size in the file" : "predicted, case ");
    report_puts(&what, own ? "" : timed->kase);
    if (k->high_us > 0) {
        buf_puts(&what, "; ");
        report_time(&what, k->low_us);
        buf_puts(&what, " to ");
        report_time(&what, k->high_us);
        buf_puts(&what, " with the model's error");
    }
    put_figure(out, value.at, what.at);
    buf_clear(&value);
    buf_clear(&what);
    if (timed->bound_us > 0) {
        buf_printf(&value, "%.0f<small> %%</small>", 100 * timed->bound_us / timed->predicted_us);
        buf_puts(&what, "of the bound, ");
        report_time(&what, timed->bound_us);
        put_figure(out, value.at, what.at);
    }
    buf_free(&value);
    buf_free(&what);
}

static const VerdictPipe *busiest_of(const Verdict *v)
{
    const VerdictPipe *most = NULL;
    for (uint32_t i = 0; i < v->pipes.len; i++)
        if (!most || v->pipes.at[i].share > most->share)
            most = &v->pipes.at[i];
    return most;
}

/* What a unit is called, and what makes a kernel faster that keeps it busy. */
typedef struct Unit {
    const char *end; /* of msprof's name for it */
    const char *name, *advice;
} Unit;

static const Unit units[] = {
    {"_mte2", "copies in",
     "Only fewer bytes make it faster: a narrower element type, or fusing it with the operators "
     "before and "
     "after it."},
    {"_mte3", "copies out",
     "Only fewer bytes make it faster: a narrower element type, or fusing it with the operator "
     "that reads "
     "the result."},
    {"_vec", "the vector unit",
     "Fewer or wider instructions make it faster: longer tiles, f16 where the error allows it, "
     "cheaper "
     "functions."},
    {"_scalar", "the scalar unit",
     "Fewer loop turns and addresses make it faster: longer tiles, one instruction for many rows."},
    {"_mac", "the cube", "It multiplies nearly all the time: only a smaller product is faster."},
    {"_mte1", "copies into the cube",
     "Larger blocks in L1 and L0 make it faster: each is read less often."},
    {"_fixpipe", "copies out of the cube", "Larger blocks of the result make it faster."},
};

static const Unit *unit_of(const VerdictPipe *pipe)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (str_ends(str_from(pipe->name), units[i].end))
            return &units[i];
    return NULL;
}

enum { BUSY_PERCENT = 70 }; /* above it a unit is what limits a kernel */

static void put_limit(const Verdict *timed, Buf *out)
{
    const VerdictPipe *pipe = busiest_of(timed);
    const Unit *unit = pipe ? unit_of(pipe) : NULL;
    char value[32];
    if (!unit)
        return;
    snprintf(value, sizeof value, "%.0f<small> %%</small>", 100 * pipe->share);
    Buf what = {0};
    buf_printf(&what, "of the time %s %s busy: %s", unit->name,
               str_starts(str_from(unit->name), "copies") ? "are" : "is",
               100 * pipe->share > BUSY_PERCENT ? "what limits it" : "the busiest unit");
    put_figure(out, value, what.at);
    buf_free(&what);
}

static void put_headline(const ReportKernel *k, Buf *out)
{
    const Verdict *timed = report_timed(k);
    uint32_t right = right_of(k), timed_only = timed_only_of(k);
    uint32_t compared = k->verdicts.len - timed_only;
    bool all = right == compared;
    buf_printf(out, "<p class=\"verdict\"><span class=\"status%s\">", all ? " right" : "");
    if (all && compared == 1)
        buf_puts(out, "Right in its one case");
    else if (all)
        buf_printf(out, "Right in all %u cases", compared);
    else
        buf_printf(out, "Right in %u of %u cases", right, compared);
    if (k->several)
        buf_printf(out, ", those of %s together", k->dtypes);
    buf_puts(out, "</span>, values and hazards checked on the twin");
    if (timed_only)
        buf_printf(out, "; %u more timed without values", timed_only);
    if (k->written.len)
        buf_printf(out, "; the written files, read back: right in %u of %u runs",
                   right_written_of(k), k->written.len);
    buf_puts(out, ".</p>\n<div class=\"figures\">");
    if (timed) {
        put_prediction(k, out);
        put_times(k, k->unfused_us, "operator by operator", "at least, predicted", out);
        put_times(k, k->eager_us, "PyTorch eager on an Atlas A2", "measured", out);
        put_limit(timed, out);
    }
    buf_puts(out, "</div>\n");
}

/* ---- what to do next ---- */

static bool has_file(const ReportKernel *k, const char *path)
{
    for (uint32_t i = 0; i < k->files.len; i++)
        if (str_is(str_from(k->files.at[i].path), path))
            return true;
    return false;
}

static void put_faster(const ReportKernel *k, Buf *out)
{
    const Verdict *timed = report_timed(k);
    const VerdictPipe *pipe = timed ? busiest_of(timed) : NULL;
    const Unit *unit = pipe && 100 * pipe->share > BUSY_PERCENT ? unit_of(pipe) : NULL;
    if (!timed)
        return;
    buf_puts(out, "<li><b>Make it faster.</b> ");
    if (unit)
        buf_puts(out, unit->advice);
    else
        buf_puts(out, "No unit is busy all the time: units or cores wait for each other.");
    if (*k->task) {
        buf_puts(out,
                 " Where the time goes, line by line: <code>acraft run THIS_DIRECTORY --task ");
        report_puts(out, k->task);
        if (is_full(timed))
            buf_puts(out, " --scale full");
        buf_puts(out, " --explain</code>");
    }
    buf_puts(out, "</li>");
}

static void put_next(const ReportKernel *k, Buf *out)
{
    if (!has_file(k, "build.sh"))
        return;
    buf_puts(out,
             "<h2>What to do next</h2>\n<ol class=\"note\"><li><b>Build it under CANN</b>: "
             "<code>source set_env.sh &amp;&amp; ./build.sh</code> in this directory writes the "
             "package <code>build/*.run</code>.</li>");
    if (has_file(k, "torch/module.py"))
        buf_puts(out,
                 "<li><b>Call it from PyTorch</b>: <code>torch/module.py</code> has a module that "
                 "takes the place of the model, after <code>python3 setup.py build_ext "
                 "--inplace</code> in <code>torch/</code>.</li>");
    if (has_file(k, "board.sh"))
        buf_puts(out,
                 "<li><b>Measure it</b>: <code>./board.sh</code> on a machine with a board builds, "
                 "installs, compares with <code>cases/</code> and profiles.</li>");
    put_faster(k, out);
    buf_puts(out, "</ol>\n");
}

static void put_reasons(const ReportKernel *k, Buf *out)
{
    if (!k->reasons.len)
        return;
    buf_puts(out, "<section><h2>Why it is so</h2>\n<ul class=\"note\">");
    for (uint32_t i = 0; i < k->reasons.len; i++) {
        buf_puts(out, "<li>");
        report_puts(out, k->reasons.at[i]);
        buf_puts(out, "</li>");
    }
    buf_puts(out, "</ul></section>\n");
}

static void put_summary(const ReportKernel *k, Buf *out)
{
    buf_puts(out, "<h1>");
    report_puts(out, k->name);
    buf_puts(out, "</h1>\n<p class=\"soft\">");
    report_puts(out, k->chip);
    if (k->dtypes && *k->dtypes) {
        buf_puts(out, " \302\267 ");
        report_puts(out, k->dtypes);
    }
    if (*k->task) {
        buf_puts(out, " \302\267 ");
        report_puts(out, k->task);
    }
    buf_puts(out, "</p>\n");
    if (k->verdicts.len)
        put_headline(k, out);
    put_next(k, out);
    buf_puts(out, "<details class=\"settings\"><summary>The summary, as the terminal shows "
                  "it</summary><pre>");
    report_puts(out, k->summary);
    buf_puts(out, "</pre></details>\n");
    put_reasons(k, out);
    report_case_roofline(out, k);
}

static void put_piece(ReportPack *pack, Str text, Buf *json)
{
    Arena arena = {0};
    buf_printf(json, "%lld",
               (long long)report_pack_add(pack, NULL, report_cut(&arena, text, MOST_TEXT)));
    arena_drop(&arena);
}

static void put_files(const ReportKernel *k, ReportPack *pack, Buf *json)
{
    buf_puts(json, "\"files\":[");
    for (uint32_t i = 0; i < k->files.len; i++) {
        buf_puts(json, i ? ",[" : "[");
        buf_json_str(json, str_from(k->files.at[i].path));
        buf_puts(json, ",");
        put_piece(pack, k->files.at[i].text, json);
        buf_puts(json, "]");
    }
    buf_puts(json, "]");
}

static void put_timeline(Str trace, ReportPack *pack, Buf *json)
{
    Buf timeline = {0};
    if (trace.len && report_timeline(trace, &timeline))
        put_piece(pack, buf_view(&timeline), json);
    else
        buf_puts(json, "null");
    buf_free(&timeline);
}

/* The cases in the order of the page: the written files' stand before the last one, whose timeline is shown. */
static const Verdict *case_at(const ReportKernel *k, uint32_t i)
{
    uint32_t before = k->verdicts.len ? k->verdicts.len - 1 : 0;
    if (i < before)
        return k->verdicts.at[i];
    return i < before + k->written.len ? k->written.at[i - before] : k->verdicts.at[before];
}

static bool is_written(const ReportKernel *k, const Verdict *v)
{
    for (uint32_t i = 0; i < k->written.len; i++)
        if (k->written.at[i] == v)
            return true;
    return false;
}

static void put_case(const ReportKernel *k, uint32_t i, bool last, ReportPack *pack, Buf *json)
{
    const Verdict *v = case_at(k, i);
    Buf name = {0};
    if (is_written(k, v) && *v->candidate) /* the form: "project, written-small" */
        buf_printf(&name, "%s, ", v->candidate);
    buf_puts(&name, v->kase);
    buf_puts(json, i ? ",{\"name\":" : "{\"name\":");
    buf_json_str(json, buf_view(&name));
    buf_free(&name);
    buf_puts(json, ",\"shapes\":");
    buf_json_str(json, str_from(v->inputs));
    buf_printf(json, ",\"status\":\"%s\",\"verdict\":", verdict_status_row(v->status)->text);
    verdict_to_json(v, json);
    buf_puts(json, ",\"timeline\":");
    put_timeline(last ? k->trace : v == report_timed(k) ? k->timed_trace : (Str){0}, pack, json);
    buf_puts(json, "}");
}

static void put_cases(const ReportKernel *k, ReportPack *pack, Buf *json)
{
    uint32_t cases = k->verdicts.len ? k->verdicts.len + k->written.len : 0;
    buf_puts(json, ",\"cases\":[");
    for (uint32_t i = 0; i < cases; i++)
        put_case(k, i, i + 1 == cases, pack, json);
    buf_puts(json, "]");
    if (!cases) {
        buf_puts(json, ",\"timeline\":");
        put_timeline(k->trace, pack, json);
    }
}

void report_kernel(const ReportKernel *k, Buf *html)
{
    ReportPack *pack = report_pack_open(MOST_PACKED);
    Buf json = {0};
    buf_puts(&json, "{");
    report_statuses_json(&json);
    buf_puts(&json, ",\"detail\":{");
    put_files(k, pack, &json);
    put_cases(k, pack, &json);
    buf_puts(&json, "}}");
    report_open(html, k->name, REPORT_PREDICTED, false);
    put_summary(k, html);
    buf_puts(html, "<div id=\"attempt\"><noscript>Texts and verdicts need JavaScript; they are "
                   "also files beside this page.</noscript></div>\n");
    report_script_json(html, "kernel", buf_view(&json));
    report_pack_close(pack, html);
    report_close(html, k->version, REPORT_WORDS);
    buf_free(&json);
}
