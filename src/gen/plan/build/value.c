/* Statements of a tile: expressions, buffers, accesses. In: values of a nest. Out: lines of Craft. */
#include "gen/plan/build/build_int.h"

#include "gen/plan/prim_int.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void build_line(Build *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_fill(b->body, ' ', (size_t)b->depth * 4);
    buf_vprintf(b->body, format, args);
    buf_char(b->body, '\n');
    va_end(args);
}

enum { ONE_LINE = 8 }; /* elements of 32 bytes */

static bool has(uint64_t axes, uint32_t axis) { return axis && axes >> axis & 1; }

BuildKind build_kind(const Build *b, uint64_t axes)
{
    axes = nest_roots(b->nest, axes);
    bool lanes = has(axes, b->band->lanes.axis), rows = has(axes, b->band->rows.axis);
    return rows ? lanes ? BUILD_TILE : BUILD_ROWS : lanes ? BUILD_LANES : BUILD_SCALAR;
}

static BuildKind kind_of(const Build *b, NestId id)
{
    return build_kind(b, b->nest->values.at[id].axes);
}

/* ---- buffers ---- */

const char *build_rows(Build *b)
{
    uint32_t halo = build_halo(b, b->band->rows.axis);
    if (halo)
        return build_halo_count(b, halo);
    return b->band->rows.whole ? b->layout->size[b->band->rows.axis] : "r.size";
}

const char *build_lanes(Build *b)
{
    uint32_t halo = build_halo(b, b->band->lanes.axis);
    if (halo)
        return build_halo_count(b, halo);
    return b->band->lanes.whole ? b->layout->size[b->band->lanes.axis] : "t.size";
}

const char *build_view(Build *b, BuildKind kind, const char *buffer)
{
    switch (kind) {
    case BUILD_TILE:
        return str_format(b->arena, "%s[:%s, :%s]", buffer, build_rows(b), build_lanes(b));
    case BUILD_ROWS: return str_format(b->arena, "%s[:%s]", buffer, build_rows(b));
    default: return str_format(b->arena, "%s[:%s]", buffer, build_lanes(b));
    }
}

void build_declare(const BuildPool *pool, Buf *out)
{
    for (uint32_t i = 0; i < pool->len; i++) {
        const BuildBuffer *f = &pool->at[i];
        char depth[16];
        snprintf(depth, sizeof depth, ", depth=%d", f->depth);
        if (f->dtype == DT_BOOL && f->stem == 'v')
            buf_printf(out, "    %s = mask(", f->name);
        else
            buf_printf(out, "    %s = ub(%s, ", f->name, dtype_name(f->dtype));
        if (f->kind == BUILD_TILE)
            buf_printf(out, "%lld, ", (long long)f->rows);
        buf_printf(out, "%lld%s)\n",
                   (long long)((f->kind == BUILD_ROWS ? f->rows : f->lanes) * f->times),
                   f->depth > 1 ? depth : "");
    }
}

/* Rows of a tile begin where its lanes end, so that only tiles of the same lanes share a buffer. */
static bool can_hold(const BuildBuffer *f, const BuildBuffer *want)
{
    return f->kind == want->kind && (f->kind != BUILD_TILE || f->lanes == want->lanes);
}

const char *build_take(Build *b, BuildBuffer want)
{
    for (uint32_t i = 0; i < b->pool->len; i++) {
        BuildBuffer *f = &b->pool->at[i];
        if (f->owner || f->kept || f->stem != want.stem || f->dtype != want.dtype ||
            f->depth != want.depth || f->times != want.times || !can_hold(f, &want))
            continue;
        f->owner = want.owner;
        f->rows = f->rows < want.rows ? want.rows : f->rows;
        f->lanes = f->lanes < want.lanes ? want.lanes : f->lanes;
        return f->name;
    }
    want.name = str_format(b->arena, "%c%u_", want.stem, b->pool->len);
    vec_push(b->arena, b->pool, want);
    return want.name;
}

