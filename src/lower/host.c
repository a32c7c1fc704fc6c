/* Pass 1, host. In: the host function. Out: fields of the tiling struct, one path with a tiling
 * key for each path through the function, and what each launch hands to its kernel.
 *
 * The host function itself stays tile IR: an emitter prints or runs its statements, and at each
 * launch fills the fields named here. */
#include "lower/lower_int.h"

#include <ctype.h>
#include <string.h>

static bool has_launch(const Lower *l, const IrBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &l->ir->stmts.at[block->at[i]];
        if (s->kind == IR_S_LAUNCH || has_launch(l, &s->body) || has_launch(l, &s->orelse))
            return true;
    }
    return false;
}

/* ---- paths ---- */

static bool walk_paths(Lower *l, const IrBlock *block);

static bool refuse_mixed(Lower *l, Span at)
{
    diag_error(l->diag, "E092", at, "launches stand both outside and inside an 'if'");
    diag_hint(l->diag, "give each branch all of its launches, after everything else");
    return false;
}

static bool end_path(Lower *l, const IrBlock *block)
{
    AscPath path = {.key = l->out->paths.len + 1};
    for (uint32_t i = 0; i < block->len; i++) {
        IrStmt *s = &l->ir->stmts.at[block->at[i]];
        if (s->kind != IR_S_LAUNCH)
            continue;
        AscLaunch launch = {.stmt = block->at[i], .kernel = s->kernel, .cores_field = UINT32_MAX};
        vec_push(l->arena, &path.launches, launch);
        l->out->kernels.at[s->kernel].launched = true;
    }
    vec_push(l->arena, &l->out->paths, path);
    return true;
}

static bool walk_branches(Lower *l, const IrStmt *s)
{
    Span at = s->at;
    if (!has_launch(l, &s->body) || !has_launch(l, &s->orelse)) {
        diag_error(l->diag, "E092", at, "one branch of this 'if' launches nothing");
        diag_hint(l->diag, "add a launch to the other branch: every path through the host function "
                           "must end in one");
        return false;
    }
    IrBlock orelse = s->orelse;
    return walk_paths(l, &s->body) && walk_paths(l, &orelse);
}

static bool walk_paths(Lower *l, const IrBlock *block)
{
    bool launches = false;
    const IrStmt *branch = NULL;
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &l->ir->stmts.at[block->at[i]];
        bool here = s->kind == IR_S_LAUNCH;
        bool inside = s->kind == IR_S_IF && (has_launch(l, &s->body) || has_launch(l, &s->orelse));
        if ((here || inside) && (branch || (inside && launches)))
            return refuse_mixed(l, s->at);
        launches = launches || here;
        branch = inside ? s : branch;
    }
    return branch ? walk_branches(l, branch) : end_path(l, block);
}

/* ---- fields ---- */

static bool in_path(const AscPath *path, IrStmtId launch)
{
    for (uint32_t i = 0; path && i < path->launches.len; i++)
        if (path->launches.at[i].stmt == launch)
            return true;
    return !launch;
}

/* Whether this path (or the dims) fills the field already. */
static bool filled(const AscField *f, const AscPath *path)
{
    for (uint32_t i = 0; i < f->fills.len; i++)
        if (in_path(path, f->fills.at[i].launch))
            return true;
    return false;
}

static uint32_t field_named(Lower *l, const AscPath *path, const char *name, DType type)
{
    for (uint32_t i = 0; i < l->out->fields.len; i++) {
        const AscField *f = &l->out->fields.at[i];
        if (strcmp(f->name, name) == 0)
            return f->type == type && !filled(f, path) ? i : UINT32_MAX;
    }
    vec_push(l->arena, &l->out->fields, ((AscField){.name = name, .type = type}));
    return l->out->fields.len - 1;
}

static uint32_t field_for(Lower *l, const AscPath *path, IrStmtId launch, const char *name,
                          DType type, IrExprId value)
{
    uint32_t f = field_named(l, path, name, type);
    const char *kernel = l->ir->kernels.at[l->ir->stmts.at[launch].kernel].name;
    for (uint32_t k = 1; f == UINT32_MAX; k++) {
        char *other = k > 1 ? str_format(l->arena, "%s_%s%u", kernel, name, k)
                            : str_format(l->arena, "%s_%s", kernel, name);
        f = field_named(l, path, other, type);
    }
    vec_push(l->arena, &l->out->fields.at[f].fills, ((AscFill){launch, value}));
    return f;
}

static bool is_constant(const Lower *l, IrExprId e)
{
    IrExprOp op = l->ir->exprs.at[e].op;
    return op == IR_E_INT || op == IR_E_FLOAT || op == IR_E_BOOL;
}

