/* Tensors of full size from the rows of a small case; see sample.h. */
#include "eval/sample.h"

#include "eval/candidate_int.h"
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, BLOCKS = 4, RECORDS = 3000 };
static const size_t most_copied = (size_t)64 << 20;

/* ---- memory ---- */

/* The small tensor's pages over and over: reading any of them costs no memory. */
static bool map_repeated(TwinTensor *t, const Tensor *small, size_t period)
{
    TwinTensor own = {.bytes = period};
    size_t whole = (t->bytes + PAGE - 1) / PAGE * PAGE;
    if (!twin_tensor_alloc(&own))
        return false;
    memcpy(own.data, small->at, period);
    char *at = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    bool ok = at != MAP_FAILED;
    for (size_t from = 0; ok && from < whole; from += period) {
        size_t bytes = whole - from < period ? whole - from : period;
        ok = mmap(at + from, bytes, PROT_READ, MAP_SHARED | MAP_FIXED, own.fd, 0) != MAP_FAILED;
    }
    if (!ok && at != MAP_FAILED)
        munmap(at, whole);
    munmap(own.data, period);
    if (!ok)
        close(own.fd);
    t->data = ok ? at : NULL;
    t->fd = ok ? own.fd : 0;
    return ok;
}

static bool copy_repeated(TwinTensor *t, const Tensor *small, size_t period)
{
    if (!twin_tensor_alloc(t))
        return false;
    for (size_t from = 0; from < t->bytes; from += period)
        memcpy((char *)t->data + from, small->at,
               t->bytes - from < period ? t->bytes - from : period);
    return true;
}

static bool fill_given(TwinTensor *t, const Tensor *small)
{
    size_t period = small ? (size_t)small->count * dtype_bytes(small->dtype) : 0;
    if (!period || small->dtype != t->dtype || t->bytes < period)
        return false;
    return t->bytes <= most_copied ? copy_repeated(t, small, period)
                                   : period % PAGE == 0 && map_repeated(t, small, period);
}

static bool describe(const Graph *g, ValueId value, TwinTensor *t)
{
    const Value *v = graph_value(g, value);
    int64_t bytes;
    *t = (TwinTensor){.name = "", .dtype = v->dtype, .rank = (uint32_t)v->shape.rank};
    if (v->dtype == DT_C64 || !shape_bytes(v->shape, v->dtype, &bytes) || bytes == 0)
        return false;
    t->bytes = (size_t)bytes;
    return true;
}

bool eval_sample_open(Arena *arena, const Graph *g, const EvalReference *small, uint64_t seed,
                      EvalSample *s)
{
    uint32_t n = g->inputs.len + g->params.len + g->outputs.len;
    *s = (EvalSample){.full = g,
                      .small = small,
                      .twin = {.blocks = BLOCKS, .records = RECORDS, .seed = seed},
                      .tensors = arena_array(arena, TwinTensor, n + 1)};
    for (uint32_t i = 0; i < g->inputs.len; i++, s->count++)
        if (!describe(g, g->inputs.at[i], &s->tensors[s->count]) ||
            !fill_given(&s->tensors[s->count], small->in.inputs[i]))
            return false;
    for (uint32_t i = 0; i < g->params.len; i++, s->count++)
        if (!describe(g, g->params.at[i], &s->tensors[s->count]) ||
            !fill_given(&s->tensors[s->count], small->in.params[i]))
            return false;
    for (uint32_t i = 0; i < g->outputs.len; i++, s->count++)
        if (!describe(g, g->outputs.at[i], &s->tensors[s->count]) ||
            !twin_tensor_alloc(&s->tensors[s->count]))
            return false;
    return true;
}

void eval_sample_close(EvalSample *s)
{
    for (uint32_t i = 0; i < s->full->inputs.len + s->full->params.len + s->full->outputs.len; i++)
        if (s->tensors[i].data)
            twin_tensor_free(&s->tensors[i]);
    s->count = 0;
}

const TwinTensor *eval_sample_tensor(const EvalSample *s, ValueId value)
{
    const Graph *g = s->full;
    uint32_t at = 0;
    for (uint32_t i = 0; i < g->inputs.len; i++, at++)
        if (g->inputs.at[i] == value)
            return &s->tensors[at];
    for (uint32_t i = 0; i < g->params.len; i++, at++)
        if (g->params.at[i] == value)
            return &s->tensors[at];
    for (uint32_t i = 0; i < g->outputs.len; i++, at++)
        if (g->outputs.at[i] == value)
            return &s->tensors[at];
    return NULL;
}

/* ---- what was written ---- */

static const TwinTensor *output(const EvalSample *s, uint32_t i)
{
    return &s->tensors[s->full->inputs.len + s->full->params.len + i];
}

void eval_sample_replace(EvalSample *sample, uint32_t output, TwinTensor *memory)
{
    const Graph *full = sample->full;
    TwinTensor *own = &sample->tensors[full->inputs.len + full->params.len + output];
    DType dtype = own->dtype;
    twin_tensor_free(own);
    *own = *memory;
    own->dtype = dtype;
    memory->data = NULL;
    memory->fd = 0;
}

static bool is_marked(const char *element, size_t width)
{
    for (size_t i = 0; i < width; i++)
        if ((uint8_t)element[i] != TWIN_SAMPLE_MARK)
            return false;
    return true;
}

/* NaN is the farthest. */
static double distance(double got, double want)
{
    bool same = got == want || (isnan(got) && isnan(want));
    double off = fabs(got - want);
    return same ? 0 : isnan(off) ? (double)INFINITY : off;
}

/* Gathers from the large tensor the values that stand where rows of the small case should. Of
 * several copies of a row the one farthest from the wanted values is taken. */
static int64_t gather(const TwinTensor *t, const Tensor *want, Tensor *got)
{
    size_t width = dtype_bytes(t->dtype), from, to = 0;
    int64_t written = 0;
    while (twin_tensor_touched(t, &from, &to))
        for (size_t e = from / width; e < to / width; e++) {
            const char *at = (const char *)t->data + e * width;
            int64_t place = (int64_t)(e % (size_t)want->count);
            if (is_marked(at, width))
                continue;
            written++;
            if (memcmp(at, (const char *)got->at + (size_t)place * width, width) == 0)
                continue;
            Tensor one = {.dtype = t->dtype, .count = 1, .at = (void *)at};
            double goal = tensor_get(want, place), x = tensor_get(&one, 0);
            if (distance(x, goal) > distance(tensor_get(got, place), goal))
                tensor_set(got, place, x);
        }
    return written;
}

bool eval_sample_compare(Arena *arena, const EvalSample *s, Verdict *v)
{
    bool ok = true;
    int64_t written = 0;
    for (uint32_t i = 0; i < s->full->outputs.len; i++) {
        Tensor *got = tensor_cast(s->small->want[i], output(s, i)->dtype);
        written += got ? gather(output(s, i), s->small->want[i], got) : 0;
        ok = got && eval_compare(arena, s->small, i, got, true, v) && ok;
        tensor_free(got);
    }
    return ok && written;
}
