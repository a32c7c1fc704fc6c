/* The forms that are handed over; see written.h. In: a Craft program and its task. Out: files, and
 * verdicts on what was read back from them. */
#include "eval/written.h"

#include "base/file.h"
#include "craft/craft.h"
#include "eval/candidate_int.h"
#include "graph/operand.h"
#include "ir/range.h"
#include "torch/shell.h"
#include <ctype.h>
#include <string.h>

/* ---- the model around the operator ---- */

/* "layers.0.weight" is self.layers[0].weight. */
static const char *member(Arena *arena, const char *path)
{
    Buf out = {0};
    Str rest = str_from(path), part;
    buf_puts(&out, "self");
    while (str_next(&rest, '.', &part)) {
        bool number = part.len && part.at[0] >= '0' && part.at[0] <= '9';
        buf_printf(&out, number ? "[%.*s]" : ".%.*s", STR_ARG(part));
    }
    const char *text = buf_take(&out, arena);
    buf_free(&out);
    return text;
}

/* An input as forward has it: its own name, or its place in a list. */
static const char *argument(Arena *arena, const char *path)
{
    const char *dot = strchr(path, '.');
    if (!dot)
        return path;
    const char *inside = member(arena, dot + 1) + strlen("self");
    return str_format(arena, "%.*s%s", (int)(dot - path), path, inside);
}

static const char *given_for(Arena *arena, const Graph *g, const GraphNames *names,
                             const char *operand)
{
    for (uint32_t i = 0; i < g->inputs.len; i++) {
        const char *own = graph_value(g, g->inputs.at[i])->name;
        if (strcmp(names->inputs[i], operand) == 0)
            return own ? argument(arena, own) : NULL;
    }
    for (uint32_t i = 0; i < g->params.len; i++) {
        const char *own = graph_value(g, g->params.at[i])->name;
        if (strcmp(names->params[i], operand) == 0)
            return own ? member(arena, own) : NULL;
    }
    return NULL;
}

/* Operands stand in the order of the task where a name had to be changed. */
static const char *given_in_order(Arena *arena, const Graph *g, uint32_t place)
{
    if (place < g->inputs.len) {
        const char *own = graph_value(g, g->inputs.at[place])->name;
        return own ? argument(arena, own) : NULL;
    }
    place -= g->inputs.len;
    const char *own = place < g->params.len ? graph_value(g, g->params.at[place])->name : NULL;
    return own ? member(arena, own) : NULL;
}

static bool has_word(Str text, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= text.len; i++) {
        bool starts = !i || !(isalnum((unsigned char)text.at[i - 1]) || text.at[i - 1] == '_');
        bool ends = i + n == text.len ||
                    !(isalnum((unsigned char)text.at[i + n]) || text.at[i + n] == '_');
        if (starts && ends && !memcmp(text.at + i, word, n))
            return true;
    }
    return false;
}

/* An attribute as the model has it: an argument of forward, what the constructor keeps of its own argument
 * of this name, else the number itself. */
static const char *attribute_text(Arena *arena, const IrProgram *p, const TorchShell *shell,
                                  IrVarId attr)
{
    const IrVar *v = &p->vars.at[attr];
    const char *keeps = str_format(arena, "self.%s = %s", v->name, v->name);
    if (has_word(shell->parameters, v->name))
        return v->name;
    for (Str rest = shell->constructor, line; str_next(&rest, '\n', &line);)
        if (str_is(str_trim(line), keeps))
            return str_format(arena, "self.%s", v->name);
    const IrExpr *e = &p->exprs.at[v->value];
    Buf out = {0};
    if (e->op == IR_E_FLOAT)
        buf_double(&out, e->of.f);
    else if (e->op == IR_E_BOOL)
        buf_puts(&out, e->of.i ? "True" : "False");
    else
        buf_printf(&out, "%lld", (long long)e->of.i);
    const char *text = buf_take(&out, arena);
    buf_free(&out);
    return text;
}

