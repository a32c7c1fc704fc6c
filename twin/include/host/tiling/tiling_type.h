/* The operator library's names for what a tiling key is put together from: decimal digits, the first
 * argument lowest, on top of ten to the nineteenth. Values are part of the keys kernels test. */
#ifndef ACRAFT_TILING_TYPE_H
#define ACRAFT_TILING_TYPE_H

#include <cstdint>

namespace optiling {

enum class AxisEnum { B, N2, G, S1, S2, D, NONE = 9 };
enum class DtypeEnum { FLOAT16, FLOAT32, BFLOAT16, FLOAT16_PRECISION };
enum class PerformanceOrientedEnum { BIG_BUFFER = 1, BIG_DOUBLE_BUFFER };
enum class MatmulConfig { NULL_CONFIG, NORMAL_CONFIG, MDL_CONFIG };
enum class PseConfig { NO_PSE, EXIST_PSE };
enum class AttenMaskConfig { NO_ATTEN_MASK, EXIST_ATTEN_MASK };
enum class DropOutConfig { NO_DROP_OUT, EXIST_DROP_OUT };
enum class CubeFormatEnum { ND, NZ };
enum class LayoutEnum { BSND, SBND, BNSD, TND };
enum class CubeInputSourceEnum { GM, L1 };
enum class OptionEnum { DISABLE, ENABLE };
enum class SparseEnum { ALL, NONE, ANY, CAUSAL, BAND, PREFIX, BAND_COMPRESS, RIGHT_DOWN_CAUSAL, RIGHT_DOWN_CAUSAL_BAND, BAND_LEFT_UP_CAUSAL };

constexpr uint64_t RecursiveSum() { return 0; }
template <typename First, typename... Rest> constexpr uint64_t RecursiveSum(First first, Rest... rest)
{
    return uint64_t(first) + 10 * RecursiveSum(rest...);
}

constexpr uint64_t TILINGKEYOFFSET = 10000000000000000000ull;
template <typename... Digits> constexpr uint64_t GET_TILINGKEY(Digits... digits) { return TILINGKEYOFFSET + RecursiveSum(digits...); }
#define TILINGKEY(ub2, ub1, block, dtype, layout, sparse)                                          \
    (GET_TILINGKEY(AxisEnum::ub2, AxisEnum::ub1, AxisEnum::block, DtypeEnum::dtype, LayoutEnum::layout, SparseEnum::sparse))

}  // namespace optiling

#endif
