/* Building the values of a nest: equal ones are made once. */
#include "gen/plan/nest/derive_int.h"

#include <string.h>

bool nest_is_map(const NestValue *v, const char *form)
{
    return v->op == NEST_MAP && !strcmp(v->form, form);
}

static bool same_window(const NestWindow *a, const NestWindow *b)
{
    return a->to == b->to && a->edge == b->edge && a->by == b->by && a->at == b->at &&
           a->step == b->step && a->count == b->count;
}

static bool same_value(const NestValue *a, const NestValue *b)
{
    bool same = a->op == b->op && a->mask == b->mask && a->reduce == b->reduce &&
                a->n_arg == b->n_arg && a->over == b->over && a->tensor == b->tensor &&
                a->axes == b->axes && a->bound == b->bound && a->by == b->by &&
                a->reverse == b->reverse && a->follows == b->follows &&
                same_window(&a->window, &b->window) &&
                !memcmp(&a->number, &b->number, sizeof a->number);
    for (uint32_t i = 0; i < a->n_arg && same; i++)
        same = a->arg[i] == b->arg[i];
    same = same && !a->form == !b->form && (!a->form || !strcmp(a->form, b->form));
    return same && affine_equal(&a->index, &b->index);
}

static NestId add_value(Nest *nest, NestValue v)
{
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (same_value(&nest->values.at[i], &v))
            return i;
    vec_push(nest->arena, &nest->values, v);
    return nest->values.len - 1;
}

static uint64_t index_axes(const Affine *index)
{
    uint64_t axes = 0;
    for (uint32_t i = 0; i < index->n; i++)
        axes |= UINT64_C(1) << index->term[i].axis;
    return axes;
}

bool nest_reads(const NestValue *v)
{
    return v->uses && (v->op == NEST_LOAD || v->op == NEST_MERGE);
}

const char *nest_tensor_name(const Nest *nest, uint32_t tensor)
{
    static const char letters[] = {
        [NEST_INPUT] = 'x', [NEST_OUTPUT] = 'y', [NEST_WORKSPACE] = 'w', [NEST_MERGED] = 'm'};
    NestRole role = nest->tensors.at[tensor].role;
    uint32_t number = 0;
    for (uint32_t i = 0; i < tensor; i++)
        number += nest->tensors.at[i].role == role;
    return str_format(nest->arena, "%c%u", letters[role], number);
}

NestId nest_number(Nest *nest, double number)
{
    return add_value(nest, (NestValue){.op = NEST_NUMBER, .number = number});
}

NestId nest_count(Nest *nest, uint64_t over)
{
    return over ? add_value(nest, (NestValue){.op = NEST_COUNT, .over = over})
                : nest_number(nest, 1);
}

NestId nest_map(Nest *nest, const char *form, bool mask, uint32_t n, const NestId *args)
{
    NestValue v = {.op = NEST_MAP, .form = form, .mask = mask, .n_arg = n};
    for (uint32_t i = 0; i < n; i++) {
        v.arg[i] = args[i];
        v.axes |= nest->values.at[args[i]].axes;
    }
    return add_value(nest, v);
}

NestId nest_map1(Nest *nest, const char *form, NestId a)
{
    return nest_map(nest, form, false, 1, &a);
}

NestId nest_map2(Nest *nest, const char *form, NestId a, NestId b)
{
    return nest_map(nest, form, false, 2, (NestId[]){a, b});
}

/* What does not vary along an axis is as large for all of it: a sum of n is n times it. */
NestId nest_reduce(Nest *nest, PrimReduce reduce, NestId of, uint64_t over)
{
    uint64_t axes = nest->values.at[of].axes, alike = over & ~axes;
    NestValue v = {.op = NEST_REDUCE,
                   .reduce = reduce,
                   .n_arg = 1,
                   .arg = {of},
                   .over = over & axes,
                   .axes = axes & ~over};
    NestId out = v.over ? add_value(nest, v) : of;
    if (!alike || reduce == PRIM_MAX || reduce == PRIM_MIN)
        return out;
    return nest_map2(nest, reduce == PRIM_SUM ? "$0 * $1" : "pow($0, $1)", out,
                     nest_count(nest, alike));
}

