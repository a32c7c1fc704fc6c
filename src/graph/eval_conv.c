/* Convolution of one to three spatial dims, plain and transposed, and im2col / col2im.
 * In: x [N,C,..], weight, bias; out: y. All spatial work is written for three dims, missing ones
 * being of size 1. Plain: a matrix product whose second operand is read straight from the image;
 * few channels per group: a direct loop. Transposed: product first, then a sum of its parts. */
#include "graph/eval_int.h"
#include "graph/eval_gemm.h"
#include <string.h>

/* One image of one group, as the packer sees it. */
typedef struct Conv {
    int64_t n, groups, in_c, out_c; /* channels within a group */
    int64_t in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
} Conv;

static int64_t volume(const int64_t d[3]) { return d[0] * d[1] * d[2]; }

static void ints3(const Node *node, AttrKey key, int dims, int64_t fallback, int64_t to[3])
{
    const Attr *attr = node_attr(node, key);
    for (int i = 0; i < 3; i++)
        to[i] = i < 3 - dims ? (key == AT_PADDING ? 0 : 1) : fallback;
    for (uint32_t i = 0; attr && i < (uint32_t)dims && attr->ints.len > 0; i++)
        to[3 - dims + (int)i] = attr->ints.at[attr->ints.len == 1 ? 0 : i];
}

static void spatial3(Shape shape, int dims, int64_t to[3])
{
    for (int i = 0; i < 3; i++)
        to[i] = i < 3 - dims ? 1 : shape.dim[shape.rank - 3 + i];
}

static Conv conv_of(const EvalNode *e)
{
    Shape x = e->in[0]->shape, w = e->in[1]->shape;
    int dims = w.rank - 2;
    Conv c = {.n = x.rank == dims + 2 ? x.dim[0] : 1, .groups = node_int(e->node, AT_GROUPS, 1)};
    bool transposed = node_bool(e->node, AT_TRANSPOSED);
    c.in_c = transposed ? w.dim[0] / c.groups : w.dim[1];
    c.out_c = transposed ? w.dim[1] : w.dim[0] / c.groups;
    spatial3(x, dims, c.in);
    spatial3(e->out[0]->shape, dims, c.out);
    spatial3(w, dims, c.kernel);
    ints3(e->node, AT_STRIDE, dims, 1, c.stride);
    ints3(e->node, AT_PADDING, dims, 0, c.padding);
    ints3(e->node, AT_DILATION, dims, 1, c.dilation);
    return c;
}

/* --- plain -------------------------------------------------------------------------------- */

typedef struct Image {
    const Conv *conv;
    const void *at; /* [in_c, in] */
} Image;

/* The outputs ox0 .. ox0+n-1 of one row read input columns ox*stride + shift; returns the range of
 * them whose column is inside. */
static void inside(int64_t ox0, int64_t n, int64_t stride, int64_t shift, int64_t width,
                   int64_t *from, int64_t *to)
{
    int64_t low = -shift - ox0 * stride, high = width - shift - ox0 * stride;
    *from = low > 0 ? (low + stride - 1) / stride : 0;
    *to = high > 0 ? (high + stride - 1) / stride : 0;
    *from = *from > n ? n : *from;
    *to = *to > n ? n : *to < *from ? *from : *to;
}

/* Writes `lanes` neighbouring output positions for one kernel tap. */
#define TAP(name, T)                                                                           \
    static void name(const Image *im, int64_t position, int64_t lanes, int64_t tap, T *to)     \
    {                                                                                          \
        const Conv *c = im->conv;                                                              \
        int64_t kx = tap % c->kernel[2], ky = tap / c->kernel[2] % c->kernel[1];               \
        int64_t kz = tap / (c->kernel[2] * c->kernel[1]) % c->kernel[0];                       \
        int64_t channel = tap / volume(c->kernel);                                             \
        int64_t shift = kx * c->dilation[2] - c->padding[2];                                   \
        for (int64_t done = 0; done < lanes;) {                                                \
            int64_t p = position + done, ox = p % c->out[2], row = p / c->out[2];              \
            int64_t iy = row % c->out[1] * c->stride[1] + ky * c->dilation[1] - c->padding[1]; \
            int64_t iz = row / c->out[1] * c->stride[0] + kz * c->dilation[0] - c->padding[0]; \
            int64_t n = c->out[2] - ox < lanes - done ? c->out[2] - ox : lanes - done;         \
            int64_t from = n, until = n;                                                       \
            if (iy >= 0 && iy < c->in[1] && iz >= 0 && iz < c->in[0])                          \
                inside(ox, n, c->stride[2], shift, c->in[2], &from, &until);                   \
            const T *line = (const T *)im->at +                                                \
                            ((channel * c->in[0] + iz) * c->in[1] + iy) * c->in[2];            \
            for (int64_t i = 0; i < from; i++)                                                 \
                to[done + i] = 0;                                                              \
            for (int64_t i = from; i < until; i++)                                             \
                to[done + i] = line[(ox + i) * c->stride[2] + shift];                          \
            for (int64_t i = until; i < n; i++)                                                \
                to[done + i] = 0;                                                              \
            done += n;                                                                         \
        }                                                                                      \
    }
