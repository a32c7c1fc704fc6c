/* The page of one kernel: what it is and why, its texts, its verdicts, its timeline. In: what
 * `acraft make` has at hand. Out: a page of the same looks as the report on runs. */
#include "report/report_int.h"

#include <math.h>

enum { MOST_TEXT = 1 << 20, MOST_PACKED = 64 << 20 };

/* The largest case that was timed. */
static const Verdict *timed_of(const ReportKernel *k)
{
    const Verdict *timed = NULL;
    for (uint32_t i = 0; i < k->verdicts.len; i++) {
        const Verdict *v = k->verdicts.at[i];
        if (isfinite(v->predicted_us) && (!timed || !(v->bound_us < timed->bound_us)))
            timed = v;
    }
    return timed;
}

static uint32_t right_of(const ReportKernel *k)
{
    uint32_t right = 0;
    for (uint32_t i = 0; i < k->verdicts.len; i++)
        right += k->verdicts.at[i]->status == VERDICT_OK;
    return right;
}

static void put_figures(const ReportKernel *k, Buf *out)
{
    const Verdict *timed = timed_of(k);
    buf_printf(out,
               "<div class=\"figures\"><div class=\"figure\"><b>%u</b><span>of %u cases ok, "
               "checked on the twin</span></div>",
               right_of(k), k->verdicts.len);
    if (timed) {
        buf_puts(out, "<div class=\"figure\"><b>");
        report_time(out, timed->predicted_us);
        buf_puts(out, "</b><span>predicted, case ");
        report_puts(out, timed->kase);
        buf_puts(out, "</span></div><div class=\"figure\"><b>");
        report_time(out, timed->bound_us);
        buf_puts(out, "</b><span>memory bound</span></div>");
    }
    buf_puts(out, "</div>\n");
}

static void put_summary(const ReportKernel *k, Buf *out)
{
    buf_puts(out, "<h1>");
    report_puts(out, k->name);
    buf_puts(out, "</h1>\n<p class=\"soft\">");
    report_puts(out, k->chip);
    if (*k->task) {
        buf_puts(out, " \302\267 ");
        report_puts(out, k->task);
    }
    buf_puts(out, "</p>\n<pre>");
    report_puts(out, k->summary);
    buf_puts(out, "</pre>\n");
    if (k->verdicts.len)
        put_figures(k, out);
    if (!k->reasons.len)
        return;
    buf_puts(out, "<h2>Why it is so</h2>\n<ul class=\"note\">");
    for (uint32_t i = 0; i < k->reasons.len; i++) {
        buf_puts(out, "<li>");
        report_puts(out, k->reasons.at[i]);
        buf_puts(out, "</li>");
    }
    buf_puts(out, "</ul>\n");
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

static void put_timeline(const ReportKernel *k, ReportPack *pack, Buf *json)
{
    Buf timeline = {0};
    if (k->trace.len && report_timeline(k->trace, &timeline))
        put_piece(pack, buf_view(&timeline), json);
    else
        buf_puts(json, "null");
    buf_free(&timeline);
}

static void put_cases(const ReportKernel *k, ReportPack *pack, Buf *json)
{
    buf_puts(json, ",\"cases\":[");
    for (uint32_t i = 0; i < k->verdicts.len; i++) {
        const Verdict *v = k->verdicts.at[i];
        buf_puts(json, i ? ",{\"name\":" : "{\"name\":");
        buf_json_str(json, str_from(v->kase));
        buf_puts(json, ",\"shapes\":");
        buf_json_str(json, str_from(v->inputs));
        buf_printf(json, ",\"status\":\"%s\",\"verdict\":", verdict_status_row(v->status)->text);
        verdict_to_json(v, json);
        buf_puts(json, ",\"timeline\":");
        if (i + 1 == k->verdicts.len)
            put_timeline(k, pack, json);
        else
            buf_puts(json, "null");
        buf_puts(json, "}");
    }
    buf_puts(json, "]");
    if (!k->verdicts.len) {
        buf_puts(json, ",\"timeline\":");
        put_timeline(k, pack, json);
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
    report_open(html, k->name, false);
    put_summary(k, html);
    buf_puts(html, "<div id=\"attempt\"><noscript>Texts and verdicts need JavaScript; they are "
                   "also files beside this page.</noscript></div>\n");
    report_script_json(html, "kernel", buf_view(&json));
    report_pack_close(pack, html);
    report_close(html, k->version);
    buf_free(&json);
}