NestId nest_product(Nest *nest, NestId a, NestId b, uint64_t over)
{
    uint64_t axes = nest->values.at[a].axes | nest->values.at[b].axes;
    return add_value(nest, (NestValue){.op = NEST_PRODUCT,
                                       .reduce = PRIM_SUM,
                                       .n_arg = 2,
                                       .arg = {a, b},
                                       .over = over,
                                       .axes = axes & ~over});
}

NestId nest_reduce_following(Nest *nest, NestId of, uint64_t over, NestId follows)
{
    NestId sum = nest_reduce(nest, PRIM_SUM, of, over);
    const NestValue *m = &nest->values.at[follows];
    if (nest->values.at[sum].op == NEST_REDUCE && m->op == NEST_REDUCE &&
        m->over == nest->values.at[sum].over && m->axes == nest->values.at[sum].axes)
        nest->values.at[sum].follows = follows;
    return sum;
}

static bool is_walked(const NestValue *v, NestPass pass)
{
    return v->op == NEST_REDUCE && v->over & pass.walked;
}

/* The level of what the value is made of; `except` counts as a number. */
static uint32_t level_below(const Nest *nest, NestId id, NestPass pass, NestId except)
{
    const NestValue *v = &nest->values.at[id];
    uint32_t level = 0;
    for (uint32_t i = 0; i < v->n_arg; i++) {
        NestId arg = v->arg[i];
        uint32_t of = 0;
        if (arg != except)
            of = level_below(nest, arg, pass, except) +
                 (is_walked(&nest->values.at[arg], pass) && !nest_is_online(nest, arg, pass));
        level = of > level ? of : level;
    }
    return level;
}

bool nest_is_online(const Nest *nest, NestId id, NestPass pass)
{
    const NestValue *v = &nest->values.at[id];
    return v->follows && is_walked(v, pass) && v->axes & pass.tile &&
           level_below(nest, id, pass, v->follows) <= level_below(nest, v->follows, pass, 0);
}

uint32_t nest_level(const Nest *nest, NestId id, NestPass pass)
{
    return level_below(nest, id, pass, 0) +
           (is_walked(&nest->values.at[id], pass) && !nest_is_online(nest, id, pass));
}

static uint32_t tensor_of(Nest *nest, ValueId value)
{
    const Value *v = graph_value(nest->graph, value);
    NestTensor t = {.value = value, .dtype = v->dtype};
    for (uint32_t i = 0; i < nest->tensors.len; i++)
        if (nest->tensors.at[i].value == value && nest->tensors.at[i].role == NEST_INPUT)
            return i;
    shape_count(v->shape, &t.count);
    vec_push(nest->arena, &nest->tensors, t);
    return nest->tensors.len - 1;
}

NestId nest_load(Nest *nest, ValueId value, const Affine *index)
{
    return add_value(nest, (NestValue){.op = NEST_LOAD,
                                       .tensor = tensor_of(nest, value),
                                       .index = *index,
                                       .axes = index_axes(index)});
}

NestId nest_load_masked(Nest *nest, ValueId value, const Affine *index, NestId mask)
{
    return add_value(nest, (NestValue){.op = NEST_LOAD,
                                       .tensor = tensor_of(nest, value),
                                       .index = *index,
                                       .n_arg = 1,
                                       .arg = {mask},
                                       .axes = index_axes(index) | nest->values.at[mask].axes});
}

