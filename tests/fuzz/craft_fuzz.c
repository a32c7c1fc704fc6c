/* Fuzzes the Craft front end with any bytes. The demands stand in craft_demands.h. */
#include "tests/fuzz/craft_demands.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena arena = {0};
    demand_all(&arena, (Str){(const char *)data, size});
    arena_drop(&arena);
    return 0;
}
