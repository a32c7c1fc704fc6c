/* Joining stages. In: planned stages. Out: one program. Sizes that no stage has as a number stay
 * sizes of the program; where all are numbers, of each stage only the kernel for them is kept. */
#include "gen/plan/chain_stage.h"

#include <string.h>

enum { MOST_BRANCHES = 8, ROUNDS = 16 };

/* A tensor of the joined program. */
typedef struct Storage {
    ValueId value; /* of the task */
    bool output, local;
    const char *name;
    DType dtype;
    Shape shape;
} Storage;

typedef struct Join {
    Chain *c;
    Arena *arena;
    ChainSizes *sizes;
    StageText *texts; /* per stage */
    Renames *names;   /* per stage: in its host function */
    uint32_t *as;     /* per stage: the one whose kernels it launches, most often itself */
    Str *functions;   /* per stage: the text of its kernels; empty: those of another */
    VEC(Storage) tensors;
    VEC(int64_t) numbers;
    Buf host, kernels;
} Join;

/* ---- sizes ---- */

static const char *number_name(Join *j, int64_t size)
{
    bool known = false;
    for (uint32_t i = 0; i < j->numbers.len; i++)
        known = known || j->numbers.at[i] == size;
    if (!known)
        vec_push(j->arena, &j->numbers, size);
    return str_format(j->arena, "d%lld", (long long)size);
}

static const char *class_name(Join *j, uint32_t c)
{
    SizeClass *size = &j->sizes->classes[c];
    if (!size->name)
        size->name = str_format(j->arena, "size%u", j->sizes->named++);
    return size->name;
}

/* "size0", "d64", "size0 * size1 * 4" */
static const char *product_text(Join *j, const SizeProduct *p)
{
    Buf out = {0};
    if (p->n == 0)
        return number_name(j, p->number);
    for (uint32_t i = 0; i < p->n; i++)
        buf_printf(&out, "%s%s", i ? " * " : "", class_name(j, p->of[i]));
    if (p->number != 1)
        buf_printf(&out, " * %lld", (long long)p->number);
    char *text = buf_take(&out, j->arena);
    buf_free(&out);
    return text;
}

/* What the stage's dims are, as its operands say. True: something new was learnt. */
static bool settle_operand(Join *j, const ChainStage *stage, StageText *t, const PlanOperand *o)
{
    SizeProduct axes[GRAPH_MAX_RANK];
    ValueId value = stage->outer[o->value];
    Str declared = stage_axes(j->arena, t, o), axis;
    bool changed = false;
    if (!declared.len || !sizes_axes(j->sizes, value, o->shape, axes)) {
        sizes_fix(j->sizes, value);
        return false;
    }
    for (int i = 0; str_next(&declared, ',', &axis) && i < o->shape.rank; i++) {
        StageDim *dim = stage_dim(t, str_trim(axis));
        if (!dim) { /* a number, or an expression */
            changed |= axes[i].n > 0;
            sizes_fix_product(j->sizes, &axes[i]);
            continue;
        }
        dim->is = sizes_now(j->sizes, &dim->is);
        if (dim->known && !sizes_same(&dim->is, &axes[i])) {
            sizes_unite(j->sizes, &dim->is, &axes[i]);
            changed = true;
        }
        dim->is = axes[i];
        dim->known = true;
    }
    return changed;
}

static bool settle_stage(Join *j, uint32_t number)
{
    ChainStage *stage = &j->c->stages.at[number];
    bool changed = false;
    for (uint32_t i = 0; i < stage->plan.operands.len; i++)
        changed |= settle_operand(j, stage, &j->texts[number], &stage->plan.operands.at[i]);
    return changed;
}

static void settle(Join *j)
{
    bool changed = true;
    for (int round = 0; round < ROUNDS && changed; round++) {
        changed = false;
        for (uint32_t i = 0; i < j->c->stages.len; i++)
            changed |= settle_stage(j, i);
    }
    if (changed)
        sizes_fix_all(j->sizes);
}

static bool varies(const StageText *t)
{
    for (uint32_t i = 0; i < t->dims.len; i++)
        if (t->dims.at[i].is.n)
            return true;
    return false;
}