const char *build_wide(Build *b, char stem, BuildKind kind, DType dtype, int depth, int64_t times,
                       NestId owner)
{
    uint32_t rows = build_halo(b, b->band->rows.axis), lanes = build_halo(b, b->band->lanes.axis);
    BuildBuffer want = {.kind = kind,
                        .dtype = dtype,
                        .depth = depth,
                        .stem = stem,
                        .rows = rows ? build_halo_most(b, rows) : b->band->rows.tile,
                        .lanes = lanes ? build_halo_most(b, lanes) : b->band->lanes.tile,
                        .times = times,
                        .owner = owner};
    return build_take(b, want);
}

const char *build_buffer(Build *b, char stem, BuildKind kind, DType dtype, int depth, NestId owner)
{
    return build_wide(b, stem, kind, dtype, depth, 1, owner);
}

/* One use of the value is over; after the last its buffer is free. */
static void release(Build *b, NestId id)
{
    if (b->left[id] && --b->left[id])
        return;
    for (uint32_t i = 0; i < b->pool->len; i++)
        if (b->pool->at[i].owner == id && !b->pool->at[i].kept && b->pool->at[i].stem == 'v')
            b->pool->at[i].owner = 0;
}

const char *build_scalar(Build *b) { return str_format(b->arena, "s%u_", (*b->next)++); }

/* ---- accesses ---- */

/* One index of an access, with so many rows and lanes behind those of the tile. */
static const char *put_place(Build *b, const LayoutDim *dim, const LayoutIndex *at, int64_t more,
                             int64_t wider)
{
    const BandTile *tile = at->axis == b->band->rows.axis    ? &b->band->rows
                           : at->axis == b->band->lanes.axis ? &b->band->lanes
                                                             : NULL;
    long long from = at->at;
    if (!at->axis)
        return str_format(b->arena, "%lld", from);
    if (b->nest->axes.at[at->axis].halo.root) {
        const char *begin = build_halo_from(b, at->axis), *n = build_halo_count(b, at->axis);
        if (from || at->by != 1 || at->inner)
            b->failed = "what windows read is read in steps";
        return str_format(b->arena, "%s : %s + %s", begin, begin, n);
    }
    if (at->inner &&
        (at->inner == b->band->rows.axis || (tile && at->inner == b->band->lanes.axis))) {
        b->failed = "lanes are walked inside the steps of another axis";
        return "";
    }
    if (at->inner && at->inner == b->band->lanes.axis) {
        const char *start = str_format(b->arena, "%lld * j%u + %lld", (long long)at->by, at->axis,
                                       from);
        return b->band->lanes.whole
                   ? str_format(b->arena, "%s : %s + %s", start, start, b->layout->size[at->inner])
                   : str_format(b->arena, "%s + t.start : %s + t.stop", start, start);
    }
    if (!tile && at->inner)
        return str_format(b->arena, "%lld * j%u + j%u + %lld", (long long)at->by, at->axis,
                          at->inner, from);
    if (!tile && at->by > 1)
        return str_format(b->arena, "%lld * j%u + %lld", (long long)at->by, at->axis, from);
    if (!tile && at->by < 0)
        return str_format(b->arena, "%lld - j%u", from, at->axis);
    if (!tile)
        return from ? str_format(b->arena, "j%u + %lld", at->axis, from)
                    : str_format(b->arena, "j%u", at->axis);
    const char *size = b->layout->size[at->axis];
    char range = tile == &b->band->rows ? 'r' : 't';
    if (b->row && range == 'r' && at->by == 1)
        return tile->whole ? str_format(b->arena, "%s + %lld", b->row, from)
                           : str_format(b->arena, "r.start + %s + %lld", b->row, from);
    if (at->by > 1) { /* all elements of the steps, whichever of them is wanted */
        long long step = at->by, base = from / step * step;
        if (!base)
            return tile->whole ? str_format(b->arena, ": %lld * %s", step, size)
                               : str_format(b->arena, "%lld * %c.start : %lld * %c.stop", step,
                                            range, step, range);
        return tile->whole ? str_format(b->arena, "%lld : %lld + %lld * %s", base, base, step, size)
                           : str_format(b->arena, "%lld * %c.start + %lld : %lld * %c.stop + %lld",
                                        step, range, base, step, range, base);
    }
    if (at->by < 0) { /* rows that are turned on chip */
        b->failed = at->by == -1 ? b->failed : "rows are walked backwards in steps";
        return tile->whole
                   ? str_format(b->arena, "%lld - %s : %lld", from + 1, size, from + 1)
                   : str_format(b->arena, "%lld - r.stop : %lld - r.start", from + 1, from + 1);
    }
    if (wider && range == 't') {
        b->failed = tile->whole ? b->failed : "copies join where lanes are not whole";
        return str_format(b->arena, "%lld : %lld", from,
                          from + (long long)(b->nest->axes.at[at->axis].size + wider));
    }
    if (tile->whole)
        return from || dim->size != b->nest->axes.at[at->axis].size
                   ? str_format(b->arena, "%lld : %lld + %s", from, from, size)
                   : ":";
    long long to = from + (range == 'r' ? more : 0);
    return from || to
               ? str_format(b->arena, "%c.start + %lld : %c.stop + %lld", range, from, range, to)
               : str_format(b->arena, "%c", range);
}

