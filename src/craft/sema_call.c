/* Calls in expressions: finds the row of fn.def (or the helper) and builds its value. */
#include "craft/sema.h"

#include "craft/fn.h"

/* ---- arguments ---- */

const AstExpr *sema_keyword(const AstExpr *call, const char *name)
{
    for (uint32_t i = 0; i < call->keywords.len; i++)
        if (str_is(call->keywords.at[i].name, name))
            return call->keywords.at[i].value;
    return NULL;
}

/* Counts positional arguments; the only keyword allowed is `keyword` (NULL: none). */
bool sema_want_args(Sema *s, const AstExpr *call, uint32_t least, uint32_t most,
                    const char *keyword)
{
    Str name = call->a->text;
    uint32_t n = call->items.len;
    for (uint32_t i = 0; i < call->keywords.len; i++) {
        const AstKeyword *k = &call->keywords.at[i];
        if (keyword && str_is(k->name, keyword))
            continue;
        sema_error(
            s, ARGS, k->at,
            str_is(k->name, "axis") || str_is(k->name, "dim")
                ? "row_sum, row_max, ... give one per row, col_sum, col_max, ... one per column"
            : keyword ? sema_format(s, "it has only %s=", keyword)
                      : "write it by position",
            "%.*s has no argument '%.*s'", STR_ARG(name), STR_ARG(k->name));
        return false;
    }
    if (n >= least && n <= most)
        return true;
    const char *range = least == most ? sema_format(s, "%u", least)
                                      : sema_format(s, "%u to %u", least, most);
    bool fold = n == 1 && (str_is(name, "min") || str_is(name, "max"));
    sema_error(s, ARGS, call->at,
               fold ? sema_format(s, "reduce_%.*s(a) is over all elements of a tile", STR_ARG(name))
                    : NULL,
               "%.*s takes %s arguments, not %u", STR_ARG(name), range, n);
    return false;
}

static Value convert_fn(Sema *s, const SemaCall *c)
{
    const Value *v = &c->args[0];
    Span at = c->e->at;
    DType to = c->fn->kind == FN_TO_F32 ? DT_F32 : DT_I64;
    if (v->kind != VAL_SCALAR || v->dtype == DT_BOOL) {
        const char *hint = v->kind == VAL_TILE ? sema_format(s, "tiles: cast(a, %s)", c->fn->name)
                                               : "1 if c else 0";
        sema_error(s, KIND, v->at, hint, "%s(...) converts a number, this is %s", c->fn->name,
                   sema_describe(s, v));
        return sema_bad(at);
    }
    if (v->dtype == to)
        return *v;
    return sema_scalar_value(s, ir_expr1(s->ir, c->fn->scalar, v->scalar), at);
}

/* reinterpret(view, dtype): the same bytes. */
static Value reinterpret_fn(Sema *s, const SemaCall *c)
{
    DType to;
    Span at = c->e->at;
    if (!sema_dtype(s, c->e->items.at[1], &to) || !sema_want_tile(s, &c->args[0], "reinterpret"))
        return sema_bad(at);
    TileNode *n = c->args[0].tile;
    if (!n->is_view || n->rank != 1) {
        sema_error(s, REINTERPRET, n->at, NULL, "reinterpret takes a 1-D view of a buffer");
        return sema_bad(at);
    }
    IrView v = n->view;
    int64_t from = (int64_t)dtype_bytes(v.dtype), width = (int64_t)dtype_bytes(to), size, start;
    v.dtype = to;
    v.at = at;
    if (from == width)
        return sema_tile_value(sema_view_node(s, &v, at));
    IrExprId *parts[2] = {&v.start[0], &v.size[0]};
    bool bad_start = ir_is_int(s->ir, v.start[0], &start) && start % width * from % width;
    bool bad_size = ir_is_int(s->ir, v.size[0], &size) && size % width * from % width;
    if (bad_start || bad_size) {
        sema_error(s, REINTERPRET, at, NULL, "%lld elements of %s are not a whole number of %s",
                   (long long)(bad_start ? start : size), dtype_name(n->view.dtype),
                   dtype_name(to));
        return sema_bad(at);
    }
    for (int i = 0; i < 2; i++) {
        IrExprOp op = from > width ? IR_E_MUL : IR_E_FLOORDIV;
        int64_t by = from > width ? from / width : width / from;
        *parts[i] = ir_expr2(s->ir, op, *parts[i], ir_int(s->ir, by));
    }
    return sema_tile_value(sema_view_node(s, &v, at));
}

static bool want_tensor(Sema *s, const SemaCall *c, uint32_t role_mask, const char *what)
{
    const Value *v = &c->args[0];
    if (v->kind == VAL_TENSOR && role_mask >> sema_tensor(s, v->access.tensor)->role & 1)
        return true;
    sema_error(s, KIND, v->at, NULL, "%s needs %s, this is %s", c->fn->name, what,
               sema_describe(s, v));
    return false;
}

