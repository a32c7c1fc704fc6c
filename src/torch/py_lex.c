/* Text to tokens: indentation, names, numbers, strings, operators. */
#include "torch/py_lex.h"

#include <stdlib.h>
#include <string.h>

PyLexer py_lexer(Arena *arena, Str source, Diag *diag)
{
    PyLexer lexer = {
        .arena = arena, .diag = diag, .source = source, .line = 1, .line_begins = true};
    if (str_starts(source, "\xef\xbb\xbf"))
        lexer.at = lexer.line_start = 3;
    return lexer;
}

static char peek(const PyLexer *lx, size_t ahead)
{
    return lx->at + ahead < lx->source.len ? lx->source.at[lx->at + ahead] : '\0';
}

static bool at_end(const PyLexer *lx) { return lx->at >= lx->source.len; }

static Span span_from(const PyLexer *lx, size_t start)
{
    size_t col = start >= lx->line_start ? start - lx->line_start + 1 : 1;
    size_t width = lx->at > start ? lx->at - start : 1;
    return (Span){lx->line, (uint32_t)(col < UINT32_MAX ? col : UINT32_MAX),
                  (uint32_t)(width < 10000 ? width : 10000)};
}

static Token fail_at(PyLexer *lx, Span at, const char *text)
{
    diag_error(lx->diag, "T001", at, "%s", text);
    lx->at = lx->source.len;
    return (Token){.kind = TOK_ERROR, .at = at};
}

static Token fail_token(PyLexer *lx, size_t start, const char *text)
{
    return fail_at(lx, span_from(lx, start), text);
}

static void new_line(PyLexer *lx)
{
    lx->at++;
    lx->line++;
    lx->line_start = lx->at;
}

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80);
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Spaces, comments, and line ends that do not count. */
static void skip_blank(PyLexer *lx)
{
    for (; !at_end(lx);) {
        char c = peek(lx, 0);
        if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
            lx->at++;
        } else if (c == '\\' && peek(lx, 1) == '\n') {
            lx->at++;
            new_line(lx);
        } else if (c == '\\' && peek(lx, 1) == '\r' && peek(lx, 2) == '\n') {
            lx->at += 2;
            new_line(lx);
        } else if (c == '#') {
            while (!at_end(lx) && peek(lx, 0) != '\n')
                lx->at++;
        } else if (c == '\n' && lx->brackets) {
            new_line(lx);
        } else {
            return;
        }
    }
}

/* --- indentation -------------------------------------------------------------------------- */

/* *narrow: as wide as it would be with tabs of one column. */
static uint32_t measure_indent(PyLexer *lx, uint32_t *narrow)
{
    uint32_t width = 0;
    *narrow = 0;
    for (;; lx->at++) {
        char c = peek(lx, 0);
        if (c == '\f') {
            width = *narrow = 0;
            continue;
        }
        if (c != ' ' && c != '\t')
            return width;
        width = c == ' ' ? width + 1 : (width / 8 + 1) * 8;
        *narrow += 1;
    }
}

/* Refuses lines whose nesting depends on the width of a tab, as Python does (TabError). */
static Token fail_tabs(PyLexer *lx)
{
    return fail_token(
        lx, lx->at,
        "tabs and spaces are mixed: whether this line belongs to the block depends on how "
        "wide a tab is (Python: TabError)");
}

/* At the first character of a line: skips blank ones, gives INDENT or DEDENT on a change. */
static bool begin_line(PyLexer *lx, Token *token)
{
    uint32_t width, narrow;
    for (;;) {
        width = measure_indent(lx, &narrow);
        char c = peek(lx, 0);
        if (c == '#' || c == '\n' || c == '\r')
            while (!at_end(lx) && peek(lx, 0) != '\n')
                lx->at++;
        if (at_end(lx)) {
            width = narrow = 0;
            break;
        }
        if (peek(lx, 0) != '\n')
            break;
        new_line(lx);
    }
    lx->line_begins = at_end(lx);
    uint32_t now = lx->depth ? lx->indents[lx->depth - 1] : 0;
    uint32_t now_narrow = lx->depth ? lx->narrow[lx->depth - 1] : 0;
    *token = (Token){.at = span_from(lx, lx->at)};
    if (width > now) {
        if (lx->depth == PY_MAX_INDENT) {
            *token = fail_token(lx, lx->at, "blocks are nested too deeply");
            return true;
        }
        if (narrow <= now_narrow) {
            *token = fail_tabs(lx);
            return true;
        }
        lx->narrow[lx->depth] = narrow;
        lx->indents[lx->depth++] = width;
        token->kind = TOK_INDENT;
        return true;
    }
    while (lx->depth && lx->indents[lx->depth - 1] > width) {
        lx->depth--;
        lx->dedents++;
    }
    if ((lx->depth ? lx->indents[lx->depth - 1] : 0) != width) {
        *token = fail_token(lx, lx->at, "this line's indentation matches no block");
        return true;
    }
    if ((lx->depth ? lx->narrow[lx->depth - 1] : 0) != narrow) {
        *token = fail_tabs(lx);
        return true;
    }
    if (!lx->dedents)
        return false;
    lx->dedents--;
    token->kind = TOK_DEDENT;
    return true;
}

