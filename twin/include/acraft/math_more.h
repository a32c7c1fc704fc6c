/* Mathematics that few kernels ask for: the logarithm of the gamma function and its derivative, the sum of
 * exclusive ors. Written as acraft/math.h is. */
#ifndef ACRAFT_MATH_MORE_H
#define ACRAFT_MATH_MORE_H

#include "acraft/quant.h"

namespace acraft {
namespace math {

/* Both functions are computed at z = x, or 1 - x below 0, and moved to w >= 8, where their asymptotic series holds:
 * w = z + 8 if z < 8. The formula of reflection leads back to x. */
struct Gamma {
    /* z into t[0]; min(z, 8) into t[3] */
    static void reflect(const F &x, const F *t, int n, const Site &s)
    {
        AscendC::Muls(t[3], x, -1.0f, n, s);
        AscendC::Adds(t[3], t[3], 1.0f, n, s);
        choose(t[0], bits_where(t[4], x, 0.0f, AscendC::CMPMODE::LT, n, s), t[3], x, n, s);
        AscendC::Mins(t[3], t[0], 8.0f, n, s);
    }
    /* t[1], what moving by 8 costs, is kept where z < 8; w into t[2] */
    static void move(const F *t, int n, const Site &s)
    {
        LocalTensor<uint8_t> bits = bits_where(t[4], t[0], 8.0f, AscendC::CMPMODE::LT, n, s);
        choose(t[1], bits, t[1], 0.0f, n, s);
        AscendC::Adds(t[2], t[0], 8.0f, n, s);
        choose(t[2], bits, t[2], t[0], n, s);
    }
    /* 1 / w into t[0], its square into t[2] */
    static void inverse(const F *t, int n, const Site &s)
    {
        AscendC::Duplicate(t[0], 1.0f, n, s);
        AscendC::Div(t[0], t[0], t[2], n, s);
        AscendC::Mul(t[2], t[0], t[0], n, s);
    }
    /* pi (x - round(x)) into t[0] */
    static void angle(const F &x, const F *t, int n, const Site &s)
    {
        AscendC::Cast(t[0], x, RoundMode::CAST_RINT, uint32_t(n), s);
        AscendC::Sub(t[0], x, t[0], n, s);
        AscendC::Muls(t[0], t[0], 3.14159265358979f, n, s);
    }
};

struct Lgamma {
    static constexpr int live = 9;
    static void run(const F &y, const F &x, const F *t, int n, const Site &s)
    {
        constexpr float series[] = {1.0f / 1260.0f, -1.0f / 360.0f, 1.0f / 12.0f};
        Gamma::reflect(x, t, n, s);
        AscendC::Adds(t[1], t[3], 0.0f, n, s);
        for (int k = 1; k < 8; k++) {
            AscendC::Adds(t[2], t[3], float(k), n, s);
            AscendC::Mul(t[1], t[1], t[2], n, s);
        }
        AscendC::Ln(t[1], t[1], n, s);
        Gamma::move(t, n, s);
        AscendC::Ln(t[3], t[2], n, s);
        AscendC::Adds(t[3], t[3], -1.0f, n, s);
        AscendC::Adds(t[0], t[2], -0.5f, n, s);
        AscendC::Mul(t[3], t[3], t[0], n, s);
        AscendC::Sub(t[3], t[3], t[1], n, s);
        Gamma::inverse(t, n, s);
        polynomial(t[1], t[2], series, n, s);
        AscendC::Mul(t[1], t[1], t[0], n, s);
        AscendC::Add(t[3], t[3], t[1], n, s);
        AscendC::Adds(t[3], t[3], 0.418938533204673f, n, s);
        Gamma::angle(x, t, n, s);
        Sin::run(t[1], t[0], t + 5, n, s);
        AscendC::Abs(t[1], t[1], n, s);
        AscendC::Ln(t[1], t[1], n, s);
        AscendC::Adds(t[1], t[1], -1.14472988584940f, n, s);
        AscendC::Add(t[1], t[1], t[3], n, s);
        AscendC::Muls(t[1], t[1], -1.0f, n, s);
        choose(y, bits_where(t[4], x, 0.0f, AscendC::CMPMODE::LT, n, s), t[1], t[3], n, s);
    }
};

struct Digamma {
    static constexpr int live = 10;
    static void run(const F &y, const F &x, const F *t, int n, const Site &s)
    {
        constexpr float series[] = {-1.0f / 252.0f, 1.0f / 120.0f, -1.0f / 12.0f};
        Gamma::reflect(x, t, n, s);
        AscendC::Duplicate(t[5], 1.0f, n, s);
        AscendC::Div(t[1], t[5], t[3], n, s);
        for (int k = 1; k < 8; k++) {
            AscendC::Adds(t[2], t[3], float(k), n, s);
            AscendC::Div(t[2], t[5], t[2], n, s);
            AscendC::Add(t[1], t[1], t[2], n, s);
        }
        Gamma::move(t, n, s);
        AscendC::Ln(t[3], t[2], n, s);
        AscendC::Sub(t[3], t[3], t[1], n, s);
        Gamma::inverse(t, n, s);
        AscendC::Muls(t[0], t[0], -0.5f, n, s);
        AscendC::Add(t[3], t[3], t[0], n, s);
        polynomial(t[1], t[2], series, n, s);
        AscendC::Mul(t[1], t[1], t[2], n, s);
        AscendC::Add(t[3], t[3], t[1], n, s);
        Gamma::angle(x, t, n, s);
        Sin::run(t[1], t[0], t + 6, n, s);
        Cos::run(t[2], t[0], t + 6, n, s);
        AscendC::Div(t[1], t[2], t[1], n, s);
        AscendC::Muls(t[1], t[1], -3.14159265358979f, n, s);
        AscendC::Add(t[1], t[1], t[3], n, s);
        choose(y, bits_where(t[4], x, 0.0f, AscendC::CMPMODE::LT, n, s), t[1], t[3], n, s);
    }
};

}  // namespace math
}  // namespace acraft