/* Whether a condition of the host function depends on a size that varies; scalars may. */
static bool cond_varies(StageText *t, Str cond)
{
    static const char *const known[] = {"and", "or", "not", "min", "max", "ceildiv", "align_up"};
    for (size_t i = 0; i < cond.len;) {
        size_t end = i;
        while (end < cond.len && text_in_name(cond.at[end]))
            end++;
        Str name = str_slice(cond, i, end > i ? end : i + 1);
        bool word = end > i && (cond.at[i] < '0' || cond.at[i] > '9'), fixed = !word;
        fixed = fixed || str_is(name, "chip") || (i && cond.at[i - 1] == '.');
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            fixed = fixed || str_is(name, known[k]);
        const StageDim *dim = fixed ? NULL : stage_dim(t, name);
        if (!fixed && (!dim || dim->is.n))
            return true;
        i += name.len;
    }
    return false;
}

/* Branches that the sizes of the task decide, whatever those that vary are. */
static void drop_decided(StageText *t)
{
    uint32_t kept = 0;
    bool seen = false, ended = false;
    for (uint32_t i = 0; i < t->branches.len && !ended; i++) {
        StageBranch branch = t->branches.at[i];
        bool decided = branch.cond.len && !cond_varies(t, branch.cond);
        seen = seen || branch.taken;
        if (decided && !seen)
            continue; /* it is false */
        ended = decided && branch.taken;
        if (ended)
            branch.cond = (Str){0};
        t->branches.at[kept++] = branch;
    }
    t->branches.len = kept;
}

/* Every stage of sizes that vary parts the host function by its own conditions. */
static bool too_many_ways(const Join *j)
{
    uint64_t branches = 1;
    for (uint32_t i = 0; i < j->c->stages.len && branches <= MOST_BRANCHES; i++)
        branches *= varies(&j->texts[i]) ? j->texts[i].branches.len : 1;
    return branches > MOST_BRANCHES;
}

/* Keeps the branch that the task's sizes take and the last one, which takes all sizes. */
static void fewer_ways(StageText *t)
{
    uint32_t taken = 0;
    while (taken + 1 < t->branches.len && !t->branches.at[taken].taken)
        taken++;
    if (t->branches.len < 3 || !varies(t))
        return;
    bool last = taken + 1 == t->branches.len;
    t->branches.at[0] = t->branches.at[taken];
    t->branches.at[1] = t->branches.at[t->branches.len - 1];
    t->branches.len = last ? 1 : 2;
}

static void resettle(Join *j)
{
    for (uint32_t i = 0; i < j->c->stages.len; i++)
        for (uint32_t k = 0; k < j->texts[i].dims.len; k++)
            j->texts[i].dims.at[k].known = false;
    settle(j);
}

static bool find_sizes(Join *j)
{
    if (j->c->fixed)
        sizes_fix_all(j->sizes);
    settle(j);
    sizes_fix_unread(j->sizes);
    resettle(j);
    for (uint32_t i = 0; i < j->c->stages.len; i++)
        drop_decided(&j->texts[i]);
    for (uint32_t i = 0; i < j->c->stages.len && too_many_ways(j); i++)
        fewer_ways(&j->texts[i]);
    if (too_many_ways(j)) {
        sizes_fix_all(j->sizes);
        resettle(j);
    }
    for (uint32_t i = 0; i < j->c->stages.len; i++)
        for (uint32_t k = 0; k < j->texts[i].dims.len; k++) {
            StageDim *dim = &j->texts[i].dims.at[k];
            if (!dim->known)
                dim->is = (SizeProduct){.number = dim->value};
            sizes_limit(j->sizes, &dim->is, dim->most);
        }
    return true;
}

/* ---- tensors ---- */

static Storage *storage_of(Join *j, ValueId root)
{
    for (uint32_t i = 0; i < j->tensors.len; i++)
        if (j->tensors.at[i].value == root)
            return &j->tensors.at[i];
    return NULL;
}

static ValueId root_of(const Chain *c, const ChainStage *stage, const PlanOperand *o)
{
    return c->root[stage->outer[o->value]];
}

