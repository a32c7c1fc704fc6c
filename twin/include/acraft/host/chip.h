/* fe::PlatFormInfos: the chip as a tiling context hands it out. */
#ifndef ACRAFT_HOST_CHIP_H
#define ACRAFT_HOST_CHIP_H

#include "acraft/host.h"

#include <cstring>
#include <string>

namespace fe {
enum class LocalMemType { L0_A = 0, L0_B, L0_C, L1, L2, UB, HBM, RESERVED };
class PlatFormInfos {
public:
    uint32_t GetCoreNum() const { return chip ? chip->aiv : 0; }
    uint32_t GetCoreNumByType(const std::string &) const { return chip ? chip->aiv : 0; }
    void GetLocalMemSize(const LocalMemType &type, uint64_t &size) const
    {
        if (!chip) return;
        const uint64_t sizes[] = {chip->l0a, chip->l0b, chip->l0c, chip->l1, chip->l2, chip->ub, 64ull << 30, 0};
        size = sizes[int(type)];
    }
    bool GetPlatformResWithLock(const std::string &, const std::string &, std::string &) const { return false; }
    const AcraftHostChip *chip = nullptr;
};
}  // namespace fe

#endif
