/* Comparison (contract in the header). In: two tensors and a spec; out: a verdict with the place of
 * the first bad element. Two passes: the reference's rms, then element by element. */
#include "graph/compare.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const rule_names[RULE_COUNT] = {
    [RULE_ACRAFT] = "acraft",
    [RULE_MKB] = "mkb",
    [RULE_MKB_LOOSE] = "mkb-1e-2",
    [RULE_NPUKB] = "npukb",
    [RULE_NPUKB_SCALED] = "npukb-scaled",
    [RULE_NPUKB_MATMUL] = "npukb-matmul",
    [RULE_NPUKB_FRACTION] = "npukb-fraction",
};

const char *compare_rule_name(CompareRule rule) { return rule_names[rule]; }

bool compare_rule_from_name(Str name, CompareRule *rule)
{
    for (int r = 0; r < RULE_COUNT; r++)
        if (str_is(name, rule_names[r])) {
            *rule = (CompareRule)r;
            return true;
        }
    return false;
}

/* --- tolerances --------------------------------------------------------------------------- */

/* Half the distance from 1 to the next number. */
static double unit(DType dtype)
{
    switch (dtype) {
    case DT_F64: return 0x1p-53;
    case DT_F16: return 0x1p-11;
    case DT_BF16: return 0x1p-8;
    default: return 0x1p-24;
    }
}

/* The distance between numbers below the smallest normal one: there rounding is absolute. */
static double least(DType dtype)
{
    switch (dtype) {
    case DT_F64: return 0x1p-1074;
    case DT_F16: return 0x1p-24;
    case DT_BF16: return 0x1p-133;
    default: return 0x1p-149;
    }
}

/* docs/tolerances.md: rounding of the result, of the sums (in f32 at best), of the steps. */
static double allowed_acraft(const CompareSpec *s, DType dtype, double want, double rms)
{
    double size = fabs(want) + rms, u = unit(dtype), sums = unit(dtype == DT_F64 ? DT_F64 : DT_F32);
    double length = (double)(s->reduction > 1 ? s->reduction : 1);
    double depth = (double)(s->depth > 1 ? s->depth : 1);
    return 2 * u * fabs(want) + u * sqrt(depth) * size + 16 * sums * sqrt(length) * size +
           8 * s->noise + (2 + sqrt(length)) * least(dtype);
}

static double npukb_ratio(const CompareSpec *s, DType dtype)
{
    dtype = s->named ? (DType)(s->named - 1) : dtype;
    if (s->rule == RULE_NPUKB_MATMUL) {
        bool lengthy = s->reduction >= 2048;
        return dtype == DT_F16    ? (lengthy ? 1.0 / 128 : 1.0 / 256)
               : dtype == DT_BF16 ? (lengthy ? 1.0 / 64 : 1.0 / 128)
                                  : (lengthy ? 1.0 / 512 : 1.0 / 2048);
    }
    return dtype == DT_F16    ? 1.0 / 512
           : dtype == DT_BF16 ? 1.0 / 256 + 0x1p-14
                              : 1.0 / 2048 + 0x1p-14;
}

double compare_allowed(const CompareSpec *s, DType dtype, double want, double rms)
{
    bool whole = dtype_is_int(dtype) || dtype == DT_BOOL;
    double bound = s->bound > 0 ? s->bound : 1e-3;
    if (s->rule == RULE_ACRAFT || dtype == DT_BOOL)
        return whole ? 0 : allowed_acraft(s, dtype, want, rms);
    switch (s->rule) {
    case RULE_MKB: return 1e-4 + 1e-4 * fabs(want);
    case RULE_MKB_LOOSE: return 1e-2 + 1e-2 * fabs(want);
    case RULE_NPUKB:
    case RULE_NPUKB_FRACTION: return fmax(bound, bound * (fabs(want) + 1e-7));
    default: return whole ? 0 : npukb_ratio(s, dtype) * fmax(1, fabs(want));
    }
}

/* --- the pass over the elements ----------------------------------------------------------- */

