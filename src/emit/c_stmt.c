/* Kernels as C functions: buffers, loops, movement. In: a kernel. Out: a static function
 * `kernel_NAME(const KernelN *k, int64_t core, int64_t cores)`. */
#include "emit/c_int.h"

bool c_waits(const IrProgram *p, const IrBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &p->stmts.at[block->at[i]];
        if (s->kind == IR_S_SYNC_ALL || c_waits(p, &s->body) || c_waits(p, &s->orelse))
            return true;
    }
    return false;
}

static void open_brace(CWriter *w)
{
    c_line(w, "{");
    w->depth++;
}

static void close_brace(CWriter *w)
{
    w->depth--;
    c_line(w, "}");
}

/* ---- views ---- */

static int64_t view_width(const CWriter *w, const IrView *v)
{
    return w->k->buffers.at[v->buffer].mask ? 1 : (int64_t)dtype_bytes(v->dtype);
}

static void view_of(CWriter *w, const char *name, const char *buffer, const IrView *v)
{
    const char *row = v->row ? c_text(w, v->row) : v->rank == 2 ? c_text(w, v->start[0]) : "0";
    const char *rows = v->rank == 2 ? c_text(w, v->size[0]) : "1";
    c_line(w, "const Tile %s = view(&%s, %s, %s, %lld, %s, %s);", name, buffer, row,
           c_text(w, v->start[v->rank - 1]), (long long)view_width(w, v), rows,
           c_text(w, v->size[v->rank - 1]));
}

void c_view(CWriter *w, const char *name, const IrView *v)
{
    view_of(w, name, str_format(w->scratch, "b_%s", w->k->buffers.at[v->buffer].name), v);
}

/* ---- GM ---- */

/* How an access maps to memory: element [r, i] at base + r * row_stride + i * col_stride. */
typedef struct Mapping {
    const char *gm; /* "k->x" */
    const char *base, *rows, *cols, *row_stride, *col_stride;
    bool contiguous; /* col_stride is 1 */
} Mapping;

static const char *stride_text(CWriter *w, const char *gm, uint32_t axis, uint32_t rank)
{
    Buf out = {0};
    buf_puts(&out, axis + 1 == rank ? "1" : "");
    for (uint32_t i = axis + 1; i < rank; i++)
        buf_printf(&out, "%s%s.dims[%u]", i > axis + 1 ? " * " : "", gm, i);
    const char *text = buf_take(&out, w->scratch);
    buf_free(&out);
    return text;
}

static Mapping map_access(CWriter *w, const IrAccess *a)
{
    const char *name = w->k->tensors.at[a->tensor].name;
    Mapping m = {.rows = "1", .cols = "1", .row_stride = "0", .col_stride = "0"};
    m.gm = a->item ? str_format(w->scratch, "k->t_%s.items[%s]", name, c_text(w, a->item))
                   : str_format(w->scratch, "k->t_%s", name);
    m.contiguous = true;
    Buf base = {0};
    for (uint32_t i = 0; i < a->rank; i++) {
        const char *stride = stride_text(w, m.gm, i, a->rank);
        bool last = i + 1 == a->rank;
        buf_puts(&base, i ? " + " : "");
        buf_printf(&base, last ? "%s" : "%s * %s", c_text(w, a->start[i]), stride);
        if (!a->size[i])
            continue;
        m.rows = m.cols;
        m.row_stride = m.col_stride;
        m.cols = c_text(w, a->size[i]);
        m.col_stride = stride;
        m.contiguous = last;
    }
    m.base = base.len ? buf_take(&base, w->scratch) : "0";
    buf_free(&base);
    return m;
}

static void open_region(CWriter *w, const IrAccess *a, const Mapping *m)
{
    int64_t width = (int64_t)dtype_bytes(w->k->tensors.at[a->tensor].dtype);
    c_line(w, "unsigned char *const g = %s.data + (%s) * %lld;", m->gm, m->base, (long long)width);
    c_line(w, "const int64_t rows = %s, cols = %s;", m->rows, m->cols);
    if (m->contiguous)
        c_line(w, "const int64_t step = (%s) * %lld;", m->row_stride, (long long)width);
    else
        c_line(w, "const int64_t step = (%s) * %lld, next = (%s) * %lld;", m->row_stride,
               (long long)width, m->col_stride, (long long)width);
}

