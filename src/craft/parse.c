/* Statements, by recursive descent; the rule above each function is a rule of
 * docs/craft.grammar. In: tokens. Out: the file's statements. An error ends its line: the rest
 * of the line is skipped, the block below it is still read, so that one run says all. */
#include "craft/parse_int.h"

#include "craft/craft.h"
#include "craft/lex.h"

/* ---- the cursor ---- */

const Token *parse_peek(const Parser *ps) { return &ps->tokens.at[ps->pos]; }

bool parse_at(const Parser *ps, Tok kind) { return parse_peek(ps)->kind == kind; }

bool parse_accept(Parser *ps, Tok kind)
{
    if (!parse_at(ps, kind) || ps->failed)
        return false;
    if (kind != TOK_END)
        ps->pos++;
    return true;
}

/* One syntax error a line: a line with a bad character or bracket has had its own. */
static bool line_reported(const Parser *ps, uint32_t line)
{
    for (uint32_t i = 0; i < ps->diag->items.len; i++)
        if (ps->diag->items.at[i].at.line == line)
            return true;
    return false;
}

void parse_error(Parser *ps, CraftCodeId id, Span at, const char *hint, const char *format, ...)
{
    bool reported = ps->failed || line_reported(ps, at.line);
    ps->failed = true;
    ps->file->broken = true;
    if (reported)
        return;
    va_list args;
    va_start(args, format);
    const char *text = str_vformat(ps->arena, format, args);
    va_end(args);
    craft_report(ps->diag, id, at, hint, "%s", text);
}

bool parse_expect(Parser *ps, Tok kind, const char *where)
{
    if (parse_accept(ps, kind))
        return true;
    const Token *t = parse_peek(ps);
    bool word = t->text.len && t->kind != TOK_NEWLINE;
    const char *found = word ? str_format(ps->arena, "'%.*s'", STR_ARG(t->text))
                             : craft_tok_names[t->kind];
    bool quoted = kind > TOK_STRING;
    parse_error(ps, CC_SYNTAX, t->at, NULL, "expected %s%s%s %s, found %s", quoted ? "'" : "",
                craft_tok_names[kind], quoted ? "'" : "", where, found);
    return false;
}

bool parse_enter(Parser *ps)
{
    if (++ps->depth <= CRAFT_MAX_DEPTH)
        return true;
    ps->depth--;
    parse_error(ps, CC_TOO_DEEP, parse_peek(ps)->at, "name parts of it", "nested more than %d deep",
                CRAFT_MAX_DEPTH);
    return false;
}

void parse_leave(Parser *ps) { ps->depth--; }

Span parse_span(const Parser *ps, Span from)
{
    if (!ps->pos)
        return from;
    Span last = ps->tokens.at[ps->pos - 1].at;
    if (last.line == from.line && last.col + last.width > from.col)
        from.width = last.col + last.width - from.col;
    return from;
}

/* ---- statements ---- */

static void block(Parser *ps, StmtList *out);

static AstStmt *new_stmt(Parser *ps, StmtKind kind)
{
    AstStmt *s = arena_new(ps->arena, AstStmt);
    s->kind = kind;
    s->at = parse_peek(ps)->at;
    return s;
}

static uint32_t last_line(const Parser *ps)
{
    uint32_t last = ps->pos ? ps->pos - 1 : 0;
    while (last && ps->tokens.at[last].kind == TOK_DEDENT) /* it stands on the next line */
        last--;
    const Token *t = &ps->tokens.at[last];
    uint32_t line = t->at.line;
    for (size_t i = 0; i < t->text.len; i++)
        line += t->kind == TOK_STRING && t->text.at[i] == '\n';
    return line;
}

static bool is_target(const AstExpr *e)
{
    if (e->kind == EX_TUPLE) {
        for (uint32_t i = 0; i < e->items.len; i++)
            if (e->items.at[i]->kind == EX_TUPLE || !is_target(e->items.at[i]))
                return false;
        return e->items.len > 0;
    }
    return e->kind == EX_NAME || e->kind == EX_INDEX;
}

static bool is_augmented(Tok t)
{
    return t == TOK_PLUSEQ || t == TOK_MINUSEQ || t == TOK_STAREQ || t == TOK_SLASHEQ ||
           t == TOK_SLASHSLASHEQ || t == TOK_PERCENTEQ || t == TOK_AMPEQ || t == TOK_PIPEEQ ||
           t == TOK_CARETEQ || t == TOK_SHLEQ || t == TOK_SHREQ;
}

/* assignment = targets ( "=" | "+=" | "-=" | ... ) tests
 * expression = tests */
