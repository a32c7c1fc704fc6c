/* The definition of a valid program. In: a program from anywhere. Out: true, or errors I010.
 *
 * First the pool of expressions: operators, operands before users, types. Then the host and
 * every kernel, statement by statement (verify_stmt.c, tile operations in verify_op.c). What depends on values
 * (bounds, coverage, capacity) is the prover's and the interpreter's. */
#include "ir/verify_int.h"

#include "base/map.h"

bool verify_fail(Verifier *v, Span at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = str_vformat(&v->scratch, format, args);
    va_end(args);
    const char *where = v->k ? v->k->name : v->in_host ? "host" : "program";
    diag_error(v->diag, "I010", at, "%s: %s", where, text);
    v->bad = true;
    return false;
}

/* ---- the pool of expressions ---- */

static bool is_number(DType t) { return t == DT_I64 || t == DT_F32; }

/* The type an expression must have, from its operator and operands; DT_COUNT: they misfit. */
static DType type_of(const IrProgram *p, const IrExpr *e)
{
    DType a = p->exprs.at[e->arg[0]].type, b = p->exprs.at[e->arg[1]].type;
    DType c = p->exprs.at[e->arg[2]].type;
    switch (e->op) {
    case IR_E_INT:
    case IR_E_CHIP:
    case IR_E_CORE_ID:
    case IR_E_VECTOR_ID:
    case IR_E_NUM_CORES:
    case IR_E_LIST_LEN: return DT_I64;
    case IR_E_FLOAT: return DT_F32;
    case IR_E_BOOL:
    case IR_E_PRESENT: return DT_BOOL;
    case IR_E_VAR: return p->vars.at[e->of.var].type;
    case IR_E_LIST_SIZE: return a == DT_I64 ? DT_I64 : DT_COUNT;
    case IR_E_ADD:
    case IR_E_SUB:
    case IR_E_MUL:
    case IR_E_MIN:
    case IR_E_MAX: return a == b && is_number(a) ? a : DT_COUNT;
    case IR_E_DIV: return a == DT_F32 && b == DT_F32 ? DT_F32 : DT_COUNT;
    case IR_E_FLOORDIV:
    case IR_E_MOD:
    case IR_E_CEILDIV:
    case IR_E_ALIGN_UP:
    case IR_E_ALIGN_DOWN: return a == DT_I64 && b == DT_I64 ? DT_I64 : DT_COUNT;
    case IR_E_NEG:
    case IR_E_ABS: return is_number(a) ? a : DT_COUNT;
    case IR_E_SQRT:
    case IR_E_EXP:
    case IR_E_LOG: return a == DT_F32 ? DT_F32 : DT_COUNT;
    case IR_E_EQ:
    case IR_E_NE: return a == b ? DT_BOOL : DT_COUNT;
    case IR_E_LT:
    case IR_E_LE:
    case IR_E_GT:
    case IR_E_GE: return a == b && is_number(a) ? DT_BOOL : DT_COUNT;
    case IR_E_AND:
    case IR_E_OR: return a == DT_BOOL && b == DT_BOOL ? DT_BOOL : DT_COUNT;
    case IR_E_NOT: return a == DT_BOOL ? DT_BOOL : DT_COUNT;
    case IR_E_SELECT: return a == DT_BOOL && b == c ? b : DT_COUNT;
    case IR_E_TO_F32: return a != DT_F32 ? DT_F32 : DT_COUNT;
    case IR_E_TO_I64: return a != DT_I64 ? DT_I64 : DT_COUNT;
    case IR_E_NONE:
    case IR_E_COUNT: break;
    }
    return DT_COUNT;
}

static bool check_operands(Verifier *v, uint32_t id, const IrExpr *e, uint32_t *depth)
{
    if (e->op == IR_E_VAR && (e->of.var == 0 || e->of.var >= v->p->vars.len))
        return verify_fail(v, e->at, "expression %u names variable %u", id, e->of.var);
    if (e->op == IR_E_CHIP && e->of.fact >= IR_CHIP_COUNT)
        return verify_fail(v, e->at, "expression %u names chip fact %u", id, e->of.fact);
    for (int i = 0; i < ir_expr_rows[e->op].arity; i++) {
        if (e->arg[i] == 0 || e->arg[i] >= id)
            return verify_fail(v, e->at, "operand %d of expression %u (%s) is expression %u", i, id,
                               ir_expr_rows[e->op].text, e->arg[i]);
        if (depth[e->arg[i]] + 1 > depth[id])
            depth[id] = depth[e->arg[i]] + 1;
    }
    if (depth[id] > IR_MAX_EXPR_DEPTH)
        return verify_fail(v, e->at, "an expression is more than %d deep", IR_MAX_EXPR_DEPTH);
    return true;
}