TAP(tap_f32, float)
TAP(tap_f64, double)

#define PACK_IMAGE(name, T, tap)                                                              \
    static void name(const void *operand, int64_t row0, int64_t rows, int64_t k0, int64_t kc, \
                     int64_t lanes, void *panels)                                             \
    {                                                                                         \
        T *out = panels;                                                                      \
        for (int64_t p = 0; p < rows; p += lanes) {                                           \
            int64_t live = rows - p < lanes ? rows - p : lanes;                               \
            for (int64_t k = 0; k < kc; k++, out += lanes) {                                  \
                tap(operand, row0 + p, live, k0 + k, out);                                    \
                for (int64_t i = live; i < lanes; i++)                                        \
                    out[i] = 0;                                                               \
            }                                                                                 \
        }                                                                                     \
    }
PACK_IMAGE(pack_image_f32, float, tap_f32)
PACK_IMAGE(pack_image_f64, double, tap_f64)

static void conv_product(const Conv *c, const Tensor *x, const Tensor *w, const Tensor *bias,
                         Tensor *y)
{
    int64_t items_n = c->n * c->groups, k = c->in_c * volume(c->kernel), positions = volume(c->out);
    int64_t bytes = (int64_t)dtype_bytes(y->dtype);
    Image *images = heap_alloc(sizeof *images * (size_t)(items_n + 1));
    GemmMatrix *weights = heap_alloc(sizeof *weights * (size_t)(items_n + 1));
    GemmItem *items = heap_alloc(sizeof *items * (size_t)(items_n + 1));
    for (int64_t i = 0; i < items_n; i++) {
        int64_t g = i % c->groups;
        images[i] = (Image){c, (const char *)x->at + i * c->in_c * volume(c->in) * bytes};
        weights[i] = (GemmMatrix){(const char *)w->at + g * c->out_c * k * bytes, k, 1};
        items[i] = (GemmItem){.a = &weights[i],
                              .b = &images[i],
                              .c = (char *)y->at + i * c->out_c * positions * bytes,
                              .row_bias = bias ? (const char *)bias->at + g * c->out_c * bytes
                                               : NULL};
    }
    bool wide = y->dtype == DT_F64;
    gemm_run(&(Gemm){.dtype = y->dtype,
                     .m = c->out_c,
                     .n = positions,
                     .k = k,
                     .c_row = positions,
                     .pack_a = wide ? gemm_pack_f64 : gemm_pack_f32,
                     .pack_b = wide ? pack_image_f64 : pack_image_f32,
                     .items = items,
                     .batch = items_n});
    heap_free(images);
    heap_free(weights);
    heap_free(items);
}

/* One output channel of one image, row by row; for groups with few channels. */
static void conv_direct_plane(const Conv *c, const Tensor *x, const Tensor *w, double bias,
                              int64_t image, int64_t channel, Tensor *y, double *sum, double *line)
{
    int64_t taps = volume(c->kernel), g = channel / c->out_c;
    for (int64_t row = 0; row < c->out[0] * c->out[1]; row++) {
        int64_t oz = row / c->out[1], oy = row % c->out[1];
        for (int64_t i = 0; i < c->out[2]; i++)
            sum[i] = bias;
        for (int64_t k = 0; k < c->in_c * taps; k++) {
            int64_t kx = k % c->kernel[2], ky = k / c->kernel[2] % c->kernel[1];
            int64_t kz = k / (c->kernel[2] * c->kernel[1]) % c->kernel[0];
            int64_t iy = oy * c->stride[1] + ky * c->dilation[1] - c->padding[1];
            int64_t iz = oz * c->stride[0] + kz * c->dilation[0] - c->padding[0];
            int64_t shift = kx * c->dilation[2] - c->padding[2], from, to;
            if (iy < 0 || iy >= c->in[1] || iz < 0 || iz >= c->in[0])
                continue;
            inside(0, c->out[2], c->stride[2], shift, c->in[2], &from, &to);
            int64_t plane = (image * c->groups + g) * c->in_c + k / taps;
            int64_t start = ((plane * c->in[0] + iz) * c->in[1] + iy) * c->in[2];
            double weight = tensor_get(w, channel * c->in_c * taps + k);
            tensor_load_f64(x, start + from * c->stride[2] + shift, c->stride[2], to - from, line);
            for (int64_t i = from; i < to; i++)
                sum[i] += weight * line[i - from];
        }
        int64_t out_row = (image * c->groups * c->out_c + channel) * c->out[0] * c->out[1] + row;
        tensor_store_f64(y, out_row * c->out[2], 1, c->out[2], sum);
    }
}

