/* MultiKernelBench's two answer forms as texts by path. In: Python text with six string
 * assignments, or one JSON object. Out: the texts; nothing is executed. */
#include "eval/candidate_int.h"

#include "base/file.h"
#include "torch/py.h"
#include <jansson.h>
#include <string.h>

/* ---- six strings ---- */

enum { SIX = 6, MOST_DEPTH = 50 };

static const char *const six_names[SIX] = {"project_json_src",  "host_tiling_src",
                                           "host_operator_src", "kernel_src",
                                           "python_bind_src",   "model_src"};

typedef struct Six {
    Arena *arena;
    Str text[SIX];
    bool found[SIX];
} Six;

static int six_index(Str name)
{
    for (int i = 0; i < SIX; i++)
        if (str_is(name, six_names[i]))
            return i;
    return -1;
}

static bool text_of(Six *six, const Py *e, int depth, Str *text);

/* '...'.strip() and the like. */
static bool method_text(Six *six, const Py *e, int depth, Str *text)
{
    const Py *callee = e->a;
    if (callee->kind != PY_ATTR || e->kids.len || !text_of(six, callee->a, depth + 1, text))
        return false;
    if (!str_is(callee->text, "strip") && !str_is(callee->text, "lstrip") &&
        !str_is(callee->text, "rstrip"))
        return false;
    *text = str_trim(*text);
    return true;
}

/* A string literal, one of the six again, or a sum of such. */
static bool text_of(Six *six, const Py *e, int depth, Str *text)
{
    Str left, right;
    if (!e || depth > MOST_DEPTH)
        return false;
    int known = e->kind == PY_NAME ? six_index(e->text) : -1;
    if (e->kind == PY_STRING) {
        *text = e->text;
        return true;
    }
    if (known >= 0 && six->found[known]) {
        *text = six->text[known];
        return true;
    }
    if (e->kind == PY_CALL)
        return method_text(six, e, depth, text);
    if (e->kind != PY_BINARY || e->op != PYOP_ADD || !text_of(six, e->a, depth + 1, &left) ||
        !text_of(six, e->b, depth + 1, &right))
        return false;
    *text = str_from(str_format(six->arena, "%.*s%.*s", STR_ARG(left), STR_ARG(right)));
    return true;
}

/* ---- statements ---- */

/* The six, and expressions that stand for them and are not read here. */
static bool is_reach(Str name)
{
    return six_index(name) >= 0 || str_is(name, "globals") || str_is(name, "locals") ||
           str_is(name, "exec") || str_is(name, "setattr") || str_is(name, "vars");
}

static bool reaches(const Py *e, int depth)
{
    if (!e)
        return false;
    if (depth > MOST_DEPTH || (e->kind == PY_NAME && is_reach(e->text)))
        return true;
    for (uint32_t i = 0; i < e->kids.len; i++)
        if (reaches(e->kids.at[i], depth + 1))
            return true;
    return reaches(e->a, depth + 1) || reaches(e->b, depth + 1) || reaches(e->c, depth + 1);
}

/* A text among the six, or more of it. False: it becomes something that only Python could tell. */
static bool set_text(Six *six, int at, const Py *value, bool more)
{
    Str text;
    if (!text_of(six, value, 0, &text) || (more && !six->found[at]))
        return false;
    six->text[at] = more ? str_from(str_format(six->arena, "%.*s%.*s", STR_ARG(six->text[at]),
                                               STR_ARG(text)))
                         : text;
    six->found[at] = true;
    return true;
}

static int target_index(const Py *target)
{
    return target && target->kind == PY_NAME ? six_index(target->text) : -1;
}

static bool is_print(const Py *e)
{
    return e->kind == PY_CALL && e->a->kind == PY_NAME && str_is(e->a->text, "print");
}

/* False: the statement may change one of the six in a way that is not read here. */
static bool read_statement(Six *six, const Py *s)
{
    int at;
    switch (s->kind) {
    case PY_ASSIGN:
        at = s->kids.len == 1 ? target_index(s->kids.at[0]) : -1;
        if (at >= 0)
            return set_text(six, at, s->a, false);
        for (uint32_t i = 0; i < s->kids.len; i++)
            if (reaches(s->kids.at[i], 0))
                return false;
        return true;
    case PY_ANNASSIGN:
        at = target_index(s->a);
        return at < 0 || !s->c || set_text(six, at, s->c, false);
    case PY_AUGASSIGN:
        at = target_index(s->a);
        return at < 0 ? !reaches(s->a, 0) : s->op == PYOP_ADD && set_text(six, at, s->b, true);
    case PY_EXPR: return is_print(s->a) || !reaches(s->a, 0);
    case PY_IF: /* if __name__ == "__main__": is not run by the benchmark */
        return (s->a->kind == PY_COMPARE && s->a->a->kind == PY_NAME &&
                str_is(s->a->a->text, "__name__")) ||
               !reaches(s, 0);
    default: return !reaches(s, 0);
    }
}

