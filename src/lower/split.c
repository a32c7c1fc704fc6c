/* Loops and the split of work over cores, as plain arithmetic.
 *
 * In: a loop of the IR. Out: a counting loop with the assignments that give its variables their
 * values. n items over c cores: core i gets n / c of them and the first n % c cores one more:
 *
 *     begin = i * (n / c) + min(i, n % c)        end = begin + n / c + (i < n % c)
 */
#include "lower/lower_int.h"

static IrExprId core_id(Lower *l)
{
    IrExpr e = {.op = IR_E_CORE_ID, .type = DT_I64, .at = l->span};
    vec_push(l->ir->arena, &l->ir->exprs, e);
    return l->ir->exprs.len - 1;
}

static IrExprId num_cores(Lower *l)
{
    if (l->k->cores)
        return lx_var(l, l->k->cores);
    IrExpr e = {.op = IR_E_NUM_CORES, .type = DT_I64, .at = l->span};
    vec_push(l->ir->arena, &l->ir->exprs, e);
    return l->ir->exprs.len - 1;
}

static const char *base_name(Lower *l, IrVarId var)
{
    Str name = str_from(l->ir->vars.at[var].name), base;
    return str_next(&name, '.', &base) ? str_dup(l->arena, base) : "item";
}

static IrVarId set_new(Lower *l, const char *name, IrExprId value)
{
    IrVarId var = lx_local(l, name, DT_I64);
    IrInterval in = ir_interval(l->ir, l->chip, value);
    l->ir->vars.at[var].lo = in.lo;
    l->ir->vars.at[var].hi = in.hi;
    l->ir->vars.at[var].multiple = ir_multiple(l->ir, l->chip, value);
    if (l->ir->vars.at[var].multiple < 1)
        l->ir->vars.at[var].multiple = 1;
    ls_set(l, var, value);
    return var;
}

/* Sets `<name>Begin` and `<name>End` to this core's part of 0..n-1. */
static void my_part(Lower *l, const char *name, IrExprId n, IrVarId *begin, IrVarId *end)
{
    IrProgram *ir = l->ir;
    IrExprId me = core_id(l), all = num_cores(l);
    IrVarId each = set_new(l, str_format(l->arena, "%s.each", name),
                           ir_expr2(ir, IR_E_FLOORDIV, n, all));
    IrVarId rest = set_new(l, str_format(l->arena, "%s.rest", name),
                           ir_expr2(ir, IR_E_MOD, n, all));
    IrExprId first = lx_add(l, lx_mul(l, me, lx_var(l, each)),
                            ir_expr2(ir, IR_E_MIN, me, lx_var(l, rest)));
    *begin = set_new(l, str_format(l->arena, "%s.begin", name), first);
    IrExprId more = ir_expr3(ir, IR_E_SELECT, ir_expr2(ir, IR_E_LT, me, lx_var(l, rest)),
                             lx_int(l, 1), lx_int(l, 0));
    IrExprId last = lx_add(l, lx_add(l, lx_var(l, *begin), lx_var(l, each)), more);
    *end = set_new(l, str_format(l->arena, "%s.end", name), last);
    l->ir->vars.at[*begin].lo = l->ir->vars.at[*end].lo = 0;
}

void lower_share(Lower *l, const IrStmt *s)
{
    const IrAxis *a = &s->axes[0];
    const char *name = base_name(l, a->range.start);
    IrExprId align = s->align ? s->align : lx_int(l, 1);
    IrExprId n = lx_sub(l, a->hi, a->lo);
    IrVarId begin, end;
    my_part(l, name, lx_ceildiv(l, n, align), &begin, &end);
    IrExprId first = ir_expr2(l->ir, IR_E_MIN, lx_mul(l, lx_var(l, begin), align), n);
    IrExprId last = ir_expr2(l->ir, IR_E_MIN, lx_mul(l, lx_var(l, end), align), n);
    ls_set(l, a->range.start, lx_add(l, a->lo, first));
    IrExprId stop = lx_add(l, a->lo, last);
    ls_set(l, a->range.size, lx_sub(l, stop, lx_var(l, a->range.start)));
}

