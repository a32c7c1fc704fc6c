/* Joining stages. In: planned stages. Out: one program. Of each stage the launches that its host
 * function makes at the task's sizes are kept; its sizes become constants, its names its own. */
#include "gen/plan/chain.h"

#include "craft/craft.h"
#include "ir/host.h"
#include <string.h>

typedef struct Rename {
    Str from;
    const char *to;
} Rename;

typedef VEC(Rename) Renames;

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
    VEC(Storage) tensors;
    VEC(int64_t) sizes;
    Buf host, kernels;
} Join;

/* ---- names ---- */

static bool is_letter(char ch)
{
    return ch == '_' || (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z');
}

static bool in_name(char ch) { return is_letter(ch) || (ch >= '0' && ch <= '9'); }

static const char *new_name(const Renames *names, Str name)
{
    for (uint32_t i = 0; i < names->len; i++)
        if (str_equal(names->at[i].from, name))
            return names->at[i].to;
    return NULL;
}

static void put_renamed(const Renames *names, Str text, Buf *out)
{
    for (size_t i = 0; i < text.len;) {
        size_t from = i;
        bool starts = is_letter(text.at[i]) && (i == 0 || !in_name(text.at[i - 1]));
        while (starts && i < text.len && in_name(text.at[i]))
            i++;
        if (!starts) {
            buf_char(out, text.at[i++]);
            continue;
        }
        Str name = str_slice(text, from, i);
        const char *to = from && text.at[from - 1] == '.' ? NULL : new_name(names, name);
        if (to)
            buf_puts(out, to);
        else
            buf_str(out, name);
    }
}

static void add_name(Join *j, Renames *names, Str from, const char *to)
{
    Rename r = {from, to};
    if (!new_name(names, from))
        vec_push(j->arena, names, r);
}

/* The name before " = "; empty where the line assigns nothing. */
static Str assigned(Str line)
{
    Str trimmed = str_trim(line);
    ptrdiff_t at = str_find(trimmed, STR(" = "));
    Str name = str_slice(trimmed, 0, at > 0 ? (size_t)at : 0);
    for (size_t i = 0; i < name.len; i++)
        if (!in_name(name.at[i]))
            return (Str){0};
    return name;
}

/* ---- what a stage is at the task's sizes ---- */

typedef struct Sized {
    IrProgram *p;
    IrHostRun run;
} Sized;

static bool run_stage(Join *j, const Plan *plan, Sized *s)
{
    Diag said = diag_make(j->arena, "plan", plan->craft);
    CraftFile *file = craft_read(j->arena, "plan", plan->craft, &said);
    s->p = file && diag_ok(&said) ? craft_program(j->arena, file, 0, &said) : NULL;
    if (!s->p || s->p->operand_count != plan->operands.len)
        return false;
    IrShape *shapes = arena_array(j->arena, IrShape, plan->operands.len + 1);
    for (uint32_t i = 0; i < plan->operands.len; i++) {
        shapes[i].rank = (uint32_t)plan->operands.at[i].shape.rank;
        memcpy(shapes[i].dim, plan->operands.at[i].shape.dim, sizeof shapes[i].dim);
    }
    IrHostInput in = {.operands = shapes};
    return ir_host_run(j->arena, s->p, j->c->chip, &in, &s->run, &said);
}

static bool is_launched(const Sized *s, uint32_t line)
{
    for (uint32_t i = 0; i < s->run.launches.len; i++)
        if (s->p->stmts.at[s->run.launches.at[i].stmt].at.line == line)
            return true;
    return false;
}

/* "def relu_rows(x: ..." */
static bool is_used(const Sized *s, Str line)
{
    ptrdiff_t open = str_find(line, STR("("));
    Str name = str_slice(line, 4, open > 4 ? (size_t)open : 4);
    for (uint32_t i = 0; i < s->run.launches.len; i++) {
        const IrStmt *launch = &s->p->stmts.at[s->run.launches.at[i].stmt];
        if (str_is(name, s->p->kernels.at[launch->kernel].name))
            return true;
    }
    return false;
}

static const char *size_name(Join *j, int64_t size)
{
    bool known = false;
    for (uint32_t i = 0; i < j->sizes.len; i++)
        known = known || j->sizes.at[i] == size;
    if (!known)
        vec_push(j->arena, &j->sizes, size);
    return str_format(j->arena, "d%lld", (long long)size);
}

static bool name_sizes(Join *j, Sized *s, Renames *names)
{
    for (uint32_t i = 0; i < s->p->dims.len; i++) {
        IrScalar value;
        IrVarId dim = s->p->dims.at[i];
        if (!ir_host_eval(&s->run, ir_var(s->p, dim), &value))
            return false;
        add_name(j, names, str_from(s->p->vars.at[dim].name), size_name(j, value.i));
    }
    return true;
}

/* ---- tensors ---- */

static bool is_output(const Graph *g, ValueId id)
{
    for (uint32_t i = 0; i < g->outputs.len; i++)
        if (g->outputs.at[i] == id)
            return true;
    return false;
}

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
    if (graph_value(g, root)->dtype == DT_C64) { /* pairs of real numbers in the kernels */
        int64_t count = 1;
        shape_count(graph_value(g, root)->shape, &count);
        t.dtype = DT_C64;
        t.shape = (Shape){1, {count}};
    }
    t.output = is_output(g, root);
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

static void put_dims(Join *j, Shape shape, Buf *out)
{
    for (int i = 0; i < shape.rank; i++)
        buf_printf(out, ", %s", size_name(j, shape.dim[i]));
    if (shape.rank == 0)
        buf_printf(out, ", %s", size_name(j, 1));
}

/* ---- a stage's text ---- */

static size_t indent_of(Str line)
{
    size_t n = 0;
    while (n < line.len && line.at[n] == ' ')
        n++;
    return n;
}

static bool is_branch(Str trimmed)
{
    return str_starts(trimmed, "if ") || str_starts(trimmed, "elif ") || str_is(trimmed, "else:");
}

/* Whether a launch that happens stands in the block behind the branch. */
static bool is_taken(const Sized *s, Str rest, size_t indent, uint32_t line)
{
    Str next;
    while (str_next(&rest, '\n', &next) && indent_of(next) > indent)
        if (is_launched(s, ++line))
            return true;
    return false;
}

/* tile = choose("tile", [4096, 2048])  ─▶  tile = 4096 */
static Str first_choice(Arena *arena, Str line)
{
    ptrdiff_t at = str_find(line, STR("choose(")), list = str_find(line, STR("["));
    if (at < 0 || list < at)
        return line;
    size_t end = (size_t)list + 1;
    while (end < line.len && line.at[end] != ',' && line.at[end] != ']')
        end++;
    return str_from(str_format(arena, "%.*s%.*s", (int)at, line.at, (int)(end - (size_t)list - 1),
                               line.at + list + 1));
}

static void put_host_line(Join *j, const Renames *names, Str line)
{
    buf_puts(&j->host, "    ");
    put_renamed(names, str_trim(first_choice(j->arena, line)), &j->host);
    buf_char(&j->host, '\n');
}

/* What the stage hands on is no result of the task. */
static void put_header(Join *j, const ChainStage *stage, Str line, const Renames *names)
{
    const char *text = str_dup(j->arena, line);
    for (uint32_t i = 0; i < stage->plan.operands.len; i++) {
        const PlanOperand *o = &stage->plan.operands.at[i];
        const char *from = str_format(j->arena, "%s: out[", o->name), *at = text;
        if (!o->output || !storage_of(j, root_of(j->c, stage, o))->local)
            continue;
        while ((at = strstr(at, from)) && at > text && in_name(at[-1]))
            at++;
        if (at)
            text = str_format(j->arena, "%.*s%s: ws[%s", (int)(at - text), text, o->name,
                              at + strlen(from));
    }
    put_renamed(names, str_from(text), &j->kernels);
    buf_char(&j->kernels, '\n');
}

/* d64 = dim(64) */
static bool fixed_size(Str line, int64_t *size)
{
    ptrdiff_t at = str_find(line, STR(" = dim("));
    if (at < 0 || !str_ends(line, ")"))
        return false;
    return str_to_i64(str_slice(line, (size_t)at + 7, line.len - 1), size);
}

/* Names of the stage that would meet another's: helpers, scalars of the host, workspaces. */
static void own_names(Join *j, uint32_t number, Str text, Renames *kernel, Renames *host)
{
    Str line;
    bool in_host = false;
    while (str_next(&text, '\n', &line)) {
        if (line.len && line.at[0] != ' ')
            in_host = str_is(line, "@host") || (in_host && str_starts(line, "def "));
        Str name = in_host || indent_of(line) == 0 ? assigned(line) : (Str){0};
        int64_t size = 0;
        if (name.len && !in_host && fixed_size(line, &size))
            add_name(j, kernel, name, size_name(j, size));
        else if (name.len && !str_is(name, "craft"))
            add_name(j, in_host ? host : kernel, name,
                     str_format(j->arena, "s%u_%.*s", number, STR_ARG(name)));
        ptrdiff_t open = str_find(line, STR("("));
        if (str_starts(line, "def ") && open > 4) {
            Str called = str_slice(line, 4, (size_t)open);
            if (!str_starts(called, j->c->stages.at[number].graph->name))
                add_name(j, kernel, called,
                         str_format(j->arena, "s%u_%.*s", number, STR_ARG(called)));
        }
    }
}

/* Lines of the host function, of branches that are taken only. */
static void put_host(Join *j, const Sized *s, Str text, uint32_t at, const Renames *names)
{
    Str line;
    size_t skip = SIZE_MAX;
    for (; str_next(&text, '\n', &line) && (!line.len || line.at[0] == ' '); at++) {
        size_t indent = indent_of(line);
        if (!line.len || indent > skip)
            continue;
        skip = SIZE_MAX;
        if (!is_branch(str_trim(line)))
            put_host_line(j, names, line);
        else if (!is_taken(s, text, indent, at))
            skip = indent;
    }
}

/* A kernel that is launched, or a helper. */
static void put_function(Join *j, const ChainStage *stage, const Sized *s, bool kernel, Str text,
                         const Renames *names)
{
    Str line;
    str_next(&text, '\n', &line);
    if (kernel && !is_used(s, line))
        return;
    buf_puts(&j->kernels, kernel ? "\n@kernel\n" : "\n");
    put_header(j, stage, line, names);
    while (str_next(&text, '\n', &line) && (!line.len || line.at[0] == ' '))
        if (line.len) {
            put_renamed(names, line, &j->kernels);
            buf_char(&j->kernels, '\n');
        }
}

static void put_stage(Join *j, uint32_t number, const Sized *s, const Renames *kernel,
                      const Renames *host)
{
    const ChainStage *stage = &j->c->stages.at[number];
    Str rest = stage->plan.craft, before = rest, line;
    enum { HELPER, HOST, KERNEL } next = HELPER;
    for (uint32_t at = 1; str_next(&rest, '\n', &line); at++, before = rest) {
        if (str_is(line, "@host") || str_is(line, "@kernel"))
            next = str_is(line, "@host") ? HOST : KERNEL;
        if (!str_starts(line, "def "))
            continue;
        if (next == HOST)
            put_host(j, s, rest, at + 1, host);
        else
            put_function(j, stage, s, next == KERNEL, before, kernel);
        next = HELPER;
    }
}

static bool join_stage(Join *j, uint32_t number)
{
    const ChainStage *stage = &j->c->stages.at[number];
    Renames kernel = {0}, host = {0};
    Sized s;
    if (!run_stage(j, &stage->plan, &s) || !name_sizes(j, &s, &kernel))
        return false;
    for (uint32_t i = 0; i < stage->plan.operands.len; i++) {
        const PlanOperand *o = &stage->plan.operands.at[i];
        add_name(j, &host, str_from(o->name), storage_of(j, root_of(j->c, stage, o))->name);
    }
    own_names(j, number, stage->plan.craft, &kernel, &host);
    for (uint32_t i = 0; i < kernel.len; i++)
        add_name(j, &host, kernel.at[i].from, kernel.at[i].to);
    put_stage(j, number, &s, &kernel, &host);
    return true;
}

/* ---- the program ---- */

/* What a strategy says of itself; what it says of other sizes is left out. */
static void put_stage_reasons(const ChainStage *stage, uint32_t number, Buf *out)
{
    Str rest = stage->plan.craft, line;
    buf_printf(out, "# %u. ", number + 1);
    for (uint32_t i = 0; i < stage->graph->nodes.len; i++) {
        const char *kind = node_kind_name(&stage->graph->nodes.at[i]);
        buf_printf(out, "%s%s%s%s", i ? ", " : "", op_rows[stage->graph->nodes.at[i].op].name,
                   *kind ? "." : "", kind);
    }
    buf_printf(out, ": strategy %s.\n", stage->plan.strategy);
    while (str_next(&rest, '\n', &line) && str_starts(line, "#")) {
        if (str_starts(line, "# Least") || str_starts(line, "# If") ||
            str_starts(line, "# Otherwise") || str_starts(line, "# Tiles"))
            break;
        if (!str_starts(line, "# Planned by"))
            buf_printf(out, "#    %.*s\n", STR_ARG(str_trim(str_slice(line, 1, line.len))));
    }
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
               "alone for the sizes of this task.\n",
               j->c->stages.len);
    buf_printf(out,
               "# Least traffic at these sizes: %.4g MB, each operand once; %.4g MB are handed on "
               "through workspaces.\n",
               least / 1e6, handed / 1e6);
    for (uint32_t i = 0; i < j->c->stages.len; i++)
        put_stage_reasons(&j->c->stages.at[i], i, out);
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
        put_dims(j, t->shape, out);
        buf_char(out, ']');
        first = false;
    }
    buf_puts(out, "):\n");
    for (uint32_t i = 0; i < j->tensors.len; i++) {
        const Storage *t = &j->tensors.at[i];
        if (!t->local)
            continue;
        buf_printf(out, "    %s = workspace(%s", t->name, dtype_name(t->dtype));
        put_dims(j, t->shape, out);
        buf_puts(out, ")\n");
    }
}