static void each_element(CWriter *w, const char *rows, const char *cols)
{
    c_line(w, "for (int64_t r = 0; r < %s; r++)", rows);
    w->depth++;
    c_line(w, "for (int64_t i = 0; i < %s; i++) {", cols);
    w->depth++;
}

static void end_each(CWriter *w)
{
    close_brace(w);
    w->depth--;
}

static const char *gm_element(const Mapping *m, int64_t width, Arena *arena)
{
    return m->contiguous ? str_format(arena, "g + r * step + i * %lld", (long long)width)
                         : "g + r * step + i * next";
}

static void pad_rest(CWriter *w, const IrStmt *s)
{
    const char *kind = dtype_is_float(s->dst.dtype) ? "st" : "sti",
               *name = dtype_name(s->dst.dtype);
    each_element(w, "d.rows", "d.cols");
    c_line(w, "if (r >= rows || i >= cols)");
    c_line(w, "    %s_%s(&d, r, i, %s);", kind, name, c_text(w, s->pad));
    end_each(w);
}

static void load_from_gm(CWriter *w, const IrStmt *s)
{
    long long width = (long long)dtype_bytes(s->dst.dtype);
    Mapping m = map_access(w, &s->access);
    open_brace(w);
    c_view(w, "d", &s->dst);
    open_region(w, &s->access, &m);
    if (m.contiguous) {
        c_line(w, "for (int64_t r = 0; r < rows; r++)");
        c_line(w, "    memcpy(el(&d, r, 0, %lld), g + r * step, (size_t)(cols * %lld));", width,
               width);
    } else {
        each_element(w, "rows", "cols");
        c_line(w, "memcpy(el(&d, r, i, %lld), g + r * step + i * next, %lld);", width, width);
        end_each(w);
    }
    if (s->pad)
        pad_rest(w, s);
    if (w->k->buffers.at[s->dst.buffer].memory == IR_UB)
        c_line(w, "lose(&d, %lld);", width);
    close_brace(w);
}

static void copy_views(CWriter *w, const IrStmt *s)
{
    long long width = (long long)view_width(w, &s->dst);
    open_brace(w);
    c_view(w, "d", &s->dst);
    c_view(w, "a", &s->src[0]);
    c_line(w, "for (int64_t r = 0; r < d.rows; r++)");
    if (s->transpose) {
        c_line(w, "    for (int64_t i = 0; i < d.cols; i++)");
        c_line(w, "        memcpy(el(&d, r, i, %lld), el(&a, i, r, %lld), %lld);", width, width,
               width);
    } else {
        c_line(w, "    memmove(el(&d, r, 0, %lld), el(&a, r, 0, %lld), (size_t)(d.cols * %lld));",
               width, width, width);
    }
    close_brace(w);
}

static const char *merge_text(const IrStmt *s, DType d)
{
    bool wide = c_is_wide(d);
    const char *add = wide ? "wadd(x, y)" : "x + y";
    const char *max = wide ? "imax(x, y)" : "fmax_nan(x, y)";
    const char *min = wide ? "imin(x, y)" : "fmin_nan(x, y)";
    return s->atomic == IR_ADD ? add : s->atomic == IR_MAX ? max : min;
}

static void store_merged(CWriter *w, const IrStmt *s, const Mapping *m, DType to)
{
    const char *type = c_is_wide(to) ? "int64_t" : "double", *i = c_is_wide(to) ? "i" : "";
    const char *name = dtype_name(to);
    if (s->atomic != IR_PLAIN) {
        buf_puts(w->out, "#ifdef _OPENMP\n#pragma omp critical\n#endif\n");
        open_brace(w);
    }
    each_element(w, "rows", "cols");
    c_line(w, "const Tile e = {%s, 0, 1, 1};", gm_element(m, (int64_t)dtype_bytes(to), w->scratch));
    if (s->atomic == IR_PLAIN) {
        c_line(w, "st_%s(&e, 0, 0, ld_%s(&a, r, i));", name, dtype_name(s->src[0].dtype));
    } else {
        c_line(w, "const %s x = ld%s_%s(&e, 0, 0), y = ld%s_%s(&a, r, i);", type, i, name, i, name);
        c_line(w, "st%s_%s(&e, 0, 0, %s);", i, name, merge_text(s, to));
    }
    end_each(w);
    if (s->atomic != IR_PLAIN)
        close_brace(w);
}

