/* Fuzzes the .npy reader: any bytes give a tensor that writes back, or an error. */
#include "graph/npy.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "fuzz.npy", (Str){0});
    Tensor *t = npy_parse((Str){(const char *)data, size}, &diag);
    if ((t != NULL) != diag_ok(&diag))
        abort();
    if (t) {
        Buf out = {0};
        npy_format(t, &out);
        Tensor *back = npy_parse(buf_view(&out), &diag);
        if (!back || !tensor_equal(t, back))
            abort();
        tensor_free(back);
        buf_free(&out);
    }
    tensor_free(t);
    arena_drop(&arena);
    return 0;
}
