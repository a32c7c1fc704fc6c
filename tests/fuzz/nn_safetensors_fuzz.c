/* Fuzzes the safetensors reader: any bytes give tensors that lie in the file, or an error; the same
 * bytes as a config.json give a config that can exist, or an error. */
#include "nn/checkpoint.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_tensors(const StFile *file, const uint8_t *data, size_t size)
{
    for (uint32_t i = 0; i < file->tensors.len; i++) {
        const StTensor *t = &file->tensors.at[i];
        const uint8_t *at = t->data;
        float last = 0;
        if (at < data || t->bytes > size || at + t->bytes > data + size)
            abort();
        if (t->count)
            st_floats(t, t->count - 1, 1, &last);
        if (st_find(file, t->name) != t)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "fuzz", STR(""));
    StFile file = {0};
    NnConfig config;
    Str bytes = {(const char *)data, size};
    bool ok = st_parse(&arena, bytes, &file, &diag);
    if (ok != diag_ok(&diag))
        abort();
    if (ok)
        check_tensors(&file, data, size);
    Diag other = diag_make(&arena, "fuzz", STR(""));
    ok = nn_config_parse(bytes, &config, &other);
    if (ok != diag_ok(&other) || (ok && !nn_config_check(&config, &other)))
        abort();
    arena_drop(&arena);
    return 0;
}