static void store_to_gm(CWriter *w, const IrStmt *s)
{
    DType to = w->k->tensors.at[s->access.tensor].dtype;
    long long width = (long long)dtype_bytes(to);
    Mapping m = map_access(w, &s->access);
    open_brace(w);
    c_view(w, "a", &s->src[0]);
    open_region(w, &s->access, &m);
    if (s->atomic != IR_PLAIN || to != s->src[0].dtype) {
        store_merged(w, s, &m, to);
    } else if (m.contiguous) {
        c_line(w, "for (int64_t r = 0; r < rows; r++)");
        c_line(w, "    memcpy(g + r * step, el(&a, r, 0, %lld), (size_t)(cols * %lld));", width,
               width);
    } else {
        each_element(w, "rows", "cols");
        c_line(w, "memcpy(g + r * step + i * next, el(&a, r, i, %lld), %lld);", width, width);
        end_each(w);
    }
    close_brace(w);
}

static void gm_scalar(CWriter *w, const IrStmt *s)
{
    DType d = w->k->tensors.at[s->access.tensor].dtype;
    Mapping m = map_access(w, &s->access);
    const char *i = dtype_is_float(d) ? "" : "i";
    open_brace(w);
    c_line(w, "const Tile e = {%s.data + (%s) * %lld, 0, 1, 1};", m.gm, m.base,
           (long long)dtype_bytes(d));
    if (s->kind == IR_S_GM_READ)
        c_line(w, "%s = %sld%s_%s(&e, 0, 0);", c_var(w, s->var), dtype_is_float(d) ? "(float)" : "",
               i, dtype_name(d));
    else
        c_line(w, "st%s_%s(&e, 0, 0, %s);", i, dtype_name(d), c_text(w, s->value));
    close_brace(w);
}

/* ---- channels ---- */

static void transfer(CWriter *w, const IrStmt *s)
{
    bool send = s->kind == IR_S_SEND;
    const IrView *channel = send ? &s->dst : &s->src[0];
    const char *name = w->k->buffers.at[channel->buffer].name;
    DType from = s->src[0].dtype, to = s->dst.dtype;
    open_brace(w);
    c_line(w, "Channel *const c = &channels[core].c_%s;", name);
    c_line(w, "const Buffer slot = channel_slot(c, %d, vector);", send);
    if (w->idle) {
        c_line(w, "(void)slot;");
        c_line(w, "channel_done(c, %d, vector);", send);
        close_brace(w);
        return;
    }
    view_of(w, send ? "d" : "a", "slot", channel);
    c_view(w, send ? "a" : "d", send ? &s->src[0] : &s->dst);
    each_element(w, "d.rows", "d.cols");
    if (from == to)
        c_line(w, "memcpy(el(&d, r, i, %d), el(&a, r, i, %d), %d);", (int)dtype_bytes(to),
               (int)dtype_bytes(to), (int)dtype_bytes(to));
    else
        c_line(w, "st_%s(&d, r, i, ld_%s(&a, r, i));", dtype_name(to), dtype_name(from));
    end_each(w);
    c_line(w, "channel_done(c, %d, vector);", send);
    close_brace(w);
}

/* ---- loops ---- */

static void declare(CWriter *w, IrVarId var, const char *value)
{
    if (var)
        c_line(w, "const int64_t %s = %s;", c_var(w, var), value);
    if (var)
        c_line(w, "(void)%s;", c_var(w, var));
}

static void loop_bounds(CWriter *w, const IrStmt *s, uint32_t id)
{
    for (uint32_t i = 0; i < s->axis_count; i++) {
        const IrAxis *a = &s->axes[i];
        const char *unit = a->tile ? c_text(w, a->tile) : a->step ? c_text(w, a->step) : "1";
        c_line(w, "const int64_t lo%u_%u = %s, hi%u_%u = %s, by%u_%u = %s;", id, i,
               c_text(w, a->lo), id, i, c_text(w, a->hi), id, i, unit);
        c_line(w, "const int64_t n%u_%u = pieces(lo%u_%u, hi%u_%u, by%u_%u);", id, i, id, i, id, i,
               id, i);
    }
}

