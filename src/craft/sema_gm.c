/* Tensors in global memory: parameter types, indices, which may be read or written. */
#include "craft/sema.h"

IrTensor *sema_tensor(Sema *s, uint32_t tensor)
{
    return s->in_host ? &s->ir->tensors.at[tensor]
                      : &s->ir->kernels.at[s->kernel].tensors.at[tensor];
}

/* ---- parameter types ---- */

static const struct {
    const char *name;
    IrRole role;
} roles[] = {
    {"gm", IR_ROLE_IN},
    {"out", IR_ROLE_OUT},
    {"inout", IR_ROLE_INOUT},
    {"opt", IR_ROLE_OPT},
    {"ws", IR_ROLE_WORKSPACE},
    {"gm_list", IR_ROLE_IN_LIST},
    {"out_list", IR_ROLE_OUT_LIST},
};
enum { ROLES = sizeof roles / sizeof *roles };

static int role_of(const AstExpr *type)
{
    if (!type || type->kind != EX_INDEX || type->a->kind != EX_NAME)
        return -1;
    for (int i = 0; i < ROLES; i++)
        if (str_is(type->a->text, roles[i].name))
            return i;
    return -1;
}

bool sema_is_tensor_type(const AstExpr *type) { return role_of(type) >= 0; }

static const char *const type_hint = "gm[T, n, ...] out[...] inout[...] opt[...] ws[...] "
                                     "gm_list[T] out_list[T], or i32 i64 f32 bool";

static bool is_list(IrRole role) { return role == IR_ROLE_IN_LIST || role == IR_ROLE_OUT_LIST; }

/* upto(n), the first size of an output whose length data decide; else the axis itself. */
static const AstExpr *read_upto(Sema *s, const AstExpr *axis, bool first, IrTensor *t)
{
    if (axis->kind != EX_CALL || axis->a->kind != EX_NAME || !str_is(axis->a->text, "upto"))
        return axis;
    if (t->role == IR_ROLE_OUT && first && axis->items.len == 1 && !axis->keywords.len) {
        t->upto = true;
        return axis->items.at[0];
    }
    sema_error(s, PARAM, axis->at, "y: out[T, upto(n), ...]",
               "upto(n) is the first size of an output and takes one number");
    return NULL;
}

static bool read_shape(Sema *s, const AstExpr *type, IrTensor *t)
{
    for (uint32_t i = 1; i < type->items.len; i++) {
        const AstExpr *axis = read_upto(s, type->items.at[i], i == 1, t);
        if (!axis)
            return false;
        if (axis->kind == EX_SLICE) {
            sema_error(s, PARAM, axis->at, "write the size", "a slice in a tensor type");
            return false;
        }
        t->shape[i - 1] = sema_integer(s, axis);
        if (!t->shape[i - 1])
            return false;
    }
    return true;
}

/* A complex tensor is pairs of f32 on a last axis of 2. */
static bool pair_axis(Sema *s, const AstExpr *type, IrTensor *t)
{
    if (t->dtype != DT_C64)
        return true;
    if (is_list(t->role) || t->rank == IR_MAX_RANK) {
        sema_error(s, PARAM, type->at, NULL, "c64 tensors have 1 to 7 axes and no lists");
        return false;
    }
    t->dtype = DT_F32;
    t->shape[t->rank++] = ir_int(s->ir, 2);
    t->pairs = true;
    return true;
}

bool sema_tensor_type(Sema *s, const AstParam *param, IrTensor *t)
{
    const AstExpr *type = param->type;
    t->name = str_dup(s->arena, param->name);
    t->at = param->at;
    t->role = roles[role_of(type)].role;
    if (param->value) {
        sema_error(s, PARAM, param->at, "opt[...] makes an input optional",
                   "a tensor has no default");
        return false;
    }
    if (!sema_dtype(s, type->items.at[0], &t->dtype))
        return false;
    uint32_t rank = type->items.len - 1, least = s->in_host ? 0 : 1;
    if (is_list(t->role) ? rank != 0 : rank < least || rank > IR_MAX_RANK) {
        sema_error(s, PARAM, type->at,
                   is_list(t->role) ? "gm_list[T]: the tensors are seen flat"
                   : rank           ? "gm[T, n, ...]"
                                    : "a kernel sees a tensor without axes as gm[T, 1]",
                   "'%s' has %u sizes; %s", t->name, rank,
                   is_list(t->role) ? "a list has none"
                   : least          ? "a tensor of a kernel has 1 to 8"
                                    : "a tensor has at most 8");
        return false;
    }
    t->rank = is_list(t->role) ? 1 : rank;
    return read_shape(s, type, t) && pair_axis(s, type, t);
}

bool sema_scalar_type(Sema *s, const AstParam *param, DType *type)
{
    DType d = DT_I64;
    bool known = param->type && param->type->kind == EX_NAME &&
                 dtype_from_name(param->type->text, &d);
    if (known && (d == DT_I32 || d == DT_I64 || d == DT_F32 || d == DT_BOOL)) {
        *type = d == DT_I32 ? DT_I64 : d;
        return true;
    }
    sema_error(s, PARAM, param->type ? param->type->at : param->at, type_hint,
               param->type ? "'%.*s' has a type that parameters do not have" : "'%.*s' has no type",
               STR_ARG(param->name));
    return false;
}

