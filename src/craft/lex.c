/* Text to tokens, by Python's lexical rules: indentation makes INDENT and DEDENT, brackets and
 * a backslash join lines, comments go to the file by line. In: the text. Out: a token list that
 * always ends in END, with as many DEDENT as INDENT. */
#include "craft/lex.h"

#include "craft/report.h"
#include <stdlib.h>
#include <string.h>

typedef struct Lexer {
    Arena *arena;
    Diag *diag;
    CraftFile *file;
    Str text;
    size_t pos, line_start;
    uint32_t line;
    TokenList tokens;
    VEC(uint32_t) indents;
    VEC(Token) brackets; /* those open now */
} Lexer;

const char *const craft_tok_names[TOK_COUNT] = {
#define TOK(id, text, class) text,
#include "craft/tok.def"
#undef TOK
};

enum TokClass { TC_L, TC_W, TC_K, TC_O };
static const uint8_t tok_class[TOK_COUNT] = {
#define TOK(id, text, class) TC_##class,
#include "craft/tok.def"
#undef TOK
};

static char peek(const Lexer *lx, size_t ahead)
{
    return lx->pos + ahead < lx->text.len ? lx->text.at[lx->pos + ahead] : '\0';
}

static bool at_end(const Lexer *lx) { return lx->pos >= lx->text.len; }

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name(char c) { return is_name_start(c) || is_digit(c); }

static Span span_from(const Lexer *lx, size_t from)
{
    size_t col = from - lx->line_start + 1, width = lx->pos > from ? lx->pos - from : 1;
    return (Span){lx->line, (uint32_t)col, (uint32_t)width};
}

static Token *push(Lexer *lx, Tok kind, size_t from)
{
    Token t = {.kind = kind, .at = span_from(lx, from), .text = str_slice(lx->text, from, lx->pos)};
    vec_push(lx->arena, &lx->tokens, t);
    return &vec_last(&lx->tokens);
}

/* ---- lines and indentation ---- */

static size_t newline_len(const Lexer *lx)
{
    if (peek(lx, 0) == '\n')
        return 1;
    return peek(lx, 0) == '\r' && peek(lx, 1) == '\n' ? 2 : 0;
}

static void skip_newline(Lexer *lx)
{
    lx->pos += newline_len(lx);
    lx->line++;
    lx->line_start = lx->pos;
}

static void skip_blanks(Lexer *lx)
{
    while (peek(lx, 0) == ' ' || peek(lx, 0) == '\t' || peek(lx, 0) == '\f')
        lx->pos++;
}

static void read_comment(Lexer *lx)
{
    size_t from = lx->pos;
    while (!at_end(lx) && !newline_len(lx))
        lx->pos++;
    Str before = str_slice(lx->text, lx->line_start, from);
    Str text = str_trim(str_slice(lx->text, from, lx->pos));
    uint32_t col = (uint32_t)(from - lx->line_start) + 1;
    Comment c = {.line = lx->line, .col = col, .own_line = str_trim(before).len == 0, .text = text};
    vec_push(lx->arena, &lx->file->comments, c);
}

static uint32_t indent_here(const Lexer *lx)
{
    return lx->indents.len ? vec_last(&lx->indents) : 0;
}

static void open_block(Lexer *lx, uint32_t width)
{
    if (lx->indents.len >= CRAFT_MAX_BLOCKS) {
        craft_report(lx->diag, CC_TOO_DEEP, span_from(lx, lx->pos), NULL,
                     "blocks are nested more than %d deep", CRAFT_MAX_BLOCKS);
        return;
    }
    vec_push(lx->arena, &lx->indents, width);
    push(lx, TOK_INDENT, lx->pos);
}

static void close_blocks(Lexer *lx, uint32_t width)
{
    while (lx->indents.len && vec_last(&lx->indents) > width) {
        lx->indents.len--;
        push(lx, TOK_DEDENT, lx->pos);
    }
    if (indent_here(lx) != width)
        craft_report(lx->diag, CC_INDENT, span_from(lx, lx->pos),
                     "indent with 4 blanks for each level",
                     "the line is indented by %u, which is the depth of no block around it "
                     "(the nearest is %u)",
                     width, indent_here(lx));
}