const char *build_access(Build *b, uint32_t tensor, const Affine *index)
{
    return build_access_rows(b, tensor, index, 0);
}

const char *build_access_rows(Build *b, uint32_t tensor, const Affine *index, int64_t more)
{
    return build_access_more(b, tensor, index, more, 0);
}

const char *build_access_more(Build *b, uint32_t tensor, const Affine *index, int64_t more,
                              int64_t wider)
{
    const LayoutTensor *t = &b->layout->tensors[tensor];
    LayoutIndex at[LAYOUT_RANK];
    Buf out = {0};
    layout_index(b->nest, t, index, at);
    buf_puts(&out, nest_tensor_name(b->nest, tensor));
    bool own = b->nest->tensors.at[tensor].role == NEST_WORKSPACE;
    buf_printf(&out, own ? "[%s" : "[", b->core);
    for (uint32_t i = 0; i < t->rank; i++)
        buf_printf(&out, "%s%s", i || own ? ", " : "",
                   put_place(b, &t->dim[i], &at[i], more, wider));
    buf_char(&out, ']');
    char *text = buf_take(&out, b->arena);
    buf_free(&out);
    return text;
}

/* ---- expressions ---- */

static const char *const scalar_words[] = {"min", "max",   "abs",   "sqrt", "exp",
                                           "log", "rsqrt", "recip", "relu", "f32"};

static bool scalar_can(const char *form)
{
    for (const char *c = form; *c;) {
        size_t n = strspn(c, "abcdefghijklmnopqrstuvwxyz0123456789_");
        bool word = n && *c >= 'a' && *c <= 'z', known = !word;
        for (size_t i = 0; word && i < sizeof scalar_words / sizeof *scalar_words; i++)
            known = known || str_is((Str){c, n}, scalar_words[i]);
        if (!known && !(c > form && c[-1] == '$'))
            return false;
        c += n ? n : 1;
    }
    return true;
}

/* A single value that only the vector unit computes. */
static bool needs_lanes(const Build *b, NestId id)
{
    const NestValue *v = &b->nest->values.at[id];
    return v->op == NEST_MAP && !v->mask && kind_of(b, id) == BUILD_SCALAR && !scalar_can(v->form);
}

bool build_needs_lanes(const Build *b, NestId id) { return needs_lanes(b, id); }

static bool used_twice(const char *form, uint32_t which)
{
    int n = 0;
    for (const char *c = form; *c; c++)
        n += c[0] == '$' && c[1] == (char)('0' + which);
    return n > 1;
}

/* "f(...)" needs no brackets around it. */
static bool is_call(const char *form)
{
    size_t name = strspn(form, "abcdefghijklmnopqrstuvwxyz0123456789_"), n = strlen(form);
    int depth = 0;
    if (!name || form[name] != '(' || form[n - 1] != ')')
        return false;
    for (size_t i = name; i + 1 < n; i++) {
        depth += (form[i] == '(') - (form[i] == ')');
        if (depth == 0)
            return false;
    }
    return true;
}

static void put_expr(Build *b, Buf *out, NestId id, bool bare);
static void put_form(Build *b, Buf *out, NestId id, BuildKind into, bool bare);