static IrExprId axis_count(Lower *l, const IrAxis *a)
{
    IrExprId n = lx_sub(l, a->hi, a->lo);
    IrExprId unit = a->tile ? a->tile : a->step;
    return unit && !lx_is(l, unit, 1) ? lx_ceildiv(l, n, unit) : n;
}

/* Sets the axis's variables from its number `index` of 0..count-1. */
static void axis_set(Lower *l, const IrAxis *a, IrExprId index)
{
    IrExprId unit = a->tile ? a->tile : a->step;
    IrExprId at = unit ? lx_mul(l, index, unit) : index;
    if (a->range.index && a->tile)
        ls_set(l, a->range.index, index);
    ls_set(l, a->range.start, lx_add(l, a->lo, at));
    if (a->tile)
        ls_set(l, a->range.size,
               ir_expr2(l->ir, IR_E_MIN, a->tile, lx_sub(l, a->hi, lx_var(l, a->range.start))));
}

static void open_simple(Lower *l, const IrStmt *s, OpenLoop *loop)
{
    const IrAxis *a = &s->axes[0];
    IrExprId step = a->tile ? a->tile : a->step ? a->step : lx_int(l, 1);
    loop->owner = ls_for(l, a->range.start, a->lo ? a->lo : lx_int(l, 0), a->hi, step);
    ls_open(l, &loop->body);
    if (!a->tile)
        return;
    IrExprId start = lx_var(l, a->range.start);
    ls_set(l, a->range.size, ir_expr2(l->ir, IR_E_MIN, a->tile, lx_sub(l, a->hi, start)));
    if (a->range.index)
        ls_set(l, a->range.index, ir_expr2(l->ir, IR_E_FLOORDIV, lx_sub(l, start, a->lo), a->tile));
}

static void open_items(Lower *l, const IrStmt *s, OpenLoop *loop)
{
    const char *name = s->axis_count == 1 ? base_name(l, s->axes[0].range.start) : "item";
    IrExprId count[IR_MAX_AXES], total = lx_int(l, 1);
    for (uint32_t i = s->axis_count; i-- > 0;) {
        count[i] = axis_count(l, &s->axes[i]);
        total = lx_mul(l, count[i], total);
    }
    bool plain = s->axis_count == 1 && !s->axes[0].tile && !s->axes[0].step &&
                 lx_is(l, s->axes[0].lo, 0);
    IrVarId item = plain ? s->axes[0].range.start
                         : lx_local(l, str_format(l->arena, "%s.item", name), DT_I64);
    if (s->loop == IR_LOOP_CYCLIC) {
        loop->owner = ls_for(l, item, core_id(l), total, num_cores(l));
    } else {
        IrVarId begin, end;
        my_part(l, name, total, &begin, &end);
        loop->owner = ls_for(l, item, lx_var(l, begin), lx_var(l, end), lx_int(l, 1));
    }
    l->ir->vars.at[item].lo = 0;
    ls_open(l, &loop->body);
    IrExprId below = lx_int(l, 1);
    for (uint32_t i = s->axis_count; !plain && i-- > 0;) {
        IrExprId index = ir_expr2(l->ir, IR_E_FLOORDIV, lx_var(l, item), below);
        if (i > 0)
            index = ir_expr2(l->ir, IR_E_MOD, index, count[i]);
        below = lx_mul(l, count[i], below);
        axis_set(l, &s->axes[i], index);
    }
}

/* ---- the pieces of all tensors of a list, as one row of items ---- */

static IrExprId list_expr(Lower *l, IrExprOp op, uint32_t list, IrExprId index)
{
    IrExpr e = {.op = op, .type = DT_I64, .of.tensor = list, .arg = {index}, .at = l->span};
    vec_push(l->ir->arena, &l->ir->exprs, e);
    return l->ir->exprs.len - 1;
}

