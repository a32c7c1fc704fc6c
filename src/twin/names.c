/* Names that a candidate's text has no business with. The headers' own names (acraft::, acraft_core,
 * Record) and assembler labels would let a kernel write records by hand. In: C++ text. Out: the first
 * such name. It is a fence, not a wall: the simulator believes no record, and cores hold no memory. */
#include "twin/twin_int.h"

#include <ctype.h>
#include <string.h>

typedef struct Lexer {
    Str rest;
    bool pastes; /* ## was seen */
    Str before;  /* the identifier before this one */
} Lexer;

typedef enum TokenKind { TOKEN_END, TOKEN_NAME, TOKEN_STRING, TOKEN_OTHER } TokenKind;

static bool is_start(char c) { return isalpha((unsigned char)c) || c == '_' || (c & 0x80); }
static bool is_part(char c) { return is_start(c) || isdigit((unsigned char)c); }

static void skip(Lexer *lex, size_t n)
{
    lex->rest = str_slice(lex->rest, n < lex->rest.len ? n : lex->rest.len, lex->rest.len);
}

static void skip_past(Lexer *lex, Str mark)
{
    ptrdiff_t at = str_find(lex->rest, mark);
    skip(lex, at < 0 ? lex->rest.len : (size_t)at + mark.len);
}

/* After the opening quote; the contents. */
static Str quoted(Lexer *lex, char quote)
{
    Str all = lex->rest;
    size_t n = 0;
    while (n < all.len && all.at[n] != quote && all.at[n] != '\n')
        n += all.at[n] == '\\' ? 2 : 1;
    n = n < all.len ? n : all.len;
    skip(lex, n + 1);
    return str_slice(all, 0, n);
}

/* After R": up to )delimiter". */
static Str raw_quoted(Lexer *lex)
{
    char mark[24] = ")";
    size_t n = 0;
    Str all = lex->rest;
    while (n < all.len && n < 16 && all.at[n] != '(')
        n++;
    if (n >= all.len || all.at[n] != '(')
        return quoted(lex, '"');
    memcpy(mark + 1, all.at, n);
    mark[n + 1] = '"';
    skip(lex, n + 1);
    skip_past(lex, str_from(mark));
    return str_slice(all, n + 1, all.len - lex->rest.len);
}

static bool at_raw_string(Str s)
{
    static const char *const heads[] = {"R\"", "LR\"", "uR\"", "UR\"", "u8R\""};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (str_starts(s, heads[i]))
            return true;
    return false;
}

static bool skip_blank(Lexer *lex)
{
    if (str_starts(lex->rest, "//"))
        skip_past(lex, STR("\n"));
    else if (str_starts(lex->rest, "/*"))
        skip_past(lex, STR("*/"));
    else if (isspace((unsigned char)lex->rest.at[0]))
        skip(lex, 1);
    else
        return false;
    return true;
}

static TokenKind next_token(Lexer *lex, Str *token)
{
    while (lex->rest.len && skip_blank(lex))
        ;
    if (!lex->rest.len)
        return TOKEN_END;
    if (at_raw_string(lex->rest)) {
        skip_past(lex, STR("\""));
        *token = raw_quoted(lex);
        return TOKEN_STRING;
    }
    char c = lex->rest.at[0];
    if (is_start(c)) {
        size_t n = 1;
        while (n < lex->rest.len && is_part(lex->rest.at[n]))
            n++;
        *token = str_slice(lex->rest, 0, n);
        skip(lex, n);
        return TOKEN_NAME;
    }
    lex->pastes = lex->pastes || str_starts(lex->rest, "##") || str_starts(lex->rest, "%:%:");
    skip(lex, 1);
    if (isdigit((unsigned char)c)) /* with its separators and suffix: 1'000u is no character */
        while (lex->rest.len &&
               (is_part(lex->rest.at[0]) || (lex->rest.at[0] == '\'' && lex->rest.len > 1 &&
                                             isalnum((unsigned char)lex->rest.at[1]))))
            skip(lex, 1);
    if (c != '"' && c != '\'')
        return TOKEN_OTHER;
    *token = quoted(lex, c);
    return c == '"' ? TOKEN_STRING : TOKEN_OTHER;
}

static bool is_any(Str name, const char *const *list)
{
    for (; *list; list++)
        if (str_is(name, *list))
            return true;
    return false;
}

/* A text may declare a Record of its own. */
static bool declares(Str before)
{
    static const char *const words[] = {"struct", "class",     "union", "enum",
                                        "using",  "namespace", NULL};
    return is_any(before, words);
}

/* Attributes that keep a compiler from watching a function. */
static bool is_unwatched(Str name)
{
    return str_find(name, STR("no_sanitize")) >= 0 || str_find(name, STR("sancov")) >= 0 ||
           str_find(name, STR("disable_sanitizer_instrumentation")) >= 0;
}

static bool is_ours(const Lexer *lex, Str name, bool *own_record)
{
    static const char *const records[] = {"Record", "RecordText", "RecordView", "RecordOperand",
                                          NULL};
    static const char *const labels[] = {"asm", "__asm", "__asm__", NULL};
    if (is_unwatched(name))
        return true;
    if (is_any(name, records)) {
        *own_record = *own_record || declares(lex->before);
        return !*own_record;
    }
    return str_starts(name, "acraft") || is_any(name, labels);
}

