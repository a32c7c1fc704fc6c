/* Which argument each kernel parameter receives. In: the parameters as the text names them, the
 * tensors of a launch. Out: one TwinArg per parameter. */
#include "twin/twin_int.h"

#include <ctype.h>
#include <string.h>

/* Compared without case, '_' and a trailing "gm" or "addr": inputGm, x_gm and X are known. */
static void plain_name(const char *name, char out[64])
{
    size_t len = 0;
    for (; *name && len < 63; name++)
        if (*name != '_')
            out[len++] = (char)tolower((unsigned char)*name);
    out[len] = 0;
    static const char *const tails[] = {"gm", "addr", "ptr"};
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        size_t tail = strlen(tails[i]);
        if (len > tail && strcmp(out + len - tail, tails[i]) == 0)
            out[len -= tail] = 0;
    }
}

static bool same_name(const char *a, const char *b)
{
    char plain_a[64], plain_b[64];
    plain_name(a, plain_a);
    plain_name(b, plain_b);
    return strcmp(plain_a, plain_b) == 0;
}

static bool is_one_of(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (same_name(name, *list))
            return true;
    return false;
}

static bool fixed_arg(const TwinParam *param, TwinArg *arg)
{
    static const char *const workspaces[] = {"workspace",  "usrworkspace", "userworkspace",
                                             "workspaces", "work",         NULL};
    static const char *const tilings[] = {"tiling", "tilingdata", "tilingpara", NULL};
    if (param->pointer && is_one_of(param->name, workspaces))
        arg->kind = TWIN_ARG_WORKSPACE;
    else if (is_one_of(param->name, tilings))
        arg->kind = param->pointer ? TWIN_ARG_TILING : TWIN_ARG_VALUE;
    else
        return false;
    return true;
}

static int find_tensor(const TwinTensor *tensors, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (same_name(tensors[i].name, name))
            return (int)i;
    return -1;
}

/* What is left on both sides goes together in order. */
static void bind_rest(const TwinParams *params, uint32_t tensor_count, bool *used, TwinArg *args,
                      bool *bound)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < params->len; i++) {
        if (bound[i] || !params->at[i].pointer)
            continue;
        while (next < tensor_count && used[next])
            next++;
        if (next == tensor_count)
            return;
        args[i] = (TwinArg){.kind = TWIN_ARG_TENSOR, .index = next};
        bound[i] = used[next] = true;
    }
}

static bool check_all(const TwinParams *params, const TwinTensor *tensors, uint32_t tensor_count,
                      const bool *used, const bool *bound, Diag *diag)
{
    for (uint32_t i = 0; i < params->len; i++)
        if (!bound[i]) {
            const char *name = params->at[i].name;
            diag_error(diag, "C010", (Span){0}, "kernel parameter '%s' (%s) is given nothing", name,
                       params->at[i].type);
            diag_hint(diag,
                      "a tensor: --in %s=f16[1024] or --out %s=f16[1024]; a number: --attr %s=1",
                      name, name, name);
        }
    for (uint32_t i = 0; i < tensor_count; i++)
        if (!used[i])
            diag_error(diag, "C011", (Span){0}, "tensor '%s' matches no kernel parameter",
                       tensors[i].name);
    return diag_ok(diag);
}

/* What stands behind "NAME=". */
static const char *attr_of(const NameList *attrs, const char *name)
{
    size_t len = strlen(name);
    for (uint32_t i = 0; attrs && i < attrs->len; i++)
        if (strncmp(attrs->at[i], name, len) == 0 && attrs->at[i][len] == '=')
            return attrs->at[i] + len + 1;
    return NULL;
}

static bool bind_value(Arena *arena, const TwinParam *param, const NameList *attrs, TwinArg *arg,
                       bool *bound, Diag *diag)
{
    const char *value = param->pointer ? NULL : attr_of(attrs, param->name);
    *bound = value || fixed_arg(param, arg);
    if (!value)
        return true;
    arg->kind = TWIN_ARG_VALUE;
    return twin_value_parse(arena, param->type, value, &arg->bytes, diag);
}

