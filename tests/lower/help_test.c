/* The helpers of the lowering tests. */
#include "tests/lower/help.h"

#include "craft/craft.h"
#include <string.h>

AscProgram *help_lower(Arena *arena, const char *text, LowerPass last, const char **said)
{
    Diag diag = diag_make(arena, "test.craft", str_from(text));
    CraftFile *file = craft_read(arena, "test.craft", str_from(text), &diag);
    IrProgram *ir = file && diag_ok(&diag) ? craft_program(arena, file, 0, &diag) : NULL;
    AscProgram *p = NULL;
    if (ir)
        p = lower_program(arena, ir, npu_chip_find(STR("910B2")), last, &diag);
    Buf out = {0};
    diag_print(&diag, &out);
    buf_puts(&out, "");
    if (said)
        *said = buf_take(&out, arena);
    buf_free(&out);
    return p;
}

const AscBuffer *help_buffer(const AscProgram *p, const char *name)
{
    const AscKernel *k = &p->kernels.at[0];
    for (uint32_t i = 0; i < k->locals.len; i++)
        if (strcmp(k->locals.at[i].name, name) == 0)
            return &k->buffers.at[k->locals.at[i].buffer];
    return NULL;
}

static uint32_t count_in(const AscProgram *p, const AscBlock *block, AscStmtKind kind)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < block->len; i++) {
        const AscStmt *s = &p->stmts.at[block->at[i]];
        n += s->kind == kind;
        n += count_in(p, &s->body, kind) + count_in(p, &s->orelse, kind);
    }
    return n;
}

uint32_t help_count(const AscProgram *p, uint32_t function, AscStmtKind kind)
{
    const AscKernel *k = &p->kernels.at[0];
    uint32_t n = 0;
    for (uint32_t f = 0; f < k->functions.len; f++)
        if (function == UINT32_MAX || f == function)
            n += count_in(p, &k->functions.at[f].body, kind);
    return n;
}
