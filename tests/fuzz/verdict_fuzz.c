/* Fuzzes the verdict reader: what it accepts prints to a text that reads and prints the same. */
#include "verdict/verdict.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena arena = {0};
    Verdict verdict, again;
    Diag diag = diag_make(&arena, "v.json", (Str){0});
    if (verdict_from_json(&arena, (Str){(const char *)data, size}, &verdict, &diag)) {
        Buf once = {0}, twice = {0};
        verdict_to_json(&verdict, &once);
        if (!verdict_from_json(&arena, buf_view(&once), &again, &diag)) {
            fprintf(stderr, "does not read back: %s\n", once.at);
            abort();
        }
        verdict_to_json(&again, &twice);
        if (!str_equal(buf_view(&once), buf_view(&twice))) {
            fprintf(stderr, "once:  %s\ntwice: %s\n", once.at, twice.at);
            abort();
        }
        buf_free(&once);
        buf_free(&twice);
    }
    arena_drop(&arena);
    return 0;
}
