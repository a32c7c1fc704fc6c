/* C = A B by two Matmul objects of a mixed kernel; the vector cores ask, the cube core works. Only
 * the first vector core has a part in this small product, 48 x 80 by 80 x 64 of half: six jobs of
 * eight rows, two under way at a time, then those left without waiting in between. */
#include "frame.h"
#include "lib/matmul_intf.h"

using namespace matmul;

constexpr int M = 48, K = 80, COLS = 64, ROWS = 8;

extern "C" __global__ __aicore__ void kernel(GM_ADDR gx, GM_ADDR gy, GM_ADDR gw, GM_ADDR gz)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    TPipe pipe;
    TCubeTiling tiling = {};
    tiling.usedCoreNum = 1;
    tiling.M = M;
    tiling.singleCoreM = ROWS;
    tiling.N = tiling.singleCoreN = COLS;
    tiling.Ka = tiling.Kb = tiling.singleCoreK = K;
    tiling.baseM = 32;
    tiling.baseN = 32;
    tiling.baseK = 32;
    Matmul<MatmulType<TPosition::GM, CubeFormat::ND, half>, MatmulType<TPosition::GM, CubeFormat::ND, half>,
           MatmulType<TPosition::GM, CubeFormat::ND, float>>
        even, odd;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), even, &tiling, odd, &tiling);
    if (GetBlockIdx() == 0) {
        GlobalTensor<half> aGm, bGm;
        GlobalTensor<float> cGm;
        aGm.SetGlobalBuffer((__gm__ half *)gx, M * K);
        bGm.SetGlobalBuffer((__gm__ half *)gy, K * COLS);
        cGm.SetGlobalBuffer((__gm__ float *)gz, M * COLS);
        for (int i = 0; i < M / ROWS; i++) {
            auto &mm = i % 2 ? odd : even;
            mm.SetTensorA(aGm[i * ROWS * K]);
            mm.SetTensorB(bGm);
            mm.IterateAll<false>(cGm[i * ROWS * COLS]);
            if (i == 1) even.WaitIterateAll();
        }
        even.WaitIterateAll();
        odd.WaitIterateAll();
    }
    even.End();
    odd.End();
}
