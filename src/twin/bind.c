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
    static const char *const workspaces[] = {"workspace", "usrworkspace", "userworkspace",
                                             "workspaces", "work", NULL};
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
        if (!bound[i])
            diag_error(diag, "T010", (Span){0}, "kernel parameter '%s' (%s) is given nothing",
                       params->at[i].name, params->at[i].type);
    for (uint32_t i = 0; i < tensor_count; i++)
        if (!used[i])
            diag_error(diag, "T011", (Span){0}, "tensor '%s' matches no kernel parameter",
                       tensors[i].name);
    return diag_ok(diag);
}

bool twin_bind(Arena *arena, const TwinParams *params, const TwinTensor *tensors,
               uint32_t tensor_count, TwinArg **args, Diag *diag)
{
    bool *bound = arena_array(arena, bool, params->len + 1);
    bool *used = arena_array(arena, bool, tensor_count + 1);
    *args = arena_array(arena, TwinArg, params->len + 1);
    for (uint32_t i = 0; i < params->len; i++) {
        int tensor = find_tensor(tensors, tensor_count, params->at[i].name);
        if (tensor >= 0 && !used[tensor] && params->at[i].pointer) {
            (*args)[i] = (TwinArg){.kind = TWIN_ARG_TENSOR, .index = (uint32_t)tensor};
            bound[i] = used[tensor] = true;
        } else {
            bound[i] = fixed_arg(&params->at[i], &(*args)[i]);
        }
    }
    bind_rest(params, tensor_count, used, *args, bound);
    return check_all(params, tensors, tensor_count, used, bound, diag);
}
