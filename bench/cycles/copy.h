/* Reading f16[ROWS,COLUMNS] tile by tile, as asc-devkit's data_copy example describes it, written
 * anew. Rows are shared out evenly; the file that includes this brings one tile in.
 *
 *   TILE_M, TILE_N   rows and columns of one copy
 *   PARTS, TIMES     columns in so many parts, each read so many times in a row
 *   EVERYTHING       every core reads all rows, past L2; SHIFTED: beginning at its own
 *
 * Like the original it copies to one place without waiting: only the copies are timed. */
#include "kernel_operator.h"
using namespace AscendC;

#ifndef COLUMNS
#define COLUMNS 12288
#endif
#ifndef PARTS
#define PARTS 1
#endif
#ifndef TIMES
#define TIMES 1
#endif
#ifndef ROWS
#define ROWS 12288
#endif

__aicore__ inline void read_tile(const GlobalTensor<half> &from, uint32_t columns);

__aicore__ inline void read_rows(GM_ADDR x, uint32_t row, uint32_t part)
{
    constexpr uint32_t width = COLUMNS / PARTS;
    uint32_t end = part == PARTS - 1 ? COLUMNS : (part + 1) * width;
    GlobalTensor<half> gm;
    gm.SetGlobalBuffer((__gm__ half *)x);
#ifdef EVERYTHING
    gm.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
#endif
    for (uint32_t at = part * width; at < end; at += TILE_N) {
        read_tile(gm[uint64_t(row) * COLUMNS + at], end - at < TILE_N ? end - at : TILE_N);
    }
}

__aicore__ inline void read_all(GM_ADDR x)
{
    uint32_t cores = GetBlockNum(), me = GetBlockIdx(), share = ROWS / cores;
#ifdef EVERYTHING
    for (uint32_t b = 0; b < cores; b++) {
#ifdef SHIFTED
        uint32_t block = (b + me) % cores;
#else
        uint32_t block = b;
#endif
        for (uint32_t row = block * share; row < (block + 1) * share; row += TILE_M)
            read_rows(x, row, 0);
    }
#else
    for (uint32_t part = 0; part < PARTS; part++)
        for (uint32_t time = 0; time < TIMES; time++)
            for (uint32_t row = me * share; row < (me + 1) * share; row += TILE_M)
                read_rows(x, row, part);
#endif
}