const EmitModel *eval_model_text(Arena *arena, const IrProgram *p, const Graph *graph, Str source,
                                 Diag *diag)
{
    TorchShell shell;
    GraphNames names = graph_names(arena, graph);
    EmitModel *m = arena_new(arena, EmitModel);
    const char **given = arena_array(arena, const char *, p->operand_count + 1);
    const char **attrs = arena_array(arena, const char *, p->attrs.len + 1);
    uint32_t place = 0;
    bool holds = false;
    if (!torch_shell(arena, source, "ModelNew", &shell, diag))
        return NULL;
    for (uint32_t i = 0; i < p->operand_count; i++) {
        if (p->tensors.at[i].role == IR_ROLE_OUT || p->tensors.at[i].role == IR_ROLE_OUT_LIST)
            continue;
        given[i] = given_for(arena, graph, &names, p->tensors.at[i].name);
        given[i] = given[i] ? given[i] : given_in_order(arena, graph, place);
        place++;
        if (!given[i]) {
            diag_error(diag, "T026", p->tensors.at[i].at,
                       "the model has no name for the operator's '%s'", p->tensors.at[i].name);
            return NULL;
        }
        holds = holds || str_starts(str_from(given[i]), "self.");
    }
    for (uint32_t i = 0; i < p->attrs.len; i++) {
        attrs[i] = attribute_text(arena, p, &shell, p->attrs.at[i]);
        holds = holds || str_starts(str_from(attrs[i]), "self.");
    }
    *m = (EmitModel){.name = str_copy(arena, shell.name),
                     .parameters = shell.parameters,
                     .given = given,
                     .attributes = attrs};
    if (holds) {
        m->prelude = shell.prelude;
        m->bases = shell.bases;
        m->constructor = shell.constructor;
    }
    return m;
}

/* The operands that are the model's results, in its order; NULL: some have other names. */
static const uint32_t *results_in_order(Arena *arena, const IrProgram *p, const Graph *g)
{
    GraphNames names = graph_names(arena, g);
    uint32_t *at = arena_array(arena, uint32_t, g->outputs.len + 1), count = 0, found = 0;
    for (uint32_t k = 0; k < p->operand_count; k++)
        count += p->tensors.at[k].role == IR_ROLE_OUT || p->tensors.at[k].role == IR_ROLE_INOUT ||
                 p->tensors.at[k].role == IR_ROLE_OUT_LIST;
    for (uint32_t i = 0; i < g->outputs.len; i++)
        for (uint32_t k = 0; k < p->operand_count; k++)
            if ((p->tensors.at[k].role == IR_ROLE_OUT || p->tensors.at[k].role == IR_ROLE_INOUT) &&
                strcmp(p->tensors.at[k].name, names.outputs[i]) == 0 && found <= i)
                at[found++] = k;
    return found == count && found == g->outputs.len ? at : NULL;
}

/* ---- files ---- */

static bool lower_variants(Arena *arena, const char *file, Str craft, const NpuChip *chip,
                           EmitInput *in, Diag *diag)
{
    CraftFile *read = craft_read(arena, file, craft, diag);
    for (uint32_t v = 0; read && diag_ok(diag) && v < craft_variant_count(read); v++) {
        IrProgram *p = craft_program(arena, read, v, diag);
        if (p)
            ir_annotate(p, chip);
        AscProgram *asc = p ? lower_program(arena, p, chip, LOWER_ALIGN, diag) : NULL;
        if (!asc)
            return false;
        vec_push(arena, &in->variants, asc);
    }
    return in->variants.len > 0;
}

static void add_form(Arena *arena, const EmitInput *in, EvalForm form, const char *target,
                     const char *dir, const char *path, EvalWritten *written)
{
    Diag said = diag_make(arena, in->file, in->source);
    EmitFiles files = {0};
    EvalWrittenForm made = {.form = form, .path = path};
    if (!emit_target(str_from(target))->emit(arena, in, &files, &said))
        made.lacks = said.items.len ? said.items.at[0].text : "it cannot be written";
    for (uint32_t i = 0; !made.lacks && i < files.len; i++) {
        EmitFile file = files.at[i];
        file.path = dir[0] ? path_join(arena, dir, file.path) : file.path;
        vec_push(arena, &written->files, file);
    }
    vec_push(arena, &written->forms, made);
}

