/* int8 products: rounding, the plain C version, and the choice of a version. A tile is four outputs
 * of one row (decoding one sequence) or one output of four rows (prompts, several sequences). */
#include "nn/int8_int.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

uint32_t nn_int8_group(uint32_t cols) { return cols % 64 ? cols : 64; }

static void round_group(int8_t *q, float *scale, const float *w, uint32_t n)
{
    float most = 0;
    for (uint32_t i = 0; i < n; i++)
        most = fabsf(w[i]) > most ? fabsf(w[i]) : most;
    *scale = most / 127;
    for (uint32_t i = 0; i < n; i++)
        q[i] = (int8_t)(most > 0 ? rintf(w[i] / *scale) : 0);
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

/* One output of one row; any group size. */
static float dot_plain(const NnInt8 *m, uint32_t o, const float *x)
{
    const int8_t *q = m->q + (size_t)o * m->cols;
    const float *scale = m->scale + (size_t)o * (m->cols / m->group);
    float sum[NN_LANES] = {0};
    for (uint32_t at = 0; at < m->cols; at += m->group) {
        float s = scale[at / m->group];
        uint32_t i = at, end = at + m->group;
        for (; i + NN_LANES <= end; i += NN_LANES)
            for (uint32_t k = 0; k < NN_LANES; k++)
                sum[k] += (float)q[i + k] * s * x[i + k];
        for (uint32_t k = 0; i + k < end; k++)
            sum[k] += (float)q[i + k] * s * x[i + k];
    }
    return nn_lane_sum(sum);
}

static void four_outputs_plain(const NnInt8 *m, uint32_t o, const float *x, float *y)
{
    for (uint32_t k = 0; k < 4; k++)
        y[k] = dot_plain(m, o + k, x);
}

static void four_rows_plain(const NnInt8 *m, uint32_t o, const float *x, float *y, size_t stride)
{
    for (uint32_t k = 0; k < 4; k++)
        y[k * stride] = dot_plain(m, o, x + (size_t)k * m->cols);
}

static const NnInt8Version plain = {"plain C", four_outputs_plain, four_rows_plain};

/* Set once by a test; 0 is the best. */
static atomic_int forced;

static const NnInt8Version *version_for(const NnInt8 *m)
{
    const NnInt8Version *fast = nn_int8_fast(atomic_load(&forced));
    return fast && (!m || m->group % NN_LANES == 0) ? fast : &plain;
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
    const float *x;
    uint32_t n;
} MultiplyJob;

/* The outputs from .. to-1 of one row, in fours; the last ones alone, with the same sums. */
static void one_row(const MultiplyJob *j, uint32_t row, uint32_t from, uint32_t to)
{
    const float *x = j->x + (size_t)row * j->m->cols;
    float *y = j->y + (size_t)row * j->m->rows, four[4];
    for (uint32_t o = from; o < to; o += 4) {
        uint32_t first = o + 4 <= j->m->rows || j->m->rows < 4 ? o : j->m->rows - 4;
        if (j->m->rows < 4) {
            for (uint32_t k = o; k < to; k++)
                y[k] = dot_plain(j->m, k, x);
            continue;
        }
        j->version->four_outputs(j->m, first, x, four);
        for (uint32_t k = o; k < to && k < first + 4; k++)
            y[k] = four[k - first];
    }
}

static void multiply_range(void *given, uint32_t from, uint32_t to)
{
    const MultiplyJob *j = given;
    uint32_t row = 0;
    for (; row + 4 <= j->n; row += 4)
        for (uint32_t o = from; o < to; o++)
            j->version->four_rows(j->m, o, j->x + (size_t)row * j->m->cols,
                                  j->y + (size_t)row * j->m->rows + o, j->m->rows);
    for (; row < j->n; row++)
        one_row(j, row, from, to);
}

void nn_int8_multiply(NnPool *pool, const NnInt8 *m, float *y, const float *x, uint32_t n)
{
    MultiplyJob job = {m, version_for(m), y, x, n};
    uint32_t pieces = 4 * nn_pool_threads(pool);
    uint32_t grain = ((m->rows + pieces - 1) / pieces + 3) & ~3u;
    nn_pool_run(pool, m->rows, grain, multiply_range, &job);
}