static void read_indent(Lexer *lx)
{
    size_t from = lx->pos;
    skip_blanks(lx);
    if (at_end(lx) || newline_len(lx) || peek(lx, 0) == '#')
        return;
    if (memchr(lx->text.at + from, '\t', lx->pos - from))
        craft_report(lx->diag, CC_INDENT, span_from(lx, from),
                     "indent with 4 blanks for each level", "a tab in the indentation");
    uint32_t width = (uint32_t)(lx->pos - from);
    if (width > indent_here(lx))
        open_block(lx, width);
    else
        close_blocks(lx, width);
}

static bool line_has_tokens(const Lexer *lx)
{
    if (!lx->tokens.len)
        return false;
    Tok last = vec_last(&lx->tokens).kind;
    return last != TOK_NEWLINE && last != TOK_INDENT && last != TOK_DEDENT;
}

/* ---- words ---- */

static void read_name(Lexer *lx)
{
    size_t from = lx->pos;
    while (is_name(peek(lx, 0)))
        lx->pos++;
    Str word = str_slice(lx->text, from, lx->pos);
    Tok kind = TOK_NAME;
    for (Tok k = 0; k < TOK_COUNT; k++)
        if (tok_class[k] == TC_K && craft_tok_names[k][0] == word.at[0] &&
            str_is(word, craft_tok_names[k]))
            kind = k;
    push(lx, kind, from);
}

static void bad_number(Lexer *lx, size_t from, const char *why)
{
    craft_report(lx->diag, CC_NUMBER, span_from(lx, from), NULL, "'%.*s' %s",
                 STR_ARG(str_slice(lx->text, from, lx->pos)), why);
    push(lx, TOK_INT, from);
}

/* The digits without underscores; NULL when one stands where Python has none. */
static char *plain_digits(Lexer *lx, Str written)
{
    char *out = arena_array(lx->arena, char, written.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < written.len; i++) {
        char c = written.at[i];
        if (c != '_') {
            out[n++] = c;
        } else if (i == 0 || i + 1 == written.len || !is_name(written.at[i - 1]) ||
                   written.at[i - 1] == '_' || written.at[i + 1] == '.') {
            return NULL;
        }
    }
    return out;
}

static void finish_int(Lexer *lx, size_t from, const char *digits)
{
    int base = 10;
    if (digits[0] == '0' && digits[1]) {
        base = strchr("xX", digits[1]) ? 16 : strchr("oO", digits[1]) ? 8 : 2;
        if (base == 2 && !is_digit(digits[1]) && !strchr("bB", digits[1])) {
            bad_number(lx, from, "is not a number");
            return;
        }
        if (is_digit(digits[1])) {
            if (strspn(digits, "0") != strlen(digits)) {
                bad_number(lx, from, "has a leading zero");
                return;
            }
            base = 10;
        }
    }
    const char *start = base == 10 ? digits : digits + 2;
    uint64_t value = 0;
    for (const char *c = start; *c; c++) {
        int d = is_digit(*c) ? *c - '0' : (*c | 32) - 'a' + 10;
        if (d < 0 || d >= base) {
            bad_number(lx, from, "is not a number");
            return;
        }
        if (value > ((uint64_t)INT64_MAX - (uint64_t)d) / (uint64_t)base) {
            bad_number(lx, from, "does not fit 64 bits");
            return;
        }
        value = value * (uint64_t)base + (uint64_t)d;
    }
    if (!*start)
        bad_number(lx, from, "is not a number");
    else
        push(lx, TOK_INT, from)->i = (int64_t)value;
}

static void read_number(Lexer *lx)
{
    size_t from = lx->pos;
    bool hex = peek(lx, 0) == '0' && peek(lx, 1) && strchr("xXoObB", peek(lx, 1));
    bool is_float = false;
    for (;; lx->pos++) {
        char c = peek(lx, 0), before = lx->pos > from ? lx->text.at[lx->pos - 1] : '\0';
        bool exponent = !hex && (before == 'e' || before == 'E');
        if (!hex && (c == '.' || c == 'e' || c == 'E'))
            is_float = true;
        if (!is_name(c) && !(c == '.' && !hex) && !(exponent && (c == '+' || c == '-')))
            break;
    }
    const char *digits = plain_digits(lx, str_slice(lx->text, from, lx->pos));
    double value;
    if (!digits)
        bad_number(lx, from, "has an underscore where none may stand");
    else if (!is_float)
        finish_int(lx, from, digits);
    else if (str_to_double(str_from(digits), &value))
        push(lx, TOK_FLOAT, from)->f = value;
    else
        bad_number(lx, from, "is not a number");
}

