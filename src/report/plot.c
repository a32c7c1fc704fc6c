/* The plots, as SVG: bars with intervals, the strip of statuses, predicted time against the bound,
 * errors by size. Colours come from the style sheet; no plot needs a script. */
#include "report/report_int.h"

#include <math.h>
#include <string.h>

void report_bar(Buf *out, const ReportShare *s)
{
    if (!isfinite(s->share)) {
        buf_puts(out, "<span class=\"bar\"></span>");
        return;
    }
    buf_printf(out,
               "<svg class=\"bar\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" "
               "aria-hidden=\"true\"><rect class=\"rail\" width=\"100\" height=\"8\"/><rect "
               "class=\"fill\" width=\"%.2f\" height=\"8\"/>",
               100 * s->share);
    if (isfinite(s->low) && isfinite(s->high))
        buf_printf(out, "<path class=\"interval\" d=\"M%.2f 4H%.2f\"/>", 100 * s->low,
                   100 * s->high);
    buf_puts(out, "</svg>");
}

/* ---- statuses ---- */

static const char *class_of(VerdictStatus status)
{
    return status == VERDICT_OK ? "right" : verdict_status_row(status)->counted ? "wrong" : "lacks";
}

void report_status_strip(Buf *out, const uint32_t *statuses, uint32_t samples)
{
    double at = 0;
    if (!samples)
        return;
    buf_puts(out, "<svg class=\"strip\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" "
                  "aria-hidden=\"true\">");
    for (int i = 0; i < VERDICT_STATUS_COUNT; i++) {
        double width = 1000.0 * statuses[i] / samples;
        if (statuses[i])
            buf_printf(out,
                       "<rect class=\"%s\" x=\"%.2f\" width=\"%.2f\" height=\"10\"><title>%s %u"
                       "</title></rect>",
                       class_of((VerdictStatus)i), at, fmax(width - 2, 0.5),
                       verdict_status_row((VerdictStatus)i)->text, statuses[i]);
        at += width;
    }
    buf_puts(out, "</svg>\n<ul class=\"legend\">");
    for (int i = 0; i < VERDICT_STATUS_COUNT; i++)
        if (statuses[i])
            buf_printf(out, "<li class=\"%s\" title=\"%s\">%s <b>%u</b></li>",
                       class_of((VerdictStatus)i), verdict_status_row((VerdictStatus)i)->meaning,
                       verdict_status_row((VerdictStatus)i)->text, statuses[i]);
    buf_puts(out, "</ul>\n");
}

/* ---- predicted time against the bound ---- */

/* A square of the page and the decades it shows on both axes. */
enum {
    LEFT = 52,
    TOP = 12,
    SIDE = 340,
    PLOT_WIDTH = LEFT + SIDE + 28,
    PLOT_HEIGHT = TOP + SIDE + 44
};

typedef struct Decades {
    int low, high;
} Decades;

static bool has_point(const ReportRow *r)
{
    return r->last && r->status == VERDICT_OK && r->predicted_us > 0 && r->bound_us > 0;
}

/* The best right sample of its task: rows of one task and run stand together. */
static bool is_best(const ReportRows *rows, uint32_t at)
{
    const ReportRow *r = &rows->rows.at[at];
    uint32_t from = at;
    while (from && rows->rows.at[from - 1].run == r->run && rows->rows.at[from - 1].task == r->task)
        from--;
    for (uint32_t i = from; i < rows->rows.len; i++) {
        const ReportRow *o = &rows->rows.at[i];
        if (o->run != r->run || o->task != r->task)
            break;
        if (has_point(o) &&
            (o->predicted_us < r->predicted_us || (o->predicted_us <= r->predicted_us && i < at)))
            return false;
    }
    return true;
}

/* The decades that hold times from `low` to `high`; low == high where there are no times. */
static Decades decades_between(double low, double high)
{
    if (!isfinite(low) || !isfinite(high))
        return (Decades){0, 0};
    Decades d = {(int)fmax(floor(log10(low)), -3), (int)fmin(ceil(log10(high)), 9)};
    return d.high > d.low ? d : (Decades){d.low, d.low + 1};
}

static Decades decades_of(const ReportRows *rows)
{
    double low = INFINITY, high = -INFINITY;
    for (uint32_t i = 0; i < rows->rows.len; i++) {
        const ReportRow *r = &rows->rows.at[i];
        if (!has_point(r))
            continue;
        low = fmin(low, fmin(r->bound_us, r->predicted_us));
        high = fmax(high, fmax(r->bound_us, r->predicted_us));
    }
    return decades_between(low, high);
}

static double along(Decades d, double us)
{
    double at = (log10(us) - d.low) / (d.high - d.low);
    return SIDE * fmin(fmax(at, 0), 1);
}

static double x_of(Decades d, double us) { return LEFT + along(d, us); }
static double y_of(Decades d, double us) { return TOP + SIDE - along(d, us); }

