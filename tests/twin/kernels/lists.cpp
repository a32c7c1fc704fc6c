/* z = the tensors of a list one after the other, each times its number plus one; shapes say how long
 * they are. n: how many, then rank, index and length of each. */
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void kernel(GM_ADDR list, GM_ADDR gz, GM_ADDR gn)
{
    TPipe pipe;
    TBuf<> buf;
    pipe.InitBuffer(buf, 4096);
    LocalTensor<float> t = buf.Get<float>();
    GlobalTensor<float> zGm;
    GlobalTensor<int32_t> nGm;
    zGm.SetGlobalBuffer((__gm__ float *)gz);
    nGm.SetGlobalBuffer((__gm__ int32_t *)gn);
    ListTensorDesc all((__gm__ void *)list);
    nGm.SetValue(0, int32_t(all.GetSize()));
    uint32_t next = 1, at = 0;
    for (uint32_t i = 0; i < all.GetSize(); i++) {
        TensorDesc<float> one;
        uint64_t shape[8] = {};
        one.SetShapeAddr(shape);
        all.GetDesc(one, i);
        uint32_t length = 1;
        for (uint32_t d = 0; d < one.GetDim(); d++) {
            length *= uint32_t(one.GetShape(d));
        }
        nGm.SetValue(next++, int32_t(one.GetDim()));
        nGm.SetValue(next++, int32_t(one.GetIndex()));
        nGm.SetValue(next++, all.GetDataPtr<float>(i) == one.GetDataPtr() ? int32_t(length) : -1);
        DataCopyPad(t, one.GetDataObj(), DataCopyExtParams(1, length * sizeof(float), 0, 0, 0), DataCopyPadExtParams<float>());
        SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
        Muls(t, t, float(i + 1), length);
        SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
        DataCopyPad(zGm[at], t, DataCopyExtParams(1, length * sizeof(float), 0, 0, 0));
        SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
        WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
        at += length;
    }
    DataCacheCleanAndInvalid<int32_t, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_OUT>(nGm);
}
