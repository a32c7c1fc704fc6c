/* Fuzzes the decoder of what a binding program left: any bytes end in events or a refusal, and views
 * never reach outside their storage. */
#include "twin/binding_int.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void try_view(const TwinView *v)
{
    static uint8_t storage[4096], dense[4096];
    uint64_t count;
    if (twin_view_count(v, &count) && count <= sizeof dense / 16) {
        twin_view_gather(v, storage, sizeof storage, dense);
        twin_view_scatter(v, storage, sizeof storage, dense);
    }
    twin_view_dense(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    Arena arena = {.limit = 256 << 20};
    TwinBindDone done = {0};
    twin_bind_events(&arena, (Str){(const char *)bytes, size}, &done);
    for (uint32_t i = 0; i < done.events.len; i++) {
        try_view(&done.events.at[i].to);
        try_view(&done.events.at[i].of);
    }
    twin_bind_text(&arena, (Str){(const char *)bytes, size});
    arena_drop(&arena);
    return 0;
}