namespace AscendC {

#define ACRAFT_GAMMA(NAME)                                                                         \
    template <typename T, bool isReuseSource = false>                                              \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp, const uint32_t calCount, ACRAFT_SITE) \
    {                                                                                              \
        constexpr uint32_t least = (acraft::math::NAME::live + 2) * 64 * 4;                        \
        acraft::math::in_chunks<acraft::math::NAME::live>(dst, src, quant::room_of(tmp, least), calCount, site.in(#NAME), &acraft::math::NAME::run); \
    }                                                                                              \
    template <typename T, bool isReuseSource = false>                                              \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t calCount, ACRAFT_SITE) \
    {                                                                                              \
        NAME<T, isReuseSource>(dst, src, acraft::math::stack(), calCount, site);                   \
    }
ACRAFT_GAMMA(Lgamma)
ACRAFT_GAMMA(Digamma)
#undef ACRAFT_GAMMA

/* The sum of a ^ b, held within int16. */
template <typename T, bool isReuseSource = false>
inline void ReduceXorSum(const LocalTensor<T> &dst, const LocalTensor<T> &a, const LocalTensor<T> &b, const LocalTensor<uint8_t> &tmp,
                         const uint32_t calCount, ACRAFT_SITE)
{
    static_assert(std::is_same<T, int16_t>::value, "acraft: ReduceXorSum exists only for int16_t on Atlas A2");
    acraft::Site s = site.in("ReduceXorSum");
    uint32_t row = norm::whole(calCount), need = (row * 2 + 256) * 4 + row * 4;
    LocalTensor<uint8_t> room = quant::room_of(tmp, need);
    LocalTensor<int16_t> apart = room.ReinterpretCast<int16_t>();
    softmax::Scratch w(room[row * 4], calCount);
    Xor(apart, a, b, apart[row].template ReinterpretCast<uint8_t>(), calCount, s);
    Cast(w.x, apart, RoundMode::CAST_NONE, calCount, s);
    softmax::row_reduce(NPU_REPEAT_SUM, w.value, w.x, w.y, calCount, s);
    Mins(w.value, w.value, 32767.0f, 1, s);
    Maxs(w.value, w.value, -32768.0f, 1, s);
    Cast(dst, w.value, RoundMode::CAST_RINT, 1, s);
}
template <typename T, bool isReuseSource = false>
inline void ReduceXorSum(const LocalTensor<T> &dst, const LocalTensor<T> &a, const LocalTensor<T> &b, const uint32_t calCount, ACRAFT_SITE)
{
    ReduceXorSum<T, isReuseSource>(dst, a, b, acraft::math::stack(), calCount, site);
}

}  // namespace AscendC

#endif
