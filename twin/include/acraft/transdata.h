/* TransData: volumes of images between channels first (NCDHW, planes padded to 16 elements) and channels in blocks of
 * 16 (NDC1HWC0, or FRACTAL_Z_3D with images in blocks of 16 too). In: tensors of 16-bit elements, both layouts. */
#ifndef ACRAFT_TRANSDATA_H
#define ACRAFT_TRANSDATA_H

#include "acraft/quant.h"
#include "acraft/std.h"

namespace AscendC {

template <typename T, typename U> struct TransDataParams {
    T srcLayout;
    U dstLayout;
};

namespace transdata {

using Words = LocalTensor<uint16_t>;

/* Extents of a volume; where 16 channels of one plane stand in blocks, and how many blocks lie between two pixels. */
struct Volume {
    uint32_t n, c, d, pixels;
    bool fractal;
    uint32_t c1() const { return (c + 15) / 16; }
    uint32_t images() const { return (n + 15) / 16 * 16; }
    uint32_t padded() const { return (pixels + 15) / 16 * 16; }
    uint32_t plane(uint32_t image, uint32_t channel, uint32_t depth) const { return ((image * c + channel) * d + depth) * padded(); }
    uint32_t block(uint32_t image, uint32_t group, uint32_t depth) const
    {
        if (fractal) return ((depth * c1() + group) * pixels * images() + image) * 16;
        return ((image * d + depth) * c1() + group) * pixels * 16;
    }
    uint32_t step() const { return fractal ? images() : 1; }
};

template <typename S> inline Volume volume_of(const S &ncdhw, bool fractal)
{
    return {uint32_t(std::get<0>(ncdhw)), uint32_t(std::get<1>(ncdhw)), uint32_t(std::get<2>(ncdhw)),
            uint32_t(std::get<3>(ncdhw)) * uint32_t(std::get<4>(ncdhw)), fractal};
}

/* Sixteen rows of `length` (whole sixteens) to `length` rows of sixteen, or back. */
inline void turn(const Words (&rows)[16], const Words &columns, uint32_t length, bool back, const acraft::Site &s)
{
    Words sixteen[16];
    for (uint32_t i = 0; i < 16; i++) sixteen[i] = columns[i * 16];
    uint8_t repeats = uint8_t(length / 16);
    uint16_t far = repeats > 1 ? 16 : 0, near = repeats > 1 ? 1 : 0;
    if (back) TransDataTo5HD<uint16_t>(rows, sixteen, TransDataTo5HDParams(false, false, repeats, near, far), s);
    else TransDataTo5HD<uint16_t>(sixteen, rows, TransDataTo5HDParams(false, false, repeats, far, near), s);
}

/* Channels that do not exist read zeros, and are written where nobody looks; what pads a plane becomes zero. */
inline void run(const Words &dst, const Words &src, const Volume &v, bool back, const LocalTensor<uint8_t> &tmp, const acraft::Site &s)
{
    uint32_t length = v.padded();
    Words spare = quant::room_of(tmp, length * 17 * 2).ReinterpretCast<uint16_t>(), columns = spare[length];
    Duplicate(spare, uint16_t(0), int32_t(length * 17), s);
    if (!back && v.fractal) Duplicate(dst, uint16_t(0), int32_t(v.d * v.c1() * v.pixels * v.images() * 16), s);
    acraft::put_barrier(NPU_PIPE_V, s);
    for (uint32_t image = 0; image < v.n; image++)
        for (uint32_t depth = 0; depth < v.d; depth++)
            for (uint32_t group = 0; group < v.c1(); group++) {
                Words rows[16];
                for (uint32_t i = 0; i < 16; i++) {
                    uint32_t channel = group * 16 + i;
                    rows[i] = channel < v.c ? (back ? dst : src)[v.plane(image, channel, depth)] : spare;
                }
                uint32_t at = v.block(image, group, depth);
                uint16_t gap = uint16_t(v.step() - 1), pixels = uint16_t(v.pixels);
                if (back) DataCopy(columns, src[at], DataCopyParams(pixels, 1, gap, 0), s);
                acraft::put_barrier(NPU_PIPE_V, s);
                turn(rows, columns, length, back, s);
                acraft::put_barrier(NPU_PIPE_V, s);
                if (!back) DataCopy(dst[at], columns, DataCopyParams(pixels, 1, 0, gap), s);
            }
}

}  // namespace transdata

template <const TransDataConfig &config, typename T, typename U, typename S>
inline void TransData(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp, const TransDataParams<U, S> &params,
                      ACRAFT_SITE)
{
    static_assert(SupportType<T, int16_t, uint16_t, half, bfloat16_t>(), "acraft: TransData does not exist for this dtype on Atlas A2");
    constexpr bool back = config.dstFormat == DataFormat::NCDHW;
    constexpr DataFormat blocks = back ? config.srcFormat : config.dstFormat;
    static_assert((back || config.srcFormat == DataFormat::NCDHW) && (blocks == DataFormat::NDC1HWC0 || blocks == DataFormat::FRACTAL_Z_3D),
                  "acraft: TransData does not exist between these formats");
    transdata::Volume volume;
    if constexpr (back) volume = transdata::volume_of(params.dstLayout.GetShape(), blocks == DataFormat::FRACTAL_Z_3D);
    else volume = transdata::volume_of(params.srcLayout.GetShape(), blocks == DataFormat::FRACTAL_Z_3D);
    transdata::run(dst.template ReinterpretCast<uint16_t>(), src.template ReinterpretCast<uint16_t>(), volume, back, tmp, site.in("TransData"));
}
template <const TransDataConfig &config, typename T, typename U, typename S>
inline void TransData(const LocalTensor<T> &dst, const LocalTensor<T> &src, const TransDataParams<U, S> &params, ACRAFT_SITE)
{
    TransData<config, T, U, S>(dst, src, acraft::math::stack(), params, site);
}

}  // namespace AscendC

#endif
