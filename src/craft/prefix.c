/* Bytes to tokens, by the rules of lex.c, one byte at a time. A token is over when a byte comes that
 * cannot belong to it; only then the grammar sees it, but every byte is asked for before that: a word must
 * begin one that may stand there, an operator likewise. */
#include "craft/prefix_int.h"

#include <string.h>

enum {
    LEX_LINE, /* nothing but blanks in the line so far */
    LEX_GAP,  /* between tokens */
    LEX_NAME,
    LEX_NUMBER,  /* detail: a NUM_* */
    LEX_STRING,  /* detail: a TEXT_* */
    LEX_OP,      /* an operator that may go on */
    LEX_COMMENT, /* detail: of a line without a token */
    LEX_BACKSLASH,
};

enum { NUM_ZERO, NUM_INT, NUM_DOT, NUM_FRACTION, NUM_E, NUM_SIGN, NUM_EXPONENT, NUM_X, NUM_HEX };
enum { TEXT_ONE, TEXT_TWO, TEXT_BODY, TEXT_ESCAPE, LONG_BODY, LONG_ONE, LONG_TWO, LONG_ESCAPE };

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\f'; }

static bool take_token(CraftPrefix *p, CraftPoint *at, Tok tok)
{
    return prefix_token(p, at, tok, NULL);
}

static bool may_take(CraftPrefix *p, const CraftPoint *at, Tok tok)
{
    CraftPoint tried = *at;
    bool accepting = p->accepting;
    p->accepting = false;
    bool ok = take_token(p, &tried, tok);
    p->accepting = accepting;
    return ok;
}

/* ---- words ---- */

/* The words that go on with the byte, and whether one of them, or a new name, may stand here. */
static bool narrow(CraftPrefix *p, CraftPoint *at, char c)
{
    uint32_t n = at->len, lo = at->lo, hi = at->hi;
    while (lo < hi && (p->words.at[lo].text.len <= n || p->words.at[lo].text.at[n] < c))
        lo++;
    uint32_t end = lo;
    while (end < hi && p->words.at[end].text.at[n] == c)
        end++;
    if (n + 1 >= PREFIX_NAME)
        return false;
    if (p->accepting)
        p->name[n] = c;
    at->lo = (uint16_t)lo;
    at->hi = (uint16_t)end;
    at->len++;
    if (at->free)
        return true;
    for (uint32_t i = lo; i < end; i++)
        if (p->words.at[i].classes & at->classes)
            return true;
    return false;
}

static bool begin_name(CraftPrefix *p, CraftPoint *at, char c)
{
    bool is_free;
    at->classes = prefix_classes(p, at, &is_free);
    at->free = is_free;
    at->lex = LEX_NAME;
    at->lo = at->len = 0;
    at->hi = (uint16_t)p->words.len;
    return narrow(p, at, c);
}

static bool end_name(CraftPrefix *p, CraftPoint *at)
{
    const PrefixWord *w = at->lo < at->hi && p->words.at[at->lo].text.len == at->len
                              ? &p->words.at[at->lo]
                              : NULL;
    PrefixWord found = {0};
    if (w)
        found = *w;
    return prefix_token(p, at, w ? w->tok : TOK_NAME, w ? &found : NULL);
}

/* ---- numbers ---- */

static bool number_goes_on(CraftPoint *at, char c)
{
    uint8_t d = at->detail;
    bool hex = is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == '_';
    if (d == NUM_X || d == NUM_HEX) {
        at->detail = NUM_HEX;
        return hex;
    }
    if (d == NUM_E && (c == '+' || c == '-')) {
        at->detail = NUM_SIGN;
        return true;
    }
    if (d == NUM_ZERO && strchr("xXoObB", c)) {
        at->detail = NUM_X;
        return true;
    }
    if (is_digit(c) || (c == '_' && d != NUM_E && d != NUM_SIGN)) {
        at->detail = d == NUM_E || d == NUM_SIGN ? NUM_EXPONENT
                     : d == NUM_DOT              ? NUM_FRACTION
                     : d == NUM_ZERO && c != '0' ? NUM_INT
                                                 : d;
        return true;
    }
    if (c == '.' && (d == NUM_ZERO || d == NUM_INT)) {
        at->detail = NUM_DOT;
        return true;
    }
    if ((c == 'e' || c == 'E') && (d <= NUM_FRACTION)) {
        at->detail = NUM_E;
        return true;
    }
    return false;
}

static bool number_is_whole(const CraftPoint *at)
{
    return at->detail != NUM_E && at->detail != NUM_SIGN && at->detail != NUM_X;
}

/* ---- strings ---- */