/* Complex tensors as twice as many floats. */
static Tensor as_real(const Tensor *t)
{
    Tensor r = *t;
    if (t->dtype != DT_C64)
        return r;
    r.dtype = DT_F32;
    r.count *= 2;
    if (r.shape.rank < GRAPH_MAX_RANK)
        r.shape.dim[r.shape.rank++] = 2;
    return r;
}

double compare_rms(const Tensor *tensor)
{
    Tensor real = as_real(tensor), *t = &real;
    double sum = 0, n = 0;
    for (int64_t i = 0; i < t->count; i++) {
        double x = tensor_get(t, i);
        if (isfinite(x)) {
            sum += x * x;
            n += 1;
        }
    }
    return n > 0 ? sqrt(sum / n) : 0;
}

/* Whether both are the same kind of number: finite, or the same infinity, or nan. */
static bool same_finiteness(double got, double want)
{
    if (isfinite(want))
        return isfinite(got);
    return want == got || (want != want && got != got);
}

typedef struct Sweep {
    CompareResult r;
    double rms;
    int64_t not_finite;
} Sweep;

static void note_bad(Sweep *s, int64_t i, double got, double want, double allowed)
{
    if (s->r.bad++ > 0)
        return;
    s->r.first_bad = i;
    s->r.got = got;
    s->r.want = want;
    s->r.allowed = allowed;
}

/* Where the task's own evaluation is far off, a kernel may be as far; the larger error of both roundings counts. */
static double at_element(const CompareSpec *spec, int64_t i, double want)
{
    if (!spec->own || spec->rule != RULE_ACRAFT || i >= spec->own->count)
        return 0;
    double off = fabs(tensor_get(spec->own, i) - want);
    return isfinite(off) && off > 8 * spec->noise ? 2 * off : 0;
}

/* Whether the element is that of another right answer. */
static bool is_other(const CompareSpec *spec, DType dtype, int64_t i, double got, double rms)
{
    for (int k = 0; k < COMPARE_OTHERS && spec->rule == RULE_ACRAFT; k++) {
        if (!spec->others[k] || i >= spec->others[k]->count)
            continue;
        double other = tensor_get(spec->others[k], i);
        if (fabs(got - other) <= compare_allowed(spec, dtype, other, rms))
            return true;
    }
    return false;
}

static void look_at(Sweep *s, const CompareSpec *spec, DType dtype, int64_t i, double got,
                    double want)
{
    double allowed = compare_allowed(spec, dtype, want, s->rms) + at_element(spec, i, want);
    if (!same_finiteness(got, want)) {
        s->not_finite++;
        note_bad(s, i, got, want, allowed);
        return;
    }
    if (!isfinite(want))
        return;
    double off = fabs(got - want), relative = off / fmax(fabs(want), DBL_MIN);
    s->r.max_abs_err = fmax(s->r.max_abs_err, off);
    if (want != 0)
        s->r.max_rel_err = fmax(s->r.max_rel_err, relative);
    if (off > 0)
        s->r.tolerance_used = fmax(s->r.tolerance_used, off / fmax(allowed, DBL_MIN));
    if (off > allowed && !is_other(spec, dtype, i, got, s->rms))
        note_bad(s, i, got, want, allowed);
}

static bool element_bad(const CompareSpec *spec, DType dtype, int64_t i, double got, double want,
                        double rms)
{
    return !same_finiteness(got, want) ||
           (isfinite(want) &&
            fabs(got - want) >
                compare_allowed(spec, dtype, want, rms) + at_element(spec, i, want) &&
            !is_other(spec, dtype, i, got, rms));
}

/* --- what the errors look like ------------------------------------------------------------ */

typedef struct Look {
    const Tensor *got, *want;
    const CompareSpec *spec;
    double rms;
    CompareResult *r;
} Look;

static void say(CompareResult *r, const char *format, ...) ATTR_PRINTF(2, 3);
static void say(CompareResult *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(r->pattern, sizeof r->pattern, format, args);
    va_end(args);
}

