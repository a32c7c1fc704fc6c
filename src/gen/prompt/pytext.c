/* String literals of Python source: found by a scanner that knows comments, quotes and names. */
#include "gen/prompt/pytext.h"

#include "base/buf.h"
#include <ctype.h>
#include <string.h>

typedef struct Scan {
    Arena *arena;
    Str s;
    size_t at;
    PyTexts *out;
    const char *name, *function;
    bool line_start;
} Scan;

static char peek(const Scan *c, size_t ahead)
{
    return c->at + ahead < c->s.len ? c->s.at[c->at + ahead] : 0;
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* ---- literals ---- */

static void add_escape(Scan *c, Buf *out)
{
    static const char from[] = "ntr\\'\"0", to[] = "\n\t\r\\'\"";
    char e = peek(c, 1);
    const char *known = e ? strchr(from, e) : NULL;
    c->at += 2;
    if (e == '\n')
        return; /* the line goes on */
    if (known && e != '0')
        buf_char(out, to[known - from]);
    else if (known)
        buf_char(out, 0);
    else
        buf_printf(out, "\\%c", e);
}

static void take_literal(Scan *c, bool format, bool raw)
{
    char quote = peek(c, 0);
    size_t width = peek(c, 1) == quote && peek(c, 2) == quote ? 3 : 1;
    Buf text = {0};
    c->at += width;
    while (c->at < c->s.len) {
        bool ends = peek(c, 0) == quote &&
                    (width == 1 || (peek(c, 1) == quote && peek(c, 2) == quote));
        if (ends)
            break;
        if (peek(c, 0) == '\\' && !raw)
            add_escape(c, &text);
        else
            buf_char(&text, c->s.at[c->at++]);
    }
    c->at += width;
    PyText t = {str_copy(c->arena, buf_view(&text)), format, c->name, c->function};
    vec_push(c->arena, c->out, t);
    buf_free(&text);
    c->name = "";
}

/* ---- names ---- */

/* NAME = at the start of a line names the literal that follows; def NAME opens a function. */
static void take_name(Scan *c, bool at_start)
{
    size_t from = c->at;
    while (is_word(peek(c, 0)))
        c->at++;
    Str word = str_slice(c->s, from, c->at);
    char quote = peek(c, 0);
    if ((quote == '"' || quote == '\'') && word.len <= 2) {
        take_literal(c, strpbrk(str_dup(c->arena, word), "fF"),
                     strpbrk(str_dup(c->arena, word), "rR"));
        return;
    }
    if (str_is(word, "def")) {
        size_t name = ++c->at;
        while (is_word(peek(c, 0)))
            c->at++;
        c->function = str_dup(c->arena, str_slice(c->s, name, c->at));
        return;
    }
    if (!at_start)
        return;
    size_t after = c->at;
    while (after < c->s.len && c->s.at[after] == ' ')
        after++;
    bool assigns = after + 1 < c->s.len && c->s.at[after] == '=' && c->s.at[after + 1] != '=';
    c->function = "";
    c->name = assigns ? str_dup(c->arena, word) : "";
}

void pytext_read(Arena *arena, Str source, PyTexts *texts)
{
    Scan c = {.arena = arena, .s = source, .out = texts, .name = "", .function = ""};
    bool start = true;
    while (c.at < c.s.len) {
        char ch = peek(&c, 0);
        if (ch == '#') {
            while (c.at < c.s.len && peek(&c, 0) != '\n')
                c.at++;
        } else if (ch == '"' || ch == '\'') {
            take_literal(&c, false, false);
            start = false;
        } else if (is_word(ch)) {
            take_name(&c, start);
            start = false;
        } else {
            start = ch == '\n';
            c.at++;
        }
    }
}

bool pytext_named(const PyTexts *texts, const char *name, Str *text)
{
    for (uint32_t i = 0; i < texts->len; i++)
        if (!strcmp(texts->at[i].name, name)) {
            *text = texts->at[i].text;
            return true;
        }
    return false;
}

/* ---- filling ---- */

static const PyFill *find(const PyFill *fills, Str name)
{
    for (; fills->name; fills++)
        if (str_is(name, fills->name))
            return fills;
    return NULL;
}

bool pytext_fill(Arena *arena, Str f, const PyFill *fills, Str *text, const char **missing)
{
    Buf out = {0};
    *missing = NULL;
    for (size_t i = 0; i < f.len && !*missing; i++) {
        bool twice = i + 1 < f.len && f.at[i + 1] == f.at[i];
        if ((f.at[i] == '{' || f.at[i] == '}') && twice) {
            buf_char(&out, f.at[i++]);
        } else if (f.at[i] == '{') {
            Str rest = str_slice(f, i + 1, f.len);
            ptrdiff_t end = str_find(rest, STR("}"));
            Str name = str_slice(rest, 0, end < 0 ? 0 : (size_t)end);
            const PyFill *fill = find(fills, name);
            if (fill)
                buf_str(&out, fill->text);
            else
                *missing = str_dup(arena, name);
            i += name.len + 1;
        } else {
            buf_char(&out, f.at[i]);
        }
    }
    *text = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return !*missing;
}
