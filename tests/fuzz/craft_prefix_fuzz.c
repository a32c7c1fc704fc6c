/* Fuzzes the recogniser of beginnings with any bytes: it ends, and accepts a byte exactly when trying it says
 * so. */
#include "craft/prefix.h"
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CraftPrefix *p = craft_prefix_open();
    for (size_t i = 0; i < size && i < 4096; i++) {
        CraftPoint at = craft_prefix_point(p);
        bool may = craft_prefix_try(p, &at, (char)data[i]);
        craft_prefix_forget_tries(p);
        bool went = craft_prefix_accept(p, (Str){(const char *)data + i, 1});
        if (may != went) {
            fprintf(stderr, "byte %zu: tried %d, accepted %d\n", i, may, went);
            abort();
        }
        if (!went)
            break;
        craft_prefix_may_end(p);
    }
    craft_prefix_close(p);
    return 0;
}
