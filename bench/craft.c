/* Kernels per second from Craft text to the text of an operator project, over all examples, beside
 * the time gcc needs to compile one small C file: what people wait for otherwise. The checksum of all
 * text is the same from every build of acraft. */
#include "craft/craft.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/proc.h"
#include "emit/emit.h"
#include "ir/prove.h"
#include <stdio.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Parse, check, lower, emit; the bytes written, or 0 when it is refused. */
static size_t build(const char *file, Str text, bool prove, uint64_t *checksum)
{
    Arena arena = {0};
    const NpuChip *chip = npu_chip_find(STR("910B2"));
    Diag diag = diag_make(&arena, file, text);
    EmitInput in = {.file = file, .source = text};
    EmitFiles files = {0};
    size_t bytes = 0;
    CraftFile *craft = craft_read(&arena, file, text, &diag);
    for (uint32_t v = 0; craft && v < craft_variant_count(craft); v++) {
        IrProgram *p = craft_program(&arena, craft, v, &diag);
        IrReport report;
        if (p && prove)
            ir_prove(&arena, p, chip, &report, &diag);
        else if (p)
            ir_annotate(p, chip);
        AscProgram *asc = p ? lower_program(&arena, p, chip, LOWER_ALIGN, &diag) : NULL;
        if (asc)
            vec_push(&arena, &in.variants, asc);
    }
    if (in.variants.len && emit_target(STR("project"))->emit(&arena, &in, &files, &diag))
        for (uint32_t i = 0; i < files.len; i++) {
            bytes += files.at[i].text.len;
            *checksum = *checksum * 31 + hash64(files.at[i].text.at, files.at[i].text.len);
        }
    arena_drop(&arena);
    return bytes;
}

static double yardstick(Arena *arena)
{
    Diag diag = diag_make(arena, "gcc", STR(""));
    const char *argv[] = {"gcc", "-O2", "-x", "c", "-c", "-", "-o", "/dev/null", NULL};
    ProcSpec spec = {.argv = argv, .input = STR("int f(int x) { return x + 1; }\n")};
    ProcResult result;
    return proc_run(arena, &spec, &result, &diag) ? result.seconds : 0;
}

int main(void)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "examples", STR(""));
    NameList names = {0};
    if (!file_list(&arena, "examples", &names, &diag))
        return 2;
    for (int prove = 0; prove < 2; prove++) {
        uint32_t kernels = 0, refused = 0;
        size_t bytes = 0;
        uint64_t checksum = 0;
        double start = now();
        for (uint32_t i = 0; i < names.len; i++) {
            Str text;
            const char *path = path_join(&arena, "examples", names.at[i]);
            if (!str_ends(str_from(path), ".craft") || !file_read(&arena, path, 0, &text, &diag))
                continue;
            size_t n = build(path, text, prove, &checksum);
            kernels += n > 0;
            refused += n == 0;
            bytes += n;
        }
        double seconds = now() - start, gcc = yardstick(&arena);
        printf("%s: %u examples in %.3f s, %.0f kernels/s, %zu bytes of project text, checksum "
               "%016llx, %u refused; one gcc -O2 of one line: %.3f s, ratio %.1f kernels per gcc\n",
               prove ? "parse, prove, lower, emit" : "parse, lower, emit", kernels, seconds,
               kernels / seconds, bytes, (unsigned long long)checksum, refused, gcc,
               gcc * kernels / seconds);
    }
    arena_drop(&arena);
    return 0;
}
