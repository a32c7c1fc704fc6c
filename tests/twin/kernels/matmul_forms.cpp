/* Forms of the Matmul object. A 64 x 64, B 64 x 64, C 64 x 64 unless said, blocks of 32.
 *  0  A and B in NZ
 *  1  C in NZ with fractals of 16 x 8
 *  2  A and B come in and C goes out by functions of the user
 *  3  blocks on and right of the diagonal;  4  on and left of it
 *  5  parts of K one by one, added in GM
 *  6  a tiling known at compile time, rows of C (60 elements) padded to 32 bytes
 *  7  A stands in L1;  8  C stays in L0C
 *  9  two products of 32 x 64 x 32 behind each other
 * 10  the same as heads side by side, asked by a vector core;  11  the same, turn by turn through the workspace
 * 12  blocks taken later: from the workspace, into UB
 * 13  elements of 4 bits, C (64 x 40) of integers;  14  bytes, the same */
#include "kernel_operator.h"
#if STEP < 10 || STEP > 12
#define ASCENDC_CUBE_ONLY
#endif
#include "lib/matmul_intf.h"

using namespace AscendC;

constexpr int SIZE = 64;

constexpr MatmulShapeParams SHAPE = {SIZE, SIZE, SIZE, 32, 32, 32};
constexpr MatmulFuncParams PARTIAL = {false, false, false, false, 0, IterateOrder::ORDER_N, ScheduleType::INNER_PRODUCT, true, false, true};
constexpr MatmulBatchParams BATCHES = {true, BatchMode::BATCH_LESS_THAN_L1, false};
constexpr MatmulConfig split()
{
    MatmulConfig c = GetSpecialMDLConfig();
    c.isEnableChannelSplit = true;
    return c;
}
#if STEP == 6
using Fixed = MatmulType<TPosition::GM, CubeFormat::ND, half>;
constexpr auto CONFIG = GetMatmulApiTiling<Fixed, Fixed, Fixed, Fixed>(GetMMConfig<MatmulConfigMode::CONFIG_MDL>(SHAPE, MatmulBiasParams{false}));
static_assert(ToMatmulConfig(CONFIG).doMultiDataLoad && CONFIG.baseK == 32);
#else
constexpr MatmulConfig CONFIG = STEP == 1   ? split()
                                : STEP == 5 ? GetMMConfig<MatmulConfigMode::CONFIG_MDL>(PARTIAL)
                                            : GetMMConfig<MatmulConfigMode::CONFIG_NORM>(BATCHES, MatmulQuantParams{false, false});
#endif

constexpr uint8_t BYTES[] = {1, 2, 0, 0};
static_assert(convert_from_bytes<uint32_t>(BYTES) == 513);
constexpr auto ROWS = MakeLayout(MakeShape(4, 8), MakeStride(8, 1));
static_assert(ROWS(MakeCoord(2, 3)) == 19 && Crd2Idx(MakeCoord(1, 1), ROWS) == 9);

/* The user's functions: `user` is the length of a row, `data` is where A begins in GM. */
inline void bring(const LocalTensor<int8_t> &to, const void *gm, int row, int col, int rows, int columns, uint64_t user)
{
    GlobalTensor<half> from;
    from.SetGlobalBuffer((__gm__ half *)gm);
    DataCopy(to.ReinterpretCast<half>(), from[row * rows * user + col * columns],
             Nd2NzParams(1, uint16_t(rows), uint16_t(columns), 0, uint16_t(user), uint16_t(rows), 1, 0));
}
__aicore__ inline void take_a(const LocalTensor<int8_t> &to, const __gm__ void *gm, int row, int col, int m, int k, const uint64_t user, const uint64_t data)
{
    bring(to, reinterpret_cast<const void *>(data), row, col, m, k, user);
}
__aicore__ inline void take_b(const LocalTensor<int8_t> &to, const __gm__ void *gm, int row, int col, int k, int n, const uint64_t user, const uint64_t data)
{
    bring(to, gm, row, col, k, n, user);
}
__aicore__ inline void give_c(const __gm__ void *gm, const LocalTensor<int8_t> &from, const void *params, const uint64_t user, const uint64_t data)
{
    const DataCopyOutParams *p = reinterpret_cast<const DataCopyOutParams *>(params);
    GlobalTensor<float> to;
    to.SetGlobalBuffer((__gm__ float *)gm);
    FixpipeParamsV220 f(p->oriNSize, 32, 32, p->dstStride, false);
    Fixpipe<float, float, CFG_ROW_MAJOR>(to, from.ReinterpretCast<float>(), f);
}

