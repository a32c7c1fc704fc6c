/* The host function: operands, attributes, choices, workspaces, launches. */
#include "craft/sema.h"

#include "craft/fn.h"

/* ---- operands and attributes ---- */

static void note_dims(Sema *s, const IrTensor *t)
{
    if (t->role != IR_ROLE_IN && t->role != IR_ROLE_INOUT)
        return;
    for (uint32_t i = 0; i < t->rank; i++) {
        const IrExpr *e = &s->ir->exprs.at[t->shape[i]];
        if (e->op == IR_E_VAR && s->ir->vars.at[e->of.var].kind == IR_VAR_DIM &&
            !ir_is_derived(&s->ir->vars.at[e->of.var]))
            vec_push(s->arena, &s->read_dims, e->of.var);
    }
}

static void operand(Sema *s, const AstParam *param)
{
    IrTensor t = {0};
    Value v = sema_bad(param->at);
    if (sema_tensor_type(s, param, &t)) {
        if (t.role == IR_ROLE_WORKSPACE) {
            sema_error(s, PARAM, param->type->at, "w = workspace(dtype, ...) makes one",
                       "ws[...] is a parameter of kernels");
        } else {
            vec_push(s->arena, &s->ir->tensors, t);
            v = (Value){.kind = VAL_TENSOR, .at = param->at, .dtype = t.dtype};
            v.access.tensor = s->ir->tensors.len - 1;
            note_dims(s, &t);
        }
    }
    sema_declare_value(s, param->name, param->at, "parameter", v);
}

static void attribute(Sema *s, const AstParam *param)
{
    DType type = DT_I64;
    Value v = sema_bad(param->at);
    if (sema_scalar_type(s, param, &type)) {
        IrVarId var = ir_var_new(s->ir, IR_VAR_ATTR, str_dup(s->arena, param->name), type);
        IrExprId value = param->value ? sema_scalar(s, param->value) : 0;
        if (value && type == DT_F32)
            value = sema_as_float(s, value, param->value->at);
        if (value && sema_type(s, value) != type) {
            sema_error(s, SCALAR_TYPE, param->value->at,
                       "i64 takes 8, f32 takes 0.5, bool takes True or False",
                       "the default of '%.*s' is %s, not %s", STR_ARG(param->name),
                       dtype_name(sema_type(s, value)), dtype_name(type));
            value = 0;
        }
        s->ir->vars.at[var].value = value;
        s->ir->vars.at[var].at = param->at;
        vec_push(s->arena, &s->ir->attrs, var);
        v = sema_scalar_value(s, ir_var(s->ir, var), param->at);
    }
    sema_declare_value(s, param->name, param->at, "parameter", v);
}

/* ---- choose, workspace ---- */

static bool choice_values(Sema *s, const AstExpr *list, IrVar *var)
{
    if (list->kind != EX_LIST || !list->items.len || list->items.len > 64) {
        sema_error(s, CHOOSE, list->at, "choose(\"tile\", [4096, 2048]): the first is the default",
                   "choose lists 1 to 64 values in [ ]");
        return false;
    }
    for (uint32_t i = 0; i < list->items.len; i++) {
        int64_t v;
        if (!sema_constant_int(s, list->items.at[i], &v))
            return false;
        for (uint32_t j = 0; j < var->choices.len; j++)
            if (var->choices.at[j] == v) {
                sema_error(s, CHOOSE, list->items.at[i]->at, NULL, "%lld is listed twice",
                           (long long)v);
                return false;
            }
        vec_push(s->arena, &var->choices, v);
    }
    return true;
}

static bool is_identifier(Str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.at[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || c < '0' || c > '9'))
            return false;
    }
    return s.len > 0;
}

static Value choose(Sema *s, const AstExpr *call)
{
    Value name = {0};
    if (!sema_want_args(s, call, 2, 2, NULL))
        return sema_bad(call->at);
    name = sema_eval(s, call->items.at[0]);
    if (name.kind != VAL_STRING || !is_identifier(name.text)) {
        if (name.kind != VAL_BAD)
            sema_error(s, CHOOSE, call->items.at[0]->at, "choose(\"tile\", [...])",
                       "the name of a choice is a string that could be a name");
        return sema_bad(call->at);
    }
    for (uint32_t i = 1; i < s->ir->vars.len; i++)
        if (s->ir->vars.at[i].kind == IR_VAR_CHOICE && str_is(name.text, s->ir->vars.at[i].name)) {
            sema_error(s, CHOOSE, call->at, "give it another name",
                       "a choice '%.*s' exists already", STR_ARG(name.text));
            return sema_bad(call->at);
        }
    IrVar row = {0};
    if (!choice_values(s, call->items.at[1], &row))
        return sema_bad(call->at);
    IrVarId var = ir_var_new(s->ir, IR_VAR_CHOICE, str_dup(s->arena, name.text), DT_I64);
    s->ir->vars.at[var].choices.at = row.choices.at;
    s->ir->vars.at[var].choices.len = row.choices.len;
    s->ir->vars.at[var].choices.cap = row.choices.cap;
    s->ir->vars.at[var].at = call->at;
    return sema_scalar_value(s, ir_var(s->ir, var), call->at);
}

