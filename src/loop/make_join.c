/* Joining planned programs; see make_join.h. In: one per dtype. Out: one with a dtype variable. */
#include "loop/make_join.h"

#include "craft/craft.h"
#include "craft/tree.h"

typedef VEC(TreeName) NameVec;

static CraftFile *read_variant(Arena *arena, Str craft)
{
    Diag quiet = diag_make(arena, "program.craft", craft);
    CraftFile *file = craft_read(arena, "program.craft", craft, &quiet);
    return file && diag_ok(&quiet) && tree_find_host(file) ? file : NULL;
}

/* relu_kernel becomes relu_f16_kernel. */
static void name_kernels(Arena *arena, CraftFile *file, const char *name, DType dtype)
{
    const AstStmt *host = tree_find_host(file);
    NameVec names = {0};
    for (uint32_t i = 0; i < file->stmts.len; i++) {
        const AstStmt *s = file->stmts.at[i];
        if (s->kind != ST_DEF || s == host)
            continue;
        Str own = s->def->name, rest = own;
        if (str_starts(own, name))
            rest = str_slice(own, str_from(name).len, own.len);
        const char *to = str_format(arena, "%s_%s%s%.*s", name, dtype_name(dtype),
                                    rest.len && rest.at[0] == '_' ? "" : "_", STR_ARG(rest));
        vec_push(arena, &names, ((TreeName){str_dup(arena, own), tree_name(arena, to)}));
    }
    tree_rename(arena, &file->stmts, (TreeNames){names.at, names.len});
}

/* Operands of both have the same place; a dim of the one stands where the other has one. False: their ranks differ, or
 * one has a number where the other has a dim. */
static bool match_operands(Arena *arena, const AstStmt *mine, const AstStmt *theirs, NameVec *names)
{
    bool same = mine->def->params.len == theirs->def->params.len;
    for (uint32_t i = 0; same && i < mine->def->params.len; i++) {
        const AstParam *a = &mine->def->params.at[i], *b = &theirs->def->params.at[i];
        TreeName operand = {str_dup(arena, b->name), tree_name(arena, str_dup(arena, a->name))};
        vec_push(arena, names, operand);
        same = a->type && b->type && a->type->kind == b->type->kind &&
               a->type->items.len == b->type->items.len;
        for (uint32_t k = 1; same && k < a->type->items.len; k++) {
            const AstExpr *x = a->type->items.at[k], *y = b->type->items.at[k];
            same = x->kind == y->kind;
            if (same && x->kind == EX_NAME)
                vec_push(arena, names,
                         ((TreeName){str_dup(arena, y->text),
                                     tree_name(arena, str_dup(arena, x->text))}));
            else
                same = same && tree_same_expr(x, y);
        }
    }
    return same;
}

/* A name that becomes two others: the programs see an operand's sizes otherwise. */
static bool is_consistent(const NameVec *names)
{
    for (uint32_t i = 0; i < names->len; i++)
        for (uint32_t k = 0; k < i; k++)
            if (str_equal(str_from(names->at[i].from), str_from(names->at[k].from)) &&
                !tree_same_expr(names->at[i].to, names->at[k].to))
                return false;
    return true;
}

/* Whether the operand's dtype is the variable's in every variant. */
static bool varies(const MakeVariant *variants, uint32_t count, uint32_t operand)
{
    for (uint32_t v = 0; v < count; v++)
        if (variants[v].plan->operands.at[operand].dtype != variants[v].dtype)
            return false;
    return true;
}

static void name_types(Arena *arena, const MakeVariant *variants, uint32_t count, AstStmt *host)
{
    const Plan *plan = variants[0].plan;
    for (uint32_t i = 0; i < plan->operands.len; i++)
        for (uint32_t p = 0; p < host->def->params.len && varies(variants, count, i); p++) {
            AstParam *param = &host->def->params.at[p];
            if (!str_is(param->name, plan->operands.at[i].name))
                continue;
            param->type = tree_copy_expr(arena, param->type);
            param->type->items.at[0] = tree_name(arena, "T");
        }
}

/* The host function's statements from..to-1 are those for this dtype. */
static AstStmt *put_branch(Arena *arena, AstStmt *before, DType dtype, StmtList *to,
                           const StmtList *all, uint32_t from, uint32_t end)
{
    AstExpr *is = tree_binary(arena, TOK_EQ, tree_name(arena, "T"), tree_dtype(arena, dtype));
    AstStmt *branch = before ? tree_elif(arena, before, is)
                             : tree_append(arena, to, tree_if(arena, is));
    for (uint32_t i = from; i < end; i++)
        tree_append(arena, &branch->body, all->at[i]);
    return branch;
}

static void put_reasons(Arena *arena, CraftFile *into, const CraftFile *from, DType dtype)
{
    CommentList *to = &into->stmts.at[0]->above;
    AstComment head = {str_from(str_format(arena, "# For %s:", dtype_name(dtype))), false};
    const CommentList *reasons = &from->stmts.at[0]->above;
    vec_push(arena, to, head);
    for (uint32_t i = 0; i < reasons->len; i++)
        vec_push(arena, to, reasons->at[i]);
}

static bool join(Arena *arena, const MakeVariant *variants, uint32_t count, CraftFile **joined,
                 uint32_t *failed)
{
    const char *name = variants[0].plan->name;
    uint32_t *ends = arena_array(arena, uint32_t, count + 1);
    CommentList none = {0};
    DType *types = arena_array(arena, DType, count + 1);
    CraftFile *into = NULL;
    AstStmt *host = NULL;
    for (uint32_t v = 0; v < count; v++) {
        CraftFile *file = read_variant(arena, variants[v].plan->craft);
        NameVec names = {0};
        *failed = v;
        types[v] = variants[v].dtype;
        if (!file)
            return false;
        name_kernels(arena, file, name, types[v]);
        if (!v) {
            into = tree_copy(arena, file);
            into->stmts.at[0]->above = none;
            host = tree_find_host(into);
        } else if (!match_operands(arena, host, tree_find_host(file), &names) ||
                   !is_consistent(&names) ||
                   !tree_join(arena, into, file, (TreeNames){names.at, names.len},
                              str_format(arena, "%s_", dtype_name(types[v])))) {
            return false;
        }
        put_reasons(arena, into, file, types[v]);
        ends[v] = host->def->body.len;
    }
    tree_dtypes(arena, into, "T", types, count);
    name_types(arena, variants, count, host);
    StmtList body = host->def->body;
    host->def->body = (StmtList){0};
    AstStmt *branch = NULL;
    for (uint32_t v = 0; v < count; v++)
        branch = put_branch(arena, branch, types[v], &host->def->body, &body, v ? ends[v - 1] : 0,
                            ends[v]);
    *joined = into;
    return true;
}

bool make_join(Arena *arena, const MakeVariant *variants, uint32_t count, Str *craft, Diag *diag)
{
    CraftFile *joined;
    uint32_t failed = 0;
    Buf out = {0};
    *craft = variants[0].plan->craft;
    if (count == 1)
        return true;
    bool ok = join(arena, variants, count, &joined, &failed) && tree_finish(joined, diag) &&
              craft_format(joined, &out);
    if (ok)
        *craft = str_copy(arena, buf_view(&out));
    else if (diag_ok(diag))
        diag_error(
            diag, "M014", (Span){0},
            "the programs for %s and %s have other sizes or operands and cannot stand in one "
            "file; make them one at a time",
            dtype_name(variants[0].dtype), dtype_name(variants[failed].dtype));
    buf_free(&out);
    return ok;
}