static bool bad_at(const Look *l, int64_t i)
{
    return element_bad(l->spec, l->want->dtype, i, tensor_get(l->got, i), tensor_get(l->want, i),
                       l->rms);
}

static bool say_constant(const Look *l)
{
    double first = tensor_get(l->got, 0);
    for (int64_t i = 1; i < l->got->count; i++) {
        double x = tensor_get(l->got, i);
        if (x != first && !(x != x && first != first))
            return false;
    }
    if (first == 0)
        say(l->r, "all zeros");
    else
        say(l->r, "all equal to %.6g", first);
    return l->got->count > 1;
}

static bool say_input(const Look *l, const Tensor *const *inputs, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        if (inputs[k] && inputs[k]->count > 0 && tensor_equal(l->got, inputs[k])) {
            say(l->r, "equals input %u", k);
            return true;
        }
    return false;
}

/* got = factor * want everywhere. */
static bool say_factor(const Look *l)
{
    double factor = 0;
    for (int64_t i = 0; i < l->got->count; i++) {
        double g = tensor_get(l->got, i), w = tensor_get(l->want, i);
        if (!isfinite(g) || !isfinite(w))
            return false;
        if (factor == 0 && fabs(w) > 0.1 * l->rms)
            factor = g / w;
    }
    if (factor == 0 || fabs(factor - 1) < 1e-3)
        return false;
    for (int64_t i = 0; i < l->got->count; i++)
        if (fabs(tensor_get(l->got, i) - factor * tensor_get(l->want, i)) >
            1e-4 * fabs(factor) * (l->rms + fabs(tensor_get(l->want, i))))
            return false;
    say(l->r, "too large by a factor of %.6g", factor);
    return true;
}

/* Errors by row and column, the last dim being the row. */
static bool say_rows(const Look *l)
{
    Shape s = l->want->shape;
    int64_t cols = s.rank ? s.dim[s.rank - 1] : 1, rows = l->want->count / (cols ? cols : 1);
    int64_t first_col = cols, bad_rows = 0, whole_rows = 0, first_row = -1, last_row = -1;
    for (int64_t r = 0; r < rows; r++) {
        int64_t bad = 0;
        for (int64_t c = 0; c < cols; c++)
            if (bad_at(l, r * cols + c)) {
                bad++;
                first_col = c < first_col ? c : first_col;
            }
        if (bad == 0)
            continue;
        first_row = first_row < 0 ? r : first_row;
        last_row = r;
        bad_rows++;
        whole_rows += 2 * bad >= cols;
    }
    if (rows > 2 && first_row == 1 && bad_rows == rows - 1)
        say(l->r, "every row after the first");
    else if (first_col > 0 && first_col >= cols / 2 && bad_rows * 2 > rows)
        say(l->r, "the tail of every row, from column %lld of %lld on", (long long)first_col,
            (long long)cols);
    else if (rows > 2 && whole_rows == bad_rows && last_row == rows - 1 &&
             last_row - first_row + 1 == bad_rows && first_row > 0)
        say(l->r, "all rows from row %lld of %lld on", (long long)first_row, (long long)rows);
    else
        return false;
    return true;
}

static bool say_flat(const Look *l)
{
    int64_t n = l->want->count, first = l->r->first_bad;
    if (l->r->bad == n - first && first > 0)
        say(l->r, "everything from element %lld of %lld on", (long long)first, (long long)n);
    else if (l->r->bad == n)
        say(l->r, "every element");
    else if (l->r->bad * 1000 < n)
        say(l->r, "single elements");
    else
        return false;
    return true;
}

static void find_pattern(const Look *l, const Tensor *const *inputs, uint32_t n_inputs)
{
    if (say_constant(l) || say_input(l, inputs, n_inputs) || say_factor(l) || say_rows(l))
        return;
    say_flat(l);
}

/* --- the whole ---------------------------------------------------------------------------- */

