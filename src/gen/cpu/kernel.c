/* Kernels as C text. In: a kernel. Out: its lanes, and a function over a share of its units. */
#include "gen/cpu/cpu_int.h"

#include <ctype.h>
#include <stdlib.h>

enum {
    LANES = 512,        /* arrays of as many floats stay in the first cache */
    STREAM = 32 << 20,  /* bytes of a result that no cache keeps */
    STREAM_LANES = 128, /* fewer are no whole lines */
    KEPT_ROW = 8 << 10, /* elements of a row that is kept on the stack */
    KEPT_VALUES = 4
};

/* ---- what a row keeps between passes ---- */

/* A form that calls a function costs more than storing its value and loading it again; sums and products cost less. */
static bool calls_function(const char *form)
{
    for (const char *p = form; *p; p++)
        if (*p == '(' && p > form && isalpha((unsigned char)p[-1]))
            return true;
    return false;
}

/* Marks what the value rests on along the row, down to reductions of it. */
static void mark_pass(const Nest *nest, const Kernel *k, NestId id, bool *used)
{
    const NestValue *v = &nest->values.at[id];
    if (used[id] || kernel_is_team(k, v) || !(v->axes & k->row))
        return;
    used[id] = true;
    for (uint32_t i = 0; i < v->n_arg; i++)
        mark_pass(nest, k, v->arg[i], used);
}

static void find_kept(const Nest *nest, CpuKernel *k)
{
    const Kernel *loops = &k->loops;
    k->kept = arena_array(nest->arena, bool, nest->values.len);
    if (!k->inside || loops->shape != KERNEL_ROWS || loops->n_row != 1 || loops->length > KEPT_ROW)
        return;
    bool *reached = arena_array(nest->arena, bool, nest->values.len);
    uint32_t *memo = arena_array(nest->arena, uint32_t, nest->values.len);
    uint32_t *passes = arena_array(nest->arena, uint32_t, nest->values.len), most = 0, n = 0;
    kernel_reach(nest, loops, reached);
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (reached[i] && kernel_is_team(loops, &nest->values.at[i]))
            most = kernel_level(nest, loops, i, memo) > most ? kernel_level(nest, loops, i, memo)
                                                             : most;
    for (uint32_t pass = 1; pass <= most + 1; pass++) {
        bool *used = arena_array(nest->arena, bool, nest->values.len);
        for (uint32_t i = 1; i < nest->values.len; i++)
            if (reached[i] && kernel_is_team(loops, &nest->values.at[i]) &&
                kernel_level(nest, loops, i, memo) == pass)
                mark_pass(nest, loops, nest->values.at[i].arg[0], used);
        for (uint32_t i = 0; pass > most && i < loops->n_stores; i++)
            mark_pass(nest, loops, nest->stores.at[loops->store[i]].value, used);
        for (uint32_t i = 1; i < nest->values.len; i++)
            passes[i] += used[i];
    }
    for (uint32_t i = nest->values.len; i-- > 1 && n < KEPT_VALUES;) {
        const NestValue *v = &nest->values.at[i];
        if (passes[i] > 1 && v->op == NEST_MAP && !v->mask && calls_function(v->form)) {
            k->kept[i] = true;
            n++;
        }
    }
}

/* ---- roles ---- */

void cpu_roles(const Nest *nest, CpuKernel *k)
{
    const Kernel *loops = &k->loops;
    if (loops->shape == KERNEL_PRODUCT) {
        k->kept = arena_array(nest->arena, bool, nest->values.len);
        k->lanes = 1;
        cpu_product_roles(k);
        return;
    }
    k->inside = loops->shape != KERNEL_MAP && !loops->columns && loops->n_row > 0;
    k->lane = k->inside        ? loops->along[loops->n_row - 1]
              : loops->n_point ? loops->point[loops->n_point - 1]
                               : 0;
    int64_t size = k->lane ? nest->axes.at[k->lane].size : 1;
    int64_t tiles = (size + LANES - 1) / LANES;
    k->lanes = (size + tiles - 1) / tiles; /* all tiles of about the same size ... */
    if (tiles > 1)
        k->lanes = (k->lanes + 15) / 16 * 16; /* ... and whole vectors */
    find_kept(nest, k);
    k->units = loops->points;
    if (k->lane && !k->inside)
        k->units = loops->points / size * ((size + k->lanes - 1) / k->lanes);
}

