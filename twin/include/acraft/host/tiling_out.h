/* Where a tiling function of a high-level API writes. A caller hands over the plain struct that the
 * kernel reads or the class of it that op_host code declares (both from acraft/tiling_structs.def);
 * the function sees the plain struct either way. Fields a function does not set are zero in a plain
 * struct and stay as they were in a class. */
#ifndef ACRAFT_HOST_TILING_OUT_H
#define ACRAFT_HOST_TILING_OUT_H

#include "acraft/host/tiling_def.h"
#include "acraft/tiling_structs.h"

namespace optiling {

#define F(type, name) TILING_DATA_FIELD_DEF(type, name)
#define ACRAFT_STRUCT(name, fields)                                                                \
    BEGIN_TILING_DATA_DEF(name)                                                                    \
    fields END_TILING_DATA_DEF;
#include "acraft/tiling_structs.def"
#undef ACRAFT_STRUCT
#undef F

template <typename Plain> struct ClassOf;
#define F(type, name) to.set_##name(from.name);
#define ACRAFT_STRUCT(struct_name, fields)                                                         \
    template <> struct ClassOf<AscendC::tiling::struct_name> {                                     \
        using type = struct_name;                                                                  \
    };                                                                                             \
    inline void tiling_put(const AscendC::tiling::struct_name &from, struct_name &to) { fields }
#include "acraft/tiling_structs.def"
#undef ACRAFT_STRUCT
#undef F

#define F(type, name) to.name = from.get_##name();
#define ACRAFT_STRUCT(struct_name, fields)                                                         \
    inline void tiling_get(const struct_name &from, AscendC::tiling::struct_name &to) { fields }
#include "acraft/tiling_structs.def"
#undef ACRAFT_STRUCT
#undef F

}  // namespace optiling

namespace AscendC {

template <typename Plain> class TilingOut {
public:
    using Class = typename optiling::ClassOf<Plain>::type;
    TilingOut(Plain &plain) : to_(&plain) { plain = Plain{}; }
    TilingOut(Class &made) : to_(&own_), made_(&made) { optiling::tiling_get(made, own_); }
    TilingOut(const TilingOut &) = delete;
    ~TilingOut()
    {
        if (made_) optiling::tiling_put(own_, *made_);
    }
    Plain *operator->() const { return to_; }

private:
    Plain own_ = {};
    Plain *to_;
    Class *made_ = nullptr;
};

}  // namespace AscendC

#endif