static bool name_taken(const Sema *s, const char *name)
{
    for (uint32_t i = 0; i < s->ir->tensors.len; i++)
        if (str_is(str_from(s->ir->tensors.at[i].name), name))
            return true;
    for (uint32_t i = 1; i < s->ir->vars.len; i++)
        if (str_is(str_from(s->ir->vars.at[i].name), name))
            return true;
    return false;
}

/* Branches of the host may each have a workspace of one name; to the IR they are two. */
static const char *workspace_name(Sema *s, Str name)
{
    const char *own = str_dup(s->arena, name);
    for (int i = 2; name_taken(s, own); i++)
        own = str_format(s->arena, "%.*s_%d", STR_ARG(name), i);
    return own;
}

static Value workspace(Sema *s, Str name, const AstExpr *call)
{
    IrTensor t = {.name = workspace_name(s, name), .role = IR_ROLE_WORKSPACE, .at = call->at};
    if (!sema_want_args(s, call, 2, IR_MAX_RANK + 1, NULL) ||
        !sema_dtype(s, call->items.at[0], &t.dtype))
        return sema_bad(call->at);
    for (uint32_t i = 1; i < call->items.len; i++) {
        t.shape[t.rank] = sema_integer(s, call->items.at[i]);
        if (!t.shape[t.rank++])
            return sema_bad(call->at);
    }
    vec_push(s->arena, &s->ir->tensors, t);
    uint32_t tensor = s->ir->tensors.len - 1;
    sema_emit(s, IR_S_WORKSPACE, call->at)->tensor = tensor;
    Value v = {.kind = VAL_TENSOR, .at = call->at, .dtype = t.dtype};
    v.access.tensor = tensor;
    return v;
}

bool sema_host_assign(Sema *s, Str name, const AstExpr *call)
{
    bool choice = str_is(call->a->text, "choose");
    if (!s->in_host) {
        sema_error(s, HOST_ONLY, call->at,
                   "do it in the @host function and pass the result to the kernel",
                   "%.*s in a kernel", STR_ARG(call->a->text));
        sema_declare_value(s, name, call->at, "value", sema_bad(call->at));
        return true;
    }
    Value v = choice ? choose(s, call) : workspace(s, name, call);
    sema_declare_value(s, name, call->at, choice ? "choice" : "workspace", v);
    return true;
}

/* ---- launches ---- */

/* The size a kernel declares, with its scalar parameters replaced by the launch's arguments. */
static IrExprId substitute(Sema *s, const IrKernel *k, const IrStmt *launch, IrExprId id)
{
    IrExpr e = s->ir->exprs.at[id];
    if (e.op == IR_E_VAR) {
        for (uint32_t i = 0; i < k->params.len && i < launch->args.len; i++)
            if (!k->params.at[i].is_tensor && !launch->args.at[i].is_tensor &&
                s->ir->exprs.at[k->params.at[i].value].of.var == e.of.var)
                return launch->args.at[i].value;
        return id;
    }
    int arity = ir_expr_rows[e.op].arity;
    IrExprId arg[3] = {0};
    for (int i = 0; i < arity; i++)
        arg[i] = substitute(s, k, launch, e.arg[i]);
    return arity == 1   ? ir_expr1(s->ir, e.op, arg[0])
           : arity == 2 ? ir_expr2(s->ir, e.op, arg[0], arg[1])
           : arity == 3 ? ir_expr3(s->ir, e.op, arg[0], arg[1], arg[2])
                        : id;
}

static bool role_fits(IrRole given, IrRole wanted)
{
    switch (wanted) {
    case IR_ROLE_IN: return given != IR_ROLE_IN_LIST && given != IR_ROLE_OUT_LIST;
    case IR_ROLE_OUT: return given == IR_ROLE_OUT || given == IR_ROLE_INOUT;
    case IR_ROLE_INOUT:
        return given == IR_ROLE_OUT || given == IR_ROLE_INOUT || given == IR_ROLE_WORKSPACE;
    default: return given == wanted;
    }
}

