/* Expressions, by recursive descent; the rule above each function is a rule of
 * docs/craft.grammar. In: tokens. Out: AstExpr, never NULL; after an error the parser's
 * `failed` is set and what comes back only fills the place. */
#include "craft/parse_int.h"

static AstExpr *new_expr(Parser *ps, ExprKind kind, Span at)
{
    AstExpr *e = arena_new(ps->arena, AstExpr);
    e->kind = kind;
    e->at = at;
    return e;
}

static AstExpr *test(Parser *ps);

static uint32_t depth_of(const AstExpr *e) { return e ? e->depth : 0; }

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* Whoever walks the tree recurses: a long chain of operators is as deep as nested brackets. */
static AstExpr *deepen(Parser *ps, AstExpr *e)
{
    uint32_t depth = larger(depth_of(e->a), larger(depth_of(e->b), depth_of(e->c)));
    for (uint32_t i = 0; i < e->items.len; i++)
        depth = larger(depth, e->items.at[i]->depth);
    for (uint32_t i = 0; i < e->keywords.len; i++)
        depth = larger(depth, e->keywords.at[i].value->depth);
    e->depth = depth + 1;
    if (e->depth > CRAFT_MAX_DEPTH)
        parse_error(ps, CC_TOO_DEEP, e->at, "name parts of it",
                    "the expression is more than %d levels deep", CRAFT_MAX_DEPTH);
    return e;
}

static AstExpr *unary(Parser *ps, Tok op, Span at, AstExpr *operand)
{
    AstExpr *e = new_expr(ps, EX_UNARY, parse_span(ps, at));
    e->op = op;
    e->a = operand;
    return deepen(ps, e);
}

static AstExpr *binary(Parser *ps, Tok op, AstExpr *a, AstExpr *b)
{
    AstExpr *e = new_expr(ps, EX_BINARY, parse_span(ps, a->at));
    e->op = op;
    e->a = a;
    e->b = b;
    return deepen(ps, e);
}

/* ---- atoms ---- */

static AstExpr *word(Parser *ps, ExprKind kind)
{
    const Token *t = parse_peek(ps);
    AstExpr *e = new_expr(ps, kind, t->at);
    e->text = t->text;
    e->string = t->string;
    e->i = t->kind == TOK_TRUE ? 1 : t->i;
    e->f = t->f;
    ps->pos++;
    return e;
}

static bool refuse_comprehension(Parser *ps)
{
    if (parse_at(ps, TOK_FOR))
        parse_error(ps, CC_EXPR_FORM, parse_peek(ps)->at, "write the loop as a for statement",
                    "comprehensions are not in Craft");
    return !ps->failed;
}

static void items(Parser *ps, AstExpr *e, Tok closer)
{
    while (!ps->failed && !parse_at(ps, closer)) {
        AstExpr *item = test(ps);
        vec_push(ps->arena, &e->items, item);
        if (!refuse_comprehension(ps) || !parse_accept(ps, TOK_COMMA))
            break;
    }
}

/* group = "(" test ")" | "(" [ test { "," test } [","] ] ")" */
static AstExpr *group(Parser *ps)
{
    Span at = parse_peek(ps)->at;
    parse_expect(ps, TOK_LPAREN, "before a group");
    if (!parse_at(ps, TOK_RPAREN)) {
        AstExpr *first = test(ps);
        if (parse_accept(ps, TOK_RPAREN)) {
            AstExpr *e = new_expr(ps, first->kind, parse_span(ps, at));
            Span whole = e->at;
            *e = *first;
            e->at = whole;
            return e;
        }
        AstExpr *tuple = new_expr(ps, EX_TUPLE, at);
        vec_push(ps->arena, &tuple->items, first);
        if (!parse_accept(ps, TOK_COMMA))
            parse_expect(ps, TOK_RPAREN, "after a group");
        items(ps, tuple, TOK_RPAREN);
        parse_expect(ps, TOK_RPAREN, "after a tuple");
        tuple->at = parse_span(ps, at);
        return deepen(ps, tuple);
    }
    ps->pos++;
    return new_expr(ps, EX_TUPLE, parse_span(ps, at));
}

