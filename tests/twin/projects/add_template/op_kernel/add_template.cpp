/* z = x + y; with the wrong template argument or the wrong tiling struct the values would be others. */
#include "kernel_operator.h"
#include "adv_api/math/axpy.h"
#include "op_kernel/math_util.h"
#include "add_template_tiling.h"
#include "add_template_key.h"
using namespace AscendC;

template <typename T, uint32_t TILES, bool TWICE>
__global__ __aicore__ void add_template(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    REGISTER_TILING_DEFAULT(OtherTiling);
    GET_TILING_DATA(data, tiling);
    static_assert(TILES == 4 && !TWICE, "what the host side asks for");
    uint32_t tile = Ops::Base::CeilDiv(data.count, TILES);
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 1, 2 * tile * sizeof(T));
    pipe.InitBuffer(out, 1, tile * sizeof(T));
    GlobalTensor<T> gx, gy, gz;
    gx.SetGlobalBuffer((__gm__ T *)x, data.count);
    gy.SetGlobalBuffer((__gm__ T *)y, data.count);
    gz.SetGlobalBuffer((__gm__ T *)z, data.count);
    for (uint32_t i = 0; i < TILES; i++) {
        LocalTensor<T> both = in.AllocTensor<T>();
        DataCopy(both, gx[i * tile], tile);
        DataCopy(both[tile], gy[i * tile], tile);
        in.EnQue(both);
        both = in.DeQue<T>();
        LocalTensor<T> sum = out.AllocTensor<T>();
        Add(sum, both, both[tile], tile);
        out.EnQue(sum);
        in.FreeTensor(both);
        sum = out.DeQue<T>();
        DataCopy(gz[i * tile], sum, tile);
        out.FreeTensor(sum);
    }
}
