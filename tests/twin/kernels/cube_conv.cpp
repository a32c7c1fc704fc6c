/* A 3 x 3 convolution of a 6 x 6 image of 16 channels with padding 1, as a product: the image stands in L1
 * as it is, LoadData with a window brings its patches to L0A (36 x 144), once with everything in the call,
 * once with window and padding value in registers. The weights (144 x 16) are turned while loaded. The
 * second product has weights that are all 2, filled in where they are needed; the third adds to the
 * second. out: three results of 36 x 16. */
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint16_t SIDE = 6, CH = 16, PATCH = 9 * CH, PLACES = SIDE * SIDE, ROWS = 48;
constexpr IsResetLoad3dConfig KEEP = {false, false};

class KernelConv {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR w, GM_ADDR z)
    {
        xGm.SetGlobalBuffer((__gm__ half *)x, PLACES * CH);
        wGm.SetGlobalBuffer((__gm__ half *)w, PATCH * CH);
        zGm.SetGlobalBuffer((__gm__ float *)z, 3 * PLACES * CH);
        SetMMLayoutTransform(false);
        SetMMRowMajor();
        SetLoadDataBoundary(0);
        SetLoadDataRepeat({0, 1, 0});
    }
    __aicore__ inline void Process()
    {
        LocalMemAllocator<Hardware::L1> l1;
        LocalMemAllocator<Hardware::L0A> l0a;
        LocalMemAllocator<Hardware::L0B> l0b;
        LocalMemAllocator<Hardware::L0C> l0c;
        LocalTensor<half> x1 = l1.Alloc<TPosition::A1, half>(PLACES * CH), w1 = l1.Alloc<half, PATCH * CH>();
        LocalTensor<half> patches = l0a.Alloc<half>(ROWS * PATCH), weights = l0b.Alloc<TPosition::B2, half, PATCH * CH>();
        LocalTensor<float> c = l0c.Alloc<float>(ROWS * CH);
        DataCopy(x1, xGm, PLACES * CH);
        DataCopy(w1, wGm, Nd2NzParams(1, PATCH, CH, 0, CH, PATCH, 1, 0));
        Sync<HardEvent::MTE2_MTE1>();
        const uint8_t pad[] = {1, 1, 1, 1};
        LoadData(patches, x1, LoadData3DParamsV2<half>(pad, SIDE, SIDE, CH, PATCH, ROWS, 0, 0, 1, 1, 3, 3, 1, 1, false, false, half(0.0f)));
        LoadDataWithTranspose(weights, w1, LoadData2dTransposeParams(0, PATCH / 16, 1, 0, 0));
        Multiply(c, patches, weights, true);
        Out(0, c);
        /* the same patches, padded with ones; weights all 2 */
        SetFmatrix(SIDE, SIDE, pad, FmatrixMode::FMATRIX_LEFT);
        SetLoadDataPaddingValue(half(1.0f));
        LoadData3DParamsV2<half> window;
        window.channelSize = CH;
        window.kExtension = PATCH;
        window.mExtension = ROWS;
        window.filterW = window.filterH = 3;
        LoadData<half, KEEP>(patches, x1, window);
        InitConstValue(weights, InitConstValueParams<half>(1, PATCH / 16, 0, half(2.0f)));
        Multiply(c, patches, weights, true);
        Out(1, c);
        /* in packed form, added to what is there */
        SetFmatrix(1, 1, pad, FmatrixMode::FMATRIX_LEFT);
        Load3DSetFMatrixCal(SIDE, SIDE, pad);
        LoadData3DParamsV2Pro packed;
        packed.channelSize = CH;
        packed.extConfig = uint64_t(ROWS) << 16 | PATCH;
        packed.filterConfig = 0x1 | 0x1 << 8 | 0x3 << 16 | 0x3 << 24 | 0x1ull << 32 | 0x1ull << 40;
        LoadData(patches, x1, packed);
        Fill(weights, InitConstValueParams<half>(PATCH / 16, 1, 0, half(-1.0f)));
        Multiply(c, patches, weights, false);
        Out(2, c);
    }

private:
    __aicore__ inline void Multiply(const LocalTensor<float> &c, const LocalTensor<half> &a, const LocalTensor<half> &b, bool fresh)
    {
        Sync<HardEvent::MTE1_M>();
        MmadParams mmad;
        mmad.m = PLACES;
        mmad.n = CH;
        mmad.k = PATCH;
        mmad.cmatrixInitVal = fresh;
        Mmad(c, a, b, mmad);
        Sync<HardEvent::M_MTE1>();
    }
    __aicore__ inline void Out(uint32_t which, const LocalTensor<float> &c)
    {
        Sync<HardEvent::M_FIX>();
        SetMMColumnMajor();
        Fixpipe(zGm[which * PLACES * CH], c, FixpipeParamsV220(CH, PLACES, ROWS, CH, false));
        Sync<HardEvent::FIX_M>();
    }
    template <HardEvent event> __aicore__ inline void Sync()
    {
        SetFlag<event>(EVENT_ID3);
        WaitFlag<event>(EVENT_ID3);
    }

    GlobalTensor<half> xGm, wGm;
    GlobalTensor<float> zGm;
};

extern "C" __global__ __aicore__ void kernel(GM_ADDR x, GM_ADDR w, GM_ADDR z)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    KernelConv op;
    op.Init(x, w, z);
    op.Process();
}
