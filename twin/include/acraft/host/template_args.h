/* The host's side of ASCENDC_TPL_*: what a kernel's template parameters may be, packed into tiling keys and
 * unpacked again. A parameter of unsigned numbers is stored as its place in the declared list, every other
 * as its value, the first parameter lowest (asc-devkit, Utils-API, pages on tiling templates). */
#ifndef ACRAFT_HOST_TEMPLATE_ARGS_H
#define ACRAFT_HOST_TEMPLATE_ARGS_H

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace acraft {

enum TplKind { TPL_DTYPE, TPL_TYPE, TPL_FORMAT, TPL_UINT, TPL_BOOL, TPL_KERNEL, TPL_KERNEL_OF_ROW, TPL_STRUCT, TPL_DETERMINISTIC };

/* The numbers after UI_LIST, UI_RANGE (count, then from and to each) or UI_MIX (ranges, then a list). */
inline std::vector<uint64_t> tpl_numbers(const std::vector<uint64_t> &given)
{
    std::vector<uint64_t> all;
    size_t at = 1, ranges = given.size() > 1 && given[0] != 1 ? size_t(given[1]) : 0;
    if (!given.empty() && given[0] != 1) at = 2;
    for (size_t i = 0; i < ranges && at + 1 < given.size(); i++, at += 2)
        for (uint64_t n = given[at]; n <= given[at + 1] && all.size() < 4096; n++) all.push_back(n);
    if (!given.empty() && given[0] == 0) return all;
    for (; at < given.size(); at++) all.push_back(given[at]);
    return all;
}

struct TplParam {
    std::string name;
    TplKind kind;
    unsigned bits;
    std::vector<uint64_t> values;

    TplParam(const char *name_, TplKind kind_, unsigned bits_, std::vector<uint64_t> given)
        : name(name_), kind(kind_), bits(bits_), values(kind_ == TPL_UINT ? tpl_numbers(given) : std::move(given))
    {
    }
    bool has(uint64_t value) const
    {
        for (uint64_t v : values)
            if (v == value || v >= 100000000u) return true; /* ASCENDC_TPL_INPUT: whatever that tensor has */
        return false;
    }
};

/* One ASCENDC_TPL_ARGS_SEL: a combination that is compiled. */
struct TplRow {
    std::vector<TplParam> params;
    TplRow(std::initializer_list<TplParam> list) : params(list) {}

    const TplParam *find(const std::string &name) const
    {
        for (const TplParam &p : params)
            if (p.name == name && p.kind < TPL_KERNEL_OF_ROW) return &p;
        return nullptr;
    }
    const TplParam *find(TplKind kind) const
    {
        for (const TplParam &p : params)
            if (p.kind == kind) return &p;
        return nullptr;
    }
};

struct TplOperator {
    std::string op;
    std::vector<TplParam> params;
    std::vector<TplRow> rows;
};

inline std::vector<TplOperator> &tpl_operators()
{
    static std::vector<TplOperator> all;
    return all;
}

inline TplOperator *tpl_find(const std::string &op)
{
    for (TplOperator &o : tpl_operators())
        if (o.op == op) return &o;
    return nullptr;
}

/* Why the last key could not be made; empty: it could. */
inline std::string &tpl_error()
{
    static std::string why;
    return why;
}

/* Every file that includes the header declares again: the first counts. */
struct TplDeclare {
    std::string op;
    std::vector<TplParam> params;

    TplDeclare(const char *op_, std::initializer_list<TplParam> list) : op(op_), params(list)
    {
        if (!tpl_find(op)) tpl_operators().push_back({op, params, {}});
    }

    template <typename... Args> uint64_t key(const Args &...args) const
    {
        const uint64_t given[] = {uint64_t(args)..., 0};
        uint64_t packed = 0;
        unsigned at = 0;
        for (size_t i = 0; i < params.size() && i < sizeof...(args); i++) {
            uint64_t value = given[i];
            if (params[i].kind == TPL_UINT) value = place(params[i], value);
            if (at < 64) packed |= value << at;
            at += params[i].bits;
        }
        if (at > 64) tpl_error() = "template arguments of " + std::to_string(at) + " bits do not fit in a tiling key of 64";
        return packed;
    }

private:
    static uint64_t place(const TplParam &p, uint64_t value)
    {
        for (size_t i = 0; i < p.values.size(); i++)
            if (p.values[i] == value) return i;
        tpl_error() = "template argument " + p.name + " = " + std::to_string(value) + " is not in its ASCENDC_TPL_UINT_DECL";
        return 0;
    }
};

struct TplSelect {
    TplSelect(const TplDeclare &of, std::initializer_list<TplRow> rows)
    {
        TplOperator *o = tpl_find(of.op);
        if (o && o->rows.empty()) o->rows = rows;
    }
};

/* What a key says: the arguments as C++ writes them, the row that is compiled for them. */
struct TplChoice {
    std::string args, tiling_struct, error;
    int kernel_type = -1;
};

inline const char *tpl_type_name(uint64_t dtype)
{
    switch (dtype) {
    case 0: return "float";
    case 1: return "half";
    case 2: return "int8_t";
    case 3: return "int32_t";
    case 4: return "uint8_t";
    case 6: return "int16_t";
    case 7: return "uint16_t";
    case 8: return "uint32_t";
    case 9: return "int64_t";
    case 10: return "uint64_t";
    case 11: return "double";
    case 12: return "bool";
    case 27: return "bfloat16_t";
    case 29: return "AscendC::int4b_t";
    default: return "void";
    }
}

inline uint64_t tpl_unpack(const TplParam &p, uint64_t key, unsigned at)
{
    uint64_t value = at < 64 ? key >> at : 0;
    if (p.bits < 64) value &= (uint64_t(1) << p.bits) - 1;
    return p.kind == TPL_UINT && value < p.values.size() ? p.values[size_t(value)] : value;
}

inline TplChoice tpl_choose(const std::string &op, uint64_t key)
{
    TplChoice choice;
    const TplOperator *o = tpl_find(op);
    if (!o && tpl_operators().size() == 1) o = &tpl_operators()[0];
    if (!o) return choice;
    std::vector<uint64_t> values;
    std::string said;
    unsigned at = 0;
    for (const TplParam &p : o->params) {
        values.push_back(tpl_unpack(p, key, at));
        at += p.bits;
        choice.args += (values.size() > 1 ? ", " : "") +
                       (p.kind == TPL_TYPE ? std::string(tpl_type_name(values.back())) : std::to_string(values.back()));
        said += (values.size() > 1 ? ", " : "") + p.name + " = " + std::to_string(values.back());
        if (p.kind == TPL_KERNEL) choice.kernel_type = int(values.back());
    }
    for (const TplRow &row : o->rows) {
        bool fits = true;
        for (size_t i = 0; i < values.size(); i++) {
            const TplParam *p = row.find(o->params[i].name);
            fits = fits && (!p || p->has(values[i]));
        }
        if (!fits) continue;
        const TplParam *type = row.find(TPL_KERNEL_OF_ROW), *tiling = row.find(TPL_STRUCT);
        if (type && !type->values.empty()) choice.kernel_type = int(type->values[0]);
        if (tiling) choice.tiling_struct = tiling->name;
        return choice;
    }
    if (!o->rows.empty()) choice.error = "no ASCENDC_TPL_ARGS_SEL holds " + said + ": no kernel is compiled for it";
    return choice;
}

}  // namespace acraft

