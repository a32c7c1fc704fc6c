/* Values as C text. In: a nest. Out: definitions in scopes; see cpu_int.h. */
#include "gen/cpu/cpu_int.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- scopes ---- */

static const char *take(CpuWriter *w, Buf *text)
{
    char *copy = buf_take(text, w->arena);
    buf_free(text);
    return copy;
}

void cpu_open(CpuWriter *w, uint64_t axes, const char *head, ...)
{
    CpuScope *s = &w->scope[w->depth];
    uint32_t around = w->depth ? w->scope[w->depth - 1].indent : 0;
    Buf text = {0};
    va_list args;
    *s = (CpuScope){.axes = axes, .indent = around + 1};
    s->name = arena_array(w->arena, const char *, w->nest->values.len);
    s->offset = arena_array(w->arena, bool, w->nest->values.len);
    va_start(args, head);
    buf_vprintf(&text, head, args);
    va_end(args);
    Str rest = buf_view(&text), line;
    while (text.len && str_next(&rest, '\n', &line)) {
        buf_fill(&s->head, ' ', line.len && line.at[0] == '#' ? 0 : (size_t)around * 4);
        buf_printf(&s->head, "%.*s\n", STR_ARG(line));
    }
    buf_free(&text);
    w->depth++;
}

/* 32 bits are enough for most axes, and vector units have more of them at once. */
const char *cpu_axis_type(const CpuWriter *w, uint32_t axis)
{
    return w->nest->axes.at[axis].size > INT32_MAX / 2 ? "int64_t" : "int";
}

void cpu_open_lanes(CpuWriter *w)
{
    uint32_t axis = w->k->lane;
    if (!axis) {
        cpu_open(w, 0, "{");
    } else {
        cpu_open(w, UINT64_C(1) << axis, "#pragma omp simd\nfor (int v = 0; v < n; v++) {");
        bool turned = w->k->loops.shape == KERNEL_SCAN && w->k->inside && w->k->loops.reverse;
        cpu_line(w, "const %s a%u = b%u %c v;", cpu_axis_type(w, axis), axis, axis,
                 turned ? '-' : '+');
    }
    w->scope[w->depth - 1].lanes = true;
}

void cpu_close(CpuWriter *w)
{
    w->depth--;
    CpuScope *s = &w->scope[w->depth], *around = &w->scope[w->depth - 1];
    buf_str(&around->text, buf_view(&s->head));
    buf_str(&around->text, buf_view(&s->text));
    buf_fill(&around->text, ' ', (size_t)around->indent * 4);
    buf_puts(&around->text, "}\n");
    buf_free(&s->head);
    buf_free(&s->text);
}

static void line_in(CpuWriter *w, uint32_t scope, const char *text)
{
    CpuScope *s = &w->scope[scope];
    buf_fill(&s->text, ' ', (size_t)s->indent * 4);
    buf_printf(&s->text, "%s\n", text);
}

void cpu_line(CpuWriter *w, const char *format, ...)
{
    Buf text = {0};
    va_list args;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    line_in(w, w->depth - 1, text.at);
    buf_free(&text);
}

void cpu_name(CpuWriter *w, uint32_t scope, NestId id, const char *name)
{
    w->scope[scope].name[id] = name;
}

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

const char *cpu_join(PrimReduce reduce)
{
    static const char *const names[] = {[PRIM_SUM] = "sum",
                                        [PRIM_MAX] = "max",
                                        [PRIM_MIN] = "min",
                                        [PRIM_PROD] = "prod",
                                        [PRIM_LOGSUMEXP] = "logsumexp"};
    return names[reduce];
}

