/* The forms of candidates: names, and recognising one from its texts. In: files or text. Out: an
 * EvalCandidate whose form is known. */
#include "eval/candidate.h"

#include "base/file.h"
#include "eval/candidate_int.h"
#include <string.h>

enum { MOST_TEXT = 8 << 20, MOST_FILES = 300, MOST_DEPTH = 6 };

static const char *const form_texts[EVAL_FORM_COUNT] = {
#define FORM(name, text, meaning) text,
#include "eval/form.def"
#undef FORM
};

const char *eval_form_text(EvalForm form) { return form_texts[form]; }

bool eval_form_tiles(EvalForm form)
{
    return form == FORM_PROJECT || form == FORM_MKB || form == FORM_TORCH ||
           form == FORM_NPUKB_FULL;
}

bool eval_form_from_text(Str text, EvalForm *form)
{
    for (int i = 0; i < EVAL_FORM_COUNT; i++) {
        if (!str_is(text, form_texts[i]))
            continue;
        *form = (EvalForm)i;
        return true;
    }
    return false;
}

const EvalText *eval_text_ending(const EvalCandidate *c, const char *suffix)
{
    for (uint32_t i = 0; i < c->texts.len; i++)
        if (str_ends(str_from(c->texts.at[i].path), suffix))
            return &c->texts.at[i];
    return NULL;
}

const EvalText *eval_text_with(const EvalCandidate *c, const char *mark)
{
    for (uint32_t i = 0; i < c->texts.len; i++)
        if (str_find(c->texts.at[i].text, str_from(mark)) >= 0)
            return &c->texts.at[i];
    return NULL;
}

void eval_text_add(Arena *arena, EvalCandidate *c, const char *path, Str text)
{
    EvalText one = {path, text};
    vec_push(arena, &c->texts, one);
}

/* ---- one text ---- */

static bool has(Str text, const char *mark) { return str_find(text, str_from(mark)) >= 0; }

bool eval_is_craft(Str text)
{
    return has(text, "craft = 1") || has(text, "@craft.host") || has(text, "@host");
}

bool eval_is_kernel(Str text)
{
    static const char *const marks[] = {"__aicore__", "__vector__", "__cube__", "__mix__"};
    bool core = false;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        core = core || has(text, marks[i]);
    return core && has(text, "__global__");
}

bool eval_is_six_strings(Str text)
{
    return has(text, "kernel_src") && has(text, "model_src") &&
           (has(text, "host_operator_src") || has(text, "project_json_src"));
}

/* Its own host code launches it: a main program, or functions around <<<>>>. */
static bool launches_itself(Str text) { return has(text, "<<<") && has(text, "aclInit"); }

/* ---- from disk ---- */

/* Sources and the headers they include. Traces, verdicts, cases and build files, which may lie beside
 * them and be of any size, are not opened. */
static bool is_source(Str name)
{
    static const char *const ends[] = {".cpp", ".cc", ".cxx", ".h", ".hpp", ".asc", ".py"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (str_ends(name, ends[i]))
            return true;
    return false;
}

typedef struct Walk {
    Arena *arena;
    const char *root;
    EvalCandidate *c;
    Diag *diag;
} Walk;

static bool walk(Walk *w, const char *inner, int depth)
{
    NameList names = {0};
    const char *dir = inner[0] ? path_join(w->arena, w->root, inner) : w->root;
    if (depth > MOST_DEPTH)
        return true;
    if (!file_list(w->arena, dir, &names, w->diag))
        return false;
    for (uint32_t i = 0; i < names.len && w->c->texts.len < MOST_FILES; i++) {
        const char *path = inner[0] ? path_join(w->arena, inner, names.at[i]) : names.at[i];
        const char *full = path_join(w->arena, w->root, path);
        Str text;
        if (names.at[i][0] == '.')
            continue;
        if (file_is_dir(full)) {
            if (!file_is_link(full) && !walk(w, path, depth + 1)) /* links lead out of it */
                return false;
        } else if (is_source(str_from(names.at[i])) && file_is_plain(full)) {
            if (!file_read(w->arena, full, MOST_TEXT, &text, w->diag))
                return false;
            eval_text_add(w->arena, w->c, path, text);
        }
    }
    return true;
}

static bool in_folder(const EvalCandidate *c, const char *folder)
{
    for (uint32_t i = 0; i < c->texts.len; i++) {
        Str path = str_from(c->texts.at[i].path);
        ptrdiff_t at = str_find(path, str_from(folder));
        if ((at == 0 || (at > 0 && path.at[at - 1] == '/')) && str_ends(path, ".cpp"))
            return true;
    }
    return false;
}

static EvalForm form_of_directory(const EvalCandidate *c)
{
    if (in_folder(c, "op_host/") && in_folder(c, "op_kernel/"))
        return FORM_PROJECT;
    if (eval_text_with(c, "PYBIND11_MODULE"))
        return FORM_DIRECT;
    return FORM_ANY;
}

static bool read_directory(Arena *arena, const char *path, EvalCandidate *c, Diag *diag)
{
    Walk w = {arena, path, c, diag};
    if (!walk(&w, "", 0))
        return false;
    c->form = form_of_directory(c);
    if (c->form == FORM_ANY)
        diag_error(diag, "V010", (Span){0},
                   "%s: neither an operator project (op_host and op_kernel) nor kernel sources "
                   "with a binding",
                   path);
    return c->form != FORM_ANY;
}

bool eval_candidate_read(Arena *arena, const char *path, EvalCandidate *candidate, Diag *diag)
{
    Str text;
    bool cut;
    const char *reason = "";
    *candidate = (EvalCandidate){.name = path, .entry = "", .extracted = ""};
    if (file_is_dir(path))
        return read_directory(arena, path, candidate, diag);
    if (file_exists(path) && !file_is_plain(path)) {
        diag_error(diag, "V010", (Span){0}, "%s: a pipe or device is no candidate", path);
        return false;
    }
    if (!file_read(arena, path, MOST_TEXT, &text, diag))
        return false;
    Str name = path_base(path);
    if (str_ends(name, ".craft"))
        candidate->form = FORM_CRAFT;
    else if (eval_is_kernel(text) && !str_ends(name, ".json") && !eval_is_six_strings(text) &&
             !has(text, "```"))
        candidate->form = launches_itself(text) ? FORM_DIRECT : FORM_KERNEL;
    if (candidate->form != FORM_ANY) {
        eval_text_add(arena, candidate, path, text);
        return true;
    }
    if (eval_candidate_extract(arena, text, FORM_ANY, candidate, &reason, &cut)) {
        candidate->name = path;
        return true;
    }
    diag_error(diag, "V010", (Span){0}, "%s: %s", path, reason);
    return false;
}
