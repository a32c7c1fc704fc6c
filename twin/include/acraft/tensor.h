/* GlobalTensor and LocalTensor: typed windows on memories the kernel cannot write. In: addresses
 * from the launch, TPipe or fixed-address constructors. Out: operands for records; element reads
 * wait for the simulator, element writes are records. */
#ifndef ACRAFT_TENSOR_H
#define ACRAFT_TENSOR_H

#include "acraft/emit.h"

namespace acraft {

/* Memory of a logical position, as records number it. */
constexpr uint32_t space_of(AscendC::TPosition pos)
{
    switch (AscendC::GetPhyType(pos)) {
    case AscendC::Hardware::GM: return NPU_GM;
    case AscendC::Hardware::L1: return NPU_L1;
    case AscendC::Hardware::L0A: return NPU_L0A;
    case AscendC::Hardware::L0B: return NPU_L0B;
    case AscendC::Hardware::L0C: return NPU_L0C;
    case AscendC::Hardware::BIAS: return NPU_BT;
    case AscendC::Hardware::FIXBUF: return NPU_FB;
    default: return NPU_UB;
    }
}

/* UB exists on AIV, L1 and L0 on AIC. Code compiled for both halves of a mixed kernel may name the
 * other half's memories: buffers there are only addresses, and copies are skipped, as the device
 * headers do. */
inline bool not_my_memory(uint32_t space)
{
    return g_coreType == AIC ? space == NPU_UB : space != NPU_UB && space != NPU_GM;
}

template <typename T>
ACRAFT_OUTLINE inline T get_element(NpuOp op, uint64_t address, uint64_t bytes, const Site &site, uint32_t past = 0)
{
    Record &r = put(op, site);
    r.dtype[1] = dtype_of<T>();
    r.n[1] = past;
    r.operand[1] = operand(address, bytes, 0, 0);
    return load<T>(address);
}

template <typename T>
ACRAFT_OUTLINE inline void set_element(NpuOp op, uint64_t address, uint64_t bytes, const T &value, const Site &site, uint32_t past = 0)
{
    Record &r = put(op, site);
    r.dtype[0] = dtype_of<T>();
    r.n[1] = past;
    r.operand[0] = operand(address, bytes, 0, 0);
    r.scalar = scalar_bits(value);
}

/* What operator() returns: an element that can be read and assigned. */
template <typename T, bool global> class Element {
public:
    Element(uint64_t address, uint64_t bytes, uint32_t past = 0) : address_(address), bytes_(bytes), past_(past) {}
    operator T() const { return get_element<T>(global ? NPU_GLOBAL_GET : NPU_LOCAL_GET, address_, bytes_, site_of_last(), past_); }
    template <typename U, typename = std::enable_if_t<std::is_arithmetic<U>::value && !std::is_same<U, T>::value>> explicit operator U() const
    {
        return U(T(*this));
    }
    const Element &operator=(const T &value) const
    {
        set_element(global ? NPU_GLOBAL_SET : NPU_LOCAL_SET, address_, bytes_, value, site_of_last(), past_);
        return *this;
    }
    const Element &operator=(const Element &other) const { return *this = T(other); }
    template <typename U> const Element &operator+=(const U &v) const { return *this = T(T(*this) + v); }
    template <typename U> const Element &operator-=(const U &v) const { return *this = T(T(*this) - v); }
    template <typename U> const Element &operator*=(const U &v) const { return *this = T(T(*this) * v); }

private:
    uint64_t address_, bytes_;
    uint32_t past_;
};

}  // namespace acraft

