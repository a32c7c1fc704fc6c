/* Values as C text. In: a nest. Out: definitions in scopes; see cpu_int.h. */
#include "gen/cpu/cpu_int.h"

#include <stdlib.h>
#include <string.h>

/* 32 bits are enough for most axes, and vector units have more of them at once. */
const char *cpu_axis_type(const CpuWriter *w, uint32_t axis)
{
    return w->text.nest->axes.at[axis].size > INT32_MAX / 2 ? "int64_t" : "int";
}

void cpu_open_lanes(CpuWriter *w)
{
    uint32_t axis = w->k->lane;
    if (!axis) {
        kernel_open(&w->text, 0, "{");
    } else {
        kernel_open(&w->text, UINT64_C(1) << axis,
                    "#pragma omp simd\nfor (int v = 0; v < n; v++) {");
        bool turned = w->k->loops.shape == KERNEL_SCAN && w->k->inside && w->k->loops.reverse;
        kernel_line(&w->text, "const %s a%u = b%u %c v;", cpu_axis_type(w, axis), axis, axis,
                    turned ? '-' : '+');
    }
    w->text.scope[w->text.depth - 1].lanes = true;
}

const KernelLanguage cpu_language = {.nan = "NAN",
                                     .infinity = "INFINITY",
                                     .minus_infinity = "(-INFINITY)",
                                     .suffix = "f",
                                     .type_end = "",
                                     .close = "}"};

/* ---- pieces ---- */

const char *cpu_type(DType dtype)
{
    switch (dtype) {
    case DT_F32: return "float";
    case DT_F16: return "uint16_t";
    case DT_BF16: return "uint16_t";
    case DT_I8: return "int8_t";
    case DT_U8: return "uint8_t";
    case DT_I16: return "int16_t";
    case DT_I32: return "int32_t";
    case DT_I64: return "int64_t";
    case DT_BOOL: return "uint8_t";
    default: return NULL;
    }
}

const char *cpu_affine(CpuWriter *w, const Affine *index, bool wide, bool base)
{
    Buf out = {0};
    for (uint32_t i = 0; i < index->n; i++) {
        AffineTerm t = index->term[i];
        bool negative = t.by < 0 && i;
        int64_t by = negative ? -t.by : t.by;
        buf_printf(&out, "%s%s%c%u", i ? (negative ? " - " : " + ") : "", wide ? "(int64_t)" : "",
                   base && t.axis == w->k->lane ? 'b' : 'a', t.axis);
        if (by != 1)
            buf_printf(&out, by < 0 ? " * (%lld)" : " * %lld", (long long)by);
    }
    if (index->at || !index->n)
        buf_printf(&out, "%s%lld",
                   !index->n       ? ""
                   : index->at < 0 ? " - "
                                   : " + ",
                   (long long)(index->n && index->at < 0 ? -index->at : index->at));
    return kernel_take(w->text.arena, &out);
}

void cpu_axes(CpuWriter *w, const char *number, const uint32_t *axes, uint32_t n)
{
    const char *left = number;
    for (uint32_t i = n; i-- > 0;) {
        int64_t size = w->text.nest->axes.at[axes[i]].size, each = 1;
        const char *type = cpu_axis_type(w, axes[i]);
        bool lane = axes[i] == w->k->lane;
        if (lane)
            each = w->k->lanes;
        int64_t count = (size + each - 1) / each;
        const char *place = i && count > 1
                                ? str_format(w->text.arena, "%s %% %lld", left, (long long)count)
                            : i ? "0"
                                : left;
        if (lane && each > 1)
            kernel_line(&w->text, "const %s b%u = (%s)(%s) * %lld;", type, axes[i], type, place,
                        (long long)each);
        else
            kernel_line(&w->text, "const %s %c%u = (%s)(%s);", type, lane ? 'b' : 'a', axes[i],
                        type, place);
        if (lane && size % each)
            kernel_line(&w->text, "const int n = b%u + %lld <= %lld ? %lld : %lld;", axes[i],
                        (long long)each, (long long)size, (long long)each,
                        (long long)(size % each));
        else if (lane)
            kernel_line(&w->text, "enum { n = %lld };", (long long)each);
        if (i && count > 1) {
            const char *next = str_format(w->text.arena, "%s_%u", number, i);
            kernel_line(&w->text, "const int64_t %s = %s / %lld;", next, left, (long long)count);
            left = next;
        }
    }
}

/* ---- values ---- */

