/* Reading a stage's text; see chain_stage.h. */
#include "gen/plan/chain_stage.h"

#include "craft/craft.h"
#include <string.h>

/* ---- at the task's sizes ---- */

static bool run_host(Arena *arena, const NpuChip *chip, const Plan *plan, StageText *t)
{
    Diag said = diag_make(arena, "plan", plan->craft);
    CraftFile *file = craft_read(arena, "plan", plan->craft, &said);
    t->p = file && diag_ok(&said) ? craft_program(arena, file, 0, &said) : NULL;
    if (!t->p || t->p->operand_count != plan->operands.len)
        return false;
    IrShape *shapes = arena_array(arena, IrShape, plan->operands.len + 1);
    for (uint32_t i = 0; i < plan->operands.len; i++) {
        shapes[i].rank = (uint32_t)plan->operands.at[i].shape.rank;
        memcpy(shapes[i].dim, plan->operands.at[i].shape.dim, sizeof shapes[i].dim);
    }
    IrHostInput in = {.operands = shapes};
    return ir_host_run(arena, t->p, chip, &in, &t->run, &said);
}

static bool is_launched(const StageText *t, uint32_t line)
{
    for (uint32_t i = 0; i < t->run.launches.len; i++)
        if (t->p->stmts.at[t->run.launches.at[i].stmt].at.line == line)
            return true;
    return false;
}

bool stage_uses(const StageText *t, Str kernel)
{
    for (uint32_t w = 0; w < t->branches.len; w++)
        for (uint32_t i = 0; i < t->branches.at[w].lines.len; i++) {
            Str line = str_trim(t->branches.at[w].lines.at[i]);
            bool starts = line.len > kernel.len && line.at[kernel.len] == '[';
            if (starts && str_equal(str_slice(line, 0, kernel.len), kernel))
                return true;
        }
    return false;
}

/* ---- the text ---- */

static void add_branch(Arena *arena, StageText *t, Str line)
{
    StageBranch branch = {0};
    Str trimmed = str_trim(line);
    size_t from = str_starts(trimmed, "if ") ? 3 : str_starts(trimmed, "elif ") ? 5 : trimmed.len;
    if (from < trimmed.len)
        branch.cond = str_slice(trimmed, from, trimmed.len - 1);
    vec_push(arena, &t->branches, branch);
}

/* Lines of the host function, from the one that has the number `at`. */
static bool read_host(Arena *arena, StageText *t, Str text, uint32_t at)
{
    Str line;
    VEC(Str) plain = {0};
    bool taken = false;
    for (; str_next(&text, '\n', &line) && (!line.len || line.at[0] == ' '); at++) {
        size_t indent = text_indent(line);
        bool begins_branch = text_is_branch(str_trim(line));
        if (!line.len)
            continue;
        if (begins_branch && indent == 4) {
            add_branch(arena, t, line);
        } else if (begins_branch || (indent == 4 && t->branches.len)) {
            return false;
        } else if (indent == 4) {
            vec_push(arena, &plain, line);
            taken = taken || is_launched(t, at);
        } else {
            StageBranch *branch = &t->branches.at[t->branches.len - 1];
            vec_push(arena, &branch->lines, line);
            branch->taken = branch->taken || is_launched(t, at);
        }
    }
    if (!t->branches.len)
        add_branch(arena, t, STR(""));
    bool parts = t->branches.at[0].lines.len > 0, asserts = true;
    t->branches.at[0].taken = t->branches.at[0].taken || taken;
    for (uint32_t i = 0; i < plain.len; i++) {
        asserts = asserts &&
                  str_starts(str_trim(plain.at[i]), "assert "); /* hold on every branch */
        if (parts || asserts)
            vec_push(arena, &t->common, plain.at[i]);
        else
            vec_push(arena, &t->branches.at[0].lines, plain.at[i]);
    }
    return true;
}

static void read_top(Arena *arena, StageText *t, Str line)
{
    StageDim dim = {.name = text_assigned(line)};
    if (!text_size_range(line, &dim.most))
        return;
    for (uint32_t i = 0; i < t->p->dims.len; i++) {
        IrScalar value;
        IrVarId var = t->p->dims.at[i];
        if (str_is(dim.name, t->p->vars.at[var].name) &&
            ir_host_eval(&t->run, ir_var(t->p, var), &value))
            dim.value = value.i;
    }
    vec_push(arena, &t->dims, dim);
}

StageDim *stage_dim(StageText *t, Str name)
{
    for (uint32_t i = 0; i < t->dims.len; i++)
        if (str_equal(t->dims.at[i].name, name))
            return &t->dims.at[i];
    return NULL;
}

Str stage_axes(Arena *arena, const StageText *t, const PlanOperand *o)
{
    const char *head = str_format(arena, "%s: %s[", o->name, o->output ? "out" : "gm");
    ptrdiff_t at = str_find(t->signature, str_from(head));
    while (at > 0 && text_in_name(t->signature.at[at - 1])) {
        ptrdiff_t more = str_find(str_slice(t->signature, (size_t)at + 1, t->signature.len),
                                  str_from(head));
        at = more < 0 ? -1 : at + 1 + more;
    }
    if (at < 0)
        return (Str){0};
    Str rest = str_slice(t->signature, (size_t)at + strlen(head), t->signature.len);
    ptrdiff_t end = str_find(rest, STR("]")), comma = str_find(rest, STR(","));
    return end < 0 || comma < 0 || comma > end ? (Str){0}
                                               : str_slice(rest, (size_t)comma + 1, (size_t)end);
}

bool stage_read(Arena *arena, const NpuChip *chip, const Plan *plan, StageText *t)
{
    Str rest = plan->craft, line;
    *t = (StageText){0};
    if (!run_host(arena, chip, plan, t))
        return false;
    bool host = false, top = true, ok = false;
    for (uint32_t at = 1; str_next(&rest, '\n', &line); at++) {
        host = host || str_is(line, "@host");
        top = top && !host && !str_starts(line, "@") && !str_starts(line, "def ");
        if (top && line.len && line.at[0] != '#')
            read_top(arena, t, line);
        if (host && str_starts(line, "def ") && !t->signature.len) {
            t->signature = line;
            ok = read_host(arena, t, rest, at + 1);
        }
    }
    return ok;
}
