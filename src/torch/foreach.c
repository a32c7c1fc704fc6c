/* torch._foreach_NAME: one function over lists of tensors. In: lists, and numbers or tensors that all
 * share. Out: the list of results; NAME_ writes each back and gives nothing. */
#include "torch/foreach.h"

#include "torch/nn.h"

static const char prefix[] = "torch._foreach_";

/* The function or, where there is none of that name, the method. */
static const FnRow *row_of(Interp *it, Str name)
{
    const FnRow *row = fn_find(str_from(str_format(it->arena, "torch.%.*s", STR_ARG(name))));
    return row ? row : fn_find_method(name);
}

/* A list gives its i-th item, anything else is for all of them. */
static PyVal item_of(Interp *it, Span at, PyVal v, uint32_t i)
{
    if (!pv_is_seq(v))
        return v;
    if (i >= v.list->items.len)
        interp_fail(it, at, "T010", "the lists of a _foreach function are not of one length");
    return v.list->items.at[i];
}

static CallArgs args_of(Interp *it, Span at, const CallArgs *all, uint32_t i)
{
    CallArgs one = *all;
    one.v = arena_array(it->arena, PyVal, all->n + 1);
    one.kw = arena_array(it->arena, PyVal, all->n_kw + 1);
    for (uint32_t k = 0; k < all->n; k++)
        one.v[k] = item_of(it, at, all->v[k], i);
    for (uint32_t k = 0; k < all->n_kw; k++)
        one.kw[k] = item_of(it, at, all->kw[k], i);
    return one;
}

bool foreach_call(Interp *it, Span at, Str path, const CallArgs *args, PyVal *result)
{
    if (!str_starts(path, prefix) || !args->n || !pv_is_seq(args->v[0]))
        return false;
    Str name = str_slice(path, sizeof prefix - 1, path.len);
    bool in_place = name.len > 1 && name.at[name.len - 1] == '_';
    const FnRow *row = in_place ? NULL : row_of(it, name);
    if (!in_place && !row)
        return false;
    *result = in_place ? pv_none() : pv_list(it->arena, PV_LIST);
    for (uint32_t i = 0; i < args->v[0].list->items.len; i++) {
        CallArgs one = args_of(it, at, args, i);
        if (in_place) {
            PyVal method = interp_attr(it, at, one.v[0], name);
            CallArgs rest = one;
            rest.n--;
            rest.v++;
            interp_call(it, at, method, &rest);
        } else {
            pv_push(it->arena, *result, fn_call(it, at, row, &one));
        }
    }
    return true;
}