static uint32_t dim_field(const Lower *l, IrVarId dim)
{
    for (uint32_t i = 0; i < l->out->fields.len; i++) {
        const AscFill *f = &l->out->fields.at[i].fills.at[0];
        const IrExpr *e = &l->ir->exprs.at[f->value];
        if (!f->launch && e->op == IR_E_VAR && e->of.var == dim)
            return i;
    }
    return UINT32_MAX;
}

static void bind_param(Lower *l, const AscPath *path, AscLaunch *launch, IrVarId var,
                       IrExprId value)
{
    AscBind b = {.var = var, .field = UINT32_MAX, .value = value};
    const IrExpr *e = &l->ir->exprs.at[value];
    if (e->op == IR_E_VAR && l->ir->vars.at[e->of.var].kind == IR_VAR_DIM)
        b.field = dim_field(l, e->of.var);
    if (b.field == UINT32_MAX && !is_constant(l, value))
        b.field = field_for(l, path, launch->stmt, l->ir->vars.at[var].name,
                            l->ir->vars.at[var].type, value);
    vec_push(l->arena, &launch->binds, b);
}

static void bind_launch(Lower *l, const AscPath *path, AscLaunch *launch)
{
    const IrStmt s = l->ir->stmts.at[launch->stmt];
    const IrKernel *k = &l->ir->kernels.at[s.kernel];
    for (uint32_t i = 0; i < k->params.len && i < s.args.len; i++) {
        const IrArg *param = &k->params.at[i], *arg = &s.args.at[i];
        if (param->is_tensor)
            vec_push(l->arena, &launch->operands, arg->tensor);
        else
            bind_param(l, path, launch, l->ir->exprs.at[param->value].of.var, arg->value);
    }
    for (uint32_t i = 0; i < l->ir->dims.len; i++) {
        AscBind b = {l->ir->dims.at[i], dim_field(l, l->ir->dims.at[i]), 0};
        if (b.field != UINT32_MAX)
            vec_push(l->arena, &launch->binds, b);
    }
}

static void bind_cores(Lower *l, const AscPath *path, AscLaunch *launch)
{
    IrVarId cores = l->out->kernels.at[launch->kernel].cores;
    if (!cores)
        return;
    IrExprId value = l->ir->stmts.at[launch->stmt].cores;
    launch->cores_field = field_for(l, path, launch->stmt, "grid.cores", DT_I64, value);
    vec_push(l->arena, &launch->binds, ((AscBind){cores, launch->cores_field, 0}));
}

/* A path of several launches becomes one grid, as wide as its widest launch: num_cores() is
 * then a number of its own. */
static void name_cores(Lower *l, const AscPath *path)
{
    for (uint32_t i = 0; asc_is_guarded(l->out, path) && i < path->launches.len; i++) {
        AscKernel *k = &l->out->kernels.at[path->launches.at[i].kernel];
        if (!k->cores) {
            k->cores = ir_var_new(l->ir, IR_VAR_PARAM, "grid.cores", DT_I64);
            l->ir->vars.at[k->cores].lo = 1;
        }
    }
}

/* The offset of a workspace is a field of the launch that touches it first. */
static void name_room(Lower *l, AscPath *path, uint32_t launch, uint32_t tensor)
{
    for (uint32_t i = 0; i < path->rooms.len; i++) {
        AscRoom *r = &path->rooms.at[i];
        if (r->tensor != tensor || !r->offset || r->field != UINT32_MAX || r->first != launch)
            continue;
        char *name = str_format(l->arena, "%s.offset", l->ir->tensors.at[tensor].name);
        r->field = field_for(l, path, path->launches.at[launch].stmt, name, DT_I64, r->offset);
    }
}

/* Functions that the emitter writes beside and inside the classes. */
static const char *const helpers[] = {"Order",     "ListSize", "MinOf",    "MaxOf",   "AbsOf",
                                      "FloatMin",  "FloatMax", "FloatAbs", "CeilDiv", "AlignUp",
                                      "AlignDown", "FloorDiv", "FloorMod", "AclCall", "Init",
                                      "Process",   "Prepare",  "CopyIn",   "Compute", "CopyOut"};

