/* The page of training runs: what `acraft train` writes as curve.jsonl, one line a step, drawn. In: the lines of each
 * run. Out: a plot for each quantity that a run has, runs beside each other, and a table of where they stand.
 *
 * A line that is no JSON object with a step (the last one of a run that is being written) is passed over. */
#include "report/report_int.h"

#include <jansson.h>
#include <math.h>

/* What a step may say, and how it is drawn. */
typedef struct Quantity {
    const char *key, *title, *note;
    bool logarithmic;
} Quantity;

static const Quantity quantities[] = {
    {"loss", "Loss", "mean of the steps that a point stands for", false},
    {"held_out", "Held-out loss", "of data that are never learnt", false},
    {"margin", "Margin", "dpo: how much more the chosen answer is preferred than at the start",
     false},
    {"preferred", "Preferred", "dpo: share of pairs with a margin above 0", false},
    {"ratio", "Ratio", "grpo: how much likelier an answer is than at the start", false},
    {"clipped", "Clipped", "grpo: share of answers beyond the limit", false},
    {"norm", "Norm of the gradients", "before clipping", true},
    {"rate", "Learning rate", "", false},
    {"tokens_per_second", "Tokens a second",
     "measured on the machine of the run, since its last start", false},
};
enum { QUANTITIES = sizeof quantities / sizeof *quantities, POINTS = 240 };
enum { LEFT = 70, TOP = 12, WIDTH = 380, HEIGHT = 190, PLOT_WIDTH = 468, PLOT_HEIGHT = 250 };

typedef struct Step {
    double step, seconds, value[QUANTITIES]; /* NAN: not said */
} Step;
typedef struct Curve {
    const char *name;
    VEC(Step) steps;
} Curve;
typedef VEC(Curve) Curves;

/* ---- reading ---- */

static double number_of(const json_t *row, const char *key)
{
    const json_t *field = json_object_get(row, key);
    return json_is_number(field) ? json_number_value(field) : NAN;
}

static void read_curve(Arena *arena, const ReportCurve *given, Curve *curve)
{
    Str rest = given->lines, line;
    *curve = (Curve){.name = given->name};
    while (str_next(&rest, '\n', &line)) {
        json_t *row = json_loadb(line.at, line.len, 0, NULL);
        Step s = {.step = number_of(row, "step"), .seconds = number_of(row, "seconds")};
        for (int q = 0; q < QUANTITIES; q++)
            s.value[q] = number_of(row, quantities[q].key);
        if (isfinite(s.step))
            vec_push(arena, &curve->steps, s);
        json_decref(row);
    }
}

/* ---- plots ---- */

typedef struct Frame {
    double x_most, low, high; /* steps; values, as logarithms where they are drawn so */
    bool logarithmic;
} Frame;

static double drawn_value(const Quantity *q, double value)
{
    return q->logarithmic ? value > 0 ? log10(value) : NAN : value;
}

/* False: no run says this quantity. */
static bool measure_frame(const Curves *curves, int q, Frame *f)
{
    *f = (Frame){.low = INFINITY, .high = -INFINITY, .logarithmic = quantities[q].logarithmic};
    for (uint32_t c = 0; c < curves->len; c++)
        for (uint32_t i = 0; i < curves->at[c].steps.len; i++) {
            const Step *s = &curves->at[c].steps.at[i];
            double v = drawn_value(&quantities[q], s->value[q]);
            if (!isfinite(v))
                continue;
            f->x_most = fmax(f->x_most, s->step);
            f->low = fmin(f->low, v);
            f->high = fmax(f->high, v);
        }
    if (!(f->high >= f->low))
        return false;
    double room = f->high > f->low ? 0.05 * (f->high - f->low) : fmax(0.5, fabs(f->high) / 2);
    f->low = f->low >= 0 && !f->logarithmic ? fmax(f->low - room, 0) : f->low - room;
    f->high += room;
    return true;
}

static double x_of(const Frame *f, double step)
{
    return LEFT + WIDTH * (f->x_most > 0 ? step / f->x_most : 0);
}

static double y_of(const Frame *f, double drawn)
{
    return TOP + HEIGHT * (f->high - drawn) / (f->high - f->low);
}

static void put_axes(Buf *out, const Frame *f)
{
    for (int i = 0; i <= 4; i++) {
        double drawn = f->low + (f->high - f->low) * i / 4, y = y_of(f, drawn);
        buf_printf(out,
                   "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" "
                   "class=\"end\">%.3g</text>",
                   LEFT, y, LEFT + WIDTH, LEFT - 6, y + 4, f->logarithmic ? pow(10, drawn) : drawn);
    }
    for (int i = 0; i <= 2; i++)
        buf_printf(out, "<text x=\"%.1f\" y=\"%d\" class=\"%s\">%.0f</text>",
                   x_of(f, f->x_most * i / 2), TOP + HEIGHT + 16, i == 2 ? "end" : "mid",
                   f->x_most * i / 2);
    buf_printf(out, "<text x=\"%d\" y=\"%d\" class=\"mid name\">step</text>", LEFT + WIDTH / 2,
               TOP + HEIGHT + 34);
}