static void put_axes(Buf *out, Decades d)
{
    for (int e = d.low; e <= d.high; e++) {
        double us = pow(10, e);
        Buf label = {0};
        report_time(&label, us);
        buf_printf(out,
                   "<path class=\"grid\" d=\"M%.1f %dV%dM%d %.1fH%d\"/><text x=\"%.1f\" y=\"%d\" "
                   "class=\"mid\">%s</text><text x=\"%d\" y=\"%.1f\" class=\"end\">%s</text>",
                   x_of(d, us), TOP, TOP + SIDE, LEFT, y_of(d, us), LEFT + SIDE, x_of(d, us),
                   TOP + SIDE + 16, label.at, LEFT - 6, y_of(d, us) + 4, label.at);
        buf_free(&label);
    }
    buf_printf(out,
               "<text x=\"%d\" y=\"%d\" class=\"mid name\">memory bound</text><text "
               "x=\"%d\" y=\"%d\" class=\"name\">predicted time</text>",
               LEFT + SIDE / 2, TOP + SIDE + 36, LEFT + 6, TOP + 12);
}

/* Lines of `times` times the bound. */
static void put_slope(Buf *out, Decades d, double times)
{
    double top = pow(10, d.high), from = pow(10, d.low);
    buf_printf(out, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1f\"/>",
               times > 1 ? "slope" : "slope bound", x_of(d, from), y_of(d, from * times),
               x_of(d, top / times), y_of(d, top));
    if (times > 1)
        buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"end soft\">%g\303\227</text>",
                   x_of(d, top / times) - 4, y_of(d, top) + 12, times);
}

static void put_point(Buf *out, Decades d, const ReportRows *rows, const ReportRow *r)
{
    buf_printf(out,
               "<a href=\"#a%lld\"><circle class=\"dot run%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\">"
               "<title>",
               (long long)r->id, r->run % 4, x_of(d, r->bound_us), y_of(d, r->predicted_us));
    report_puts(out, rows->tasks.at[r->task].name);
    buf_puts(out, ": predicted ");
    report_time(out, r->predicted_us);
    buf_puts(out, ", bound ");
    report_time(out, r->bound_us);
    buf_puts(out, "</title></circle></a>");
}

/* Which dots are whose; after four runs they look the same again. */
static void put_runs(Buf *out, const ReportSpec *spec)
{
    if (spec->count < 2)
        return;
    buf_puts(out, "<ul class=\"legend plain\">");
    for (uint32_t i = 0; i < spec->count; i++) {
        buf_printf(out,
                   "<li><svg class=\"mark\" viewBox=\"0 0 10 10\" aria-hidden=\"true\"><circle "
                   "class=\"dot run%u\" cx=\"5\" cy=\"5\" r=\"3.5\"></circle></svg>",
                   i % 4);
        report_run_name(out, &spec->runs[i].run);
        buf_puts(out, "</li>");
    }
    buf_puts(out, "</ul>");
}

static void open_roofline(Buf *out, Decades d)
{
    buf_printf(out,
               "<svg class=\"plot\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"predicted time "
               "against memory bound\">",
               PLOT_WIDTH, PLOT_HEIGHT);
    put_axes(out, d);
    put_slope(out, d, 1);
    put_slope(out, d, 2);
    put_slope(out, d, 10);
}

static bool case_has_point(const Verdict *v)
{
    return v->status == VERDICT_OK && v->predicted_us > 0 && v->bound_us > 0;
}

static void put_case_point(Buf *out, Decades d, const Verdict *v)
{
    buf_printf(out, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"><title>",
               x_of(d, v->bound_us), y_of(d, v->predicted_us));
    report_puts(out, v->kase);
    buf_puts(out, ": predicted ");
    report_time(out, v->predicted_us);
    buf_puts(out, ", bound ");
    report_time(out, v->bound_us);
    buf_puts(out, "</title></circle>");
}

void report_case_roofline(Buf *out, const ReportKernel *kernel)
{
    double low = INFINITY, high = -INFINITY;
    for (uint32_t i = 0; i < kernel->verdicts.len; i++) {
        const Verdict *v = kernel->verdicts.at[i];
        if (!case_has_point(v))
            continue;
        low = fmin(low, fmin(v->bound_us, v->predicted_us));
        high = fmax(high, fmax(v->bound_us, v->predicted_us));
    }
    Decades d = decades_between(low, high);
    if (d.low == d.high)
        return;
    buf_puts(out, "<section><h2>Predicted time against the bound</h2>");
    open_roofline(out, d);
    for (uint32_t i = 0; i < kernel->verdicts.len; i++)
        if (case_has_point(kernel->verdicts.at[i]))
            put_case_point(out, d, kernel->verdicts.at[i]);
    buf_puts(out,
             "</svg><p class=\"soft note\">One dot for each case. On the diagonal a kernel takes "
             "as long as its operands need at peak bandwidth; small cases lie above it, because "
             "every launch costs some microseconds. Both axes are predictions.</p></section>\n");
}