static const char *role_word(IrRole role)
{
    static const char *const words[] = {"gm", "out", "inout", "opt", "gm_list", "out_list", "ws"};
    return words[role];
}

/* The expression with sizes that are declared as one number, or made of others, replaced by that. */
static IrExprId known_size(Sema *s, IrExprId id)
{
    IrExpr e = s->ir->exprs.at[id];
    const IrVar *v = e.op == IR_E_VAR ? &s->ir->vars.at[e.of.var] : NULL;
    int arity = ir_expr_rows[e.op].arity;
    if (v && ir_is_derived(v))
        return known_size(s, v->value);
    if (v)
        return v->kind == IR_VAR_DIM && v->lo == v->hi ? ir_int(s->ir, v->lo) : id;
    if (arity != 2)
        return id;
    IrExprId a = known_size(s, e.arg[0]);
    return ir_expr2(s->ir, e.op, a, known_size(s, e.arg[1]));
}

/* How many elements host and kernel see. A kernel may see a tensor under another shape of as many. */
typedef struct Counts {
    IrExprId given, wanted;
} Counts;

typedef struct Sizes {
    IrExprId at[IR_MAX_RANK];
    uint32_t len;
} Sizes;

/* Axes that are there on both sides need no arithmetic. */
static void drop_common(Sema *s, Sizes *a, Sizes *b)
{
    for (uint32_t i = 0; i < a->len;) {
        uint32_t k = 0;
        while (k < b->len && !sema_same_size(s, a->at[i], b->at[k]))
            k++;
        if (k == b->len) {
            i++;
            continue;
        }
        a->at[i] = a->at[--a->len];
        b->at[k] = b->at[--b->len];
    }
}

static IrExprId product(Sema *s, const Sizes *sizes)
{
    IrExprId all = ir_int(s->ir, 1);
    for (uint32_t i = 0; i < sizes->len; i++)
        all = ir_expr2(s->ir, IR_E_MUL, all, known_size(s, sizes->at[i]));
    return all;
}

static Counts count_elements(Sema *s, const IrKernel *k, const IrStmt *launch, const IrTensor *want,
                             uint32_t tensor, bool all)
{
    Sizes given = {0}, wanted = {0};
    for (uint32_t i = 0; i < want->rank; i++)
        wanted.at[wanted.len++] = substitute(s, k, launch, want->shape[i]);
    for (uint32_t i = 0; i < sema_tensor(s, tensor)->rank; i++)
        given.at[given.len++] = sema_tensor(s, tensor)->shape[i];
    if (!all)
        drop_common(s, &given, &wanted);
    return (Counts){product(s, &given), product(s, &wanted)};
}

static bool check_tensor(Sema *s, const IrKernel *k, const IrStmt *launch, const IrTensor *want,
                         const Value *v)
{
    const IrTensor *have = sema_tensor(s, v->access.tensor);
    if (!role_fits(have->role, want->role)) {
        sema_error(s, LAUNCH_TENSOR, v->at,
                   have->role == IR_ROLE_WORKSPACE ? "declare the parameter ws[...]" : NULL,
                   "'%s' is %s, the parameter '%s' is %s", have->name, role_word(have->role),
                   want->name, role_word(want->role));
        return false;
    }
    if (have->dtype != want->dtype) {
        sema_error(s, LAUNCH_TENSOR, v->at, NULL, "'%s' is %s, the parameter '%s' is %s",
                   have->name, dtype_name(have->dtype), want->name, dtype_name(want->dtype));
        return false;
    }
    if (want->role == IR_ROLE_OUT && want->upto != have->upto) {
        sema_error(s, LAUNCH_TENSOR, v->at, "declare both out[T, upto(n), ...], or neither",
                   "'%s' has %supto(...), the parameter '%s' has %s", have->name,
                   have->upto ? "" : "no ", want->name, have->upto ? "none" : "one");
        return false;
    }
    bool list = have->role == IR_ROLE_IN_LIST || have->role == IR_ROLE_OUT_LIST;
    Counts n = {0};
    if (!list && !have->upto) {
        n = count_elements(s, k, launch, want, v->access.tensor, false);
        if (sema_same_size(s, n.given, n.wanted))
            return true;
        n = count_elements(s, k, launch, want, v->access.tensor, true);
    }
    have = sema_tensor(s, v->access.tensor);
    if (have->rank != want->rank) {
        const char *hint = n.given ? sema_format(s,
                                                 "another shape of as many elements is fine: these "
                                                 "are %s, the kernel's %s",
                                                 sema_expr_text(s, n.given),
                                                 sema_expr_text(s, n.wanted))
                                   : NULL;
        sema_error(s, LAUNCH_TENSOR, v->at, hint, "'%s' has %u axes, the parameter '%s' has %u",
                   have->name, have->rank, want->name, want->rank);
        return false;
    }
    for (uint32_t i = 0; i < have->rank && !list; i++) {
        IrExprId size = substitute(s, k, launch, want->shape[i]);
        have = sema_tensor(s, v->access.tensor);
        if (sema_same_size(s, have->shape[i], size))
            continue;
        sema_error(s, LAUNCH_TENSOR, v->at, "spell the shape in the kernel as it is in the host",
                   "axis %u of '%s' is %s, of the parameter '%s' %s", i, have->name,
                   sema_expr_text(s, have->shape[i]), want->name, sema_expr_text(s, size));
        return false;
    }
    return true;
}

