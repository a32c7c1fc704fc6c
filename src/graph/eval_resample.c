/* Resampling. In: images [N,C,..] and a size, or a grid; out: images sampled there.
 * interpolate is separable: per dim, each output place is a short weighted sum of input places
 * (its taps), and the dims are worked through one after the other in double. */
#include "graph/eval_int.h"
#include <math.h>
#include <string.h>

/* Cubic convolution kernel with parameter a. */
static double cubic(double x, double a)
{
    x = fabs(x);
    if (x < 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

/* --- interpolate -------------------------------------------------------------------------- */

/* Weights of one dim: output o is the sum over t < count[o] of weight * in[first[o] + t], places
 * clamped to the edge. */
typedef struct Taps {
    int64_t in, out, most;
    int64_t *first, *count;
    double *weight; /* [out, most] */
} Taps;

typedef enum TapMode { TAP_NEAREST, TAP_EXACT, TAP_LINEAR, TAP_CUBIC, TAP_AREA } TapMode;

typedef struct Resize {
    TapMode mode;
    bool align, antialias;
} Resize;

static double source_scale(const Resize *r, int64_t in, int64_t out, double factor)
{
    if (r->align)
        return out > 1 ? (double)(in - 1) / (double)(out - 1) : 0;
    return factor > 0 ? 1 / factor : (double)in / (double)out;
}

static void tap_antialias(const Resize *r, Taps *t, int64_t o, double scale)
{
    double wide = scale > 1 ? scale : 1, reach = (r->mode == TAP_CUBIC ? 2 : 1) * wide, sum = 0;
    double center = scale * ((double)o + 0.5);
    int64_t from = (int64_t)fmax(center - reach + 0.5, 0);
    int64_t to = (int64_t)fmin(center + reach + 0.5, (double)t->in);
    double *w = t->weight + o * t->most;
    t->first[o] = from;
    t->count[o] = to - from < t->most ? to - from : t->most;
    for (int64_t k = 0; k < t->count[o]; k++) {
        double x = ((double)(from + k) - center + 0.5) / wide;
        w[k] = r->mode == TAP_CUBIC ? cubic(x, -0.5) : fmax(0, 1 - fabs(x));
        sum += w[k];
    }
    for (int64_t k = 0; k < t->count[o] && sum != 0; k++)
        w[k] /= sum;
}

static void tap_place(const Resize *r, Taps *t, int64_t o, double scale)
{
    double *w = t->weight + o * t->most;
    double at = r->align ? scale * (double)o : scale * ((double)o + 0.5) - 0.5;
    t->count[o] = 1;
    w[0] = 1;
    switch (r->mode) {
    case TAP_NEAREST: t->first[o] = (int64_t)floorf((float)o * (float)scale); break;
    case TAP_EXACT: t->first[o] = (int64_t)floorf(((float)o + 0.5f) * (float)scale); break;
    case TAP_LINEAR:
        at = at < 0 ? 0 : at;
        t->first[o] = (int64_t)at < t->in - 1 ? (int64_t)at : t->in - 1;
        t->count[o] = 2;
        w[1] = fmin(fmax(at - (double)t->first[o], 0), 1);
        w[0] = 1 - w[1];
        break;
    case TAP_CUBIC:
        t->first[o] = (int64_t)floor(at) - 1;
        t->count[o] = 4;
        for (int k = 0; k < 4; k++)
            w[k] = cubic(at - floor(at) + 1 - k, -0.75);
        break;
    case TAP_AREA:
        t->first[o] = o * t->in / t->out;
        t->count[o] = ((o + 1) * t->in + t->out - 1) / t->out - t->first[o];
        for (int64_t k = 0; k < t->count[o]; k++)
            w[k] = 1 / (double)t->count[o];
        break;
    }
}

static Taps taps_make(const Resize *r, int64_t in, int64_t out, double factor)
{
    double scale = source_scale(r, in, out, factor);
    Taps t = {.in = in, .out = out, .most = 4};
    if (r->antialias)
        t.most = (int64_t)(2 * 2 * fmax(scale, 1)) + 3;
    if (r->mode == TAP_AREA)
        t.most = in / out + 2;
    t.first = heap_alloc(sizeof *t.first * 2 * (size_t)(out + 1));
    t.count = t.first + out;
    t.weight = heap_alloc(sizeof *t.weight * (size_t)(out * t.most + 1));
    bool smooth = r->antialias && (r->mode == TAP_LINEAR || r->mode == TAP_CUBIC);
    for (int64_t o = 0; o < out; o++) {
        if (smooth)
            tap_antialias(r, &t, o, scale);
        else
            tap_place(r, &t, o, scale);
    }
    return t;
}

static void taps_free(Taps *t)
{
    heap_free(t->first);
    heap_free(t->weight);
}

/* One dim of a block outer x in x inner. */
static void taps_apply(const Taps *t, const double *from, double *to, int64_t outer, int64_t inner)
{
    for (int64_t row = 0; row < outer * t->out; row++) {
        int64_t o = row % t->out;
        double *line = to + row * inner;
        memset(line, 0, sizeof *line * (size_t)inner);
        for (int64_t k = 0; k < t->count[o]; k++) {
            int64_t at = t->first[o] + k;
            at = at < 0 ? 0 : at >= t->in ? t->in - 1 : at;
            const double *source = from + (row / t->out * t->in + at) * inner;
            double w = t->weight[o * t->most + k];
            for (int64_t i = 0; i < inner; i++)
                line[i] += w * source[i];
        }
    }
}

/* One plane through all its dims; `a` holds the input and, with `b`, each stage. */
static const double *resize_plane(const Taps *taps, int dims, double *a, double *b)
{
    for (int d = 0; d < dims; d++) {
        int64_t outer = 1, inner = 1;
        for (int i = 0; i < dims; i++)
            *(i < d ? &outer : &inner) *= i == d ? 1 : i < d ? taps[i].out : taps[i].in;
        taps_apply(&taps[d], a, b, outer, inner);
        double *swap = a;
        a = b;
        b = swap;
    }
    return a;
}

static Resize resize_of(const Node *node)
{
    Str m = node_text(node, AT_MODE);
    TapMode mode = str_is(m, "nearest")         ? TAP_NEAREST
                   : str_is(m, "nearest-exact") ? TAP_EXACT
                   : str_is(m, "bicubic")       ? TAP_CUBIC
                   : str_is(m, "area")          ? TAP_AREA
                                                : TAP_LINEAR;
    bool smooth = mode == TAP_LINEAR || mode == TAP_CUBIC;
    return (Resize){mode, smooth && node_bool(node, AT_ALIGN),
                    smooth && node_bool(node, AT_ANTIALIAS)};
}

static void resize_planes(EvalNode *e, const Taps *taps, int dims, int64_t from, int64_t to)
{
    int64_t most = 1, planes = to ? e->out[0]->count / to : 0;
    for (int i = 0; i < dims; i++)
        most *= taps[i].in > taps[i].out ? taps[i].in : taps[i].out;
#pragma omp parallel
    {
        double *a = heap_alloc(sizeof *a * 2 * (size_t)(most + 1)), *b = a + most;
#pragma omp for schedule(static)
        for (int64_t p = 0; p < planes; p++) {
            tensor_load_f64(e->in[0], p * from, 1, from, a);
            tensor_store_f64(e->out[0], p * to, 1, to, resize_plane(taps, dims, a, b));
        }
        heap_free(a);
    }
}

bool eval_op_INTERPOLATE(EvalNode *e)
{
    Shape in = e->in[0]->shape, out = e->out[0]->shape;
    int dims = in.rank - 2;
    Resize r = resize_of(e->node);
    Str scales = node_text(e->node, AT_SCALES), word;
    Taps taps[GRAPH_MAX_RANK];
    int64_t from = 1, to = 1;
    for (int i = 0; i < dims; i++) {
        double factor = 0;
        if (str_next(&scales, ',', &word))
            str_to_double(str_trim(word), &factor);
        taps[i] = taps_make(&r, in.dim[2 + i], out.dim[2 + i], factor);
        from *= in.dim[2 + i];
        to *= out.dim[2 + i];
    }
    resize_planes(e, taps, dims, from, to);
    for (int i = 0; i < dims; i++)
        taps_free(&taps[i]);
    return true;
}

/* --- grid_sample -------------------------------------------------------------------------- */

typedef enum PadMode { PAD_ZEROS, PAD_BORDER, PAD_REFLECTION } PadMode;

typedef struct Sampler {
    TapMode mode;
    PadMode pad;
    bool align, single; /* places are worked out in f32, as PyTorch does */
    int dims;
    int64_t size[3]; /* slowest first */
    const double *plane;
} Sampler;

static double reflect(double x, double twice_low, double twice_high)
{
    if (twice_low == twice_high)
        return 0;
    double low = twice_low / 2, span = (twice_high - twice_low) / 2;
    x = fabs(x - low);
    double extra = fmod(x, span);
    return fmod(floor(x / span), 2) == 0 ? extra + low : span - extra + low;
}

static double pad_place(const Sampler *s, double x, int64_t size)
{
    if (s->pad == PAD_REFLECTION)
        x = s->align ? reflect(x, 0, 2 * (double)(size - 1)) : reflect(x, -1, 2 * (double)size - 1);
    if (s->pad != PAD_ZEROS)
        x = fmin(fmax(x, 0), (double)(size - 1));
    return x;
}

static double unnormalise(const Sampler *s, double x, int64_t size)
{
    if (!s->single)
        return s->align ? (x + 1) / 2 * (double)(size - 1) : ((x + 1) * (double)size - 1) / 2;
    float from = (float)x + 1, n = (float)size;
    return (double)(s->align ? from / 2 * (n - 1) : (from * n - 1) / 2);
}

/* The image at whole coordinates, 0 outside. */
static double pixel(const Sampler *s, const double at[3])
{
    int64_t place = 0;
    for (int d = 0; d < s->dims; d++) {
        if (!(at[d] >= 0 && at[d] <= (double)(s->size[d] - 1)))
            return 0;
        place = place * s->size[d] + (int64_t)at[d];
    }
    return s->plane[place];
}

static double sample_linear(const Sampler *s, const double at[3])
{
    double sum = 0;
    for (int corner = 0; corner < 1 << s->dims; corner++) {
        double w = 1, to[3];
        for (int d = 0; d < s->dims; d++) {
            double low = floor(at[d]), part = at[d] - low;
            bool high = corner >> d & 1;
            to[d] = low + high;
            w *= high ? part : 1 - part;
        }
        if (w != 0)
            sum += w * pixel(s, to);
    }
    return sum;
}

static double sample_cubic(const Sampler *s, const double at[3])
{
    double sum = 0, y0 = floor(at[0]), x0 = floor(at[1]);
    for (int j = -1; j <= 2; j++)
        for (int i = -1; i <= 2; i++) {
            double to[3] = {pad_place(s, y0 + j, s->size[0]), pad_place(s, x0 + i, s->size[1])};
            sum += cubic(at[0] - y0 - j, -0.75) * cubic(at[1] - x0 - i, -0.75) * pixel(s, to);
        }
    return sum;
}

static double sample(const Sampler *s, const double *grid)
{
    double at[3] = {0};
    for (int d = 0; d < s->dims; d++) {
        at[d] = unnormalise(s, grid[s->dims - 1 - d], s->size[d]); /* the grid names x first */
        if (s->mode != TAP_CUBIC)
            at[d] = pad_place(s, at[d], s->size[d]);
        if (s->mode == TAP_NEAREST)
            at[d] = nearbyint(at[d]);
    }
    return s->mode == TAP_CUBIC     ? sample_cubic(s, at)
           : s->mode == TAP_NEAREST ? pixel(s, at)
                                    : sample_linear(s, at);
}

static Sampler sampler_of(const EvalNode *e)
{
    Str mode = node_text(e->node, AT_MODE), pad = node_text(e->node, AT_PAD_MODE);
    Sampler s = {.mode = str_is(mode, "nearest")   ? TAP_NEAREST
                         : str_is(mode, "bicubic") ? TAP_CUBIC
                                                   : TAP_LINEAR,
                 .pad = str_is(pad, "border")       ? PAD_BORDER
                        : str_is(pad, "reflection") ? PAD_REFLECTION
                                                    : PAD_ZEROS,
                 .align = node_bool(e->node, AT_ALIGN),
                 .single = e->in[1]->dtype == DT_F32,
                 .dims = e->in[0]->shape.rank - 2};
    for (int d = 0; d < s.dims; d++)
        s.size[d] = e->in[0]->shape.dim[2 + d];
    return s;
}

bool eval_op_GRID_SAMPLE(EvalNode *e)
{
    Sampler s = sampler_of(e);
    if (s.mode == TAP_CUBIC && s.dims != 2)
        return eval_fail(e, "bicubic needs images of two dims");
    Tensor *x = eval_as(e, e->in[0], DT_F64), *grid = x ? eval_as(e, e->in[1], DT_F64) : NULL;
    Shape in = e->in[0]->shape;
    int64_t channels = in.dim[1], from = eval_axes(in, 2, in.rank).n;
    int64_t to = eval_axes(e->out[0]->shape, 2, in.rank).n;
    int64_t planes = in.dim[0] * channels;
#pragma omp parallel for schedule(static)
    for (int64_t p = 0; p < (grid ? planes : 0); p++) {
        Sampler own = s;
        own.plane = TENSOR_AT(x, double) + p * from;
        const double *places = TENSOR_AT(grid, double) + p / channels * to * s.dims;
        for (int64_t i = 0; i < to; i++)
            tensor_set(e->out[0], p * to + i, sample(&own, places + i * s.dims));
    }
    tensor_free(x);
    tensor_free(grid);
    return grid != NULL;
}

bool eval_op_AFFINE_GRID(EvalNode *e)
{
    Shape out = e->out[0]->shape;
    int dims = out.rank - 2;
    bool align = node_bool(e->node, AT_ALIGN);
    for (int64_t i = 0; i < e->out[0]->count; i += dims) {
        double base[4] = {0};
        int64_t rest = i / dims;
        for (int d = dims - 1; d >= 0; d--) { /* base[0] is x, the fastest dim */
            int64_t n = out.dim[1 + d], k = rest % n;
            rest /= n;
            base[dims - 1 - d] = align ? (n > 1 ? -1 + 2 * (double)k / (double)(n - 1) : 0)
                                       : (2 * (double)k + 1) / (double)n - 1;
        }
        base[dims] = 1;
        for (int r = 0; r < dims; r++) {
            double sum = 0;
            for (int c = 0; c <= dims; c++)
                sum += tensor_get(e->in[0], (rest * dims + r) * (dims + 1) + c) * base[c];
            tensor_set(e->out[0], i + r, sum);
        }
    }
    return true;
}