static void add_tensor(Join *j, const ChainStage *stage, const PlanOperand *o)
{
    const Graph *g = j->c->g;
    ValueId root = root_of(j->c, stage, o);
    bool made = graph_value(g, root)->kind == VALUE_NODE;
    Storage t = {.value = root, .dtype = o->dtype, .shape = o->shape};
    if (storage_of(j, root))
        return;
    t.shape = graph_value(g, root)->shape;
    if (graph_value(g, root)->dtype == DT_C64) { /* pairs of real numbers in the kernels */
        int64_t count = 1;
        shape_count(graph_value(g, root)->shape, &count);
        t.dtype = DT_C64;
        t.shape = (Shape){1, {count}};
    }
    t.output = graph_is_output(g, root);
    t.local = made && !t.output;
    vec_push(j->arena, &j->tensors, t);
}

/* Inputs of the task first, then its parameters, constants, outputs, what is handed on. */
static uint64_t place_of(const Graph *g, const Storage *t)
{
    for (uint32_t i = 0; i < g->inputs.len; i++)
        if (g->inputs.at[i] == t->value)
            return i;
    for (uint32_t i = 0; i < g->params.len; i++)
        if (g->params.at[i] == t->value)
            return (UINT64_C(1) << 32) + i;
    for (uint32_t i = 0; i < g->outputs.len && t->output; i++)
        if (g->outputs.at[i] == t->value)
            return (UINT64_C(3) << 32) + i;
    return (UINT64_C(t->local ? 4 : 2) << 32) + t->value;
}

static void order_tensors(Join *j)
{
    const Graph *g = j->c->g;
    uint32_t in = 0, out = 0, local = 0;
    for (uint32_t i = 1; i < j->tensors.len; i++)
        for (uint32_t k = i;
             k && place_of(g, &j->tensors.at[k]) < place_of(g, &j->tensors.at[k - 1]); k--) {
            Storage other = j->tensors.at[k];
            j->tensors.at[k] = j->tensors.at[k - 1];
            j->tensors.at[k - 1] = other;
        }
    for (uint32_t i = 0; i < j->tensors.len; i++) {
        Storage *t = &j->tensors.at[i];
        t->name = t->local    ? str_format(j->arena, "w%u", local++)
                  : t->output ? str_format(j->arena, "y%u", out++)
                              : str_format(j->arena, "x%u", in++);
    }
}

/* Its dimensions larger than 1. */
static Shape without_ones(Shape s)
{
    Shape out = {0};
    for (int i = 0; i < s.rank; i++)
        if (s.dim[i] != 1)
            out.dim[out.rank++] = s.dim[i];
    return out.rank ? out : (Shape){1, {1}};
}

static void put_dims(Join *j, const Storage *t, Buf *out)
{
    bool any = false;
    for (int i = 0; i < t->shape.rank; i++) {
        if (t->shape.dim[i] == 1)
            continue;
        SizeProduct p = {.number = t->shape.dim[i]};
        if (t->dtype != DT_C64)
            p = sizes_dim(j->sizes, t->value, i);
        buf_printf(out, ", %s", product_text(j, &p));
        any = true;
    }
    if (!any)
        buf_printf(out, ", %s", number_name(j, 1));
}

/* ---- names of a stage ---- */

/* A size that is a product is worked out by the host and handed to the kernels. */
static bool is_handed(const StageDim *dim)
{
    return dim->is.n > 1 || (dim->is.n == 1 && dim->is.number != 1);
}

static const char *dim_name(Join *j, uint32_t number, const StageDim *dim)
{
    if (is_handed(dim))
        return str_format(j->arena, "s%u_%.*s", number, STR_ARG(dim->name));
    return product_text(j, &dim->is);
}

/* The size as an expression of the host function. Products stay written out, so that equal sizes
 * are the same expression everywhere. */
static const char *host_size(Join *j, const StageDim *dim)
{
    const char *text = product_text(j, &dim->is);
    return is_handed(dim) ? str_format(j->arena, "(%s)", text) : text;
}

static const char *stage_name(const Join *j, uint32_t number)
{
    return str_format(j->arena, "%s_s%u", j->c->name, number);
}

/* Kernels and helpers are called by the number of the stage that has them. */
static void name_function(Join *j, const ChainStage *stage, uint32_t as, Str name, Renames *kernel)
{
    const char *to = str_format(j->arena, "s%u_%.*s", as, STR_ARG(name));
    if (str_starts(name, stage->planned_as)) {
        Str rest = str_slice(name, strlen(stage->planned_as), name.len);
        to = str_format(j->arena, "%s%.*s", stage_name(j, as), STR_ARG(rest));
    }
    text_add_name(j->arena, kernel, name, to);
}

