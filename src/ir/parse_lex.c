/* Tokens of the text form. In: text. Out: tokens, a LINE after each line that has any. */
#include "ir/parse_int.h"

#include <string.h>

typedef struct Lexer {
    Str text;
    size_t at, line_start;
    uint32_t line;
} Lexer;

static char peek(const Lexer *x, size_t ahead)
{
    return x->at + ahead < x->text.len ? x->text.at[x->at + ahead] : '\0';
}

static bool is_letter(char c) { return c == '_' || ((c | 32) >= 'a' && (c | 32) <= 'z'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Letters, digits, and a dot before a letter: "t.start". */
static size_t name_length(const Lexer *x)
{
    size_t n = 1;
    while (is_letter(peek(x, n)) || is_digit(peek(x, n)) ||
           (peek(x, n) == '.' && is_letter(peek(x, n + 1))))
        n++;
    return n;
}

/* Digits with a fraction and an exponent; "0..9" is three tokens. */
static size_t number_length(const Lexer *x)
{
    size_t n = 0;
    while (is_digit(peek(x, n)))
        n++;
    if (peek(x, n) == '.' && is_digit(peek(x, n + 1)))
        for (n++; is_digit(peek(x, n));)
            n++;
    size_t sign = peek(x, n + 1) == '-' || peek(x, n + 1) == '+';
    if (peek(x, n) == 'e' && is_digit(peek(x, n + 1 + sign)))
        for (n += 1 + sign; is_digit(peek(x, n));)
            n++;
    return n;
}

static size_t text_length(const Lexer *x)
{
    size_t n = 1;
    while (x->at + n < x->text.len && peek(x, n) != '"' && peek(x, n) != '\n')
        n += peek(x, n) == '\\' && peek(x, n + 1) != '\n' ? 2 : 1;
    return peek(x, n) == '"' ? n + 1 : 0;
}

static size_t sign_length(const Lexer *x)
{
    static const char *const two[] = {"<-", "..", ":+", "//", "==", "!=", "<=", ">="};
    for (size_t i = 0; i < sizeof two / sizeof *two; i++)
        if (peek(x, 0) == two[i][0] && peek(x, 1) == two[i][1])
            return 2;
    return peek(x, 0) && strchr("()[]{},=@+-*/%<>'", peek(x, 0)) ? 1 : 0;
}

static void add_token(Lexer *x, Arena *arena, IrTokens *tokens, IrTokenKind kind, size_t n)
{
    IrToken t = {kind,
                 {x->text.at + x->at, n},
                 {x->line, (uint32_t)(x->at - x->line_start) + 1, (uint32_t)n}};
    vec_push(arena, tokens, t);
    x->at += n;
}

static void end_line(Lexer *x, Arena *arena, IrTokens *tokens)
{
    if (tokens->len && vec_last(tokens).kind != IR_TOK_LINE)
        add_token(x, arena, tokens, IR_TOK_LINE, 0);
}

bool ir_lex(Arena *arena, Str text, IrTokens *tokens, Diag *diag)
{
    Lexer x = {.text = text, .line = 1};
    while (x.at < text.len) {
        char c = peek(&x, 0);
        size_t n = 0;
        IrTokenKind kind = IR_TOK_SIGN;
        if (c == '\n') {
            end_line(&x, arena, tokens);
            x.at++;
            x.line++;
            x.line_start = x.at;
            continue;
        }
        if (c == ' ') {
            x.at++;
            continue;
        }
        if (is_letter(c))
            n = name_length(&x), kind = IR_TOK_NAME;
        else if (is_digit(c))
            n = number_length(&x), kind = IR_TOK_NUMBER;
        else if (c == '"')
            n = text_length(&x), kind = IR_TOK_TEXT;
        else
            n = sign_length(&x);
        if (n == 0) {
            Span at = {x.line, (uint32_t)(x.at - x.line_start) + 1, 1};
            diag_error(diag, "I001", at, "no token starts here");
            return false;
        }
        add_token(&x, arena, tokens, kind, n);
    }
    end_line(&x, arena, tokens);
    add_token(&x, arena, tokens, IR_TOK_END, 0);
    return true;
}
