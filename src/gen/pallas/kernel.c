/* Kernels as Pallas text. In: a kernel with its blocks. Out: the function, and the pallas_call with its operands. */
#include "gen/pallas/pallas_int.h"

/* ---- block specs ---- */

/* Along an axis that is walked in passes, results stay at the first block until the last pass. */
static const char *block_index(const Nest *nest, const PallasKernel *k, uint32_t axis, bool result)
{
    for (uint32_t i = 0; i < k->n_grid; i++)
        if (k->grid[i] == axis)
            return str_format(nest->arena, "g%u", axis);
    for (uint32_t i = 0; i < k->n_walked; i++) {
        if (k->walked[i] != axis)
            continue;
        if (k->loops.shape == KERNEL_SCAN && k->loops.reverse)
            return str_format(nest->arena, "%lld - g%u",
                              (long long)pallas_blocks(nest, k, axis) - 1, axis);
        return result && k->passes > 1
                   ? str_format(nest->arena, "jnp.where(s == %u, g%u, 0)", k->passes - 1, axis)
                   : str_format(nest->arena, "g%u", axis);
    }
    return "0";
}

static const char *grid_names(const Nest *nest, const PallasKernel *k)
{
    Buf out = {0};
    const char *between = "";
    for (uint32_t i = 0; i < k->n_grid; i++, between = ", ")
        buf_printf(&out, "%sg%u", between, k->grid[i]);
    if (k->passes > 1) {
        buf_printf(&out, "%ss", between);
        between = ", ";
    }
    for (uint32_t i = 0; i < k->n_walked; i++, between = ", ")
        buf_printf(&out, "%sg%u", between, k->walked[i]);
    buf_puts(&out, "");
    return kernel_take(nest->arena, &out);
}

const char *pallas_spec(const Nest *nest, const PallasKernel *k, const PallasEntry *entries,
                        uint32_t n, bool result)
{
    Buf shape = {0}, at = {0};
    for (uint32_t i = 0; i < n; i++) {
        const char *end = i + 1 < n ? ", " : "";
        const char *index = entries[i].kind == PALLAS_AXIS || entries[i].overlaps
                                ? block_index(nest, k, entries[i].axis, result)
                                : "0";
        if (entries[i].overlaps) {
            buf_printf(&shape, "pl.Element(%lld)%s", (long long)entries[i].block, end);
            buf_printf(&at, "(%s) * %lld%s", index, (long long)entries[i].step, end);
            continue;
        }
        if (entries[i].block)
            buf_printf(&shape, "%lld%s", (long long)entries[i].block, end);
        else
            buf_printf(&shape, "None%s", end);
        buf_printf(&at, "%s%s", index, end);
    }
    const char *names = grid_names(nest, k);
    const char *text = str_format(nest->arena, "pl.BlockSpec((%s), lambda%s%s: (%s))", shape.at,
                                  names[0] ? " " : "", names, at.at);
    buf_free(&shape);
    buf_free(&at);
    return text;
}

static int64_t block_bytes(const PallasEntry *entries, uint32_t n, DType dtype)
{
    int64_t bytes = (int64_t)dtype_bytes(dtype);
    for (uint32_t i = 0; i < n; i++) {
        int64_t block = entries[i].block ? entries[i].block : 1;
        int64_t unit = i + 1 == n ? PALLAS_LANES : i + 2 == n ? PALLAS_SUBLANES : 1;
        bytes *= (block + unit - 1) / unit * unit;
    }
    return bytes;
}

/* ---- operands ---- */

const char *pallas_tensor(const Nest *nest, const KernelTask *task, uint32_t tensor)
{
    const char *name = task->parts.at[0].argument[tensor];
    return name ? name : str_format(nest->arena, "w%u", tensor);
}

/* Whether two values are elements of the same view: picks of it at different places. */
static bool same_view(const NestValue *a, const NestValue *b)
{
    return a->op == b->op && a->tensor == b->tensor && a->by == b->by && a->bound == b->bound &&
           affine_equal(&a->index, &b->index);
}

