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

/* ---- an extreme and its place ---- */

NestId cuda_place_arg(const Nest *nest, NestId id)
{
    return nest->values.at[nest->values.at[id].arg[0]].arg[1];
}

NestId cuda_extreme_of(const Nest *nest, NestId id)
{
    const NestValue *v = &nest->values.at[id], *most;
    if (v->op != NEST_REDUCE || v->reduce != PRIM_MIN ||
        !nest_is_map(&nest->values.at[v->arg[0]], "where($0, $1, $2)"))
        return 0;
    const NestValue *is = &nest->values.at[nest->values.at[v->arg[0]].arg[0]];
    if (!nest_is_map(is, "($0 == $1) | ($0 != $0)") ||
        nest->values.at[cuda_place_arg(nest, id)].op != NEST_PLACE)
        return 0;
    most = &nest->values.at[is->arg[1]];
    bool extreme = most->op == NEST_REDUCE && most->arg[0] == is->arg[0] &&
                   (most->reduce == PRIM_MAX || most->reduce == PRIM_MIN);
    return extreme && most->over == v->over && most->axes == v->axes ? is->arg[1] : 0;
}

NestId cuda_pass_of(const Nest *nest, NestId id)
{
    NestId most = cuda_extreme_of(nest, id);
    return most ? most : id;
}

NestId cuda_place_beside(const Writer *w, NestId extreme, const bool *now)
{
    for (uint32_t i = 1; i < w->text.nest->values.len; i++)
        if (now[i] && cuda_extreme_of(w->text.nest, i) == extreme)
            return i;
    return 0;
}

/* The reduction of places that the kernel needs beside this extreme; 0: none. */
static NestId place_wanted(const Writer *w, NestId extreme)
{
    bool *reached = arena_array(w->text.arena, bool, w->text.nest->values.len);
    kernel_reach(w->text.nest, &w->k->loops, reached);
    return cuda_place_beside(w, extreme, reached);
}

/* ---- reductions of one thread ---- */

/* One element of a reduction. Places are walked in order, so that the first one stays. */
static void join_one(Writer *w, NestId id, const char *name, NestId place)
{
    const NestValue *v = &w->text.nest->values.at[id];
    const char *x = cuda_value(w, v->arg[0]);
    if (!place) {
        kernel_line(&w->text, "%s = %s::join(%s, %s);", name, cuda_join(v->reduce), name, x);
        return;
    }
    const NestValue *at = &w->text.nest->values.at[cuda_place_arg(w->text.nest, place)];
    kernel_open(&w->text, 0, "if (%s == %s && !(%s %s %s)) {", name, name, x,
                v->reduce == PRIM_MAX ? "<=" : ">=", name);
    kernel_line(&w->text, "%s = %s;", name, x);
    kernel_line(&w->text, "place%u = a%u;", place, (uint32_t)__builtin_ctzll(at->axes));
    kernel_close(&w->text);
}

/* The loops of a reduction that the thread takes alone. Where it has windows above each other, the innermost axis is
 * reduced for itself: windows that overlap have these results in common. */
static void serial_loops(Writer *w, NestId id, NestId place, bool lanes)
{
    const NestValue *v = &w->text.nest->values.at[id];
    const char *join = cuda_join(v->reduce);
    const char *sum = str_format(w->text.arena, lanes ? "v%u[v]" : "v%u", id);
    int64_t all = kernel_count(w->text.nest, v->over);
    uint32_t count = (uint32_t)__builtin_popcountll(v->over), loops = 0;
    const char *inner = w->k->tall > 1 && count > 1 && !lanes
                            ? str_format(w->text.arena, "row%u", id)
                            : NULL;
    for (uint32_t i = 1; i < w->text.nest->axes.len; i++) {
        int64_t size = w->text.nest->axes.at[i].size;
        if (!(v->over >> i & 1))
            continue;
        if (++loops == count && inner)
            kernel_line(&w->text, "float %s = %s::none;", inner, join);
        kernel_open(&w->text, UINT64_C(1) << i,
                    "#pragma unroll %d\nfor (int a%u = 0; a%u < %lld; a%u++) {",
                    all <= 64       ? (int)size
                    : size % 8 == 0 ? 8
                                    : 4,
                    i, i, (long long)size, i);
    }
    if (lanes)
        cuda_open_lanes(w);
    join_one(w, id, inner ? inner : sum, place);
    if (lanes)
        cuda_close_lanes(w);
    for (uint32_t i = 0; i < loops; i++) {
        kernel_close(&w->text);
        if (inner && !i)
            kernel_line(&w->text, "%s = %s::join(%s, %s);", sum, join, sum, inner);
    }
}

/* Something that the value rests on is read several elements at once. */
static bool reads_packs(const Writer *w, NestId id)
{
    const Nest *nest = w->text.nest;
    bool *reached = arena_array(w->text.arena, bool, nest->values.len);
    kernel_reach_value(nest, id, reached);
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (reached[i] && cuda_packs(w, &nest->values.at[i]))
            return true;
    return false;
}

/* A reduction that the thread takes alone: loops in the scope that the result belongs to. Where that is the scope of one
 * of several elements, the loops stand around it, so that each turn reads all of them at once, if any can be. With an extreme its place
 * is found, too. */
static const char *serial_reduce(Writer *w, uint32_t scope, NestId id)
{
    NestId place = place_wanted(w, id);
    const NestValue *v = &w->text.nest->values.at[id];
    bool lanes = w->k->loops.shape == KERNEL_MAP && w->lane && scope == w->lane && !place &&
                 reads_packs(w, id);
    uint32_t depth = w->text.depth, lane = w->lane, around = lanes ? scope - 1 : scope;
    KernelMeet meet;
    KernelScope above[KERNEL_SCOPES];
    w->text.depth = around + 1;
    memcpy(above, w->text.scope, sizeof above);
    w->lane = lane > around ? 0 : lane;
    if (lanes) {
        kernel_line(&w->text, "float v%u[%u];", id, w->k->vector);
        kernel_line(&w->text, "#pragma unroll");
        kernel_line(&w->text, "for (int v = 0; v < %u; v++)", w->k->vector);
    }
    kernel_line(&w->text, lanes ? "    v%u[v] = %s::none;" : "float v%u = %s::none;", id,
                cuda_join(v->reduce));
    if (place)
        kernel_line(&w->text, "int place%u = 0;", place);
    if (kernel_meets_beside(w->text.nest, &w->k->loops, id) && kernel_meet(w->text.nest, id, &meet))
        cuda_meet_beside(w, &meet, lanes);
    else
        serial_loops(w, id, place, lanes);
    if (place)
        kernel_line(&w->text, "const float v%u = (float)place%u;", place, place);
    for (uint32_t i = around + 1; i < depth; i++)
        w->text.scope[i] = above[i];
    w->text.depth = depth;
    w->lane = lane;
    const char *name = str_format(w->text.arena, lanes ? "v%u[v]" : "v%u", id);
    w->text.scope[scope].name[id] = name;
    if (place)
        w->text.scope[scope].name[place] = str_format(w->text.arena, "v%u", place);
    return name;
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
        NestId pass = cuda_pass_of(w->text.nest, id);
        bool joint = pass != id && !w->text.scope[at].name[pass];
        name = serial_reduce(w, at, joint ? pass : id);
        name = joint ? w->text.scope[at].name[id] : name;
    } else {
        const char *text = text_of(w, v);
        kernel_line_in(
            &w->text, at,
            str_format(w->text.arena, "const %s %s = %s;", v->mask ? "bool" : "float", name, text));
    }
    w->text.scope[at].name[id] = name;
    return name;
}