/* The variables of axis i, whose piece number is `k`. */
static void bind_axis(CWriter *w, const IrAxis *a, uint32_t id, uint32_t i, const char *k)
{
    Arena *arena = w->scratch;
    declare(w, a->range.start, str_format(arena, "lo%u_%u + (%s) * by%u_%u", id, i, k, id, i));
    if (!a->tile)
        return;
    declare(
        w, a->range.size,
        str_format(arena, "imin(by%u_%u, hi%u_%u - %s)", id, i, id, i, c_var(w, a->range.start)));
    declare(w, a->range.index, k);
}

static void total_items(CWriter *w, const IrStmt *s, uint32_t id)
{
    Buf product = {0};
    for (uint32_t i = 0; i < s->axis_count; i++)
        buf_printf(&product, "%sn%u_%u", i ? " * " : "", id, i);
    c_line(w, "const int64_t total%u = %s;", id, product.at);
    buf_free(&product);
}

static void open_loop(CWriter *w, const IrStmt *s, uint32_t id)
{
    switch (s->loop) {
    case IR_LOOP_RANGE:
    case IR_LOOP_TILES:
        c_line(w, "for (int64_t j%u = 0; j%u < n%u_0; j%u++) {", id, id, id, id);
        break;
    case IR_LOOP_CYCLIC:
        c_line(w, "for (int64_t j%u = core; j%u < total%u; j%u += cores) {", id, id, id, id);
        break;
    case IR_LOOP_MINE:
    case IR_LOOP_MINE_LIST:
        c_line(w, "const int64_t last%u = share_of(total%u, core + 1, cores);", id, id);
        c_line(w, "for (int64_t j%u = share_of(total%u, core, cores); j%u < last%u; j%u++) {", id,
               id, id, id, id);
        break;
    }
    w->depth++;
}

static void bind_items(CWriter *w, const IrStmt *s, uint32_t id)
{
    Arena *arena = w->scratch;
    const char *rest = str_format(arena, "j%u", id);
    if (s->loop == IR_LOOP_MINE_LIST) {
        const char *list = str_format(arena, "k->t_%s", w->k->tensors.at[s->list].name);
        c_line(w, "int64_t item%u;", id);
        c_line(w, "const int64_t piece%u = list_find(&%s, by%u, j%u, &item%u);", id, list, id, id,
               id);
        declare(w, s->axes[0].range.start, str_format(arena, "item%u", id));
        declare(w, s->axes[1].range.start, str_format(arena, "piece%u * by%u", id, id));
        declare(w, s->axes[1].range.size,
                str_format(arena, "imin(by%u, %s.items[item%u].count - piece%u * by%u)", id, list,
                           id, id, id));
        declare(w, s->axes[1].range.index, str_format(arena, "piece%u", id));
        return;
    }
    for (uint32_t i = s->axis_count; i-- > 0;) {
        bool outer = i == 0;
        bind_axis(w, &s->axes[i], id, i,
                  outer ? rest : str_format(arena, "%s %% n%u_%u", rest, id, i));
        rest = str_format(arena, "%s / n%u_%u", rest, id, i);
    }
}

/* Turns are dealt to two vector cores; the other one only goes on with the channels. */
static void turns(CWriter *w, const IrStmt *s, uint32_t id)
{
    bool outside = w->idle;
    c_line(w, "if (j%u %% 2 == vector) {", id);
    w->depth++;
    c_block(w, &s->body);
    w->depth--;
    c_line(w, "} else {");
    w->depth++;
    w->idle = true;
    c_block(w, &s->body);
    w->idle = outside;
    close_brace(w);
}

static void loop(CWriter *w, const IrStmt *s, uint32_t id)
{
    open_brace(w);
    if (s->loop == IR_LOOP_MINE_LIST) {
        c_line(w, "const int64_t by%u = %s;", id, c_text(w, s->axes[1].tile));
        c_line(w, "const int64_t total%u = list_pieces(&k->t_%s, by%u);", id,
               w->k->tensors.at[s->list].name, id);
    } else {
        loop_bounds(w, s, id);
        if (s->loop == IR_LOOP_MINE || s->loop == IR_LOOP_CYCLIC)
            total_items(w, s, id);
    }
    open_loop(w, s, id);
    bind_items(w, s, id);
    if (s->alternate)
        turns(w, s, id);
    else
        c_block(w, &s->body);
    close_brace(w);
    close_brace(w);
}