static bool check_optional(Sema *s, const Value *v, const IrTensor *want)
{
    const IrTensor *have = sema_tensor(s, v->access.tensor);
    if (have->role != IR_ROLE_OPT || want->role == IR_ROLE_OPT)
        return true;
    for (uint32_t i = 0; i < s->present.len; i++)
        if (s->present.at[i] == v->access.tensor)
            return true;
    sema_error(s, OPTIONAL, v->at,
               sema_format(s, "launch under 'if present(%s):', or declare the parameter opt[...]",
                           have->name),
               "'%s' may be absent here", have->name);
    return false;
}

static bool scalar_arg(Sema *s, const Value *v, DType type, const char *name, IrArg *arg)
{
    if (v->kind != VAL_SCALAR) {
        sema_error(s, LAUNCH_ARGS, v->at, NULL, "the parameter '%s' is a scalar, this is %s", name,
                   sema_describe(s, v));
        return false;
    }
    arg->value = v->scalar;
    if (type == DT_F32 && s->ir->exprs.at[v->scalar].op == IR_E_INT)
        arg->value = sema_as_float(s, v->scalar, v->at);
    if (sema_type(s, arg->value) == type)
        return true;
    sema_error(s, LAUNCH_ARGS, v->at, NULL, "the parameter '%s' is %s, this is %s", name,
               dtype_name(type), dtype_name(v->dtype));
    return false;
}

/* Scalars first, since shapes of tensor parameters may use them. */
static bool launch_args(Sema *s, const AstExpr *call, uint32_t kernel, IrStmt *launch)
{
    uint32_t n = s->ir->kernels.at[kernel].params.len;
    Value *values = arena_array(s->arena, Value, n + 1);
    bool ok = true;
    for (uint32_t i = 0; i < n; i++) {
        values[i] = sema_eval(s, call->items.at[i]);
        IrArg arg = {0};
        const IrArg want = s->ir->kernels.at[kernel].params.at[i];
        if (values[i].kind == VAL_BAD) {
            ok = false;
        } else if (!want.is_tensor) {
            const IrVar *var = &s->ir->vars.at[s->ir->exprs.at[want.value].of.var];
            ok = scalar_arg(s, &values[i], var->type, var->name, &arg) && ok;
        } else if (values[i].kind != VAL_TENSOR || values[i].access.flat) {
            sema_error(s, LAUNCH_ARGS, values[i].at, NULL,
                       "the parameter '%s' is a GM tensor, this is %s",
                       s->ir->kernels.at[kernel].tensors.at[want.tensor].name,
                       sema_describe(s, &values[i]));
            ok = false;
        } else {
            arg = (IrArg){.is_tensor = true, .tensor = values[i].access.tensor};
        }
        vec_push(s->arena, &launch->args, arg);
    }
    for (uint32_t i = 0; ok && i < n; i++) {
        IrKernel k = s->ir->kernels.at[kernel];
        if (!k.params.at[i].is_tensor)
            continue;
        const IrTensor *want = &k.tensors.at[k.params.at[i].tensor];
        ok = check_tensor(s, &k, launch, want, &values[i]) && check_optional(s, &values[i], want);
    }
    return ok;
}

static bool launch_shape(Sema *s, const AstExpr *call, const Symbol *sym)
{
    const AstExpr *head = call->a;
    if (head->items.len != 1 || head->items.at[0]->kind == EX_SLICE) {
        sema_error(s, LAUNCH_ARGS, head->at, "kernel[cores](args)",
                   "a launch takes one number of cores");
        return false;
    }
    if (call->keywords.len) {
        sema_error(s, LAUNCH_ARGS, call->keywords.at[0].at, "write it by position",
                   "launch arguments have no names");
        return false;
    }
    if (call->items.len == sym->def->params.len)
        return true;
    sema_error(s, LAUNCH_ARGS, call->at, NULL, "'%.*s' has %u parameters, the launch %u arguments",
               STR_ARG(sym->name), sym->def->params.len, call->items.len);
    return false;
}