NestId nest_pick(Nest *nest, ValueId value, const Affine *index, NestId at, int64_t by,
                 int64_t bound, NestId mask)
{
    NestValue v = {.op = NEST_PICK,
                   .tensor = tensor_of(nest, value),
                   .index = *index,
                   .by = by,
                   .bound = bound,
                   .n_arg = mask ? 2 : 1,
                   .arg = {at, mask},
                   .axes = index_axes(index) | nest->values.at[at].axes};
    v.axes |= mask ? nest->values.at[mask].axes : 0;
    return add_value(nest, v);
}

NestId nest_inside(Nest *nest, const Affine *index, int64_t bound)
{
    return add_value(nest, (NestValue){.op = NEST_INSIDE,
                                       .mask = true,
                                       .index = *index,
                                       .bound = bound,
                                       .axes = index_axes(index)});
}

NestId nest_scan(Nest *nest, PrimReduce reduce, NestId of, uint32_t axis, bool reverse)
{
    uint64_t bit = UINT64_C(1) << axis;
    return add_value(nest, (NestValue){.op = NEST_SCAN,
                                       .reduce = reduce,
                                       .n_arg = 1,
                                       .arg = {of},
                                       .over = bit,
                                       .reverse = reverse,
                                       .axes = nest->values.at[of].axes | bit});
}

NestId nest_window(Nest *nest, PrimReduce reduce, NestId of, uint32_t axis,
                   const NestWindow *window, double fill)
{
    uint64_t over = UINT64_C(1) << axis;
    return add_value(
        nest, (NestValue){.op = NEST_WINDOW,
                          .reduce = reduce,
                          .n_arg = 1,
                          .arg = {of},
                          .over = over,
                          .window = *window,
                          .number = fill,
                          .axes = (nest->values.at[of].axes & ~over) | UINT64_C(1) << window->to});
}

/* The sum over its axes; each of them alone is a value. */
NestId nest_place(Nest *nest, const Affine *index)
{
    NestId sum = 0;
    for (uint32_t i = 0; i < index->n; i++) {
        NestId place = add_value(
            nest, (NestValue){.op = NEST_PLACE, .axes = UINT64_C(1) << index->term[i].axis});
        if (index->term[i].by != 1)
            place = nest_map2(nest, "$0 * $1", place, nest_number(nest, (double)index->term[i].by));
        sum = sum ? nest_map2(nest, "$0 + $1", sum, place) : place;
    }
    if (!sum)
        return nest_number(nest, (double)index->at);
    return index->at ? nest_map2(nest, "$0 + $1", sum, nest_number(nest, (double)index->at)) : sum;
}

/* ---- text ---- */

static void put_index(const Affine *a, Buf *out)
{
    buf_puts(out, "[");
    for (uint32_t i = 0; i < a->n; i++) {
        buf_puts(out, i ? " + " : "");
        if (a->term[i].by != 1)
            buf_printf(out, "%lld ", (long long)a->term[i].by);
        buf_printf(out, "a%u", a->term[i].axis);
    }
    if (a->at || !a->n)
        buf_printf(out, "%s%lld", a->n ? " + " : "", (long long)a->at);
    buf_puts(out, "]");
}

static void put_axes(uint64_t axes, Buf *out)
{
    for (uint32_t i = 0; i < 64; i++)
        if (axes >> i & 1)
            buf_printf(out, " a%u", i);
}

