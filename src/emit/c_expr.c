/* Scalar expressions and names as C. In: an expression. Out: text. i64 is int64_t, f32 is
 * float computed in double and rounded, bool is int. */
#include "emit/c_int.h"

#include "ir/range.h"
#include <math.h>
#include <string.h>

void c_line(CWriter *w, const char *format, ...)
{
    va_list args;
    buf_fill(w->out, ' ', (size_t)w->depth * 4);
    va_start(args, format);
    buf_vprintf(w->out, format, args);
    va_end(args);
    buf_char(w->out, '\n');
}

const char *c_text(CWriter *w, IrExprId e)
{
    Buf *out = w->out, text = {0};
    w->out = &text;
    c_expr(w, e);
    w->out = out;
    const char *copy = buf_take(&text, w->scratch);
    buf_free(&text);
    return copy;
}

/* Without the outer brackets, for places that bring their own. */
const char *c_bare(CWriter *w, IrExprId e)
{
    const char *text = c_text(w, e);
    size_t n = strlen(text);
    int depth = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        depth += (text[i] == '(') - (text[i] == ')');
        if (depth == 0)
            return text;
    }
    return text[0] == '(' ? str_dup(w->scratch, (Str){text + 1, n - 2}) : text;
}

static bool is_field(const CWriter *w, const IrVar *v)
{
    return w->k && (v->kind == IR_VAR_DIM || v->kind == IR_VAR_PARAM);
}

/* "tile_7"; sizes and parameters are fields of the kernel's arguments */
const char *c_var(CWriter *w, IrVarId var)
{
    const IrVar *v = &w->p->vars.at[var];
    char *name = str_format(w->scratch, "%s%s_%u", is_field(w, v) ? "k->" : "", v->name, var);
    for (char *c = name; *c; c++)
        if (*c == '.')
            *c = '_';
    return name;
}

void c_string(Buf *out, const char *text)
{
    buf_char(out, '"');
    for (const char *c = text; *c; c++) {
        unsigned char u = (unsigned char)*c;
        if (u < 32 || u > 126 || u == '"' || u == '\\' || u == '?')
            buf_printf(out, "\\%03o", u);
        else
            buf_char(out, *c);
    }
    buf_char(out, '"');
}

static void put_float(Buf *out, double f)
{
    if (isnan(f) || isinf(f)) {
        buf_puts(out, isnan(f) ? "(float)NAN" : f > 0 ? "INFINITY" : "-INFINITY");
        return;
    }
    size_t from = out->len;
    buf_double(out, f);
    if (!strpbrk(out->at + from, ".e"))
        buf_puts(out, ".0");
    buf_char(out, 'f');
}

static void put_int(Buf *out, int64_t i)
{
    if (i == INT64_MIN)
        buf_puts(out, "INT64_MIN");
    else if (i > INT32_MAX || i < -INT32_MAX)
        buf_printf(out, "INT64_C(%lld)", (long long)i);
    else
        buf_printf(out, "%lld", (long long)i);
}

static void call(CWriter *w, const char *name, const IrExpr *e, int arity)
{
    buf_printf(w->out, "%s(", name);
    for (int i = 0; i < arity; i++) {
        buf_puts(w->out, i ? ", " : "");
        c_expr(w, e->arg[i]);
    }
    buf_char(w->out, ')');
}

static void infix(CWriter *w, const char *sign, const IrExpr *e)
{
    buf_char(w->out, '(');
    c_expr(w, e->arg[0]);
    buf_printf(w->out, " %s ", sign);
    c_expr(w, e->arg[1]);
    buf_char(w->out, ')');
}

static const char *tensor_name(const CWriter *w, uint32_t tensor)
{
    return w->k ? w->k->tensors.at[tensor].name : w->p->tensors.at[tensor].name;
}

