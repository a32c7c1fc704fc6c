/* ListTensorDesc: tensor lists as the launcher lays them out in GM. In: a GM address. Out: data
 * pointers and shapes, read as scalars through the read-only mapping.
 *
 *     u64 offset of the pointer table (bytes from the start)
 *     per tensor: u32 rank | u32 index << 32 ..., then rank dimensions of u64
 *     pointer table: u64 per tensor */
#ifndef ACRAFT_LIST_H
#define ACRAFT_LIST_H

#include "acraft/select.h"

namespace AscendC {

template <class T> class TensorDesc {
public:
    void SetShapeAddr(uint64_t *shapePtr) { shape_ = shapePtr; }
    uint64_t GetDim() const { return dim_; }
    uint64_t GetIndex() const { return index_; }
    uint64_t GetShape(uint32_t offset) const { return shape_ ? shape_[offset] : 0; }
    __gm__ T *GetDataPtr() const { return data_; }
    GlobalTensor<T> GetDataObj() const
    {
        GlobalTensor<T> t;
        t.SetGlobalBuffer(data_);
        return t;
    }

    uint64_t *shape_ = nullptr;
    uint64_t dim_ = 0, index_ = 0;
    __gm__ T *data_ = nullptr;
};

class ListTensorDesc {
public:
    ListTensorDesc() {}
    ListTensorDesc(__gm__ void *data, uint32_t length = 0xffffffff, uint32_t shapeSize = 0xffffffff) { Init(data, length, shapeSize); }
    void Init(__gm__ void *data, uint32_t = 0xffffffff, uint32_t = 0xffffffff)
    {
        acraft::flush();
        base_ = static_cast<const uint8_t *>(data);
        table_ = word(0);
        count_ = 0;
        for (uint64_t at = 8; at < table_; at += 8 + 8 * (word(at) & 0xffffffffu)) count_++;
    }
    template <class T> void GetDesc(TensorDesc<T> &desc, uint32_t index)
    {
        uint64_t at = 8;
        for (uint32_t i = 0; i < index && at < table_; i++) at += 8 + 8 * (word(at) & 0xffffffffu);
        desc.dim_ = word(at) & 0xffffffffu;
        desc.index_ = word(at) >> 32;
        for (uint64_t d = 0; desc.shape_ && d < desc.dim_; d++) desc.shape_[d] = word(at + 8 + 8 * d);
        desc.data_ = GetDataPtr<T>(index);
    }
    template <class T> __gm__ T *GetDataPtr(uint32_t index) const
    {
        return reinterpret_cast<T *>(static_cast<uintptr_t>(word(table_ + 8ull * index)));
    }
    uint32_t GetSize() const { return count_; }

private:
    uint64_t word(uint64_t at) const
    {
        uint64_t w;
        std::memcpy(&w, base_ + at, 8);
        return w;
    }
    const uint8_t *base_ = nullptr;
    uint64_t table_ = 0;
    uint32_t count_ = 0;
};

}  // namespace AscendC

#endif
