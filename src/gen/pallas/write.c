/* Values as Pallas text. In: a nest and a kernel's blocks. Out: arrays of the kernel's rank, in scopes. */
#include "gen/pallas/pallas_int.h"

#include <stdlib.h>
#include <string.h>

const KernelLanguage pallas_language = {.nan = "jnp.nan",
                                        .infinity = "jnp.inf",
                                        .minus_infinity = "(-jnp.inf)",
                                        .suffix = "",
                                        .type_end = ""};

const char *pallas_type(DType dtype)
{
    switch (dtype) {
    case DT_F32: return "float32";
    case DT_BF16: return "bfloat16";
    case DT_I8: return "int8";
    case DT_U8: return "uint8";
    case DT_I16: return "int16";
    case DT_I32: return "int32";
    case DT_I64: return "int32"; /* JAX has no wider integers by default */
    case DT_BOOL: return "int8"; /* booleans have no memory of their own */
    default: return NULL;
    }
}

const char *pallas_shape(Arena *arena, const PallasKernel *k, uint64_t axes)
{
    Buf out = {0};
    buf_char(&out, '(');
    for (uint32_t i = 0; i < k->rank; i++) {
        uint32_t axis = k->tile[i];
        buf_printf(&out, "%s%lld", i ? ", " : "",
                   axis && axes >> axis & 1 ? (long long)k->block[axis] : 1LL);
    }
    buf_char(&out, ')');
    return kernel_take(arena, &out);
}

/* ---- coordinates ---- */

/* The index of a block along an axis of the grid; NULL: the axis has one block. */
static const char *block_number(const PallasWriter *w, uint32_t axis)
{
    const PallasKernel *k = w->k;
    for (uint32_t i = 0; i < k->n_grid; i++)
        if (k->grid[i] == axis)
            return str_format(w->text.arena, "g%u", axis);
    for (uint32_t i = 0; i < k->n_walked; i++)
        if (k->walked[i] == axis && k->loops.shape == KERNEL_SCAN && k->loops.reverse)
            return str_format(w->text.arena, "(%lld - g%u)",
                              (long long)pallas_blocks(w->text.nest, k, axis) - 1, axis);
        else if (k->walked[i] == axis)
            return str_format(w->text.arena, "g%u", axis);
    return NULL;
}

static const char *local_axis(PallasWriter *w, uint32_t axis)
{
    const PallasKernel *k = w->k;
    if (!w->local[axis])
        kernel_line_in(&w->text, 0,
                       str_format(w->text.arena, "b%u = line(%lld, %u, %u)", axis,
                                  (long long)k->block[axis], pallas_place(k, axis), k->rank));
    w->local[axis] = true;
    return str_format(w->text.arena, "b%u", axis);
}

const char *pallas_axis(PallasWriter *w, uint32_t axis)
{
    const PallasKernel *k = w->k;
    const char *name = str_format(w->text.arena, "a%u", axis), *number = block_number(w, axis);
    if (!((k->loops.kept | k->loops.row) >> axis & 1))
        return name; /* of a loop */
    if (!(k->tiled >> axis & 1))
        return number;
    if (!number)
        return local_axis(w, axis);
    if (!w->placed[axis]) {
        const char *local = local_axis(w, axis);
        kernel_line_in(&w->text, 0,
                       str_format(w->text.arena, "%s = %s * %lld + %s", name, number,
                                  (long long)k->block[axis], local));
    }
    w->placed[axis] = true;
    return name;
}

static const char *affine_text(PallasWriter *w, const AffineTerm *term, uint32_t n, int64_t at)
{
    Buf out = {0};
    for (uint32_t i = 0; i < n; i++) {
        buf_printf(&out, "%s%s", i ? " + " : "", pallas_axis(w, term[i].axis));
        if (term[i].by != 1)
            buf_printf(&out, term[i].by < 0 ? " * (%lld)" : " * %lld", (long long)term[i].by);
    }
    if (at || !n)
        buf_printf(&out, "%s%lld", !n ? "" : at < 0 ? " - " : " + ", llabs((long long)at));
    return kernel_take(w->text.arena, &out);
}

