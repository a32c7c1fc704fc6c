/* Tiling without the emitted host text. In: a lowered program, shapes. Out: what its tiling
 * function would give the kernel. */
#include "emit/tiling.h"

#include "emit/ascendc_int.h"

#include <string.h>

static const char *field_type(DType type)
{
    return type == DT_F32 ? "float" : type == DT_BOOL ? "bool" : "int64_t";
}

Str emit_tiling_struct(Arena *arena, const AscProgram *p, const char **name)
{
    Buf out = {0};
    *name = str_format(arena, "%sTilingData", p->type);
    buf_printf(&out, "struct %s {\n", *name);
    for (uint32_t i = 0; i < p->fields.len; i++)
        buf_printf(&out, "    %s %s;\n", field_type(p->fields.at[i].type),
                   camel(arena, p->fields.at[i].name));
    if (p->fields.len == 0)
        buf_puts(&out, "    int64_t unused;\n");
    buf_puts(&out, "};\n");
    Str text = str_from(buf_take(&out, arena));
    buf_free(&out);
    return text;
}

/* The path whose launches are those that were executed. */
static const AscPath *path_taken(const AscProgram *p, const IrHostRun *run)
{
    for (uint32_t i = 0; i < p->paths.len; i++) {
        const AscPath *path = &p->paths.at[i];
        bool same = path->launches.len == run->launches.len;
        for (uint32_t k = 0; k < path->launches.len && same; k++)
            same = path->launches.at[k].stmt == run->launches.at[k].stmt;
        if (same)
            return path;
    }
    return NULL;
}

static bool reached(const AscPath *path, IrStmtId launch)
{
    for (uint32_t i = 0; i < path->launches.len; i++)
        if (path->launches.at[i].stmt == launch)
            return true;
    return launch == 0;
}

static void put_aligned(Buf *out, const void *bytes, size_t size)
{
    buf_fill(out, '\0', (size - out->len % size) % size);
    buf_add(out, bytes, size);
}

static IrScalar put_field(const AscField *f, const AscPath *path, const IrHostRun *run, Buf *out)
{
    IrScalar v = {.type = f->type};
    for (uint32_t i = 0; i < f->fills.len; i++)
        if (reached(path, f->fills.at[i].launch))
            ir_host_eval(run, f->fills.at[i].value, &v);
    uint8_t truth = v.i != 0;
    if (f->type == DT_F32)
        put_aligned(out, &v.f, sizeof v.f);
    else if (f->type == DT_BOOL)
        put_aligned(out, &truth, 1);
    else
        put_aligned(out, &v.i, sizeof v.i);
    v.type = f->type;
    return v;
}

static uint64_t workspace_bytes(const AscPath *path, const IrHostRun *run)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < path->rooms.len; i++) {
        IrScalar offset = {0}, bytes = {0};
        if (path->rooms.at[i].offset)
            ir_host_eval(run, path->rooms.at[i].offset, &offset);
        ir_host_eval(run, path->rooms.at[i].bytes, &bytes);
        uint64_t end = (uint64_t)offset.i + (uint64_t)bytes.i;
        most = end > most ? end : most;
    }
    return most;
}

bool emit_tiling(Arena *arena, const AscProgram *p, const IrHostInput *input, EmitTiling *tiling,
                 Diag *diag)
{
    IrHostRun run;
    Buf bytes = {0};
    if (!ir_host_run(arena, p->ir, p->chip, input, &run, diag))
        return false;
    const AscPath *path = path_taken(p, &run);
    if (!path) {
        diag_error(diag, "H008", (Span){0},
                   "the host function launches no kernel for these shapes");
        return false;
    }
    *tiling = (EmitTiling){.key = path->key, .workspace = workspace_bytes(path, &run)};
    for (uint32_t i = 0; i < run.launches.len; i++) {
        int64_t each = asc_cores_per_block(p, p->ir->stmts.at[run.launches.at[i].stmt].kernel);
        int64_t blocks = (run.launches.at[i].cores + each - 1) / each;
        if (blocks > tiling->blocks)
            tiling->blocks = (uint32_t)blocks;
    }
    IrScalar *values = arena_array(arena, IrScalar, p->fields.len + 1);
    for (uint32_t i = 0; i < p->fields.len; i++)
        values[i] = put_field(&p->fields.at[i], path, &run, &bytes);
    tiling->values = values;
    buf_fill(&bytes, '\0', (8 - bytes.len % 8) % 8);
    if (!bytes.len)
        buf_fill(&bytes, '\0', 8);
    tiling->bytes = (Str){memcpy(arena_alloc(arena, bytes.len), bytes.at, bytes.len), bytes.len};
    buf_free(&bytes);
    return true;
}