/* An operand of something that has more elements is spread over it. */
static void put_operand(Build *b, Buf *out, NestId id, BuildKind into)
{
    BuildKind kind = kind_of(b, id);
    bool spread = into == BUILD_TILE && (kind == BUILD_ROWS || kind == BUILD_LANES);
    if (b->nest->values.at[id].mask && kind != into) { /* compared with all elements at once */
        put_form(b, out, id, into, false);
        return;
    }
    if (kind == BUILD_SCALAR && into != BUILD_SCALAR && b->filled[id]) {
        buf_puts(out, b->filled[id]);
        return;
    }
    if (spread && b->spread[id]) {
        buf_puts(out, build_view(b, BUILD_TILE, b->spread[id]));
        return;
    }
    if (spread)
        buf_puts(out, kind == BUILD_ROWS ? "col(" : "row(");
    put_expr(b, out, id, spread);
    if (spread)
        buf_char(out, ')');
}

static void put_count(Build *b, Buf *out, uint64_t over)
{
    const char *before = "f32(";
    for (uint32_t a = 1; a < b->nest->axes.len; a++)
        if (has(over, a) && b->nest->axes.at[a].size > 1) {
            buf_printf(out, "%s%s", before, b->layout->size[a]);
            before = " * ";
        }
    buf_puts(out, *before == 'f' ? "1.0" : ")");
}

static void put_expr(Build *b, Buf *out, NestId id, bool bare)
{
    const NestValue *v = &b->nest->values.at[id];
    BuildKind kind = kind_of(b, id);
    if (b->name[id]) {
        buf_puts(out, b->name[id]);
        return;
    }
    if (v->op == NEST_NUMBER) {
        prim_literal(out, v->number);
        return;
    }
    if (v->op == NEST_COUNT) {
        put_count(b, out, v->over);
        return;
    }
    if (v->op != NEST_MAP) {
        b->failed = "a value is needed before it can be computed";
        return;
    }
    if (kind == BUILD_SCALAR && !scalar_can(v->form))
        b->failed = "a function that scalars do not have";
    put_form(b, out, id, kind, bare);
}

/* The form of a map with its operands as large as `into`. */
static void put_form(Build *b, Buf *out, NestId id, BuildKind into, bool bare)
{
    const NestValue *v = &b->nest->values.at[id];
    bare = bare || is_call(v->form);
    buf_puts(out, bare ? "" : "(");
    for (const char *c = v->form; *c; c++) {
        if (*c == '$' && c[1] >= '0' && c[1] <= '2')
            put_operand(b, out, v->arg[*++c - '0'], into);
        else
            buf_char(out, *c);
    }
    buf_puts(out, bare ? "" : ")");
}

/* A value that several read, or that is spread, has a name. */
static bool wants_name(const Build *b, NestId user, uint32_t which, BuildKind into)
{
    const NestValue *u = &b->nest->values.at[user];
    NestId id = u->arg[which];
    const NestValue *v = &b->nest->values.at[id];
    BuildKind kind = kind_of(b, id);
    if (v->op == NEST_NUMBER || v->op == NEST_COUNT)
        return false;
    if (v->mask)
        return build_keeps_mask(b, id) && kind == into;
    bool spread = kind != into && kind != BUILD_SCALAR;
    if (needs_lanes(b, user) || needs_lanes(b, id))
        return true;
    return v->op != NEST_MAP || v->uses > 1 || spread || used_twice(u->form, which);
}

bool build_keeps_mask(const Build *b, NestId id)
{
    const NestValue *v = &b->nest->values.at[id];
    return v->mask && v->uses > 1 && kind_of(b, id) == BUILD_TILE;
}

/* Gives names to what an expression needs; `into`: what it is written as large as. */
static void prepare_at(Build *b, NestId id, BuildKind into)
{
    const NestValue *v = &b->nest->values.at[id];
    if (b->name[id] || v->op != NEST_MAP)
        return;
    for (uint32_t i = 0; i < v->n_arg; i++) {
        bool mask = b->nest->values.at[v->arg[i]].mask;
        if (wants_name(b, id, i, into))
            build_named(b, v->arg[i]);
        else
            prepare_at(b, v->arg[i], mask ? into : kind_of(b, v->arg[i]));
    }
}