static void of_tensor(CWriter *w, const IrExpr *e)
{
    const char *from = w->k ? "k->t_" : "gm_", *name = tensor_name(w, e->of.tensor);
    if (e->op == IR_E_PRESENT)
        buf_printf(w->out, "(%s%s.data != NULL)", from, name);
    else if (e->op == IR_E_LIST_LEN)
        buf_printf(w->out, "%s%s.count", from, name);
    else
        buf_printf(w->out, "%s%s.items[%s].count", from, name, c_text(w, e->arg[0]));
}

static void leaf(CWriter *w, const IrExpr *e)
{
    switch (e->op) {
    case IR_E_INT: put_int(w->out, e->of.i); return;
    case IR_E_FLOAT: put_float(w->out, e->of.f); return;
    case IR_E_BOOL: buf_puts(w->out, e->of.i ? "1" : "0"); return;
    case IR_E_VAR: buf_puts(w->out, c_var(w, e->of.var)); return;
    case IR_E_CHIP: buf_printf(w->out, w->k ? "k->chip[%u]" : "args->chip[%u]", e->of.fact); return;
    case IR_E_CORE_ID: buf_puts(w->out, "core"); return;
    case IR_E_NUM_CORES: buf_puts(w->out, "cores"); return;
    default: of_tensor(w, e); return;
    }
}

/* (float)fn(a, b) */
static void rounded(CWriter *w, const char *fn, const IrExpr *e, int arity)
{
    buf_puts(w->out, "(float)");
    call(w, fn, e, arity);
}

void c_expr(CWriter *w, IrExprId id)
{
    const IrExpr *e = &w->p->exprs.at[id];
    bool f = w->p->exprs.at[e->arg[0]].type == DT_F32;
    switch (e->op) {
    case IR_E_ADD:
    case IR_E_SUB:
    case IR_E_MUL:
    case IR_E_DIV:
    case IR_E_EQ:
    case IR_E_NE:
    case IR_E_LT:
    case IR_E_LE:
    case IR_E_GT:
    case IR_E_GE: infix(w, ir_expr_rows[e->op].text, e); return;
    case IR_E_AND: infix(w, "&&", e); return;
    case IR_E_OR: infix(w, "||", e); return;
    case IR_E_FLOORDIV: call(w, "fdiv", e, 2); return;
    case IR_E_MOD: call(w, "floor_mod", e, 2); return;
    case IR_E_CEILDIV: call(w, "cdiv", e, 2); return;
    case IR_E_ALIGN_UP:
    case IR_E_ALIGN_DOWN:
        buf_char(w->out, '(');
        call(w, e->op == IR_E_ALIGN_UP ? "cdiv" : "fdiv", e, 2);
        buf_printf(w->out, " * %s)", c_text(w, e->arg[1]));
        return;
    case IR_E_MIN:
    case IR_E_MAX:
        if (f)
            rounded(w, e->op == IR_E_MIN ? "fmin_nan" : "fmax_nan", e, 2);
        else
            call(w, e->op == IR_E_MIN ? "imin" : "imax", e, 2);
        return;
    case IR_E_NEG: call(w, "-", e, 1); return;
    case IR_E_ABS: call(w, f ? "fabsf" : "iabs", e, 1); return;
    case IR_E_SQRT: rounded(w, "sqrt", e, 1); return;
    case IR_E_EXP: rounded(w, "exp", e, 1); return;
    case IR_E_LOG: rounded(w, "log", e, 1); return;
    case IR_E_NOT: call(w, "!", e, 1); return;
    case IR_E_SELECT:
        buf_printf(w->out, "(%s ? %s : %s)", c_text(w, e->arg[0]), c_text(w, e->arg[1]),
                   c_text(w, e->arg[2]));
        return;
    case IR_E_TO_F32: call(w, "(float)", e, 1); return;
    case IR_E_TO_I64: call(w, f ? "to_i64" : "(int64_t)", e, 1); return;
    default: leaf(w, e); return;
    }
}
