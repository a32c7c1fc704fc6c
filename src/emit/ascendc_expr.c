/* Scalar expressions as C++. In: expressions of the program. Out: text with as few parentheses as
 * C++ needs. Integers are int64_t, floats are float. */
#include "emit/ascendc_int.h"

#include "base/file.h"
#include "ir/range.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *cxx_type(DType dtype) { return dtype == DT_BOOL ? "uint8_t" : dtype_rows[dtype].cxx; }

const char *cxx_scalar(DType dtype)
{
    return dtype == DT_F32 ? "float" : dtype == DT_BOOL ? "bool" : "int64_t";
}

const char *craft_name(const EmitInput *in) { return path_base(in->file).at; }

Str craft_line(const EmitInput *in, uint32_t line)
{
    Str rest = in->source, piece;
    for (uint32_t i = 1; str_next(&rest, '\n', &piece); i++)
        if (i == line) {
            ptrdiff_t comment = str_find(piece, STR("  #"));
            return str_trim(comment > 0 ? str_slice(piece, 0, (size_t)comment) : piece);
        }
    return (Str){0};
}

/* ---- names ---- */

static const char *var_name(const Printer *pr, IrVarId var)
{
    if (pr->names && var < pr->name_count && pr->names[var])
        return pr->names[var];
    return camel(pr->arena, pr->p->ir->vars.at[var].name);
}

/* ---- numbers ---- */

static const char *print_float(Arena *arena, double value)
{
    if (isnan(value))
        return "__builtin_nanf(\"\")";
    if (isinf(value))
        return value < 0 ? "-__builtin_inff()" : "__builtin_inff()";
    char text[64];
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtof(text, NULL) == (float)value)
            break;
    }
    bool plain = !strpbrk(text, ".e");
    return str_format(arena, "%s%sf", text, plain ? ".0" : "");
}

/* ---- operators ---- */

enum { P_TERNARY = 1, P_OR, P_AND, P_EQ, P_LESS, P_ADD, P_MUL, P_UNARY, P_CALL };

typedef struct Text {
    const char *s;
    int level;
} Text;

static Text text_of(const Printer *pr, IrExprId e);

static const char *at_level(const Printer *pr, IrExprId e, int level)
{
    Text t = text_of(pr, e);
    return t.level >= level ? t.s : str_format(pr->arena, "(%s)", t.s);
}

static Text infix(const Printer *pr, const IrExpr *x, const char *op, int level)
{
    const char *a = at_level(pr, x->arg[0], level), *b = at_level(pr, x->arg[1], level + 1);
    return (Text){str_format(pr->arena, "%s %s %s", a, op, b), level};
}

static Text call(const Printer *pr, const IrExpr *x, const char *name)
{
    const char *a = text_of(pr, x->arg[0]).s;
    if (!x->arg[1])
        return (Text){str_format(pr->arena, "%s(%s)", name, a), P_CALL};
    const char *b = text_of(pr, x->arg[1]).s;
    return (Text){str_format(pr->arena, "%s(%s, %s)", name, a, b), P_CALL};
}

static bool not_negative(const Printer *pr, IrExprId e)
{
    return ir_interval(pr->p->ir, pr->p->chip, e).lo >= 0;
}

static bool positive_args(const Printer *pr, const IrExpr *x)
{
    return not_negative(pr, x->arg[0]) && not_negative(pr, x->arg[1]);
}

static Text chip_text(const Printer *pr, uint32_t fact)
{
    static const char *const host[] = {"chipCores", "chipCubeCores", "chipUb",  "chipL1",
                                       "chipL0a",   "chipL0b",       "chipL0c", "chipL2"};
    if (!pr->k)
        return (Text){host[fact], P_CALL};
    long long value = (long long)ir_chip_value(pr->p->chip, (IrChipFact)fact);
    return (Text){str_format(pr->arena, "%lld", value), P_CALL};
}

static Text cores_text(const Printer *pr)
{
    if (pr->k && pr->k->cores)
        return (Text){var_name(pr, pr->k->cores), P_CALL};
    return (Text){"AscendC::GetBlockNum()", P_CALL};
}

