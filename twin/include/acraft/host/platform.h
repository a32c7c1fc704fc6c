/* platform_ascendc: what tiling code asks about the chip. */
#ifndef ACRAFT_HOST_PLATFORM_H
#define ACRAFT_HOST_PLATFORM_H

#include "acraft/host/chip.h"
#ifndef ACRAFT_DT_H /* a kernel file that also plans its launch: names of dtypes are macros there */
#include "acraft/host/gert.h"
#endif

/* Generations of cores; the chips here are all of the one before last. */
enum class NpuArch : uint32_t { DAV_1001 = 1001, DAV_2002 = 2002, DAV_2201 = 2201, DAV_3002 = 3002, DAV_3003 = 3003, DAV_3113 = 3113,
                                DAV_3510 = 3510, DAV_5102 = 5102, DAV_RESV = 0xFFFF };

namespace platform_ascendc {

enum class CoreMemType { L0_A = 0, L0_B, L0_C, L1, L2, UB, HBM, FB, BT, RESERVED };
enum class SocVersion { ASCEND910 = 0, ASCEND910B, ASCEND310P, ASCEND310B, ASCEND910_93, ASCEND910_95, ASCEND910_55, KIRINX90, KIRIN9030,
                        RESERVED_VERSION = 99999 };

enum class ReservedSize { RESERVED_SIZE_8K = 0, RESERVED_SIZE_16K, RESERVED_SIZE_32K };

/* The chip of the request being served; a manager call without a context uses it too. */
inline const AcraftHostChip *&current_chip()
{
    static const AcraftHostChip *chip = nullptr;
    return chip;
}

class PlatformAscendC {
public:
    PlatformAscendC() : chip_(current_chip()) {}
    explicit PlatformAscendC(fe::PlatFormInfos *info) : chip_(info && info->chip ? info->chip : current_chip()) {}

    uint32_t GetCoreNum() const { return chip_ ? chip_->aiv : 0; }
    uint32_t GetCoreNumAic() const { return chip_ ? chip_->aic : 0; }
    uint32_t GetCoreNumAiv() const { return chip_ ? chip_->aiv : 0; }
    uint32_t GetCoreNumVector() const { return 0; }
    SocVersion GetSocVersion() const
    {
        /* no library function: a kernel file may hold this, too */
        for (const char *at = chip_ ? chip_->soc : ""; *at; at++)
            if (at[0] == '_' && at[1] == '9' && at[2] == '3') return SocVersion::ASCEND910_93;
        return SocVersion::ASCEND910B;
    }
    void GetCoreMemSize(const CoreMemType &type, uint64_t &size) const
    {
        if (!chip_) return;
        switch (type) {
        case CoreMemType::L0_A: size = chip_->l0a; break;
        case CoreMemType::L0_B: size = chip_->l0b; break;
        case CoreMemType::L0_C: size = chip_->l0c; break;
        case CoreMemType::L1: size = chip_->l1 - kept(); break;
        case CoreMemType::L2: size = chip_->l2; break;
        case CoreMemType::UB: size = chip_->ub - kept() - reserved_; break;
        case CoreMemType::BT: size = 1024; break;
        case CoreMemType::FB: size = 2048; break;
        default: size = 0;
        }
    }
    void GetCoreMemBw(const CoreMemType &type, uint64_t &bw) const { bw = type == CoreMemType::L2 ? 110 : 32; }
    uint32_t GetLibApiWorkSpaceSize() const { return chip_ ? uint32_t(chip_->system_workspace) : 0; }
    uint64_t GetResGroupBarrierWorkSpaceSize() const { return 0; }
    uint32_t GetResCubeGroupWorkSpaceSize() const { return 0; }
    uint32_t CalcTschBlockDim(uint32_t sliceNum, uint32_t aicCoreNum, uint32_t aivCoreNum) const
    {
        if (aicCoreNum == 0 || aivCoreNum == 0 || aicCoreNum > aivCoreNum) return sliceNum;
        uint32_t ratio = aivCoreNum / aicCoreNum;
        return (sliceNum + ratio - 1) / ratio;
    }
    uint32_t CalcTschNumBlocks(uint32_t sliceNum, uint32_t aicCoreNum, uint32_t aivCoreNum) const
    {
        return CalcTschBlockDim(sliceNum, aicCoreNum, aivCoreNum);
    }
    NpuArch GetCurNpuArch() const { return NpuArch::DAV_2201; }
    uint32_t GetVecRegLen() const { return 0; } /* no registers of vectors here */
    void ReserveLocalMemory(ReservedSize size) { reserved_ = uint32_t(size) < 3 ? 8192u << uint32_t(size) : 0; }

private:
    /* The 910B keeps 256 bytes of UB and L1 for messages between its cores. */
    uint32_t kept() const { return GetSocVersion() == SocVersion::ASCEND910B ? 256 : 0; }

    uint32_t reserved_ = 0;
    const AcraftHostChip *chip_;
};

class PlatformAscendCManager {
public:
    static PlatformAscendC *GetInstance()
    {
        static PlatformAscendC instance;
        instance = PlatformAscendC();
        return &instance;
    }
    static PlatformAscendC *GetInstance(const char *) { return GetInstance(); }
};

}  // namespace platform_ascendc

#endif