/* --- numbers ------------------------------------------------------------------------------ */

static size_t take_digits(PyLexer *lx, char *digits, size_t have, size_t most, int base)
{
    for (;; lx->at++) {
        char c = peek(lx, 0), low = (char)(c | 0x20);
        int value = is_digit(c) ? c - '0' : low >= 'a' && low <= 'f' ? low - 'a' + 10 : 99;
        if (c == '_')
            continue;
        if (value >= base)
            return have;
        if (have < most)
            digits[have] = c;
        have++;
    }
}

static Token integer(PyLexer *lx, size_t start, const char *digits, size_t len, int base)
{
    int64_t value = 0;
    for (size_t i = 0; i < len; i++) {
        char low = (char)(digits[i] | 0x20);
        int digit = is_digit(digits[i]) ? digits[i] - '0' : low - 'a' + 10;
        if (__builtin_mul_overflow(value, (int64_t)base, &value) ||
            __builtin_add_overflow(value, (int64_t)digit, &value))
            return fail_token(lx, start, "this integer does not fit 64 bits");
    }
    return (Token){.kind = TOK_INT, .at = span_from(lx, start), .i = value};
}

static Token number(PyLexer *lx)
{
    enum { MOST = 400 };
    char digits[MOST + 8];
    size_t start = lx->at, len = 0;
    char second = (char)(peek(lx, 1) | 0x20);
    int base = peek(lx, 0) != '0' ? 10
               : second == 'x'    ? 16
               : second == 'o'    ? 8
               : second == 'b'    ? 2
                                  : 10;
    if (base != 10)
        lx->at += 2;
    len = take_digits(lx, digits, 0, MOST, base);
    bool floating = false;
    if (base == 10 && peek(lx, 0) == '.' && len < MOST) {
        floating = true;
        digits[len++] = '.';
        lx->at++;
        len = take_digits(lx, digits, len, MOST, 10);
    }
    char sign = peek(lx, 1);
    bool exponent = (peek(lx, 0) | 0x20) == 'e' &&
                    (is_digit(sign) || ((sign == '+' || sign == '-') && is_digit(peek(lx, 2))));
    if (base == 10 && exponent && len < MOST) {
        floating = true;
        digits[len++] = 'e';
        lx->at++;
        if (len < MOST && !is_digit(peek(lx, 0)))
            digits[len++] = lx->source.at[lx->at++];
        len = take_digits(lx, digits, len, MOST, 10);
    }
    if (len >= MOST)
        return fail_token(lx, start, "this number has too many digits");
    bool imaginary = base == 10 && (peek(lx, 0) | 0x20) == 'j';
    lx->at += imaginary;
    if (is_name_start(peek(lx, 0)))
        return fail_token(lx, start, "a letter stands in a number");
    if (!floating && !imaginary)
        return integer(lx, start, digits, len, base);
    digits[len] = '\0';
    return (Token){.kind = imaginary ? TOK_COMPLEX : TOK_FLOAT,
                   .at = span_from(lx, start),
                   .f = strtod(digits, NULL)};
}

/* --- strings ------------------------------------------------------------------------------ */

/* From the opening quote on; *start is where the token began (its prefix). */
static Token string(PyLexer *lx, size_t start)
{
    char quote = peek(lx, 0);
    bool triple = peek(lx, 1) == quote && peek(lx, 2) == quote;
    lx->at += triple ? 3 : 1;
    size_t inside = lx->at;
    Span at = span_from(lx, start);
    for (;; lx->at++) {
        if (at_end(lx))
            return fail_at(lx, at, "a string is not closed");
        char c = peek(lx, 0);
        if (c == '\n' && !triple)
            return fail_at(lx, at, "a string is not closed on its line");
        if (c == '\\' && lx->at + 1 < lx->source.len)
            lx->at++;
        if (peek(lx, 0) == '\n') {
            lx->line++;
            lx->line_start = lx->at + 1;
        }
        if (c == quote && (!triple || (peek(lx, 1) == quote && peek(lx, 2) == quote)))
            break;
    }
    Token token = {.kind = TOK_STRING, .at = at, .text = str_slice(lx->source, inside, lx->at)};
    lx->at += triple ? 3 : 1;
    return token;
}