enum {
    LISTS = 1 << IR_ROLE_IN_LIST | 1 << IR_ROLE_OUT_LIST,
    NO_LISTS = ~LISTS,
    OPTIONAL = 1 << IR_ROLE_OPT,
};

static Value tensor_fn(Sema *s, const SemaCall *c)
{
    Span at = c->e->at;
    if (c->fn->kind == FN_FLAT) {
        if (!want_tensor(s, c, (uint32_t)NO_LISTS, "a GM tensor"))
            return sema_bad(at);
        Value v = c->args[0];
        v.access.flat = true;
        v.at = at;
        return v;
    }
    if (c->fn->kind == FN_PRESENT) {
        if (!want_tensor(s, c, OPTIONAL, "an optional tensor (opt[...])"))
            return sema_bad(at);
        return sema_scalar_value(s, ir_leaf(s->ir, IR_E_PRESENT, c->args[0].access.tensor, 0), at);
    }
    if (!want_tensor(s, c, LISTS, "a list of tensors"))
        return sema_bad(at);
    IrExprId index = 0;
    if (c->fn->kind == FN_SIZE) {
        index = c->count == 2 ? sema_integer(s, c->e->items.at[1]) : 0;
        if (!index) {
            if (c->count != 2)
                sema_error(s, ARGS, at, NULL, "size(xs, i): which tensor of the list?");
            return sema_bad(at);
        }
    }
    return sema_scalar_value(s, ir_leaf(s->ir, c->fn->scalar, c->args[0].access.tensor, index), at);
}

static Value misplaced(Sema *s, const SemaCall *c)
{
    Span at = c->e->at;
    const char *name = c->fn->name;
    switch (c->fn->kind) {
    case FN_STMT:
    case FN_COMPACT:
        sema_error(s, NO_VALUE, at,
                   c->fn->kind == FN_COMPACT ? "n = compact(d, a, m)" : "write it alone on a line",
                   "%s does not stand inside an expression", name);
        break;
    case FN_BUFFER:
        sema_error(s, BUFFER, at, sema_format(s, "a = %s(...) at the top of the kernel", name),
                   "a buffer needs a name");
        break;
    case FN_LOOP:
        sema_error(s, LOOP, at, sema_format(s, "for ... in %s(...):", name),
                   "%s belongs to a for statement", name);
        break;
    case FN_SHARE:
        sema_error(s, LOOP, at, "part = share(n, 8)", "share is assigned to a name");
        break;
    case FN_HOST:
        sema_error(s, HOST_ONLY, at,
                   "name = choose(...) or name = workspace(...) in the @host function",
                   "%s belongs to an assignment of the host function", name);
        break;
    case FN_FILE:
        sema_error(s, TOP_LEVEL, at, NULL, "%s belongs to a declaration at file level", name);
        break;
    default:
        sema_error(s, WITH, at, sema_format(s, "with %s():", name),
                   "%s belongs to a with statement", name);
    }
    return sema_bad(at);
}

static Value dispatch(Sema *s, const SemaCall *c)
{
    switch (c->fn->kind) {
    case FN_UNARY: return sema_fn_unary(s, c);
    case FN_FOLD: return sema_fn_fold(s, c);
    case FN_OPERANDS: return sema_fn_pair(s, c);
    case FN_FMA: return sema_fn_fma(s, c);
    case FN_AXPY: return sema_fn_axpy(s, c);
    case FN_INTEGER: return sema_fn_integer(s, c);
    case FN_WHERE: return sema_fn_where(s, c);
    case FN_CAST: return sema_fn_cast(s, c);
    case FN_IOTA: return sema_fn_iota(s, c);
    case FN_SPREAD: return sema_fn_spread(s, c);
    case FN_GATHER: return sema_fn_gather(s, c);
    case FN_TRANSPOSE: return sema_fn_transpose(s, c);
    case FN_REVERSE: return sema_fn_same_shape(s, c, 1);
    case FN_SCAN: return sema_fn_same_shape(s, c, 0);
    case FN_ROWS: return sema_fn_per_axis(s, c, 0);
    case FN_COLS: return sema_fn_per_axis(s, c, 1);
    case FN_REDUCE:
    case FN_REDUCE_MASK:
    case FN_ARG: return sema_fn_reduce(s, c);
    case FN_TO_F32:
    case FN_TO_I64: return convert_fn(s, c);
    case FN_VIEW: return sema_want_tile(s, &c->args[0], "view") ? c->args[0] : sema_bad(c->e->at);
    case FN_REINTERPRET: return reinterpret_fn(s, c);
    case FN_FLAT:
    case FN_SIZE:
    case FN_LEN:
    case FN_PRESENT: return tensor_fn(s, c);
    default: return misplaced(s, c);
    }
}