bool twin_bind(Arena *arena, const TwinParams *params, const TwinTensor *tensors,
               uint32_t tensor_count, const NameList *attrs, TwinArg **args, Diag *diag)
{
    bool *bound = arena_array(arena, bool, params->len + 1);
    bool *used = arena_array(arena, bool, tensor_count + 1);
    *args = arena_array(arena, TwinArg, params->len + 1);
    for (uint32_t i = 0; i < params->len; i++) {
        int tensor = find_tensor(tensors, tensor_count, params->at[i].name);
        if (tensor >= 0 && !used[tensor] && params->at[i].pointer) {
            (*args)[i] = (TwinArg){.kind = TWIN_ARG_TENSOR, .index = (uint32_t)tensor};
            bound[i] = used[tensor] = true;
        } else if (!bind_value(arena, &params->at[i], attrs, &(*args)[i], &bound[i], diag)) {
            return false;
        }
    }
    bind_rest(params, tensor_count, used, *args, bound);
    return check_all(params, tensors, tensor_count, used, bound, diag);
}

void twin_warn_of_order(const TwinParams *params, const TwinTensor *tensors, const TwinArg *args,
                        Diag *diag)
{
    for (uint32_t i = 0; i < params->len; i++) {
        const char *name = tensors && args[i].kind == TWIN_ARG_TENSOR ? tensors[args[i].index].name
                                                                      : params->at[i].name;
        if (!same_name(name, params->at[i].name))
            diag_warn(diag, "C014", (Span){0},
                      "the kernel has no parameter '%s': it is taken for '%s', by its place", name,
                      params->at[i].name);
    }
}

/* --- numbers --------------------------------------------------------------------------------- */

static bool value_dtype(Str type, DType *dtype)
{
    if (str_starts(type, "const "))
        type = str_trim(str_slice(type, 6, type.len));
    if (dtype_from_name(type, dtype) || dtype_from_torch(type, dtype))
        return true;
    for (int i = 0; i < DT_COUNT; i++) {
        if (str_is(type, dtype_rows[i].cxx)) {
            *dtype = (DType)i;
            return true;
        }
    }
    static const struct {
        const char *name;
        DType dtype;
    } others[] = {{"int", DT_I32},   {"unsigned", DT_U32}, {"unsigned int", DT_U32},
                  {"long", DT_I64},  {"size_t", DT_U64},   {"unsigned long", DT_U64},
                  {"short", DT_I16}, {"char", DT_I8},      {"float", DT_F32}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (str_is(type, others[i].name)) {
            *dtype = others[i].dtype;
            return true;
        }
    }
    return false;
}

/* 64-bit integers do not fit a double. */
static void store_number(DType dtype, uint8_t to[16], int64_t whole, bool is_whole, double number)
{
    if (is_whole && dtype_is_int(dtype))
        memcpy(to, &whole, dtype_bytes(dtype)); /* the low bytes of a little-endian machine */
    else
        dtype_store(dtype, to, 0, number);
}

static bool parse_number(DType dtype, Str text, uint8_t to[16])
{
    int64_t whole = 0;
    double number = 0;
    bool is_whole = str_to_i64(text, &whole);
    if (str_is(text, "true") || str_is(text, "false"))
        number = str_is(text, "true");
    else if (!is_whole && !str_to_double(text, &number))
        return false;
    store_number(dtype, to, whole, is_whole, is_whole ? (double)whole : number);
    return true;
}

bool twin_value_parse(Arena *arena, const char *type, const char *text, Str *bytes, Diag *diag)
{
    DType dtype;
    uint8_t number[16] = {0};
    if (!value_dtype(str_from(type), &dtype) || !parse_number(dtype, str_from(text), number)) {
        diag_error(diag, "C012", (Span){0}, "'%s' is no value of type '%s'", text, type);
        return false;
    }
    *bytes = str_copy(arena, (Str){(const char *)number, dtype_bytes(dtype)});
    return true;
}

bool twin_values_parse(Arena *arena, const char *text, Str *bytes, Diag *diag)
{
    Buf out = {0};
    Str piece, type, rest = str_from(text);
    bool ok = true;
    size_t widest = 1;
    while (ok && str_next(&rest, ',', &piece)) {
        Str value = piece, one = {0};
        ok = str_next(&value, ':', &type) &&
             twin_value_parse(arena, str_dup(arena, str_trim(type)),
                              str_dup(arena, str_trim(value)), &one, diag);
        while (ok && out.len % one.len)
            buf_char(&out, 0);
        buf_str(&out, one);
        widest = one.len > widest ? one.len : widest;
    }
    while (out.len % widest)
        buf_char(&out, 0);
    *bytes = str_copy(arena, buf_view(&out));
    buf_free(&out);
    if (!ok && diag_ok(diag))
        diag_error(diag, "C013", (Span){0}, "'%s': tiling values are TYPE:NUMBER,...", text);
    return ok;
}
