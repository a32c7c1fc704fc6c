/* Finds the integers of a file that say sizes: literals in module-level assignments, in the
 * functions that make the inputs and the constructor's arguments, and, as a last resort for
 * scaling, those inside its classes. */
#include "torch/knob.h"

typedef struct Finder {
    Arena *arena;
    KnobList *knobs;
    const char *prefix;
    bool named, deep, in_case;
    uint32_t count; /* literals seen under this prefix */
    bool several;   /* the prefix alone does not tell them apart */
    int depth;
} Finder;

static void add_knob(Finder *f, const Py *literal)
{
    const char *name = f->prefix;
    if (!f->named)
        name = str_format(f->arena, "%s:%u:%u", f->prefix, literal->at.line, literal->at.col);
    else if (f->several)
        name = str_format(f->arena, "%s[%u]", f->prefix, f->count);
    f->count++;
    KnobEntry entry = {.literal = literal,
                       .named = f->named,
                       .deep = f->deep,
                       .knob = {name, literal->i, literal->i, {0}, f->deep}};
    if (!f->in_case)
        entry.knob.at = literal->at;
    vec_push(f->arena, &f->knobs->all, entry);
}

/* A constructor's default, under the class's and its own name. */
static void find_default(Finder *f, const Py *param)
{
    Finder inner = *f;
    inner.prefix = str_format(f->arena, "%s.%.*s", f->prefix, STR_ARG(param->text));
    inner.named = true;
    inner.several = false;
    if (param->a->i >= 8)
        add_knob(&inner, param->a);
}

/* -1, -100: an axis, a mark; never a size. */
static bool is_negative(const Py *e)
{
    return e->kind == PY_UNARY && e->op == PYOP_NEG && e->a->kind == PY_INT;
}

static void find_in(Finder *f, const Py *e)
{
    if (!e || ++f->depth > 4 * PY_MAX_DEPTH) {
        f->depth -= e ? 1 : 0;
        return;
    }
    bool counts = !f->deep || e->i >= 16;
    if (e->kind == PY_INT && counts)
        add_knob(f, e);
    else if (e->kind == PY_PARAM && f->deep && e->a && e->a->kind == PY_INT)
        find_default(f, e);
    else if (e->kind != PY_INDEX && e->kind != PY_INT && !is_negative(e)) {
        find_in(f, e->a);
        find_in(f, e->b);
        find_in(f, e->c);
        for (uint32_t i = 0; i < e->kids.len; i++)
            find_in(f, e->kids.at[i]);
    }
    f->depth--;
}

static void find_assigned(Finder *f, const Py *s)
{
    const Py *value = s->kind == PY_ASSIGN ? s->a : s->c;
    const Py *target = s->kind == PY_ASSIGN ? s->kids.at[0] : s->a;
    if (!value || target->kind == PY_TUPLE) {
        /* a, b = 1, 2 */
        for (uint32_t i = 0;
             value && value->kind == PY_TUPLE && i < value->kids.len && i < target->kids.len; i++) {
            if (target->kids.at[i]->kind != PY_NAME)
                continue;
            f->prefix = str_dup(f->arena, target->kids.at[i]->text);
            f->count = 0;
            f->several = value->kids.at[i]->kind != PY_INT;
            find_in(f, value->kids.at[i]);
        }
        return;
    }
    if (target->kind != PY_NAME)
        return;
    f->prefix = str_dup(f->arena, target->text);
    f->count = 0;
    f->several = value->kind != PY_INT;
    find_in(f, value);
}

static void find_in_case(Finder *f)
{
    f->named = f->in_case = true;
    for (uint32_t i = 0; i < f->knobs->row.len; i++) {
        const CaseField *field = &f->knobs->row.at[i];
        f->prefix = str_dup(f->arena, field->name);
        f->count = 0;
        f->several = field->value->kind != PY_INT;
        find_in(f, field->value);
    }
    f->in_case = false;
}

static void find_knobs(Arena *arena, const Py *module, KnobList *knobs)
{
    Finder f = {.arena = arena, .knobs = knobs};
    if (knobs->row.len) {
        /* the sizes are the case's; what else the file says are ranges and factors */
        find_in_case(&f);
        return;
    }
    for (uint32_t i = 0; i < module->kids.len; i++) {
        const Py *s = module->kids.at[i];
        f.named = s->kind == PY_ASSIGN || s->kind == PY_ANNASSIGN;
        if (f.named) {
            find_assigned(&f, s);
        } else if (s->kind == PY_DEF &&
                   (str_is(s->text, "get_inputs") || str_is(s->text, "get_init_inputs"))) {
            f.prefix = str_dup(arena, s->text);
            find_in(&f, s->a);
        }
    }
    for (uint32_t i = 0; i < module->kids.len; i++) {
        const Py *s = module->kids.at[i];
        if (s->kind != PY_CLASS)
            continue;
        f.named = false;
        f.deep = true;
        f.prefix = str_dup(arena, s->text);
        find_in(&f, s->a);
    }
}

void knob_apply(Arena *arena, KnobList *knobs)
{
    knobs->overrides.len = 0;
    for (uint32_t i = 0; i < knobs->all.len; i++) {
        const KnobEntry *entry = &knobs->all.at[i];
        if (entry->knob.value != entry->knob.original)
            vec_push(arena, &knobs->overrides, ((Knob){entry->literal, entry->knob.value}));
    }
}

static bool apply_set(KnobList *knobs, const TorchSet *set)
{
    bool found = false;
    for (uint32_t i = 0; i < knobs->all.len; i++) {
        KnobEntry *entry = &knobs->all.at[i];
        if (str_is(str_from(entry->knob.name), set->name)) {
            entry->knob.value = set->value;
            entry->pinned = found = true;
        }
    }
    return found;
}

bool knob_list(Arena *arena, const Py *module, const TorchOptions *options, KnobList *knobs,
               Diag *diag)
{
    if (!case_row(arena, options, &knobs->row, diag))
        return false;
    find_knobs(arena, module, knobs);
    for (uint32_t i = 0; i < options->n_sets; i++) {
        if (apply_set(knobs, &options->sets[i]))
            continue;
        diag_error(diag, "T021", (Span){0}, "the file has no size named '%s'",
                   options->sets[i].name);
        return false;
    }
    knob_apply(arena, knobs);
    return true;
}

/* "Model.width" and "ModelNew.width" are one size. */
static bool same_size(const KnobEntry *task, const KnobEntry *other, const char *class_name)
{
    Str a = str_from(task->knob.name), b = str_from(other->knob.name);
    ptrdiff_t dot = str_find(a, STR("."));
    if (!task->named || !other->named || task->knob.original != other->knob.original)
        return false;
    if (task->deep && other->deep && dot >= 0 && str_starts(b, class_name)) {
        a = str_slice(a, (size_t)dot, a.len);
        b = str_slice(b, str_from(class_name).len, b.len);
    }
    return str_equal(a, b);
}

void knob_follow(Arena *arena, const KnobList *task, const Py *module, const char *class_name,
                 KnobList *both)
{
    *both = (KnobList){0};
    find_knobs(arena, module, both);
    for (uint32_t i = 0; i < both->all.len; i++)
        for (uint32_t k = 0; k < task->all.len; k++)
            if (same_size(&task->all.at[k], &both->all.at[i], class_name))
                both->all.at[i].knob.value = task->all.at[k].knob.value;
    for (uint32_t k = 0; k < task->all.len; k++)
        vec_push(arena, &both->all, task->all.at[k]);
    knob_apply(arena, both);
}
