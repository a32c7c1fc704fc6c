/* Products of matrices as C text. In: a kernel of products. Out: a function over a share of its blocks.
 *
 *     block of the result    rows x columns, sums in an array
 *       slice of k           both factors are evaluated into panels, whatever they are made of: views, masks, casts
 *         tile               6 x 16 sums in registers (product_tile of prelude.h)
 *     then                   what each element of the block is used for
 *
 * Several axes that are walked as one have their coordinates in tables. */
#include "gen/cpu/cpu_int.h"

enum { ROWS = 384, COLUMNS = 256, SLICE = 256, TILE_ROWS = 6, TILE_COLUMNS = 16 };

/* Blocks of about the same size, in whole tiles. */
static int64_t block_size(int64_t count, int64_t most, int64_t tile)
{
    int64_t each = kernel_blocks(count, kernel_blocks(count, most));
    return kernel_blocks(each, tile) * tile;
}

void cpu_product_roles(CpuKernel *k)
{
    const KernelProduct *p = k->loops.product;
    k->rows = block_size(p->m.count, ROWS / TILE_ROWS * TILE_ROWS, TILE_ROWS);
    k->columns = block_size(p->n.count, COLUMNS, TILE_COLUMNS);
    k->units = p->batch.count * kernel_blocks(p->m.count, k->rows) *
               kernel_blocks(p->n.count, k->columns);
}

/* ---- axes ---- */

/* Coordinates of elements base, base + 1, ... of the group; none for a single axis. */
static void put_tables(CpuWriter *w, const KernelAxes *g, const char *base, const char *count,
                       int64_t most)
{
    const Nest *nest = w->text.nest;
    if (g->n < 2)
        return;
    for (uint32_t i = 0; i < g->n; i++)
        kernel_line(&w->text, "int at%u[%lld];", g->axis[i], (long long)most);
    kernel_line(&w->text, "for (int i = 0; i < %s; i++) {", count);
    kernel_line(&w->text, "    int64_t x = %s + i;", base);
    for (uint32_t i = g->n; i-- > 0;) {
        long long size = (long long)nest->axes.at[g->axis[i]].size;
        kernel_line(&w->text, "    at%u[i] = (int)(x%s);", g->axis[i],
                    i ? str_format(w->text.arena, " %% %lld", size) : "");
        if (i)
            kernel_line(&w->text, "    x /= %lld;", size);
    }
    kernel_line(&w->text, "}");
}

static void bind_axes(CpuWriter *w, const KernelAxes *g, const char *base, const char *index)
{
    for (uint32_t i = 0; i < g->n; i++)
        if (g->n == 1)
            kernel_line(&w->text, "const int a%u = %s + %s;", g->axis[i], base, index);
        else
            kernel_line(&w->text, "const int a%u = at%u[%s];", g->axis[i], g->axis[i], index);
}

/* ---- panels ---- */

/* A factor's slice of k: `tile` neighbouring rows (or columns) stand side by side for every k. */
static void write_panel(CpuWriter *w, NestId factor, const KernelAxes *g, const char *array,
                        const char *base, const char *count, int tile)
{
    KernelText *t = &w->text;
    kernel_open(t, 0, "for (int i = 0; i < %s; i += %d) {", count, tile);
    kernel_line(t, "const int some = %s - i < %d ? %s - i : %d;", count, tile, count, tile);
    kernel_open(t, kernel_bits(&w->k->loops.product->k), "for (int j = 0; j < slice; j++) {");
    bind_axes(w, &w->k->loops.product->k, "k0", "j");
    kernel_open(t, kernel_bits(g), "#pragma omp simd\nfor (int v = 0; v < some; v++) {");
    bind_axes(w, g, base, "(i + v)");
    const char *x = cpu_value(w, factor);
    kernel_line(t, "%s[i * %d + j * %d + v] = %s;", array, SLICE, tile, x);
    for (int i = 0; i < 3; i++)
        kernel_close(t);
}