static char escape(char c)
{
    switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case '\\':
    case '\'':
    case '"': return c;
    default: return '\0';
    }
}

/* Where the string whose text starts at `pos` ends: at its closing quotes, at the end of the
 * line, or at the end of the text. */
static size_t string_end(const Lexer *lx, size_t pos, char quote, bool triple)
{
    Str t = lx->text;
    for (; pos < t.len; pos++) {
        bool closes = t.at[pos] == quote &&
                      (!triple ||
                       (pos + 2 < t.len && t.at[pos + 1] == quote && t.at[pos + 2] == quote));
        if (closes || (t.at[pos] == '\n' && !triple))
            return pos;
        if (t.at[pos] == '\\' && pos + 1 < t.len && t.at[pos + 1] != '\n')
            pos++;
    }
    return t.len;
}

/* The text from pos to `end` with its escapes resolved. */
static Str string_value(Lexer *lx, size_t end)
{
    char *out = arena_array(lx->arena, char, end - lx->pos + 1);
    size_t n = 0;
    while (lx->pos < end) {
        if (newline_len(lx)) {
            skip_newline(lx);
            out[n++] = '\n';
            continue;
        }
        char c = lx->text.at[lx->pos++];
        if (c == '\\' && lx->pos < end && escape(peek(lx, 0)))
            c = escape(lx->text.at[lx->pos++]);
        out[n++] = c;
    }
    return (Str){out, n};
}

static void read_string(Lexer *lx)
{
    size_t from = lx->pos;
    char quote = peek(lx, 0);
    bool triple = peek(lx, 1) == quote && peek(lx, 2) == quote;
    size_t marks = triple ? 3 : 1;
    Span at = span_from(lx, from);
    lx->pos += marks;
    size_t end = string_end(lx, lx->pos, quote, triple);
    Str value = string_value(lx, end);
    if (peek(lx, 0) != quote) {
        craft_report(lx->diag, CC_STRING, at, NULL, "the string is not closed");
        push(lx, TOK_STRING, from)->at = at;
        return;
    }
    lx->pos += marks;
    Token *t = push(lx, TOK_STRING, from);
    t->at = at;
    if (lx->line == at.line)
        t->at.width = (uint32_t)t->text.len;
    t->string = value;
}

static bool starts_prefixed_string(const Lexer *lx)
{
    size_t n = 0;
    while (n < 3 && peek(lx, n) && strchr("rRbBfFuU", peek(lx, n)))
        n++;
    return n && (peek(lx, n) == '"' || peek(lx, n) == '\'');
}

/* ---- operators and brackets ---- */

static Tok closer_of(Tok open)
{
    return open == TOK_LPAREN ? TOK_RPAREN : open == TOK_LBRACKET ? TOK_RBRACKET : TOK_RBRACE;
}

static void open_bracket(Lexer *lx)
{
    Token t = vec_last(&lx->tokens);
    if (lx->brackets.len == CRAFT_MAX_DEPTH)
        craft_report(lx->diag, CC_TOO_DEEP, t.at, NULL, "brackets are nested more than %d deep",
                     CRAFT_MAX_DEPTH);
    vec_push(lx->arena, &lx->brackets, t);
}

static void close_bracket(Lexer *lx)
{
    Token t = vec_last(&lx->tokens);
    if (!lx->brackets.len) {
        craft_report(lx->diag, CC_BRACKET, t.at, NULL, "'%.*s' closes nothing", STR_ARG(t.text));
        lx->tokens.len--;
        return;
    }
    Token open = vec_last(&lx->brackets);
    lx->brackets.len--;
    if (closer_of(open.kind) == t.kind)
        return;
    craft_report(lx->diag, CC_BRACKET, t.at, NULL, "'%.*s' closes the '%.*s' of line %u",
                 STR_ARG(t.text), STR_ARG(open.text), open.at.line);
    vec_last(&lx->tokens).kind = closer_of(open.kind);
}