/* list = "[" [ test { "," test } [","] ] "]" */
static AstExpr *list(Parser *ps)
{
    AstExpr *e = new_expr(ps, EX_LIST, parse_peek(ps)->at);
    parse_expect(ps, TOK_LBRACKET, "before a list");
    items(ps, e, TOK_RBRACKET);
    parse_expect(ps, TOK_RBRACKET, "after a list");
    e->at = parse_span(ps, e->at);
    return deepen(ps, e);
}

static AstExpr *refuse_atom(Parser *ps, const Token *t)
{
    static const struct {
        Tok kind;
        const char *what, *hint;
    } forms[] = {
        {TOK_LAMBDA, "lambda", "write a helper function with def"},
        {TOK_LBRACE, "a set or dictionary", NULL},
        {TOK_NONE, "None", "an absent optional input is asked for with present(b)"},
        {TOK_AWAIT, "await", NULL},
        {TOK_YIELD, "yield", NULL},
        {TOK_DOTS, "'...'", "write ':' for each whole axis"},
        {TOK_STAR, "'*' before an argument", "write the arguments one by one"},
        {TOK_STARSTAR, "'**' before an argument", "write the arguments one by one"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (forms[i].kind != t->kind)
            continue;
        parse_error(ps, CC_EXPR_FORM, t->at, forms[i].hint, "%s is not in Craft", forms[i].what);
        return new_expr(ps, EX_INT, t->at);
    }
    parse_error(ps, CC_SYNTAX, t->at, NULL, "expected an expression, found %s%s%s",
                t->text.len ? "'" : "",
                t->text.len ? str_dup(ps->arena, t->text) : craft_tok_names[t->kind],
                t->text.len ? "'" : "");
    return new_expr(ps, EX_INT, t->at);
}

/* atom = NAME | INT | FLOAT | STRING | "True" | "False" | group | list */
static AstExpr *atom(Parser *ps)
{
    const Token *t = parse_peek(ps);
    switch (t->kind) {
    case TOK_NAME: return word(ps, EX_NAME);
    case TOK_INT: return word(ps, EX_INT);
    case TOK_FLOAT: return word(ps, EX_FLOAT);
    case TOK_STRING: return word(ps, EX_STRING);
    case TOK_TRUE:
    case TOK_FALSE: return word(ps, EX_BOOL);
    case TOK_LPAREN: return group(ps);
    case TOK_LBRACKET: return list(ps);
    default: return refuse_atom(ps, t);
    }
}

/* ---- calls, indices, attributes ---- */

/* argument = [ NAME "=" ] test */
static void argument(Parser *ps, AstExpr *call)
{
    const Token *t = parse_peek(ps);
    if (t->kind == TOK_NAME && t[1].kind == TOK_ASSIGN) {
        AstKeyword k = {.name = t->text, .at = t->at};
        ps->pos += 2;
        k.value = test(ps);
        vec_push(ps->arena, &call->keywords, k);
        return;
    }
    AstExpr *value = test(ps);
    if (call->keywords.len && !ps->failed)
        parse_error(ps, CC_SYNTAX, value->at, NULL,
                    "an argument without a name after one with a name");
    refuse_comprehension(ps);
    vec_push(ps->arena, &call->items, value);
}

/* call = primary "(" [ argument { "," argument } [","] ] ")" */
static AstExpr *call(Parser *ps, AstExpr *callee)
{
    AstExpr *e = new_expr(ps, EX_CALL, callee->at);
    e->a = callee;
    parse_expect(ps, TOK_LPAREN, "before arguments");
    while (!ps->failed && !parse_at(ps, TOK_RPAREN)) {
        argument(ps, e);
        if (!parse_accept(ps, TOK_COMMA))
            break;
    }
    parse_expect(ps, TOK_RPAREN, "after the arguments");
    e->at = parse_span(ps, callee->at);
    return deepen(ps, e);
}

/* subscript = test | [ test ] ":" [ test ] */
static AstExpr *subscript(Parser *ps)
{
    Span at = parse_peek(ps)->at;
    AstExpr *lo = parse_at(ps, TOK_COLON) ? NULL : test(ps);
    if (!parse_accept(ps, TOK_COLON))
        return lo ? lo : new_expr(ps, EX_SLICE, at);
    AstExpr *e = new_expr(ps, EX_SLICE, at);
    e->a = lo;
    if (!parse_at(ps, TOK_COMMA) && !parse_at(ps, TOK_RBRACKET) && !parse_at(ps, TOK_COLON))
        e->b = test(ps);
    if (parse_at(ps, TOK_COLON))
        parse_error(ps, CC_EXPR_FORM, parse_peek(ps)->at,
                    "regions and views have stride 1 along an axis; loop over the elements, or "
                    "gather(a, idx) inside UB",
                    "slices with a step are not in Craft");
    e->at = parse_span(ps, at);
    return deepen(ps, e);
}

/* index = primary "[" subscript { "," subscript } [","] "]" */
static AstExpr *index_of(Parser *ps, AstExpr *base)
{
    AstExpr *e = new_expr(ps, EX_INDEX, base->at);
    e->a = base;
    parse_expect(ps, TOK_LBRACKET, "before an index");
    do {
        if (e->items.len && parse_at(ps, TOK_RBRACKET))
            break;
        AstExpr *item = subscript(ps);
        vec_push(ps->arena, &e->items, item);
    } while (!ps->failed && parse_accept(ps, TOK_COMMA));
    parse_expect(ps, TOK_RBRACKET, "after an index");
    e->at = parse_span(ps, base->at);
    return deepen(ps, e);
}

/* primary = atom | call | index | primary "." NAME */
static AstExpr *primary(Parser *ps)
{
    AstExpr *e = atom(ps);
    while (!ps->failed) {
        if (parse_at(ps, TOK_LPAREN)) {
            e = call(ps, e);
        } else if (parse_at(ps, TOK_LBRACKET)) {
            e = index_of(ps, e);
        } else if (parse_accept(ps, TOK_DOT)) {
            AstExpr *attr = new_expr(ps, EX_ATTR, e->at);
            attr->a = e;
            attr->text = parse_peek(ps)->text;
            parse_expect(ps, TOK_NAME, "after '.'");
            attr->at = parse_span(ps, e->at);
            e = deepen(ps, attr);
        } else {
            break;
        }
    }
    return e;
}

/* ---- operators ---- */

static AstExpr *factor(Parser *ps);

/* power = primary [ "**" factor ] */
static AstExpr *power(Parser *ps)
{
    AstExpr *base = primary(ps);
    if (!parse_accept(ps, TOK_STARSTAR))
        return base;
    AstExpr *exponent = factor(ps);
    return binary(ps, TOK_STARSTAR, base, exponent);
}

/* factor = ( "-" | "+" | "~" ) factor | power */
static AstExpr *factor(Parser *ps)
{
    const Token *t = parse_peek(ps);
    if (t->kind != TOK_MINUS && t->kind != TOK_PLUS && t->kind != TOK_TILDE)
        return power(ps);
    if (!parse_enter(ps))
        return new_expr(ps, EX_INT, t->at);
    ps->pos++;
    AstExpr *operand = factor(ps);
    parse_leave(ps);
    return unary(ps, t->kind, t->at, operand);
}

/* The binary operators, loosest first; a level's operands are of the next level:
 *   bitor = bitxor { "|" bitxor }        bitxor = bitand { "^" bitand }
 *   bitand = shift { "&" shift }         shift = sum { ( "<<" | ">>" ) sum }
 *   sum = term { ( "+" | "-" ) term }    term = factor { ( "*" | "/" | "//" | "%" ) factor } */
static const Tok levels[][4] = {
    {TOK_PIPE},         {TOK_CARET},           {TOK_AMP},
    {TOK_SHL, TOK_SHR}, {TOK_PLUS, TOK_MINUS}, {TOK_STAR, TOK_SLASH, TOK_SLASHSLASH, TOK_PERCENT},
};
enum { LEVELS = sizeof levels / sizeof *levels };

static bool at_level(const Parser *ps, int level)
{
    for (int i = 0; i < 4 && levels[level][i]; i++)
        if (parse_at(ps, levels[level][i]))
            return true;
    return false;
}

static AstExpr *operators(Parser *ps, int level)
{
    if (level == LEVELS)
        return factor(ps);
    AstExpr *e = operators(ps, level + 1);
    while (!ps->failed && at_level(ps, level)) {
        Tok op = parse_peek(ps)->kind;
        ps->pos++;
        e = binary(ps, op, e, operators(ps, level + 1));
    }
    if (parse_at(ps, TOK_AT))
        parse_error(ps, CC_EXPR_FORM, parse_peek(ps)->at, "matrix products are mmad(c, a, b)",
                    "'@' is not an operator of Craft");
    return e;
}

static bool is_comparison(Tok t)
{
    return t == TOK_EQ || t == TOK_NE || t == TOK_LT || t == TOK_LE || t == TOK_GT || t == TOK_GE ||
           t == TOK_IN;
}

/* comparison = bitor [ ( "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" ) bitor ] */
static AstExpr *comparison(Parser *ps)
{
    AstExpr *e = operators(ps, 0);
    if (!is_comparison(parse_peek(ps)->kind)) {
        if (parse_at(ps, TOK_IS) || (parse_at(ps, TOK_NOT) && parse_peek(ps)[1].kind == TOK_IN))
            parse_error(ps, CC_EXPR_FORM, parse_peek(ps)->at,
                        "compare with == or !=", "'is' and 'not in' are not in Craft");
        return e;
    }
    Tok op = parse_peek(ps)->kind;
    ps->pos++;
    AstExpr *right = operators(ps, 0);
    e = binary(ps, op, e, right);
    if (!ps->failed && is_comparison(parse_peek(ps)->kind))
        parse_error(ps, CC_EXPR_FORM, parse_peek(ps)->at, "write a < b and b < c",
                    "chained comparisons are not in Craft");
    return e;
}

/* not_test = "not" not_test | comparison */
static AstExpr *not_test(Parser *ps)
{
    Span at = parse_peek(ps)->at;
    if (!parse_at(ps, TOK_NOT))
        return comparison(ps);
    if (!parse_enter(ps))
        return new_expr(ps, EX_BOOL, at);
    ps->pos++;
    AstExpr *operand = not_test(ps);
    parse_leave(ps);
    return unary(ps, TOK_NOT, at, operand);
}

static AstExpr *chain(Parser *ps, Tok op, AstExpr *operand(Parser *))
{
    AstExpr *e = operand(ps);
    while (!ps->failed && parse_at(ps, op)) {
        ps->pos++;
        e = binary(ps, op, e, operand(ps));
    }
    return e;
}

/* and_test = not_test { "and" not_test } */
static AstExpr *and_test(Parser *ps) { return chain(ps, TOK_AND, not_test); }

/* or_test = and_test { "or" and_test } */
static AstExpr *or_test(Parser *ps) { return chain(ps, TOK_OR, and_test); }

/* test = or_test [ "if" or_test "else" test ] */
static AstExpr *test(Parser *ps)
{
    if (!parse_enter(ps))
        return new_expr(ps, EX_INT, parse_peek(ps)->at);
    AstExpr *e = or_test(ps);
    if (parse_accept(ps, TOK_IF)) {
        AstExpr *cond = new_expr(ps, EX_COND, e->at);
        cond->a = e;
        cond->b = or_test(ps);
        parse_expect(ps, TOK_ELSE, "in a conditional expression");
        cond->c = test(ps);
        cond->at = parse_span(ps, e->at);
        e = deepen(ps, cond);
    }
    if (!ps->failed && parse_at(ps, TOK_WALRUS))
        parse_error(ps, CC_EXPR_FORM, parse_peek(ps)->at, "assign in a statement of its own",
                    "':=' is not in Craft");
    parse_leave(ps);
    return e;
}

AstExpr *parse_expr(Parser *ps) { return test(ps); }

static AstExpr *comma_list(Parser *ps, AstExpr *one(Parser *))
{
    AstExpr *first = one(ps);
    if (!parse_at(ps, TOK_COMMA))
        return first;
    AstExpr *tuple = new_expr(ps, EX_TUPLE, first->at);
    vec_push(ps->arena, &tuple->items, first);
    while (!ps->failed && parse_accept(ps, TOK_COMMA)) {
        Tok next = parse_peek(ps)->kind;
        if (next == TOK_NEWLINE || next == TOK_ASSIGN || next == TOK_IN || next == TOK_END)
            break;
        AstExpr *item = one(ps);
        vec_push(ps->arena, &tuple->items, item);
    }
    tuple->at = parse_span(ps, first->at);
    return deepen(ps, tuple);
}

/* tests = test { "," test } [","] */
AstExpr *parse_expr_list(Parser *ps) { return comma_list(ps, test); }

/* targets = primary { "," primary } [","] */
AstExpr *parse_targets(Parser *ps) { return comma_list(ps, primary); }