bool eval_forms(Arena *arena, const char *name, Str craft, const TorchTask *task, Str source,
                const NpuChip *chip, EvalWritten *written, Diag *diag)
{
    const char *file = str_format(arena, "%s.craft", name);
    EmitInput in = {.file = file, .source = craft};
    *written = (EvalWritten){0};
    if (!lower_variants(arena, file, craft, chip, &in, diag))
        return false;
    Diag said = diag_make(arena, file, craft);
    in.results = results_in_order(arena, in.variants.at[0]->ir, task->graph);
    in.type = emit_is_op_type(task->name) ? task->name : NULL;
    in.model = eval_model_text(arena, in.variants.at[0]->ir, task->graph, source, &said);
    add_form(arena, &in, FORM_PROJECT, "project", "", "", written);
    EvalWrittenForm torch = {
        .form = FORM_TORCH, .path = "", .module = emit_module_class(arena, &in)};
    in.type = NULL; /* the other forms have names of their own */
    if (written->forms.at[0].lacks) {
        diag_error(diag, "M021", (Span){0}, "the operator project: %s", written->forms.at[0].lacks);
        return false;
    }
    vec_push(arena, &written->forms, ((EvalWrittenForm){.form = FORM_CRAFT, .path = file}));
    add_form(arena, &in, FORM_DIRECT, "direct", "direct", "direct", written);
    add_form(arena, &in, FORM_MKB, "mkb", "mkb", str_format(arena, "mkb/%s.py", name), written);
    add_form(arena, &in, FORM_MKB_DIRECT, "mkb-direct", "mkb",
             str_format(arena, "mkb/%s.json", name), written);
    if (in.model) {
        torch.model = str_dup(arena, in.model->name);
        vec_push(arena, &written->forms, torch);
    }
    return true;
}

/* ---- reading back ---- */

/* The project and its torch extension, without the other forms; the task's model becomes the module's. */
static void keep_torch(Arena *arena, const EvalWrittenForm *form, EvalCandidate *c)
{
    static const char *const folders[] = {"op_host/", "op_kernel/", "torch/"};
    const EvalText *module = eval_text_ending(c, "torch/module.py");
    EvalCandidate kept = *c;
    kept.texts.at = NULL;
    kept.texts.len = kept.texts.cap = 0;
    for (uint32_t i = 0; i < c->texts.len; i++)
        for (size_t k = 0; k < sizeof folders / sizeof *folders; k++)
            if (str_starts(str_from(c->texts.at[i].path), folders[k]))
                vec_push(arena, &kept.texts, c->texts.at[i]);
    const char *model = str_format(arena,
                                   "%.*s\n\n"
                                   "class ModelNew(torch.nn.Module):\n"
                                   "    def __init__(self, *args, **kwargs):\n"
                                   "        super().__init__()\n"
                                   "        self.swapped = %s(%s(*args, **kwargs))\n\n"
                                   "    def forward(self, *args, **kwargs):\n"
                                   "        return self.swapped(*args, **kwargs)\n",
                                   STR_ARG(module ? module->text : (Str){0}), form->module,
                                   form->model);
    eval_text_add(arena, &kept, "torch/model.py", str_from(model));
    kept.form = FORM_TORCH;
    kept.entry = "torch/model.py::ModelNew";
    *c = kept;
}

bool eval_written_form(Arena *arena, const char *dir, const EvalWrittenForm *form,
                       const EvalReference *ref, const EvalConfig *config, Verdict *verdict,
                       Diag *diag)
{
    EvalCandidate candidate;
    const char *path = form->path[0] ? path_join(arena, dir, form->path) : dir;
    if (!eval_candidate_read(arena, path, &candidate, diag)) {
        verdict_fail(verdict, VERDICT_INTERNAL, STAGE_EXTRACT,
                     diag->items.len ? vec_last(&diag->items).text : "it cannot be read back");
        return false;
    }
    if (form->form == FORM_TORCH)
        keep_torch(arena, form, &candidate);
    candidate.name = eval_form_text(form->form);
    if (candidate.form != form->form) {
        verdict_fail(verdict, VERDICT_INTERNAL, STAGE_EXTRACT,
                     str_format(arena, "it is read back as %s", eval_form_text(candidate.form)));
        return false;
    }
    return eval_candidate(arena, &candidate, ref, config, verdict, diag);
}
