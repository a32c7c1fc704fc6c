/* Loops and the split of work over cores: range, tiles, mine, cyclic, mine_list, share. */
#include "craft/sema.h"

#include "craft/fn.h"

/* ---- variables of a loop ---- */

static IrVarId loop_var(Sema *s, Str name, const char *part, Span at)
{
    const char *text = str_format(s->arena, "%.*s%s", STR_ARG(name), part);
    IrVarId var = ir_var_new(s->ir, IR_VAR_LOOP, text, DT_I64);
    s->ir->vars.at[var].kernel = s->kernel;
    s->ir->vars.at[var].at = at;
    return var;
}

static IrRange new_range(Sema *s, Str name, Span at, bool index)
{
    IrRange r = {.start = loop_var(s, name, ".start", at), .size = loop_var(s, name, ".size", at)};
    if (index)
        r.index = loop_var(s, name, ".index", at);
    return r;
}

static Value range_value(Sema *s, IrRange r, Span at)
{
    return (Value){.kind = VAL_RANGE,
                   .at = at,
                   .start = ir_var(s->ir, r.start),
                   .size = ir_var(s->ir, r.size),
                   .index = r.index ? ir_var(s->ir, r.index) : 0};
}

/* Declares what a loop variable stands for on one axis. */
static void declare_axis(Sema *s, const AstExpr *name, IrAxis *axis)
{
    if (axis->tile) {
        int64_t tile;
        axis->range = new_range(s, name->text, name->at, true);
        if (ir_is_int(s->ir, axis->tile, &tile))
            s->ir->vars.at[axis->range.size].hi = tile;
        sema_declare_value(s, name->text, name->at, "loop variable",
                           range_value(s, axis->range, name->at));
    } else {
        axis->range.start = loop_var(s, name->text, "", name->at);
        sema_declare_value(s, name->text, name->at, "loop variable",
                           sema_scalar_value(s, ir_var(s->ir, axis->range.start), name->at));
    }
}

/* ---- the split ---- */

static void check_split(Sema *s, Span at, const char *what)
{
    if (s->split_depth)
        sema_error(s, NESTED_SPLIT, at, "use range or tiles here",
                   "%s inside a loop that is split over cores already", what);
    if (s->stage >= 0)
        sema_error(s, STAGE_WHERE, at, "put the loop around the stages", "%s inside a stage", what);
}

static bool positive(Sema *s, IrExprId e, Span at, const char *what)
{
    int64_t v;
    if (!ir_is_int(s->ir, e, &v) || v > 0)
        return true;
    sema_error(s, STEP, at, NULL, "the %s is %lld; it must be at least 1", what, (long long)v);
    return false;
}

/* share(n, align): this core's part of 0..n-1, as a range under `name`. */
static Value share_value(Sema *s, Str name, const AstExpr *call)
{
    if (s->in_host) {
        sema_error(s, KERNEL_ONLY, call->at, NULL, "share belongs to a kernel");
        return sema_bad(call->at);
    }
    check_split(s, call->at, "share");
    IrExprId n = 0, align = ir_int(s->ir, 1);
    if (sema_want_args(s, call, 1, 2, NULL)) {
        n = sema_integer(s, call->items.at[0]);
        if (call->items.len == 2)
            align = sema_integer(s, call->items.at[1]);
    }
    if (!n || !align || !positive(s, align, call->at, "block"))
        return sema_bad(call->at);
    IrRange range = new_range(s, name, call->at, false);
    IrExprId zero = ir_int(s->ir, 0);
    IrStmt *stmt = sema_emit(s, IR_S_SHARE, call->at);
    stmt->axes[0] = (IrAxis){.lo = zero, .hi = n, .range = range};
    stmt->axis_count = 1;
    stmt->align = align;
    return range_value(s, range, call->at);
}

void sema_share(Sema *s, Str name, const AstExpr *call)
{
    Value v = share_value(s, name, call);
    sema_declare_value(s, name, call->at, "range", v);
}

/* ---- axes ---- */

static const FnRow *called(const AstExpr *e)
{
    return e->kind == EX_CALL && e->a->kind == EX_NAME ? craft_fn_find(e->a->text) : NULL;
}

/* What tiles cuts: share(...) may stand there without a name. */
static Value tiled(Sema *s, const AstExpr *e)
{
    const FnRow *fn = called(e);
    if (!fn || fn->kind != FN_SHARE)
        return sema_eval(s, e);
    return share_value(s, str_from(sema_unique(s, "part")), e);
}

