/* Tiling data as op_host code defines it: BEGIN_TILING_DATA_DEF and friends. In: field macros. Out:
 * a class with set_ and get_ members that lays its fields out like the kernel-side struct, plus a
 * registry from which that struct's text is generated (acraft/host/entry.cpp).
 *
 * Layout: fields in order, each at a multiple of its element's size, nested structs at multiples
 * of 8, the whole rounded up to 8; the generated struct states the same through alignas. */
#ifndef ACRAFT_HOST_TILING_DEF_H
#define ACRAFT_HOST_TILING_DEF_H

#include "acraft/host/ge.h"
#include "host/securec.h" /* which operator code takes for granted after it */

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
    TilingDef(const TilingDef &o) : name_(o.name_), fields_(o.fields_), bytes_(o.bytes_) {} /* shown nowhere */
    TilingDef &operator=(const TilingDef &) { return *this; }
    virtual ~TilingDef() = default;

    void SaveToBuffer(void *data, size_t capacity) const
    {
        if (!data || capacity < GetDataSize()) return;
        if (shown_) {
            if (data != shown_) std::memcpy(data, shown_, GetDataSize());
            return;
        }
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
    /* From here on every value set is seen at `data` at once; SaveToBuffer is not needed. */
    void SetDataPtr(void *data)
    {
        uint8_t *to = static_cast<uint8_t *>(data);
        SaveToBuffer(to, GetDataSize());
        for (const TilingField &f : fields_)
            if (f.nested && to) reinterpret_cast<TilingDef *>(reinterpret_cast<uint8_t *>(this) + f.at)->SetDataPtr(to + f.offset);
        shown_ = to;
    }
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

    /* Where the member lies at the data pointer; NULL: none was given. */
    uint8_t *acraft_shown(const void *member) const
    {
        size_t at = size_t(static_cast<const uint8_t *>(member) - reinterpret_cast<const uint8_t *>(this));
        for (const TilingField &f : fields_)
            if (shown_ && f.at == at && !f.nested) return shown_ + f.offset;
        return nullptr;
    }
    void acraft_show(const void *member, size_t bytes)
    {
        if (uint8_t *to = acraft_shown(member)) std::memcpy(to, member, bytes);
    }

private:
    std::vector<TilingField> fields_;
    size_t bytes_ = 0;
    uint8_t *shown_ = nullptr;
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
    void set_##field_name(data_type field_name)                                                    \
    {                                                                                              \
        field_name##_ = field_name;                                                                \
        acraft_show(&field_name##_, sizeof field_name##_);                                         \
    }                                                                                              \
    data_type get_##field_name() const { return field_name##_; }                                   \
                                                                                                   \
private:                                                                                           \
    data_type field_name##_ = 0;                                                                   \
    ::optiling::TilingAnnounce field_name##_announce_{this, #data_type, #field_name, &field_name##_, sizeof(data_type), 0, nullptr}; \
                                                                                                   \
public:

#define TILING_DATA_FIELD_DEF_ARR(arr_type, arr_size, field_name)                                  \
public:                                                                                            \
    void set_##field_name(const arr_type *field_name) { std::memcpy(get_##field_name(), field_name, sizeof field_name##_); } \
    arr_type *get_##field_name()                                                                   \
    {                                                                                              \
        uint8_t *shown = acraft_shown(field_name##_);                                              \
        return shown ? reinterpret_cast<arr_type *>(shown) : field_name##_;                        \
    }                                                                                              \
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
