/* Tiling data by every macro that reads them: whole, by pointer, one member, a struct and an array in it.
 * z = the numbers found, and which key branch was taken. */
#include "kernel_operator.h"

using namespace AscendC;

struct Inner {
    uint32_t low, high;
};
struct Outer {
    uint32_t total;
    float scale;
    Inner inner;
    uint64_t list[3];
};
REGISTER_TILING_DEFAULT(Outer);
REGISTER_TILING_FOR_TILINGKEY("TILING_KEY_VAR == 7", Outer);

extern "C" __global__ __aicore__ void kernel(GM_ADDR z, GM_ADDR tiling)
{
    REGISTER_NONE_TILING;
    GlobalTensor<float> zGm;
    zGm.SetGlobalBuffer((__gm__ float *)z, 16);
    GET_TILING_DATA_WITH_STRUCT(Outer, all, tiling);
    zGm.SetValue(0, float(all.total));
    GET_TILING_DATA_PTR_WITH_STRUCT(Outer, pointer, tiling);
    zGm.SetValue(1, pointer->scale);
    GET_TILING_DATA_MEMBER(Outer, inner, part, tiling);
    zGm.SetValue(2, float(part.low));
    COPY_TILING_WITH_STRUCT(Inner, &pointer->inner, copied);
    zGm.SetValue(3, float(copied->high));
    COPY_TILING_WITH_ARRAY(uint64_t, 3, pointer->list, list);
    zGm.SetValue(4, float((*list)[0] + (*list)[2]));
    if (TILING_KEY_IS(1)) {
        zGm.SetValue(5, 1.0f);
    } else if (TILING_KEY_LIST(3, 7)) {
        zGm.SetValue(5, 7.0f);
    }
    for (uint32_t i = 6; i < 16; i++) {
        zGm.SetValue(i, 0.0f);
    }
}
