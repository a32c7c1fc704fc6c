/* f16[8192,8192] from rows into columns of 16, in UB, as asc-devkit's bank_conflict_nd2nz example
 * describes it, written anew: tiles of 144 x 128, two sets of buffers in turn; 6 shares of rows by 8
 * of columns.
 *
 *   APART   a column begins 145 blocks after the one before, not 144: in another bank group */
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t SIDE = 8192, HIGH = 144, WIDE = 128, C0 = 16, DOWN = 6, ACROSS = 8;
#ifdef APART
constexpr uint32_t STEP = HIGH + 1;
#else
constexpr uint32_t STEP = HIGH;
#endif
constexpr uint32_t FROM = HIGH * WIDE * 2, INTO = STEP * (WIDE / C0) * 32;

__aicore__ inline void move_tile(GlobalTensor<half> &x, GlobalTensor<half> &z, uint32_t row,
                                 uint32_t column, uint32_t set)
{
    uint32_t rows = SIDE - row < HIGH ? SIDE - row : HIGH;
    LocalTensor<half> nd(TPosition::VECIN, set * FROM, HIGH * WIDE);
    LocalTensor<half> nz(TPosition::VECOUT, 2 * FROM + set * INTO, INTO / 2);
    event_t id = event_t(set);
    WaitFlag<HardEvent::V_MTE2>(id);
    DataCopy(nd, x[row * SIDE + column],
             {uint16_t(rows), WIDE / C0, uint16_t((SIDE - WIDE) / C0), 0});
    SetFlag<HardEvent::MTE2_V>(id);
    WaitFlag<HardEvent::MTE2_V>(id);
    WaitFlag<HardEvent::MTE3_V>(id);
    Copy(nz, nd, uint64_t(WIDE), uint8_t(rows), {uint16_t(STEP), 1, 1, WIDE / C0});
    SetFlag<HardEvent::V_MTE2>(id);
    SetFlag<HardEvent::V_MTE3>(id);
    WaitFlag<HardEvent::V_MTE3>(id);
    DataCopy(z[(row + column / C0 * SIDE) * C0], nz,
             {WIDE / C0, uint16_t(rows), uint16_t(STEP - rows), uint16_t(SIDE - rows)});
    SetFlag<HardEvent::MTE3_V>(id);
}

extern "C" __global__ __aicore__ void nd2nz(GM_ADDR x, GM_ADDR y, GM_ADDR z)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    (void)y;
    GlobalTensor<half> from, to;
    from.SetGlobalBuffer((__gm__ half *)x);
    to.SetGlobalBuffer((__gm__ half *)z);
    constexpr uint32_t tiles = (SIDE + HIGH - 1) / HIGH, per = SIDE / WIDE / ACROSS;
    uint32_t me = GetBlockIdx(), down = me / ACROSS, across = me % ACROSS;
    uint32_t first = down * tiles / DOWN, end = (down + 1) * tiles / DOWN, turn = 0;
    for (uint32_t i = 0; i < 2; i++) {
        SetFlag<HardEvent::V_MTE2>(event_t(i));
        SetFlag<HardEvent::MTE3_V>(event_t(i));
    }
    for (uint32_t t = first; t < end; t++)
        for (uint32_t c = 0; c < per; c++, turn ^= 1)
            move_tile(from, to, t * HIGH, (across * per + c) * WIDE, turn);
    for (uint32_t i = 0; i < 2; i++) {
        WaitFlag<HardEvent::V_MTE2>(event_t(i));
        WaitFlag<HardEvent::MTE3_V>(event_t(i));
    }
}