static uint32_t find_operand(const PallasWriter *w, NestId id)
{
    const NestValue *v = &w->text.nest->values.at[id];
    for (uint32_t i = 0; i < w->in.len && v->op == NEST_PICK; i++)
        if (same_view(&w->text.nest->values.at[w->in.at[i].load], v))
            return i + 1;
    return 0;
}

static void add_operands(PallasWriter *w, const KernelTask *task, const bool *reached)
{
    const Nest *nest = w->text.nest;
    uint32_t *operand = arena_array(nest->arena, uint32_t, nest->values.len);
    for (uint32_t i = 1; i < nest->values.len; i++) {
        const NestValue *v = &nest->values.at[i];
        if (!reached[i] || (v->op != NEST_LOAD && v->op != NEST_PICK))
            continue;
        operand[i] = find_operand(w, i);
        if (operand[i])
            continue;
        PallasOperand o = {.load = i, .tensor = v->tensor};
        PallasEntry entries[2 * PALLAS_DIMS];
        pallas_view(nest, w->k, i, &o.view);
        uint32_t n = pallas_legalize(entries, pallas_entries(nest, w->k, &o.view, entries));
        o.name = str_format(nest->arena, "t%u", i);
        o.spec = pallas_spec(nest, w->k, entries, n, false);
        o.array = pallas_array(nest, &o.view, v->tensor, pallas_tensor(nest, task, v->tensor),
                               entries, n);
        o.bytes = block_bytes(entries, n, nest->tensors.at[v->tensor].dtype);
        vec_push(nest->arena, &w->in, o);
        operand[i] = w->in.len;
    }
    w->operand = operand;
}

/* The dimensions of a store's own array: its axes, as they lie in memory. */
static uint32_t store_entries(const Nest *nest, const PallasKernel *k, const NestStore *s,
                              PallasEntry *entries)
{
    PallasView view = {0};
    bool apart = pallas_store_view(nest, s, &view);
    if (!apart) {
        view = (PallasView){0};
        for (uint32_t i = 0; i < s->index.n; i++)
            view.dim[view.n++] = (PallasDim){.size = nest->axes.at[s->index.term[i].axis].size,
                                             .n = 1,
                                             .term = {s->index.term[i]}};
    }
    return pallas_legalize(entries, pallas_entries(nest, k, &view, entries));
}

/* ---- results ---- */

static void write_store(PallasWriter *w, uint32_t number)
{
    const Nest *nest = w->text.nest;
    const PallasKernel *k = w->k;
    const NestStore *s = &nest->stores.at[k->loops.store[number]];
    PallasEntry entries[2 * PALLAS_DIMS];
    uint32_t n = store_entries(nest, k, s, entries), order[2 * PALLAS_DIMS], m = 0, last = 0;
    uint64_t axes = 0;
    bool sorted = true;
    Buf shape = {0}, perm = {0};
    for (uint32_t i = 0; i < n; i++) {
        if (entries[i].block)
            buf_printf(&shape, "%lld, ", (long long)entries[i].block);
        if (entries[i].kind != PALLAS_AXIS || !entries[i].block)
            continue;
        uint32_t place = pallas_place(k, entries[i].axis);
        axes |= UINT64_C(1) << entries[i].axis;
        sorted = sorted && place >= last;
        last = place;
        order[m++] = place;
    }
    for (uint32_t t = 0; t < k->rank; t++) {
        bool found = false;
        for (uint32_t i = 0; i < m; i++)
            found = found || order[i] == t;
        if (!found)
            buf_printf(&perm, "%u, ", t);
    }
    for (uint32_t i = 0; i < m; i++)
        buf_printf(&perm, "%u, ", order[i]);
    const char *x = pallas_value(w, s->value), *y = "";
    if (axes & ~nest->values.at[s->value].axes || !axes)
        x = str_format(nest->arena, "jnp.broadcast_to(%s, %s)", x,
                       pallas_shape(nest->arena, k, axes));
    if (!sorted)
        x = str_format(nest->arena, "jnp.transpose(%s, (%s))", x, perm.at);
    if (!sorted || m != k->rank || n != k->rank)
        y = str_format(nest->arena, ".reshape(%s)", shape.at);
    if (nest->tensors.at[s->tensor].dtype != DT_F32)
        y = str_format(nest->arena, "%s.astype(y%u.dtype)", y, number);
    kernel_line(&w->text, "y%u[...] = %s%s%s%s", number, y[0] ? "(" : "", x, y[0] ? ")" : "", y);
    buf_free(&shape);
    buf_free(&perm);
}