static bool is_string_prefix(Str name, Token *flags)
{
    if (name.len > 2)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = (char)(name.at[i] | 0x20);
        flags->raw |= c == 'r';
        flags->formatted |= c == 'f';
        flags->bytes |= c == 'b';
        if (c != 'r' && c != 'f' && c != 'b' && c != 'u')
            return false;
    }
    return true;
}

/* Letters beyond ASCII that stay as they are under NFKC, alone and beside each other: Python compares
 * names after that normalisation, so that two spellings can be one name. Tested against Unicode 15
 * for every character of these ranges, and every pair below U+3100. */
static const uint32_t stable_letters[][2] = {
    {0xc0, 0xd6},     {0xd8, 0xf6},    {0xf8, 0x131},  {0x134, 0x13e},   {0x141, 0x148},
    {0x14a, 0x17e},   {0x386, 0x386},  {0x388, 0x38a}, {0x38c, 0x38c},   {0x38e, 0x3a1},
    {0x3a3, 0x3ce},   {0x400, 0x481},  {0x48a, 0x52f}, {0x3041, 0x3096}, {0x30a1, 0x30fa},
    {0x4e00, 0x9fff}, {0xac00, 0xd7a3}};

/* The character at name[*at], which moves past it; 0 where the bytes are no UTF-8. */
static uint32_t decode_utf8(Str name, size_t *at)
{
    uint8_t first = (uint8_t)name.at[*at];
    size_t more = first < 0x80 ? 0 : first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 9;
    uint32_t code = more == 0 ? first : first & (0x3fu >> more);
    if (more == 9 || *at + more >= name.len)
        return *at = name.len, 0;
    for (size_t i = 1; i <= more; i++) {
        if (((uint8_t)name.at[*at + i] & 0xc0) != 0x80)
            return *at = name.len, 0;
        code = code << 6 | ((uint8_t)name.at[*at + i] & 0x3fu);
    }
    *at += 1 + more;
    return code;
}

static bool is_stable_name(Str name)
{
    for (size_t at = 0; at < name.len;) {
        uint32_t code = decode_utf8(name, &at);
        bool stable = code > 0 && code < 0x80;
        for (size_t i = 0; !stable && i < sizeof stable_letters / sizeof *stable_letters; i++)
            stable = code >= stable_letters[i][0] && code <= stable_letters[i][1];
        if (!stable)
            return false;
    }
    return true;
}

static Token name_or_string(PyLexer *lx)
{
    size_t start = lx->at;
    while (is_name_start(peek(lx, 0)) || is_digit(peek(lx, 0)))
        lx->at++;
    Str name = str_slice(lx->source, start, lx->at);
    if (!is_stable_name(name))
        return fail_token(
            lx, start,
            "this name has a character that Python replaces by another (NFKC), so that two "
            "spellings may be one name: write it with plain letters");
    Token flags = {0};
    if ((peek(lx, 0) == '"' || peek(lx, 0) == '\'') && is_string_prefix(name, &flags)) {
        Token token = string(lx, start);
        token.raw = flags.raw;
        token.formatted = flags.formatted;
        token.bytes = flags.bytes;
        return token;
    }
    return (Token){.kind = TOK_NAME, .at = span_from(lx, start), .text = name};
}

static size_t encode_utf8(uint32_t code, char out[4])
{
    if (code < 0x80)
        return out[0] = (char)code, 1;
    if (code < 0x800)
        return out[0] = (char)(0xc0 | code >> 6), out[1] = (char)(0x80 | (code & 63)), 2;
    if (code < 0x10000)
        return out[0] = (char)(0xe0 | code >> 12), out[1] = (char)(0x80 | (code >> 6 & 63)),
               out[2] = (char)(0x80 | (code & 63)), 3;
    return out[0] = (char)(0xf0 | (code >> 18 & 7)), out[1] = (char)(0x80 | (code >> 12 & 63)),
           out[2] = (char)(0x80 | (code >> 6 & 63)), out[3] = (char)(0x80 | (code & 63)), 4;
}

