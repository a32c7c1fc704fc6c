/* The cube's statements. In: loads into L1 and L0, mmad, stores from L0C. Out: one call each, or a
 * loop of them.
 *
 *     GM ─ND2NZ─▶ L1 (NZ) ─LoadData─▶ L0A (ZZ), L0B (ZN) ─Mmad─▶ L0C (NZ) ─Fixpipe─▶ GM
 *
 * A fractal is 16 rows of 32 bytes. Tiles of L0 are packed by the sizes of the view that is loaded, so
 * mmad takes a view as it was loaded. Rows and columns past the view's end inside the last fractal hold
 * anything: they reach only rows and columns of L0C that no store takes. Mmad gets the true k, so
 * nothing past the end of k is multiplied. */
#include "lower/lower_int.h"

enum { FRACTAL_ROWS = 16, MOST_STRIDE = 65535, MOST_EXTENT = 4095 };

/* Elements of a row of a fractal. */
static int64_t c0_of(DType dtype) { return 32 / (int64_t)dtype_bytes(dtype); }
/* Rows of tiles in L1 and columns of L0B come in these: bytes are transposed in squares of 32. */
static int64_t row_unit(DType dtype) { return dtype == DT_I8 || dtype == DT_I32 ? 32 : 16; }
static int64_t column_unit(DType dtype) { return c0_of(dtype) > 16 ? c0_of(dtype) : 16; }

static const IrBuffer *buffer_of(const Lower *l, const IrView *v)
{
    return &l->source->buffers.at[v->buffer];
}

static IrExprId tile_rows(Lower *l, const IrBuffer *b)
{
    return lx_align(l, b->shape[0], b->memory == IR_L1 ? row_unit(b->dtype) : FRACTAL_ROWS);
}

IrExprId cube_bytes(Lower *l, const IrBuffer *b)
{
    int64_t rows = FRACTAL_ROWS, cols = FRACTAL_ROWS;
    switch (b->memory) {
    case IR_L1:
        rows = row_unit(b->dtype);
        cols = column_unit(b->dtype);
        break;
    case IR_L0A: cols = column_unit(b->dtype); break;
    case IR_L0B:
        rows = column_unit(b->dtype);
        cols = row_unit(b->dtype);
        break;
    default: cols = row_unit(b->dtype); break;
    }
    IrExprId size = lx_int(l, (int64_t)dtype_bytes(b->dtype));
    return lx_mul(l, lx_mul(l, lx_align(l, b->shape[0], rows), lx_align(l, b->shape[1], cols)),
                  size);
}

static bool refuse_cube(Lower *l, const IrView *v, const char *what, const char *hint)
{
    diag_error(l->diag, "E090", v->at, "'%s': %s", buffer_of(l, v)->name, what);
    diag_hint(l->diag, "%s", hint);
    return false;
}

static bool starts_at_zero(Lower *l, const IrView *v, const char *what)
{
    if (lx_is(l, v->start[0], 0) && lx_is(l, v->start[1], 0))
        return true;
    return refuse_cube(l, v, what,
                       "load and multiply the whole tile, from its first row and column on");
}

/* The first element of a view of an NZ tile in L1. */
static bool l1_ref(Lower *l, const IrView *v, AscRef *ref)
{
    const IrBuffer *b = buffer_of(l, v);
    IrExprId row = lx_is(l, v->start[0], 0) ? 0 : v->start[0];
    IrExprId col = lx_is(l, v->start[1], 0) ? 0 : v->start[1];
    if (!lx_divides(l, col, c0_of(b->dtype)))
        return refuse_cube(l, v, "the first column of this part may lie inside a fractal",
                           "start it at a multiple of 32 bytes: a tile size that is a constant");
    IrExprId at = col ? lx_mul(l, col, tile_rows(l, b)) : 0;
    if (row)
        at = lx_add(l, at, lx_mul(l, row, lx_int(l, c0_of(b->dtype))));
    *ref = ref_local(l->plan->placed.at[v->buffer].local, b->dtype, at);
    return true;
}

