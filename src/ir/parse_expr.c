/* Expressions of the text form, and the small readers that everything is made of. In: tokens.
 * Out: expressions, made (and folded) by the builder. */
#include "ir/parse_int.h"

#include "ir/verify_int.h"
#include <string.h>

const IrToken *read_peek(const IrReader *r, uint32_t ahead)
{
    uint32_t last = r->tokens.len - 1, at = r->next + ahead;
    return &r->tokens.at[at < last ? at : last];
}

bool read_fail(IrReader *r, const char *what)
{
    if (!r->bad)
        diag_error(r->diag, "I002", read_peek(r, 0)->at, "expected %s", what);
    r->bad = true;
    return false;
}

bool read_is(const IrReader *r, const char *text)
{
    const IrToken *t = read_peek(r, 0);
    return (t->kind == IR_TOK_NAME || t->kind == IR_TOK_SIGN) && str_is(t->text, text);
}

bool read_take(IrReader *r, const char *text)
{
    if (!read_is(r, text))
        return false;
    r->next++;
    return true;
}

bool read_want(IrReader *r, const char *text)
{
    return read_take(r, text) || read_fail(r, str_format(&r->scratch, "'%s'", text));
}

bool read_name(IrReader *r, Str *name)
{
    if (read_peek(r, 0)->kind != IR_TOK_NAME)
        return read_fail(r, "a name");
    *name = read_peek(r, 0)->text;
    r->next++;
    return true;
}

bool read_int(IrReader *r, int64_t *value)
{
    bool minus = read_is(r, "-");
    const IrToken *t = read_peek(r, minus);
    Str digits = t->text;
    if (minus) {
        digits.at -= 1;
        digits.len += 1;
    }
    if (t->kind != IR_TOK_NUMBER || (minus && digits.at[0] != '-') || !str_to_i64(digits, value))
        return read_fail(r, "an integer");
    r->next += 1u + minus;
    return true;
}

bool read_line_end(IrReader *r)
{
    if (read_peek(r, 0)->kind != IR_TOK_LINE)
        return read_fail(r, "the end of the line");
    r->next++;
    return true;
}

bool read_word(IrReader *r, const char *const *words, uint32_t count, uint32_t *index)
{
    for (*index = 0; *index < count; ++*index)
        if (read_take(r, words[*index]))
            return true;
    return false;
}

bool read_dtype(IrReader *r, DType *dtype)
{
    const IrToken *t = read_peek(r, 0);
    if (t->kind != IR_TOK_NAME || !dtype_from_name(t->text, dtype))
        return read_fail(r, "an element type");
    r->next++;
    return true;
}

/* ---- variables ---- */

bool read_nth(IrReader *r, uint32_t *nth)
{
    int64_t value = 1;
    if (read_take(r, "'") && (!read_int(r, &value) || value < 2 || value > 1 << 20))
        return read_fail(r, "a number from 2 on");
    *nth = (uint32_t)value;
    return true;
}

static Str var_key(IrReader *r, Str name, uint32_t nth, const char *suffix)
{
    return str_from(str_format(&r->scratch, "%.*s%s'%u", STR_ARG(name), suffix, nth));
}

IrVarId ir_define(IrReader *r, IrVarKind kind, DType type, Str base, uint32_t nth,
                  const char *suffix)
{
    Str key = var_key(r, base, nth, suffix);
    uint32_t old;
    if (map_get(&r->vars, key, &old)) {
        read_fail(r, "a name that is not taken");
        return 0;
    }
    const char *name = str_format(r->arena, "%.*s%s", STR_ARG(base), suffix);
    IrVarId id = ir_var_new(r->p, kind, name, type);
    r->p->vars.at[id].kernel = r->kernel == UINT32_MAX ? 0 : r->kernel;
    r->p->vars.at[id].at = read_peek(r, 0)->at;
    map_put(&r->scratch, &r->vars, key, id);
    while (r->nth.len <= id) {
        vec_push(&r->scratch, &r->nth, 0);
        vec_push(&r->scratch, &r->sequel, 0);
    }
    r->nth.at[id] = nth;
    return id;
}

IrVarId read_new_var(IrReader *r, IrVarKind kind, DType type, const char *suffix)
{
    Str name;
    uint32_t nth;
    if (!read_name(r, &name) || !read_nth(r, &nth))
        return 0;
    return ir_define(r, kind, type, name, nth, suffix);
}

bool read_var(IrReader *r, IrVarId *var)
{
    Str name;
    uint32_t nth;
    if (!read_name(r, &name) || !read_nth(r, &nth))
        return false;
    return map_get(&r->vars, var_key(r, name, nth, ""), var) ||
           read_fail(r, "a variable that is known here, before this");
}

bool find_tensor(const IrReader *r, Str name, uint32_t *tensor)
{
    const IrProgram *p = r->p;
    bool host = r->kernel == UINT32_MAX;
    uint32_t count = host ? p->tensors.len : p->kernels.at[r->kernel].tensors.len;
    const IrTensor *at = host ? p->tensors.at : p->kernels.at[r->kernel].tensors.at;
    for (*tensor = 0; *tensor < count; ++*tensor)
        if (str_is(name, at[*tensor].name))
            return true;
    return false;
}