static const char *number_text(CpuWriter *w, double x)
{
    Buf out = {0};
    if (isnan(x))
        buf_puts(&out, "NAN");
    else if (isinf(x) || fabs(x) > 3.4028234663852886e38)
        buf_puts(&out, x > 0 ? "INFINITY" : "(-INFINITY)");
    else if (x == trunc(x) && fabs(x) < 1e15)
        buf_printf(&out, signbit(x) ? "(%.1ff)" : "%.1ff", x);
    else {
        buf_puts(&out, signbit(x) ? "(" : "");
        size_t from = out.len;
        buf_printf(&out, "%.9g", x);
        buf_puts(&out, strpbrk(out.at + from, ".e") ? "f" : ".0f");
        buf_puts(&out, signbit(x) ? ")" : "");
    }
    return take(w, &out);
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
    return take(w, &out);
}

void cpu_axes(CpuWriter *w, const char *number, const uint32_t *axes, uint32_t n)
{
    const char *left = number;
    for (uint32_t i = n; i-- > 0;) {
        int64_t size = w->nest->axes.at[axes[i]].size, each = 1;
        const char *type = cpu_axis_type(w, axes[i]);
        bool lane = axes[i] == w->k->lane;
        if (lane)
            each = w->k->lanes;
        int64_t count = (size + each - 1) / each;
        const char *place = i && count > 1
                                ? str_format(w->arena, "%s %% %lld", left, (long long)count)
                            : i ? "0"
                                : left;
        if (lane && each > 1)
            cpu_line(w, "const %s b%u = (%s)(%s) * %lld;", type, axes[i], type, place,
                     (long long)each);
        else
            cpu_line(w, "const %s %c%u = (%s)(%s);", type, lane ? 'b' : 'a', axes[i], type, place);
        if (lane && size % each)
            cpu_line(w, "const int n = b%u + %lld <= %lld ? %lld : %lld;", axes[i], (long long)each,
                     (long long)size, (long long)each, (long long)(size % each));
        else if (lane)
            cpu_line(w, "enum { n = %lld };", (long long)each);
        if (i && count > 1) {
            const char *next = str_format(w->arena, "%s_%u", number, i);
            cpu_line(w, "const int64_t %s = %s / %lld;", next, left, (long long)count);
            left = next;
        }
    }
}

/* ---- values ---- */

/* The deepest open scope whose axes the value varies along. */
static uint32_t scope_of(const CpuWriter *w, uint64_t axes)
{
    for (uint32_t i = w->depth; i-- > 1;)
        if (w->scope[i].axes & axes)
            return i;
    return 0;
}

const char *cpu_base(CpuWriter *w, uint32_t tensor, const Affine *index)
{
    return cpu_affine(w, index, w->nest->tensors.at[tensor].count > INT32_MAX, true);
}

const char *cpu_index(CpuWriter *w, NestId id, uint32_t store, uint32_t tensor, const Affine *index)
{
    int64_t by = w->k->lane ? affine_by(index, w->k->lane) : 0;
    bool lanes = w->scope[w->depth - 1].lanes && w->k->lane;
    uint64_t axes = 0;
    uint32_t at = w->depth - 1;
    if (!lanes)
        return cpu_affine(w, index, w->nest->tensors.at[tensor].count > INT32_MAX, false);
    for (uint32_t i = 0; i < index->n; i++)
        axes |= UINT64_C(1) << index->term[i].axis;
    while (at && (w->scope[at].lanes || !(w->scope[at].axes & axes)))
        at--;
    const char *name = str_format(w->arena, "%c%u", id ? 'i' : 'o', id ? id : store);
    if (!id || !w->scope[at].offset[id])
        line_in(w, at,
                str_format(w->arena, "const int64_t %s = %s;", name, cpu_base(w, tensor, index)));
    if (id)
        w->scope[at].offset[id] = true;
    if (w->k->loops.shape == KERNEL_SCAN && w->k->inside && w->k->loops.reverse)
        by = -by;
    return by == 0               ? name
           : by == 1 || by == -1 ? str_format(w->arena, "%s %c v", name, by < 0 ? '-' : '+')
                                 : str_format(w->arena, "%s + v * %s%lld%s", name,
                                              by < 0 ? "(" : "", (long long)by, by < 0 ? ")" : "");
}