static AscStmt *put_cube(Lower *l, AscCubeOp op, AscRef dst, AscRef a)
{
    AscStmt *s = ls_new(l, ASC_S_CUBE);
    s->cube = op;
    s->dst = dst;
    s->a = a;
    return s;
}

/* ---- GM to L1 ---- */

static void put_nd2nz(Lower *l, AscRef dst, AscRef gm, IrExprId rows, IrExprId cols, IrExprId step,
                      IrExprId tile)
{
    AscStmt *s = put_cube(l, ASC_CUBE_ND2NZ, dst, gm);
    s->arg[0] = rows;
    s->arg[1] = cols;
    s->arg[2] = step;
    s->arg[3] = tile;
}

/* One row at a time: the distance between rows does not fit the instruction. */
static void put_row_loop(Lower *l, AscRef dst, const AscCopy *c, IrExprId rows, IrExprId tile)
{
    IrVarId row = lx_local(l, "row", DT_I64);
    l->ir->vars.at[row].lo = 0;
    AscStmtId owner = ls_for(l, row, lx_int(l, 0), rows, lx_int(l, 1));
    Opened body;
    ls_open(l, &body);
    AscRef to = ref_at(l, dst, lx_mul(l, lx_var(l, row), lx_int(l, c0_of(dst.dtype))));
    AscRef from = ref_at(l, c->gm, lx_mul(l, lx_var(l, row), c->gm_row));
    put_nd2nz(l, to, from, lx_int(l, 1), c->cols, c->cols, tile);
    ls_close(l, &body, owner, false);
}

void cube_load_gm(Lower *l, const IrStmt *s, const AscCopy *c)
{
    AscRef dst;
    const IrBuffer *b = buffer_of(l, &s->dst);
    IrExprId tile = tile_rows(l, b), rows = c->rows ? c->rows : lx_int(l, 1);
    if (s->pad) {
        refuse_cube(l, &s->dst, "pad= does not exist for tiles of L1",
                    "leave it out: what lies past the end is never multiplied or stored");
        return;
    }
    if (!l1_ref(l, &s->dst, &dst))
        return;
    IrExprId step = c->gm_row ? c->gm_row : c->cols;
    if (lx_most(l, step) <= MOST_STRIDE || lx_is(l, rows, 1)) {
        put_nd2nz(l, dst, c->gm, rows, c->cols, lx_is(l, rows, 1) ? c->cols : step, tile);
        return;
    }
    if (lx_least(l, step) > MOST_STRIDE) {
        put_row_loop(l, dst, c, rows, tile);
        return;
    }
    IrExprId fits = ir_expr2(l->ir, IR_E_LE, step, lx_int(l, MOST_STRIDE));
    ls_new(l, ASC_S_IF)->value = fits;
    AscStmtId owner = ls_last(l);
    Opened body;
    ls_open(l, &body);
    put_nd2nz(l, dst, c->gm, rows, c->cols, step, tile);
    ls_close(l, &body, owner, false);
    ls_open(l, &body);
    put_row_loop(l, dst, c, rows, tile);
    ls_close(l, &body, owner, true);
}

/* ---- L1 to L0 ---- */

static bool refuse_row(Lower *l, const IrView *src, int64_t unit)
{
    if (lx_divides(l, src->start[0], unit))
        return true;
    return refuse_cube(l, src, "the first row of this part may lie inside a fractal",
                       "start it at a multiple of 16 rows: a tile size that is a constant");
}

/* One instruction: the tile of L1 is an image of one line, its rows the points, its columns the
 * channels (LoadData_3D; into L0B it always transposes). */
static void put_load3d(Lower *l, const IrStmt *s, AscRef dst)
{
    const IrBuffer *b = buffer_of(l, &s->src[0]);
    const IrView *v = &s->src[0];
    bool plain = buffer_of(l, &s->dst)->memory == IR_L0A && !s->transpose;
    AscRef src = ref_local(l->plan->placed.at[v->buffer].local, b->dtype, 0);
    IrExprId zero = lx_int(l, 0);
    if (!lx_divides(l, v->start[1], plain ? c0_of(b->dtype) : 16)) {
        refuse_cube(l, v, "the first column of this part may lie inside a fractal",
                    "start it at a multiple of 16 columns: a tile size that is a constant");
        return;
    }
    AscStmt *o = put_cube(l, ASC_CUBE_LOAD3D, dst, src);
    o->arg[0] = tile_rows(l, b);
    o->arg[1] = lx_align(l, b->shape[1], column_unit(b->dtype));
    o->arg[2] = v->start[0] ? v->start[0] : zero;
    o->arg[3] = lx_align(l, v->size[0], 16);
    o->arg[4] = v->start[1] ? v->start[1] : zero;
    o->arg[5] = lx_align(l, v->size[1], plain ? c0_of(b->dtype) : 16);
    o->mode = !plain;
}