static void write_results(PallasWriter *w)
{
    for (uint32_t i = 0; i < w->k->loops.n_stores; i++)
        write_store(w, i);
}

/* ---- rows ---- */

/* What is reduced or scanned, with nothing of it after the end of the last block. */
static const char *masked_text(PallasWriter *w, NestId id)
{
    const Nest *nest = w->text.nest;
    const NestValue *v = &nest->values.at[id];
    const char *x = pallas_value(w, v->arg[0]);
    uint64_t has = nest->values.at[v->arg[0]].axes;
    if (v->over & ~has)
        x = str_format(nest->arena, "jnp.broadcast_to(%s, %s)", x,
                       pallas_shape(nest->arena, w->k, (has | v->over) & w->k->tiled));
    for (uint32_t i = 0; i < w->k->n_walked; i++) {
        uint32_t axis = w->k->walked[i];
        if (nest->axes.at[axis].size % w->k->block[axis])
            x = str_format(nest->arena, "jnp.where(%s < %lld, %s, none_%s)", pallas_axis(w, axis),
                           (long long)nest->axes.at[axis].size, x, kernel_join(v->reduce));
    }
    return x;
}

static const char *row_dims(const PallasWriter *w, uint64_t axes)
{
    Buf out = {0};
    for (uint32_t i = 0; i < w->k->rank; i++)
        if (w->k->tile[i] && axes >> w->k->tile[i] & 1)
            buf_printf(&out, "%u, ", i);
    return kernel_take(w->text.arena, &out);
}

static const char *at_block(const PallasWriter *w, bool last)
{
    const PallasKernel *k = w->k;
    Buf out = {0};
    for (uint32_t i = 0; i < k->n_walked; i++)
        buf_printf(&out, "%s(g%u == %lld)", i ? " & " : "", k->walked[i],
                   last ? (long long)pallas_blocks(w->text.nest, k, k->walked[i]) - 1 : 0LL);
    return kernel_take(w->text.arena, &out);
}

/* All reductions of a level: at once, or block by block into scratch memory. */
static void write_level(PallasWriter *w, const bool *now)
{
    const Nest *nest = w->text.nest;
    KernelText *t = &w->text;
    uint32_t scope = t->depth - 1;
    for (uint32_t i = 1; i < nest->values.len && w->k->n_walked; i++)
        if (now[i]) {
            kernel_open(t, 0, "@pl.when(%s)\ndef _():", at_block(w, false));
            kernel_line(t, "r%u[...] = jnp.full_like(r%u, none_%s)", i, i,
                        kernel_join(nest->values.at[i].reduce));
            kernel_close(t);
        }
    for (uint32_t i = 1; i < nest->values.len; i++) {
        const char *join = kernel_join(nest->values.at[i].reduce);
        if (!now[i])
            continue;
        const char *x = masked_text(w, i), *dims = row_dims(w, nest->values.at[i].over);
        if (w->k->n_walked)
            kernel_line(t, "r%u[...] = join_%s(r%u[...], fold_%s(%s, (%s)))", i, join, i, join, x,
                        dims);
        else
            kernel_line(t, "v%u = fold_%s(%s, (%s))", i, join, x, dims);
        if (!w->k->n_walked)
            kernel_name(t, scope, i, str_format(t->arena, "v%u", i));
    }
}