static AstStmt *expression_stmt(Parser *ps)
{
    AstStmt *s = new_stmt(ps, ST_EXPR);
    s->value = parse_expr_list(ps);
    Tok op = parse_peek(ps)->kind;
    if (ps->failed)
        return s;
    if (op == TOK_COLON)
        parse_error(ps, CC_STMT_FORM, parse_peek(ps)->at,
                    "write name = value; types follow from the value",
                    "annotated assignments are not in Craft");
    if (op != TOK_ASSIGN && !is_augmented(op))
        return s;
    s->kind = ST_ASSIGN;
    s->op = op;
    s->target = s->value;
    if (!is_target(s->target) || (op != TOK_ASSIGN && s->target->kind == EX_TUPLE))
        parse_error(ps, CC_TARGET, s->target->at, NULL,
                    "the left side of an assignment is a name, a view or an element");
    ps->pos++;
    s->value = parse_expr_list(ps);
    if (parse_at(ps, TOK_ASSIGN))
        parse_error(ps, CC_STMT_FORM, parse_peek(ps)->at, "write one assignment a line",
                    "chained assignments are not in Craft");
    return s;
}

/* assert = "assert" test [ "," test ] */
static AstStmt *assert_stmt(Parser *ps)
{
    AstStmt *s = new_stmt(ps, ST_ASSERT);
    ps->pos++;
    s->value = parse_expr(ps);
    if (parse_accept(ps, TOK_COMMA))
        s->text = parse_expr(ps);
    return s;
}

/* return = "return" [ tests ] */
static AstStmt *return_stmt(Parser *ps)
{
    AstStmt *s = new_stmt(ps, ST_RETURN);
    ps->pos++;
    if (!parse_at(ps, TOK_NEWLINE) && !parse_at(ps, TOK_SEMI))
        s->value = parse_expr_list(ps);
    return s;
}

static AstStmt *refused_stmt(Parser *ps)
{
    static const struct {
        Tok kind;
        const char *hint;
    } forms[] = {
        {TOK_WHILE, "loops are bounded: for i in range(n), for t in tiles(n, tile)"},
        {TOK_BREAK, "put what follows under an if"},
        {TOK_CONTINUE, "put what follows under an if"},
        {TOK_IMPORT, "every name of Craft is known without an import"},
        {TOK_FROM, "every name of Craft is known without an import"},
        {TOK_CLASS, "a file has one @host function, @kernel functions and helper functions"},
    };
    const Token *t = parse_peek(ps);
    const char *hint = NULL;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].kind == t->kind)
            hint = forms[i].hint;
    AstStmt *s = new_stmt(ps, ST_PASS);
    parse_error(ps, CC_STMT_FORM, t->at, hint, "'%.*s' is not in Craft", STR_ARG(t->text));
    return s;
}

static bool is_refused(Tok t)
{
    switch (t) {
    case TOK_WHILE:
    case TOK_BREAK:
    case TOK_CONTINUE:
    case TOK_IMPORT:
    case TOK_FROM:
    case TOK_CLASS:
    case TOK_TRY:
    case TOK_EXCEPT:
    case TOK_FINALLY:
    case TOK_RAISE:
    case TOK_GLOBAL:
    case TOK_NONLOCAL:
    case TOK_DEL:
    case TOK_ASYNC:
    case TOK_AWAIT:
    case TOK_YIELD: return true;
    default: return false;
    }
}

/* small = assignment | expression | assert | return | "pass" */
static AstStmt *small(Parser *ps)
{
    Tok kind = parse_peek(ps)->kind;
    if (is_refused(kind))
        return refused_stmt(ps);
    if (kind == TOK_ASSERT)
        return assert_stmt(ps);
    if (kind == TOK_RETURN)
        return return_stmt(ps);
    if (kind == TOK_PASS) {
        AstStmt *s = new_stmt(ps, ST_PASS);
        ps->pos++;
        return s;
    }
    return expression_stmt(ps);
}

/* After an error: the rest of the line, and whether a block hangs below it. */
static void skip_line(Parser *ps)
{
    while (!parse_at(ps, TOK_NEWLINE) && !parse_at(ps, TOK_END) && !parse_at(ps, TOK_INDENT) &&
           !parse_at(ps, TOK_DEDENT))
        ps->pos++;
    if (parse_at(ps, TOK_NEWLINE))
        ps->pos++;
    ps->failed = false;
}

static void skip_bad_line(Parser *ps)
{
    skip_line(ps);
    if (parse_at(ps, TOK_INDENT)) {
        StmtList lost = {0};
        block(ps, &lost);
    }
}