/* L0B from a tile that holds its columns as rows: per 32 bytes of k a run of fractals. */
static void put_load2d(Lower *l, const IrStmt *s, AscRef dst)
{
    const IrView *v = &s->src[0];
    const IrBuffer *b = buffer_of(l, v);
    int64_t c0 = c0_of(b->dtype);
    AscRef src;
    if (!l1_ref(l, v, &src))
        return;
    IrVarId at = lx_local(l, "fractal", DT_I64);
    l->ir->vars.at[at].lo = 0;
    IrExprId columns = lx_align(l, v->size[0], row_unit(b->dtype));
    IrExprId count = lx_ceildiv(l, v->size[1], lx_int(l, c0));
    AscStmtId owner = ls_for(l, at, lx_int(l, 0), count, lx_int(l, 1));
    Opened body;
    ls_open(l, &body);
    IrExprId run = lx_mul(l, columns, lx_int(l, c0));
    IrExprId from = lx_mul(l, lx_var(l, at), lx_mul(l, tile_rows(l, b), lx_int(l, c0)));
    AscRef to = ref_at(l, dst, lx_mul(l, lx_var(l, at), run)), of = ref_at(l, src, from);
    IrExprId n = ir_expr2(l->ir, IR_E_FLOORDIV, columns, lx_int(l, 16));
    put_cube(l, ASC_CUBE_LOAD2D, to, of)->arg[0] = n;
    ls_close(l, &body, owner, false);
}

/* L0B from bytes: squares of 32 x 32 are transposed by the copy. */
static void put_squares(Lower *l, const IrStmt *s, AscRef dst)
{
    enum { SIDE = 32 };
    const IrView *v = &s->src[0];
    const IrBuffer *b = buffer_of(l, v);
    AscRef src;
    if (!refuse_row(l, v, SIDE) || !l1_ref(l, v, &src))
        return;
    IrVarId at = lx_local(l, "square", DT_I64);
    l->ir->vars.at[at].lo = 0;
    IrExprId side = lx_int(l, SIDE), rows = lx_ceildiv(l, v->size[0], side);
    IrExprId cols = lx_ceildiv(l, v->size[1], side);
    IrExprId apart = ir_expr2(l->ir, IR_E_FLOORDIV, tile_rows(l, b), side);
    AscStmtId owner = ls_for(l, at, lx_int(l, 0), rows, lx_int(l, 1));
    Opened body;
    ls_open(l, &body);
    IrExprId square = lx_int(l, SIDE * SIDE);
    AscRef to = ref_at(l, dst, lx_mul(l, lx_var(l, at), lx_mul(l, cols, square)));
    AscRef of = ref_at(l, src, lx_mul(l, lx_var(l, at), square));
    AscStmt *o = put_cube(l, ASC_CUBE_LOAD_SQUARES, to, of);
    o->arg[0] = cols;
    o->arg[1] = apart;
    ls_close(l, &body, owner, false);
}

void cube_load_l0(Lower *l, const IrStmt *s)
{
    const IrBuffer *to = buffer_of(l, &s->dst);
    bool bytes = to->dtype == DT_I8;
    if (!starts_at_zero(l, &s->dst, "a load into the middle of a tile of L0 is not built yet") ||
        !refuse_row(l, &s->src[0], 16))
        return;
    AscRef dst = ref_local(l->plan->placed.at[s->dst.buffer].local, to->dtype, 0);
    if (to->memory == IR_L0B && s->transpose)
        put_load2d(l, s, dst);
    else if (to->memory == IR_L0B && bytes)
        put_squares(l, s, dst);
    else if (bytes && s->transpose)
        refuse_cube(l, &s->src[0], "bytes cannot be transposed on the way to L0A",
                    "store the left operand row by row, [m, k]");
    else
        put_load3d(l, s, dst);
}