void report_roofline(Buf *out, const ReportSpec *spec, const ReportRows *rows)
{
    Decades d = decades_of(rows);
    uint32_t points = 0;
    buf_puts(out, "<section><h2>Predicted time against the bound</h2>");
    if (d.low == d.high) {
        buf_puts(out, "<p class=\"soft\">No right kernel has a predicted time at full "
                      "size.</p></section>\n");
        return;
    }
    open_roofline(out, d);
    for (uint32_t i = 0; i < rows->rows.len; i++)
        if (has_point(&rows->rows.at[i]) && is_best(rows, i)) {
            put_point(out, d, rows, &rows->rows.at[i]);
            points++;
        }
    buf_puts(out, "</svg>");
    put_runs(out, spec);
    buf_printf(out,
               "<p class=\"soft note\">%u dots: the best right sample of each task%s, at "
               "full size. On the diagonal a kernel takes as long as its operands need at peak "
               "bandwidth. Both axes are predictions.</p></section>\n",
               points, spec->count > 1 ? " and run" : "");
}

/* ---- errors ---- */

/* Bins: exactly 0, below 1e-9, one for each decade to 1e1, above, not finite. */
enum { BIN_LOW = -9, BIN_HIGH = 1, BINS = BIN_HIGH - BIN_LOW + 4, BIN_WIDTH = 26 };

static uint32_t bin_of(double error)
{
    if (!(error >= 0) || isinf(error))
        return BINS - 1;
    if (error <= 0)
        return 0;
    double e = floor(log10(error));
    return (uint32_t)(e < BIN_LOW ? 1 : e >= BIN_HIGH ? BINS - 2 : e - BIN_LOW + 2);
}

static void put_bin_label(Buf *out, uint32_t bin)
{
    int e = (int)bin - 2 + BIN_LOW;
    if (bin == 0)
        buf_puts(out, "0");
    else if (bin == BINS - 1)
        buf_puts(out, "nan");
    else if (bin == 1)
        buf_printf(out, "&lt;1e%d", BIN_LOW);
    else if (e % 2 && e > BIN_LOW && bin < BINS - 2)
        buf_printf(out, "1e%d", e);
}

/* Samples by the decade of their error. */
typedef struct Histogram {
    uint32_t right[BINS], wrong[BINS], most, all;
} Histogram;

static Histogram count_errors(const ReportRows *rows)
{
    Histogram h = {0};
    for (uint32_t i = 0; i < rows->rows.len; i++) {
        const ReportRow *r = &rows->rows.at[i];
        bool compared = !isnan(r->max_rel_err) || r->status == VERDICT_WRONG;
        if (!r->last || !compared)
            continue;
        uint32_t bin = bin_of(r->max_rel_err);
        (r->status == VERDICT_OK ? h.right : h.wrong)[bin]++;
        h.all++;
        h.most = h.right[bin] + h.wrong[bin] > h.most ? h.right[bin] + h.wrong[bin] : h.most;
    }
    return h;
}

static void put_bin(Buf *out, const Histogram *h, uint32_t b)
{
    double x = LEFT / 2.0 + b * BIN_WIDTH, scale = (SIDE - 20.0) / h->most;
    double good = h->right[b] * scale, bad = h->wrong[b] * scale, base = TOP + SIDE;
    buf_printf(out,
               "<rect class=\"right\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/>"
               "<rect class=\"wrong\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/>",
               x, base - good, BIN_WIDTH - 4, good, x, base - good - bad, BIN_WIDTH - 4, bad);
    x += BIN_WIDTH / 2.0 - 2;
    if (h->right[b] + h->wrong[b])
        buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"mid\">%u</text>", x,
                   base - good - bad - 5, h->right[b] + h->wrong[b]);
    buf_printf(out, "<text x=\"%.1f\" y=\"%d\" class=\"mid soft\">", x, TOP + SIDE + 16);
    put_bin_label(out, b);
    buf_puts(out, "</text>");
}

void report_errors(Buf *out, const ReportRows *rows)
{
    Histogram h = count_errors(rows);
    buf_puts(out, "<section><h2>Largest relative error</h2>");
    if (!h.all) {
        buf_puts(out, "<p class=\"soft\">No values were compared.</p></section>\n");
        return;
    }
    buf_printf(out,
               "<svg class=\"plot\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"samples by "
               "largest relative error\">",
               PLOT_WIDTH, PLOT_HEIGHT);
    for (uint32_t b = 0; b < BINS; b++)
        put_bin(out, &h, b);
    buf_printf(out,
               "<path class=\"axis\" d=\"M%d %dH%d\"/></svg><p class=\"soft note\">%u samples "
               "whose values were compared with the reference, by the decade of their largest "
               "relative error. <span class=\"key right\"></span> judged right, <span "
               "class=\"key wrong\"></span> not. Near zero a relative error may be large and "
               "right: the rule weighs the absolute one, too.</p></section>\n",
               LEFT / 2, TOP + SIDE, LEFT / 2 + BINS * BIN_WIDTH, h.all);
}
