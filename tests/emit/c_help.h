/* For the tests of the C target: compile an emitted program together with a driver that reads
 * operands from a file and writes them back, run it in a process of its own, and compare every
 * operand with what the interpreter left. */
#ifndef TESTS_EMIT_C_HELP_H
#define TESTS_EMIT_C_HELP_H

#include "base/proc.h"
#include "emit/emit_c.h"
#include "tests/ir/help.h"

static const char c_driver[] =
    "\n#include <errno.h>\n"
    "static int64_t get(FILE *f)\n{\n    int64_t v = 0;\n"
    "    if (fread(&v, 8, 1, f) != 1)\n        exit(9);\n    return v;\n}\n\n"
    "int main(int argc, char **argv)\n{\n"
    "    FILE *f = fopen(argv[argc > 1 ? 1 : 0], \"r+b\");\n    if (!f)\n        return 9;\n"
    "    static int64_t chip[8], choices[64], ints[64];\n    static float floats[64];\n    static "
    "CraftOperand operands[16];\n"
    "    static long place[16][16];\n    static int64_t bytes[16][16];\n"
    "    static char message[256];\n"
    "    for (int i = 0; i < 8; i++)\n        chip[i] = get(f);\n"
    "    int64_t n = get(f), has_choices = get(f);\n"
    "    for (int i = 0; i < 64; i++) {\n        ints[i] = get(f);\n"
    "        floats[i] = (float)((double)get(f) / 0x1p40);\n    }\n"
    "    for (int i = 0; i < has_choices && i < 64; i++)\n        choices[i] = get(f);\n"
    "    for (int64_t i = 0; i < n; i++) {\n"
    "        operands[i].count = get(f);\n"
    "        CraftTensor *items = calloc((size_t)operands[i].count + 1, sizeof *items);\n"
    "        for (int64_t k = 0; k < operands[i].count; k++) {\n"
    "            items[k].rank = get(f);\n"
    "            for (int a = 0; a < 8; a++)\n                items[k].dims[a] = get(f);\n"
    "            bytes[i][k] = get(f);\n            place[i][k] = ftell(f);\n"
    "            items[k].data = malloc((size_t)bytes[i][k] + 1);\n"
    "            if (bytes[i][k] && fread(items[k].data, (size_t)bytes[i][k], 1, f) != 1)\n"
    "                return 9;\n"
    "        }\n        operands[i].items = items;\n    }\n"
    "    CraftArgs args = {.operands = operands, .chip = chip, .ints = ints, .floats = floats,\n"
    "                      .choices = has_choices ? choices : NULL,\n"
    "                      .message = message, .message_size = sizeof message};\n"
    "    int status = craft_entry(&args);\n"
    "    if (status)\n        fprintf(stderr, \"%s\\n\", message);\n"
    "    for (int64_t i = 0; i < n; i++)\n"
    "        for (int64_t k = 0; k < operands[i].count; k++) {\n"
    "            fseek(f, place[i][k], SEEK_SET);\n"
    "            fwrite(operands[i].items[k].data, 1, (size_t)bytes[i][k], f);\n        }\n"
    "    fclose(f);\n    return status;\n}\n";

typedef struct CProgram {
    const char *dir, *exe;
} CProgram;

ATTR_UNUSED static CProgram c_compile(Arena *arena, const IrProgram *p, const char *optimise)
{
    CProgram made = {0};
    Diag diag = diag_make(arena, "c", (Str){0});
    Buf text = {0};
    ProcResult result;
    REQUIRE(emit_c(p, &text, &diag));
    buf_puts(&text, c_driver);
    REQUIRE(file_temp_dir(arena, "acraft-c", &made.dir, &diag));
    const char *source = path_join(arena, made.dir, "program.c");
    made.exe = path_join(arena, made.dir, "program");
    REQUIRE(file_write(source, buf_view(&text), &diag));
    buf_free(&text);
    const char *argv[] = {"gcc",      "-std=c17", optimise, "-Wall", "-Wextra", "-Werror",
                          "-fopenmp", "-o",       made.exe, source,  "-lm",     NULL};
    ProcSpec spec = {.argv = argv, .seconds = 60};
    REQUIRE(proc_run(arena, &spec, &result, &diag));
    CHECK_MSG(result.status == 0 && result.end == PROC_EXITED, "%.*s", STR_ARG(result.err));
    REQUIRE(result.status == 0);
    return made;
}

static void c_put(Buf *out, int64_t v) { buf_add(out, &v, sizeof v); }

static size_t c_bytes(const IrProgram *p, uint32_t i, const IrData *d)
{
    size_t n = dtype_bytes(p->tensors.at[i].dtype);
    for (uint32_t a = 0; a < d->rank; a++)
        n *= (size_t)d->dims[a];
    return n;
}