/* ---- the product ---- */

/* The load whose tile an mmad takes: the last one before it. A tile of L0 may be loaded with other sizes elsewhere. */
typedef struct Loaded {
    const IrStmt *load;
    bool found; /* the mmad itself was found */
} Loaded;

static bool same_place(Span a, Span b) { return a.line == b.line && a.col == b.col; }

static void find_load(const Lower *l, const IrBlock *block, uint32_t buffer, Span mmad,
                      Loaded *last)
{
    for (uint32_t i = 0; i < block->len && !last->found; i++) {
        const IrStmt *s = &l->ir->stmts.at[block->at[i]];
        if (s->kind == IR_S_LOAD && s->src_count && s->dst.buffer == buffer)
            last->load = s;
        last->found = s->kind == IR_S_OP && ir_is_mmad(s->op) && same_place(s->at, mmad);
        find_load(l, &s->body, buffer, mmad, last);
        find_load(l, &s->orelse, buffer, mmad, last);
    }
}

/* Mmad takes a packed tile: the view is the one that was loaded. */
static const IrStmt *loaded_as(Lower *l, const IrView *v, Span mmad)
{
    Loaded last = {0};
    find_load(l, &l->source->body, v->buffer, mmad, &last);
    if (!starts_at_zero(l, v, "mmad with a part of a tile of L0 is not built yet"))
        return NULL;
    if (last.load && ir_same(l->ir, last.load->dst.size[0], v->size[0]) &&
        ir_same(l->ir, last.load->dst.size[1], v->size[1]))
        return last.load;
    refuse_cube(l, v, "mmad takes other sizes of this tile than the load before it wrote",
                "give load and mmad the same view; a tile of L0 is packed by its sizes");
    return NULL;
}

static void check_extent(Lower *l, const IrView *v, IrExprId size, IrExprId room)
{
    if (lx_most(l, size) > MOST_EXTENT && lx_most(l, room) > MOST_EXTENT)
        refuse_cube(l, v, "one mmad takes at most 4095 rows and columns", "use smaller tiles");
}

/* Is a product in here one of HF32? */
static bool rounds_factors(const Lower *l, const IrBlock *block)
{
    bool found = false;
    for (uint32_t i = 0; i < block->len && !found; i++) {
        const IrStmt *s = &l->ir->stmts.at[block->at[i]];
        found = (s->kind == IR_S_OP && s->op == IR_T_MMAD_HF32) || rounds_factors(l, &s->body) ||
                rounds_factors(l, &s->orelse);
    }
    return found;
}

void cube_mmad(Lower *l, const IrStmt *s)
{
    const IrView *c = &s->dst, *a = &s->src[0], *b = &s->src[1];
    const IrStmt *left = loaded_as(l, a, s->at), *right = left ? loaded_as(l, b, s->at) : NULL;
    if (!right || !starts_at_zero(l, c, "mmad into a part of a tile of L0C is not built yet"))
        return;
    for (int i = 0; i < 2; i++) {
        check_extent(l, a, a->size[i], buffer_of(l, a)->shape[i]);
        check_extent(l, b, b->size[i], buffer_of(l, b)->shape[i]);
    }
    if (s->op == IR_T_MMAD && a->dtype == DT_F32 && rounds_factors(l, &l->source->body))
        refuse_cube(l, a, "this kernel multiplies in HF32 elsewhere, which is a mode of the core",
                    "put exact products into a kernel of their own");
    bool wide = left->transpose && a->dtype == DT_F32;
    AscRef dst = ref_local(l->plan->placed.at[c->buffer].local, c->dtype, 0);
    AscRef x = ref_local(l->plan->placed.at[a->buffer].local, a->dtype, 0);
    AscRef y = ref_local(l->plan->placed.at[b->buffer].local, b->dtype, 0);
    IrExprId m = lx_align(l, a->size[0], 16), n = lx_align(l, b->size[1], row_unit(b->dtype));
    IrExprId init = lower_scalar(l, s->scalar[0]);
    AscStmt *o = put_cube(l, ASC_CUBE_MMAD, dst, x);
    o->b = y;
    o->arg[0] = m;
    o->arg[1] = n;
    o->arg[2] = a->size[1];
    o->arg[3] = init;
    o->mode = wide;
}