static Text list_text(const Printer *pr, const IrExpr *x, bool size)
{
    const IrTensor *t = pr->k ? &pr->k->source->tensors.at[x->of.tensor]
                              : &pr->p->ir->tensors.at[x->of.tensor];
    const char *name = camel(pr->arena, t->name);
    if (!pr->k)
        return (Text){str_format(pr->arena, "%sLen", name), P_CALL};
    if (!size)
        return (Text){str_format(pr->arena, "static_cast<int64_t>(%sList.GetSize())", name),
                      P_CALL};
    return (Text){str_format(pr->arena, "ListSize(%sList, %s)", name, text_of(pr, x->arg[0]).s),
                  P_CALL};
}

/* The least of 32 or 64 bits is no literal of that type. */
static Text int_text(Arena *arena, int64_t i)
{
    if (i == INT32_MIN || i == INT64_MIN)
        return (Text){str_format(arena, "%lld - 1", (long long)(i + 1)), P_ADD};
    return (Text){str_format(arena, "%lld", (long long)i), i < 0 ? P_UNARY : P_CALL};
}

static Text leaf(const Printer *pr, const IrExpr *x)
{
    Arena *a = pr->arena;
    switch (x->op) {
    case IR_E_INT: return int_text(a, x->of.i);
    case IR_E_FLOAT: return (Text){print_float(a, x->of.f), x->of.f < 0 ? P_UNARY : P_CALL};
    case IR_E_BOOL: return (Text){x->of.i ? "true" : "false", P_CALL};
    case IR_E_VAR: return (Text){var_name(pr, x->of.var), P_CALL};
    case IR_E_CHIP: return chip_text(pr, x->of.fact);
    case IR_E_CORE_ID:
        if (pr->k && asc_is_beside(pr->p, pr->k->source))
            return (Text){"AscendC::GetBlockIdx() / AscendC::GetTaskRation()", P_MUL};
        return (Text){"AscendC::GetBlockIdx()", P_CALL};
    case IR_E_VECTOR_ID: return (Text){"AscendC::GetSubBlockIdx()", P_CALL};
    case IR_E_NUM_CORES: return cores_text(pr);
    case IR_E_PRESENT: {
        const char *name = camel(a, pr->p->ir->tensors.at[x->of.tensor].name);
        return (Text){str_format(a, "%sPresent", name), P_CALL};
    }
    case IR_E_LIST_LEN: return list_text(pr, x, false);
    case IR_E_LIST_SIZE: return list_text(pr, x, true);
    default: return (Text){"0", P_CALL};
    }
}

static Text text_of(const Printer *pr, IrExprId e)
{
    const IrExpr *x = &pr->p->ir->exprs.at[e];
    Arena *a = pr->arena;
    bool nat;
    switch (x->op) {
    case IR_E_ADD: return infix(pr, x, "+", P_ADD);
    case IR_E_SUB: return infix(pr, x, "-", P_ADD);
    case IR_E_MUL: return infix(pr, x, "*", P_MUL);
    case IR_E_DIV: return infix(pr, x, "/", P_MUL);
    case IR_E_FLOORDIV:
        nat = positive_args(pr, x);
        return nat ? infix(pr, x, "/", P_MUL) : call(pr, x, "FloorDiv");
    case IR_E_MOD:
        nat = positive_args(pr, x);
        return nat ? infix(pr, x, "%", P_MUL) : call(pr, x, "FloorMod");
    case IR_E_CEILDIV: return call(pr, x, "CeilDiv");
    case IR_E_ALIGN_UP: return call(pr, x, "AlignUp");
    case IR_E_ALIGN_DOWN: return call(pr, x, "AlignDown");
    case IR_E_MIN: return call(pr, x, x->type == DT_F32 ? "FloatMin" : "MinOf");
    case IR_E_MAX: return call(pr, x, x->type == DT_F32 ? "FloatMax" : "MaxOf");
    case IR_E_ABS: return call(pr, x, x->type == DT_F32 ? "FloatAbs" : "AbsOf");
    case IR_E_SQRT: return call(pr, x, "std::sqrt");
    case IR_E_EXP: return call(pr, x, "std::exp");
    case IR_E_LOG: return call(pr, x, "std::log");
    case IR_E_NEG: return (Text){str_format(a, "-%s", at_level(pr, x->arg[0], P_CALL)), P_UNARY};
    case IR_E_NOT: return (Text){str_format(a, "!%s", at_level(pr, x->arg[0], P_CALL)), P_UNARY};
    case IR_E_EQ: return infix(pr, x, "==", P_EQ);
    case IR_E_NE: return infix(pr, x, "!=", P_EQ);
    case IR_E_LT: return infix(pr, x, "<", P_LESS);
    case IR_E_LE: return infix(pr, x, "<=", P_LESS);
    case IR_E_GT: return infix(pr, x, ">", P_LESS);
    case IR_E_GE: return infix(pr, x, ">=", P_LESS);
    case IR_E_AND: return infix(pr, x, "&&", P_AND);
    case IR_E_OR: return infix(pr, x, "||", P_OR);
    case IR_E_SELECT:
        return (Text){str_format(a, "%s ? %s : %s", at_level(pr, x->arg[0], P_OR),
                                 at_level(pr, x->arg[1], P_OR), at_level(pr, x->arg[2], P_OR)),
                      P_TERNARY};
    case IR_E_TO_F32:
        return (Text){str_format(a, "static_cast<float>(%s)", text_of(pr, x->arg[0]).s), P_CALL};
    case IR_E_TO_I64:
        return (Text){str_format(a, "static_cast<int64_t>(%s)", text_of(pr, x->arg[0]).s), P_CALL};
    default: return leaf(pr, x);
    }
}

