/* Craft programs as data: built, edited, checked and lowered without any text in between. The
 * tree is the parser's own (ast.h); text appears once, when craft_format writes it.
 *
 *     CraftFile *f = tree_module(a, "relu");
 *     tree_comment(a, f->stmts.at[0], "One pass over the elements.");
 *     tree_dim(a, f, "n", 1, 1 << 20, 1);
 *     AstStmt *host = tree_host(a, f, "relu");
 *     tree_tensor(a, host, "x", "gm", tree_dtype(a, DT_F32), TREE_NAMES(a, "n"));
 *     tree_append(a, &host->def->body, tree_choose(a, "tile", (int64_t[]){4096, 2048}, 2));
 *     ...
 *     AstStmt *loop = tree_append(a, &kernel->def->body,
 *                                 tree_for_tiles(a, "t", true, TREE_NAMES(a, "n", "tile")));
 *     AstStmt *in = tree_append(a, &loop->body, tree_stage(a, "copyin"));
 *     AstExpr *all = tree_slice(a, NULL, tree_path(a, "t.size"));
 *     tree_append(a, &in->body, tree_load(a, TREE_INDEX(a, tree_name(a, "b"), all),
 *                                         TREE_INDEX(a, tree_name(a, "x"), tree_name(a, "t"))));
 *     ...
 *     if (tree_finish(f, &diag))
 *         IrProgram *program = craft_program(a, f, 0, &diag);     and craft_format(f, &out)
 *
 * docs/craft-tree.md has a whole one. Constructors copy their texts and never fail; what the
 * grammar would refuse (a name that is none, a target that cannot be assigned, nesting beyond the
 * limits) tree_finish reports. Expressions may be used in several places: edits and tree_finish
 * replace nodes instead of changing them. Statements stand in one place each; tree_copy_stmt makes
 * another. */
#ifndef CRAFT_TREE_H
#define CRAFT_TREE_H

#include "base/dtype.h"
#include "craft/ast.h"

/* ---- expressions (tree_expr.c) ---- */

typedef struct TreeList {
    AstExpr *const *at;
    uint32_t len;
} TreeList;
#define TREE_LIST(...) \
    ((TreeList){(AstExpr *[]){__VA_ARGS__}, sizeof((AstExpr *[]){__VA_ARGS__}) / sizeof(AstExpr *)})
#define TREE_NAMES(arena, ...)                         \
    tree_names((arena), (const char *[]){__VA_ARGS__}, \
               sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *))
#define TREE_CALL(arena, function, ...) tree_call((arena), (function), TREE_LIST(__VA_ARGS__))
#define TREE_INDEX(arena, base, ...) tree_index((arena), (base), TREE_LIST(__VA_ARGS__))

AstExpr *tree_name(Arena *arena, const char *name);
AstExpr *tree_path(Arena *arena, const char *path); /* "chip.cores": names joined by dots */
AstExpr *tree_int(Arena *arena, int64_t value);     /* a negative one is -n, as it is read */
AstExpr *tree_float(Arena *arena, double value); /* the shortest spelling; inf and nan are names */
AstExpr *tree_bool(Arena *arena, bool value);
AstExpr *tree_text(Arena *arena, const char *text);    /* a string: "tile" */
AstExpr *tree_dtype(Arena *arena, DType dtype);        /* f32 */
AstExpr *tree_unary(Arena *arena, Tok op, AstExpr *a); /* TOK_MINUS, TOK_PLUS, TOK_TILDE, TOK_NOT */
/* TOK_PLUS, TOK_STAR, TOK_SLASHSLASH ..., TOK_EQ, TOK_LT ..., TOK_AND, TOK_OR */
AstExpr *tree_binary(Arena *arena, Tok op, AstExpr *a, AstExpr *b);
AstExpr *tree_cond(Arena *arena, AstExpr *yes, AstExpr *condition, AstExpr *no);
AstExpr *tree_call(Arena *arena, const char *function, TreeList args);
AstExpr *tree_call_of(Arena *arena, AstExpr *function, TreeList args);
/* Adds name=value to a call, which it returns. */
AstExpr *tree_keyword(Arena *arena, AstExpr *call, const char *name, AstExpr *value);
AstExpr *tree_index(Arena *arena, AstExpr *base, TreeList items); /* one access for each axis */
AstExpr *tree_slice(Arena *arena, AstExpr *from,
                    AstExpr *to); /* NULL: from the start, to the end */