void cube_set_hf32(Lower *l, const IrBlock *role, bool on)
{
    if (rounds_factors(l, role))
        put_cube(l, ASC_CUBE_HF32, (AscRef){0}, (AscRef){0})->mode = on;
}

/* The value of a condition in the first turn of the loops: 1 true, 0 false, -1 not known. */
static int first_turn(Lower *l, IrExprId e, const IrAxis *const *loops, uint32_t count)
{
    const IrExpr x = l->ir->exprs.at[e];
    if (x.op == IR_E_BOOL)
        return x.of.i != 0;
    if (x.op == IR_E_AND || x.op == IR_E_OR) {
        int a = first_turn(l, x.arg[0], loops, count), b = first_turn(l, x.arg[1], loops, count);
        int decides = x.op == IR_E_OR;
        return a == decides || b == decides ? decides : a < 0 || b < 0 ? -1 : !decides;
    }
    if (x.op != IR_E_EQ)
        return -1;
    for (int side = 0; side < 2; side++) {
        const IrExpr *v = &l->ir->exprs.at[x.arg[side]];
        IrExprId other = x.arg[1 - side];
        for (uint32_t i = 0; v->op == IR_E_VAR && i < count; i++) {
            if (loops[i]->tile && v->of.var == loops[i]->range.index)
                return lx_is(l, other, 0) ? 1 : -1;
            if (v->of.var == loops[i]->range.start) {
                IrExprId lo = loops[i]->lo ? loops[i]->lo : lx_int(l, 0);
                return ir_same(l->ir, other, lo) ? 1 : -1;
            }
        }
    }
    return -1;
}

bool cube_starts(Lower *l, const IrStmt *mmad, const IrAxis *const *loops, uint32_t count)
{
    return first_turn(l, mmad->scalar[0], loops, count) == 1;
}

/* ---- L0C to GM ---- */

static void find_products(const Lower *l, const IrBlock *block, uint32_t buffer,
                          const IrStmt **made, bool *differs)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &l->ir->stmts.at[block->at[i]];
        if (s->kind == IR_S_OP && ir_is_mmad(s->op) && s->dst.buffer == buffer) {
            *differs = *differs || (*made && !ir_same(l->ir, (*made)->dst.size[0], s->dst.size[0]));
            *made = s;
        }
        find_products(l, &s->body, buffer, made, differs);
        find_products(l, &s->orelse, buffer, made, differs);
    }
}

void cube_store(Lower *l, const IrStmt *s, const AscCopy *c)
{
    const IrView *v = &s->src[0];
    const IrStmt *made = NULL;
    bool differs = false;
    find_products(l, &l->source->body, v->buffer, &made, &differs);
    if (!made || differs) {
        refuse_cube(l, v, "its products have different numbers of rows, or there are none",
                    "give each shape of product a tile of L0C of its own");
        return;
    }
    if (!lx_divides(l, v->start[1], 16)) {
        refuse_cube(l, v, "the first column of this part may lie inside a fractal",
                    "start it at a multiple of 16 columns");
        return;
    }
    IrExprId pitch = lx_align(l, made->dst.size[0], 16), at = 0;
    if (!lx_is(l, v->start[1], 0))
        at = lx_mul(l, v->start[1], pitch);
    if (!lx_is(l, v->start[0], 0))
        at = lx_add(l, at, lx_mul(l, v->start[0], lx_int(l, 16)));
    AscRef from = ref_local(l->plan->placed.at[v->buffer].local, v->dtype, at);
    AscStmt *o = put_cube(l, ASC_CUBE_FIXPIPE, c->gm, from);
    o->arg[0] = c->rows ? c->rows : lx_int(l, 1);
    o->arg[1] = c->cols;
    o->arg[2] = c->gm_row ? c->gm_row : c->cols;
    o->arg[3] = pitch;
}
