/* The buffers of the Matmul object in L1, L0 and L0C, and the flags by which pipes hand them to each other.
 *
 * A ring is filled by one pipe and emptied by another: `full` goes from the first to the second, `empty` back. With
 * two buffers the first pipe works ahead of the second. How many there are, and how much a copy brings into L1, follows
 * the tiling as the vendor's documents say: depthA1 blocks of A in copies of stepM x stepKa, so
 * depthA1 / (stepM stepKa) buffers; without doMultiDataLoad a copy brings one block. What a buffer in L1 still
 * holds is not fetched again. */
#ifndef ACRAFT_MATMUL_STAGES_H
#define ACRAFT_MATMUL_STAGES_H

#include "acraft/matmul_config.h"

namespace acraft {

/* What the tiling says about buffers; goes through the mailbox as one word. */
struct MatmulSteps {
    uint8_t m = 1, n = 1, ka = 1, kb = 1; /* blocks that a copy brings into L1 */
    uint8_t a1 = 2, b1 = 2, c = 1;        /* buffers in L1 and L0C */
    uint8_t unit_flag = 0;                /* Mmad and Fixpipe follow each other without flags */
};
static_assert(sizeof(MatmulSteps) == 8, "acraft: a word of the mailbox");

namespace matmul {

using AscendC::HardEvent;
using AscendC::TPipe;

struct Ring {
    enum { MOST = 4, IDS = 8 };
    HardEvent full = HardEvent::MAX, empty = HardEvent::MAX;
    uint32_t count = 0, next = 0;
    int32_t full_id[MOST] = {}, empty_id[MOST] = {};
    bool filled[MOST] = {};    /* the flag forth is set and nobody has waited for it yet */
    bool freed[MOST] = {};     /* the flag back likewise */
    uint64_t holds[MOST] = {}; /* 1 + number of what lies there; 0: nothing */
    uint64_t row = 0;          /* what lies there belongs to this row of blocks */

    /* At most `want` buffers, fewer when other flags use the ids. */
    void open(HardEvent to, HardEvent back, uint32_t want, uint32_t first)
    {
        full = to;
        empty = back;
        for (count = 0; count < want && count < MOST; count++) {
            full_id[count] = id_for(to, first + count);
            empty_id[count] = id_for(back, first + count);
            if (count && (full_id[count] >= IDS || empty_id[count] >= IDS)) {
                drop(count);
                return;
            }
        }
    }
    void close(const Site &s)
    {
        for (uint32_t i = 0; i < count; i++) {
            wait_full(i, s);
            wait_empty(i, s);
            drop(i);
        }
        count = 0;
    }
    /* Blocks of another row follow: what lies there is not wanted any more. */
    void start_row(uint64_t number, const Site &s)
    {
        for (uint32_t i = 0; number != row && i < count; i++)
            if (holds[i] && !freed[i]) give_back(i, s);
        row = number;
    }
    /* The buffer that holds `number`, or the next one; `fresh`: it is to be filled. */
    uint32_t take(uint64_t number, bool &fresh, const Site &s)
    {
        for (uint32_t i = 0; i < count; i++)
            if (holds[i] == number + 1) {
                wait_empty(i, s);
                fresh = false;
                return i;
            }
        uint32_t i = next++ % count;
        if (holds[i] && !freed[i]) give_back(i, s);
        wait_empty(i, s);
        holds[i] = number + 1;
        fresh = true;
        return i;
    }
    uint32_t take(const Site &s)
    {
        uint32_t i = next++ % count;
        wait_empty(i, s);
        return i;
    }
    bool has(uint64_t number) const
    {
        for (uint32_t i = 0; i < count; i++)
            if (holds[i] == number + 1) return true;
        return false;
    }
    /* The pipe that fills it is done with buffer i, */
    void fill(uint32_t i, const Site &s)
    {
        TPipe::flag(NPU_SET_FLAG, full, full_id[i], s);
        filled[i] = true;
    }
    /* and the other takes it up. */
    void wait_full(uint32_t i, const Site &s)
    {
        if (filled[i]) TPipe::flag(NPU_WAIT_FLAG, full, full_id[i], s);
        filled[i] = false;
    }
    void hand_on(uint32_t i, const Site &s)
    {
        fill(i, s);
        wait_full(i, s);
    }
    void give_back(uint32_t i, const Site &s)
    {
        TPipe::flag(NPU_SET_FLAG, empty, empty_id[i], s);
        freed[i] = true;
    }

private:
    static int32_t id_for(HardEvent evt, uint32_t number)
    {
        return GetTPipePtr() ? int32_t(GetTPipePtr()->take_event(evt)) : int32_t(number);
    }
    void drop(uint32_t i) const
    {
        if (!GetTPipePtr()) return;
        GetTPipePtr()->drop_event(full, full_id[i]);
        GetTPipePtr()->drop_event(empty, empty_id[i]);
    }
    void wait_empty(uint32_t i, const Site &s)
    {
        if (freed[i]) TPipe::flag(NPU_WAIT_FLAG, empty, empty_id[i], s);
        freed[i] = false;
    }
};

/* All buffers of one run, and where they begin. */
struct Stages {
    Ring a1, b1, l0, c;
    uint32_t a_at = 0, b_at = 0, a_bytes = 0, b_bytes = 0; /* in L1: the first buffer, and the size of one */
    uint32_t l0_bytes = 65536, c_bytes = 131072;
    bool goes_on = false; /* after this block comes the one at (next_m, next_n) */
    uint32_t next_m = 0, next_n = 0;

    void close(const Site &s)
    {
        a1.close(s);
        b1.close(s);
        l0.close(s);
        c.close(s);
    }
};

}  // namespace matmul
}  // namespace acraft

#endif
