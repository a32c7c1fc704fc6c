/* Names: what each stands for, where it is visible, which scalar has a value, and what a
 * misspelt one was meant to be. */
#include "craft/sema.h"

#include "craft/fn.h"
#include <string.h>

const FnRow craft_fns[] = {
#define FN(name, kind, op, scalar, least, most, dtypes) \
    {name, FN_##kind, IR_T_##op, IR_E_##scalar, least, most, dtypes},
#include "craft/fn.def"
#undef FN
};

const uint32_t craft_fn_count = sizeof craft_fns / sizeof *craft_fns;

const FnRow *craft_fn_find(Str name)
{
    for (uint32_t i = 0; i < craft_fn_count; i++)
        if (name.len && craft_fns[i].name[0] == name.at[0] && str_is(name, craft_fns[i].name))
            return &craft_fns[i];
    return NULL;
}

/* Names that stand for a value everywhere; functions are looked up apart and hide nothing. */
bool sema_reserved(Str name)
{
    DType dtype;
    return dtype_from_name(name, &dtype) || str_is(name, "inf") || str_is(name, "nan") ||
           str_is(name, "chip") || str_is(name, "craft");
}

static Symbol *look_up(Sema *s, const Map *names, Str name)
{
    uint32_t index;
    return map_get(names, name, &index) ? &s->symbols.at[index] : NULL;
}

Symbol *sema_find(Sema *s, Str name)
{
    Symbol *local = s->frame ? look_up(s, &s->frame->names, name) : NULL;
    return local ? local : look_up(s, &s->globals, name);
}

Symbol *sema_find_def(Sema *s, Str name)
{
    Symbol *sym = look_up(s, &s->globals, name);
    return sym && sym->kind == SYM_DEF ? sym : NULL;
}

/* False: the name keeps what it means. */
static bool check_free(Sema *s, Str name, Span at, const char *what)
{
    bool hides = !strcmp(what, "parameter");
    Symbol *old = s->frame ? look_up(s, &s->frame->names, name) : look_up(s, &s->globals, name);
    if (!old && s->frame && !hides)
        old = look_up(s, &s->globals, name);
    bool wrong = old && old->kind == SYM_VALUE && old->value.kind == VAL_BAD;
    if (sema_reserved(name)) {
        sema_error(s, REDEFINED, at, "choose another name", "'%.*s' is a word of Craft",
                   STR_ARG(name));
        return true;
    }
    if (!old || old->ended || wrong)
        return true;
    sema_error(s, REDEFINED, at, "choose another name",
               "'%.*s' is the %s of line %u and cannot become a %s", STR_ARG(name), old->what,
               old->at.line, what);
    return false;
}

uint32_t sema_declare(Sema *s, Str name, Span at, SymbolKind kind, const char *what)
{
    bool free = check_free(s, name, at, what);
    Symbol sym = {.kind = kind, .name = name, .at = at, .what = what, .home = s->frame};
    vec_push(s->arena, &s->symbols, sym);
    if (free)
        map_put(s->arena, s->frame ? &s->frame->names : &s->globals, name, s->symbols.len - 1);
    return s->symbols.len - 1;
}

uint32_t sema_declare_value(Sema *s, Str name, Span at, const char *what, Value v)
{
    uint32_t index = sema_declare(s, name, at, SYM_VALUE, what);
    s->symbols.at[index].value = v;
    return index;
}

void sema_end_names(Sema *s, uint32_t from)
{
    for (uint32_t i = from; i < s->symbols.len; i++)
        if (s->symbols.at[i].kind == SYM_VALUE && s->symbols.at[i].home == s->frame)
            s->symbols.at[i].ended = true;
}

void sema_mark_assigned(Sema *s, uint32_t symbol)
{
    if (s->symbols.at[symbol].assigned)
        return;
    s->symbols.at[symbol].assigned = true;
    vec_push(s->arena, &s->assigned_log, symbol);
}

void sema_unmark(Sema *s, uint32_t from)
{
    while (s->assigned_log.len > from) {
        s->symbols.at[vec_last(&s->assigned_log)].assigned = false;
        s->assigned_log.len--;
    }
}

static void count_target(Sema *s, Map *writes, const AstExpr *target)
{
    uint32_t n = 0;
    if (target->kind == EX_TUPLE) {
        for (uint32_t i = 0; i < target->items.len; i++)
            count_target(s, writes, target->items.at[i]);
    } else if (target->kind == EX_NAME) {
        map_get(writes, target->text, &n);
        map_put(s->arena, writes, target->text, n + 1);
    }
}

void sema_count_writes(Sema *s, Map *writes, const StmtList *body)
{
    for (uint32_t i = 0; i < body->len; i++) {
        const AstStmt *stmt = body->at[i];
        if (stmt->kind == ST_ASSIGN)
            count_target(s, writes, stmt->target);
        sema_count_writes(s, writes, &stmt->body);
        sema_count_writes(s, writes, &stmt->orelse);
    }
}

static bool name_taken(Sema *s, Str name)
{
    if (sema_find(s, name))
        return true;
    if (s->in_host || s->kernel >= s->ir->kernels.len)
        return false;
    const IrKernel *k = &s->ir->kernels.at[s->kernel];
    for (uint32_t i = 0; i < k->buffers.len; i++)
        if (str_is(name, k->buffers.at[i].name))
            return true;
    return false;
}

/* A name that is not in use: the stem itself, or with the first free number. */
const char *sema_unique(Sema *s, const char *stem)
{
    const char *name;
    do
        name = str_format(s->arena, "%s%u", stem, s->names_made++);
    while (name_taken(s, str_from(name)));
    return name;
}

/* ---- did you mean ---- */

/* In a program with very many names only the first and the last ones are compared. */
enum { NEAR_MOST = 256 };

typedef struct Nearest {
    Str name, found;
    size_t best;
} Nearest;

static void consider(Nearest *n, Str candidate)
{
    size_t d = str_distance(n->name, candidate);
    if (d < n->best) {
        n->best = d;
        n->found = candidate;
    }
}

const char *sema_nearest(Sema *s, Str name, bool functions)
{
    Nearest n = {.name = name, .best = name.len < 3 ? 1 : name.len < 6 ? 2 : name.len < 9 ? 3 : 4};
    for (uint32_t i = 0; i < s->symbols.len; i++) {
        if (i == NEAR_MOST && s->symbols.len > 2 * NEAR_MOST)
            i = s->symbols.len - NEAR_MOST;
        const Symbol *sym = &s->symbols.at[i];
        if ((sym->kind == SYM_DEF) == functions && !sym->ended && sema_find(s, sym->name) == sym)
            consider(&n, sym->name);
    }
    for (uint32_t i = 0; functions && i < craft_fn_count; i++)
        consider(&n, str_from(craft_fns[i].name));
    for (DType d = 0; !functions && d < DT_COUNT; d++)
        consider(&n, str_from(dtype_name(d)));
    if (!n.found.len)
        return NULL;
    return sema_format(s, "did you mean '%.*s'?", STR_ARG(n.found));
}
