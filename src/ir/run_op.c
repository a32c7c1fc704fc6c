/* Tile operations: operands resolved, sizes compared, then one function a class. In: a
 * statement. Out: the destination written, or a scalar assigned, or a fault. */
#include "ir/run_int.h"

static void shapes_differ(OpArgs *o, const Tile *a, const Tile *b)
{
    run_fault(&o->t->scope, IR_FAULT_SHAPES, o->s->at,
              "%s: %s of '%s' with %lld x %lld elements and '%s' with %lld x %lld",
              run_who(&o->t->scope), ir_tile_ops[o->s->op].name, a->name, (long long)a->rows,
              (long long)a->cols, b->name, (long long)b->rows, (long long)b->cols);
}

static bool same_size(OpArgs *o, const Tile *a, const Tile *b)
{
    if (a->rows == b->rows && a->cols == b->cols)
        return true;
    shapes_differ(o, a, b);
    return false;
}

static bool equal(OpArgs *o, int64_t a, int64_t b, const Tile *x, const Tile *y)
{
    if (a == b)
        return true;
    shapes_differ(o, x, y);
    return false;
}

static bool sizes_ok(OpArgs *o)
{
    const Tile *d = &o->dst, *a = &o->src[0], *b = &o->src[1];
    switch (ir_tile_ops[o->s->op].kind) {
    case IR_CLASS_ELEM:
    case IR_CLASS_COMPARE:
    case IR_CLASS_SELECT:
    case IR_CLASS_CAST:
    case IR_CLASS_BITS:
    case IR_CLASS_SCAN:
        for (uint32_t i = 0; i < o->s->src_count; i++)
            if (!same_size(o, d, &o->src[i]))
                return false;
        return true;
    case IR_CLASS_ROWS: return equal(o, d->cols, a->rows, d, a);
    case IR_CLASS_COLS: return equal(o, d->cols, a->cols, d, a);
    case IR_CLASS_SHAPE:
        if (o->s->op == IR_T_ROW)
            return equal(o, a->cols, d->cols, a, d);
        if (o->s->op == IR_T_COL)
            return equal(o, a->cols, d->rows, a, d);
        if (o->s->op == IR_T_TRANSPOSE)
            return equal(o, a->rows, d->cols, a, d) && equal(o, a->cols, d->rows, a, d);
        return same_size(o, d, o->s->op == IR_T_GATHER ? b : a);
    case IR_CLASS_SORT:
        if (o->s->op == IR_T_COMPACT)
            return same_size(o, a, b) && equal(o, a->cols <= d->cols, 1, a, d);
        return same_size(o, d, &o->dst2) && equal(o, d->cols <= a->cols, 1, d, a) &&
               (o->s->op == IR_T_TOPK || equal(o, d->cols, a->cols, d, a));
    case IR_CLASS_CUBE:
        return equal(o, d->rows, a->rows, d, a) && equal(o, d->cols, b->cols, d, b) &&
               equal(o, a->cols, b->rows, a, b);
    case IR_CLASS_REDUCE:
    case IR_CLASS_FILL: return true;
    }
    return true;
}

/* ---- overlap ---- */

static bool touch(const Tile *a, const Tile *b)
{
    if (a->buffer != b->buffer || !a->cols || !b->cols)
        return false;
    int64_t a_end = a->byte0 + a->cols * (int64_t)a->width;
    int64_t b_end = b->byte0 + b->cols * (int64_t)b->width;
    return a->row0 < b->row0 + b->rows && b->row0 < a->row0 + a->rows && a->byte0 < b_end &&
           b->byte0 < a_end;
}

static bool same_place(const Tile *a, const Tile *b)
{
    return a->byte0 == b->byte0 && a->row0 == b->row0 && a->width == b->width;
}

/* Element by element a view may be its own result; anything else needs memory of its own. */
static bool in_place_ok(const IrStmt *s)
{
    switch (ir_tile_ops[s->op].kind) {
    case IR_CLASS_ELEM:
    case IR_CLASS_COMPARE:
    case IR_CLASS_SELECT:
    case IR_CLASS_CAST:
    case IR_CLASS_BITS:
    case IR_CLASS_SCAN: return true;
    default: return false;
    }
}

static bool no_overlap(OpArgs *o)
{
    const Tile *out[2] = {&o->dst, &o->dst2};
    for (int d = 0; d < 2; d++) {
        for (uint32_t i = 0; i < o->s->src_count; i++) {
            bool has = d ? o->s->dst2.rank != 0 : o->s->dst.rank != 0;
            if (!has || !touch(out[d], &o->src[i]) ||
                (in_place_ok(o->s) && same_place(out[d], &o->src[i])))
                continue;
            run_fault(&o->t->scope, IR_FAULT_OVERLAP, o->s->at,
                      "%s: %s reads and writes overlapping parts of '%s'", run_who(&o->t->scope),
                      ir_tile_ops[o->s->op].name, out[d]->name);
            return false;
        }
    }
    return true;
}

