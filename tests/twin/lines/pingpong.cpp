/* y = max(x, 0) * scale in two buffers taken in turns. Events come from the pipe; the tail is a short tile. */
#include "kernel_operator.h"
using namespace AscendC;

namespace {
constexpr uint32_t TILE = 512;

template <typename T> class PingPong {
public:
    __aicore__ inline PingPong(GM_ADDR src, GM_ADDR dst, uint32_t n, float scale, TPipe *p)
        : pipe(p), factor(static_cast<T>(scale))
    {
        uint32_t cores = GetBlockNum(), me = GetBlockIdx();
        uint32_t base = n / cores, extra = n % cores;
        first = me * base + (me < extra ? me : extra);
        mine = base + (me < extra ? 1 : 0);
        in.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(src), n);
        out.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(dst), n);
        pipe->InitBuffer(ping, TILE * sizeof(T));
        pipe->InitBuffer(pong, TILE * sizeof(T));
        for (int k = 0; k < 2; k++) {
            loaded[k] = pipe->AllocEventID<HardEvent::MTE2_V>();
            computed[k] = pipe->AllocEventID<HardEvent::V_MTE3>();
            stored[k] = pipe->AllocEventID<HardEvent::MTE3_MTE2>();
        }
    }
    __aicore__ inline void Run()
    {
        SetFlag<HardEvent::MTE3_MTE2>(stored[0]);
        SetFlag<HardEvent::MTE3_MTE2>(stored[1]);
        int turn = 0;
        for (uint32_t at = 0; at < mine; at += TILE) {
            uint32_t len = mine - at < TILE ? mine - at : TILE;
            Tile(turn ? pong.Get<T>() : ping.Get<T>(), at, len, turn);
            turn = 1 - turn;
        }
        WaitFlag<HardEvent::MTE3_MTE2>(stored[0]);
        WaitFlag<HardEvent::MTE3_MTE2>(stored[1]);
        for (int k = 0; k < 2; k++) {
            pipe->ReleaseEventID<HardEvent::MTE2_V>(loaded[k]);
            pipe->ReleaseEventID<HardEvent::V_MTE3>(computed[k]);
            pipe->ReleaseEventID<HardEvent::MTE3_MTE2>(stored[k]);
        }
    }

private:
    __aicore__ inline void Tile(LocalTensor<T> t, uint32_t at, uint32_t len, int turn)
    {
        DataCopyExtParams row{1, len * static_cast<uint32_t>(sizeof(T)), 0, 0, 0};
        WaitFlag<HardEvent::MTE3_MTE2>(stored[turn]);
        DataCopyPad(t, in[first + at], row, {false, 0, 0, 0});
        SetFlag<HardEvent::MTE2_V>(loaded[turn]);
        WaitFlag<HardEvent::MTE2_V>(loaded[turn]);
        Relu(t, t, len);
        PipeBarrier<PIPE_V>();
        Muls(t, t, factor, len);
        SetFlag<HardEvent::V_MTE3>(computed[turn]);
        WaitFlag<HardEvent::V_MTE3>(computed[turn]);
        DataCopyPad(out[first + at], t, row);
        SetFlag<HardEvent::MTE3_MTE2>(stored[turn]);
    }

    TPipe *pipe;
    T factor;
    uint32_t first, mine;
    TBuf<TPosition::VECCALC> ping, pong;
    GlobalTensor<T> in, out;
    TEventID loaded[2], computed[2], stored[2];
};
} // namespace

extern "C" __global__ __aicore__ void pingpong(GM_ADDR x, GM_ADDR y, uint32_t n, float scale)
{
    TPipe pipe;
    PingPong<half> op(x, y, n, scale, &pipe);
    op.Run();
}