/* ---- the function ---- */

static void put_signature(const Nest *nest, const CpuKernel *k, const char *name, Buf *out)
{
    bool *read = arena_array(nest->arena, bool, nest->tensors.len);
    bool *written = arena_array(nest->arena, bool, nest->tensors.len);
    kernel_tensors(nest, &k->loops, read, written);
    buf_printf(out, "VERSIONS static void %s(", name);
    for (uint32_t i = 0; i < nest->tensors.len; i++)
        if (read[i] || written[i])
            buf_printf(out, "%s%s *restrict t%u, ", written[i] ? "" : "const ",
                       cpu_type(nest->tensors.at[i].dtype), i);
    buf_puts(out, "int64_t from, int64_t to)\n{\n");
}

/* The loop over the elements of a row, in tiles of lanes; what it opened is closed by close_row. */
static uint32_t open_row(CpuWriter *w)
{
    const CpuKernel *k = w->k;
    uint32_t opened = 0, lane = k->lane;
    for (uint32_t i = 0; i < k->loops.n_row; i++) {
        uint32_t axis = k->loops.along[i];
        long long size = (long long)w->text.nest->axes.at[axis].size, each = (long long)k->lanes;
        uint64_t bit = UINT64_C(1) << axis;
        const char *type = cpu_axis_type(w, axis);
        if (axis != lane) {
            kernel_open(&w->text, bit, "for (%s a%u = 0; a%u < %lld; a%u++) {", type, axis, axis,
                        size, axis);
        } else {
            bool turned = k->loops.shape == KERNEL_SCAN && k->loops.reverse;
            kernel_open(&w->text, bit, "for (%s i = 0; i < %lld; i += %lld) {", type, size, each);
            if (turned)
                kernel_line(&w->text, "const %s b%u = %lld - i;", type, axis, size - 1);
            else
                kernel_line(&w->text, "const %s b%u = i;", type, axis);
            if (size % each)
                kernel_line(&w->text, "const int n = i + %lld <= %lld ? %lld : %lld;", each, size,
                            each, size % each);
            else
                kernel_line(&w->text, "enum { n = %lld };", each);
        }
        opened++;
    }
    return opened;
}

static void close_all(CpuWriter *w, uint32_t opened)
{
    for (; opened; opened--)
        kernel_close(&w->text);
}

/* ---- results ---- */

static bool is_streamed(const CpuWriter *w, const NestStore *s)
{
    const NestTensor *t = &w->text.nest->tensors.at[s->tensor];
    return w->k->lane && w->k->lanes >= STREAM_LANES && t->dtype == DT_F32 &&
           t->count * 4 >= STREAM && affine_by(&s->index, w->k->lane) == 1 &&
           !(w->k->loops.shape == KERNEL_SCAN && w->k->loops.reverse && w->k->inside);
}

/* All stores of the kernel in one vector loop, and after it what goes past the caches. */
static void write_results(CpuWriter *w)
{
    const CpuKernel *k = w->k;
    for (uint32_t i = 0; i < k->loops.n_stores; i++)
        if (is_streamed(w, &w->text.nest->stores.at[k->loops.store[i]]))
            kernel_line(&w->text, "float y%u[%lld];", i, (long long)k->lanes);
    cpu_open_lanes(w);
    for (uint32_t i = 0; i < k->loops.n_stores; i++) {
        const NestStore *s = &w->text.nest->stores.at[k->loops.store[i]];
        const char *x = cpu_value(w, s->value);
        if (is_streamed(w, s))
            kernel_line(&w->text, "y%u[v] = %s;", i, x);
        else
            kernel_line(&w->text, "t%u[%s] = %s;", s->tensor,
                        cpu_index(w, 0, i, s->tensor, &s->index),
                        cpu_store_text(w, w->text.nest->tensors.at[s->tensor].dtype, x));
    }
    kernel_close(&w->text);
    for (uint32_t i = 0; i < k->loops.n_stores; i++) {
        const NestStore *s = &w->text.nest->stores.at[k->loops.store[i]];
        if (is_streamed(w, s))
            kernel_line(&w->text, "stream_out(t%u + (%s), y%u, n);", s->tensor,
                        cpu_base(w, s->tensor, &s->index), i);
    }
}

