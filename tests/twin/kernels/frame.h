/* The frame of a one-core test kernel: up to three inputs and one output of LEN elements go through
 * queues once; the test says what happens between. Compiled with -DTYPE (inputs), -DOUT (output),
 * -DN (elements, a whole number of blocks), and what the single file asks for. */
#ifndef TESTS_TWIN_FRAME_H
#define TESTS_TWIN_FRAME_H

#include "kernel_operator.h"

using namespace AscendC;

#ifndef OUT
#define OUT TYPE
#endif
#ifndef LEN
#define LEN 1024
#endif
#ifndef OUT_LEN
#define OUT_LEN LEN
#endif

template <int TENSORS> class Frame {
public:
    __aicore__ inline Frame(GM_ADDR x, GM_ADDR y, GM_ADDR w, GM_ADDR z)
    {
        GM_ADDR in[3] = {x, y, w};
        for (int i = 0; i < TENSORS; i++) {
            inGm[i].SetGlobalBuffer((__gm__ TYPE *)in[i], LEN);
            pipe.InitBuffer(inQueue[i], 1, LEN * sizeof(TYPE));
        }
        outGm.SetGlobalBuffer((__gm__ OUT *)z, OUT_LEN);
        pipe.InitBuffer(outQueue, 1, OUT_LEN * sizeof(OUT));
        pipe.InitBuffer(tmpBuf, 32 * 1024);
    }
    template <typename Body> __aicore__ inline void Run(Body body)
    {
        for (int i = 0; i < TENSORS; i++) {
            LocalTensor<TYPE> t = inQueue[i].template AllocTensor<TYPE>();
            DataCopy(t, inGm[i], LEN);
            inQueue[i].EnQue(t);
        }
        LocalTensor<TYPE> in[3];
        for (int i = 0; i < TENSORS; i++) in[i] = inQueue[i].template DeQue<TYPE>();
        LocalTensor<OUT> out = outQueue.template AllocTensor<OUT>();
        body(out, in[0], in[1], in[2], tmpBuf.Get<uint8_t>());
        outQueue.EnQue(out);
        for (int i = 0; i < TENSORS; i++) inQueue[i].FreeTensor(in[i]);
        out = outQueue.template DeQue<OUT>();
        DataCopyPad(outGm, out, DataCopyExtParams(1, OUT_LEN * sizeof(OUT), 0, 0, 0));
        outQueue.FreeTensor(out);
    }

private:
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> inQueue[TENSORS];
    TQue<QuePosition::VECOUT, 1> outQueue;
    TBuf<TPosition::VECCALC> tmpBuf;
    GlobalTensor<TYPE> inGm[TENSORS];
    GlobalTensor<OUT> outGm;
};

using Tmp = LocalTensor<uint8_t>;
using In = LocalTensor<TYPE>;
using Out = LocalTensor<OUT>;

#endif