/* Craft text with names in the place of $0, $1, $2: functions are called op_NAME, dtypes as_NAME. */
static const char *form_text(CpuWriter *w, const char *form, const char *const *args)
{
    Buf out = {0};
    for (const char *p = form; *p;) {
        if (*p == '$') {
            buf_puts(&out, args[p[1] - '0']);
            p += 2;
        } else if (isalpha((unsigned char)*p)) {
            size_t n = 0;
            while (isalnum((unsigned char)p[n]) || p[n] == '_')
                n++;
            buf_printf(&out, "%s%.*s", p[n] == '(' ? "op_" : "as_", (int)n, p);
            p += n;
        } else if (*p == '"') {
            size_t n = strcspn(p + 1, "\"");
            buf_printf(&out, "as_%.*s", (int)n, p + 1);
            p += n + 2;
        } else if (isdigit((unsigned char)*p)) {
            char *end;
            strtod(p, &end);
            buf_add(&out, p, (size_t)(end - p));
            bool whole = !memchr(p, '.', (size_t)(end - p)) && !memchr(p, 'e', (size_t)(end - p));
            buf_puts(&out, whole ? ".0f" : "f");
            p = end;
        } else {
            buf_char(&out, *p++);
        }
    }
    return take(w, &out);
}

static const char *element_text(CpuWriter *w, uint32_t tensor, const char *at)
{
    switch (w->nest->tensors.at[tensor].dtype) {
    case DT_F32: return str_format(w->arena, "t%u[%s]", tensor, at);
    case DT_F16: return str_format(w->arena, "f16_float(t%u[%s])", tensor, at);
    case DT_BF16: return str_format(w->arena, "bf16_float(t%u[%s])", tensor, at);
    default: return str_format(w->arena, "(float)t%u[%s]", tensor, at);
    }
}

const char *cpu_store_text(CpuWriter *w, DType dtype, const char *value)
{
    switch (dtype) {
    case DT_F32: return value;
    case DT_F16: return str_format(w->arena, "float_f16(%s)", value);
    case DT_BF16: return str_format(w->arena, "float_bf16(%s)", value);
    case DT_BOOL: return str_format(w->arena, "(%s) != 0", value);
    default: return str_format(w->arena, "(%s)(%s)", cpu_type(dtype), value);
    }
}

static const char *load_text(CpuWriter *w, NestId id)
{
    const NestValue *v = &w->nest->values.at[id];
    const char *text = element_text(w, v->tensor, cpu_index(w, id, 0, v->tensor, &v->index));
    return v->n_arg ? str_format(w->arena, "%s ? %s : 0.0f", cpu_value(w, v->arg[0]), text) : text;
}

/* A whole number: as it is in memory where it is read. */
static const char *place_text(CpuWriter *w, NestId id)
{
    const NestValue *v = &w->nest->values.at[id];
    DType dtype = v->op == NEST_LOAD ? w->nest->tensors.at[v->tensor].dtype : DT_F32;
    if (v->op == NEST_LOAD && !v->n_arg && dtype_is_int(dtype))
        return str_format(w->arena, "(int64_t)t%u[%s]", v->tensor,
                          cpu_index(w, id, 0, v->tensor, &v->index));
    return str_format(w->arena, "(int64_t)%s", cpu_value(w, id));
}

static const char *pick_text(CpuWriter *w, NestId id)
{
    const NestValue *v = &w->nest->values.at[id];
    const char *place = place_text(w, v->arg[0]);
    const char *mask = v->n_arg > 1 ? cpu_value(w, v->arg[1]) : NULL;
    const char *at = str_format(w->arena, "%s + %s * %lld",
                                cpu_index(w, id, 0, v->tensor, &v->index), place, (long long)v->by);
    const char *text = element_text(w, v->tensor, at);
    return mask ? str_format(w->arena, "%s ? %s : 0.0f", mask, text) : text;
}

