#ifndef ADD_TEMPLATE_TILING_H
#define ADD_TEMPLATE_TILING_H
#include <cstdint>
struct OtherTiling {
    uint64_t pad, count;
};
struct AddTemplateTiling {
    uint32_t count;
};
#endif