static void write_rows(PallasWriter *w, const bool *reached)
{
    const Nest *nest = w->text.nest;
    const PallasKernel *k = w->k;
    KernelText *t = &w->text;
    uint64_t all = k->loops.kept | k->loops.row;
    bool along = k->loops.kept & k->loops.row;
    uint32_t *memo = arena_array(t->arena, uint32_t, nest->values.len);
    for (uint32_t l = 1; l <= k->levels; l++) {
        bool *now = arena_array(t->arena, bool, nest->values.len);
        for (uint32_t i = 1; i < nest->values.len; i++)
            now[i] = reached[i] && kernel_is_team(&k->loops, &nest->values.at[i]) &&
                     kernel_level(nest, &k->loops, i, memo) == l;
        if (k->passes > 1)
            kernel_open(t, all, "@pl.when(s == %u)\ndef _():", l - 1);
        for (uint32_t i = 1; i < nest->values.len; i++)
            if (k->n_walked && reached[i] && kernel_is_team(&k->loops, &nest->values.at[i]) &&
                kernel_level(nest, &k->loops, i, memo) < l)
                kernel_name(t, kernel_scope_of(t, nest->values.at[i].axes), i,
                            str_format(t->arena, "r%u[...]", i));
        write_level(w, now);
        if (k->passes > 1)
            kernel_close(t);
    }
    if (!k->n_walked) {
        write_results(w);
        return;
    }
    const char *pass = k->passes > 1 ? str_format(t->arena, "(s == %u)", k->passes - 1) : "";
    kernel_open(t, all, "@pl.when(%s%s%s)\ndef _():", pass, pass[0] && !along ? " & " : "",
                along ? "" : at_block(w, true));
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (reached[i] && kernel_is_team(&k->loops, &nest->values.at[i]))
            kernel_name(t, kernel_scope_of(t, nest->values.at[i].axes), i,
                        str_format(t->arena, "r%u[...]", i));
    write_results(w);
    kernel_close(t);
}

/* ---- scans ---- */

static void write_scan(PallasWriter *w, const bool *reached)
{
    const Nest *nest = w->text.nest;
    const PallasKernel *k = w->k;
    KernelText *t = &w->text;
    for (uint32_t i = 1; i < nest->values.len; i++) {
        const NestValue *v = &nest->values.at[i];
        if (!reached[i] || v->op != NEST_SCAN)
            continue;
        const char *join = kernel_join(v->reduce);
        uint32_t axis = (uint32_t)__builtin_ctzll(v->over), dim = pallas_place(k, axis);
        if (k->n_walked) {
            kernel_open(t, 0, "@pl.when(%s)\ndef _():", at_block(w, false));
            kernel_line(t, "r%u[...] = jnp.full_like(r%u, none_%s)", i, i, join);
            kernel_close(t);
        }
        kernel_line(t, "v%u = scan(%s, %u, join_%s, none_%s, %s)", i, masked_text(w, i), dim, join,
                    join, v->reverse ? "True" : "False");
        if (k->n_walked) {
            long long last = v->reverse ? 0 : (long long)k->block[axis] - 1;
            kernel_line(t, "v%u = join_%s(r%u[...], v%u)", i, join, i, i);
            kernel_line(t, "r%u[...] = part(v%u, %u, %lld, %lld)", i, i, dim, last, last + 1);
        }
        kernel_name(t, t->depth - 1, i, str_format(t->arena, "v%u", i));
    }
    write_results(w);
}

/* ---- the call ---- */

static bool has_scratch(const PallasKernel *k, const NestValue *v)
{
    return k->n_walked && (kernel_is_team(&k->loops, v) || v->op == NEST_SCAN);
}

static const char *scratch_text(const Nest *nest, const PallasKernel *k, const bool *reached,
                                Buf *names)
{
    Buf out = {0};
    buf_puts(&out, "");
    for (uint32_t i = 1; i < nest->values.len; i++) {
        const NestValue *v = &nest->values.at[i];
        if (!reached[i] || !has_scratch(k, v))
            continue;
        buf_printf(names, ", r%u", i);
        buf_printf(&out, "            pltpu.VMEM(%s, jnp.float32),\n",
                   pallas_shape(nest->arena, k, v->axes & ~v->over & k->tiled));
    }
    return kernel_take(nest->arena, &out);
}

