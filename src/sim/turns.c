/* Turns of cores; see turns.h. */
#include "sim/turns.h"

#include "base/rng.h"

enum { TURN_BYTES = 2048 }; /* of a copy that count as one record more: copies take longest */

static int64_t weight_of(const Record *r)
{
    bool copies = r->pipe == NPU_PIPE_MTE2 || r->pipe == NPU_PIPE_MTE3 || r->pipe == NPU_PIPE_FIX;
    if (r->op & REC_TEXT)
        return 0; /* a name: nothing is executed */
    if (!copies)
        return 1;
    uint64_t bytes = r->op == NPU_ND2NZ_GM_L1 ? 2ull * (r->n[1] & 0xFFFF) * (r->n[2] & 0xFFFF)
                                              : (uint64_t)(r->n[0] & 0xFFFF) * (r->n[1] & 0xFFFFFF);
    return 1 + (int64_t)(bytes / TURN_BYTES);
}

static bool reads_gm(const Record *r) { return r->op == NPU_GLOBAL_GET || r->op == NPU_RAW_LOAD; }

uint32_t sim_turn_ready(const Record *records, uint32_t n, int64_t *left)
{
    uint32_t i = 0;
    for (; i<n && * left> 0; i++)
        *left -= weight_of(&records[i]);
    if (*left <= 0 && i > 0 && reads_gm(&records[i - 1]))
        i--;
    return i;
}

uint32_t sim_turns_round(SimTurns *turns, const uint32_t *order, uint32_t count, uint32_t most,
                         const bool *done)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < count && n < most; i++)
        if (!done[order[i]])
            turns->live[n++] = i;
    for (uint32_t i = n; turns->rounds && i > 1; i--) {
        uint32_t j = (uint32_t)(rng_u64(turns->rounds, 79, i) % i), swap = turns->live[i - 1];
        turns->live[i - 1] = turns->live[j];
        turns->live[j] = swap;
    }
    turns->rounds++;
    return n;
}