static bool check_pool(Verifier *v)
{
    uint32_t *depth = arena_array(&v->scratch, uint32_t, v->p->exprs.len + 1);
    for (uint32_t id = 1; id < v->p->exprs.len; id++) {
        const IrExpr *e = &v->p->exprs.at[id];
        if ((uint32_t)e->op >= IR_E_COUNT || e->op == IR_E_NONE)
            return verify_fail(v, e->at, "expression %u has no operator", id);
        if (!check_operands(v, id, e, depth))
            return false;
        DType want = type_of(v->p, e);
        if (want != e->type || want == DT_COUNT)
            return verify_fail(v, e->at, "the operands of '%s' do not fit",
                               ir_expr_rows[e->op].text);
    }
    return true;
}

/* ---- names and variables ---- */

static bool is_letter(char c) { return c == '_' || ((c | 32) >= 'a' && (c | 32) <= 'z'); }

static bool is_name(const char *name)
{
    if (!name || !is_letter(name[0]))
        return false;
    for (const char *c = name + 1; *c; c++)
        if (!is_letter(*c) && !(*c >= '0' && *c <= '9') && *c != '.')
            return false;
    return true;
}

static bool is_scalar_type(DType t) { return t == DT_I64 || t == DT_F32 || t == DT_BOOL; }

/* A derived size: integers over dims that come earlier. */
static bool is_made_of_sizes(const Verifier *v, IrVarId of, IrExprId id)
{
    const IrProgram *p = v->p;
    if (id == 0 || id >= p->exprs.len)
        return false;
    const IrExpr *e = &p->exprs.at[id];
    if (e->type != DT_I64 || e->op == IR_E_CHIP || e->op == IR_E_LIST_LEN ||
        e->op == IR_E_LIST_SIZE || e->op == IR_E_CORE_ID || e->op == IR_E_NUM_CORES)
        return false;
    if (e->op == IR_E_VAR)
        return e->of.var < of && p->vars.at[e->of.var].kind == IR_VAR_DIM;
    for (int i = 0; i < ir_expr_rows[e->op].arity; i++)
        if (e->arg[i] >= id || !is_made_of_sizes(v, of, e->arg[i]))
            return false;
    return true;
}

static bool check_vars(Verifier *v)
{
    for (uint32_t i = 1; i < v->p->vars.len; i++) {
        const IrVar *x = &v->p->vars.at[i];
        if (!is_name(x->name))
            return verify_fail(v, x->at, "variable %u has no proper name", i);
        if (!is_scalar_type(x->type))
            return verify_fail(v, x->at, "'%s' is neither i64, f32 nor bool", x->name);
        if ((uint32_t)x->kind > IR_VAR_LOCAL)
            return verify_fail(v, x->at, "'%s' is of no kind", x->name);
        if (x->kind >= IR_VAR_PARAM && x->kernel >= v->p->kernels.len)
            return verify_fail(v, x->at, "'%s' belongs to no kernel", x->name);
        if (x->multiple < 1 || (x->type == DT_I64 && x->lo > x->hi))
            return verify_fail(v, x->at, "the range of '%s' is empty", x->name);
        if (x->kind == IR_VAR_DIM && (x->type != DT_I64 || x->lo < 0))
            return verify_fail(v, x->at, "the size '%s' may be negative", x->name);
        if (x->kind == IR_VAR_CHOICE && (x->choices.len == 0 || x->type != DT_I64))
            return verify_fail(v, x->at, "'%s' has nothing to choose from", x->name);
        if (x->choices.len > IR_MAX_CHOICES)
            return verify_fail(v, x->at, "'%s' has more than %d choices", x->name, IR_MAX_CHOICES);
        if (ir_is_derived(x) && !is_made_of_sizes(v, i, x->value))
            return verify_fail(v, x->at, "'%s' is not made of sizes before it", x->name);
        if (x->value >= v->p->exprs.len || (x->value && v->p->exprs.at[x->value].type != x->type))
            return verify_fail(v, x->at, "the default of '%s' is of another type", x->name);
    }
    return true;
}