static IrExprId pieces_of(Lower *l, const IrStmt *s, IrVarId item)
{
    IrExprId size = list_expr(l, IR_E_LIST_SIZE, s->list, lx_var(l, item));
    return lx_ceildiv(l, size, s->axes[1].tile);
}

static IrVarId natural(Lower *l, const char *name)
{
    IrVarId v = lx_local(l, name, DT_I64);
    l->ir->vars.at[v].lo = 0;
    return v;
}

static IrVarId count_pieces(Lower *l, const IrStmt *s, IrExprId len)
{
    IrVarId total = natural(l, "pieces"), item = natural(l, "item");
    ls_set(l, total, lx_int(l, 0));
    AscStmtId owner = ls_for(l, item, lx_int(l, 0), len, lx_int(l, 1));
    Opened body;
    ls_open(l, &body);
    ls_set(l, total, lx_add(l, lx_var(l, total), pieces_of(l, s, item)));
    ls_close(l, &body, owner, false);
    return total;
}

static void open_list(Lower *l, const IrStmt *s, OpenLoop *loop)
{
    const IrRange *t = &s->axes[1].range;
    IrExprId tile = s->axes[1].tile, len = list_expr(l, IR_E_LIST_LEN, s->list, 0);
    IrVarId item = s->axes[0].range.start, begin, end;
    IrVarId total = count_pieces(l, s, len);
    my_part(l, "piece", lx_var(l, total), &begin, &end);
    loop->nested = true;
    loop->base = natural(l, "piece.base");
    ls_set(l, loop->base, lx_int(l, 0));
    loop->outer_owner = ls_for(l, item, lx_int(l, 0), len, lx_int(l, 1));
    ls_open(l, &loop->outer_body);
    IrVarId size = natural(l, "item.size"), piece = natural(l, "piece");
    loop->pieces = natural(l, "item.pieces");
    ls_set(l, size, list_expr(l, IR_E_LIST_SIZE, s->list, lx_var(l, item)));
    ls_set(l, loop->pieces, lx_ceildiv(l, lx_var(l, size), tile));
    IrExprId base = lx_var(l, loop->base);
    IrExprId first = ir_expr2(l->ir, IR_E_MAX, lx_sub(l, lx_var(l, begin), base), lx_int(l, 0));
    IrExprId last = ir_expr2(l->ir, IR_E_MIN, lx_sub(l, lx_var(l, end), base),
                             lx_var(l, loop->pieces));
    loop->owner = ls_for(l, piece, first, last, lx_int(l, 1));
    ls_open(l, &loop->body);
    ls_set(l, t->start, lx_mul(l, lx_var(l, piece), tile));
    IrExprId rest = lx_sub(l, lx_var(l, size), lx_var(l, t->start));
    ls_set(l, t->size, ir_expr2(l->ir, IR_E_MIN, tile, rest));
    if (t->index)
        ls_set(l, t->index, lx_var(l, piece));
}

void loop_open(Lower *l, const IrStmt *s, OpenLoop *loop)
{
    *loop = (OpenLoop){0};
    switch (s->loop) {
    case IR_LOOP_RANGE:
    case IR_LOOP_TILES: open_simple(l, s, loop); break;
    case IR_LOOP_MINE:
    case IR_LOOP_CYCLIC: open_items(l, s, loop); break;
    case IR_LOOP_MINE_LIST: open_list(l, s, loop); break;
    }
}

void loop_close(Lower *l, OpenLoop *loop)
{
    ls_close(l, &loop->body, loop->owner, false);
    if (!loop->nested)
        return;
    l->span = l->out->stmts.at[loop->outer_owner].at;
    ls_set(l, loop->base, lx_add(l, lx_var(l, loop->base), lx_var(l, loop->pieces)));
    ls_close(l, &loop->outer_body, loop->outer_owner, false);
}