/* ---- rows ---- */

/* All reductions of a level in one pass over the row. */
static void write_pass(CpuWriter *w, const bool *now)
{
    const Nest *nest = w->text.nest;
    const CpuKernel *k = w->k;
    uint32_t scope = w->text.depth - 1;
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (now[i]) {
            kernel_line(&w->text, "float r%u[%lld];", i, (long long)k->lanes);
            kernel_line(&w->text, "for (int v = 0; v < %s; v++)",
                        k->inside ? str_format(w->text.arena, "%lld", (long long)k->lanes)
                        : k->lane ? "n"
                                  : "1");
            kernel_line(&w->text, "    r%u[v] = none_%s;", i,
                        kernel_join(nest->values.at[i].reduce));
        }
    uint32_t opened = open_row(w);
    cpu_open_lanes(w);
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (now[i]) {
            const char *at = k->lane ? "v" : "0", *join = kernel_join(nest->values.at[i].reduce);
            const char *x = cpu_value(w, nest->values.at[i].arg[0]);
            kernel_line(&w->text, "r%u[%s] = join_%s(r%u[%s], %s);", i, at, join, i, at, x);
        }
    close_all(w, opened + 1);
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (now[i]) {
            const char *name = str_format(w->text.arena, k->lane ? "r%u[v]" : "r%u[0]", i);
            if (k->inside) {
                name = str_format(w->text.arena, "v%u", i);
                kernel_line(&w->text, "const float v%u = fold_%s(r%u, %lld);", i,
                            kernel_join(nest->values.at[i].reduce), i, (long long)k->lanes);
            }
            kernel_name(&w->text, scope, i, name);
        }
}

static void write_rows(CpuWriter *w, const bool *reached)
{
    const Nest *nest = w->text.nest;
    const Kernel *k = &w->k->loops;
    uint32_t *memo = arena_array(w->text.arena, uint32_t, nest->values.len), most = 0;
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (reached[i] && kernel_is_team(k, &nest->values.at[i])) {
            uint32_t l = kernel_level(nest, k, i, memo);
            most = l > most ? l : most;
        }
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (reached[i] && w->k->kept[i])
            kernel_line(&w->text, "float k%u[%lld];", i, (long long)k->length);
    for (uint32_t l = 1; l <= most; l++) {
        bool *now = arena_array(w->text.arena, bool, nest->values.len);
        for (uint32_t i = 1; i < nest->values.len; i++)
            now[i] = reached[i] && kernel_is_team(k, &nest->values.at[i]) &&
                     kernel_level(nest, k, i, memo) == l;
        write_pass(w, now);
    }
    if (k->kept & k->row) {
        uint32_t opened = open_row(w);
        write_results(w);
        close_all(w, opened);
    } else if (w->k->inside) {
        CpuKernel alone = *w->k; /* one result a row */
        alone.lane = 0;
        const CpuKernel *whole = w->k;
        w->k = &alone;
        write_results(w);
        w->k = whole;
    } else {
        write_results(w);
    }
}

/* ---- scans ---- */

/* Along the lanes: what is scanned goes into an array, which one lane after the other is then joined in. */
static void scan_tile(CpuWriter *w, NestId id)
{
    const NestValue *v = &w->text.nest->values.at[id];
    const char *join = kernel_join(v->reduce);
    kernel_line(&w->text, "float r%u[%lld];", id, (long long)w->k->lanes);
    cpu_open_lanes(w);
    const char *x = cpu_value(w, v->arg[0]);
    kernel_line(&w->text, "r%u[v] = %s;", id, x);
    kernel_close(&w->text);
    kernel_line(&w->text, "for (int v = 0; v < n; v++)");
    kernel_line(&w->text, "    r%u[v] = c%u = join_%s(c%u, r%u[v]);", id, id, join, id, id);
    kernel_name(&w->text, w->text.depth - 1, id, str_format(w->text.arena, "r%u[v]", id));
}

