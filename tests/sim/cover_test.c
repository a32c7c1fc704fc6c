/* Coverage by pages against a plain array of bytes under random additions. */
#include "sim/cover.h"

#include "base/rng.h"
#include "tests/t.h"
#include <string.h>

enum { BYTES = 3 * 65536 + 1000 };

T_TEST(cover_agrees_with_plain_bytes)
{
    static bool touched[BYTES];
    Cover cover;
    cover_open(&cover, BYTES);
    for (uint64_t i = 0; i < 400; i++) {
        uint64_t from = (uint64_t)rng_range(1, 1, i, 0, BYTES);
        uint64_t to = from + (uint64_t)rng_range(1, 2, i, 1, i % 20 ? 700 : 90000);
        cover_add(&cover, from, to);
        memset(touched + from, true, (to < BYTES ? to : BYTES) - from);
        uint64_t first, want = 0, at = 0;
        for (uint64_t k = BYTES; k-- > 0;)
            if (!touched[k]) {
                want++;
                at = k;
            }
        CHECK_EQ_INT(cover_missing(&cover, &first), want);
        CHECK_EQ_INT(first, at);
    }
    cover_add(&cover, 0, BYTES);
    uint64_t first;
    CHECK_EQ_INT(cover_missing(&cover, &first), 0);
    cover_close(&cover);
}