static void read_operator(Lexer *lx)
{
    size_t from = lx->pos;
    Str rest = str_slice(lx->text, from, lx->text.len);
    for (Tok k = 0; k < TOK_COUNT; k++) {
        if (tok_class[k] != TC_O || craft_tok_names[k][0] != rest.at[0] ||
            !str_starts(rest, craft_tok_names[k]))
            continue;
        lx->pos += strlen(craft_tok_names[k]);
        push(lx, k, from);
        if (k == TOK_LPAREN || k == TOK_LBRACKET || k == TOK_LBRACE)
            open_bracket(lx);
        else if (k == TOK_RPAREN || k == TOK_RBRACKET || k == TOK_RBRACE)
            close_bracket(lx);
        return;
    }
    size_t step = str_utf8_step(rest);
    lx->pos += step ? step : 1;
    unsigned char byte = (unsigned char)rest.at[0];
    if (step > 1)
        craft_report(lx->diag, CC_CHAR, span_from(lx, from), NULL,
                     "'%.*s' may stand only in comments and strings", (int)step, rest.at);
    else
        craft_report(
            lx->diag, CC_CHAR, span_from(lx, from), NULL,
            byte > 32 && byte < 127 ? "unexpected character '%c'" : "unexpected byte 0x%02x", byte);
}

/* ---- the whole ---- */

/* A line inside brackets that begins like a statement: a bracket before it was never closed. */
static bool statement_starts(const Lexer *lx)
{
    static const char *const words[] = {"def ",    "with ", "for ",   "return",
                                        "assert ", "@host", "@kernel"};
    Str rest = str_slice(lx->text, lx->pos, lx->text.len);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_starts(rest, words[i]))
            return true;
    return false;
}

static void report_open_brackets(Lexer *lx)
{
    Token open = lx->brackets.at[lx->brackets.len - 1];
    craft_report(lx->diag, CC_BRACKET, open.at, NULL, "'%.*s' is never closed", STR_ARG(open.text));
    lx->brackets.len = 0;
}

static void end_line(Lexer *lx)
{
    size_t from = lx->pos;
    if (!lx->brackets.len && line_has_tokens(lx))
        push(lx, TOK_NEWLINE, from);
    skip_newline(lx);
    if (!lx->brackets.len) {
        read_indent(lx);
        return;
    }
    skip_blanks(lx);
    if (!statement_starts(lx))
        return;
    report_open_brackets(lx);
    push(lx, TOK_NEWLINE, lx->pos);
    lx->pos = lx->line_start;
    read_indent(lx);
}

static void read_token(Lexer *lx)
{
    char c = peek(lx, 0);
    if (newline_len(lx)) {
        end_line(lx);
    } else if (c == ' ' || c == '\t' || c == '\f') {
        skip_blanks(lx);
    } else if (c == '#') {
        read_comment(lx);
    } else if (c == '\\' && (peek(lx, 1) == '\n' || (peek(lx, 1) == '\r' && peek(lx, 2) == '\n'))) {
        lx->pos++;
        skip_newline(lx);
    } else if (starts_prefixed_string(lx)) {
        size_t from = lx->pos;
        while (peek(lx, 0) != '"' && peek(lx, 0) != '\'')
            lx->pos++;
        craft_report(lx->diag, CC_STRING, span_from(lx, from), "write a plain \"string\"",
                     "strings have no prefix in Craft");
        read_string(lx);
    } else if (is_name_start(c)) {
        read_name(lx);
    } else if (is_digit(c) || (c == '.' && is_digit(peek(lx, 1)))) {
        read_number(lx);
    } else if (c == '"' || c == '\'') {
        read_string(lx);
    } else {
        read_operator(lx);
    }
}

TokenList craft_lex(Arena *arena, Str text, CraftFile *file, Diag *diag)
{
    Lexer lx = {.arena = arena, .diag = diag, .file = file, .text = text, .line = 1};
    if (str_starts(text, "\xef\xbb\xbf"))
        lx.pos = lx.line_start = 3;
    read_indent(&lx);
    while (!at_end(&lx))
        read_token(&lx);
    if (lx.brackets.len)
        report_open_brackets(&lx);
    if (line_has_tokens(&lx))
        push(&lx, TOK_NEWLINE, lx.pos);
    while (lx.indents.len) {
        lx.indents.len--;
        push(&lx, TOK_DEDENT, lx.pos);
    }
    push(&lx, TOK_END, lx.pos);
    return lx.tokens;
}
