/* Values as CUDA text. In: a nest. Out: definitions in scopes; see write_int.h. */
#include "gen/cuda/write_int.h"

#include <stdlib.h>
#include <string.h>

const KernelLanguage cuda_language = {.nan = "__int_as_float(0x7fc00000)",
                                      .infinity = "__builtin_huge_valf()",
                                      .minus_infinity = "(-__builtin_huge_valf())",
                                      .suffix = "f",
                                      .type_end = "{}",
                                      .close = "}"};

/* ---- pieces ---- */

const char *cuda_type(DType dtype)
{
    switch (dtype) {
    case DT_F32: return "float";
    case DT_F16: return "__half";
    case DT_BF16: return "__nv_bfloat16";
    case DT_I8: return "int8_t";
    case DT_U8: return "uint8_t";
    case DT_I16: return "int16_t";
    case DT_I32: return "int32_t";
    case DT_I64: return "int64_t";
    case DT_BOOL: return "bool";
    default: return NULL;
    }
}

const char *cuda_join(PrimReduce reduce)
{
    static const char *const names[] = {[PRIM_SUM] = "Sum",
                                        [PRIM_MAX] = "Max",
                                        [PRIM_MIN] = "Min",
                                        [PRIM_PROD] = "Prod",
                                        [PRIM_LOGSUMEXP] = "Logsumexp"};
    return names[reduce];
}

static char letter_of(const Writer *w, uint32_t axis, IndexAt at)
{
    return at >= AT_PACK && axis == w->vector_axis   ? 'b'
           : at == AT_THREAD && axis == w->tall_axis ? 'c'
                                                     : 'a';
}

const char *cuda_index(Writer *w, uint32_t tensor, const Affine *index, IndexAt at)
{
    Buf out = {0};
    bool wide = w->text.nest->tensors.at[tensor].count > INT32_MAX;
    for (uint32_t i = 0; i < index->n; i++) {
        AffineTerm t = index->term[i];
        bool negative = t.by < 0 && i;
        buf_puts(&out, i ? (negative ? " - " : " + ") : "");
        buf_printf(&out, "%s%c%u", wide && llabs(t.by) == 1 ? "(int64_t)" : "",
                   letter_of(w, t.axis, at), t.axis);
        int64_t by = negative ? -t.by : t.by;
        if (by != 1)
            buf_printf(&out, " * %s%lld%s", by < 0 ? "(" : "", (long long)by,
                       by < 0 ? ")" : (wide ? "ll" : ""));
    }
    if (index->at || !index->n)
        buf_printf(&out, "%s%lld",
                   !index->n       ? ""
                   : index->at < 0 ? " - "
                                   : " + ",
                   (long long)(index->n && index->at < 0 ? -index->at : index->at));
    return kernel_take(w->text.arena, &out);
}

void cuda_axes(Writer *w, const char *number, bool wide, const uint32_t *axes, uint32_t n,
               uint32_t per, uint32_t tall)
{
    const char *type = wide ? "int64_t" : "int";
    const char *left = number;
    for (uint32_t i = n; i-- > 0;) {
        int64_t size = w->text.nest->axes.at[axes[i]].size;
        uint32_t each = i + 1 == n ? per : i + 2 == n ? tall : 1;
        char letter = each == 1 ? 'a' : i + 1 == n ? 'b' : 'c';
        const char *kind = size > INT32_MAX ? "int64_t" : "int";
        Buf out = {0};
        size = (size + each - 1) / each;
        buf_printf(&out, "const %s %c%u = (%s)", kind, letter, axes[i], kind);
        if (i)
            buf_printf(&out, "(%s %% %lld)", left, (long long)size);
        else
            buf_printf(&out, "%s", left);
        if (each > 1)
            buf_printf(&out, " * %u", each);
        buf_char(&out, ';');
        kernel_line(&w->text, "%s", out.at);
        buf_free(&out);
        if (i) {
            const char *next = str_format(w->text.arena, "%s_%u", number, i);
            kernel_line(&w->text, "const %s %s = %s / %lld;", type, next, left, (long long)size);
            left = next;
        }
    }
}

/* ---- values ---- */

bool cuda_packs(const Writer *w, const NestValue *v)
{
    int64_t n = w->k->vector;
    if (v->op != NEST_LOAD || v->n_arg || !w->vector_axis || n == 1 ||
        affine_by(&v->index, w->vector_axis) != 1 || v->index.at % n)
        return false;
    for (uint32_t i = 0; i < v->index.n; i++)
        if (v->index.term[i].axis != w->vector_axis && v->index.term[i].by % n)
            return false;
    return true;
}

static const char *load_text(Writer *w, const NestValue *v, const char *mask)
{
    const char *at = cuda_index(w, v->tensor, &v->index, AT_ELEMENT);
    return mask ? str_format(w->text.arena, "%s ? to_float(t%u[%s]) : 0.0f", mask, v->tensor, at)
                : str_format(w->text.arena, "to_float(t%u[%s])", v->tensor, at);
}

