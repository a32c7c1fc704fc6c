/* Tiling data as op_host code defines it: BEGIN_TILING_DATA_DEF and friends. In: field macros. Out:
 * a class with set_ and get_ members that lays its fields out like the kernel-side struct, plus a
 * registry from which that struct's text is generated (acraft/host/entry.cpp).
 *
 * Layout: fields in order, each at a multiple of its element's size, nested structs at multiples
 * of 8, the whole rounded up to 8; the generated struct states the same through alignas. */
#ifndef ACRAFT_HOST_TILING_DEF_H
#define ACRAFT_HOST_TILING_DEF_H

#include "acraft/host/ge.h"

namespace optiling {

class TilingDef;

struct TilingField {
    const char *type;
    const char *name;
    size_t at;     /* where the member lies in the host object */
    size_t size;   /* bytes of one element; of a nested struct: its data size */
    size_t count;  /* array length, 0: a single value */
    TilingDef *nested;
    size_t offset; /* in the data */
};

class TilingDef {
public:
    TilingDef() = default;
    TilingDef(const TilingDef &o) : name_(o.name_), fields_(o.fields_), bytes_(o.bytes_) {}
    TilingDef &operator=(const TilingDef &) { return *this; }
    virtual ~TilingDef() = default;

    void SaveToBuffer(void *data, size_t capacity) const
    {
        if (!data || capacity < GetDataSize()) return;
        std::memset(data, 0, GetDataSize());
        uint8_t *to = static_cast<uint8_t *>(data);
        for (const TilingField &f : fields_) {
            const uint8_t *from = reinterpret_cast<const uint8_t *>(this) + f.at;
            if (f.nested)
                reinterpret_cast<const TilingDef *>(from)->SaveToBuffer(to + f.offset, f.size);
            else
                std::memcpy(to + f.offset, from, f.size * (f.count ? f.count : 1));
        }
    }
    size_t GetDataSize() const { return (bytes_ + 7) / 8 * 8; }
    void SetDataPtr(void *) {}
    const char *GetTilingClassName() const { return name_; }
    const std::vector<TilingField> &acraft_fields() const { return fields_; }

    void acraft_add(const char *type, const char *name, const void *member, size_t size, size_t count, TilingDef *nested)
    {
        size_t align = nested ? 8 : size ? size : 1;
        size_t offset = (bytes_ + align - 1) / align * align;
        size_t at = size_t(static_cast<const uint8_t *>(member) - reinterpret_cast<const uint8_t *>(this));
        fields_.push_back({type, name, at, size, count, nested, offset});
        bytes_ = offset + size * (count ? count : 1);
    }

protected:
    const char *name_ = "";

private:
    std::vector<TilingField> fields_;
    size_t bytes_ = 0;
};

/* A field announces itself to its class while the object is built; a copy has the list already. */
struct TilingAnnounce {
    TilingAnnounce(TilingDef *owner, const char *type, const char *name, const void *member, size_t size, size_t count,
                   TilingDef *nested)
    {
        owner->acraft_add(type, name, member, size, count, nested);
    }
    TilingAnnounce(const TilingAnnounce &) {}
    TilingAnnounce &operator=(const TilingAnnounce &) { return *this; }
};

struct TilingClass {
    std::string key;  /* op type, or op type _ tiling key */
    std::string name; /* struct */
    std::shared_ptr<TilingDef> (*make)();
};
inline std::vector<TilingClass> &tiling_classes()
{
    static std::vector<TilingClass> all;
    return all;
}
template <typename T> struct TilingRegistrar {
    TilingRegistrar(const char *key, const char *name)
    {
        tiling_classes().push_back({key, name, [] { return std::shared_ptr<TilingDef>(std::make_shared<T>()); }});
    }
};

}  // namespace optiling

#define BEGIN_TILING_DATA_DEF(class_name)                                                          \
    class class_name : public ::optiling::TilingDef {                                              \
    public:                                                                                        \
        class_name() { name_ = #class_name; }

#define TILING_DATA_FIELD_DEF(data_type, field_name)                                               \
public:                                                                                            \
    void set_##field_name(data_type field_name) { field_name##_ = field_name; }                    \
    data_type get_##field_name() const { return field_name##_; }                                   \
                                                                                                   \
private:                                                                                           \
    data_type field_name##_ = 0;                                                                   \
    ::optiling::TilingAnnounce field_name##_announce_{this, #data_type, #field_name, &field_name##_, sizeof(data_type), 0, nullptr}; \
                                                                                                   \
public:

#define TILING_DATA_FIELD_DEF_ARR(arr_type, arr_size, field_name)                                  \
public:                                                                                            \
    void set_##field_name(const arr_type *field_name) { std::memcpy(field_name##_, field_name, sizeof field_name##_); } \
    arr_type *get_##field_name() { return field_name##_; }                                         \
                                                                                                   \
private:                                                                                           \
    arr_type field_name##_[arr_size] = {};                                                         \
    ::optiling::TilingAnnounce field_name##_announce_{this, #arr_type, #field_name, field_name##_, sizeof(arr_type), (arr_size), nullptr}; \
                                                                                                   \
public:

#define TILING_DATA_FIELD_DEF_STRUCT(struct_type, field_name)                                      \
public:                                                                                            \
    struct_type field_name;                                                                        \
                                                                                                   \
private:                                                                                           \
    ::optiling::TilingAnnounce field_name##_announce_{this, #struct_type, #field_name, &field_name, field_name.GetDataSize(), 0, &field_name}; \
                                                                                                   \
public:

#define END_TILING_DATA_DEF };

/* Statements of their own: op_host code writes them with or without a semicolon. */
#define ACRAFT_HOST_JOIN_(a, b) a##b
#define ACRAFT_HOST_JOIN(a, b) ACRAFT_HOST_JOIN_(a, b)
#define REGISTER_TILING_DATA_CLASS(op_type, class_name)                                            \
    static ::optiling::TilingRegistrar<class_name> ACRAFT_HOST_JOIN(acraft_tiling_class_, __COUNTER__)(#op_type, #class_name);

#endif