const char *print_expr(const Printer *pr, IrExprId e) { return e ? text_of(pr, e).s : "0"; }

/* A literal of the wanted kind needs no cast. */
static bool fits_literal(const IrExpr *x, DType want)
{
    if (x->op == IR_E_INT)
        return want == DT_I32 || want == DT_I64 || want == DT_U32;
    return x->op == IR_E_FLOAT && want == DT_F32;
}

const char *print_as(const Printer *pr, IrExprId e, DType want)
{
    const IrExpr *x = &pr->p->ir->exprs.at[e];
    const char *text = print_expr(pr, e);
    if (want == DT_BF16)
        return str_format(pr->arena, "AscendC::ToBfloat16(%s)", print_as(pr, e, DT_F32));
    if (x->type == want || fits_literal(x, want))
        return text;
    if (x->op == IR_E_INT && want == DT_F32)
        return print_float(pr->arena, (double)x->of.i);
    return str_format(pr->arena, "static_cast<%s>(%s)", cxx_type(want), text);
}

/* ---- helpers ---- */

static const char *const helpers[][2] = {
    {"MinOf(", "int64_t MinOf(int64_t a, int64_t b) { return a < b ? a : b; }"},
    {"MaxOf(", "int64_t MaxOf(int64_t a, int64_t b) { return a > b ? a : b; }"},
    {"AbsOf(", "int64_t AbsOf(int64_t a) { return a < 0 ? -a : a; }"},
    {"FloatMin(", "float FloatMin(float a, float b) { return a < b || a != a ? a : b; }"},
    {"FloatMax(", "float FloatMax(float a, float b) { return a > b || a != a ? a : b; }"},
    {"FloatAbs(", "float FloatAbs(float a) { return a < 0 ? -a : a; }"},
    {"CeilDiv(", "int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }"},
    {"AlignUp(", "int64_t AlignUp(int64_t a, int64_t b) { return (a + b - 1) / b * b; }"},
    {"AlignDown(", "int64_t AlignDown(int64_t a, int64_t b) { return a / b * b; }"},
    {"FloorDiv(", "int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) "
                  "!= (b < 0)); }"},
    {"FloorMod(", "int64_t FloorMod(int64_t a, int64_t b) { return (a % b + b) % b; }"},
};

void print_helpers(Pen *pen, Str text, const char *prefix)
{
    bool any = false;
    for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++) {
        if (str_find(text, str_from(helpers[i][0])) < 0)
            continue;
        any = true;
        pen_line(pen, "%s inline %s", prefix, helpers[i][1]);
    }
    if (any)
        pen_blank(pen);
}