/* tiles(n, tile), tiles(part, tile), tiles(lo, hi, tile) */
static bool tiles_axis(Sema *s, const AstExpr *call, IrAxis *axis, bool *shared)
{
    if (!sema_want_args(s, call, 2, 3, NULL))
        return false;
    const AstExpr *last = call->items.at[call->items.len - 1];
    if (call->items.len == 3) {
        axis->lo = sema_integer(s, call->items.at[0]);
        axis->hi = sema_integer(s, call->items.at[1]);
    } else {
        Value over = tiled(s, call->items.at[0]);
        if (over.kind == VAL_RANGE) {
            axis->lo = over.start;
            axis->hi = ir_expr2(s->ir, IR_E_ADD, over.start, over.size);
            *shared = !over.index;
        } else if (over.kind == VAL_SCALAR && over.dtype == DT_I64) {
            axis->lo = ir_int(s->ir, 0);
            axis->hi = over.scalar;
        } else if (over.kind != VAL_BAD) {
            sema_error(s, KIND, over.at, "tiles(n, tile), tiles(part, tile) or tiles(lo, hi, tile)",
                       "tiles cuts an integer or a range, this is %s", sema_describe(s, &over));
        }
    }
    axis->tile = sema_integer(s, last);
    return axis->lo && axis->hi && axis->tile && positive(s, axis->tile, last->at, "tile");
}

static bool range_axis(Sema *s, const AstExpr *call, IrAxis *axis)
{
    if (!sema_want_args(s, call, 1, 3, NULL))
        return false;
    uint32_t n = call->items.len;
    axis->lo = n > 1 ? sema_integer(s, call->items.at[0]) : ir_int(s->ir, 0);
    axis->hi = sema_integer(s, call->items.at[n > 1 ? 1 : 0]);
    if (n == 3)
        axis->step = sema_integer(s, call->items.at[2]);
    return axis->lo && axis->hi &&
           (n < 3 || (axis->step && positive(s, axis->step, call->items.at[2]->at, "step")));
}

/* One argument of mine or cyclic: an integer n (0..n-1) or tiles(...). */
static bool split_axis(Sema *s, const AstExpr *e, IrAxis *axis)
{
    bool shared = false;
    const FnRow *fn = called(e);
    if (fn && fn->kind == FN_LOOP && str_is(e->a->text, "tiles"))
        return tiles_axis(s, e, axis, &shared);
    Value v = sema_eval(s, e);
    if (v.kind == VAL_SCALAR && v.dtype == DT_I64) {
        axis->lo = ir_int(s->ir, 0);
        axis->hi = v.scalar;
        return true;
    }
    if (v.kind != VAL_BAD)
        sema_error(s, KIND, e->at, "mine(n), mine(tiles(n, tile)), mine(n, tiles(m, tile))",
                   "an axis is an integer or tiles(...), this is %s", sema_describe(s, &v));
    return false;
}

/* ---- for ---- */

typedef struct Loop {
    IrLoopKind kind;
    IrAxis axes[IR_MAX_AXES];
    uint32_t count, list;
    bool split, alternate;
} Loop;

static bool list_axes(Sema *s, const AstExpr *call, Loop *loop)
{
    if (!sema_want_args(s, call, 2, 2, NULL))
        return false;
    Value list = sema_eval(s, call->items.at[0]);
    bool ok = list.kind == VAL_TENSOR && !list.access.item &&
              (sema_tensor(s, list.access.tensor)->role == IR_ROLE_IN_LIST ||
               sema_tensor(s, list.access.tensor)->role == IR_ROLE_OUT_LIST);
    if (!ok && list.kind != VAL_BAD)
        sema_error(s, KIND, list.at, "xs: gm_list[T]",
                   "mine_list goes over a list of tensors, this is %s", sema_describe(s, &list));
    if (!ok)
        return false;
    loop->list = list.access.tensor;
    loop->count = 2;
    loop->axes[0].lo = loop->axes[1].lo = ir_int(s->ir, 0);
    loop->axes[0].hi = ir_leaf(s->ir, IR_E_LIST_LEN, loop->list, 0);
    loop->axes[1].tile = sema_integer(s, call->items.at[1]);
    return loop->axes[1].tile && positive(s, loop->axes[1].tile, call->items.at[1]->at, "tile");
}

static bool split_axes(Sema *s, const AstExpr *call, Loop *loop)
{
    if (!sema_want_args(s, call, 1, IR_MAX_AXES, NULL))
        return false;
    bool ok = true;
    for (uint32_t i = 0; i < call->items.len; i++)
        ok = split_axis(s, call->items.at[i], &loop->axes[i]) && ok;
    loop->count = call->items.len;
    return ok;
}

/* alternate(tiles(...)), alternate(range(...)): what it goes over. NULL: it cannot stand here. */
static const AstExpr *alternate_over(Sema *s, const AstExpr *call)
{
    if (!sema_want_args(s, call, 1, 1, NULL))
        return NULL;
    const AstExpr *over = call->items.at[0];
    const FnRow *fn = called(over);
    if (!fn || (!str_is(over->a->text, "tiles") && !str_is(over->a->text, "range"))) {
        sema_error(s, LOOP, over->at, "alternate(tiles(n, tile)), alternate(range(n))",
                   "alternate deals out the turns of tiles(...) or range(...)");
        return NULL;
    }
    bool here = s->kernel_def.paired && s->role == IR_CORE_VECTOR && s->stage < 0 && !s->turns;
    if (!here)
        sema_error(s, TURNS, call->at,
                   s->turns ? "use range or tiles inside"
                            : "@kernel(cube, vector, vector), under 'with vector():'",
                   "turns are dealt to the two vector cores of a core, once");
    return here ? over : NULL;
}