/* line = small { ";" small } [";"] NEWLINE */
static void small_line(Parser *ps, StmtList *out)
{
    do {
        if (out->len && parse_at(ps, TOK_NEWLINE))
            break;
        AstStmt *s = small(ps);
        s->last_line = s->end_line = last_line(ps);
        vec_push(ps->arena, out, s);
    } while (!ps->failed && parse_accept(ps, TOK_SEMI) && !parse_at(ps, TOK_NEWLINE));
    if (!ps->failed)
        parse_expect(ps, TOK_NEWLINE, "after a statement");
    if (ps->failed)
        skip_bad_line(ps);
}

static void statement(Parser *ps, StmtList *out);

/* block = line | NEWLINE INDENT { statement } DEDENT */
static void block(Parser *ps, StmtList *out)
{
    if (!parse_at(ps, TOK_NEWLINE) && !parse_at(ps, TOK_INDENT)) {
        small_line(ps, out);
        return;
    }
    parse_accept(ps, TOK_NEWLINE);
    if (!parse_at(ps, TOK_INDENT)) {
        craft_report(ps->diag, CC_INDENT, parse_peek(ps)->at,
                     "indent the block; an empty one is 'pass'", "a block is expected here");
        ps->file->broken = true;
        return;
    }
    if (!parse_enter(ps)) {
        skip_line(ps);
        return;
    }
    ps->pos++;
    while (!parse_at(ps, TOK_DEDENT) && !parse_at(ps, TOK_END))
        statement(ps, out);
    if (parse_at(ps, TOK_DEDENT))
        ps->pos++;
    parse_leave(ps);
}

/* The ':' of a header and the block below it. */
static void suite(Parser *ps, AstStmt *s, StmtList *out, const char *where)
{
    if (!ps->failed && !parse_at(ps, TOK_COLON) && parse_at(ps, TOK_ASSIGN))
        parse_error(ps, CC_SYNTAX, parse_peek(ps)->at, "compare with ==", "'=' is no comparison");
    parse_expect(ps, TOK_COLON, where);
    if (!s->last_line)
        s->last_line = last_line(ps);
    if (ps->failed) {
        skip_line(ps);
        if (!parse_at(ps, TOK_INDENT))
            return;
    }
    block(ps, out);
}

/* for = "for" targets "in" test ":" block */
static void for_stmt(Parser *ps, AstStmt *s)
{
    ps->pos++;
    s->target = parse_targets(ps);
    parse_expect(ps, TOK_IN, "after the loop variables");
    s->value = parse_expr(ps);
    suite(ps, s, &s->body, "after the loop header");
    if (parse_at(ps, TOK_ELSE)) {
        parse_error(ps, CC_STMT_FORM, parse_peek(ps)->at, NULL, "'else' of a loop is not in Craft");
        skip_bad_line(ps);
    }
}

/* with = "with" test ":" block */
static void with_stmt(Parser *ps, AstStmt *s)
{
    ps->pos++;
    s->value = parse_expr(ps);
    if (!ps->failed && (parse_at(ps, TOK_AS) || parse_at(ps, TOK_COMMA)))
        parse_error(ps, CC_STMT_FORM, parse_peek(ps)->at,
                    "write with copyin():", "a with statement names one stage or role");
    suite(ps, s, &s->body, "after the stage");
}

/* if = "if" test ":" block { "elif" test ":" block } [ "else" ":" block ] */
static void if_stmt(Parser *ps, AstStmt *s)
{
    ps->pos++;
    s->value = parse_expr(ps);
    suite(ps, s, &s->body, "after the condition");
    s->end_line = last_line(ps);
    if (parse_at(ps, TOK_ELIF)) {
        AstStmt *elif = new_stmt(ps, ST_IF);
        elif->is_elif = true;
        if (!parse_enter(ps)) {
            skip_bad_line(ps);
            return;
        }
        if_stmt(ps, elif);
        parse_leave(ps);
        vec_push(ps->arena, &s->orelse, elif);
    } else if (parse_at(ps, TOK_ELSE)) {
        s->else_line = parse_peek(ps)->at.line;
        ps->pos++;
        suite(ps, s, &s->orelse, "after else");
    }
}