static void write_sums(CpuWriter *w)
{
    const CpuKernel *k = w->k;
    const KernelProduct *p = k->loops.product;
    KernelText *t = &w->text;
    kernel_line(t, "for (int i = 0; i < rows * %lld; i++)", (long long)k->columns);
    kernel_line(t, "    sums[i] = 0;");
    kernel_open(t, 0, "for (int64_t k0 = 0; k0 < %lld; k0 += %d) {", (long long)p->k.count, SLICE);
    kernel_line(t, "const int slice = (int)(%lld - k0 < %d ? %lld - k0 : %d);",
                (long long)p->k.count, SLICE, (long long)p->k.count, SLICE);
    put_tables(w, &p->k, "k0", "slice", SLICE);
    write_panel(w, p->left, &p->m, "left", "m0", "rows", TILE_ROWS);
    write_panel(w, p->right, &p->n, "right", "n0", "columns", TILE_COLUMNS);
    kernel_line(t, "for (int j = 0; j < columns; j += %d)", TILE_COLUMNS);
    kernel_line(t, "    for (int i = 0; i < rows; i += %d)", TILE_ROWS);
    kernel_line(
        t, "        product_tile(sums + i * %lld + j, %lld, left + i * %d, right + j * %d, slice);",
        (long long)k->columns, (long long)k->columns, SLICE, SLICE);
    kernel_close(t);
}

static void write_stores(CpuWriter *w)
{
    const CpuKernel *k = w->k;
    const KernelProduct *p = k->loops.product;
    KernelText *t = &w->text;
    kernel_open(t, kernel_bits(&p->m), "for (int i = 0; i < rows; i++) {");
    bind_axes(w, &p->m, "m0", "i");
    kernel_open(t, kernel_bits(&p->n), "#pragma omp simd\nfor (int v = 0; v < columns; v++) {");
    bind_axes(w, &p->n, "n0", "v");
    kernel_name(t, t->depth - 1, p->value,
                str_format(t->arena, "sums[i * %lld + v]", (long long)k->columns));
    for (uint32_t i = 0; i < k->loops.n_stores; i++) {
        const NestStore *s = &t->nest->stores.at[k->loops.store[i]];
        const char *x = cpu_value(w, s->value);
        kernel_line(t, "t%u[%s] = %s;", s->tensor, cpu_index(w, 0, i, s->tensor, &s->index),
                    cpu_store_text(w, t->nest->tensors.at[s->tensor].dtype, x));
    }
    kernel_close(t);
    kernel_close(t);
}

/* Inside the loop over units. */
void cpu_write_product(CpuWriter *w)
{
    const CpuKernel *k = w->k;
    const KernelProduct *p = k->loops.product;
    KernelText *t = &w->text;
    long long wide = (long long)kernel_blocks(p->n.count, k->columns);
    long long high = (long long)kernel_blocks(p->m.count, k->rows);
    kernel_line(t, "float *const sums = product_sums, *const left = product_left;");
    kernel_line(t, "float *const right = product_right;");
    kernel_line(t, "const int64_t n0 = p %% %lld * %lld, m0 = p / %lld %% %lld * %lld;", wide,
                (long long)k->columns, wide, high, (long long)k->rows);
    kernel_line(t, "const int columns = (int)(%lld - n0 < %lld ? %lld - n0 : %lld);",
                (long long)p->n.count, (long long)k->columns, (long long)p->n.count,
                (long long)k->columns);
    kernel_line(t, "const int rows = (int)(%lld - m0 < %lld ? %lld - m0 : %lld);",
                (long long)p->m.count, (long long)k->rows, (long long)p->m.count,
                (long long)k->rows);
    if (p->batch.n) {
        kernel_line(t, "const int64_t q = p / %lld;", wide * high);
        cpu_axes(w, "q", p->batch.axis, p->batch.n);
    }
    put_tables(w, &p->m, "m0", "rows", k->rows);
    put_tables(w, &p->n, "n0", "columns", k->columns);
    write_sums(w);
    write_stores(w);
}