/* ---- access rights ---- */

static bool known_present(Sema *s, uint32_t tensor)
{
    for (uint32_t i = 0; i < s->present.len; i++)
        if (s->present.at[i] == tensor)
            return true;
    return false;
}

bool sema_may_read(Sema *s, const IrAccess *a, Span at)
{
    const IrTensor *t = sema_tensor(s, a->tensor);
    if (t->role == IR_ROLE_OUT || t->role == IR_ROLE_OUT_LIST) {
        sema_error(s, ACCESS, at, "declare it inout[...] in this kernel to read it back",
                   "'%s' is an output; it cannot be read", t->name);
        return false;
    }
    if (t->role == IR_ROLE_OPT && !known_present(s, a->tensor)) {
        sema_error(s, OPTIONAL, at, sema_format(s, "put it under 'if present(%s):'", t->name),
                   "'%s' may be absent here", t->name);
        return false;
    }
    return true;
}

bool sema_may_write(Sema *s, const IrAccess *a, Span at)
{
    const IrTensor *t = sema_tensor(s, a->tensor);
    if (t->role == IR_ROLE_OUT || t->role == IR_ROLE_OUT_LIST || t->role == IR_ROLE_INOUT ||
        t->role == IR_ROLE_WORKSPACE)
        return true;
    sema_error(s, ACCESS, at, "declare it out[...], inout[...] or ws[...]",
               "'%s' is an input; it cannot be written", t->name);
    return false;
}

/* ---- indices ---- */

static IrExprId total_size(Sema *s, const IrTensor *t)
{
    IrExprId n = t->shape[0];
    for (uint32_t i = 1; i < t->rank; i++)
        n = ir_expr2(s->ir, IR_E_MUL, n, t->shape[i]);
    return n;
}

static Value list_item(Sema *s, const AstExpr *e, Value base)
{
    IrExprId index = e->items.len == 1 && e->items.at[0]->kind != EX_SLICE
                         ? sema_integer(s, e->items.at[0])
                         : 0;
    if (!index) {
        if (e->items.len != 1 || e->items.at[0]->kind == EX_SLICE)
            sema_error(s, RANK, e->at, "xs[i][t]", "a list is indexed by one integer first");
        return sema_bad(e->at);
    }
    base.access.item = index;
    base.at = e->at;
    return base;
}

static IrExprId extent_of(Sema *s, const IrAccess *a, uint32_t axis)
{
    const IrTensor *t = sema_tensor(s, a->tensor);
    if (is_list(t->role))
        return ir_leaf(s->ir, IR_E_LIST_SIZE, a->tensor, a->item);
    return a->flat ? total_size(s, t) : t->shape[axis];
}

static Value read_element(Sema *s, Value v)
{
    const IrTensor *t = sema_tensor(s, v.access.tensor);
    DType type = dtype_is_float(t->dtype) ? DT_F32 : t->dtype == DT_BOOL ? DT_BOOL : DT_I64;
    if (!sema_may_read(s, &v.access, v.at))
        return sema_bad(v.at);
    if (s->stage == IR_COMPUTE || s->stage == IR_COPYOUT) {
        sema_error(s, LOAD_STAGE, v.at, "read it into a scalar before the block",
                   "an element of '%s' is read from GM inside %s", t->name,
                   s->stage == IR_COMPUTE ? "compute" : "copyout");
        return sema_bad(v.at);
    }
    IrVarId var = sema_temp(s, "read", type, v.at);
    IrStmt *stmt = sema_emit(s, IR_S_GM_READ, v.at);
    stmt->var = var;
    stmt->access = v.access;
    return sema_scalar_value(s, ir_var(s->ir, var), v.at);
}

Value sema_index_tensor(Sema *s, const AstExpr *e, Value base, bool reading)
{
    if (s->in_host) {
        sema_error(s, KERNEL_ONLY, e->at, NULL,
                   "the host function does not touch the data of tensors");
        return sema_bad(e->at);
    }
    const IrTensor *t = sema_tensor(s, base.access.tensor);
    if (is_list(t->role) && !base.access.item)
        return list_item(s, e, base);
    uint32_t rank = base.access.flat ? 1 : t->rank;
    if (e->items.len != rank) {
        sema_error(s, RANK, e->at, "one index per axis; ':' is a whole axis",
                   "'%s' has %u %s, the index has %u", t->name, rank, rank == 1 ? "axis" : "axes",
                   e->items.len);
        return sema_bad(e->at);
    }
    Value v = base;
    v.at = e->at;
    v.access.at = e->at;
    v.access.rank = rank;
    bool ranges = false, ok = true;
    for (uint32_t i = 0; i < rank; i++) {
        IndexItem item;
        ok = sema_index_item(s, e->items.at[i], extent_of(s, &v.access, i), &item) && ok;
        v.access.start[i] = item.start;
        v.access.size[i] = item.size;
        ranges = ranges || item.size;
    }
    if (!ok)
        return sema_bad(e->at);
    v.kind = VAL_REGION;
    return ranges || !reading ? v : read_element(s, v);
}
