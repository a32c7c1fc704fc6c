/* Which function a line of kernel text stands in, and from where that is called. Not a C++ parser: words and
 * brackets outside comments, strings and preprocessor lines (entry.c's scanner). In: text. Out: functions with
 * their lines and parameters; the one line from which a function is called, where there is only one. */
#include "twin/callers.h"

#include "twin/scan.h"

enum { MOST_FUNCTIONS = 512, MOST_CALLS = 4096, MOST_DEPTH = 8 };

static bool is_control(Str word)
{
    static const char *const words[] = {"if",    "for",      "while",         "switch",
                                        "catch", "return",   "sizeof",        "alignas",
                                        "else",  "decltype", "static_assert", "defined"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is(word, words[i]))
            return true;
    return false;
}

/* From behind "(": where its ")" stands behind. */
static void skip_round(TwinScanner *s)
{
    Str token;
    for (int depth = 1; depth > 0 && twin_scan_next(s, &token);)
        depth += (token.len && token.at[0] == '(') - (token.len && token.at[0] == ')');
}

/* After the parameters: true where a body begins, past words like const and past a list of initialisers. */
static bool at_body(TwinScanner *s)
{
    Str token;
    bool initialisers = false;
    for (uint32_t n = 0; n < 256; n++) {
        TwinScanner before = *s;
        if (!twin_scan_next(s, &token) || !token.len)
            return false;
        char c = token.at[0];
        if (c == '{' && !initialisers)
            return true;
        if (c == ':')
            initialisers = true;
        else if (c == '(')
            skip_round(s);
        else if (c == '{')
            initialisers = false; /* a member's braces, or the body: inside in both cases */
        if (c == ';' || c == '}' || c == '=' || (c == ',' && !initialisers)) {
            *s = before;
            return false;
        }
        if (c == '{')
            return true;
    }
    return false;
}

static void add_call(Arena *arena, TwinFunctions *all, Str name, uint32_t line, uint32_t in)
{
    if (all->calls.len < MOST_CALLS)
        vec_push(arena, &all->calls, ((TwinCall){name, line, in}));
}

/* Everything inside a function's body: calls, up to its last "}". */
static void read_body(Arena *arena, TwinScanner *s, TwinFunctions *all, uint32_t in)
{
    Str token, before = {0};
    uint32_t line = 0;
    for (int depth = 1; depth > 0 && twin_scan_next(s, &token);) {
        char c = token.len ? token.at[0] : 0;
        depth += (c == '{') - (c == '}');
        if (c == '(' && before.len && twin_scan_is_word(before.at[0]) && !is_control(before))
            add_call(arena, all, before, line, in);
        if (c != '>' && c != '<') { /* in Compute<half>(x) the name stands before the brackets */
            before = token;
            line = s->line;
        }
        all->functions.at[in].last = s->line;
    }
}

static void read_parameters(Arena *arena, Str text, TwinFunction *f)
{
    TwinScanner s = {.text = text, .line = 1};
    Str token, last = {0};
    int depth = 0;
    while (twin_scan_next(&s, &token)) {
        char c = token.len ? token.at[0] : 0;
        depth += (c == '(' || c == '<' || c == '[') - (c == ')' || c == '>' || c == ']');
        if (c == ',' && depth == 0) {
            vec_push(arena, &f->parameters, last);
            last = (Str){0};
        } else if (c && twin_scan_is_word(c)) {
            last = token;
        }
    }
    if (last.len)
        vec_push(arena, &f->parameters, last);
}

TwinFunctions twin_functions(Arena *arena, Str text)
{
    TwinFunctions all = {0};
    TwinScanner s = {.text = text, .line = 1};
    Str token, before = {0};
    uint32_t line = 0;
    while (twin_scan_next(&s, &token)) {
        bool opens = token.len && token.at[0] == '(' && before.len &&
                     twin_scan_is_word(before.at[0]) && !is_control(before);
        size_t from = s.at;
        Str name = before;
        before = token;
        if (!opens) {
            line = s.line;
            continue;
        }
        skip_round(&s);
        TwinFunction f = {.name = name, .first = line, .last = line};
        read_parameters(arena, str_slice(text, from, s.at ? s.at - 1 : 0), &f);
        if (!at_body(&s) || all.functions.len >= MOST_FUNCTIONS)
            continue;
        vec_push(arena, &all.functions, f);
        read_body(arena, &s, &all, all.functions.len - 1);
        before = (Str){0};
    }
    return all;
}

const TwinFunction *twin_function_at(const TwinFunctions *all, uint32_t line)
{
    const TwinFunction *found = NULL;
    for (uint32_t i = 0; i < all->functions.len; i++)
        if (all->functions.at[i].first <= line && line <= all->functions.at[i].last)
            found = &all->functions.at[i];
    return found;
}