const IrTensor *verify_tensor(const Verifier *v, uint32_t tensor)
{
    if (v->k)
        return tensor < v->k->tensors.len ? &v->k->tensors.at[tensor] : NULL;
    return tensor < v->p->tensors.len ? &v->p->tensors.at[tensor] : NULL;
}

bool ir_is_list(const IrTensor *t)
{
    return t->role == IR_ROLE_IN_LIST || t->role == IR_ROLE_OUT_LIST;
}

static bool var_visible(const Verifier *v, IrVarId var)
{
    const IrVar *x = &v->p->vars.at[var];
    if (x->kind == IR_VAR_DIM)
        return true;
    if (!v->k)
        return x->kind <= IR_VAR_HOST && (x->kind != IR_VAR_HOST || v->defined[var]);
    return x->kind >= IR_VAR_PARAM && x->kernel == v->kernel && v->defined[var];
}

static bool check_use(Verifier *v, Span at, IrExprId id)
{
    const IrExpr *e = &v->p->exprs.at[id];
    const IrTensor *t;
    switch (e->op) {
    case IR_E_VAR:
        if (!var_visible(v, e->of.var))
            return verify_fail(v, at, "'%s' has no value here", v->p->vars.at[e->of.var].name);
        break;
    case IR_E_CORE_ID:
    case IR_E_NUM_CORES:
        if (!v->k)
            return verify_fail(v, at, "%s() outside a kernel", ir_expr_rows[e->op].text);
        break;
    case IR_E_VECTOR_ID: return verify_fail(v, at, "vector_id() is made by lowering");
    case IR_E_PRESENT:
        t = verify_tensor(v, e->of.tensor);
        if (!t || t->role != IR_ROLE_OPT)
            return verify_fail(v, at, "present() of what is not optional");
        break;
    case IR_E_LIST_LEN:
    case IR_E_LIST_SIZE:
        t = verify_tensor(v, e->of.tensor);
        if (!t || !ir_is_list(t))
            return verify_fail(v, at, "%s() of what is not a list", ir_expr_rows[e->op].text);
        break;
    default: break;
    }
    for (int i = 0; i < ir_expr_rows[e->op].arity; i++)
        if (!check_use(v, at, e->arg[i]))
            return false;
    return true;
}

bool verify_expr(Verifier *v, Span at, IrExprId e, DType type, const char *what)
{
    if (e == 0 || e >= v->p->exprs.len)
        return verify_fail(v, at, "%s is missing", what);
    if (v->p->exprs.at[e].type != type)
        return verify_fail(v, at, "%s is %s, not %s", what, dtype_name(v->p->exprs.at[e].type),
                           dtype_name(type));
    return check_use(v, at, e);
}

bool verify_target(Verifier *v, Span at, IrVarId var, DType type)
{
    if (var == 0 || var >= v->p->vars.len)
        return verify_fail(v, at, "a value goes to variable %u", var);
    const IrVar *x = &v->p->vars.at[var];
    IrVarKind kind = v->k ? IR_VAR_LOCAL : IR_VAR_HOST;
    if (x->kind != kind || (v->k && x->kernel != v->kernel))
        return verify_fail(v, at, "'%s' cannot be assigned here", x->name);
    if (x->type != type)
        return verify_fail(v, at, "'%s' is %s, the value %s", x->name, dtype_name(x->type),
                           dtype_name(type));
    v->defined[var] = true;
    return true;
}

DType ir_scalar_of(DType element)
{
    return element == DT_BOOL ? DT_BOOL : dtype_is_float(element) ? DT_F32 : DT_I64;
}

/* ---- tensors, buffers, views, accesses ---- */

static bool element_ok(DType d)
{
    switch (d) {
    case DT_F32:
    case DT_F16:
    case DT_BF16:
    case DT_I8:
    case DT_I16:
    case DT_I32:
    case DT_I64:
    case DT_U8:
    case DT_U16:
    case DT_U32:
    case DT_BOOL: return true;
    default: return false;
    }
}