AstExpr *tree_attr(Arena *arena, AstExpr *base, const char *name);
AstExpr *tree_list(Arena *arena, TreeList items);
AstExpr *tree_tuple(Arena *arena, TreeList items);
TreeList tree_names(Arena *arena, const char *const *names, uint32_t count);

/* ---- statements (tree_stmt.c) ---- */

/* Returns the statement. */
AstStmt *tree_append(Arena *arena, StmtList *block, AstStmt *stmt);
/* A reason on a line of its own above the statement; after it; at the end of a block. */
void tree_comment(Arena *arena, AstStmt *stmt, const char *text);
void tree_trailing(Arena *arena, AstStmt *stmt, const char *text);
void tree_comment_end(Arena *arena, StmtList *block, const char *text);

AstStmt *tree_set(Arena *arena, const char *name, AstExpr *value); /* name = value */
/* op: TOK_ASSIGN, TOK_PLUSEQ ...; target: a name, an index, a tuple of these */
AstStmt *tree_assign(Arena *arena, AstExpr *target, Tok op, AstExpr *value);
AstStmt *tree_do(Arena *arena, AstExpr *call);
AstStmt *tree_for(Arena *arena, AstExpr *target, AstExpr *over);
AstStmt *tree_with(Arena *arena, AstExpr *what);
AstStmt *tree_if(Arena *arena, AstExpr *condition);                       /* blocks: body, orelse */
AstStmt *tree_elif(Arena *arena, AstStmt *first, AstExpr *condition);     /* the next branch */
AstStmt *tree_assert(Arena *arena, AstExpr *condition, const char *text); /* text: NULL: none */
AstStmt *tree_return(Arena *arena, AstExpr *value);                       /* NULL: none */
AstStmt *tree_pass(Arena *arena);

/* ---- the parts of a Craft program (tree_parts.c) ---- */

CraftFile *tree_module(Arena *arena, const char *name); /* craft = 1 */
/* n = dim(least, most, multiple); dim(n) where both are the same. Declarations stand before
 * functions. */
AstStmt *tree_dim(Arena *arena, CraftFile *file, const char *name, int64_t least, int64_t most,
                  int64_t multiple);
AstExpr *tree_dim_value(Arena *arena, int64_t least, int64_t most, int64_t multiple);
AstStmt *tree_dtypes(Arena *arena, CraftFile *file, const char *name, const DType *types,
                     uint32_t count);
AstStmt *tree_constant(Arena *arena, CraftFile *file, const char *name, AstExpr *value);
AstStmt *tree_host(Arena *arena, CraftFile *file, const char *name);
/* role: NULL, or "cube", "cube, vector" as words of @kernel(...). */
AstStmt *tree_kernel(Arena *arena, CraftFile *file, const char *name, const char *role);
AstStmt *tree_helper(Arena *arena, CraftFile *file, const char *name);
/* Parameters of a function: name: role[type, shape...] with role gm, out, ws and the like; name:
 * type; a name alone (type NULL). */
void tree_tensor(Arena *arena, AstStmt *def, const char *name, const char *role, AstExpr *type,
                 TreeList shape);
void tree_param(Arena *arena, AstStmt *def, const char *name, AstExpr *type);

AstStmt *tree_choose(Arena *arena, const char *name, const int64_t *values, uint32_t count);
AstStmt *tree_workspace(Arena *arena, const char *name, AstExpr *type, TreeList shape);
AstStmt *tree_launch(Arena *arena, const char *kernel, AstExpr *cores, TreeList args);
/* memory: "ub", "l1", "l0a" ...; depth 0: not given. */
AstStmt *tree_buffer(Arena *arena, const char *name, const char *memory, AstExpr *type,
                     TreeList shape, uint32_t depth);