/* The only call of a function; NULL: none, or several. */
static const TwinCall *only_call(const TwinFunctions *all, const TwinFunction *f)
{
    const TwinCall *found = NULL;
    for (uint32_t i = 0; i < all->calls.len; i++) {
        const TwinCall *call = &all->calls.at[i];
        if (!str_equal(call->name, f->name))
            continue;
        if (found)
            return NULL;
        found = call;
    }
    return found;
}

uint32_t twin_caller_of(const TwinFunctions *all, uint32_t line)
{
    const TwinFunction *f = twin_function_at(all, line);
    const TwinCall *call = f ? only_call(all, f) : NULL;
    return call ? call->line : 0;
}

uint32_t twin_caller_near(const TwinFunctions *all, uint32_t line, uint32_t near)
{
    const TwinFunction *f = twin_function_at(all, line), *in = twin_function_at(all, near);
    uint32_t behind = 0, before = 0;
    if (!f || !in || f == in)
        return 0;
    for (uint32_t i = 0; i < all->calls.len; i++) {
        const TwinCall *call = &all->calls.at[i];
        if (!str_equal(call->name, f->name) || &all->functions.at[call->in] != in)
            continue;
        if (call->line >= near && (!behind || call->line < behind))
            behind = call->line;
        if (call->line < near && call->line > before)
            before = call->line;
    }
    return behind ? behind : before;
}

bool twin_common_caller(const TwinFunctions *all, uint32_t *a, uint32_t *b)
{
    uint32_t up = *a;
    for (int i = 0; up && i < MOST_DEPTH; i++, up = twin_caller_of(all, up)) {
        uint32_t other = *b;
        for (int k = 0; other && k < MOST_DEPTH; k++, other = twin_caller_of(all, other)) {
            const TwinFunction *f = twin_function_at(all, up);
            if (!f || f != twin_function_at(all, other))
                continue;
            *a = up;
            *b = other;
            return true;
        }
    }
    return false;
}

static bool is_parameter(const TwinFunction *f, Str word)
{
    for (uint32_t i = 0; i < f->parameters.len; i++)
        if (str_equal(word, f->parameters.at[i]))
            return true;
    return false;
}

static Str line_at(Str text, uint32_t line)
{
    Str at = {0};
    for (uint32_t n = 0; n < line; n++)
        if (!str_next(&text, '\n', &at))
            return (Str){0};
    return at;
}

/* Whether a parameter stands among words. */
static bool names_parameter(const TwinFunction *f, Str words)
{
    TwinScanner s = {.text = words, .line = 1};
    Str token;
    while (twin_scan_next(&s, &token))
        if (token.len && is_parameter(f, token))
            return true;
    return false;
}

/* Whether a line before `line` begins with a word, or with a type and the word, and has a parameter after it. */
static bool made_of_parameters(const TwinFunction *f, Str text, uint32_t line, Str word)
{
    for (uint32_t n = line - 1; n > f->first; n--) {
        Str at = line_at(text, n), token;
        TwinScanner s = {.text = at, .line = 1};
        for (int i = 0; i < 4 && twin_scan_next(&s, &token); i++)
            if (str_equal(token, word))
                return names_parameter(f, str_slice(at, s.at, at.len));
    }
    return false;
}

bool twin_count_is_parameter(const TwinFunctions *all, Str text, uint32_t line)
{
    const TwinFunction *f = twin_function_at(all, line);
    Str at = line_at(text, line), token, words[16];
    TwinScanner s = {.text = at, .line = 1};
    uint32_t n = 0, argument = 0;
    int depth = 0;
    while (f &&
           twin_scan_next(&s, &token)) { /* copies are of (destination, source, count, padding) */
        char c = token.len ? token.at[0] : 0;
        depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
        argument += c == ',' && depth == 1;
        if (c && twin_scan_is_word(c) && argument == 2 && n < 16)
            words[n++] = token;
    }
    for (uint32_t i = 0; i < n; i++)
        if (is_parameter(f, words[i]) || made_of_parameters(f, text, line, words[i]))
            return true;
    return false;
}

uint32_t twin_word_line(Str text, Str word)
{
    TwinScanner s = {.text = text, .line = 1};
    Str token;
    while (twin_scan_next(&s, &token))
        if (str_equal(token, word))
            return s.line;
    return 0;
}

bool twin_offset_is_parameter(const TwinFunctions *all, Str text, uint32_t line)
{
    const TwinFunction *f = twin_function_at(all, line);
    Str at = line_at(text, line), token, first = {0};
    TwinScanner s = {.text = at, .line = 1};
    while (f && twin_scan_next(&s, &token)) {
        if (!token.len || token.at[0] != '[')
            continue;
        if (!twin_scan_next(&s, &first) || !twin_scan_next(&s, &token))
            return false;
        return token.len && token.at[0] == ']' && is_parameter(f, first);
    }
    return false;
}