static Str put_program(Join *j)
{
    Buf out = {0}, signature = {0};
    put_signature(j, &signature);
    put_reasons(j, &out);
    buf_puts(&out, "craft = 1\n\n");
    for (uint32_t i = 0; i < j->sizes.len; i++)
        buf_printf(&out, "d%lld = dim(%lld)\n", (long long)j->sizes.at[i],
                   (long long)j->sizes.at[i]);
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

bool chain_join(Chain *c, Plan *plan)
{
    Join j = {.c = c, .arena = c->arena};
    bool ok = true;
    for (uint32_t i = 0; i < c->stages.len; i++)
        for (uint32_t k = 0; k < c->stages.at[i].plan.operands.len; k++)
            add_tensor(&j, &c->stages.at[i], &c->stages.at[i].plan.operands.at[k]);
    ok = all_made(&j);
    order_tensors(&j);
    for (uint32_t i = 0; i < c->stages.len && ok; i++)
        ok = join_stage(&j, i);
    *plan = (Plan){.strategy = "chain", .name = c->name, .tile = c->stages.at[0].plan.tile};
    if (ok)
        plan->craft = put_program(&j);
    for (uint32_t i = 0; i < j.tensors.len && ok; i++) {
        const Storage *t = &j.tensors.at[i];
        PlanOperand o = {.value = t->value,
                         .output = t->output,
                         .name = t->name,
                         .dtype = t->dtype,
                         .shape = t->shape};
        if (t->dtype == DT_C64)
            o.shape = (Shape){2, {t->shape.dim[0], 2}};
        if (!t->local)
            vec_push(c->arena, &plan->operands, o);
    }
    buf_free(&j.host);
    buf_free(&j.kernels);
    return ok;
}
