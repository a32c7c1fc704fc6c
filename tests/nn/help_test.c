/* Help for the other tests of src/nn; nn_help.h. */
#include "tests/nn/nn_help.h"

#include "tests/t.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

NnConfig help_config(void)
{
    return (NnConfig){.layers = 2,
                      .width = 10,
                      .heads = 4,
                      .kv_heads = 2,
                      .head_dim = 6,
                      .ffn = 14,
                      .vocab = 13,
                      .context = 64,
                      .rope_theta = 100,
                      .norm_eps = 1e-5f,
                      .tied = true};
}

NnConfig help_golden_config(void)
{
    NnConfig c = help_config();
    c.width = 16;
    c.ffn = 20;
    c.vocab = 29;
    c.rope_theta = 10000;
    c.norm_eps = 1e-6f;
    return c;
}

double help_distance(const float *got, const float *want, uint64_t count)
{
    double most = 0, size = 1;
    for (uint64_t i = 0; i < count; i++) {
        double d = fabs((double)got[i] - (double)want[i]);
        if (!isfinite(d))
            return INFINITY;
        most = d > most ? d : most;
        size = fabs((double)want[i]) > size ? fabs((double)want[i]) : size;
    }
    return most / size;
}

float *help_load(const StFile *file, const char *name, uint64_t *count)
{
    const StTensor *t = st_find(file, str_from(name));
    REQUIRE(t != NULL);
    float *out = heap_alloc(t->count * sizeof *out);
    REQUIRE(st_floats(t, 0, t->count, out));
    *count = t->count;
    return out;
}

int32_t *help_load_ints(const StFile *file, const char *name, uint64_t *count)
{
    const StTensor *t = st_find(file, str_from(name));
    REQUIRE(t != NULL && t->dtype == ST_I32);
    int32_t *out = heap_alloc(t->bytes);
    memcpy(out, t->data, t->bytes);
    *count = t->count;
    return out;
}

void help_load_block(const StFile *file, const char *prefix, const NnTable *table, float *block)
{
    for (uint32_t i = 0; i < table->count; i++) {
        const NnTensor *t = &table->tensors[i];
        char name[160];
        snprintf(name, sizeof name, "%s/%s", prefix, t->name);
        const StTensor *stored = st_find(file, str_from(name));
        REQUIRE(stored != NULL && stored->count == t->count);
        REQUIRE(st_floats(stored, 0, t->count, block + t->at));
    }
}
