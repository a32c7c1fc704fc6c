/* What dst = a + b does: the count form of the named API over the whole of dst. */
#ifndef ACRAFT_SYMBOLS_H
#define ACRAFT_SYMBOLS_H

#include "acraft/builtins.h"

namespace AscendC {

template <typename T>
template <typename U>
inline void LocalTensor<T>::operator=(const TensorExpression<U> &e)
{
    acraft::Site s = acraft::site_of_last();
    int32_t n = int32_t(GetSize());
    if constexpr (std::is_same<T, U>::value) {
        switch (e.op) {
        case TensorOp::ADD: if constexpr (acraft::has_dtype<T>(NPU_ADD)) Add(*this, e.a, e.b, n, s); return;
        case TensorOp::SUB: if constexpr (acraft::has_dtype<T>(NPU_SUB)) Sub(*this, e.a, e.b, n, s); return;
        case TensorOp::MUL: if constexpr (acraft::has_dtype<T>(NPU_MUL)) Mul(*this, e.a, e.b, n, s); return;
        case TensorOp::DIV: if constexpr (acraft::has_dtype<T>(NPU_DIV)) Div(*this, e.a, e.b, n, s); return;
        case TensorOp::OR: if constexpr (acraft::has_dtype<T>(NPU_OR)) Or(*this, e.a, e.b, n, s); return;
        case TensorOp::AND: if constexpr (acraft::has_dtype<T>(NPU_AND)) And(*this, e.a, e.b, n, s); return;
        default: return;
        }
    } else {
        constexpr CMPMODE modes[] = {CMPMODE::LT, CMPMODE::GT, CMPMODE::NE, CMPMODE::EQ, CMPMODE::LE, CMPMODE::GE};
        Compare(*this, e.a, e.b, modes[int(e.op) - int(TensorOp::LT)], uint32_t(e.a.GetSize()), s);
    }
}

}  // namespace AscendC

#endif