/* A whole number: as it is in memory where it is read. */
static const char *place_text(Writer *w, NestId id)
{
    const NestValue *v = &w->text.nest->values.at[id];
    DType dtype = v->op == NEST_LOAD ? w->text.nest->tensors.at[v->tensor].dtype : DT_F32;
    if (v->op == NEST_LOAD && !v->n_arg && dtype_is_int(dtype))
        return str_format(w->text.arena, "(int64_t)t%u[%s]", v->tensor,
                          cuda_index(w, v->tensor, &v->index, AT_ELEMENT));
    return str_format(w->text.arena, "(int64_t)%s", cuda_value(w, id));
}

static const char *pick_text(Writer *w, const NestValue *v)
{
    const char *place = place_text(w, v->arg[0]);
    const char *mask = v->n_arg > 1 ? cuda_value(w, v->arg[1]) : NULL;
    const char *at = cuda_index(w, v->tensor, &v->index, AT_ELEMENT);
    const char *text = str_format(w->text.arena, "to_float(t%u[%s + %s * %lld])", v->tensor, at,
                                  place, (long long)v->by);
    return mask ? str_format(w->text.arena, "%s ? %s : 0.0f", mask, text) : text;
}

static const char *inside_text(Writer *w, const NestValue *v)
{
    const char *at = cuda_index(w, 0, &v->index, AT_ELEMENT);
    return str_format(w->text.arena, "%s(unsigned)(%s) < %lldu",
                      w->edge_template ? "!EDGE || " : "", at, (long long)v->bound);
}

/* A reduction that the thread takes alone: loops in the scope that the result belongs to. */
static void serial_reduce(Writer *w, uint32_t scope, NestId id, const char *name)
{
    const NestValue *v = &w->text.nest->values.at[id];
    uint32_t depth = w->text.depth, lane = w->lane, loops = 0;
    int64_t all = kernel_count(w->text.nest, v->over);
    w->text.depth = scope + 1;
    KernelScope above[KERNEL_SCOPES];
    memcpy(above, w->text.scope, sizeof above);
    w->lane = lane > scope ? 0 : lane;
    kernel_line(&w->text, "float %s = %s::none;", name, cuda_join(v->reduce));
    for (uint32_t i = 1; i < w->text.nest->axes.len; i++) {
        if (!(v->over >> i & 1))
            continue;
        int64_t size = w->text.nest->axes.at[i].size;
        kernel_open(&w->text, UINT64_C(1) << i,
                    "#pragma unroll %d\nfor (int a%u = 0; a%u < %lld; a%u++) {",
                    all <= 64       ? (int)size
                    : size % 8 == 0 ? 8
                                    : 4,
                    i, i, (long long)size, i);
        loops++;
    }
    const char *x = cuda_value(w, v->arg[0]);
    kernel_line(&w->text, "%s = %s::join(%s, %s);", name, cuda_join(v->reduce), name, x);
    for (; loops; loops--)
        kernel_close(&w->text);
    for (uint32_t i = scope + 1; i < depth; i++)
        w->text.scope[i] = above[i];
    w->text.depth = depth;
    w->lane = lane;
}

/* A load of several elements stands in the scope around that of one element. */
static const char *pack_load(Writer *w, NestId id)
{
    const NestValue *v = &w->text.nest->values.at[id];
    uint32_t around = w->lane - 1;
    kernel_line_in(&w->text, around, str_format(w->text.arena, "float x%u[%u];", id, w->k->vector));
    kernel_line_in(&w->text, around,
                   str_format(w->text.arena, "load_pack(x%u, t%u + (%s));", id, v->tensor,
                              cuda_index(w, v->tensor, &v->index, AT_PACK)));
    return str_format(w->text.arena, "x%u[v]", id);
}

static const char *text_of(Writer *w, const NestValue *v)
{
    const char *args[NEST_ARGS] = {0};
    uint32_t axis;
    switch (v->op) {
    case NEST_LOAD: return load_text(w, v, v->n_arg ? cuda_value(w, v->arg[0]) : NULL);
    case NEST_PLACE:
        axis = (uint32_t)__builtin_ctzll(v->axes);
        return str_format(w->text.arena, "(float)a%u", axis);
    case NEST_MAP:
        for (uint32_t i = 0; i < v->n_arg; i++)
            args[i] = cuda_value(w, v->arg[i]);
        return kernel_form(&w->text, v->form, args);
    case NEST_INSIDE: return inside_text(w, v);
    case NEST_PICK: return pick_text(w, v);
    default: return "0.0f";
    }
}

const char *cuda_value(Writer *w, NestId id)
{
    const NestValue *v = &w->text.nest->values.at[id];
    if (v->op == NEST_NUMBER)
        return kernel_number(&w->text, v->number);
    if (v->op == NEST_COUNT)
        return kernel_number(&w->text, (double)kernel_count(w->text.nest, v->over));
    uint32_t at = kernel_scope_of(&w->text, v->axes);
    if (w->text.scope[at].name[id])
        return w->text.scope[at].name[id];
    const char *name = str_format(w->text.arena, "v%u", id);
    if (w->lane && at == w->lane && cuda_packs(w, v)) {
        name = pack_load(w, id);
    } else if (v->op == NEST_REDUCE) {
        serial_reduce(w, at, id, name);
    } else {
        const char *text = text_of(w, v);
        kernel_line_in(
            &w->text, at,
            str_format(w->text.arena, "const %s %s = %s;", v->mask ? "bool" : "float", name, text));
    }
    w->text.scope[at].name[id] = name;
    return name;
}
