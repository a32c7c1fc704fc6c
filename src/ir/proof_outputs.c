/* Outputs of the operator against parameters of kernels: on every path of the host function each
 * output goes to a kernel that writes all of it.
 *
 *     clear[...](y)      y: out      the writer: coverage is asked of this kernel
 *     add[...](x, y)     y: inout    comes later, may write what it likes
 *
 * In: the host function. Out: an obligation for each output, and which inout parameters of the
 * kernel at hand are such writers. */
#include "ir/prove_int.h"

#include <string.h>

typedef struct Paths {
    const ProofWalk *w;
    bool *ever;    /* per operand: some path gives it to a writer */
    bool *answers; /* per tensor of kernel w->kernel: an inout that is the first writer */
} Paths;

static bool is_output(IrRole role) { return role == IR_ROLE_OUT || role == IR_ROLE_OUT_LIST; }

static void launch(const Paths *paths, const IrStmt *s, bool *written)
{
    const IrProgram *p = paths->w->p;
    const IrKernel *k = &p->kernels.at[s->kernel];
    for (uint32_t i = 0; i < k->params.len; i++) {
        if (!k->params.at[i].is_tensor)
            continue;
        uint32_t given = s->args.at[i].tensor, taken = k->params.at[i].tensor;
        IrRole role = k->tensors.at[taken].role;
        bool first = role == IR_ROLE_INOUT && is_output(p->tensors.at[given].role) &&
                     !written[given];
        if (first && s->kernel == paths->w->kernel)
            paths->answers[taken] = true;
        written[given] |= first || is_output(role);
        paths->ever[given] |= written[given];
    }
}

static void walk(const Paths *paths, const IrBlock *block, bool *written)
{
    uint32_t count = paths->w->p->tensors.len;
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &paths->w->p->stmts.at[block->at[i]];
        if (s->kind == IR_S_LAUNCH)
            launch(paths, s, written);
        if (s->kind != IR_S_IF)
            continue;
        bool *other = arena_array(paths->w->arena, bool, count + 1);
        memcpy(other, written, count * sizeof *other);
        walk(paths, &s->body, written);
        walk(paths, &s->orelse, other);
        for (uint32_t t = 0; t < count; t++)
            written[t] &= other[t];
    }
}

static Paths walk_paths(const ProofWalk *w, bool *written)
{
    uint32_t tensors = w->k ? w->k->tensors.len : 0;
    Paths paths = {.w = w,
                   .ever = arena_array(w->arena, bool, w->p->tensors.len + 1),
                   .answers = arena_array(w->arena, bool, tensors + 1)};
    walk(&paths, &w->p->host, written);
    return paths;
}

void proof_outputs(ProofWalk *w)
{
    bool *written = arena_array(w->arena, bool, w->p->tensors.len + 1);
    Paths paths = walk_paths(w, written);
    for (uint32_t t = 0; t < w->p->operand_count; t++) {
        const IrTensor *tensor = &w->p->tensors.at[t];
        if (!is_output(tensor->role) || written[t])
            continue; /* asked of the kernels */
        if (paths.ever[t])
            proof_add(w, IR_PROOF_COVER, IR_WATCHED, tensor->at,
                      str_format(w->arena, "that '%s' is written: on one path no kernel has it",
                                 tensor->name));
        else
            proof_add(w, IR_PROOF_COVER, IR_REFUSED, tensor->at,
                      str_format(w->arena, "'%s' is never written", tensor->name));
    }
}

const bool *proof_first_writers(const ProofWalk *w)
{
    bool *written = arena_array(w->arena, bool, w->p->tensors.len + 1);
    return walk_paths(w, written).answers;
}