const char *cpu_base(CpuWriter *w, uint32_t tensor, const Affine *index)
{
    return cpu_affine(w, index, w->text.nest->tensors.at[tensor].count > INT32_MAX, true);
}

const char *cpu_index(CpuWriter *w, NestId id, uint32_t store, uint32_t tensor, const Affine *index)
{
    int64_t by = w->k->lane ? affine_by(index, w->k->lane) : 0;
    bool lanes = w->text.scope[w->text.depth - 1].lanes && w->k->lane;
    uint64_t axes = 0;
    uint32_t at = w->text.depth - 1;
    if (!lanes)
        return cpu_affine(w, index, w->text.nest->tensors.at[tensor].count > INT32_MAX, false);
    for (uint32_t i = 0; i < index->n; i++)
        axes |= UINT64_C(1) << index->term[i].axis;
    while (at && (w->text.scope[at].lanes || !(w->text.scope[at].axes & axes)))
        at--;
    const char *name = str_format(w->text.arena, "%c%u", id ? 'i' : 'o', id ? id : store);
    if (!id || !w->text.scope[at].offset[id])
        kernel_line_in(
            &w->text, at,
            str_format(w->text.arena, "const int64_t %s = %s;", name, cpu_base(w, tensor, index)));
    if (id)
        w->text.scope[at].offset[id] = true;
    if (w->k->loops.shape == KERNEL_SCAN && w->k->inside && w->k->loops.reverse)
        by = -by;
    return by == 0               ? name
           : by == 1 || by == -1 ? str_format(w->text.arena, "%s %c v", name, by < 0 ? '-' : '+')
                                 : str_format(w->text.arena, "%s + v * %s%lld%s", name,
                                              by < 0 ? "(" : "", (long long)by, by < 0 ? ")" : "");
}

static const char *element_text(CpuWriter *w, uint32_t tensor, const char *at)
{
    switch (w->text.nest->tensors.at[tensor].dtype) {
    case DT_F32: return str_format(w->text.arena, "t%u[%s]", tensor, at);
    case DT_F16: return str_format(w->text.arena, "f16_float(t%u[%s])", tensor, at);
    case DT_BF16: return str_format(w->text.arena, "bf16_float(t%u[%s])", tensor, at);
    default: return str_format(w->text.arena, "(float)t%u[%s]", tensor, at);
    }
}

const char *cpu_store_text(CpuWriter *w, DType dtype, const char *value)
{
    switch (dtype) {
    case DT_F32: return value;
    case DT_F16: return str_format(w->text.arena, "float_f16(%s)", value);
    case DT_BF16: return str_format(w->text.arena, "float_bf16(%s)", value);
    case DT_BOOL: return str_format(w->text.arena, "(%s) != 0", value);
    default: return str_format(w->text.arena, "(%s)(%s)", cpu_type(dtype), value);
    }
}

static const char *load_text(CpuWriter *w, NestId id)
{
    const NestValue *v = &w->text.nest->values.at[id];
    const char *text = element_text(w, v->tensor, cpu_index(w, id, 0, v->tensor, &v->index));
    return v->n_arg ? str_format(w->text.arena, "%s ? %s : 0.0f", cpu_value(w, v->arg[0]), text)
                    : text;
}

/* A whole number: as it is in memory where it is read. */
static const char *place_text(CpuWriter *w, NestId id)
{
    const NestValue *v = &w->text.nest->values.at[id];
    DType dtype = v->op == NEST_LOAD ? w->text.nest->tensors.at[v->tensor].dtype : DT_F32;
    if (v->op == NEST_LOAD && !v->n_arg && dtype_is_int(dtype))
        return str_format(w->text.arena, "(int64_t)t%u[%s]", v->tensor,
                          cpu_index(w, id, 0, v->tensor, &v->index));
    return str_format(w->text.arena, "(int64_t)%s", cpu_value(w, id));
}

static const char *pick_text(CpuWriter *w, NestId id)
{
    const NestValue *v = &w->text.nest->values.at[id];
    const char *place = place_text(w, v->arg[0]);
    const char *mask = v->n_arg > 1 ? cpu_value(w, v->arg[1]) : NULL;
    const char *at = str_format(w->text.arena, "%s + %s * %lld",
                                cpu_index(w, id, 0, v->tensor, &v->index), place, (long long)v->by);
    const char *text = element_text(w, v->tensor, at);
    return mask ? str_format(w->text.arena, "%s ? %s : 0.0f", mask, text) : text;
}