static bool string_byte(CraftPoint *at, char c)
{
    bool quote = c == (char)at->quote;
    switch (at->detail) {
    case TEXT_ONE:
        at->detail = quote ? TEXT_TWO : c == '\\' ? TEXT_ESCAPE : TEXT_BODY;
        return c != '\n';
    case TEXT_TWO: at->detail = LONG_BODY; return true;
    case TEXT_BODY: at->detail = c == '\\' ? TEXT_ESCAPE : TEXT_BODY; return c != '\n';
    case TEXT_ESCAPE: at->detail = TEXT_BODY; return c != '\n';
    case LONG_ESCAPE: at->detail = LONG_BODY; return true;
    default: /* within triple quotes */
        at->detail = quote       ? (uint8_t)(at->detail == LONG_BODY ? LONG_ONE : LONG_TWO)
                     : c == '\\' ? LONG_ESCAPE
                                 : LONG_BODY;
        return true;
    }
}

/* A byte of a string that goes on; *over: the string ended before it, *whole: with it. */
static bool string_goes_on(CraftPoint *at, char c, bool *over, bool *whole)
{
    bool quote = c == (char)at->quote;
    *over = at->detail == TEXT_TWO && !quote;
    *whole = quote && (at->detail == TEXT_BODY || at->detail == LONG_TWO);
    return *over || *whole || string_byte(at, c);
}

/* ---- operators ---- */

static bool is_operator(Tok k) { return k >= TOK_STARSTAREQ && k <= TOK_ASSIGN; }

static Tok operator_of(const uint8_t *op, uint32_t len)
{
    for (Tok k = TOK_STARSTAREQ; is_operator(k); k++)
        if (strlen(craft_tok_names[k]) == len && !memcmp(craft_tok_names[k], op, len))
            return k;
    return TOK_COUNT;
}

/* Whether an operator that begins so may stand here; *longer: a longer one exists, allowed or not, so that
 * the lexer would go on. */
static bool operator_begins(CraftPrefix *p, const CraftPoint *at, const uint8_t *op, uint32_t len,
                            bool *longer)
{
    bool may = false;
    *longer = false;
    for (Tok k = TOK_STARSTAREQ; is_operator(k); k++) {
        size_t n = strlen(craft_tok_names[k]);
        if (n < len || memcmp(craft_tok_names[k], op, len))
            continue;
        *longer = *longer || n > len;
        may = may || may_take(p, at, k);
    }
    return may;
}

static bool begin_operator(CraftPrefix *p, CraftPoint *at, char c)
{
    bool longer;
    at->op[0] = (uint8_t)c;
    at->op_len = 1;
    if (!operator_begins(p, at, at->op, 1, &longer))
        return false;
    at->lex = longer ? LEX_OP : LEX_GAP;
    return longer || take_token(p, at, operator_of(at->op, 1));
}

/* The byte belongs to the operator by the lexer's rule (longest first): then it must be one that may stand. */
static bool operator_goes_on(CraftPrefix *p, CraftPoint *at, char c, bool *belongs)
{
    uint8_t op[4];
    bool longer = false;
    memcpy(op, at->op, at->op_len);
    op[at->op_len] = (uint8_t)c;
    *belongs = false;
    for (Tok k = TOK_STARSTAREQ; is_operator(k) && at->op_len < 3; k++)
        *belongs = *belongs || (strlen(craft_tok_names[k]) > at->op_len &&
                                !memcmp(craft_tok_names[k], op, at->op_len + 1u));
    if (!*belongs || (op[0] == '.' && op[1] == '.')) {
        *belongs = false;
        return true;
    }
    at->op[at->op_len++] = (uint8_t)c;
    return operator_begins(p, at, at->op, at->op_len, &longer);
}

/* ---- lines ---- */

static bool end_line(CraftPrefix *p, CraftPoint *at)
{
    if (at->depth) {
        at->lex = LEX_GAP;
        return true;
    }
    if (!take_token(p, at, TOK_NEWLINE))
        return false;
    at->lex = LEX_LINE;
    at->width = 0;
    return true;
}

/* The byte after a token, or at the beginning of a line. */
static bool begin_token(CraftPrefix *p, CraftPoint *at, char c)
{
    if (is_blank(c))
        return true;
    if (c ==
        '\r') /* the lexer takes it before a line's end only; the end is asked for when it comes */
        return at->lex == LEX_LINE || at->depth || may_take(p, at, TOK_NEWLINE);
    if (c == '#') {
        at->lex = LEX_COMMENT;
        at->detail = 0;
        return true;
    }
    if (c == '\n')
        return end_line(p, at);
    at->lex = LEX_GAP;
    if (c == '\\') {
        at->lex = LEX_BACKSLASH;
        return true;
    }
    if (is_letter(c))
        return begin_name(p, at, c);
    if (is_digit(c)) {
        at->lex = LEX_NUMBER;
        at->detail = c == '0' ? NUM_ZERO : NUM_INT;
        return may_take(p, at, TOK_INT);
    }
    if (c == '"' || c == '\'') {
        at->lex = LEX_STRING;
        at->detail = TEXT_ONE;
        at->quote = (uint8_t)c;
        return may_take(p, at, TOK_STRING);
    }
    if (c == '.' && !at->have) {
        at->lex = LEX_NUMBER;
        at->detail = NUM_DOT;
        return may_take(p, at, TOK_FLOAT);
    }
    return begin_operator(p, at, c);
}