/* A line through the means of at most POINTS stretches of steps; dots where there are few. */
static void put_line(Buf *out, const Frame *f, const Curve *curve, int q, uint32_t number)
{
    uint32_t each = (curve->steps.len + POINTS - 1) / POINTS, drawn = 0;
    Buf path = {0};
    double x = 0, y = 0;
    for (uint32_t from = 0; from < curve->steps.len; from += each) {
        double step = 0, value = 0, n = 0;
        for (uint32_t i = from; i < from + each && i < curve->steps.len; i++) {
            double v = drawn_value(&quantities[q], curve->steps.at[i].value[q]);
            if (!isfinite(v))
                continue;
            step += curve->steps.at[i].step;
            value += v;
            n++;
        }
        if (n > 0) {
            x = x_of(f, step / n);
            y = y_of(f, value / n);
            buf_printf(&path, "%s%.1f %.1f", drawn++ ? "L" : "M", x, y);
        }
    }
    if (drawn > 1)
        buf_printf(out, "<path class=\"curve run%u\" d=\"%.*s\"/>", number % 4,
                   STR_ARG(buf_view(&path)));
    else if (drawn)
        buf_printf(out, "<circle class=\"dot run%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"></circle>",
                   number % 4, x, y);
    buf_free(&path);
}

static void put_plot(Buf *out, const Curves *curves, int q)
{
    Frame f;
    if (!measure_frame(curves, q, &f))
        return;
    buf_printf(out,
               "<section><h2>%s</h2><svg class=\"plot\" viewBox=\"0 0 %d %d\" role=\"img\" "
               "aria-label=\"%s by step\">",
               quantities[q].title, PLOT_WIDTH, PLOT_HEIGHT, quantities[q].title);
    put_axes(out, &f);
    for (uint32_t c = 0; c < curves->len; c++)
        put_line(out, &f, &curves->at[c], q, c);
    buf_printf(out, "</svg><p class=\"soft note\">%s</p></section>\n", quantities[q].note);
}

/* ---- the table ---- */

/* The last value that a run says of a quantity. */
static double last_of(const Curve *curve, int q)
{
    for (uint32_t i = curve->steps.len; i-- > 0;)
        if (isfinite(curve->steps.at[i].value[q]))
            return curve->steps.at[i].value[q];
    return NAN;
}

static void put_number(Buf *out, double value, const char *format)
{
    buf_puts(out, "<td class=\"n\">");
    if (isfinite(value))
        buf_printf(out, format, value);
    else
        buf_puts(out, "-");
    buf_puts(out, "</td>");
}

static void put_head(Buf *out, const Curves *curves)
{
    buf_puts(out, "<thead><tr><th></th>");
    for (uint32_t c = 0; c < curves->len; c++) {
        buf_printf(out,
                   "<th class=\"n\" scope=\"col\"><svg class=\"mark\" viewBox=\"0 0 10 10\" "
                   "aria-hidden=\"true\"><path class=\"curve run%u\" d=\"M0 5H10\"/></svg> ",
                   c % 4);
        report_puts(out, curves->at[c].name);
        buf_puts(out, "</th>");
    }
    buf_puts(out, "</tr></thead>");
}

/* Where the runs stand: a row for each quantity that one of them says. */
static void put_table(Buf *out, const Curves *curves)
{
    Frame f;
    buf_puts(out, "<div class=\"wide\"><table>");
    put_head(out, curves);
    buf_puts(out, "<tbody><tr><th scope=\"row\">Step</th>");
    for (uint32_t c = 0; c < curves->len; c++)
        put_number(out, curves->at[c].steps.len ? vec_last(&curves->at[c].steps).step : NAN,
                   "%.0f");
    buf_puts(out, "</tr><tr><th scope=\"row\">Seconds</th>");
    for (uint32_t c = 0; c < curves->len; c++)
        put_number(out, curves->at[c].steps.len ? vec_last(&curves->at[c].steps).seconds : NAN,
                   "%.0f");
    buf_puts(out, "</tr>");
    for (int q = 0; q < QUANTITIES; q++) {
        if (!measure_frame(curves, q, &f))
            continue;
        buf_printf(out, "<tr><th scope=\"row\">%s</th>", quantities[q].title);
        for (uint32_t c = 0; c < curves->len; c++)
            put_number(out, last_of(&curves->at[c], q), "%.4g");
        buf_puts(out, "</tr>");
    }
    buf_puts(out, "</tbody></table></div>\n");
}

void report_curves(const ReportCurve *given, uint32_t count, const char *version, Buf *html)
{
    Arena arena = {0};
    Curves curves = {0};
    for (uint32_t i = 0; i < count; i++) {
        vec_push(&arena, &curves, (Curve){0});
        read_curve(&arena, &given[i], &vec_last(&curves));
    }
    report_open(html, "acraft train", "losses and rates are those of the training runs themselves",
                false);
    buf_puts(html, "<h1>Training</h1>\n");
    put_table(html, &curves);
    buf_puts(html, "<div class=\"plots\">\n");
    for (int q = 0; q < QUANTITIES; q++)
        put_plot(html, &curves, q);
    buf_puts(html, "</div>\n");
    report_close(html, version, "");
    arena_drop(&arena);
}