static const char *inside_text(CpuWriter *w, const NestValue *v)
{
    bool wide = v->bound > INT32_MAX / 2;
    for (uint32_t i = 0; i < v->index.n; i++)
        wide = wide || w->text.nest->axes.at[v->index.term[i].axis].size > INT32_MAX / 2;
    return str_format(w->text.arena, wide ? "(uint64_t)(%s) < %lldu" : "(unsigned)(%s) < %lldu",
                      cpu_affine(w, &v->index, false, false), (long long)v->bound);
}

static const char *text_of(CpuWriter *w, NestId id)
{
    const NestValue *v = &w->text.nest->values.at[id];
    const char *args[NEST_ARGS] = {0};
    switch (v->op) {
    case NEST_LOAD: return load_text(w, id);
    case NEST_PLACE:
        return str_format(w->text.arena, "(float)a%u", (uint32_t)__builtin_ctzll(v->axes));
    case NEST_MAP:
        for (uint32_t i = 0; i < v->n_arg; i++)
            args[i] = cpu_value(w, v->arg[i]);
        return kernel_form(&w->text, v->form, args);
    case NEST_INSIDE: return inside_text(w, v);
    case NEST_PICK: return pick_text(w, id);
    default: return "0.0f";
    }
}

/* A reduction inside the scope that its result belongs to. Along lanes it is an array, and its loops stand
 * around vector loops; else a number. */
static const char *write_reduce(CpuWriter *w, uint32_t scope, NestId id, bool array)
{
    const NestValue *v = &w->text.nest->values.at[id];
    const char *join = kernel_join(v->reduce);
    uint32_t depth = w->text.depth, loops = 0;
    KernelScope above[KERNEL_SCOPES];
    memcpy(above, w->text.scope, sizeof above);
    w->text.depth = scope + 1;
    const char *name = str_format(w->text.arena, array ? "r%u[v]" : "v%u", id);
    if (array) {
        kernel_line(&w->text, "float r%u[%lld];", id, (long long)w->k->lanes);
        kernel_line(&w->text, "for (int v = 0; v < n; v++)");
        kernel_line(&w->text, "    r%u[v] = none_%s;", id, join);
    } else {
        kernel_line(&w->text, "float v%u = none_%s;", id, join);
    }
    for (uint32_t i = 1; i < w->text.nest->axes.len; i++)
        if (v->over >> i & 1) {
            kernel_open(&w->text, UINT64_C(1) << i, "for (%s a%u = 0; a%u < %lld; a%u++) {",
                        cpu_axis_type(w, i), i, i, (long long)w->text.nest->axes.at[i].size, i);
            loops++;
        }
    if (array)
        cpu_open_lanes(w);
    const char *x = cpu_value(w, v->arg[0]);
    kernel_line(&w->text, "%s = join_%s(%s, %s);", name, join, name, x);
    for (loops += array; loops; loops--)
        kernel_close(&w->text);
    for (uint32_t i = scope + 1; i < depth; i++)
        w->text.scope[i] = above[i];
    w->text.depth = depth;
    return name;
}

const char *cpu_value(CpuWriter *w, NestId id)
{
    const NestValue *v = &w->text.nest->values.at[id];
    if (v->op == NEST_NUMBER)
        return kernel_number(&w->text, v->number);
    if (v->op == NEST_COUNT)
        return kernel_number(&w->text, (double)kernel_count(w->text.nest, v->over));
    uint32_t at = kernel_scope_of(&w->text, v->axes);
    bool array = w->text.scope[at].lanes && (v->op == NEST_REDUCE || v->op == NEST_SCAN);
    at -= array;
    while (array && at &&
           !(w->text.scope[at].axes & v->axes)) /* not in a loop that it does not vary along */
        at--;
    if (w->text.scope[at].name[id])
        return w->text.scope[at].name[id];
    const char *name = str_format(w->text.arena, "v%u", id);
    bool kept = w->k->kept[id] && w->text.scope[at].lanes;
    if (v->op == NEST_REDUCE) {
        name = write_reduce(w, at, id, array);
    } else if (kept && w->held[id]) {
        name = str_format(w->text.arena, "k%u[i + v]", id);
    } else {
        const char *text = text_of(w, id);
        kernel_line_in(
            &w->text, at,
            str_format(w->text.arena, "const %s %s = %s;", v->mask ? "int" : "float", name, text));
        if (kept)
            kernel_line_in(&w->text, at, str_format(w->text.arena, "k%u[i + v] = %s;", id, name));
    }
    w->held[id] = w->held[id] || kept;
    w->text.scope[at].name[id] = name;
    return name;
}