static void conv_direct(const Conv *c, const Tensor *x, const Tensor *w, const Tensor *bias,
                        Tensor *y)
{
    int64_t channels = c->groups * c->out_c;
#pragma omp parallel
    {
        double *sum = heap_alloc(sizeof *sum * 2 * (size_t)(c->out[2] + 1));
#pragma omp for schedule(static)
        for (int64_t t = 0; t < c->n * channels; t++) {
            double b = bias ? tensor_get(bias, t % channels) : 0;
            conv_direct_plane(c, x, w, b, t / channels, t % channels, y, sum, sum + c->out[2]);
        }
        heap_free(sum);
    }
}

/* --- transposed --------------------------------------------------------------------------- */

/* Adds the parts of one output channel: part [taps, in] into sum [out]. */
static void spread(const Conv *c, const Tensor *parts, int64_t from, double *sum)
{
    int64_t taps = volume(c->kernel), points = volume(c->in);
    for (int64_t k = 0; k < taps; k++)
        for (int64_t i = 0; i < c->in[0] * c->in[1]; i++) {
            int64_t kx = k % c->kernel[2], ky = k / c->kernel[2] % c->kernel[1];
            int64_t kz = k / (c->kernel[2] * c->kernel[1]);
            int64_t oz = i / c->in[1] * c->stride[0] + kz * c->dilation[0] - c->padding[0];
            int64_t oy = i % c->in[1] * c->stride[1] + ky * c->dilation[1] - c->padding[1];
            int64_t shift = kx * c->dilation[2] - c->padding[2], first, last;
            if (oz < 0 || oz >= c->out[0] || oy < 0 || oy >= c->out[1])
                continue;
            inside(0, c->in[2], c->stride[2], shift, c->out[2], &first, &last);
            int64_t at = from + k * points + i * c->in[2];
            double *line = sum + (oz * c->out[1] + oy) * c->out[2];
            if (parts->dtype == DT_F64)
                for (int64_t x = first; x < last; x++)
                    line[x * c->stride[2] + shift] += TENSOR_AT(parts, double)[at + x];
            else
                for (int64_t x = first; x < last; x++)
                    line[x * c->stride[2] + shift] += (double)TENSOR_AT(parts, float)[at + x];
        }
}

/* Output channels oc0 .. oc0+n-1 of one image of one group. */
static void transposed_part(const Conv *c, const Tensor *x, const Tensor *w, const Tensor *bias,
                            int64_t image, int64_t g, int64_t oc0, int64_t n, Tensor *parts,
                            Tensor *y)
{
    int64_t taps = volume(c->kernel), points = volume(c->in), positions = volume(c->out);
    int64_t bytes = (int64_t)dtype_bytes(y->dtype), row = c->out_c * taps;
    GemmMatrix a = {(const char *)w->at + (g * c->in_c * row + oc0 * taps) * bytes, 1, row};
    GemmMatrix b = {(const char *)x->at + (image * c->groups + g) * c->in_c * points * bytes, 1,
                    points};
    GemmItem item = {.a = &a, .b = &b, .c = parts->at};
    GemmPack *pack = y->dtype == DT_F64 ? gemm_pack_f64 : gemm_pack_f32;
    gemm_run(&(Gemm){.dtype = y->dtype,
                     .m = n * taps,
                     .n = points,
                     .k = c->in_c,
                     .c_row = points,
                     .pack_a = pack,
                     .pack_b = pack,
                     .items = &item,
                     .batch = 1});
#pragma omp parallel
    {
        double *sum = heap_alloc(sizeof *sum * (size_t)(positions + 1));
#pragma omp for schedule(static)
        for (int64_t oc = 0; oc < n; oc++) {
            int64_t channel = g * c->out_c + oc0 + oc;
            double start = bias ? tensor_get(bias, channel) : 0;
            for (int64_t i = 0; i < positions; i++)
                sum[i] = start;
            spread(c, parts, oc * taps * points, sum);
            tensor_store_f64(y, (image * c->groups * c->out_c + channel) * positions, 1, positions,
                             sum);
        }
        heap_free(sum);
    }
}