static void prepare(Build *b, NestId id) { prepare_at(b, id, kind_of(b, id)); }

void build_prepare(Build *b, NestId id)
{
    if (needs_lanes(b, id) || b->nest->values.at[id].op == NEST_WINDOW)
        build_named(b, id);
    else
        prepare(b, id);
}

/* What the expression read: named values directly, the operands of others. */
void build_release(Build *b, NestId id)
{
    const NestValue *v = &b->nest->values.at[id];
    for (uint32_t i = 0; i < v->n_arg; i++) {
        NestId arg = v->arg[i];
        if (b->name[arg])
            release(b, arg);
        else
            build_release(b, arg);
    }
}

static const char *text_of(Build *b, NestId id)
{
    Buf out = {0};
    put_expr(b, &out, id, true);
    char *text = buf_take(&out, b->arena);
    buf_free(&out);
    return text;
}

/* One number in every element of a buffer. */
static void fill_buffer(Build *b, NestId id, BuildBuffer want, const char *size)
{
    want.dtype = DT_F32;
    want.depth = 1;
    want.times = 1;
    want.stem = 'f';
    want.owner = id;
    b->filled[id] = str_format(b->arena, "%s%s", build_take(b, want), size);
    build_line(b, "%s = %s", b->filled[id], text_of(b, id));
}

/* A comparison of single numbers that says something about all elements of a tile: one of the numbers
 * fills a buffer first. */
static void fill_compared(Build *b, NestId id, BuildKind into)
{
    const NestValue *v = &b->nest->values.at[id];
    NestId first = 0;
    for (uint32_t i = 0; i < v->n_arg; i++) {
        NestId arg = v->arg[i];
        if (b->nest->values.at[arg].mask || kind_of(b, arg) != BUILD_SCALAR || b->filled[arg])
            return;
        first = first && b->nest->values.at[first].op != NEST_NUMBER ? first : arg;
    }
    BuildBuffer want = {.kind = into, .rows = b->band->rows.tile, .lanes = b->band->lanes.tile};
    fill_buffer(b, first, want, build_view(b, into, ""));
}

static void fill_masks(Build *b, NestId id, BuildKind into)
{
    const NestValue *v = &b->nest->values.at[id];
    if (b->name[id] || v->op != NEST_MAP)
        return;
    for (uint32_t i = 0; i < v->n_arg; i++)
        fill_masks(b, v->arg[i], b->nest->values.at[v->arg[i]].mask ? into : kind_of(b, v->arg[i]));
    if (v->mask && into != BUILD_SCALAR && kind_of(b, id) == BUILD_SCALAR)
        fill_compared(b, id, into);
}

static void empty_buffers(Build *b)
{
    for (uint32_t i = 0; i < b->pool->len; i++)
        if (b->pool->at[i].stem == 'f' && b->pool->at[i].owner) {
            b->filled[b->pool->at[i].owner] = NULL;
            b->pool->at[i].owner = 0;
        }
}

const char *build_expr(Build *b, NestId id) { return build_expr_at(b, id, kind_of(b, id)); }

const char *build_expr_at(Build *b, NestId id, BuildKind into)
{
    if (needs_lanes(b, id) || b->nest->values.at[id].op == NEST_WINDOW)
        return build_named(b, id);
    prepare_at(b, id, into);
    fill_masks(b, id, into);
    if (into == kind_of(b, id) || !b->nest->values.at[id].mask) {
        const char *text = text_of(b, id);
        empty_buffers(b);
        return text;
    }
    Buf out = {0};
    put_form(b, &out, id, into, true);
    char *text = buf_take(&out, b->arena);
    buf_free(&out);
    empty_buffers(b);
    return text;
}

static const char *place_expr(Build *b, const NestValue *v)
{
    uint32_t axis = 1;
    while (!has(v->axes, axis))
        axis++;
    if (b->nest->axes.at[axis].halo.root)
        return str_format(b->arena, "iota(f32(%s), 1.0, f32)", build_halo_from(b, axis));
    if (axis == b->band->rows.axis)
        return b->band->rows.whole ? "iota(0.0, 1.0, f32)" : "iota(f32(r.start), 1.0, f32)";
    if (axis == b->band->lanes.axis)
        return b->band->lanes.whole ? "iota(0.0, 1.0, f32)" : "iota(f32(t.start), 1.0, f32)";
    return str_format(b->arena, "f32(j%u)", axis);
}