#define ASCENDC_TPL_DTYPE_DECL(name, ...) ::acraft::TplParam{#name, ::acraft::TPL_DTYPE, 8, {__VA_ARGS__}}
#define ASCENDC_TPL_DATATYPE_DECL(name, ...) ::acraft::TplParam{#name, ::acraft::TPL_TYPE, 8, {__VA_ARGS__}}
#define ASCENDC_TPL_FORMAT_DECL(name, ...) ::acraft::TplParam{#name, ::acraft::TPL_FORMAT, 8, {__VA_ARGS__}}
#define ASCENDC_TPL_UINT_DECL(name, bits, ...) ::acraft::TplParam{#name, ::acraft::TPL_UINT, bits, {__VA_ARGS__}}
#define ASCENDC_TPL_BOOL_DECL(name, ...) ::acraft::TplParam{#name, ::acraft::TPL_BOOL, 1, {__VA_ARGS__}}
#define ASCENDC_TPL_KERNEL_TYPE_DECL(name, ...) ::acraft::TplParam{#name, ::acraft::TPL_KERNEL, 8, {__VA_ARGS__}}
#define ASCENDC_TPL_ARGS_DECL(op, ...) static ::acraft::TplDeclare g_tilingDeclareParams{#op, {__VA_ARGS__}}

#define ASCENDC_TPL_DTYPE_SEL(name, ...) ASCENDC_TPL_DTYPE_DECL(name, __VA_ARGS__)
#define ASCENDC_TPL_DATATYPE_SEL(name, ...) ASCENDC_TPL_DATATYPE_DECL(name, __VA_ARGS__)
#define ASCENDC_TPL_FORMAT_SEL(name, ...) ASCENDC_TPL_FORMAT_DECL(name, __VA_ARGS__)
#define ASCENDC_TPL_UINT_SEL(name, ...) ASCENDC_TPL_UINT_DECL(name, 0, __VA_ARGS__)
#define ASCENDC_TPL_BOOL_SEL(name, ...) ASCENDC_TPL_BOOL_DECL(name, __VA_ARGS__)
#define ASCENDC_TPL_SHARED_KERNEL_TYPE_SEL(name, ...) ASCENDC_TPL_KERNEL_TYPE_DECL(name, __VA_ARGS__)
#define ASCENDC_TPL_KERNEL_TYPE_SEL(...) ::acraft::TplParam{"", ::acraft::TPL_KERNEL_OF_ROW, 0, {__VA_ARGS__}}
#define ASCENDC_TPL_DETERMINISTIC_SEL(...) ::acraft::TplParam{"", ::acraft::TPL_DETERMINISTIC, 0, {__VA_ARGS__}}
#define ASCENDC_TPL_TILING_STRUCT_SEL(...) ::acraft::TplParam{#__VA_ARGS__, ::acraft::TPL_STRUCT, 0, {}}
#define ASCENDC_TPL_ARGS_SEL(...) ::acraft::TplRow{__VA_ARGS__}
#define ASCENDC_TPL_SEL(...) static ::acraft::TplSelect g_tilingSelectParams{g_tilingDeclareParams, {__VA_ARGS__}}

#define GET_TPL_TILING_KEY(...) g_tilingDeclareParams.key(__VA_ARGS__)
#define ASCENDC_TPL_SEL_PARAM(context, ...) (context)->SetTilingKey(GET_TPL_TILING_KEY(__VA_ARGS__))

#endif
