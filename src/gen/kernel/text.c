/* Scopes, numbers and forms as text of a language; see text.h. */
#include "gen/kernel/text.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT = 4 };

const char *kernel_take(Arena *arena, Buf *text)
{
    char *copy = buf_take(text, arena);
    buf_free(text);
    return copy;
}

/* ---- scopes ---- */

void kernel_open(KernelText *t, uint64_t axes, const char *head, ...)
{
    KernelScope *s = &t->scope[t->depth];
    uint32_t around = t->depth ? t->scope[t->depth - 1].indent : 0;
    Buf text = {0};
    va_list args;
    *s = (KernelScope){.axes = axes, .indent = around + 1};
    s->name = arena_array(t->arena, const char *, t->nest->values.len);
    s->offset = arena_array(t->arena, bool, t->nest->values.len);
    va_start(args, head);
    buf_vprintf(&text, head, args);
    va_end(args);
    Str rest = buf_view(&text), line;
    while (text.len && str_next(&rest, '\n', &line)) {
        buf_fill(&s->head, ' ', (size_t)around * INDENT);
        buf_printf(&s->head, "%.*s\n", STR_ARG(line));
    }
    buf_free(&text);
    t->depth++;
}

void kernel_close(KernelText *t)
{
    t->depth--;
    KernelScope *s = &t->scope[t->depth], *around = &t->scope[t->depth - 1];
    buf_str(&around->text, buf_view(&s->head));
    buf_str(&around->text, buf_view(&s->text));
    if (t->language->close) {
        buf_fill(&around->text, ' ', (size_t)around->indent * INDENT);
        buf_printf(&around->text, "%s\n", t->language->close);
    }
    buf_free(&s->head);
    buf_free(&s->text);
}

void kernel_line_in(KernelText *t, uint32_t scope, const char *text)
{
    KernelScope *s = &t->scope[scope];
    buf_fill(&s->text, ' ', (size_t)s->indent * INDENT);
    buf_printf(&s->text, "%s\n", text);
}

void kernel_line(KernelText *t, const char *format, ...)
{
    Buf text = {0};
    va_list args;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    kernel_line_in(t, t->depth - 1, text.at);
    buf_free(&text);
}

void kernel_name(KernelText *t, uint32_t scope, NestId id, const char *name)
{
    t->scope[scope].name[id] = name;
}

uint32_t kernel_scope_of(const KernelText *t, uint64_t axes)
{
    for (uint32_t i = t->depth; i-- > 1;)
        if (t->scope[i].axes & axes)
            return i;
    return 0;
}

/* ---- pieces ---- */

const char *kernel_join(PrimReduce reduce)
{
    static const char *const names[] = {[PRIM_SUM] = "sum",
                                        [PRIM_MAX] = "max",
                                        [PRIM_MIN] = "min",
                                        [PRIM_PROD] = "prod",
                                        [PRIM_LOGSUMEXP] = "logsumexp"};
    return names[reduce];
}

const char *kernel_number(const KernelText *t, double x)
{
    const KernelLanguage *l = t->language;
    const char *open = signbit(x) ? "(" : "", *close = signbit(x) ? ")" : "";
    Buf out = {0};
    if (isnan(x)) {
        buf_puts(&out, l->nan);
    } else if (isinf(x) || fabs(x) > 3.4028234663852886e38) {
        buf_puts(&out, x > 0 ? l->infinity : l->minus_infinity);
    } else if (x == trunc(x) && fabs(x) < 1e15) {
        buf_printf(&out, "%s%.1f%s%s", open, x, l->suffix, close);
    } else {
        buf_puts(&out, open);
        size_t from = out.len;
        buf_printf(&out, "%.9g", x);
        buf_printf(&out, "%s%s%s", strpbrk(out.at + from, ".e") ? "" : ".0", l->suffix, close);
    }
    return kernel_take(t->arena, &out);
}

static void put_word(const KernelText *t, const char *word, size_t n, bool call, Buf *out)
{
    buf_printf(out, "%s%.*s%s", call ? "op_" : "as_", (int)n, word,
               call ? "" : t->language->type_end);
}

static const char *put_digits(const KernelText *t, const char *p, Buf *out)
{
    char *end;
    strtod(p, &end);
    size_t n = (size_t)(end - p);
    buf_add(out, p, n);
    buf_printf(out, "%s%s", memchr(p, '.', n) || memchr(p, 'e', n) ? "" : ".0",
               t->language->suffix);
    return end;
}

const char *kernel_form(const KernelText *t, const char *form, const char *const *args)
{
    Buf out = {0};
    for (const char *p = form; *p;) {
        if (*p == '$') {
            buf_puts(&out, args[p[1] - '0']);
            p += 2;
        } else if (isalpha((unsigned char)*p)) {
            size_t n = 0;
            while (isalnum((unsigned char)p[n]) || p[n] == '_')
                n++;
            put_word(t, p, n, p[n] == '(', &out);
            p += n;
        } else if (*p == '"') {
            size_t n = strcspn(p + 1, "\"");
            put_word(t, p + 1, n, false, &out);
            p += n + 2;
        } else if (isdigit((unsigned char)*p)) {
            p = put_digits(t, p, &out);
        } else {
            buf_char(&out, *p++);
        }
    }
    return kernel_take(t->arena, &out);
}