static void share(CWriter *w, const IrStmt *s, uint32_t id)
{
    Arena *arena = w->scratch;
    c_line(w, "const int64_t all%u = imax(0, %s), unit%u = %s;", id, c_text(w, s->axes[0].hi), id,
           c_text(w, s->align));
    c_line(w, "const int64_t blocks%u = pieces(0, all%u, unit%u);", id, id, id);
    declare(w, s->axes[0].range.start,
            str_format(arena, "imin(share_of(blocks%u, core, cores) * unit%u, all%u)", id, id, id));
    declare(w, s->axes[0].range.size,
            str_format(arena, "imin(share_of(blocks%u, core + 1, cores) * unit%u, all%u) - %s", id,
                       id, id, c_var(w, s->axes[0].range.start)));
}

/* ---- statements ---- */

static void branch(CWriter *w, const IrStmt *s)
{
    c_line(w, "if (%s) {", c_bare(w, s->cond));
    w->depth++;
    c_block(w, &s->body);
    w->depth--;
    if (s->orelse.len) {
        c_line(w, "} else {");
        w->depth++;
        c_block(w, &s->orelse);
        w->depth--;
    }
    c_line(w, "}");
}

static void role(CWriter *w, const IrStmt *s)
{
    bool both = w->k->has_cube && w->k->has_vector;
    if (!both) {
        open_brace(w);
    } else {
        c_line(w, "if (role == %d) {", (int)s->core);
        w->depth++;
    }
    c_block(w, &s->body);
    close_brace(w);
}

static void stage(CWriter *w, const IrStmt *s)
{
    static const char *const names[] = {"copyin", "compute", "copyout"};
    c_line(w, "{ /* %s, line %u */", names[s->stage], s->at.line);
    w->depth++;
    c_block(w, &s->body);
    close_brace(w);
}

static bool rests(const IrStmt *s)
{
    return s->kind != IR_S_FOR && s->kind != IR_S_IF && s->kind != IR_S_STAGE &&
           s->kind != IR_S_ASSIGN && s->kind != IR_S_SEND && s->kind != IR_S_RECV;
}

static void statement(CWriter *w, IrStmtId id)
{
    const IrStmt *s = &w->p->stmts.at[id];
    if (w->idle && rests(s))
        return;
    switch (s->kind) {
    case IR_S_FOR: loop(w, s, id); return;
    case IR_S_IF: branch(w, s); return;
    case IR_S_STAGE: stage(w, s); return;
    case IR_S_ROLE: role(w, s); return;
    case IR_S_SHARE: share(w, s, id); return;
    case IR_S_ASSIGN: c_line(w, "%s = %s;", c_var(w, s->var), c_bare(w, s->value)); return;
    case IR_S_GM_READ:
    case IR_S_GM_WRITE: gm_scalar(w, s); return;
    case IR_S_LOAD:
        if (s->src_count)
            copy_views(w, s);
        else
            load_from_gm(w, s);
        return;
    case IR_S_STORE: store_to_gm(w, s); return;
    case IR_S_OP: c_op(w, s); return;
    case IR_S_SYNC_ALL: buf_puts(w->out, "#pragma omp barrier\n"); return;
    case IR_S_SEND:
    case IR_S_RECV: transfer(w, s); return;
    case IR_S_ASSERT:
    case IR_S_WORKSPACE:
    case IR_S_LAUNCH: panic("a host statement in a kernel");
    }
}

void c_block(CWriter *w, const IrBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++)
        statement(w, block->at[i]);
}

/* ---- kernels ---- */

static const char *scalar_type(DType t) { return t == DT_F32 ? "float" : "int64_t"; }

static void arguments_struct(CWriter *w, uint32_t index)
{
    const IrProgram *p = w->p;
    c_line(w, "typedef struct Kernel%u {", index);
    c_line(w, "    const int64_t *chip;");
    for (uint32_t i = 0; i < w->k->tensors.len; i++) {
        const IrTensor *t = &w->k->tensors.at[i];
        bool list = t->role == IR_ROLE_IN_LIST || t->role == IR_ROLE_OUT_LIST;
        c_line(w, "    %s t_%s;", list ? "GmList" : "Gm", t->name);
    }
    for (uint32_t i = 1; i < p->vars.len; i++) {
        const IrVar *v = &p->vars.at[i];
        if (v->kind == IR_VAR_DIM || (v->kind == IR_VAR_PARAM && v->kernel == index))
            c_line(w, "    %s %s;", scalar_type(v->type), c_var(w, i) + 3);
    }
    c_line(w, "} Kernel%u;\n", index);
    if (!(w->k->has_cube && w->k->has_vector))
        return;
    c_line(w, "typedef struct Channels%u {", index);
    for (uint32_t i = 0; i < w->k->buffers.len; i++)
        if (w->k->buffers.at[i].memory == IR_CHANNEL)
            c_line(w, "    Channel c_%s;", w->k->buffers.at[i].name);
    c_line(w, "    int unused;");
    c_line(w, "} Channels%u;\n", index);
}