/* Across the lanes: every lane has a running result of its own. */
static void scan_step(CpuWriter *w, NestId id)
{
    const NestValue *v = &w->text.nest->values.at[id];
    const char *join = kernel_join(v->reduce), *at = w->k->lane ? "v" : "0";
    cpu_open_lanes(w);
    const char *x = cpu_value(w, v->arg[0]);
    kernel_line(&w->text, "c%u[%s] = join_%s(c%u[%s], %s);", id, at, join, id, at, x);
    kernel_close(&w->text);
    kernel_name(&w->text, w->text.depth - 1, id, str_format(w->text.arena, "c%u[%s]", id, at));
}

static void write_scan(CpuWriter *w, const bool *reached)
{
    const CpuKernel *k = w->k;
    for (uint32_t i = 1; i < w->text.nest->values.len; i++) {
        const NestValue *v = &w->text.nest->values.at[i];
        if (!reached[i] || v->op != NEST_SCAN)
            continue;
        const char *join = kernel_join(v->reduce);
        if (k->inside) {
            kernel_line(&w->text, "float c%u = none_%s;", i, join);
        } else {
            kernel_line(&w->text, "float c%u[%lld];", i, (long long)k->lanes);
            kernel_line(&w->text, "for (int v = 0; v < %lld; v++)", (long long)k->lanes);
            kernel_line(&w->text, "    c%u[v] = none_%s;", i, join);
        }
    }
    uint32_t axis = k->loops.along[0], opened = 1;
    if (k->inside) {
        opened = open_row(w);
    } else {
        long long size = (long long)w->text.nest->axes.at[axis].size;
        kernel_open(&w->text, UINT64_C(1) << axis, "for (int i = 0; i < %lld; i++) {", size);
        if (k->loops.reverse)
            kernel_line(&w->text, "const int a%u = %lld - i;", axis, size - 1);
        else
            kernel_line(&w->text, "const int a%u = i;", axis);
    }
    for (uint32_t i = 1; i < w->text.nest->values.len; i++)
        if (reached[i] && w->text.nest->values.at[i].op == NEST_SCAN) {
            if (k->inside)
                scan_tile(w, i);
            else
                scan_step(w, i);
        }
    write_results(w);
    close_all(w, opened);
}

void cpu_write_kernel(const Nest *nest, const CpuKernel *k, const char *name, Buf *out)
{
    CpuWriter w = {.text = {.arena = nest->arena, .nest = nest, .language = &cpu_language}, .k = k};
    w.held = arena_array(w.text.arena, bool, nest->values.len);
    bool *reached = arena_array(w.text.arena, bool, nest->values.len);
    kernel_reach(nest, &k->loops, reached);
    put_signature(nest, k, name, out);
    kernel_open(&w.text, 0, "%s", "");
    if (k->loops.shape == KERNEL_PRODUCT) {
        uint64_t inner = kernel_bits(&k->loops.product->m) | kernel_bits(&k->loops.product->n);
        kernel_open(&w.text, k->loops.kept & ~inner, "for (int64_t p = from; p < to; p++) {");
    } else if (k->loops.n_point) {
        kernel_open(&w.text, k->loops.kept & ~k->loops.row,
                    "for (int64_t p = from; p < to; p++) {");
        cpu_axes(&w, "p", k->loops.point, k->loops.n_point);
    } else {
        kernel_line(&w.text, "(void)from, (void)to; /* one unit */");
    }
    switch (k->loops.shape) {
    case KERNEL_MAP: write_results(&w); break;
    case KERNEL_ROWS: write_rows(&w, reached); break;
    case KERNEL_SCAN: write_scan(&w, reached); break;
    case KERNEL_MEET: break; /* its limits ask for none */
    case KERNEL_PRODUCT: cpu_write_product(&w); break;
    }
    if (k->loops.n_point)
        kernel_close(&w.text);
    buf_str(out, buf_view(&w.text.scope[0].text));
    buf_puts(out, "}\n");
    buf_free(&w.text.scope[0].head);
    buf_free(&w.text.scope[0].text);
}