/* ---- operands ---- */

static bool resolve(OpArgs *o)
{
    const IrStmt *s = o->s;
    bool aligned = s->op != IR_T_EXTRACT && s->op != IR_T_INSERT;
    bool ok = true;
    if (s->dst.rank)
        ok = run_tile(o->t, &s->dst, aligned, &o->dst) && ok;
    if (s->dst2.rank)
        ok = run_tile(o->t, &s->dst2, aligned, &o->dst2) && ok;
    for (uint32_t i = 0; i < s->src_count; i++) {
        bool anywhere = s->op == IR_T_GATHER && i == 0;
        ok = run_tile(o->t, &s->src[i], aligned && !anywhere, &o->src[i]) && ok;
    }
    for (uint32_t i = 0; i < s->scalar_count; i++)
        o->scalar[i] = run_eval(&o->t->scope, s->scalar[i]);
    return ok;
}

/* mmad that goes on with a sum reads its destination. */
static bool reads_dst(const OpArgs *o)
{
    return ir_is_mmad(o->s->op) && (run_unknown(&o->t->scope, o->scalar[0]) || !o->scalar[0].i);
}

/* extract reads one element, and only that must be there. */
static bool extract_ok(OpArgs *o)
{
    Tile *a = o->s->op == IR_T_EXTRACT ? &o->src[0] : &o->dst;
    if (run_unknown(&o->t->scope, o->scalar[0]))
        return true;
    int64_t at = o->scalar[0].i;
    if (at < 0 || at >= a->cols) {
        run_fault(&o->t->scope, IR_FAULT_VIEW, o->s->at,
                  "%s uses element %lld of '%s', the view has %lld", run_who(&o->t->scope),
                  (long long)at, a->name, (long long)a->cols);
        return false;
    }
    Tile one = *a;
    one.shadow += at * (int64_t)one.width;
    one.cols = 1;
    if (o->s->op == IR_T_INSERT)
        run_wrote(&one);
    return o->s->op == IR_T_INSERT || run_need(o->t, &one);
}

static bool operands_ok(OpArgs *o)
{
    if (o->s->op == IR_T_EXTRACT || o->s->op == IR_T_INSERT)
        return extract_ok(o);
    if (!sizes_ok(o) || !no_overlap(o))
        return false;
    for (uint32_t i = 0; i < o->s->src_count; i++)
        if (!run_need(o->t, &o->src[i]))
            return false;
    return !reads_dst(o) || run_need(o->t, &o->dst);
}

static void compute(const OpArgs *o)
{
    switch (ir_tile_ops[o->s->op].kind) {
    case IR_CLASS_ELEM: run_op_elem(o); return;
    case IR_CLASS_BITS: run_op_bits(o); return;
    case IR_CLASS_COMPARE: run_op_compare(o); return;
    case IR_CLASS_SELECT: run_op_select(o); return;
    case IR_CLASS_CAST: run_op_cast(o); return;
    case IR_CLASS_FILL: run_op_fill(o); return;
    case IR_CLASS_SHAPE: run_op_shape(o); return;
    case IR_CLASS_REDUCE: run_op_reduce(o); return;
    case IR_CLASS_ROWS:
    case IR_CLASS_COLS: run_op_rows(o); return;
    case IR_CLASS_SCAN: run_op_scan(o); return;
    case IR_CLASS_SORT: run_op_sort(o); return;
    case IR_CLASS_CUBE: run_op_mmad(o); return;
    }
}

static void give_up(OpArgs *o)
{
    if (o->s->dst.rank)
        run_forget(o->t, &o->s->dst);
    if (o->s->dst2.rank)
        run_forget(o->t, &o->s->dst2);
    if (o->s->var)
        run_assign(o->t, o->s->var, (Scalar){.data = true});
}

void run_op(Thread *t, const IrStmt *s)
{
    OpArgs o = {.t = t, .s = s};
    if (!resolve(&o) || !operands_ok(&o)) {
        give_up(&o);
        return;
    }
    if (!t->scope.run->io->addresses_only)
        compute(&o);
    else if (s->var)
        run_assign(t, s->var, (Scalar){.data = true});
    if (s->dst.rank && s->op != IR_T_INSERT && (s->op != IR_T_COMPACT || !o.dst.data))
        run_wrote(&o.dst);
    if (s->dst2.rank)
        run_wrote(&o.dst2);
}