static void launch(Sema *s, const AstExpr *call, uint32_t symbol)
{
    Symbol sym = s->symbols.at[symbol];
    if (!launch_shape(s, call, &sym))
        return;
    if (!sym.kernel)
        sema_kernel_declare(s, symbol);
    uint32_t kernel = s->symbols.at[symbol].kernel - 1;
    IrExprId cores = sema_integer(s, call->a->items.at[0]);
    IrStmt made = {0};
    if (s->symbols.at[symbol].bad_params ||
        s->ir->kernels.at[kernel].params.len != call->items.len || !cores ||
        !launch_args(s, call, kernel, &made))
        return;
    IrStmt *stmt = sema_emit(s, IR_S_LAUNCH, call->at);
    stmt->kernel = kernel;
    stmt->cores = cores;
    stmt->args.at = made.args.at;
    stmt->args.len = made.args.len;
    stmt->args.cap = made.args.cap;
}

static void assert_stmt(Sema *s, const AstStmt *stmt)
{
    IrExprId cond = sema_boolean(s, stmt->value);
    Value text = {.kind = VAL_STRING, .text = STR("this shape is not supported")};
    if (stmt->text)
        text = sema_eval(s, stmt->text);
    if (text.kind != VAL_STRING && text.kind != VAL_BAD)
        sema_error(s, KIND, stmt->text->at, "assert cond, \"why\"",
                   "the text of an assert is a string");
    if (!cond || text.kind != VAL_STRING)
        return;
    const IrExpr *e = &s->ir->exprs.at[cond];
    if (e->op == IR_E_BOOL && e->of.i)
        return;
    IrStmt *out = sema_emit(s, IR_S_ASSERT, stmt->at);
    out->cond = cond;
    out->text = str_dup(s->arena, text.text);
}

bool sema_host_stmt(Sema *s, const AstStmt *stmt)
{
    if (stmt->kind == ST_ASSERT && !s->inline_depth) {
        assert_stmt(s, stmt);
        return true;
    }
    const AstExpr *e = stmt->value;
    if (stmt->kind != ST_EXPR || e->kind != EX_CALL || e->a->kind != EX_INDEX ||
        e->a->a->kind != EX_NAME)
        return false;
    Symbol *sym = sema_find_def(s, e->a->a->text);
    if (!sym && s->unfinished) /* the kernel may follow */
        return true;
    if (!sym || sym->role != DEF_KERNEL) {
        sema_error(s, NAME, e->a->a->at,
                   sym ? "only @kernel functions are launched"
                       : sema_nearest(s, e->a->a->text, true),
                   "'%.*s' is no kernel", STR_ARG(e->a->a->text));
        return true;
    }
    launch(s, e, (uint32_t)(sym - s->symbols.at));
    return true;
}

/* ---- the whole ---- */

static bool launches(const IrProgram *p, const IrBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &p->stmts.at[block->at[i]];
        if (s->kind == IR_S_LAUNCH ||
            (s->kind == IR_S_IF && launches(p, &s->body) && launches(p, &s->orelse)))
            return true;
    }
    return false;
}

void sema_host(Sema *s, uint32_t symbol)
{
    const AstDef *def = s->symbols.at[symbol].def;
    Frame frame = {.def = def};
    s->frame = &frame;
    s->in_host = true;
    s->kernel = UINT32_MAX;
    s->stage = s->role = -1;
    sema_count_writes(s, &frame.writes, &def->body);
    for (uint32_t i = 0; i < def->params.len; i++) /* shapes may use attributes */
        if (!sema_is_tensor_type(def->params.at[i].type))
            attribute(s, &def->params.at[i]);
    for (uint32_t i = 0; i < def->params.len; i++)
        if (sema_is_tensor_type(def->params.at[i].type))
            operand(s, &def->params.at[i]);
    s->ir->operand_count = s->ir->tensors.len;
    IrBlock body = {0};
    s->block = &body;
    sema_stmts(s, &def->body);
    s->ir->host = body;
    if (!s->errors && !s->unfinished && !launches(s->ir, &body))
        sema_error(s, NO_LAUNCH, def->name_at,
                   "every path of the host function ends in kernel[cores](args)",
                   "a path through '%.*s' launches nothing", STR_ARG(def->name));
    s->frame = NULL;
}