static Value leaf_fn(Sema *s, const SemaCall *c)
{
    if (s->in_host) {
        sema_error(s, KERNEL_ONLY, c->e->at, "the host knows chip.cores",
                   "%s() belongs to a kernel", c->fn->name);
        return sema_bad(c->e->at);
    }
    return sema_scalar_value(s, ir_leaf(s->ir, c->fn->scalar, 0, 0), c->e->at);
}

static Value unknown_function(Sema *s, const AstExpr *e)
{
    static const struct {
        const char *name, *hint;
    } habits[] = {
        {"sum", "reduce_sum(a), row_sum(b), col_sum(b)"},
        {"softmax", "write it out: exp(a - reduce_max(a)) / sum"},
        {"program_id", "core_id()"},
        {"zeros", "a = 0.0 fills a buffer"},
        {"full", "a = value fills a buffer"},
        {"arange", "iota(start, step)"},
        {"int", "i64(s)"},
        {"float", "f32(n) converts; infinity is called inf"},
        {"mean", "reduce_sum(a) / f32(n)"},
        {"square", "a * a"},
        {"clamp", "min(max(a, low), high)"},
        {"clip", "min(max(a, low), high)"},
        {"ln", "log(a)"},
        {"any", "reduce_any(m)"},
        {"all", "reduce_all(m)"},
        {"store_gm", "store(y[...], a)"},
        {"block_idx", "core_id()"},
        {"block_num", "num_cores()"},
        {"matmul", "mmad(c, a, b)"},
        {"alloc_ub", "ub(f32, n)"},
        {"maximum", "max(a, b)"},
        {"minimum", "min(a, b)"},
        {"select", "where(m, a, b)"},
        {"broadcast", "row(v), col(v)"},
        {"print", NULL},
    };
    const char *hint = sema_nearest(s, e->a->text, true);
    for (size_t i = 0; i < sizeof habits / sizeof *habits; i++)
        if (str_is(e->a->text, habits[i].name))
            hint = habits[i].hint;
    sema_error(s, FUNCTION, e->a->at, hint, "unknown function '%.*s'", STR_ARG(e->a->text));
    return sema_bad(e->at);
}

/* dtypes and masks among the arguments are looked at by the function itself. */
static bool eval_args(Sema *s, SemaCall *c)
{
    bool ok = true;
    for (uint32_t i = 0; i < c->e->items.len; i++) {
        c->args[i] = sema_eval(s, c->e->items.at[i]);
        ok = ok && c->args[i].kind != VAL_BAD;
    }
    c->count = c->e->items.len;
    return ok;
}

static Value call_def(Sema *s, const Symbol *def, const AstExpr *e)
{
    uint32_t index = (uint32_t)(def - s->symbols.at);
    if (def->role == DEF_HELPER)
        return sema_inline(s, index, e);
    if (def->role == DEF_KERNEL)
        sema_error(s, LAUNCH_ARGS, e->at,
                   sema_format(s, "%.*s[cores](args) launches it, in the host function",
                               STR_ARG(def->name)),
                   "kernel '%.*s' is called, not launched", STR_ARG(def->name));
    else
        sema_error(s, HOST_ONLY, e->at, NULL, "the host function cannot be called");
    return sema_bad(e->at);
}

Value sema_call(Sema *s, const AstExpr *e)
{
    if (e->a->kind != EX_NAME) {
        bool launch = e->a->kind == EX_INDEX && e->a->a->kind == EX_NAME;
        if (launch && sema_find_def(s, e->a->a->text))
            sema_error(s, HOST_ONLY, e->at, NULL,
                       "a launch stands alone on a line of the host function");
        else
            sema_error(
                s, FUNCTION, e->a->at,
                e->a->kind == EX_ATTR
                    ? sema_format(s, "there are no methods: write %.*s(...)", STR_ARG(e->a->text))
                    : NULL,
                "only named functions can be called");
        return sema_bad(e->at);
    }
    Symbol *def = sema_find_def(s, e->a->text);
    SemaCall c = {.fn = craft_fn_find(e->a->text), .e = e};
    if (def && (def->role == DEF_HELPER || !c.fn)) /* an operator may be called like its function */
        return call_def(s, def, e);
    if (!c.fn)
        return unknown_function(s, e);
    if (c.fn->kind >= FN_STMT)
        return misplaced(s, &c);
    if (!sema_want_args(s, e, c.fn->least, c.fn->most, NULL))
        return sema_bad(e->at);
    if (c.fn->kind == FN_LEAF)
        return leaf_fn(s, &c);
    return eval_args(s, &c) ? dispatch(s, &c) : sema_bad(e->at);
}