/* The default of attribute i; floats as multiples of 2^-40. */
static void c_put_attr(Buf *out, const IrProgram *p, uint32_t i)
{
    IrExprId value = i < p->attrs.len ? p->vars.at[p->attrs.at[i]].value : 0;
    const IrExpr *e = &p->exprs.at[value];
    c_put(out, e->op == IR_E_INT || e->op == IR_E_BOOL ? e->of.i : 0);
    c_put(out, e->op == IR_E_FLOAT ? (int64_t)(e->of.f * 0x1p40) : 0);
}

/* Runs in its own process on copies of the operands; the result's data, one after the other. */
ATTR_UNUSED static Str c_run(Arena *arena, const CProgram *c, const IrRun *run)
{
    static const char *const env[] = {"OMP_NUM_THREADS=2", "OMP_WAIT_POLICY=passive", NULL};
    Diag diag = diag_make(arena, "c", (Str){0});
    const NpuChip *chip = run->chip;
    Buf file = {0};
    ProcResult result;
    int64_t facts[8] = {chip->aiv, chip->aic, chip->ub,  chip->l1,
                        chip->l0a, chip->l0b, chip->l0c, (int64_t)chip->l2_mib << 20};
    uint32_t choices = 0;
    for (uint32_t i = 1; i < run->p->vars.len; i++)
        choices += run->p->vars.at[i].kind == IR_VAR_CHOICE;
    for (int i = 0; i < 8; i++)
        c_put(&file, facts[i]);
    c_put(&file, run->p->operand_count);
    c_put(&file, run->choices ? choices : 0);
    for (uint32_t i = 0; i < 64; i++)
        c_put_attr(&file, run->p, i);
    for (uint32_t i = 0; run->choices && i < choices; i++)
        c_put(&file, run->choices[i]);
    for (uint32_t i = 0; i < run->p->operand_count; i++) {
        c_put(&file, run->operands[i].count);
        for (uint32_t k = 0; k < run->operands[i].count; k++) {
            const IrData *d = &run->operands[i].items[k];
            size_t n = c_bytes(run->p, i, d);
            c_put(&file, d->rank);
            for (int a = 0; a < IR_MAX_RANK; a++)
                c_put(&file, d->dims[a]);
            c_put(&file, (int64_t)n);
            buf_add(&file, d->data, n);
        }
    }
    const char *path = path_join(arena, c->dir, "operands");
    REQUIRE(file_write(path, buf_view(&file), &diag));
    buf_free(&file);
    const char *argv[] = {c->exe, path, NULL};
    ProcSpec spec = {.argv = argv, .env = env, .seconds = 60};
    REQUIRE(proc_run(arena, &spec, &result, &diag));
    CHECK_MSG(result.end == PROC_EXITED && result.status == 0, "status %d: %.*s", result.status,
              STR_ARG(result.err));
    Str back = {0};
    REQUIRE(file_read(arena, path, 0, &back, &diag));
    return back;
}

static bool c_same(DType d, const void *a, const void *b, size_t i, double tolerance)
{
    size_t w = dtype_bytes(d);
    if (memcmp((const char *)a + i * w, (const char *)b + i * w, w) == 0)
        return true;
    double x = dtype_load(d, a, i), y = dtype_load(d, b, i);
    if (!dtype_is_float(d))
        return false;
    return (x != x && y != y) || fabs(x - y) <= tolerance * fmax(fabs(x), fabs(y));
}

/* Every operand of the file against the interpreter's; NaN equals NaN. */
ATTR_UNUSED static bool c_compare(const IrRun *run, Str back, double tolerance)
{
    uint32_t choices = 0;
    for (uint32_t i = 1; i < run->p->vars.len; i++)
        choices += run->p->vars.at[i].kind == IR_VAR_CHOICE;
    size_t at = 8 * (10 + 128 + (run->choices ? choices : 0));
    for (uint32_t i = 0; i < run->p->operand_count; i++) {
        at += 8;
        for (uint32_t k = 0; k < run->operands[i].count; k++) {
            const IrData *d = &run->operands[i].items[k];
            DType t = run->p->tensors.at[i].dtype;
            size_t n = c_bytes(run->p, i, d) / dtype_bytes(t);
            at += 8 * (1 + IR_MAX_RANK + 1);
            for (size_t e = 0; e < n; e++) {
                if (c_same(t, d->data, back.at + at, e, tolerance))
                    continue;
                CHECK_MSG(false, "%s[%zu] (%s): interpreter %.17g, C %.17g",
                          run->p->tensors.at[i].name, e, dtype_name(t), dtype_load(t, d->data, e),
                          dtype_load(t, back.at + at, e));
                return false;
            }
            at += n * dtype_bytes(t);
        }
    }
    return true;
}

ATTR_UNUSED static void c_drop(const CProgram *c)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "c", (Str){0});
    file_remove_tree(c->dir, &diag);
    arena_drop(&arena);
}

#endif
