/* Answers to NPUKernelBench against the user's own clone of it. In: an answer, the task's
 * T/validation/module.py. Out: the candidate completed by what the clone has beside it: the binding
 * (pybind.cpp), for kernel-only answers the op definition (question/op_host), and class ModelNew,
 * which says how the operator is called. */
#include "eval/candidate_int.h"

#include "base/file.h"
#include <ctype.h>
#include <string.h>

enum { MOST_TEXT = 4 << 20 };

static bool add_file(EvalJudge *j, EvalCandidate *c, const char *from, const char *as)
{
    Diag quiet = diag_make(j->arena, from, (Str){0});
    Str text;
    if (!file_exists(from) || !file_read(j->arena, from, MOST_TEXT, &text, &quiet))
        return false;
    eval_text_add(j->arena, c, as, text);
    return true;
}

static bool add_host(EvalJudge *j, EvalCandidate *c, const char *dir)
{
    NameList names = {0};
    Diag quiet = diag_make(j->arena, dir, (Str){0});
    bool any = false;
    if (!file_is_dir(dir) || !file_list(j->arena, dir, &names, &quiet))
        return false;
    for (uint32_t i = 0; i < names.len; i++) {
        Str name = str_from(names.at[i]);
        if (str_ends(name, ".cpp") || str_ends(name, ".h"))
            any = add_file(j, c, path_join(j->arena, dir, names.at[i]),
                           path_join(j->arena, "op_host", names.at[i])) ||
                  any;
    }
    return any;
}

/* The template's entry has a tiling parameter that kernel-only answers leave out. */
static Str with_tiling(Arena *arena, Str text)
{
    static const char workspace[] = "GM_ADDR workspace";
    ptrdiff_t at = str_find(text, STR("__global__"));
    Str head = str_slice(text, 0, at < 0 ? 0 : (size_t)at);
    Str entry = str_slice(text, head.len, text.len);
    ptrdiff_t word = str_find(entry, str_from(workspace)), end = str_find(entry, STR(")"));
    if (word < 0 || end < word)
        return text;
    Str rest = str_trim(str_slice(entry, (size_t)word + sizeof workspace - 1, (size_t)end));
    if (rest.len)
        return text;
    size_t split = (size_t)word + sizeof workspace - 1;
    Buf out = {0};
    buf_str(&out, head);
    buf_str(&out, str_slice(entry, 0, split));
    buf_puts(&out, ", GM_ADDR tiling");
    buf_str(&out, str_slice(entry, split, entry.len));
    Str result = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return result;
}

static Str replace_all(Arena *arena, Str text, Str what, Str by)
{
    Buf out = {0};
    for (ptrdiff_t at; what.len && (at = str_find(text, what)) >= 0;) {
        buf_str(&out, str_slice(text, 0, (size_t)at));
        buf_str(&out, by);
        text = str_slice(text, (size_t)at + what.len, text.len);
    }
    buf_str(&out, text);
    Str result = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return result;
}

/* The name under which ModelNew calls the operator: kernel_gen_ops.NAME( */
static Str called_name(Str model)
{
    static const char module[] = "kernel_gen_ops.";
    ptrdiff_t at = str_find(model, str_from(module));
    Str name = at < 0 ? (Str){0} : str_slice(model, (size_t)at + sizeof module - 1, model.len);
    size_t n = 0;
    while (n < name.len && (isalnum((unsigned char)name.at[n]) || name.at[n] == '_'))
        n++;
    return str_slice(name, 0, n);
}

/* Some bindings are templates; the benchmark puts the operator's names in. */
static void name_function(EvalJudge *j, EvalCandidate *c, const char *dir)
{
    Str name = called_name(j->ref->model->source);
    Str op = path_base(path_dir(j->arena, dir)); /* T of T/validation */
    EvalText *binding = &vec_last(&c->texts);
    binding->text = replace_all(j->arena, binding->text, STR("CustomOp"), op);
    if (name.len)
        binding->text = replace_all(j->arena, binding->text, STR("custom_pybind_api"), name);
}

bool eval_judge_in_clone(EvalJudge *j, bool *ok)
{
    const EvalModel *model = j->ref->model;
    const char *dir = model ? path_dir(j->arena, model->path) : "";
    const char *binding = path_join(j->arena, dir, "pybind.cpp");
    if (!model || !str_is(path_base(model->path), "module.py") || !file_exists(binding))
        return false;
    EvalCandidate whole = {.form = j->candidate->form,
                           .name = j->candidate->name,
                           .entry = "",
                           .extracted = j->candidate->extracted};
    for (uint32_t i = 0; i < j->candidate->texts.len; i++)
        eval_text_add(j->arena, &whole, j->candidate->texts.at[i].path,
                      with_tiling(j->arena, j->candidate->texts.at[i].text));
    if (!add_file(j, &whole, binding, "csrc/pybind.cpp"))
        return false;
    name_function(j, &whole, dir);
    bool has_host = whole.form == FORM_NPUKB_FULL ||
                    add_host(j, &whole,
                             path_join(j->arena, path_dir(j->arena, dir), "question/op_host"));
    const EvalCandidate *given = j->candidate;
    j->candidate = &whole;
    *ok = has_host ? eval_judge_model(j)
                   : eval_judge_fail(j, VERDICT_UNSUPPORTED, STAGE_EXTRACT,
                                     "the clone has no question/op_host for this task");
    j->candidate = given;
    return true;
}
