#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(TilingData)
TILING_DATA_FIELD_DEF(uint32_t, each);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(Halve, TilingData)
} // namespace optiling