/* ---- loads ---- */

static const char *place_text(PallasWriter *w, NestId id);

/* Index arrays, one for each dimension of the block, that broadcast to the shape of the value. */
static const char *gather_text(PallasWriter *w, const PallasOperand *o, const PallasEntry *entries,
                               uint32_t n, NestId place)
{
    Buf out = {0};
    const char *picked = place ? place_text(w, place) : NULL;
    buf_printf(&out, "take(%s[...]", o->name);
    for (uint32_t i = 0; i < n; i++) {
        const PallasEntry *e = &entries[i];
        if (!e->block)
            continue;
        if (e->kind == PALLAS_UNIT) {
            buf_puts(&out, ", 0");
        } else if (e->kind == PALLAS_AXIS) {
            bool loop = !((w->k->loops.kept | w->k->loops.row) >> e->axis & 1);
            buf_printf(&out, ", %s", loop ? pallas_axis(w, e->axis) : local_axis(w, e->axis));
        } else {
            const PallasDim *d = &o->view.dim[e->dim];
            buf_printf(&out, ", %s", affine_text(w, d->term, d->n, d->at + d->pad_low));
            if (d->picked)
                buf_printf(&out, " + %s * %lld", picked, (long long)d->picked);
        }
    }
    buf_char(&out, ')');
    return kernel_take(w->text.arena, &out);
}

/* The part of a window's dimension that a block needs; the axis that walks it, or 0. */
static uint32_t window_text(PallasWriter *w, const PallasDim *d, Buf *out)
{
    AffineTerm loops[AFFINE_TERMS];
    uint32_t n = 0, axis = 0;
    int64_t by = 1;
    for (uint32_t i = 0; i < d->n; i++)
        if ((w->k->loops.kept | w->k->loops.row) >> d->term[i].axis & 1) {
            axis = d->term[i].axis;
            by = d->term[i].by;
        } else {
            loops[n++] = d->term[i];
        }
    const char *offset = affine_text(w, loops, n, d->at + d->pad_low);
    const char *number = axis && !d->walks ? block_number(w, axis) : NULL;
    const char *start = d->phases ? str_format(w->text.arena, "(%s) // %lld", offset,
                                               (long long)d->phases)
                                  : offset;
    int64_t size = axis && w->k->tiled >> axis & 1 ? w->k->block[axis] : 1;
    if (number)
        start = str_format(w->text.arena, "%s * %lld + %s", number,
                           (long long)(w->k->block[axis] * (d->phases ? 1 : by)), start);
    if (axis && w->k->tiled >> axis & 1)
        buf_printf(out, "pl.ds(%s, %lld)", start, (long long)size);
    else
        buf_puts(out, start);
    return axis && w->k->tiled >> axis & 1 ? axis : 0;
}

static const char *phase_text(PallasWriter *w, const PallasDim *d)
{
    AffineTerm loops[AFFINE_TERMS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->n; i++)
        if (!((w->k->loops.kept | w->k->loops.row) >> d->term[i].axis & 1))
            loops[n++] = d->term[i];
    return str_format(w->text.arena, "(%s) %% %lld", affine_text(w, loops, n, d->at + d->pad_low),
                      (long long)d->phases);
}