static bool read_loop(Sema *s, const AstStmt *stmt, Loop *loop)
{
    const AstExpr *e = stmt->value;
    const FnRow *fn = called(e);
    if (!fn || fn->kind != FN_LOOP) {
        sema_error(s, LOOP, e->at,
                   "range(n), tiles(n, tile), mine(...), cyclic(...), mine_list(xs, tile)",
                   "a for loop goes over one of Craft's iterators");
        return false;
    }
    loop->alternate = str_is(e->a->text, "alternate");
    if (loop->alternate && !(e = alternate_over(s, e)))
        return false;
    if (str_is(e->a->text, "range")) {
        loop->kind = IR_LOOP_RANGE;
        loop->count = 1;
        return range_axis(s, e, &loop->axes[0]);
    }
    if (str_is(e->a->text, "tiles")) {
        loop->kind = IR_LOOP_TILES;
        loop->count = 1;
        return tiles_axis(s, e, &loop->axes[0], &loop->split);
    }
    check_split(s, e->at, fn->name);
    loop->split = true;
    loop->kind = str_is(e->a->text, "mine")     ? IR_LOOP_MINE
                 : str_is(e->a->text, "cyclic") ? IR_LOOP_CYCLIC
                                                : IR_LOOP_MINE_LIST;
    return loop->kind == IR_LOOP_MINE_LIST ? list_axes(s, e, loop) : split_axes(s, e, loop);
}

static bool check_targets(Sema *s, const AstStmt *stmt, ExprList *names)
{
    const AstExpr *t = stmt->target;
    if (t->kind == EX_TUPLE)
        *names = t->items;
    else
        vec_push(s->arena, names, stmt->target);
    for (uint32_t i = 0; i < names->len; i++)
        if (names->at[i]->kind != EX_NAME) {
            sema_error(s, TARGET, names->at[i]->at, NULL, "a loop variable is a name");
            return false;
        }
    return true;
}

static void declare_bad(Sema *s, const ExprList *names)
{
    for (uint32_t i = 0; i < names->len; i++)
        sema_declare_value(s, names->at[i]->text, names->at[i]->at, "loop variable",
                           sema_bad(names->at[i]->at));
}

static bool mentions_written(Sema *s, IrExprId id, const Map *writes)
{
    IrExpr e = s->ir->exprs.at[id];
    uint32_t n;
    if (e.op == IR_E_VAR)
        return map_get(writes, str_from(s->ir->vars.at[e.of.var].name), &n);
    for (int i = 0; i < ir_expr_rows[e.op].arity; i++)
        if (mentions_written(s, e.arg[i], writes))
            return true;
    return false;
}

/* Bounds are evaluated when the loop begins, whatever its body does to the scalars in them. */
static void keep_bounds(Sema *s, const AstStmt *stmt, Loop *loop)
{
    Map writes = {0};
    sema_count_writes(s, &writes, &stmt->body);
    for (uint32_t i = 0; i < loop->count; i++) {
        IrExprId *parts[] = {&loop->axes[i].lo, &loop->axes[i].hi, &loop->axes[i].step,
                             &loop->axes[i].tile};
        for (int k = 0; k < 4; k++)
            if (*parts[k] && mentions_written(s, *parts[k], &writes))
                *parts[k] = sema_keep(s, *parts[k], stmt->at);
    }
}

static void loop_body(Sema *s, const AstStmt *stmt, Loop *loop, bool ok)
{
    IrBlock body = {0};
    uint32_t mark = s->assigned_log.len;
    s->loop_depth++;
    s->split_depth += loop->split;
    bool outside = s->turns;
    s->turns = outside || loop->alternate;
    sema_block(s, &stmt->body, &body);
    s->turns = outside;
    s->split_depth -= loop->split;
    s->loop_depth--;
    sema_unmark(s, mark);
    if (!ok)
        return;
    keep_bounds(s, stmt, loop);
    IrStmt *out = sema_emit(s, IR_S_FOR, stmt->at);
    out->loop = loop->kind;
    out->alternate = loop->alternate;
    out->axis_count = loop->count;
    out->list = loop->list;
    for (uint32_t i = 0; i < loop->count; i++)
        out->axes[i] = loop->axes[i];
    out->body = body;
}

void sema_for(Sema *s, const AstStmt *stmt)
{
    ExprList names = {0};
    Loop loop = {0};
    if (s->in_host) {
        sema_error(s, HOST_STMT, stmt->at, "loops belong to kernels",
                   "a loop in the host function");
        return;
    }
    if (!check_targets(s, stmt, &names))
        return;
    bool ok = read_loop(s, stmt, &loop);
    if (ok && names.len != loop.count) {
        sema_error(s, LOOP_VARS, stmt->target->at, "one variable per axis",
                   "the loop has %u axes, but %u variables", loop.count, names.len);
        ok = false;
    }
    uint32_t first = s->symbols.len;
    if (ok)
        for (uint32_t i = 0; i < loop.count; i++)
            declare_axis(s, names.at[i], &loop.axes[i]);
    else
        declare_bad(s, &names);
    loop_body(s, stmt, &loop, ok);
    sema_end_names(s, first);
}