static bool is_among(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static char *pascal(Arena *arena, const char *name)
{
    char *out = str_dup(arena, str_from(name)), *to = out;
    bool up = true;
    for (const char *c = name; *c; c++) {
        if (*c == '_') {
            up = true;
            continue;
        }
        *to++ = (char)(up ? toupper((unsigned char)*c) : *c);
        up = false;
    }
    *to = 0;
    return out;
}

/* What the paths launch decides which cores the operator takes: each core costs a part of the launch, so a second
 * vector core beside a cube core only where some kernel asks for so many. */
static AscTask task_of(const Lower *l)
{
    bool cube = false, vector = false, both = false, several = false, wide = false, paired = false;
    for (uint32_t i = 0; i < l->out->paths.len; i++) {
        const AscPath *path = &l->out->paths.at[i];
        several = several || path->launches.len > 1;
        for (uint32_t j = 0; j < path->launches.len; j++) {
            const IrKernel *k = &l->ir->kernels.at[path->launches.at[j].kernel];
            both = both || (k->has_cube && k->has_vector);
            paired = paired || k->paired;
            cube = cube || k->has_cube;
            vector = vector || !k->has_cube;
            IrExprId cores = l->ir->stmts.at[path->launches.at[j].stmt].cores;
            wide = wide || (!k->has_cube && lx_most(l, cores) > l->chip->aic);
        }
    }
    if (paired || (both && wide))
        return ASC_TASK_MIX_1_2;
    if (both || (cube && vector && !wide))
        return ASC_TASK_MIX_1_1;
    if (cube)
        return vector || several ? ASC_TASK_MIX_1_2 : ASC_TASK_CUBE;
    return ASC_TASK_VECTOR;
}

/* A launch of vector cores beside cube cores has at most as many as stand beside these. */
static void clamp_cores(Lower *l, const AscPath *path)
{
    for (uint32_t i = 0; asc_is_mixed(l->out) && i < path->launches.len; i++) {
        IrStmtId id = path->launches.at[i].stmt;
        int64_t each = asc_cores_per_block(l->out, path->launches.at[i].kernel);
        IrExprId all = lx_mul(l, lx_int(l, each), ir_chip(l->ir, IR_CHIP_CUBE_CORES));
        if (lx_most(l, l->ir->stmts.at[id].cores) > each * l->chip->aic)
            l->ir->stmts.at[id].cores = ir_expr2(l->ir, IR_E_MIN, l->ir->stmts.at[id].cores, all);
    }
}

static bool class_taken(const AscProgram *p, const char *name)
{
    for (uint32_t i = 0; i < p->kernels.len; i++)
        if (strcmp(p->kernels.at[i].name, name) == 0)
            return true;
    size_t stem = strlen(name);
    while (stem > 1 && isdigit((unsigned char)name[stem - 1]))
        stem--; /* CopyIn2 */
    const char *bare = str_dup(p->arena, (Str){name, stem});
    return strcmp(name, p->type) == 0 || is_among(bare, helpers, sizeof helpers / sizeof *helpers);
}

static void name_class(Lower *l, const IrKernel *k)
{
    const char *stem = pascal(l->arena, k->name), *name = stem;
    for (uint32_t n = 1; class_taken(l->out, name); n++)
        name = n == 1 ? str_format(l->arena, "%sKernel", stem)
                      : str_format(l->arena, "%sKernel%u", stem, n);
    vec_push(l->arena, &l->out->kernels, ((AscKernel){.name = name}));
}

/* requires: a verified program, annotated with ranges.
 * keeps: the IR as it was; adds one variable for each kernel that shares its grid. */
bool lower_host(Lower *l)
{
    AscProgram *p = l->out;
    p->name = l->ir->name;
    p->type = pascal(l->arena, p->name);
    for (uint32_t i = 0; i < l->ir->kernels.len; i++)
        name_class(l, &l->ir->kernels.at[i]);
    if (!walk_paths(l, &l->ir->host))
        return false;
    p->task = task_of(l);
    for (uint32_t i = 0; i < p->paths.len; i++)
        clamp_cores(l, &p->paths.at[i]);
    for (uint32_t i = 0; i < l->ir->dims.len; i++) {
        const IrVar *v = &l->ir->vars.at[l->ir->dims.at[i]];
        if (v->lo != v->hi && ir_kernels_read(l->ir, l->ir->dims.at[i]))
            field_for(l, NULL, 0, v->name, DT_I64, lx_var(l, l->ir->dims.at[i]));
    }
    for (uint32_t i = 0; i < p->paths.len; i++)
        name_cores(l, &p->paths.at[i]);
    for (uint32_t i = 0; i < p->paths.len; i++) {
        AscPath *path = &p->paths.at[i];
        lower_rooms(l, path);
        for (uint32_t j = 0; j < path->launches.len; j++) {
            bind_launch(l, path, &path->launches.at[j]);
            bind_cores(l, path, &path->launches.at[j]);
            for (uint32_t k = 0; k < path->launches.at[j].operands.len; k++)
                name_room(l, path, j, path->launches.at[j].operands.at[k]);
        }
    }
    return true;
}