namespace AscendC {

template <typename T> struct TensorTrait {
    using LiteType = T;
};
template <typename T> struct PrimTOf { using type = T; };
template <typename T> struct PrimTOf<TensorTrait<T>> { using type = T; };
template <typename T> using PrimT = typename PrimTOf<T>::type;

struct ShapeInfo {
    constexpr ShapeInfo() {}
    ShapeInfo(const uint8_t dim, const uint32_t dims[], const uint8_t originalDim, const uint32_t original[],
              const DataFormat format)
        : shapeDim(dim), originalShapeDim(originalDim), dataFormat(format)
    {
        copy(shape, dims, dim);
        copy(originalShape, original, originalDim);
    }
    ShapeInfo(const uint8_t dim, const uint32_t dims[], const DataFormat format = DataFormat::ND)
        : ShapeInfo(dim, dims, dim, dims, format)
    {
    }
    uint8_t shapeDim = 0;
    uint8_t originalShapeDim = 0;
    uint32_t shape[K_MAX_SHAPE_DIM] = {};
    uint32_t originalShape[K_MAX_SHAPE_DIM] = {};
    DataFormat dataFormat = DataFormat::ND;

private:
    static void copy(uint32_t *to, const uint32_t *from, uint8_t n)
    {
        for (int i = 0; i < n && i < K_MAX_SHAPE_DIM; i++) to[i] = from[i];
    }
};

inline uint64_t GetShapeSize(const ShapeInfo &info)
{
    uint64_t size = 1;
    for (int i = 0; i < info.shapeDim; i++) size *= info.shape[i];
    return size;
}

/* Tensors are copied all the time and hardly any has a shape: those that do share a pool, whose
 * oldest shapes are overwritten. */
class ShapeRef {
public:
    ShapeRef() {}
    ShapeRef(const ShapeInfo &info)
    {
        static ACRAFT_KEPT ShapeInfo acraft_pool[256];
        static ACRAFT_KEPT uint32_t acraft_next = 0;
        at_ = &acraft_pool[acraft_next++ % 256];
        *at_ = info;
    }
    const ShapeInfo &get() const
    {
        static const ShapeInfo none;
        return at_ ? *at_ : none;
    }

private:
    ShapeInfo *at_ = nullptr;
};

struct TBufType;

/* The plain form of a tensor's place, which TQue hands around as vendors' code does. */
struct TBuffAddr {
    uint32_t dataLen = 0;
    uint32_t bufferAddr = 0;
    TBufHandle bufferHandle = nullptr;
    uint8_t logicPos = uint8_t(TPosition::MAX);
};

/* a + b and its kin, worked out when assigned to a tensor: dst = a + b over all of dst. */
enum class TensorOp : uint8_t { ADD, SUB, MUL, DIV, OR, AND, LT, GT, NE, EQ, LE, GE };
template <typename T> class LocalTensor;
template <typename T> struct TensorExpression {
    TensorOp op;
    const LocalTensor<T> &a, &b;
};

template <typename T> class LocalTensor {
public:
    using PrimType = PrimT<T>;

    LocalTensor() {}
    LocalTensor(TPosition pos, uint32_t addr, uint32_t tileSize)
    {
        address_.logicPos = uint8_t(pos);
        address_.bufferAddr = addr;
        address_.dataLen = uint32_t(acraft::bytes_for<PrimType>(tileSize));
        open_ = true;
    }

    uint64_t GetPhyAddr() const { return GetPhyAddr(0); }
    uint64_t GetPhyAddr(const uint32_t offset) const
    {
        return acraft::number_of_address(record_address()) + acraft::bytes_for<PrimType>(offset);
    }

    PrimType GetValue(const uint32_t offset, ACRAFT_SITE) const
    {
        LocalTensor t = (*this)[offset];
        return acraft::get_element<PrimType>(NPU_LOCAL_GET, t.record_address(), t.address_.dataLen, site, behind(offset));
    }
    template <typename S> void SetValue(const uint32_t index, const S value, ACRAFT_SITE) const
    {
        LocalTensor t = (*this)[index];
        acraft::set_element(NPU_LOCAL_SET, t.record_address(), t.address_.dataLen, PrimType(value), site, behind(index));
    }
    acraft::Element<PrimType, false> operator()(const uint32_t offset) const
    {
        LocalTensor t = (*this)[offset];
        return {t.record_address(), t.address_.dataLen, behind(offset)};
    }

    LocalTensor operator[](const uint32_t offset) const
    {
        LocalTensor t = *this;
        uint32_t bytes = uint32_t(acraft::bytes_for<PrimType>(offset));
        t.address_.bufferAddr += bytes;
        t.address_.dataLen = bytes < address_.dataLen ? address_.dataLen - bytes : 0;
        t.past_ = bytes > address_.dataLen || (bytes == address_.dataLen && bytes > 0);
        return t;
    }
    template <typename U> LocalTensor<U> ReinterpretCast() const
    {
        LocalTensor<U> t;
        t.address_ = address_;
        t.shapeInfo_ = shapeInfo_;
        t.open_ = open_;
        t.past_ = past_;
        return t;
    }
    template <typename S> void SetAddrWithOffset(LocalTensor<S> &src, uint32_t offset)
    {
        *this = src.template ReinterpretCast<T>()[0];
        address_.bufferAddr += uint32_t(acraft::bytes_for<PrimType>(offset));
    }

    template <typename U> void operator=(const TensorExpression<U> &expression); /* in symbols.h */
    TensorExpression<T> operator+(const LocalTensor &o) const { return {TensorOp::ADD, *this, o}; }
    TensorExpression<T> operator-(const LocalTensor &o) const { return {TensorOp::SUB, *this, o}; }
    TensorExpression<T> operator*(const LocalTensor &o) const { return {TensorOp::MUL, *this, o}; }
    TensorExpression<T> operator/(const LocalTensor &o) const { return {TensorOp::DIV, *this, o}; }
    TensorExpression<T> operator|(const LocalTensor &o) const { return {TensorOp::OR, *this, o}; }
    TensorExpression<T> operator&(const LocalTensor &o) const { return {TensorOp::AND, *this, o}; }
    TensorExpression<T> operator<(const LocalTensor &o) const { return {TensorOp::LT, *this, o}; }
    TensorExpression<T> operator>(const LocalTensor &o) const { return {TensorOp::GT, *this, o}; }
    TensorExpression<T> operator!=(const LocalTensor &o) const { return {TensorOp::NE, *this, o}; }
    TensorExpression<T> operator==(const LocalTensor &o) const { return {TensorOp::EQ, *this, o}; }
    TensorExpression<T> operator<=(const LocalTensor &o) const { return {TensorOp::LE, *this, o}; }
    TensorExpression<T> operator>=(const LocalTensor &o) const { return {TensorOp::GE, *this, o}; }

    int32_t GetPosition() const { return address_.logicPos; }
    void SetSize(const uint32_t size) { address_.dataLen = uint32_t(acraft::bytes_for<PrimType>(size)); }
    uint32_t GetSize() const { return uint32_t(uint64_t(address_.dataLen) * 8 / acraft::bits_of<PrimType>()); }
    uint32_t GetLength() const { return address_.dataLen; }
    void SetBufferLen(uint32_t dataLen) { address_.dataLen = dataLen; }
    void SetUserTag(const TTagType tag) { tag_ = tag; }
    TTagType GetUserTag() const { return tag_; }
    void SetShapeInfo(const ShapeInfo &info) { shapeInfo_ = ShapeRef(info); }
    ShapeInfo GetShapeInfo() const { return shapeInfo_.get(); }
    void SetAddr(const TBuffAddr &address) { address_ = address; }
    TBufHandle GetBufferHandle() const { return address_.bufferHandle; }

    uint64_t record_address() const
    {
        return rec_address(acraft::space_of(TPosition(address_.logicPos)), address_.bufferAddr);
    }
    /* Strides in 32-byte blocks. A window that starts at or past the end of its tensor says so
     * with one byte, since 0 means "not known". */
    RecordOperand operand(uint32_t block = 0, uint32_t repeat = 0) const
    {
        return acraft::operand(record_address(), past_ ? 1 : address_.dataLen, block, repeat);
    }

    TBuffAddr address_;
    ShapeRef shapeInfo_;
    TTagType tag_ = -1;
    bool open_ = false; /* made from a fixed address, outside TPipe */
    bool past_ = false;

    /* 1 + bytes of an element after the tensor's last whole block; 0: inside, or the size is not known. */
    uint32_t behind(uint32_t offset) const
    {
        uint64_t at = acraft::bytes_for<PrimType>(offset), end = (uint64_t(address_.dataLen) + 31) / 32 * 32;
        return address_.dataLen && at >= end ? uint32_t(at - end + 1) : 0;
    }
};

template <typename T> class GlobalTensor {
public:
    using PrimType = PrimT<T>;

    void SetGlobalBuffer(__gm__ PrimType *buffer, uint64_t bufferSize, ACRAFT_SITE)
    {
        address_ = buffer;
        bufferSize_ = bufferSize;
        set_ = acraft::place_id(site, {rec_byte(record_address()), acraft::bytes_for<PrimType>(bufferSize)});
        cut_ = 0;
    }
    void SetGlobalBuffer(__gm__ PrimType *buffer, ACRAFT_SITE) { SetGlobalBuffer(buffer, 0, site); }
    const __gm__ PrimType *GetPhyAddr() const { return address_; }
    __gm__ PrimType *GetPhyAddr(const uint64_t offset) const { return address_ + offset; }

    PrimType GetValue(const uint64_t offset, ACRAFT_SITE) const
    {
        GlobalTensor t = shifted(offset);
        return acraft::get_element<PrimType>(NPU_GLOBAL_GET, t.record_address(), t.reach(), site);
    }
    void SetValue(const uint64_t offset, PrimType value, ACRAFT_SITE)
    {
        GlobalTensor t = shifted(offset);
        acraft::set_element(NPU_GLOBAL_SET, t.record_address(), t.reach(), value, site);
    }
    acraft::Element<PrimType, true> operator()(const uint64_t offset) const
    {
        GlobalTensor t = shifted(offset);
        return {t.record_address(), t.reach()};
    }
    GlobalTensor operator[](const acraft::Offset &offset) const
    {
        GlobalTensor t = shifted(offset.value);
        t.cut_ = acraft::place_id(offset.site, {0, 0});
        return t;
    }
    GlobalTensor shifted(const uint64_t offset) const
    {
        GlobalTensor t = *this;
        t.address_ = reinterpret_cast<PrimType *>(reinterpret_cast<uintptr_t>(address_) + acraft::bytes_for<PrimType>(offset));
        t.bufferSize_ = offset < bufferSize_ ? bufferSize_ - offset : 0;
        return t;
    }
    uint64_t GetSize() const { return bufferSize_; }
    void SetShapeInfo(const ShapeInfo &info) { shapeInfo_ = ShapeRef(info); }
    ShapeInfo GetShapeInfo() const { return shapeInfo_.get(); }
    template <CacheRwMode rwMode = CacheRwMode::RW> void SetL2CacheHint(CacheMode mode) { cacheMode_ = mode; }

    uint64_t record_address() const { return rec_address(NPU_GM, reinterpret_cast<uintptr_t>(address_)); }
    /* The size given to SetGlobalBuffer binds nobody on the device (tails are copied rounded up into
     * padding), so records leave the reach of a GM tensor open: the simulator knows allocations. */
    uint64_t reach() const { return 0; }
    RecordOperand operand() const { return acraft::operand(record_address(), reach(), set_, cut_); }
    uint8_t copy_flags() const { return cacheMode_ == CacheMode::CACHE_MODE_DISABLE ? REC_L2_BYPASS : 0; }

    __gm__ PrimType *address_ = nullptr;
    uint64_t bufferSize_ = 0;
    uint16_t set_ = 0, cut_ = 0; /* places of SetGlobalBuffer and of the last operator[] */
    ShapeRef shapeInfo_;
    CacheMode cacheMode_ = CacheMode::CACHE_MODE_NORMAL;
};

}  // namespace AscendC

#endif