/* Helpers, scalars of the host, workspaces: names that would meet another stage's. Those of its kernels are
 * the ones of stage `as`. */
static void own_names(Join *j, uint32_t number, uint32_t as, Renames *kernel, Renames *host)
{
    const ChainStage *stage = &j->c->stages.at[number];
    Str text = stage->plan.craft, line;
    bool in_host = false;
    while (str_next(&text, '\n', &line)) {
        if (line.len && line.at[0] != ' ')
            in_host = str_is(line, "@host") || (in_host && str_starts(line, "def "));
        Str name = in_host || text_indent(line) == 0 ? text_assigned(line) : (Str){0};
        int64_t size = 0;
        if (name.len && !in_host && text_fixed_size(line, &size))
            text_add_name(j->arena, kernel, name, number_name(j, size));
        else if (name.len && !str_is(name, "craft"))
            text_add_name(j->arena, in_host ? host : kernel, name,
                          str_format(j->arena, "s%u_%.*s", in_host ? number : as, STR_ARG(name)));
        ptrdiff_t open = str_find(line, STR("("));
        Str called = str_starts(line, "def ") && open > 4 ? str_slice(line, 4, (size_t)open)
                                                          : (Str){0};
        if (called.len && !in_host)
            name_function(j, stage, as, called, kernel);
    }
}

/* ---- kernels ---- */

/* What the stage hands on is no result of the task; sizes that are products are parameters. */
static void put_header(Join *j, uint32_t number, bool kernel, Str line, const Renames *names,
                       Buf *out)
{
    const ChainStage *stage = &j->c->stages.at[number];
    const StageText *t = &j->texts[number];
    const char *text = str_dup(j->arena, line);
    for (uint32_t i = 0; i < stage->plan.operands.len && kernel; i++) {
        const PlanOperand *o = &stage->plan.operands.at[i];
        const char *from = str_format(j->arena, "%s: out[", o->name), *at = text;
        if (!o->output || !storage_of(j, root_of(j->c, stage, o))->local)
            continue;
        while ((at = strstr(at, from)) && at > text && text_in_name(at[-1]))
            at++;
        if (at)
            text = str_format(j->arena, "%.*s%s: ws[%s", (int)(at - text), text, o->name,
                              at + strlen(from));
    }
    Str head = str_from(text);
    head = str_slice(head, 0, head.len - (str_ends(head, "):") ? 2 : 0));
    text_rename(names, head, out);
    for (uint32_t i = 0; i < t->dims.len && kernel; i++)
        if (is_handed(&t->dims.at[i]))
            buf_printf(out, ", %s: i64", dim_name(j, j->as[number], &t->dims.at[i]));
    buf_puts(out, "):\n");
}

/* A kernel that is launched, with its decorator, or a helper, with none. */
static void put_function(Join *j, uint32_t number, Str kernel, Str text, const Renames *names,
                         Buf *out)
{
    Str line;
    str_next(&text, '\n', &line);
    ptrdiff_t open = str_find(line, STR("("));
    if (kernel.len &&
        !stage_uses(&j->texts[number], str_slice(line, 4, open > 4 ? (size_t)open : 4)))
        return;
    buf_printf(out, "\n%.*s%s", STR_ARG(kernel), kernel.len ? "\n" : "");
    put_header(j, number, kernel.len > 0, line, names, out);
    while (str_next(&text, '\n', &line) && (!line.len || line.at[0] == ' '))
        if (line.len) {
            text_rename(names, line, out);
            buf_char(out, '\n');
        }
}

static Str functions_text(Join *j, uint32_t number, const Renames *names)
{
    Str rest = j->c->stages.at[number].plan.craft, before = rest, line;
    Str mark = {0}; /* the decorator of the next function */
    Buf out = {0};
    for (; str_next(&rest, '\n', &line); before = rest) {
        if (str_starts(line, "@"))
            mark = line;
        if (!str_starts(line, "def "))
            continue;
        if (!str_is(mark, "@host"))
            put_function(j, number, mark, before, names, &out);
        mark = (Str){0};
    }
    Str text = str_from(buf_take(&out, j->arena));
    buf_free(&out);
    return text;
}