/* The name under which the host text includes its tiling header. */
static const char *tiling_name(Arena *arena, Str host)
{
    Str line, rest = host;
    while (str_next(&rest, '\n', &line)) {
        line = str_trim(line);
        ptrdiff_t from = str_find(line, STR("\""));
        if (!str_starts(line, "#include") || from < 0 || !str_ends(line, "tiling.h\""))
            continue;
        return str_dup(arena, str_slice(line, (size_t)from + 1, line.len - 1));
    }
    return "op_tiling.h";
}

bool eval_read_six(Arena *arena, Str text, EvalCandidate *c, const char **reason, bool *cut)
{
    Six six = {.arena = arena};
    Diag diag = diag_make(arena, "answer", text);
    const Py *module = py_parse(arena, text, &diag);
    for (uint32_t i = 0; module && i < module->kids.len; i++)
        if (!read_statement(&six, module->kids.at[i])) {
            *reason = str_format(arena, "line %u changes the six texts as only Python can tell",
                                 module->kids.at[i]->at.line);
            return false;
        }
    if (!module) {
        const DiagItem *first = &diag.items.at[0];
        Str rest = str_trim(text);
        *reason = str_format(arena, "the answer is no Python: line %u: %s", first->at.line,
                             first->text);
        *cut = !strcmp(first->text, "a string is not closed") || !rest.len;
        return false;
    }
    for (int i = 0; i < SIX; i++) {
        if (six.found[i])
            continue;
        *reason = str_format(arena, "the answer does not assign a text to %s", six_names[i]);
        return false;
    }
    c->form = FORM_MKB;
    c->entry = "model.py::ModelNew";
    eval_text_add(arena, c, "project.json", six.text[0]);
    eval_text_add(arena, c, path_join(arena, "op_host", tiling_name(arena, six.text[2])),
                  six.text[1]);
    eval_text_add(arena, c, "op_host/op.cpp", six.text[2]);
    eval_text_add(arena, c, "op_kernel/op.cpp", six.text[3]);
    eval_text_add(arena, c, "csrc/op.cpp", six.text[4]);
    eval_text_add(arena, c, "model.py", six.text[5]);
    return true;
}

/* ---- direct launch ---- */

static bool plain_path(const char *path)
{
    return path[0] && path[0] != '/' && !strstr(path, "..") && strlen(path) < 300;
}

static const char *add_source(Arena *arena, EvalCandidate *c, const json_t *source)
{
    const char *path = json_string_value(json_object_get(source, "path"));
    const json_t *content = json_object_get(source, "content");
    if (!path || !json_is_string(content))
        return "a source lacks its path or content";
    if (!plain_path(path))
        return str_format(arena, "'%s' is no relative path", path);
    for (uint32_t i = 0; i < c->texts.len; i++)
        if (strcmp(c->texts.at[i].path, path) == 0)
            return str_format(arena, "'%s' stands there twice", path);
    Str text = {json_string_value(content), json_string_length(content)};
    eval_text_add(arena, c, str_dup(arena, str_from(path)), str_copy(arena, text));
    return NULL;
}

static const char *read_object(Arena *arena, const json_t *root, EvalCandidate *c)
{
    const json_t *sources = json_object_get(root, "sources");
    const char *entry = json_string_value(json_object_get(json_object_get(root, "entry"), "model"));
    size_t count = json_array_size(sources);
    if (!json_is_array(sources) || !count || count > 300)
        return "the answer has no list of sources";
    for (size_t i = 0; i < count; i++) {
        const char *wrong = add_source(arena, c, json_array_get(sources, i));
        if (wrong)
            return wrong;
    }
    if (!entry || !strstr(entry, "::"))
        return "entry.model is not FILE::CLASS";
    c->entry = str_dup(arena, str_from(entry));
    c->form = FORM_MKB_DIRECT;
    return NULL;
}

bool eval_read_direct_json(Arena *arena, Str text, EvalCandidate *c, const char **reason, bool *cut)
{
    json_error_t error;
    text = str_trim(text);
    json_t *root = json_loadb(text.at ? text.at : "", text.len, JSON_DISABLE_EOF_CHECK, &error);
    const char *wrong = root ? NULL : str_format(arena, "the answer is no JSON: %s", error.text);
    *cut = !root && json_error_code(&error) == json_error_premature_end_of_input;
    if (root && !json_is_object(root))
        wrong = "the answer is no JSON object";
    if (!wrong)
        wrong = read_object(arena, root, c);
    json_decref(root);
    *reason = wrong ? wrong : "";
    return !wrong;
}