bool verify_tensor_decl(Verifier *v, const IrTensor *t)
{
    if (!is_name(t->name) || (uint32_t)t->role > IR_ROLE_WORKSPACE)
        return verify_fail(v, t->at, "a tensor has no proper name or role");
    if ((uint32_t)t->dtype >= DT_COUNT || !element_ok(t->dtype))
        return verify_fail(v, t->at, "'%s' has elements of a type that has no tiles", t->name);
    if (t->rank > IR_MAX_RANK)
        return verify_fail(v, t->at, "'%s' has %u axes", t->name, t->rank);
    if (t->upto && (t->role != IR_ROLE_OUT || t->rank == 0))
        return verify_fail(v, t->at, "'%s' is no output, or has no axis to cut short", t->name);
    if (t->pairs && (ir_is_list(t) || t->dtype != DT_F32 || t->rank < 1))
        return verify_fail(v, t->at, "'%s' cannot be pairs of f32", t->name);
    if (ir_is_list(t))
        return true;
    for (uint32_t i = 0; i < t->rank; i++)
        if (!verify_expr(v, t->at, t->shape[i], DT_I64, "a size of a tensor"))
            return false;
    return true;
}

static bool check_buffer(Verifier *v, const IrBuffer *b)
{
    if (!is_name(b->name) || (uint32_t)b->memory > IR_CHANNEL || (uint32_t)b->layout > IR_ZN)
        return verify_fail(v, b->at, "a buffer has no proper name, memory or layout");
    if ((uint32_t)b->dtype >= DT_COUNT || !element_ok(b->dtype) ||
        (b->mask && (b->dtype != DT_BOOL || b->memory != IR_UB)))
        return verify_fail(v, b->at, "'%s' has elements of a type that has no tiles", b->name);
    if (b->rank < 1 || b->rank > IR_MAX_TILE_RANK)
        return verify_fail(v, b->at, "'%s' has %u axes", b->name, b->rank);
    for (uint32_t i = 0; i < b->rank; i++)
        if (!verify_expr(v, b->at, b->shape[i], DT_I64, "a size of a buffer"))
            return false;
    return !b->depth || verify_expr(v, b->at, b->depth, DT_I64, "a depth");
}

bool verify_view(Verifier *v, Span at, const IrView *w)
{
    if (w->buffer >= v->k->buffers.len)
        return verify_fail(v, at, "a view of buffer %u", w->buffer);
    const IrBuffer *b = &v->k->buffers.at[w->buffer];
    uint32_t want = w->row ? 1 : b->rank;
    if (w->rank != want || (w->row && b->rank != 2))
        return verify_fail(v, at, "a view of '%s' has %u axes", b->name, w->rank);
    if ((uint32_t)w->dtype >= DT_COUNT || !element_ok(w->dtype) || (b->mask && w->dtype != DT_BOOL))
        return verify_fail(v, at, "'%s' cannot be seen as that type", b->name);
    if (w->row && !verify_expr(v, at, w->row, DT_I64, "a row"))
        return false;
    for (uint32_t i = 0; i < w->rank; i++)
        if (!verify_expr(v, at, w->start[i], DT_I64, "the start of a view") ||
            !verify_expr(v, at, w->size[i], DT_I64, "the size of a view"))
            return false;
    return true;
}

bool verify_access(Verifier *v, const IrStmt *s, bool one_element)
{
    const IrAccess *a = &s->access;
    const IrTensor *t = verify_tensor(v, a->tensor);
    if (!t)
        return verify_fail(v, s->at, "an access to tensor %u", a->tensor);
    if (ir_is_list(t) != (a->item != 0))
        return verify_fail(v, s->at, "'%s' needs %s item", t->name, ir_is_list(t) ? "an" : "no");
    if (a->item && !verify_expr(v, s->at, a->item, DT_I64, "the item of a list"))
        return false;
    uint32_t rank = ir_is_list(t) || a->flat ? 1 : t->rank;
    if (a->rank != rank)
        return verify_fail(v, s->at, "'%s' has %u axes, the access %u", t->name, rank, a->rank);
    for (uint32_t i = 0; i < rank; i++) {
        if (!verify_expr(v, s->at, a->start[i], DT_I64, "an index"))
            return false;
        if (a->size[i] && one_element)
            return verify_fail(v, s->at, "one element of '%s' is meant, not a range", t->name);
        if (a->size[i] && !verify_expr(v, s->at, a->size[i], DT_I64, "the size of a range"))
            return false;
    }
    return true;
}

/* ---- the whole ---- */

static bool unique(Verifier *v, Map *names, const char *name, Span at)
{
    uint32_t ignored;
    if (map_get(names, str_from(name), &ignored))
        return verify_fail(v, at, "two things are called '%s'", name);
    map_put(&v->scratch, names, str_from(name), 1);
    return true;
}