/* Where no size varies, only the branch that the sizes take is kept. */
static void keep_taken(Join *j, uint32_t number)
{
    StageText *t = &j->texts[number];
    for (uint32_t i = 0; i < t->branches.len && !varies(t); i++)
        if (t->branches.at[i].taken) {
            t->branches.at[0] = t->branches.at[i];
            t->branches.at[0].cond = (Str){0};
            t->branches.len = 1;
        }
}

/* The text of the stage's kernels when they are called by the number of stage `as`, and the names for it. */
static Str functions_as(Join *j, uint32_t number, uint32_t as, Renames *kernel, Renames *host)
{
    const StageText *t = &j->texts[number];
    j->as[number] = as;
    *kernel = *host = (Renames){0};
    for (uint32_t i = 0; i < t->dims.len; i++)
        text_add_name(j->arena, kernel, t->dims.at[i].name, dim_name(j, as, &t->dims.at[i]));
    own_names(j, number, as, kernel, host);
    return functions_text(j, number, kernel);
}

/* An earlier stage of the same plan has the same kernels, unless sizes or the kinds of its results differ. */
static Str join_functions(Join *j, uint32_t number, Renames *kernel, Renames *host)
{
    const ChainStage *stage = &j->c->stages.at[number];
    for (uint32_t i = 0; i < number; i++) {
        if (j->c->stages.at[i].known != stage->known || j->as[i] != i)
            continue;
        Str text = functions_as(j, number, i, kernel, host);
        if (str_equal(text, j->functions[i]))
            return (Str){0};
    }
    return functions_as(j, number, number, kernel, host);
}

static void join_stage(Join *j, uint32_t number)
{
    const ChainStage *stage = &j->c->stages.at[number];
    StageText *t = &j->texts[number];
    Renames kernel = {0}, own = {0}, *host = &j->names[number];
    keep_taken(j, number);
    if (j->c->stages.len > 1)
        stage_on_all_cores(j->arena, stage->plan.craft, t);
    j->functions[number] = join_functions(j, number, &kernel, &own);
    buf_str(&j->kernels, j->functions[number]);
    for (uint32_t i = 0; i < t->dims.len; i++)
        text_add_name(j->arena, host, t->dims.at[i].name, host_size(j, &t->dims.at[i]));
    for (uint32_t i = 0; i < stage->plan.operands.len; i++) {
        const PlanOperand *o = &stage->plan.operands.at[i];
        text_add_name(j->arena, host, str_from(o->name),
                      storage_of(j, root_of(j->c, stage, o))->name);
    }
    for (uint32_t i = 0; i < own.len; i++)
        text_add_name(j->arena, host, own.at[i].from, own.at[i].to);
    for (uint32_t i = 0; i < kernel.len; i++)
        text_add_name(j->arena, host, kernel.at[i].from, kernel.at[i].to);
}

/* ---- the host function ---- */

static void put_line(Join *j, uint32_t number, int depth, Str line)
{
    const StageText *t = &j->texts[number];
    Buf text = {0};
    text_rename(&j->names[number], str_trim(text_first_choice(j->arena, line)), &text);
    Str s = buf_view(&text);
    bool launch = str_starts(s, stage_name(j, j->as[number])) && str_ends(s, ")") &&
                  str_find(s, STR("](")) > 0;
    buf_fill(&j->host, ' ', (size_t)depth * 4);
    buf_str(&j->host, str_slice(s, 0, s.len - launch));
    for (uint32_t i = 0; i < t->dims.len && launch; i++)
        if (is_handed(&t->dims.at[i]))
            buf_printf(&j->host, ", %s", product_text(j, &t->dims.at[i].is));
    buf_puts(&j->host, launch ? ")\n" : "\n");
    buf_free(&text);
}

/* Limits of sizes that are products, and what each stage works out before its branches part. */
static void put_common(Join *j)
{
    for (uint32_t n = 0; n < j->c->stages.len; n++) {
        const StageText *t = &j->texts[n];
        for (uint32_t i = 0; i < t->dims.len; i++) {
            const StageDim *dim = &t->dims.at[i];
            if (!is_handed(dim))
                continue;
            buf_printf(&j->host, "    assert %s <= %lld, \"too many elements\"\n",
                       product_text(j, &dim->is), (long long)dim->most);
        }
        for (uint32_t i = 0; i < t->common.len; i++)
            put_line(j, n, 1, t->common.at[i]);
    }
}

