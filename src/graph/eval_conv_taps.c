/* Convolution in the planner's own form. In: x [N,C,phases,D,H,W], padded and split by strides; weight
 * [O,kd,kh,kw,C/groups]. Out: y [N,O,..]. A plain loop: only tests of rewritten graphs come here. */
#include "graph/eval_int.h"

enum { DIMS = 3 };

typedef struct Taps {
    Shape x, w, y;
    int64_t groups, start;
    const int64_t *stride, *dilation;
} Taps;

/* Where the element lies that tap k (per dimension) sees from the place o, behind channel 0. */
static int64_t place_of(const Taps *t, const int64_t k[DIMS], const int64_t o[DIMS])
{
    int64_t phase = 0, at = 0;
    for (int i = 0; i < DIMS; i++) {
        int64_t far = k[i] * t->dilation[i];
        phase = phase * t->stride[i] + far % t->stride[i];
        at = at * t->x.dim[3 + i] + o[i] + far / t->stride[i];
    }
    at += t->start;
    return phase * t->x.dim[3] * t->x.dim[4] * t->x.dim[5] + at;
}

static void split(int64_t at, const int64_t *size, int64_t to[DIMS])
{
    for (int i = DIMS; i-- > 0; at /= size[i])
        to[i] = at % size[i];
}

static double sum_at(const Taps *t, const Tensor *x, const Tensor *w, int64_t image, int64_t out,
                     const int64_t o[DIMS])
{
    int64_t channels = t->w.dim[4], taps = t->w.dim[1] * t->w.dim[2] * t->w.dim[3];
    int64_t plane = t->x.dim[2] * t->x.dim[3] * t->x.dim[4] * t->x.dim[5];
    int64_t first = image * t->x.dim[1] + out / (t->w.dim[0] / t->groups) * channels, k[DIMS];
    double sum = 0;
    for (int64_t tap = 0; tap < taps; tap++) {
        split(tap, t->w.dim + 1, k);
        int64_t at = place_of(t, k, o);
        for (int64_t c = 0; c < channels; c++)
            sum += tensor_get(w, (out * taps + tap) * channels + c) *
                   tensor_get(x, (first + c) * plane + at);
    }
    return sum;
}

bool eval_op_CONV_TAPS(EvalNode *e)
{
    Tensor *y = e->out[0];
    Taps t = {.x = e->in[0]->shape,
              .w = e->in[1]->shape,
              .y = y->shape,
              .groups = node_int(e->node, AT_GROUPS, 1),
              .start = node_int(e->node, AT_START, 0),
              .stride = node_attr(e->node, AT_STRIDE)->ints.at,
              .dilation = node_attr(e->node, AT_DILATION)->ints.at};
    int64_t places = t.y.dim[2] * t.y.dim[3] * t.y.dim[4], o[DIMS];
    for (int64_t i = 0; i < y->count; i++) {
        int64_t plane = i / places;
        split(i % places, t.y.dim + 2, o);
        double sum = sum_at(&t, e->in[0], e->in[1], plane / t.y.dim[1], plane % t.y.dim[1], o);
        tensor_store_f64(y, i, 1, 1, &sum);
    }
    return true;
}