AstStmt *tree_for_range(Arena *arena, const char *name, AstExpr *count);
/* for name in mine(items...), and in tiles(extent, tile), of this core alone where `mine`. */
AstStmt *tree_for_mine(Arena *arena, const char *name, TreeList items);
AstStmt *tree_for_tiles(Arena *arena, const char *name, bool mine, TreeList extent_and_tile);
AstStmt *tree_stage(Arena *arena, const char *stage); /* "copyin", "compute", "copyout" */
AstStmt *tree_load(Arena *arena, AstExpr *buffer, AstExpr *tensor);
AstStmt *tree_store(Arena *arena, AstExpr *tensor, AstExpr *buffer);

/* ---- looking and editing (tree_edit.c, tree_join.c) ---- */

AstStmt *tree_find_host(const CraftFile *file);                       /* NULL: none */
AstStmt *tree_find_def(const CraftFile *file, const char *name);      /* NULL: none */
AstStmt *tree_find_declared(const CraftFile *file, const char *name); /* of file level */

AstExpr *tree_copy_expr(Arena *arena, const AstExpr *e);
AstStmt *tree_copy_stmt(Arena *arena, const AstStmt *s);
CraftFile *tree_copy(Arena *arena, const CraftFile *file);
/* Whether both files have the same statements; comments, blank lines and positions are ignored. */
bool tree_same(const CraftFile *a, const CraftFile *b);
bool tree_same_expr(const AstExpr *a, const AstExpr *b);

/* What names become: another name, or an expression. */
typedef struct TreeName {
    const char *from;
    AstExpr *to;
} TreeName;
typedef struct TreeNames {
    const TreeName *at;
    uint32_t len;
} TreeNames;

/* Everywhere in the block: names that are read become what `names` says; names that are declared,
 * assigned, parameters or functions only where they become a name. Attributes and keywords stay. */
void tree_rename(Arena *arena, StmtList *block, TreeNames names);
AstExpr *tree_rename_expr(Arena *arena, const AstExpr *e, TreeNames names);
/* Reads of `name` become the value; a declaration of it at file level is dropped. */
void tree_fix(Arena *arena, CraftFile *file, const char *name, AstExpr *value);
/* The dtype `from` becomes `to` wherever it is a type: of parameters, buffers, casts,
 * workspaces. The conversions f32(x), i64(x) stay. */
void tree_change_dtype(Arena *arena, StmtList *block, DType from, DType to);
/* The dim's sizes become those of least..most that are multiples. False: there is no such dim, or
 * no size is left. */
bool tree_restrict_dim(Arena *arena, CraftFile *file, const char *name, int64_t least, int64_t most,
                       int64_t multiple);
bool tree_dim_range(const CraftFile *file, const char *name, int64_t *least, int64_t *most,
                    int64_t *multiple);
/* What a parameter of a function is: "out" becomes "ws". False: no such parameter. */
bool tree_change_role(Arena *arena, AstStmt *def, const char *param, const char *role);

/* Puts the program `from` after the program `into`, whose host function then does both.
 *
 *     names    what names of `from` become in `into`: operands, workspaces, dims, constants
 *     prefix   of every other name of file level and of the host function that `into` has
 *
 * Operands of `from` that become names which the host function of `into` has (its operands, or what
 * it assigns, as a workspace) are dropped from the parameters; the others are added at the end. A
 * dim that becomes a dim of `into` restricts it. False: a program has no host function, or no size
 * is left of a dim. */
bool tree_join(Arena *arena, CraftFile *into, const CraftFile *from, TreeNames names,
               const char *prefix);

/* ---- done (tree_check.c, format.c) ---- */

/* Reports what could not be read back, else gives every node its place in the canonical text (kept
 * as file->text, for carets of later diagnostics). Again after every edit. */
bool tree_finish(CraftFile *file, Diag *diag);
void tree_place(CraftFile *file); /* the second half alone */

#endif