/* The branches of all stages, one inside the other; launches stand at the ends. */
static void put_branches(Join *j, uint32_t number, int depth, uint32_t *chosen)
{
    if (number == j->c->stages.len) {
        for (uint32_t n = 0; n < number; n++) {
            const StageBranch *branch = &j->texts[n].branches.at[chosen[n]];
            for (uint32_t i = 0; i < branch->lines.len; i++)
                put_line(j, n, depth, branch->lines.at[i]);
        }
        return;
    }
    const StageText *t = &j->texts[number];
    for (uint32_t i = 0; i < t->branches.len; i++) {
        chosen[number] = i;
        if (t->branches.len > 1) {
            bool otherwise = !t->branches.at[i].cond.len;
            buf_fill(&j->host, ' ', (size_t)depth * 4);
            buf_puts(&j->host, otherwise ? "else" : i ? "elif " : "if ");
            text_rename(&j->names[number], t->branches.at[i].cond, &j->host);
            buf_puts(&j->host, ":\n");
        }
        put_branches(j, number + 1, depth + (t->branches.len > 1), chosen);
    }
}

/* ---- the program ---- */

/* "binary.mul, reduce.sum" */
static const char *stage_operators(Arena *arena, const ChainStage *stage)
{
    Buf out = {0};
    for (uint32_t i = 0; i < stage->graph->nodes.len; i++) {
        const char *kind = node_kind_name(&stage->graph->nodes.at[i]);
        buf_printf(&out, "%s%s%s%s", i ? ", " : "", op_rows[stage->graph->nodes.at[i].op].name,
                   *kind ? "." : "", kind);
    }
    const char *text = out.len ? buf_take(&out, arena) : "";
    buf_free(&out);
    return text;
}

static void put_comments(const char *text, Buf *out)
{
    Str rest = str_from(text), line;
    while (str_next(&rest, '\n', &line))
        if (line.len)
            buf_printf(out, "#    %.*s\n", STR_ARG(line));
}

static void put_stage_reasons(Arena *arena, const ChainStage *stage, uint32_t number, Buf *out)
{
    const Plan *plan = &stage->plan;
    buf_printf(out, "# %u. %s: strategy %s.\n", number + 1, stage_operators(arena, stage),
               plan->strategy);
    put_comments(plan->reason, out);
    put_comments(plan->schedule, out);
}

static bool any_varies(const Join *j)
{
    for (uint32_t i = 0; i < j->c->stages.len; i++)
        if (varies(&j->texts[i]))
            return true;
    return false;
}

static void put_reasons(Join *j, Buf *out)
{
    double least = 0, handed = 0;
    for (uint32_t i = 0; i < j->tensors.len; i++) {
        const Storage *t = &j->tensors.at[i];
        int64_t bytes = 0;
        shape_bytes(t->shape, t->dtype, &bytes);
        *(t->local ? &handed : &least) += (double)bytes;
    }
    buf_printf(out, "# Planned by acraft for %s, strategy chain.\n", j->c->chip->name);
    buf_printf(out,
               "# No single kernel computes it: %u stages, one after the other, each planned "
               "alone%s.\n",
               j->c->stages.len, any_varies(j) ? "" : " for the sizes of this task");
    buf_printf(
        out,
        "# Least traffic at this task's sizes: %s, each operand once; %s are handed on through "
        "workspaces.\n",
        plan_bytes(j->c->arena, least), plan_bytes(j->c->arena, handed));
    for (uint32_t i = 0; i < j->c->stages.len; i++)
        put_stage_reasons(j->arena, &j->c->stages.at[i], i, out);
}

static void put_signature(Join *j, Buf *out)
{
    bool first = true;
    buf_printf(out, "\n@host\ndef %s(", j->c->name);
    for (uint32_t i = 0; i < j->tensors.len; i++) {
        const Storage *t = &j->tensors.at[i];
        if (t->local)
            continue;
        buf_printf(out, "%s%s: %s[%s", first ? "" : ", ", t->name, t->output ? "out" : "gm",
                   dtype_name(t->dtype));
        put_dims(j, t, out);
        buf_char(out, ']');
        first = false;
    }
    buf_puts(out, "):\n");
    for (uint32_t i = 0; i < j->tensors.len; i++) {
        const Storage *t = &j->tensors.at[i];
        if (!t->local)
            continue;
        buf_printf(out, "    %s = workspace(%s", t->name, dtype_name(t->dtype));
        put_dims(j, t, out);
        buf_puts(out, ")\n");
    }
}

