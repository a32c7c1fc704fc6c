/* One pass's slice, and the list of targets. In: programs lowered up to a pass. Out: the text of
 * what that pass decided. */
#include "emit/ascendc_host.h"

static void slice_host(Host *h)
{
    host_print_tiling_header(h);
    pen_blank(h->pen);
    host_print_plan(h);
}

void emit_slice(Arena *arena, const EmitInput *in, LowerPass pass, Buf *out)
{
    for (uint32_t v = 0; v < in->variants.len; v++) {
        Pen pen = {.out = out, .arena = arena};
        EmitInput one = {.file = in->file, .source = in->source, .custom = in->custom};
        vec_push(arena, &one.variants, in->variants.at[v]);
        const IrProgram *ir = one.variants.at[0]->ir;
        for (uint32_t i = 0; i < ir->variant_names.len && i < ir->variant_dtypes.len; i++)
            pen_line(&pen, "// %s = %s", ir->variant_names.at[i],
                     dtype_name(ir->variant_dtypes.at[i]));
        if (pass == LOWER_HOST) {
            Host h = host_for(arena, &one, 0, &pen);
            slice_host(&h);
            continue;
        }
        Printer pr = printer_for(arena, &one, one.variants.at[0], &pen);
        print_classes(&pr, pass);
    }
}

const Target emit_targets[] = {
    {"project", "an operator project for CANN", emit_project},
    {"direct", "a kernel with its <<<>>> launch and a torch binding", emit_direct},
    {"mkb", "an answer of MultiKernelBench, route ascendc (six strings)", emit_mkb},
    {"mkb-direct", "an answer of MultiKernelBench, route ascendc_direct_launch (JSON)",
     emit_mkb_direct},
    {NULL, NULL, NULL},
};

const Target *emit_target(Str name)
{
    for (const Target *t = emit_targets; t->name; t++)
        if (str_is(name, t->name))
            return t;
    return NULL;
}
