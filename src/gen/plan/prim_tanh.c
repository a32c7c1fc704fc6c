/* 0.5 x (1 + tanh u) written with one exponential: x / (1 + exp(-2 u)). In: the factors of a product.
 * Out: the quotient. It is the same function, takes half the instructions and does not cancel where
 * tanh u is near -1. */
#include "gen/plan/prim_int.h"
#include <string.h>

static const Prim *map_of(const PrimGraph *g, PrimId id, const char *form)
{
    const Prim *p = &g->prims.at[id];
    return p->op == PRIM_MAP && !strcmp(p->form, form) ? p : NULL;
}

/* The operand beside the number; 0: it is not such a pair. */
static PrimId beside(const PrimGraph *g, const Prim *p, double number)
{
    for (int i = 0; p && i < 2; i++) {
        const Prim *n = &g->prims.at[p->arg[i]];
        if (n->op == PRIM_NUMBER && n->number == number)
            return p->arg[1 - i];
    }
    return 0;
}

/* a x, or x itself. */
static bool is_multiple(const PrimGraph *g, PrimId id, PrimId x, double *by)
{
    PrimId of = id;
    *by = 1;
    return id == x || (prim_factor(g, id, &of, by) && of == x);
}

/* b x^3 */
static bool is_cube(const PrimGraph *g, PrimId id, PrimId x, double *by)
{
    PrimId of = id;
    *by = 1;
    prim_factor(g, id, &of, by);
    const Prim *cube = map_of(g, of, "$0 * $0 * $0");
    return cube && cube->arg[0] == x;
}

/* Where u is a x + b x^3, as in GELU: x is taken out, so that every step reads x or the step before. */
static const char *cubic_form(PrimGraph *g, PrimId x, PrimId u)
{
    const Prim *sum = map_of(g, u, "$0 + $1");
    double a, b;
    for (int i = 0; sum && i < 2; i++) {
        if (!is_multiple(g, sum->arg[i], x, &a) || !is_cube(g, sum->arg[1 - i], x, &b))
            continue;
        Buf form = {0};
        buf_puts(&form, "$0 / (exp($0 * ($0 * $0 * ");
        prim_literal(&form, b);
        buf_puts(&form, " + ");
        prim_literal(&form, a);
        buf_puts(&form, ")) + 1.0)");
        char *text = buf_take(&form, g->arena);
        buf_free(&form);
        return text;
    }
    return NULL;
}

bool prim_half_tanh(PrimGraph *g, PrimValue a, PrimValue b, PrimValue *out)
{
    for (int turn = 0; turn < 2; turn++) {
        PrimValue x = turn ? b : a, u = turn ? a : b;
        x.prim = beside(g, map_of(g, x.prim, "$0 * $1"), 0.5);
        PrimId tanh = beside(g, map_of(g, u.prim, "$0 + $1"), 1);
        const Prim *inner = tanh ? map_of(g, tanh, "tanh($0)") : NULL;
        if (!x.prim || !inner)
            continue;
        u.prim = inner->arg[0];
        bool scaled = prim_scaled(g, u, -2, &u);
        const char *cubic = scaled ? cubic_form(g, x.prim, u.prim) : NULL;
        const char *form = scaled ? "$0 / (exp($1) + 1.0)" : "$0 / (exp($1 * -2.0) + 1.0)";
        *out = cubic ? prim_map1(g, cubic, x) : prim_map2(g, form, x, u);
        return true;
    }
    return false;
}
