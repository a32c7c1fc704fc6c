/* int8 products: rounding, the plain C version, and the choice of a version. The unit is four
 * outputs of one row. */
#include "nn/int8_int.h"

#include "base/arena.h"
#include <math.h>
#include <stdatomic.h>
#include <string.h>

uint32_t nn_int8_group(uint32_t cols) { return cols % 64 ? cols : 64; }

static float largest(const float *w, uint32_t n)
{
    float most[NN_LANES] = {0}, all = 0;
    for (uint32_t i = 0; i < n; i++) {
        float size = fabsf(w[i]);
        most[i % NN_LANES] = size > most[i % NN_LANES] ? size : most[i % NN_LANES];
    }
    for (int k = 0; k < NN_LANES; k++)
        all = most[k] > all ? most[k] : all;
    return all;
}

/* Adding and subtracting 1.5 x 2^23 rounds to the nearest integer; what is not finite becomes 0. */
static void round_group(int8_t *q, float *scale, const float *w, uint32_t n)
{
    const float shift = 12582912;
    float most = largest(w, n), inverse = most > 0 ? 127 / most : 0;
    *scale = most / 127;
    for (uint32_t i = 0; i < n; i++) {
        float v = (w[i] * inverse + shift) - shift;
        q[i] = v >= -127 && v <= 127 ? (int8_t)v : 0;
    }
}

void nn_int8_round(NnInt8 *m, uint32_t first, const float *w, uint32_t rows)
{
    size_t groups = m->cols / m->group;
    for (size_t i = 0; i < rows * groups; i++)
        round_group(m->q + (size_t)first * m->cols + i * m->group, m->scale + first * groups + i,
                    w + i * m->group, m->group);
}

void nn_int8_row(const NnInt8 *m, uint32_t row, float *out)
{
    const int8_t *q = m->q + (size_t)row * m->cols;
    const float *scale = m->scale + (size_t)row * (m->cols / m->group);
    for (uint32_t i = 0; i < m->cols; i++)
        out[i] = (float)q[i] * scale[i / m->group];
}

static int32_t dot4(const int8_t *a, const int8_t *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

/* One output of one row; groups of 64. */
static float dot_lanes(const NnInt8 *m, uint32_t o, NnInt8Row x)
{
    const int8_t *q = m->q + (size_t)o * m->cols;
    uint32_t groups = m->cols / NN_GROUP;
    float sum[NN_LANES] = {0};
    for (uint32_t g = 0; g < groups; g++) {
        float s = m->scale[(size_t)o * groups + g] * x.scale[g];
        for (uint32_t k = 0; k < NN_LANES; k++)
            sum[k] += (float)dot4(q + g * NN_GROUP + 4 * k, x.q + g * NN_GROUP + 4 * k) * s;
    }
    return nn_lane_sum(sum);
}

/* One output of one row whose columns are one group. */
static float dot_whole(const NnInt8 *m, uint32_t o, NnInt8Row x)
{
    const int8_t *q = m->q + (size_t)o * m->cols;
    int64_t sum = 0;
    for (uint32_t i = 0; i < m->cols; i++)
        sum += q[i] * x.q[i];
    return (float)sum * (m->scale[o] * x.scale[0]);
}

static float dot_plain(const NnInt8 *m, uint32_t o, NnInt8Row x)
{
    return m->group == NN_GROUP ? dot_lanes(m, o, x) : dot_whole(m, o, x);
}

static void four_plain(const NnInt8 *m, uint32_t o, NnInt8Row x, float *y)
{
    for (uint32_t k = 0; k < 4; k++)
        y[k] = dot_plain(m, o + k, x);
}

static const NnInt8Version plain = {"plain C", four_plain};

/* Set once by a test; 0 is the best. */
static atomic_int forced;

static const NnInt8Version *version_for(const NnInt8 *m)
{
    const NnInt8Version *fast = nn_int8_fast(atomic_load(&forced));
    return fast && (!m || m->group == NN_GROUP) ? fast : &plain;
}

const char *nn_int8_version(void) { return version_for(NULL)->name; }

bool nn_int8_force(int version)
{
    if (version != 2 && !nn_int8_fast(version))
        return false;
    atomic_store(&forced, version);
    return true;
}

typedef struct MultiplyJob {
    const NnInt8 *m;
    const NnInt8Version *version;
    float *y;
    const int8_t *q;    /* the inputs, rounded */
    const float *scale; /* [n, groups] */
    uint32_t n;
} MultiplyJob;

/* Outputs from .. to-1 of every row, in fours: the four rows of weights stay in cache for all inputs.
 * The last ones alone have the same sums. */
static void multiply_range(void *given, uint32_t from, uint32_t to)
{
    const MultiplyJob *j = given;
    const NnInt8 *m = j->m;
    for (uint32_t o = from; o < to; o += 4)
        for (uint32_t n = 0; n < j->n; n++) {
            NnInt8Row x = {j->q + (size_t)n * m->cols, j->scale + (size_t)n * (m->cols / m->group)};
            float *y = j->y + (size_t)n * m->rows + o;
            if (o + 4 <= to)
                j->version->four(m, o, x, y);
            else
                for (uint32_t k = 0; o + k < to; k++)
                    y[k] = dot_plain(m, o + k, x);
        }
}

void nn_int8_multiply(NnPool *pool, const NnInt8 *m, float *y, const float *x, uint32_t n)
{
    size_t groups = m->cols / m->group;
    int8_t *q = heap_alloc((size_t)n * m->cols);
    float *scale = heap_alloc(n * groups * sizeof *scale);
    for (size_t i = 0; i < n * groups; i++)
        round_group(q + i * m->group, scale + i, x + i * m->group, m->group);
    MultiplyJob job = {m, version_for(m), y, q, scale, n};
    uint32_t pieces = 4 * nn_pool_threads(pool);
    uint32_t grain = ((m->rows + pieces - 1) / pieces + 3) & ~3u;
    nn_pool_run(pool, m->rows, grain, multiply_range, &job);
    heap_free(q);
    heap_free(scale);
}