/* param = NAME [ ":" test ] [ "=" test ] */
static void param(Parser *ps, AstDef *def)
{
    const Token *t = parse_peek(ps);
    AstParam p = {.name = t->text, .at = t->at};
    if (t->kind == TOK_STAR || t->kind == TOK_STARSTAR || t->kind == TOK_SLASH)
        parse_error(ps, CC_DEF, t->at, "name every parameter", "'%.*s' in a parameter list",
                    STR_ARG(t->text));
    parse_expect(ps, TOK_NAME, "as a parameter");
    if (parse_accept(ps, TOK_COLON))
        p.type = parse_expr(ps);
    if (parse_accept(ps, TOK_ASSIGN))
        p.value = parse_expr(ps);
    vec_push(ps->arena, &def->params, p);
}

/* def = { "@" primary NEWLINE } "def" NAME "(" [ param { "," param } [","] ] ")" ":" block */
static void def_stmt(Parser *ps, AstStmt *s)
{
    s->def = arena_new(ps->arena, AstDef);
    while (parse_accept(ps, TOK_AT)) {
        AstExpr *decorator = parse_expr(ps);
        vec_push(ps->arena, &s->def->decorators, decorator);
        parse_expect(ps, TOK_NEWLINE, "after a decorator");
        if (ps->failed)
            skip_line(ps);
    }
    if (!parse_expect(ps, TOK_DEF, "after a decorator")) {
        skip_bad_line(ps);
        return;
    }
    s->def->name = parse_peek(ps)->text;
    s->def->name_at = parse_peek(ps)->at;
    parse_expect(ps, TOK_NAME, "after def");
    parse_expect(ps, TOK_LPAREN, "before the parameters");
    while (!ps->failed && !parse_at(ps, TOK_RPAREN)) {
        param(ps, s->def);
        if (!parse_accept(ps, TOK_COMMA))
            break;
    }
    parse_expect(ps, TOK_RPAREN, "after the parameters");
    if (parse_at(ps, TOK_ARROW))
        parse_error(ps, CC_DEF, parse_peek(ps)->at, "drop it", "'->' is not in Craft");
    suite(ps, s, &s->def->body, "after the parameters");
}

static void unexpected_indent(Parser *ps, StmtList *out)
{
    craft_report(ps->diag, CC_INDENT, parse_peek(ps)->at, "indent it like the line before",
                 "the line is indented, but no block begins here");
    ps->file->broken = true;
    block(ps, out);
}

/* statement = for | if | with | def | line */
static void statement(Parser *ps, StmtList *out)
{
    AstStmt *s;
    switch (parse_peek(ps)->kind) {
    case TOK_INDENT: unexpected_indent(ps, out); return;
    case TOK_FOR: for_stmt(ps, s = new_stmt(ps, ST_FOR)); break;
    case TOK_IF: if_stmt(ps, s = new_stmt(ps, ST_IF)); break;
    case TOK_WITH: with_stmt(ps, s = new_stmt(ps, ST_WITH)); break;
    case TOK_AT:
    case TOK_DEF: def_stmt(ps, s = new_stmt(ps, ST_DEF)); break;
    case TOK_ELSE:
    case TOK_ELIF:
        parse_error(ps, CC_SYNTAX, parse_peek(ps)->at, NULL, "'%.*s' without an if before it",
                    STR_ARG(parse_peek(ps)->text));
        skip_bad_line(ps);
        return;
    default: small_line(ps, out); return;
    }
    s->end_line = last_line(ps);
    vec_push(ps->arena, out, s);
}

/* file = { statement } END */
static void file(Parser *ps)
{
    while (!parse_at(ps, TOK_END)) {
        if (parse_at(ps, TOK_DEDENT)) /* left over from a block that was given up */
            ps->pos++;
        else
            statement(ps, &ps->file->stmts);
    }
}

/* The one variable of the front end: tests ask it whether anybody parsed. */
static _Atomic uint64_t reads;

uint64_t craft_read_count(void) { return reads; }

CraftFile *craft_read(Arena *arena, const char *name, Str text, Diag *diag)
{
    uint32_t before = diag->errors;
    reads++;
    if (text.len > CRAFT_MAX_BYTES) {
        craft_report(diag, CC_TOO_LARGE, (Span){0}, NULL, "the file has %zu bytes; at most %d",
                     text.len, CRAFT_MAX_BYTES);
        return NULL;
    }
    if (!str_utf8_valid(text)) {
        craft_report(diag, CC_CHAR, (Span){0}, NULL, "the file is not UTF-8 text");
        return NULL;
    }
    CraftFile *f = arena_new(arena, CraftFile);
    f->arena = arena;
    f->name = name;
    f->text = text;
    Parser ps = {.arena = arena, .diag = diag, .file = f};
    ps.tokens = craft_lex(arena, text, f, diag);
    file(&ps);
    craft_attach_comments(f);
    f->broken = diag->errors != before;
    return f;
}