/* "[..., pl.ds(a3, 8), 0]" of a block; axes[i]: what the dimensions that are left walk. */
static const char *index_text(PallasWriter *w, const PallasOperand *o, const PallasEntry *entries,
                              uint32_t n, uint32_t *axes, uint32_t *left)
{
    Buf out = {0};
    bool all = true, any = false;
    *left = 0;
    buf_char(&out, '[');
    for (uint32_t i = 0; i < n; i++) {
        const PallasEntry *e = &entries[i];
        if (!e->block)
            continue;
        buf_puts(&out, any ? ", " : "");
        any = true;
        bool loop = e->kind == PALLAS_AXIS &&
                    !((w->k->loops.kept | w->k->loops.row) >> e->axis & 1);
        all = all && (e->kind == PALLAS_UNIT || (e->kind == PALLAS_AXIS && !loop));
        if (e->kind == PALLAS_PHASE) {
            buf_puts(&out, phase_text(w, &o->view.dim[e->dim]));
        } else if (e->kind == PALLAS_WHOLE) {
            uint32_t axis = window_text(w, &o->view.dim[e->dim], &out);
            if (axis)
                axes[(*left)++] = axis;
        } else if (loop) {
            buf_puts(&out, pallas_axis(w, e->axis));
        } else if (e->kind == PALLAS_UNIT) {
            buf_char(&out, ':');
            axes[(*left)++] = 0;
        } else {
            buf_char(&out, ':');
            axes[(*left)++] = e->axis;
        }
    }
    buf_char(&out, ']');
    const char *text = kernel_take(w->text.arena, &out);
    return all ? "[...]" : text;
}

/* Dimensions in the order of the kernel's axes, those that are missing with size 1. */
static const char *arranged(PallasWriter *w, const char *text, const uint32_t *axes, uint32_t n)
{
    const PallasKernel *k = w->k;
    uint64_t set = 0;
    uint32_t order[2 * PALLAS_DIMS], m = 0, last = 0;
    bool sorted = true, same = n == k->rank;
    for (uint32_t i = 0; i < n; i++) {
        set |= axes[i] ? UINT64_C(1) << axes[i] : 0;
        if (axes[i]) {
            sorted = sorted && pallas_place(k, axes[i]) >= last;
            last = pallas_place(k, axes[i]);
        }
        same = same && (axes[i] == k->tile[i] || (!axes[i] && !k->tile[i]));
    }
    if (same)
        return text;
    if (!sorted) {
        Buf out = {0};
        for (uint32_t i = 0; i < n; i++) /* dimensions of 1 first */
            if (!axes[i])
                order[m++] = i;
        for (uint32_t t = 0; t < k->rank; t++)
            for (uint32_t i = 0; i < n; i++)
                if (axes[i] && axes[i] == k->tile[t])
                    order[m++] = i;
        buf_printf(&out, "jnp.transpose(%s, (", text);
        for (uint32_t i = 0; i < n; i++)
            buf_printf(&out, "%s%u", i ? ", " : "", order[i]);
        buf_puts(&out, "))");
        text = kernel_take(w->text.arena, &out);
    }
    return str_format(w->text.arena, "%s.reshape%s", text, pallas_shape(w->text.arena, k, set));
}

static const char *element_text(PallasWriter *w, NestId id, NestId place)
{
    const PallasOperand *o = &w->in.at[w->operand[id] - 1];
    PallasEntry entries[2 * PALLAS_DIMS];
    uint32_t axes[2 * PALLAS_DIMS], left;
    uint32_t n = pallas_entries(w->text.nest, w->k, &o->view, entries);
    n = pallas_legalize(entries, n);
    if (o->view.gather)
        return gather_text(w, o, entries, n, place);
    const char *index = index_text(w, o, entries, n, axes, &left);
    return arranged(w, str_format(w->text.arena, "%s%s", o->name, index), axes, left);
}

static const char *load_text(PallasWriter *w, NestId id)
{
    const NestValue *v = &w->text.nest->values.at[id];
    const char *mask = v->n_arg ? pallas_value(w, v->arg[0]) : NULL;
    const char *text = element_text(w, id, 0);
    if (w->text.nest->tensors.at[v->tensor].dtype != DT_F32)
        text = str_format(w->text.arena, "%s.astype(jnp.float32)", text);
    return mask ? str_format(w->text.arena, "jnp.where(%s, %s, 0.0)", mask, text) : text;
}