/* Elements that may be bad. */
static double most_bad(const CompareSpec *spec, int64_t count)
{
    return spec->rule == RULE_NPUKB_FRACTION ? 1e-3 * (double)count : 0;
}

static CompareStatus judge(const Sweep *s, const CompareSpec *spec)
{
    if (s->not_finite)
        return COMPARE_FINITE;
    return (double)s->r.bad > most_bad(spec, s->r.count) ? COMPARE_WRONG : COMPARE_OK;
}

CompareResult compare_tensors(const Tensor *got, const Tensor *want, const CompareSpec *spec,
                              const Tensor *const *inputs, uint32_t n_inputs)
{
    CompareResult none = {.first_bad = -1, .count = want->count, .shape = want->shape};
    none.status = got->dtype != want->dtype               ? COMPARE_DTYPE
                  : !shape_equal(got->shape, want->shape) ? COMPARE_SHAPE
                                                          : COMPARE_OK;
    if (none.status != COMPARE_OK)
        return none;
    Tensor g = as_real(got), w = as_real(want);
    Sweep s = {.r = none, .rms = compare_rms(&w)};
    s.r.shape = w.shape;
    s.r.count = w.count;
    for (int64_t i = 0; i < w.count; i++)
        look_at(&s, spec, w.dtype, i, tensor_get(&g, i), tensor_get(&w, i));
    s.r.status = judge(&s, spec);
    if (s.r.status != COMPARE_OK)
        find_pattern(&(Look){&g, &w, spec, s.rms, &s.r}, inputs, n_inputs);
    return s.r;
}

/* `got` NULL: every element is `value`. */
static bool fits(const Tensor *got, double value, const Tensor *want, const CompareSpec *spec,
                 double rms)
{
    double most = most_bad(spec, want->count), bad = 0;
    for (int64_t i = 0; i < want->count; i++) {
        double x = got ? tensor_get(got, i) : value, y = tensor_get(want, i);
        if (!element_bad(spec, want->dtype, i, x, y, rms))
            continue;
        if (++bad > most || !same_finiteness(x, y))
            return false;
    }
    return true;
}

bool compare_fits(const Tensor *got, const Tensor *want, const CompareSpec *spec, double rms)
{
    if (got->dtype != want->dtype || !shape_equal(got->shape, want->shape))
        return false;
    Tensor g = as_real(got), w = as_real(want);
    return fits(&g, 0, &w, spec, rms);
}

bool compare_fits_filled(double value, const Tensor *want, const CompareSpec *spec, double rms)
{
    Tensor w = as_real(want);
    return (want->dtype != DT_C64 || value == 0) && fits(NULL, value, &w, spec, rms);
}

static void print_place(const CompareResult *r, Buf *out)
{
    int64_t at[GRAPH_MAX_RANK], i = r->first_bad;
    for (int d = r->shape.rank - 1; d >= 0; i /= r->shape.dim[d], d--)
        at[d] = i % r->shape.dim[d];
    buf_char(out, '[');
    for (int d = 0; d < r->shape.rank; d++)
        buf_printf(out, "%s%lld", d ? "," : "", (long long)at[d]);
    buf_char(out, ']');
}

void compare_print(const CompareResult *r, Buf *out)
{
    static const char *const words[] = {
        "ok", "wrong number of outputs", "wrong dtype", "wrong shape", "not finite", "wrong"};
    buf_puts(out, words[r->status]);
    if (r->first_bad >= 0 && r->status != COMPARE_OK) {
        buf_printf(out, ": %lld of %lld elements, first ", (long long)r->bad, (long long)r->count);
        print_place(r, out);
        buf_printf(out, " got %.9g want %.9g (allowed %.3g)", r->got, r->want, r->allowed);
    }
    if (r->status == COMPARE_OK || r->status >= COMPARE_FINITE)
        buf_printf(out, "; max abs error %.3g, max rel error %.3g", r->max_abs_err, r->max_rel_err);
    if (r->pattern[0] && r->status != COMPARE_OK)
        buf_printf(out, "; looks like: %s", r->pattern);
}