constexpr CubeFormat IN_FORMAT = STEP == 0 || STEP == 7 ? CubeFormat::NZ : CubeFormat::ND;
constexpr CubeFormat OUT_FORMAT = STEP == 1 || STEP == 8 ? CubeFormat::NZ : STEP == 6 ? CubeFormat::ND_ALIGN : CubeFormat::ND;
constexpr LayoutMode LAYOUT = STEP == 9 ? LayoutMode::NORMAL : STEP == 10 || STEP == 11 ? LayoutMode::BSNGD : LayoutMode::NONE;
constexpr LayoutMode OUT_LAYOUT = STEP == 11 ? LayoutMode::BNGS1S2 : LAYOUT;
#if STEP == 13
using In = int4b_t;
#elif STEP == 14
using In = int8_t;
#else
using In = half;
#endif
using Result = std::conditional_t<(STEP > 12), int32_t, float>;
using Left = MatmulType<STEP == 7 ? TPosition::TSCM : TPosition::GM, IN_FORMAT, In, false, LAYOUT>;
using Right = MatmulType<TPosition::GM, STEP == 7 ? CubeFormat::ND : IN_FORMAT, In, LAYOUT == LayoutMode::BSNGD, LAYOUT>;
using Out = MatmulType<STEP == 8 ? TPosition::CO1 : TPosition::GM, OUT_FORMAT, Result, false, OUT_LAYOUT>;
using Bias = MatmulType<TPosition::GM, CubeFormat::ND, Result>;
#if STEP == 2
using Object = Matmul<Left, Right, Out, Bias, CONFIG, MatmulCallBackFunc<give_c, take_a, take_b>>;
#elif STEP == 3
using Object = Matmul<Left, Right, Out, Bias, CONFIG, MatmulCallBackFunc<nullptr, nullptr, nullptr>, Impl::Detail::TrianUpperMatmulPolicy>;
#elif STEP == 4
using Object = MatmulImpl<Left, Right, Out, Bias, CONFIG, MatmulCallBackFunc<nullptr, nullptr, nullptr>, Impl::Detail::TrianLowerMatmulPolicy>;
#else
using Object = Matmul<Left, Right, Out, Bias, CONFIG>;
#endif

extern "C" __global__ __aicore__ void kernel(GM_ADDR a, GM_ADDR b, GM_ADDR w, GM_ADDR c)
{
    KERNEL_TASK_TYPE_DEFAULT(STEP < 10 || STEP > 12 ? KERNEL_TYPE_AIC_ONLY : KERNEL_TYPE_MIX_AIC_1_2);
    TPipe pipe;
    TCubeTiling tiling = {};
    bool batches = STEP >= 9 && STEP <= 11;
    tiling.M = tiling.N = batches ? 32 : SIZE;
    tiling.Ka = tiling.Kb = tiling.singleCoreK = SIZE;
    tiling.singleCoreM = tiling.singleCoreN = tiling.M;
    tiling.baseM = tiling.baseN = tiling.baseK = 32;
    tiling.ALayoutInfoB = tiling.BLayoutInfoB = tiling.CLayoutInfoB = 1;
    tiling.ALayoutInfoS = tiling.BLayoutInfoS = tiling.CLayoutInfoS1 = tiling.CLayoutInfoS2 = 32;
    tiling.ALayoutInfoN = tiling.BLayoutInfoN = tiling.CLayoutInfoN = 1;
    tiling.ALayoutInfoG = tiling.BLayoutInfoG = tiling.CLayoutInfoG = 2;
    tiling.ALayoutInfoD = tiling.BLayoutInfoD = SIZE;
    Object mm;
#if STEP == 6
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, (TCubeTiling *)nullptr);
#else
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &tiling);
#endif
    if (GetBlockIdx() != 0) return;
    GlobalTensor<In> aGm, bGm;
    GlobalTensor<Result> cGm, wGm;
    aGm.SetGlobalBuffer((__gm__ In *)a, SIZE * SIZE);
    bGm.SetGlobalBuffer((__gm__ In *)b, SIZE * SIZE);
    cGm.SetGlobalBuffer((__gm__ Result *)c, SIZE * SIZE);
    wGm.SetGlobalBuffer((__gm__ Result *)w, SIZE * SIZE);
