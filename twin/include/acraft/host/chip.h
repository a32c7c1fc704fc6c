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
    /* What a platform's configuration file says of the chip, by section and key; false: not known here. */
    bool GetPlatformRes(const std::string &section, const std::string &key, std::string &value) const
    {
        const std::string cores = std::to_string(chip ? chip->aic : 0), soc = chip ? chip->soc : "";
        const struct { const char *section, *key; std::string value; } known[] = {
            {"version", "SoC_version", soc},
            {"version", "Soc_version", soc},
            {"version", "Short_SoC_version", "Ascend910B"},
            {"version", "NpuArch", "2201"},
            {"SoCInfo", "ai_core_cnt", cores},
            {"SoCInfo", "cube_core_cnt", cores},
            {"SoCInfo", "vector_core_cnt", std::to_string(chip ? chip->aiv : 0)},
            {"AICoreMemoryRates", "ddr_rate", "32"},
            {"AICoreMemoryRates", "l2_rate", "110"},
            {"AICoreintrinsicDtypeMap", "Intrinsic_fix_pipe_l0c2out", "f322f16,f322bf16,f322f32,s322s32,s322f16"},
            {"AICoreintrinsicDtypeMap", "Intrinsic_data_move_l12bt", "f16,f32,s32"},
            {"AICoreintrinsicDtypeMap", "Intrinsic_mmad", "f16f16,f32f32,s8s8,bf16bf16"},
        };
        for (const auto &row : known)
            if (section == row.section && key == row.key) {
                value = row.value;
                return true;
            }
        return false;
    }
    bool GetPlatformResWithLock(const std::string &section, const std::string &key, std::string &value) const
    {
        return GetPlatformRes(section, key, value);
    }
    const AcraftHostChip *chip = nullptr;
};
}  // namespace fe

#endif