static bool line_byte(CraftPrefix *p, CraftPoint *at, char c)
{
    if (is_blank(c)) {
        at->width++;
        return at->width < 1024;
    }
    if (c == '\n') { /* a line without a token */
        at->width = 0;
        return true;
    }
    if (c == '\r')
        return true;
    if (c == '#') {
        at->lex = LEX_COMMENT;
        at->detail = 1;
        return true;
    }
    return prefix_begin_line(p, at) && begin_token(p, at, c);
}

static bool comment_byte(CraftPrefix *p, CraftPoint *at, char c)
{
    if (c != '\n')
        return true;
    if (!at->detail)
        return end_line(p, at);
    at->lex = LEX_LINE;
    at->width = 0;
    return true;
}

static bool name_byte(CraftPrefix *p, CraftPoint *at, char c)
{
    if (is_letter(c) || is_digit(c))
        return narrow(p, at, c);
    at->lex = LEX_GAP;
    return end_name(p, at) && c != '"' && c != '\'' && begin_token(p, at, c);
}

static bool number_byte(CraftPrefix *p, CraftPoint *at, char c)
{
    if (number_goes_on(at, c))
        return true;
    bool whole = number_is_whole(at) && !is_letter(c) && !is_digit(c) && c != '.';
    at->lex = LEX_GAP;
    return whole && take_token(p, at, TOK_INT) && begin_token(p, at, c);
}

static bool in_string(CraftPrefix *p, CraftPoint *at, char c)
{
    bool over, whole;
    if (!string_goes_on(at, c, &over, &whole))
        return false;
    if (!over && !whole)
        return true;
    at->lex = LEX_GAP;
    return take_token(p, at, TOK_STRING) && (whole || begin_token(p, at, c));
}

static bool operator_byte(CraftPrefix *p, CraftPoint *at, char c)
{
    bool belongs;
    if (!operator_goes_on(p, at, c, &belongs))
        return false;
    if (belongs)
        return true;
    Tok k = operator_of(at->op, at->op_len);
    at->lex = LEX_GAP;
    return k != TOK_COUNT && take_token(p, at, k) && begin_token(p, at, c);
}

bool craft_prefix_try(CraftPrefix *p, CraftPoint *at, char c)
{
    if (!c)
        return false;
    switch (at->lex) {
    case LEX_LINE: return line_byte(p, at, c);
    case LEX_GAP: return begin_token(p, at, c);
    case LEX_NAME: return name_byte(p, at, c);
    case LEX_NUMBER: return number_byte(p, at, c);
    case LEX_STRING: return in_string(p, at, c);
    case LEX_OP: return operator_byte(p, at, c);
    case LEX_COMMENT: return comment_byte(p, at, c);
    default: /* after a backslash: the line goes on */
        at->lex = c == '\n' ? LEX_GAP : LEX_BACKSLASH;
        return c == '\n' || c == '\r';
    }
}

/* ---- the whole ---- */

CraftPrefix *craft_prefix_open(void)
{
    CraftPrefix *p = heap_alloc(sizeof *p);
    craft_prefix_reset(p);
    return p;
}

void craft_prefix_close(CraftPrefix *p)
{
    if (!p)
        return;
    arena_drop(&p->fixed);
    arena_drop(&p->names);
    heap_free(p);
}

void craft_prefix_reset(CraftPrefix *p)
{
    arena_drop(&p->names);
    if (!p->words.len)
        prefix_words_fixed(p);
    prefix_words_drop(p, W_VAR | W_HELPER | W_KERNEL | W_AWAITED, false);
    p->pending.len = p->pending.cap = 0;
    p->pending.at = NULL;
    p->frames.len = p->blocks.len = 0;
    vec_push(&p->fixed, &p->frames, (PrefixFrame){0});
    vec_push(&p->fixed, &p->blocks, (PrefixBlock){0});
    p->frames_kept = p->blocks_kept = 1;
    p->host_seen = p->version_seen = p->accepting = false;
    p->kernels = p->awaited = 0;
    p->at = prefix_first_point();
}

CraftPoint craft_prefix_point(const CraftPrefix *p) { return p->at; }

bool craft_prefix_accept(CraftPrefix *p, Str bytes)
{
    p->accepting = true;
    bool ok = true;
    for (size_t i = 0; ok && i < bytes.len; i++)
        ok = craft_prefix_try(p, &p->at, bytes.at[i]);
    p->accepting = false;
    p->frames_kept = p->frames.len;
    p->blocks_kept = p->blocks.len;
    return ok;
}

void craft_prefix_forget_tries(CraftPrefix *p)
{
    p->frames.len = p->frames_kept;
    p->blocks.len = p->blocks_kept;
}

bool craft_prefix_at_line(const CraftPrefix *p)
{
    return p->at.lex == LEX_LINE && !p->at.width && !p->at.opens && !p->at.role_next;
}

bool craft_prefix_may_end(const CraftPrefix *p)
{
    return craft_prefix_at_line(p) && p->host_seen && p->kernels && !p->awaited;
}