#if STEP == 7
    TSCM<TPosition::GM, 1> scm;
    pipe.InitBuffer(scm, 1, SIZE * SIZE * sizeof(half));
    LocalTensor<half> left = scm.AllocTensor<half>();
    DataCopy(left, aGm, SIZE * SIZE);
    scm.EnQue(left);
    left = scm.DeQue<half>();
    mm.SetTensorA(left);
#else
    mm.SetTensorA(aGm);
#endif
    mm.SetTensorB(bGm, LAYOUT == LayoutMode::BSNGD);
#if STEP == 2
    mm.SetUserDefInfo(SIZE);
    mm.SetSelfDefineData(reinterpret_cast<uint64_t>(aGm.GetPhyAddr()));
    mm.IterateAll(cGm);
#elif STEP == 5
    while (mm.Iterate()) {
        mm.GetTensorC(cGm, 1);
    }
#elif STEP == 6
    mm.SetOrgShape(SIZE, 60, SIZE);
    mm.SetTensorB(bGm);
    mm.SetTail(SIZE, Ceil(59u, 2u) * 2, SIZE);
    mm.IterateAll(cGm);
#elif STEP == 8
    TQue<TPosition::CO1, Impl::QUEUE_DEPTH> out;
    pipe.InitBuffer(out, 1, 32 * 32 * sizeof(GetMmDstType<half>::Type));
    for (int i = 0;; i++) {
        LocalTensor<float> l0c = out.AllocTensor<float>();
        bool more = mm.Iterate(false, l0c);
        out.EnQue(l0c);
        l0c = out.DeQue<float>();
        FixpipeParamsV220 f(32, 32, 32, SIZE, false);
        if (more) Fixpipe<float, float, CFG_ROW_MAJOR>(cGm[i % 2 * 32 * SIZE + i / 2 * 32], l0c, f);
        out.FreeTensor(l0c);
        if (!more) break;
    }
#elif STEP == 9
    mm.SetBatchNum(2, 2);
    mm.IterateBatch(cGm, false, 0, false);
#elif STEP == 10
    mm.template IterateBatch<false>(cGm, 2, 2, false);
    mm.WaitIterateBatch();
#elif STEP == 11
    TBuf<> buf;
    pipe.InitBuffer(buf, 32 * 32 * sizeof(float));
    LocalTensor<float> tile = buf.Get<float>();
    mm.SetWorkspace(wGm);
    mm.template IterateNBatch<false>(2, 1, 1, false);
    for (int i = 0; i < 2; i++) {
        if (i == 0) mm.template GetBatchTensorC<false>(tile, 1, 1);
        else mm.template GetBatchC<false>(tile, 1, 1);
        SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
        DataCopy(cGm[i * 32 * 32], tile, 32 * 32);
        SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
        WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
    }
#elif STEP == 12
    TBuf<> buf;
    pipe.InitBuffer(buf, 32 * 32 * sizeof(float));
    LocalTensor<float> tile = buf.Get<float>();
    mm.SetWorkspace(wGm);
    mm.template Iterate<false>();
    for (int i = 0; i < 4; i++) {
        if (i == 0) {
            GlobalTensor<float> part = mm.template GetTensorC<false>();
            DataCopy(tile, part, 32 * 32);
        } else {
            mm.AsyncGetTensorC(tile);
        }
        mm.WaitGetTensorC();
        SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
        DataCopy(cGm[i % 2 * 32 * SIZE + i / 2 * 32], tile, DataCopyParams(32, 4, 0, 4));
        SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
        WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
    }
    if (mm.GetSubBlockIdx() != 0) Trap();
#elif STEP > 12
    mm.SetOrgShape(SIZE, 40, SIZE);
    mm.SetTail(SIZE, 40, SIZE);
    mm.IterateAll(cGm);
#else
    mm.IterateAll(cGm);
#endif
    mm.End();
#if STEP == 7
    scm.FreeTensor(left);
#endif
}