static const char *inside_text(CpuWriter *w, const NestValue *v)
{
    bool wide = v->bound > INT32_MAX / 2;
    for (uint32_t i = 0; i < v->index.n; i++)
        wide = wide || w->nest->axes.at[v->index.term[i].axis].size > INT32_MAX / 2;
    return str_format(w->arena, wide ? "(uint64_t)(%s) < %lldu" : "(unsigned)(%s) < %lldu",
                      cpu_affine(w, &v->index, false, false), (long long)v->bound);
}

static const char *text_of(CpuWriter *w, NestId id)
{
    const NestValue *v = &w->nest->values.at[id];
    const char *args[NEST_ARGS] = {0};
    switch (v->op) {
    case NEST_LOAD: return load_text(w, id);
    case NEST_PLACE: return str_format(w->arena, "(float)a%u", (uint32_t)__builtin_ctzll(v->axes));
    case NEST_MAP:
        for (uint32_t i = 0; i < v->n_arg; i++)
            args[i] = cpu_value(w, v->arg[i]);
        return form_text(w, v->form, args);
    case NEST_INSIDE: return inside_text(w, v);
    case NEST_PICK: return pick_text(w, id);
    default: return "0.0f";
    }
}

/* A reduction inside the scope that its result belongs to. Along lanes it is an array, and its loops stand
 * around vector loops; else a number. */
static const char *write_reduce(CpuWriter *w, uint32_t scope, NestId id, bool array)
{
    const NestValue *v = &w->nest->values.at[id];
    const char *join = cpu_join(v->reduce);
    uint32_t depth = w->depth, loops = 0;
    CpuScope above[CPU_SCOPES];
    memcpy(above, w->scope, sizeof above);
    w->depth = scope + 1;
    const char *name = str_format(w->arena, array ? "r%u[v]" : "v%u", id);
    if (array) {
        cpu_line(w, "float r%u[%lld];", id, (long long)w->k->lanes);
        cpu_line(w, "for (int v = 0; v < n; v++)");
        cpu_line(w, "    r%u[v] = none_%s;", id, join);
    } else {
        cpu_line(w, "float v%u = none_%s;", id, join);
    }
    for (uint32_t i = 1; i < w->nest->axes.len; i++)
        if (v->over >> i & 1) {
            cpu_open(w, UINT64_C(1) << i, "for (%s a%u = 0; a%u < %lld; a%u++) {",
                     cpu_axis_type(w, i), i, i, (long long)w->nest->axes.at[i].size, i);
            loops++;
        }
    if (array)
        cpu_open_lanes(w);
    const char *x = cpu_value(w, v->arg[0]);
    cpu_line(w, "%s = join_%s(%s, %s);", name, join, name, x);
    for (loops += array; loops; loops--)
        cpu_close(w);
    for (uint32_t i = scope + 1; i < depth; i++)
        w->scope[i] = above[i];
    w->depth = depth;
    return name;
}

const char *cpu_value(CpuWriter *w, NestId id)
{
    const NestValue *v = &w->nest->values.at[id];
    if (v->op == NEST_NUMBER)
        return number_text(w, v->number);
    if (v->op == NEST_COUNT)
        return number_text(w, (double)kernel_count(w->nest, v->over));
    uint32_t at = scope_of(w, v->axes);
    bool array = w->scope[at].lanes && (v->op == NEST_REDUCE || v->op == NEST_SCAN);
    at -= array;
    if (w->scope[at].name[id])
        return w->scope[at].name[id];
    const char *name = str_format(w->arena, "v%u", id);
    bool kept = w->k->kept[id] && w->scope[at].lanes;
    if (v->op == NEST_REDUCE) {
        name = write_reduce(w, at, id, array);
    } else if (kept && w->held[id]) {
        name = str_format(w->arena, "k%u[i + v]", id);
    } else {
        const char *text = text_of(w, id);
        line_in(w, at,
                str_format(w->arena, "const %s %s = %s;", v->mask ? "int" : "float", name, text));
        if (kept)
            line_in(w, at, str_format(w->arena, "k%u[i + v] = %s;", id, name));
    }
    w->held[id] = w->held[id] || kept;
    w->scope[at].name[id] = name;
    return name;
}