static void put_value(const Nest *nest, uint32_t i, Buf *out)
{
    static const char *const reductions[] = {[PRIM_SUM] = "sum",
                                             [PRIM_MAX] = "max",
                                             [PRIM_MIN] = "min",
                                             [PRIM_PROD] = "prod",
                                             [PRIM_LOGSUMEXP] = "logsumexp"};
    const NestValue *v = &nest->values.at[i];
    buf_printf(out, "  v%u = ", i);
    switch (v->op) {
    case NEST_NUMBER: buf_printf(out, "number %.9g", v->number); break;
    case NEST_COUNT:
        buf_puts(out, "count of");
        put_axes(v->over, out);
        break;
    case NEST_LOAD:
        buf_printf(out, "load t%u ", v->tensor);
        put_index(&v->index, out);
        break;
    case NEST_PLACE:
        buf_puts(out, "place along");
        put_axes(v->axes, out);
        break;
    case NEST_MAP: buf_printf(out, "%s %s of", v->mask ? "mask" : "map", v->form); break;
    case NEST_MERGE:
        buf_printf(out, "merge %s of t%u ", reductions[v->reduce], v->tensor);
        put_index(&v->index, out);
        break;
    case NEST_REDUCE:
        buf_printf(out, "reduce %s over", reductions[v->reduce]);
        put_axes(v->over, out);
        buf_puts(out, " of");
        break;
    case NEST_PRODUCT:
        buf_puts(out, "product over");
        put_axes(v->over, out);
        buf_puts(out, " of");
        break;
    case NEST_INSIDE:
        buf_puts(out, "inside ");
        put_index(&v->index, out);
        buf_printf(out, " < %lld", (long long)v->bound);
        break;
    case NEST_PICK:
        buf_printf(out, "pick t%u ", v->tensor);
        put_index(&v->index, out);
        buf_printf(out, " + %lld times", (long long)v->by);
        break;
    case NEST_WINDOW:
        buf_printf(out, "window %s at %lld a%u + %lld + %lld k, k < %lld, along",
                   reductions[v->reduce], (long long)v->window.by, v->window.to,
                   (long long)v->window.at, (long long)v->window.step, (long long)v->window.count);
        put_axes(v->over, out);
        buf_puts(out, " of");
        break;
    case NEST_SCAN:
        buf_printf(out, "scan %s%s along", reductions[v->reduce], v->reverse ? " back" : "");
        put_axes(v->over, out);
        buf_puts(out, " of");
        break;
    }
    for (uint32_t k = 0; k < v->n_arg; k++)
        buf_printf(out, " v%u", v->arg[k]);
    buf_char(out, '\n');
}

void nest_print(const Nest *nest, Buf *out)
{
    static const char *const roles[] = {"", " output", " of each core"};
    buf_puts(out, "nest\n");
    for (uint32_t i = 1; i < nest->axes.len; i++) {
        buf_printf(out, "  axis a%u %lld", i, (long long)nest->axes.at[i].size);
        for (uint32_t k = 0; k < nest->axes.at[i].fold.n; k++)
            buf_printf(out, "%s a%u", k ? "" : " of", nest->axes.at[i].fold.axis[k]);
        if (nest->axes.at[i].halo.root)
            buf_printf(out, " under windows of a%u", nest->axes.at[i].halo.root);
        buf_char(out, '\n');
    }
    for (uint32_t i = 0; i < nest->tensors.len; i++) {
        const NestTensor *t = &nest->tensors.at[i];
        buf_printf(out, "  tensor t%u %s %lld%s\n", i, dtype_name(t->dtype), (long long)t->count,
                   roles[t->role]);
    }
    for (uint32_t i = 1; i < nest->values.len; i++)
        put_value(nest, i, out);
    for (uint32_t i = 0; i < nest->stores.len; i++) {
        const NestStore *s = &nest->stores.at[i];
        buf_printf(out, "  store t%u ", s->tensor);
        put_index(&s->index, out);
        buf_printf(out, " = v%u", s->value);
        if (s->split)
            buf_printf(out, ", a part of a%u for each core", s->split);
        if (s->phase)
            buf_printf(out, ", phase %u", s->phase);
        buf_char(out, '\n');
    }
}

const char *nest_limit(const Nest *nest)
{
    for (uint32_t i = 0; i < nest->tensors.len; i++) {
        DType d = nest->tensors.at[i].dtype;
        if (dtype_is_int(d) && dtype_bytes(d) >= 4)
            return "Integers are computed in f32: values beyond 2^24 are not held.";
    }
    return NULL;
}
