/* Text of a model file for a class of another name; see shell.h. In: the source. Out: pieces of it. */
#include "torch/shell.h"

#include "torch/py.h"

typedef struct Shell {
    Arena *arena;
    Str source;
    const Py *module, *model;
    bool *wanted; /* statements of the module that are repeated */
} Shell;

static bool in_word(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool has_word(Str text, Str word)
{
    for (size_t i = 0; word.len && i + word.len <= text.len; i++)
        if ((i == 0 || !in_word(text.at[i - 1])) &&
            (i + word.len == text.len || !in_word(text.at[i + word.len])) &&
            str_equal(str_slice(text, i, i + word.len), word))
            return true;
    return false;
}

/* The text with one word in place of another. */
static Str with_word(Arena *arena, Str text, Str from, Str to)
{
    Buf out = {0};
    for (size_t i = 0; i < text.len;) {
        size_t end = i;
        while (end < text.len && in_word(text.at[end]))
            end++;
        Str word = str_slice(text, i, end);
        buf_str(&out, end > i ? (str_equal(word, from) ? to : word) : str_slice(text, i, i + 1));
        i = end > i ? end : i + 1;
    }
    Str made = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return made;
}

/* ---- lines ---- */

static size_t line_start(Str source, uint32_t line)
{
    size_t at = 0;
    for (uint32_t n = 1; n < line && at < source.len; n++) {
        ptrdiff_t end = str_find(str_slice(source, at, source.len), STR("\n"));
        at = end < 0 ? source.len : at + (size_t)end + 1;
    }
    return at;
}

/* Decorators stand before what they decorate. */
static uint32_t first_line(const Py *stmt)
{
    bool decorated = (stmt->kind == PY_DEF || stmt->kind == PY_CLASS) && stmt->b &&
                     stmt->b->kids.len;
    uint32_t line = decorated ? stmt->b->kids.at[0]->at.line : stmt->at.line;
    return line < stmt->at.line ? line : stmt->at.line;
}

static Str lines_of(const Shell *s, const Py *stmt, const Py *next, uint32_t end)
{
    size_t from = line_start(s->source, first_line(stmt));
    size_t to = next ? line_start(s->source, first_line(next)) : line_start(s->source, end);
    Str text = str_slice(s->source, from, to < from ? from : to);
    while (text.len && (text.at[text.len - 1] == '\n' || text.at[text.len - 1] == ' '))
        text.len--;
    return text;
}

static Str statement_text(const Shell *s, uint32_t i)
{
    const Py *next = i + 1 < s->module->kids.len ? s->module->kids.at[i + 1] : NULL;
    return lines_of(s, s->module->kids.at[i], next, UINT32_MAX);
}

/* ---- what the constructor needs ---- */

static bool names_one_of(const Py *target, Str text)
{
    bool found = target->kind == PY_NAME && has_word(text, target->text);
    for (uint32_t i = 0; i < target->kids.len && !found; i++)
        found = names_one_of(target->kids.at[i], text);
    return found;
}

static bool is_named_in(const Py *stmt, Str text)
{
    if (stmt->kind == PY_DEF || stmt->kind == PY_CLASS)
        return has_word(text, stmt->text);
    for (uint32_t i = 0; stmt->kind == PY_ASSIGN && i < stmt->kids.len; i++)
        if (names_one_of(stmt->kids.at[i], text))
            return true;
    return stmt->kind == PY_ANNASSIGN && names_one_of(stmt->a, text);
}

static bool is_import(const Py *stmt) { return stmt->kind == PY_IMPORT || stmt->kind == PY_FROM; }

static bool is_asked(const Shell *s, const Py *stmt, Str own)
{
    if (is_named_in(stmt, own))
        return true;
    for (uint32_t i = 0; i < s->module->kids.len; i++)
        if (s->wanted[i] && s->module->kids.at[i] != stmt && !is_import(s->module->kids.at[i]) &&
            is_named_in(stmt, statement_text(s, i)))
            return true;
    return false;
}

static Str prelude_of(Shell *s, Str own)
{
    Buf out = {0};
    bool more = own.len > 0;
    while (more) {
        more = false;
        for (uint32_t i = 0; i < s->module->kids.len; i++) {
            const Py *stmt = s->module->kids.at[i];
            if (s->wanted[i] || stmt == s->model || !(is_import(stmt) || is_asked(s, stmt, own)))
                continue;
            s->wanted[i] = more = true;
        }
    }
    for (uint32_t i = 0; i < s->module->kids.len; i++)
        if (s->wanted[i])
            buf_printf(&out, "%.*s\n", STR_ARG(statement_text(s, i)));
    Str text = str_copy(s->arena, buf_view(&out));
    buf_free(&out);
    return text;
}

/* ---- the class ---- */

/* What stands in the brackets that open after `from`. */
static Str in_brackets(Str source, size_t from)
{
    int depth = 0;
    size_t start = from;
    for (size_t i = from; i < source.len; i++) {
        depth += source.at[i] == '(' || source.at[i] == '[';
        if (source.at[i] == '(' && depth == 1)
            start = i + 1;
        depth -= source.at[i] == ')' || source.at[i] == ']';
        if (source.at[i] == ')' && depth == 0)
            return str_slice(source, start, i);
        if (depth == 0 && source.at[i] == ':')
            break;
    }
    return (Str){0};
}

static size_t place_of(Str source, const Py *node)
{
    size_t at = line_start(source, node->at.line) + (node->at.col ? node->at.col - 1 : 0);
    return at < source.len ? at : source.len;
}

static const Py *method(const Py *class, const char *name, const Py **next)
{
    for (uint32_t i = 0; i < class->a->kids.len; i++) {
        const Py *m = class->a->kids.at[i];
        if (m->kind != PY_DEF || !str_is(m->text, name))
            continue;
        *next = i + 1 < class->a->kids.len ? class->a->kids.at[i + 1] : NULL;
        return m;
    }
    return NULL;
}

/* The class named Model, else the last one, as the reader takes it. */
static const Py *class_model(const Py *module, uint32_t *end)
{
    const Py *found = NULL;
    for (uint32_t i = 0; i < module->kids.len; i++) {
        const Py *stmt = module->kids.at[i];
        if (stmt->kind != PY_CLASS || !stmt->a ||
            (found && str_is(found->text, "Model") && !str_is(stmt->text, "Model")))
            continue;
        found = stmt;
        *end = i + 1 < module->kids.len ? first_line(module->kids.at[i + 1]) : UINT32_MAX;
    }
    return found;
}

bool torch_shell(Arena *arena, Str source, const char *name, TorchShell *shell, Diag *diag)
{
    Shell s = {.arena = arena, .source = source, .module = py_parse(arena, source, diag)};
    const Py *next = NULL;
    uint32_t end = UINT32_MAX;
    *shell = (TorchShell){0};
    s.model = s.module ? class_model(s.module, &end) : NULL;
    const Py *forward = s.model ? method(s.model, "forward", &next) : NULL;
    if (!forward) {
        if (s.module)
            diag_error(diag, "T026", (Span){0}, "the file has no class with a forward");
        return false;
    }
    s.wanted = arena_array(arena, bool, s.module->kids.len + 1);
    shell->name = s.model->text;
    shell->parameters = in_brackets(source, place_of(source, forward));
    shell->bases = s.model->kids.len ? in_brackets(source, place_of(source, s.model)) : (Str){0};
    const Py *init = method(s.model, "__init__", &next);
    if (init)
        shell->constructor = with_word(arena, lines_of(&s, init, next, end), s.model->text,
                                       str_from(name));
    Str own = str_from(str_format(arena, "%.*s %.*s %.*s", STR_ARG(shell->constructor),
                                  STR_ARG(shell->bases), STR_ARG(shell->parameters)));
    shell->prelude = prelude_of(&s, own);
    return true;
}