/* Whether words of the text, put together by ##, spell `goal` or begin with it. At most three of them:
 * short names in a text with macros would spell anything. */
static bool spells(Str goal, const NameList *words, int parts)
{
    for (uint32_t i = 0; i < words->len; i++) {
        Str word = str_from(words->at[i]);
        bool whole = word.len >= goal.len && memcmp(word.at, goal.at, goal.len) == 0;
        if (whole && parts < 3)
            return true;
        if (parts > 1 && word.len > 1 && word.len < goal.len &&
            memcmp(word.at, goal.at, word.len) == 0 &&
            spells(str_slice(goal, word.len, goal.len), words, parts - 1))
            return true;
    }
    return false;
}

enum { MOST_WORDS = 20000 };

/* Only parts of the goal matter: pieces of it, and words that its last piece begins. */
static void keep_word(Arena *arena, NameList *words, Str word, Str goal)
{
    bool part = false;
    for (size_t at = 0; at < goal.len && !part; at++) {
        size_t n = goal.len - at < word.len ? goal.len - at : word.len;
        part = memcmp(goal.at + at, word.at, n) == 0;
    }
    for (uint32_t i = 0; part && i < words->len; i++)
        part = !str_is(word, words->at[i]);
    if (part && words->len < MOST_WORDS)
        vec_push(arena, words, str_dup(arena, word));
}

/* Without the ends of lines that a backslash hides. */
static Str unspliced(Arena *arena, Str text)
{
    char *copy = arena_alloc(arena, text.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        Str rest = str_slice(text, i, text.len);
        if (str_starts(rest, "\\\n") || str_starts(rest, "\\\r\n"))
            i += rest.at[1] == '\n' ? 1 : 2;
        else
            copy[n++] = text.at[i];
    }
    return (Str){copy, n};
}

const char *twin_names_foreign(Arena *arena, Str text)
{
    Lexer lex = {.rest = unspliced(arena, text)};
    NameList words = {0};
    Str token, goal = STR("acraft");
    bool own_record = false;
    Buf joined = {0}; /* strings side by side are one */
    const char *found = NULL;
    for (TokenKind kind; !found && (kind = next_token(&lex, &token)) != TOKEN_END;) {
        if (kind == TOKEN_STRING)
            buf_str(&joined, token);
        else
            buf_free(&joined);
        if (kind == TOKEN_STRING && (str_find(buf_view(&joined), STR("acraft_")) >= 0 ||
                                     str_find(buf_view(&joined), STR("acraft-unsupported")) >= 0))
            found = "acraft_";
        if (kind != TOKEN_NAME)
            continue;
        if (is_ours(&lex, token, &own_record))
            found = str_dup(arena, token);
        keep_word(arena, &words, token, goal);
        lex.before = token;
    }
    buf_free(&joined);
    if (!found && lex.pastes && spells(goal, &words, 3))
        found = "acraft (put together by ##)";
    return found;
}

/* What this machine's compiler, processor and system have and the board's have not: a kernel that asks for them is
 * another one there. */
static bool is_machine(Str name)
{
    static const char *const heads[] = {"__x86",
                                        "__amd64",
                                        "__i386",
                                        "__k8",
                                        "__SSE",
                                        "__AVX",
                                        "__MMX",
                                        "__FXSR",
                                        "__linux",
                                        "__gnu_linux",
                                        "__unix",
                                        "__GLIBC",
                                        "__SANITIZE",
                                        "__builtin_ia32",
                                        "__builtin_cpu_",
                                        "__builtin_readcyclecounter",
                                        "__builtin_readsteadycounter",
                                        "__rdtsc",
                                        NULL};
    static const char *const tails[] = {"_sanitizer", NULL};
    for (const char *const *head = heads; *head; head++)
        if (str_starts(name, *head))
            return true;
    for (const char *const *tail = tails; *tail; tail++)
        if (str_ends(name, *tail))
            return true;
    return false;
}

/* __has_include(<linux/version.h>): `lex` stands behind the word. */
static bool asks_for_system_header(const Lexer *lex)
{
    static const char *const systems[] = {"linux/", "sys/",     "bits/",      "asm/",    "gnu/",
                                          "x86",    "unistd.h", "features.h", "cpuid.h", NULL};
    Lexer ahead = *lex;
    Str token;
    for (int i = 0; i < 2; i++)
        if (next_token(&ahead, &token) != TOKEN_OTHER)
            return false;
    for (const char *const *system = systems; *system; system++)
        if (str_starts(ahead.rest, *system))
            return true;
    return str_starts(ahead.rest, "immintrin") || str_starts(ahead.rest, "emmintrin");
}

const char *twin_names_machine(Arena *arena, Str text)
{
    Lexer lex = {.rest = unspliced(arena, text)};
    Str token;
    for (TokenKind kind; (kind = next_token(&lex, &token)) != TOKEN_END;)
        if (kind == TOKEN_NAME &&
            (is_machine(token) || (str_is(token, "__has_include") && asks_for_system_header(&lex))))
            return str_dup(arena, token);
    return NULL;
}

void twin_names_refuse(Arena *arena, const char *name, const char *path, Verdict *verdict)
{
    verdict_fail(verdict, VERDICT_NOT_COMPILED, STAGE_COMPILE,
                 strstr(name, "asm")
                     ? "inline assembly is disabled"
                     : str_format(arena, "%s uses '%s', which no AscendC header has", path, name));
}