/* The reduction of what is in the tile. */
static const char *fold_expr(Build *b, const NestValue *v)
{
    bool rows = has(v->over, b->band->rows.axis), lanes = has(v->over, b->band->lanes.axis);
    BuildKind of = kind_of(b, v->arg[0]);
    bool again = b->nest->values.at[v->arg[0]].uses > 1;
    const char *x = again ? build_named(b, v->arg[0]) : build_expr(b, v->arg[0]);
    if (!rows && !lanes)
        return x;
    bool all = of != BUILD_TILE || rows == lanes;
    return build_fold(b, v->reduce, rows || all, lanes || all, x);
}

/* Single numbers that one value is computed from fill a line each. */
static void fill_lines(Build *b, NestId id)
{
    const NestValue *v = &b->nest->values.at[id];
    for (uint32_t i = 0; i < v->n_arg; i++) {
        NestId arg = v->arg[i];
        bool mask = b->nest->values.at[arg].mask;
        BuildBuffer want = {.kind = BUILD_LANES, .lanes = ONE_LINE};
        if (mask)
            fill_lines(b, arg);
        else if (!b->filled[arg])
            fill_buffer(b, arg, want, str_format(b->arena, "[:%d]", ONE_LINE));
    }
}

/* One value by the vector unit: its operands fill a line each, and the first lane is the result. */
static const char *single_value(Build *b, NestId id)
{
    const NestValue *v = &b->nest->values.at[id];
    const char *name = build_scalar(b), *line = NULL;
    Buf out = {0};
    prepare(b, id);
    fill_lines(b, id);
    for (uint32_t i = v->n_arg; i-- > 0;)
        line = b->nest->values.at[v->arg[i]].mask ? line : b->filled[v->arg[i]];
    if (!line) { /* a mask as a number */
        BuildBuffer want = {.kind = BUILD_LANES,
                            .dtype = DT_F32,
                            .depth = 1,
                            .stem = 'r',
                            .lanes = ONE_LINE,
                            .times = 1};
        line = str_format(b->arena, "%s[:%d]", build_take(b, want), ONE_LINE);
    }
    put_form(b, &out, id, BUILD_LANES, true);
    build_line(b, "%s = %.*s", line, (int)out.len, out.at);
    buf_free(&out);
    empty_buffers(b);
    build_release(b, id);
    build_line(b, "%s = %.*s[0]", name, (int)strcspn(line, "["), line);
    b->name[id] = name;
    return name;
}

const char *build_named(Build *b, NestId id)
{
    const NestValue *v = &b->nest->values.at[id];
    BuildKind kind = kind_of(b, id);
    if (b->name[id])
        return b->name[id];
    if (needs_lanes(b, id))
        return single_value(b, id);
    if (v->op == NEST_LOAD || v->op == NEST_MERGE)
        b->failed = "a tensor is read too late";
    if (v->op == NEST_SCAN)
        return build_scanned(b, id);
    if (v->op == NEST_WINDOW)
        return build_windowed(b, id);
    uint64_t outer = b->frame;
    b->frame = v->op == NEST_REDUCE ? b->nest->values.at[v->arg[0]].axes : v->axes;
    const char *expr = v->op == NEST_PLACE    ? place_expr(b, v)
                       : v->op == NEST_REDUCE ? fold_expr(b, v)
                                              : build_expr(b, id);
    build_release(b, id);
    b->frame = v->axes;
    const char *row = v->op == NEST_PLACE && kind == BUILD_LANES ? build_only_row(b, id) : NULL;
    const char *name = kind == BUILD_SCALAR ? build_scalar(b)
                       : row                ? row
                       : v->mask ? build_view(b, kind, build_buffer(b, 'v', kind, DT_BOOL, 1, id))
                                 : build_view(b, kind, build_result(b, 'v', kind, DT_F32, id));
    build_line(b, "%s = %s", name, expr);
    b->name[id] = name;
    b->frame = outer;
    return name;
}
