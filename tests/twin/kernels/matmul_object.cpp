/* The Matmul object's calls. STEP 0: block by block into UB (rows of 32) and out again with one added.
 * STEP 1: a bias from GM, a part of larger matrices (a tail of 40 x 50 x 60), into GM. STEP 2: A and bias
 * out of UB, B transposed, results added to what is there. STEP 3: bytes to half by a factor per column;
 * STEP 4: by one factor. A 64 x 64, B 64 x 64, C 64 x 64. */
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

using namespace AscendC;

constexpr int SIZE = 64;
constexpr MatmulConfig CONFIG = STEP == 0   ? GetNormalConfig()
                                : STEP == 1 ? GetMDLConfig()
                                : STEP == 2 ? GetBasicConfig(32, 32, 32)
                                            : GetIBShareNormConfig();

extern "C" __global__ __aicore__ void kernel(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR factor, GM_ADDR c)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    TPipe pipe;
    TCubeTiling tiling = {};
    tiling.usedCoreNum = 1;
    tiling.M = tiling.N = tiling.Ka = tiling.Kb = SIZE;
    tiling.singleCoreM = tiling.singleCoreN = tiling.singleCoreK = SIZE;
    tiling.baseM = tiling.baseN = tiling.baseK = 32;
    tiling.iterateOrder = STEP == 0 ? 1 : 0;
    tiling.depthA1 = tiling.depthB1 = STEP == 1 ? 4 : 0; /* with the bias more buffers than there are flags */
    Matmul<MatmulType<TPosition::GM, CubeFormat::ND, LEFT>, MatmulType<TPosition::GM, CubeFormat::ND, LEFT, STEP == 2>,
           MatmulType<TPosition::GM, CubeFormat::ND, RESULT>, MatmulType<TPosition::GM, CubeFormat::ND, ADDEND>, CONFIG>
        mm;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &tiling);
    if (GetBlockIdx() == 0) {
        GlobalTensor<LEFT> aGm, bGm;
        GlobalTensor<RESULT> cGm;
        GlobalTensor<ADDEND> biasGm;
        GlobalTensor<uint64_t> factorGm;
        aGm.SetGlobalBuffer((__gm__ LEFT *)a, SIZE * SIZE);
        bGm.SetGlobalBuffer((__gm__ LEFT *)b, SIZE * SIZE);
        cGm.SetGlobalBuffer((__gm__ RESULT *)c, SIZE * SIZE);
        biasGm.SetGlobalBuffer((__gm__ ADDEND *)bias, SIZE);
        factorGm.SetGlobalBuffer((__gm__ uint64_t *)factor, SIZE);
        mm.SetSubBlockIdx(0);
        mm.SetWorkspace(cGm);
        TBuf<> buf;
        pipe.InitBuffer(buf, 64 * 1024);
        mm.SetLocalWorkspace(buf.Get<uint8_t>());
#if STEP == 0
        mm.SetTensorA(aGm);
        mm.SetTensorB(bGm);
        mm.ClearBias();
        LocalTensor<float> tile = buf.Get<float>(32 * 32);
        for (int i = 0; mm.Iterate(); i++) {
            mm.GetTensorC(tile);
            Adds(tile, tile, 1.0f, 32 * 32);
            SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
            WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
            DataCopy(cGm[i / 2 * 32 * SIZE + i % 2 * 32], tile, DataCopyParams(32, 4, 0, 4));
            SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
            WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
        }
        if (mm.GetOffsetC().offset != 0) {
            Trap();
        }
#elif STEP == 1
        mm.SetOrgShape(SIZE, SIZE, SIZE, SIZE, SIZE);
        mm.SetSingleShape(SIZE, SIZE, SIZE);
        mm.SetTail(40, 50, 60);
        mm.SetTensorA(aGm);
        mm.SetTensorB(bGm);
        mm.SetBias(biasGm);
        mm.SetHF32(false, 0);
        mm.IterateAll<false>(cGm);
        mm.WaitIterateBatch();
#elif STEP == 2
        LocalTensor<LEFT> left = buf.Get<LEFT>(SIZE * SIZE);
        LocalTensor<ADDEND> row = buf.GetWithOffset<ADDEND>(SIZE, 32768);
        DataCopy(left, aGm, SIZE * SIZE);
        DataCopy(row, biasGm, SIZE);
        SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
        mm.SetTensorA(left);
        mm.SetTensorB(bGm, true);
        mm.SetBias(row);
        mm.IterateAll(cGm);
        mm.DisableBias();
        mm.IterateAll(cGm, 1);
#else
        mm.SetTensorA(aGm);
        mm.SetTensorB(bGm);
        if (STEP == 3) {
            mm.SetQuantVector(factorGm);
        } else {
            mm.SetQuantScalar(0x3E800000);
        }
        while (mm.Iterate()) {
            mm.GetTensorC(cGm);
        }
#endif
    }
    mm.End();
}