static const char *grid_text(const Nest *nest, const PallasKernel *k, Buf *semantics)
{
    Buf out = {0};
    buf_puts(&out, "");
    for (uint32_t i = 0; i < k->n_grid; i++) {
        buf_printf(&out, "%lld, ", (long long)pallas_blocks(nest, k, k->grid[i]));
        buf_puts(semantics, "\"parallel\", ");
    }
    if (k->passes > 1) {
        buf_printf(&out, "%u, ", k->passes);
        buf_puts(semantics, "\"arbitrary\", ");
    }
    for (uint32_t i = 0; i < k->n_walked; i++) {
        buf_printf(&out, "%lld, ", (long long)pallas_blocks(nest, k, k->walked[i]));
        buf_puts(semantics, "\"arbitrary\", ");
    }
    return kernel_take(nest->arena, &out);
}

/* Where the array of a store becomes the tensor, or a part of it. */
static void put_result(const Nest *nest, const NestStore *s, const char *tensor, uint32_t number,
                       Buf *out)
{
    PallasView view = {0};
    long long count = (long long)nest->tensors.at[s->tensor].count;
    if (!pallas_store_view(nest, s, &view)) {
        buf_printf(out, "    at = %lld", (long long)s->index.at);
        for (uint32_t i = 0; i < s->index.n; i++)
            buf_printf(out, " + %lld * line(%lld, %u, %u)", (long long)s->index.term[i].by,
                       (long long)nest->axes.at[s->index.term[i].axis].size, i, s->index.n);
        buf_printf(out, "\n    %s = %s.reshape(-1).at[at.reshape(-1)].set(out[%u].reshape(-1))\n",
                   tensor, tensor, number);
        return;
    }
    const char *slices = pallas_slices(nest, &view);
    if (!slices[0]) {
        buf_printf(out, "    %s = out[%u].reshape(-1)\n", tensor, number);
        return;
    }
    buf_printf(out, "    %s = %s.reshape(", tensor, tensor);
    for (uint32_t d = 0; d < view.n; d++)
        buf_printf(out, "%lld, ", (long long)view.dim[d].size);
    buf_printf(out, ").at%s.set(out[%u].reshape(", slices, number);
    for (uint32_t d = 0; d < view.n; d++)
        if (view.dim[d].n)
            buf_printf(out, "%lld, ", (long long)nest->axes.at[view.dim[d].term[0].axis].size);
    buf_printf(out, ")).reshape(%lld)\n", count);
}

/* Whether the store fills a part of its tensor only. */
bool pallas_is_part(const Nest *nest, const NestStore *s)
{
    PallasView view = {0};
    return !pallas_store_view(nest, s, &view) || pallas_slices(nest, &view)[0];
}