/* A whole number: as it is in memory where it is read. */
static const char *place_text(PallasWriter *w, NestId id)
{
    const NestValue *v = &w->text.nest->values.at[id];
    if (v->op == NEST_LOAD && !v->n_arg && dtype_is_int(w->text.nest->tensors.at[v->tensor].dtype))
        return str_format(w->text.arena, "%s.astype(jnp.int32)", element_text(w, id, 0));
    return str_format(w->text.arena, "jnp.asarray(%s).astype(jnp.int32)", pallas_value(w, id));
}

static const char *pick_text(PallasWriter *w, NestId id)
{
    const NestValue *v = &w->text.nest->values.at[id];
    const char *mask = v->n_arg > 1 ? pallas_value(w, v->arg[1]) : NULL;
    const char *text = element_text(w, id, v->arg[0]);
    if (w->text.nest->tensors.at[v->tensor].dtype != DT_F32)
        text = str_format(w->text.arena, "%s.astype(jnp.float32)", text);
    return mask ? str_format(w->text.arena, "jnp.where(%s, %s, 0.0)", mask, text) : text;
}

/* ---- the others ---- */

static const char *inside_text(PallasWriter *w, const NestValue *v)
{
    const char *at = affine_text(w, v->index.term, v->index.n, v->index.at);
    return str_format(w->text.arena, "(%s >= 0) & (%s < %lld)", at, at, (long long)v->bound);
}

static const char *text_of(PallasWriter *w, NestId id)
{
    const NestValue *v = &w->text.nest->values.at[id];
    const char *args[NEST_ARGS] = {0};
    switch (v->op) {
    case NEST_LOAD: return load_text(w, id);
    case NEST_PLACE:
        return str_format(w->text.arena, "jnp.asarray(%s).astype(jnp.float32)",
                          pallas_axis(w, (uint32_t)__builtin_ctzll(v->axes)));
    case NEST_MAP:
        for (uint32_t i = 0; i < v->n_arg; i++)
            args[i] = pallas_value(w, v->arg[i]);
        return kernel_form(&w->text, v->form, args);
    case NEST_INSIDE: return inside_text(w, v);
    case NEST_PICK: return pick_text(w, id);
    default: return "0.0";
    }
}

/* A reduction over a window: loops that are unrolled when the kernel is traced. */
static void write_loops(PallasWriter *w, uint32_t scope, NestId id, const char *name)
{
    KernelText *t = &w->text;
    const NestValue *v = &t->nest->values.at[id];
    const char *join = kernel_join(v->reduce);
    uint32_t depth = t->depth, loops = 0;
    KernelScope above[KERNEL_SCOPES];
    memcpy(above, t->scope, sizeof above);
    t->depth = scope + 1;
    kernel_line(t, "%s = none_%s", name, join);
    for (uint32_t i = 1; i < t->nest->axes.len; i++)
        if (v->over >> i & 1) {
            kernel_open(t, UINT64_C(1) << i, "for a%u in range(%lld):", i,
                        (long long)t->nest->axes.at[i].size);
            loops++;
        }
    const char *x = pallas_value(w, v->arg[0]);
    kernel_line(t, "%s = join_%s(%s, %s)", name, join, name, x);
    for (; loops; loops--)
        kernel_close(t);
    for (uint32_t i = scope + 1; i < depth; i++)
        t->scope[i] = above[i];
    t->depth = depth;
}

const char *pallas_value(PallasWriter *w, NestId id)
{
    KernelText *t = &w->text;
    const NestValue *v = &t->nest->values.at[id];
    if (v->op == NEST_NUMBER)
        return kernel_number(t, v->number);
    if (v->op == NEST_COUNT)
        return kernel_number(t, (double)kernel_count(t->nest, v->over));
    uint32_t at = kernel_scope_of(t, v->axes);
    if (t->scope[at].name[id])
        return t->scope[at].name[id];
    const char *name = str_format(t->arena, "v%u", id);
    if (v->op == NEST_REDUCE) {
        write_loops(w, at, id, name);
    } else {
        const char *text = text_of(w, id);
        kernel_line_in(t, at, str_format(t->arena, "%s = %s", name, text));
    }
    t->scope[at].name[id] = name;
    return name;
}
