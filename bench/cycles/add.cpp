/* z = x + y over f16[8192,8192], in the seven steps of asc-devkit's add_high_performance, written
 * anew from its description: rows shared out evenly; a tile is copied in, added, copied out.
 *
 *   SCALAR   element by element through GetValue and SetValue
 *   DOUBLE   two sets of buffers in turn
 *   BYPASS   inputs past L2
 *   APART    tiles of an odd number of 256 bytes end to end: operands lie in different bank groups */
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t ROWS = 8192, WIDTH = 8192;
#ifndef TILE
#define TILE 16384
#endif
constexpr uint32_t ROOM = 16384 * sizeof(half);

struct Set {
    LocalTensor<half> x, y, z;
    event_t id;
};

__aicore__ inline Set set_at(uint32_t number)
{
#ifdef APART
    constexpr uint32_t step = TILE * sizeof(half);
    uint32_t base = number * 2 * ROOM;
    return {LocalTensor<half>(TPosition::VECCALC, base, TILE),
            LocalTensor<half>(TPosition::VECCALC, base + step, TILE),
            LocalTensor<half>(TPosition::VECCALC, 4 * ROOM + number * step, TILE), event_t(number)};
#else
    uint32_t base = number * 3 * ROOM;
    return {LocalTensor<half>(TPosition::VECCALC, base, 16384),
            LocalTensor<half>(TPosition::VECCALC, base + ROOM, 16384),
            LocalTensor<half>(TPosition::VECCALC, base + 2 * ROOM, 16384), event_t(number)};
#endif
}

__aicore__ inline void add_tile(const Set &s, uint32_t length)
{
#ifdef SCALAR
    for (uint32_t i = 0; i < length; i++)
        s.z.SetValue(i, half(float(s.x.GetValue(i)) + float(s.y.GetValue(i))));
#else
    Add(s.z, s.x, s.y, int32_t(length));
#endif
}

extern "C" __global__ __aicore__ void add(GM_ADDR x, GM_ADDR y, GM_ADDR z)
{
    uint32_t cores = GetBlockNum(), me = GetBlockIdx(), more = ROWS % cores;
    uint32_t rows = ROWS / cores + (me < more), first = me * (ROWS / cores) + (me < more ? me : more);
    uint32_t total = rows * WIDTH;
    GlobalTensor<half> gx, gy, gz;
    gx.SetGlobalBuffer((__gm__ half *)x + uint64_t(first) * WIDTH, total);
    gy.SetGlobalBuffer((__gm__ half *)y + uint64_t(first) * WIDTH, total);
    gz.SetGlobalBuffer((__gm__ half *)z + uint64_t(first) * WIDTH, total);
#ifdef BYPASS
    gx.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
    gy.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
#endif
#ifdef DOUBLE
    constexpr uint32_t sets = 2;
#else
    constexpr uint32_t sets = 1;
#endif
    Set set[2] = {set_at(0), set_at(sets - 1)};
    for (uint32_t i = 0; i < sets; i++) {
        SetFlag<HardEvent::V_MTE2>(set[i].id);
        SetFlag<HardEvent::MTE3_V>(set[i].id);
    }
    uint32_t turn = 0;
    for (uint32_t at = 0; at < total; at += TILE, turn = (turn + 1) % sets) {
        uint32_t length = total - at < TILE ? total - at : TILE;
        const Set &s = set[turn];
        WaitFlag<HardEvent::V_MTE2>(s.id);
        DataCopy(s.x, gx[at], length);
        DataCopy(s.y, gy[at], length);
        SetFlag<HardEvent::MTE2_V>(s.id);
        WaitFlag<HardEvent::MTE2_V>(s.id);
        WaitFlag<HardEvent::MTE3_V>(s.id);
        add_tile(s, length);
        SetFlag<HardEvent::V_MTE2>(s.id);
        SetFlag<HardEvent::V_MTE3>(s.id);
        WaitFlag<HardEvent::V_MTE3>(s.id);
        DataCopy(gz[at], s.z, length);
        SetFlag<HardEvent::MTE3_V>(s.id);
    }
    for (uint32_t i = 0; i < sets; i++) {
        WaitFlag<HardEvent::V_MTE2>(set[i].id);
        WaitFlag<HardEvent::MTE3_V>(set[i].id);
    }
}