static const char *call_text(PallasWriter *w, const KernelTask *task, const char *name,
                             const char *scratch, int64_t *bytes)
{
    const Nest *nest = w->text.nest;
    const PallasKernel *k = w->k;
    Buf out = {0}, specs = {0}, shapes = {0}, semantics = {0};
    buf_puts(&semantics, "");
    const char *grid = grid_text(nest, k, &semantics);
    for (uint32_t i = 0; i < k->loops.n_stores; i++) {
        const NestStore *s = &nest->stores.at[k->loops.store[i]];
        PallasEntry entries[2 * PALLAS_DIMS];
        uint32_t n = store_entries(nest, k, s, entries);
        DType dtype = nest->tensors.at[s->tensor].dtype;
        buf_printf(&specs, "            %s,\n", pallas_spec(nest, k, entries, n, true));
        buf_puts(&shapes, "            jax.ShapeDtypeStruct((");
        for (uint32_t d = 0; d < n; d++)
            buf_printf(&shapes, "%lld%s", (long long)entries[d].size, d + 1 < n ? ", " : "");
        buf_printf(&shapes, "), jnp.%s),\n", pallas_type(dtype));
        *bytes += 2 * block_bytes(entries, n, dtype);
    }
    buf_printf(&out, "    out = pl.pallas_call(\n        %s,\n", name);
    if (grid[0])
        buf_printf(&out, "        grid=(%s),\n", grid);
    buf_puts(&out, "        in_specs=[\n");
    for (uint32_t i = 0; i < w->in.len; i++) {
        buf_printf(&out, "            %s,\n", w->in.at[i].spec);
        *bytes += 2 * w->in.at[i].bytes;
    }
    buf_printf(&out,
               "        ],\n        out_specs=[\n%s        ],\n        out_shape=[\n%s        ],\n",
               specs.at, shapes.at);
    if (scratch[0])
        buf_printf(&out, "        scratch_shapes=[\n%s        ],\n", scratch);
    if (grid[0])
        buf_printf(&out,
                   "        compiler_params=pltpu.CompilerParams(dimension_semantics=(%s)),\n",
                   semantics.at);
    buf_puts(&out, "        interpret=interpret,\n    )(\n");
    for (uint32_t i = 0; i < w->in.len; i++)
        buf_printf(&out, "        %s,\n", w->in.at[i].array);
    buf_puts(&out, "    )\n");
    for (uint32_t i = 0; i < k->loops.n_stores; i++) {
        const NestStore *s = &nest->stores.at[k->loops.store[i]];
        put_result(nest, s, pallas_tensor(nest, task, s->tensor), i, &out);
    }
    buf_free(&specs);
    buf_free(&shapes);
    buf_free(&semantics);
    return kernel_take(nest->arena, &out);
}

PallasCall pallas_write_kernel(const Nest *nest, const PallasKernel *k, const KernelTask *task,
                               const char *name)
{
    PallasWriter w = {.text = {.arena = nest->arena, .nest = nest, .language = &pallas_language},
                      .k = k};
    bool *reached = arena_array(nest->arena, bool, nest->values.len);
    Buf head = {0}, names = {0};
    PallasCall made = {0};
    uint32_t number = 0;
    kernel_reach(nest, &k->loops, reached);
    add_operands(&w, task, reached);
    buf_puts(&names, "");
    const char *scratch = scratch_text(nest, k, reached, &names);
    buf_printf(&head, "def %s(", name);
    for (uint32_t i = 0; i < w.in.len; i++)
        buf_printf(&head, "%s, ", w.in.at[i].name);
    for (uint32_t i = 0; i < k->loops.n_stores; i++)
        buf_printf(&head, "%sy%u", i ? ", " : "", i);
    buf_printf(&head, "%s):\n", names.at);
    kernel_open(&w.text, 0, "%s", "");
    for (uint32_t i = 0; i < k->n_grid; i++)
        kernel_line(&w.text, "g%u = pl.program_id(%u)", k->grid[i], number++);
    if (k->passes > 1)
        kernel_line(&w.text, "s = pl.program_id(%u)", number++);
    for (uint32_t i = 0; i < k->n_walked; i++)
        kernel_line(&w.text, "g%u = pl.program_id(%u)", k->walked[i], number++);
    switch (k->loops.shape) {
    case KERNEL_MAP: write_results(&w); break;
    case KERNEL_ROWS: write_rows(&w, reached); break;
    case KERNEL_SCAN: write_scan(&w, reached); break;
    case KERNEL_MEET:
    case KERNEL_PRODUCT: break; /* its limits ask for none */
    }
    buf_str(&head, buf_view(&w.text.scope[0].text));
    made.function = kernel_take(nest->arena, &head);
    made.call = call_text(&w, task, name, scratch, &made.bytes);
    buf_free(&w.text.scope[0].head);
    buf_free(&w.text.scope[0].text);
    buf_free(&names);
    return made;
}