bool find_buffer(const IrReader *r, Str name, uint32_t *buffer)
{
    if (r->kernel == UINT32_MAX)
        return false;
    const IrKernel *k = &r->p->kernels.at[r->kernel];
    for (*buffer = 0; *buffer < k->buffers.len; ++*buffer)
        if (str_is(name, k->buffers.at[*buffer].name))
            return true;
    return false;
}

/* ---- expressions ---- */

static bool read_number(IrReader *r, IrExprId *e)
{
    bool minus = read_take(r, "-");
    const IrToken *t = read_peek(r, 0);
    Str s = t->text;
    double f;
    int64_t i;
    if (minus) {
        if (s.at[-1] != '-')
            return read_fail(r, "a number right after '-'");
        s.at -= 1;
        s.len += 1;
    }
    r->next++;
    if (t->kind == IR_TOK_NUMBER && str_to_i64(s, &i)) {
        *e = ir_int(r->p, i);
        return true;
    }
    bool word = str_is(t->text, "inf") || str_is(t->text, "nan");
    if ((t->kind == IR_TOK_NUMBER || word) && str_to_double(s, &f)) {
        *e = ir_float(r->p, f);
        return true;
    }
    r->next--;
    return read_fail(r, "a number");
}

/* chip.NAME */
static bool read_chip(IrReader *r, IrExprId *e)
{
    Str fact = str_slice(read_peek(r, 0)->text, strlen("chip."), SIZE_MAX);
    for (uint32_t i = 0; i < IR_CHIP_COUNT; i++) {
        if (str_is(fact, ir_chip_names[i])) {
            r->next++;
            *e = ir_chip(r->p, (IrChipFact)i);
            return true;
        }
    }
    return read_fail(r, "a fact of the chip");
}

/* present(T) · len(T) · size(T, e) */
static bool read_of_tensor(IrReader *r, IrExprOp op, IrExprId *e)
{
    Str name;
    uint32_t tensor;
    IrExprId index = 0;
    if (!read_name(r, &name))
        return false;
    if (!find_tensor(r, name, &tensor))
        return read_fail(r, "a tensor");
    if (op == IR_E_LIST_SIZE && !(read_want(r, ",") && read_expr(r, &index)))
        return false;
    *e = ir_leaf(r->p, op, tensor, index);
    return read_want(r, ")");
}

/* name(e, ...) */
static bool read_call(IrReader *r, IrExprOp op, IrExprId *e)
{
    IrExprId arg[3] = {0};
    r->next += 2;
    if (op == IR_E_CORE_ID || op == IR_E_NUM_CORES || op == IR_E_VECTOR_ID) {
        *e = ir_leaf(r->p, op, 0, 0);
        return read_want(r, ")");
    }
    if (op == IR_E_PRESENT || op == IR_E_LIST_LEN || op == IR_E_LIST_SIZE)
        return read_of_tensor(r, op, e);
    int arity = ir_expr_rows[op].arity;
    for (int i = 0; i < arity; i++)
        if ((i && !read_want(r, ",")) || !read_expr(r, &arg[i]))
            return false;
    *e = arity == 1   ? ir_expr1(r->p, op, arg[0])
         : arity == 2 ? ir_expr2(r->p, op, arg[0], arg[1])
                      : ir_expr3(r->p, op, arg[0], arg[1], arg[2]);
    return read_want(r, ")");
}

static bool find_operator(const IrReader *r, IrExprOp *op)
{
    for (uint32_t i = IR_E_CHIP + 1; i < IR_E_COUNT; i++) {
        if (read_is(r, ir_expr_rows[i].text)) {
            *op = (IrExprOp)i;
            return true;
        }
    }
    return false;
}

/* ( e OP e ) */
static bool read_infix(IrReader *r, IrExprId *e)
{
    IrExprId a, b;
    IrExprOp op;
    r->next++;
    if (!read_expr(r, &a))
        return false;
    if (!find_operator(r, &op) || ir_expr_rows[op].arity != 2)
        return read_fail(r, "an operator");
    r->next++;
    if (!read_expr(r, &b))
        return false;
    *e = ir_expr2(r->p, op, a, b);
    return read_want(r, ")");
}

static bool read_atom(IrReader *r, IrExprId *e)
{
    const IrToken *t = read_peek(r, 0), *after = read_peek(r, 1);
    IrExprOp op;
    IrVarId var;
    if (read_is(r, "("))
        return read_infix(r, e);
    if (t->kind == IR_TOK_NAME && after->kind == IR_TOK_SIGN && str_is(after->text, "("))
        return find_operator(r, &op) ? read_call(r, op, e) : read_fail(r, "a function");
    if (t->kind == IR_TOK_NUMBER || read_is(r, "-") || read_is(r, "inf") || read_is(r, "nan"))
        return read_number(r, e);
    if (read_is(r, "True") || read_is(r, "False")) {
        *e = ir_bool(r->p, read_is(r, "True"));
        r->next++;
        return true;
    }
    if (t->kind == IR_TOK_NAME && str_starts(t->text, "chip."))
        return read_chip(r, e);
    if (!read_var(r, &var))
        return false;
    *e = ir_var(r->p, var);
    return true;
}

bool read_expr(IrReader *r, IrExprId *e)
{
    Span at = read_peek(r, 0)->at;
    if (++r->depth > IR_MAX_EXPR_DEPTH)
        return read_fail(r, "a shallower expression");
    bool ok = read_atom(r, e);
    r->depth--;
    if (ok && r->p->exprs.at[*e].at.line == 0)
        r->p->exprs.at[*e].at = at;
    return ok;
}