static size_t read_hex(Str s, size_t at, size_t count, uint32_t *code)
{
    size_t i = 0;
    *code = 0;
    for (; i < count && at + i < s.len; i++) {
        char c = s.at[at + i], low = (char)(c | 0x20);
        if (!is_digit(c) && !(low >= 'a' && low <= 'f'))
            break;
        *code = *code * 16 + (uint32_t)(is_digit(c) ? c - '0' : low - 'a' + 10);
    }
    return i;
}

/* One escape at s[at] (after the backslash): appends its bytes, returns what it took. */
static size_t unescape(Str s, size_t at, char *out, size_t *len)
{
    static const char from[] = "ntr\\'\"abfv0", to[] = "\n\t\r\\'\"\a\b\f\v\0";
    char c = s.at[at];
    const char *known = c ? memchr(from, c, sizeof from - 1) : NULL;
    if (c == '\n')
        return 1;
    if (known)
        return out[(*len)++] = to[known - from], 1;
    size_t count = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    uint32_t code;
    if (count && read_hex(s, at + 1, count, &code) == count) {
        *len += encode_utf8(code, out + *len);
        return 1 + count;
    }
    out[(*len)++] = '\\';
    out[(*len)++] = c;
    return 1;
}

Str py_string_value(Arena *arena, Str inside, bool raw)
{
    if (raw || !memchr(inside.at, '\\', inside.len))
        return str_copy(arena, inside);
    char *out = arena_alloc(arena, 2 * inside.len + 8);
    size_t len = 0;
    for (size_t i = 0; i < inside.len;) {
        if (inside.at[i] == '\\' && i + 1 < inside.len)
            i += 1 + unescape(inside, i + 1, out, &len);
        else
            out[len++] = inside.at[i++];
    }
    return (Str){out, len};
}

/* --- operators ---------------------------------------------------------------------------- */

static Token operator_token(PyLexer *lx)
{
    static const char *const table[] = {
        "**=", "//=", "<<=", ">>=", "...", "!=", "%=", "&=", "**", "*=", "+=", "-=",
        "->",  "//",  "/=",  ":=",  "<<",  "<=", "==", ">=", ">>", "@=", "^=", "|=",
        "%",   "&",   "(",   ")",   "*",   "+",  ",",  "-",  ".",  "/",  ":",  ";",
        "<",   "=",   ">",   "@",   "[",   "]",  "^",  "{",  "|",  "}",  "~"};
    size_t start = lx->at;
    Str rest = str_slice(lx->source, lx->at, lx->source.len);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i][0] != rest.at[0] || !str_starts(rest, table[i]))
            continue;
        lx->at += strlen(table[i]);
        char c = table[i][0];
        if (c == '(' || c == '[' || c == '{') {
            if (lx->brackets == PY_MAX_DEPTH)
                return fail_token(lx, start, "brackets are nested too deeply");
            lx->opened[lx->brackets++] = span_from(lx, start);
        } else if ((c == ')' || c == ']' || c == '}') && lx->brackets) {
            lx->brackets--;
        }
        return (Token){.kind = TOK_OP, .at = span_from(lx, start), .text = str_from(table[i])};
    }
    return fail_token(lx, start, "this character has no meaning in Python");
}

Token py_next(PyLexer *lx)
{
    Token token;
    if (lx->dedents) {
        lx->dedents--;
        return (Token){.kind = TOK_DEDENT, .at = span_from(lx, lx->at)};
    }
    if (lx->line_begins && !lx->brackets && begin_line(lx, &token))
        return token;
    skip_blank(lx);
    size_t start = lx->at;
    if (at_end(lx)) {
        if (!lx->line_begins && !lx->brackets) {
            lx->line_begins = true;
            return (Token){.kind = TOK_NEWLINE, .at = span_from(lx, start)};
        }
        if (lx->depth) {
            lx->depth--;
            return (Token){.kind = TOK_DEDENT, .at = span_from(lx, start)};
        }
        return (Token){.kind = TOK_END, .at = span_from(lx, start)};
    }
    char c = peek(lx, 0);
    if (c == '\n') {
        token = (Token){.kind = TOK_NEWLINE, .at = span_from(lx, start)};
        new_line(lx);
        lx->line_begins = true;
        return token;
    }
    if (is_digit(c) || (c == '.' && is_digit(peek(lx, 1))))
        return number(lx);
    if (is_name_start(c))
        return name_or_string(lx);
    if (c == '"' || c == '\'')
        return string(lx, start);
    return operator_token(lx);
}