static bool conv_transposed(EvalNode *e, const Conv *c, const Tensor *x, const Tensor *w,
                            const Tensor *bias, Tensor *y)
{
    enum { PART_ELEMENTS = 1 << 23 };
    int64_t taps = volume(c->kernel), points = volume(c->in);
    int64_t step = taps * points > 0 ? PART_ELEMENTS / (taps * points) : c->out_c;
    step = step < 2 ? 2 : step > c->out_c ? c->out_c : step;
    Tensor *parts = eval_scratch(e, y->dtype, (Shape){2, {step * taps, points}});
    if (!parts)
        return false;
    for (int64_t i = 0; i < c->n * c->groups; i++)
        for (int64_t oc = 0; oc < c->out_c; oc += step)
            transposed_part(c, x, w, bias, i / c->groups, i % c->groups, oc,
                            c->out_c - oc < step ? c->out_c - oc : step, parts, y);
    tensor_free(parts);
    return true;
}

static bool conv_run(EvalNode *e, const Tensor *x, const Tensor *w, const Tensor *bias, Tensor *y)
{
    Conv c = conv_of(e);
    if (y->count == 0)
        return true;
    if (node_bool(e->node, AT_TRANSPOSED))
        return conv_transposed(e, &c, x, w, bias, y);
    if (c.out_c < 4 && c.groups > 1)
        conv_direct(&c, x, w, bias, y);
    else
        conv_product(&c, x, w, bias, y);
    return true;
}

bool eval_op_CONV(EvalNode *e)
{
    DType as = eval_compute_dtype(e->out[0]->dtype);
    Tensor *x = eval_as(e, e->in[0], as), *w = x ? eval_as(e, e->in[1], as) : NULL;
    Tensor *bias = w && e->in[2] ? eval_as(e, e->in[2], as) : NULL;
    Tensor *y = w && (bias || !e->in[2]) ? eval_scratch(e, as, e->out[0]->shape) : NULL;
    bool ok = y && conv_run(e, x, w, bias, y);
    Tensor *out = ok ? eval_as(e, y, e->out[0]->dtype) : NULL;
    tensor_free(x);
    tensor_free(w);
    tensor_free(bias);
    tensor_free(y);
    if (!out)
        return false;
    tensor_free(e->out[0]);
    e->out[0] = out;
    return true;
}

/* --- im2col, col2im ----------------------------------------------------------------------- */

/* Geometry of a 2-d window over images of size in; `out` counts its positions. */
static Conv unfold_of(const EvalNode *e, const int64_t size[2])
{
    Conv c = {.in = {1, size[0], size[1]}};
    ints3(e->node, AT_KERNEL, 2, 1, c.kernel);
    ints3(e->node, AT_STRIDE, 2, 1, c.stride);
    ints3(e->node, AT_PADDING, 2, 0, c.padding);
    ints3(e->node, AT_DILATION, 2, 1, c.dilation);
    for (int i = 0; i < 3; i++)
        c.out[i] = (c.in[i] + 2 * c.padding[i] - c.dilation[i] * (c.kernel[i] - 1) - 1) /
                       c.stride[i] +
                   1;
    return c;
}

bool eval_op_IM2COL(EvalNode *e)
{
    const Tensor *x = e->in[0];
    Conv c = unfold_of(e, x->shape.dim + x->shape.rank - 2);
    int64_t taps = volume(c.kernel), points = volume(c.in), places = volume(c.out);
    int64_t planes = points ? x->count / points : 0;
    Tensor *as = eval_as(e, x, DT_F64);
    if (!as)
        return false;
    double *line = heap_alloc(sizeof *line * (size_t)(places + 1));
    for (int64_t p = 0; p < planes; p++)
        for (int64_t k = 0; k < taps; k++) {
            Image im = {&c, TENSOR_AT(as, double) + p * points};
            tap_f64(&im, 0, places, k, line);
            tensor_store_f64(e->out[0], (p * taps + k) * places, 1, places, line);
        }
    heap_free(line);
    tensor_free(as);
    return true;
}

bool eval_op_COL2IM(EvalNode *e)
{
    Tensor *out = e->out[0];
    Conv c = unfold_of(e, out->shape.dim + out->shape.rank - 2), t = c;
    for (int i = 0; i < 3; i++) { /* the transposed view: blocks in, pixels out */
        t.in[i] = c.out[i];
        t.out[i] = c.in[i];
    }
    int64_t points = volume(t.out), parts = volume(t.kernel) * volume(t.in);
    Tensor *as = eval_as(e, e->in[0], DT_F64);
    if (!as)
        return false;
    double *sum = heap_alloc(sizeof *sum * (size_t)(points + 1));
    for (int64_t p = 0; points > 0 && p < out->count / points; p++) {
        memset(sum, 0, sizeof *sum * (size_t)points);
        spread(&t, as, p * parts, sum);
        tensor_store_f64(out, p * points, 1, points, sum);
    }
    heap_free(sum);
    tensor_free(as);
    return true;
}