static bool check_params(Verifier *v)
{
    uint32_t tensors = 0;
    for (uint32_t i = 0; i < v->k->params.len; i++) {
        const IrArg *a = &v->k->params.at[i];
        if (a->is_tensor && a->tensor != tensors++)
            return verify_fail(v, v->k->at, "the tensors are not in the order of the parameters");
        if (a->is_tensor)
            continue;
        const IrExpr *e = a->value < v->p->exprs.len ? &v->p->exprs.at[a->value] : NULL;
        if (!e || e->op != IR_E_VAR || v->p->vars.at[e->of.var].kind != IR_VAR_PARAM ||
            v->p->vars.at[e->of.var].kernel != v->kernel || v->defined[e->of.var])
            return verify_fail(v, v->k->at, "parameter %u is not a variable of its own", i + 1);
        v->defined[e->of.var] = true;
    }
    if (tensors != v->k->tensors.len)
        return verify_fail(v, v->k->at, "a tensor is no parameter");
    return true;
}

static void check_kernel(Verifier *v, uint32_t index)
{
    Map names = {0};
    v->kernel = index;
    v->k = &v->p->kernels.at[index];
    if (!is_name(v->k->name) || !(v->k->has_cube || v->k->has_vector)) {
        verify_fail(v, v->k->at, "a kernel has no proper name or role");
        return;
    }
    if (v->k->paired && !(v->k->has_cube && v->k->has_vector)) {
        verify_fail(v, v->k->at, "two vector cores stand beside a cube core");
        return;
    }
    v->turns = false;
    if (!check_params(v))
        return;
    for (uint32_t i = 0; i < v->k->tensors.len && !v->bad; i++) {
        const IrTensor *t = &v->k->tensors.at[i];
        if (verify_tensor_decl(v, t))
            unique(v, &names, t->name, t->at);
    }
    for (uint32_t i = 0; i < v->k->buffers.len && !v->bad; i++) {
        const IrBuffer *b = &v->k->buffers.at[i];
        if (check_buffer(v, b))
            unique(v, &names, b->name, b->at);
    }
    if (!v->bad)
        verify_block(v, &v->k->body);
}

static void check_host(Verifier *v)
{
    Map names = {0};
    v->kernel = UINT32_MAX;
    v->in_host = true;
    for (uint32_t i = 0; i < v->p->tensors.len && !v->bad; i++) {
        const IrTensor *t = &v->p->tensors.at[i];
        if ((t->role == IR_ROLE_WORKSPACE) != (i >= v->p->operand_count))
            verify_fail(v, t->at, "operands come first, then workspaces");
        else if (t->role == IR_ROLE_WORKSPACE ? is_name(t->name) : verify_tensor_decl(v, t))
            unique(v, &names, t->name, t->at);
        else
            v->bad = true;
    }
    if (!v->bad)
        verify_block(v, &v->p->host);
}

static bool check_lists(Verifier *v)
{
    const IrProgram *p = v->p;
    if (!is_name(p->name) || p->operand_count > p->tensors.len ||
        p->variant_names.len != p->variant_dtypes.len)
        return verify_fail(v, (Span){0}, "the program has no proper name, operands or variant");
    for (uint32_t i = 0; i < p->attrs.len; i++)
        if (p->attrs.at[i] >= p->vars.len || p->vars.at[p->attrs.at[i]].kind != IR_VAR_ATTR)
            return verify_fail(v, (Span){0}, "attribute %u is no attribute", i);
    for (uint32_t i = 0; i < p->dims.len; i++)
        if (p->dims.at[i] >= p->vars.len || p->vars.at[p->dims.at[i]].kind != IR_VAR_DIM)
            return verify_fail(v, (Span){0}, "size %u is no size", i);
    return true;
}

bool ir_verify(const IrProgram *p, Diag *diag)
{
    Verifier v = {.p = p, .diag = diag, .stage = -1, .core = -1};
    v.defined = arena_array(&v.scratch, bool, p->vars.len + 1);
    v.bound = arena_array(&v.scratch, bool, p->vars.len + 1);
    v.used = arena_array(&v.scratch, bool, p->stmts.len + 1);
    v.live = arena_array(&v.scratch, bool, p->tensors.len + 1);
    if (p->exprs.len && p->vars.len && p->stmts.len && check_lists(&v) && check_vars(&v) &&
        check_pool(&v)) {
        check_host(&v);
        for (uint32_t i = 0; i < p->kernels.len && !v.bad; i++)
            check_kernel(&v, i);
    }
    arena_drop(&v.scratch);
    return !v.bad && p->exprs.len > 0;
}