static const char *rows_of(CWriter *w, const IrBuffer *b)
{
    return b->rank == 2 ? c_text(w, b->shape[0]) : "1";
}

static long long width_of(const IrBuffer *b)
{
    return b->mask ? 1 : (long long)dtype_bytes(b->dtype);
}

static bool vector_sends(const CWriter *w, const IrBlock *block, uint32_t channel, IrCore role)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &w->p->stmts.at[block->at[i]];
        IrCore here = s->kind == IR_S_ROLE ? s->core : role;
        if (s->kind == IR_S_SEND && s->dst.buffer == channel && role == IR_CORE_VECTOR)
            return true;
        if (vector_sends(w, &s->body, channel, here) || vector_sends(w, &s->orelse, channel, here))
            return true;
    }
    return false;
}

/* How many cores of a core send into the channel, or take from it. */
static int ends_of(const CWriter *w, uint32_t channel, bool send)
{
    bool vector = vector_sends(w, &w->k->body, channel, IR_CORE_VECTOR) == send;
    return w->k->paired && vector ? 2 : 1;
}

static void make_channels(CWriter *w, uint32_t index)
{
    c_line(w, "static void channels_%s(const Kernel%u *k, Pool *pool, Channels%u *c)", w->k->name,
           index, index);
    open_brace(w);
    c_line(w, "(void)k, (void)pool;");
    c_line(w, "c->unused = 0;");
    for (uint32_t i = 0; i < w->k->buffers.len; i++) {
        const IrBuffer *b = &w->k->buffers.at[i];
        if (b->memory == IR_CHANNEL)
            c_line(w, "channel_new(&c->c_%s, pool, %s, %s, %lld, %s, %d, %d);", b->name,
                   rows_of(w, b), c_text(w, b->shape[b->rank - 1]), width_of(b),
                   b->depth ? c_text(w, b->depth) : "1", ends_of(w, i, true), ends_of(w, i, false));
    }
    close_brace(w);
    buf_char(w->out, '\n');
}

static void locals(CWriter *w, uint32_t index)
{
    for (uint32_t i = 0; i < w->k->buffers.len; i++) {
        const IrBuffer *b = &w->k->buffers.at[i];
        if (b->memory == IR_CHANNEL)
            continue;
        c_line(w, "const Buffer b_%s = buffer(&pool, %s, %s, %lld);", b->name, rows_of(w, b),
               c_text(w, b->shape[b->rank - 1]), width_of(b));
        c_line(w, "(void)b_%s;", b->name);
    }
    for (uint32_t i = 1; i < w->p->vars.len; i++) {
        const IrVar *v = &w->p->vars.at[i];
        if (v->kind != IR_VAR_LOCAL || v->kernel != index)
            continue;
        c_line(w, "%s %s = 0;", scalar_type(v->type), c_var(w, i));
        c_line(w, "(void)%s;", c_var(w, i));
    }
}

void c_kernel(CWriter *w, uint32_t index)
{
    bool both;
    w->k = &w->p->kernels.at[index];
    w->kernel = index;
    both = w->k->has_cube && w->k->has_vector;
    arguments_struct(w, index);
    if (both)
        make_channels(w, index);
    if (both)
        c_line(w,
               "static void kernel_%s(const Kernel%u *k, int64_t core, int64_t cores, int role, "
               "int vector, Channels%u *channels)",
               w->k->name, index, index);
    else
        c_line(w, "static void kernel_%s(const Kernel%u *k, int64_t core, int64_t cores)",
               w->k->name, index);
    open_brace(w);
    c_line(w, "Pool pool = {0};");
    c_line(w, "(void)k, (void)core, (void)cores;");
    if (both)
        c_line(w, "(void)role, (void)vector, (void)channels;");
    locals(w, index);
    c_block(w, &w->k->body);
    c_line(w, "drop(&pool);");
    close_brace(w);
    buf_char(w->out, '\n');
    w->k = NULL;
}