static void put_sizes(Join *j, Buf *out)
{
    const ChainSizes *s = j->sizes;
    for (uint32_t n = 0; n < s->named; n++) {
        const char *name = str_format(j->arena, "size%u", n);
        for (uint32_t i = 0; i < s->g->values.len * GRAPH_MAX_RANK; i++)
            if (s->classes[i].name && str_is(str_from(s->classes[i].name), name))
                buf_printf(out, "%s = dim(1, %lld)\n", name, (long long)s->classes[i].most);
    }
    for (uint32_t i = 0; i < j->numbers.len; i++)
        buf_printf(out, "d%lld = dim(%lld)\n", (long long)j->numbers.at[i],
                   (long long)j->numbers.at[i]);
}

static Str put_program(Join *j)
{
    Buf out = {0}, signature = {0};
    uint32_t *chosen = arena_array(j->arena, uint32_t, j->c->stages.len + 1);
    put_signature(j, &signature);
    for (uint32_t i = 0; i < j->c->stages.len; i++)
        join_stage(j, i);
    put_common(j);
    put_branches(j, 0, 1, chosen);
    put_reasons(j, &out);
    buf_puts(&out, "craft = 1\n\n");
    put_sizes(j, &out);
    buf_str(&out, buf_view(&signature));
    buf_str(&out, buf_view(&j->host));
    buf_str(&out, buf_view(&j->kernels));
    Str text = str_from(buf_take(&out, j->arena));
    buf_free(&out);
    buf_free(&signature);
    return text;
}

static bool all_made(Join *j)
{
    const Graph *g = j->c->g;
    for (uint32_t i = 0; i < g->outputs.len; i++) {
        const Storage *t = storage_of(j, g->outputs.at[i]);
        if (!t || !t->output || graph_value(g, t->value)->kind != VALUE_NODE)
            return false;
    }
    return true;
}

static bool read_stages(Join *j)
{
    uint32_t n = j->c->stages.len;
    j->texts = arena_array(j->arena, StageText, n + 1);
    j->names = arena_array(j->arena, Renames, n + 1);
    j->as = arena_array(j->arena, uint32_t, n + 1);
    j->functions = arena_array(j->arena, Str, n + 1);
    for (uint32_t i = 0; i < n; i++)
        if (!stage_read(j->arena, j->c->chip, &j->c->stages.at[i].plan, &j->texts[i]))
            return false;
    return true;
}

bool chain_join(Chain *c, Plan *plan)
{
    Join j = {.c = c, .arena = c->arena, .sizes = chain_sizes(c->arena, c->g)};
    for (uint32_t i = 0; i < c->stages.len; i++)
        for (uint32_t k = 0; k < c->stages.at[i].plan.operands.len; k++)
            add_tensor(&j, &c->stages.at[i], &c->stages.at[i].plan.operands.at[k]);
    order_tensors(&j);
    bool ok = all_made(&j) && read_stages(&j) && find_sizes(&j);
    *plan = (Plan){.strategy = "chain", .name = c->name, .tile = c->stages.at[0].plan.tile};
    if (ok)
        plan->craft = put_program(&j);
    for (uint32_t i = 0; i < c->stages.len; i++)
        vec_push(c->arena, &plan->stages,
                 ((PlanStage){stage_operators(c->arena, &c->stages.at[i]),
                              c->stages.at[i].plan.strategy, c->stages.at[i].plan.schedule}));
    for (uint32_t i = 0; i < j.tensors.len && ok; i++) {
        const Storage *t = &j.tensors.at[i];
        PlanOperand o = {.value = t->value,
                         .output = t->output,
                         .name = t->name,
                         .dtype = t->dtype,
                         .shape = without_ones(t->shape)};
        if (t->dtype == DT_C64)
            o.shape = (Shape){2, {t->shape.dim[0], 2}};
        if (!t->local)
            vec_push(c->arena, &plan->operands, o);
    }
    buf_free(&j.host);
    buf_free(&j.kernels);
    return ok;
}
