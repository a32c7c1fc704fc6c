/* Joining planned programs; see make_join.h. In: one per dtype. Out: one with a dtype variable. */
#include "loop/make_join.h"

/* A planned program, cut where its parts begin. */
typedef struct Pieces {
    Str reasons;   /* the comment at its top */
    Str sizes;     /* "n0 = dim(...)" and so on */
    Str signature; /* "def relu(x0: gm[f32, n0], y0: out[f32, n0]):" */
    Str host;      /* the lines of the host function */
    Str kernels;   /* from the first @kernel on */
} Pieces;

static bool cut(Str *rest, const char *mark, Str *before)
{
    ptrdiff_t at = str_find(*rest, str_from(mark));
    if (at < 0)
        return false;
    *before = str_slice(*rest, 0, (size_t)at);
    *rest = str_slice(*rest, (size_t)at + str_from(mark).len, rest->len);
    return true;
}

static bool split(Str craft, Pieces *p)
{
    Str rest = craft;
    return cut(&rest, "craft = 1\n", &p->reasons) && cut(&rest, "\n@host\n", &p->sizes) &&
           cut(&rest, "\n", &p->signature) && cut(&rest, "\n@kernel", &p->host) &&
           (p->kernels = rest, true);
}

static bool same_operands(const Plan *a, const Plan *b)
{
    bool same = a->operands.len == b->operands.len;
    for (uint32_t i = 0; same && i < a->operands.len; i++)
        same = a->operands.at[i].output == b->operands.at[i].output &&
               a->operands.at[i].shape.rank == b->operands.at[i].shape.rank;
    return same;
}

/* Whether the operand's dtype is the variable's in every variant. */
static bool varies(const MakeVariant *variants, uint32_t count, uint32_t operand)
{
    for (uint32_t v = 0; v < count; v++)
        if (variants[v].plan->operands.at[operand].dtype != variants[v].dtype)
            return false;
    return true;
}

static void put_signature(Arena *arena, const MakeVariant *variants, uint32_t count, Str signature,
                          Buf *out)
{
    const Plan *plan = variants[0].plan;
    for (uint32_t i = 0; i < plan->operands.len; i++) {
        const PlanOperand *o = &plan->operands.at[i];
        const char *head = str_format(arena, "%s: %s[", o->name, o->output ? "out" : "gm");
        Str before;
        if (!varies(variants, count, i) || !cut(&signature, head, &before))
            continue;
        buf_printf(out, "%.*s%sT", STR_ARG(before), head);
        signature = str_slice(signature, str_from(dtype_name(o->dtype)).len, signature.len);
    }
    buf_printf(out, "%.*s\n", STR_ARG(signature));
}

/* "    relu_kernel[...]" ─▶ "        relu_f16_kernel[...]" */
static void put_host(Str host, const char *name, const char *type, Buf *out)
{
    Str line;
    while (str_next(&host, '\n', &line)) {
        Str trimmed = str_trim(line);
        size_t indent = (size_t)(trimmed.at - line.at);
        bool launch = str_starts(trimmed, name) && str_find(trimmed, STR("](")) > 0;
        if (!trimmed.len)
            continue;
        buf_fill(out, ' ', indent + 4);
        if (launch) {
            buf_printf(out, "%s_%s", name, type);
            trimmed = str_slice(trimmed, str_from(name).len, trimmed.len);
        }
        buf_printf(out, "%.*s\n", STR_ARG(trimmed));
    }
}

static void put_kernels(Arena *arena, Str kernels, const char *name, const char *type, Buf *out)
{
    const char *head = str_format(arena, "def %s_", name);
    Str before;
    buf_puts(out, "\n@kernel");
    while (cut(&kernels, head, &before))
        buf_printf(out, "%.*s%s%s_", STR_ARG(before), head, type);
    buf_str(out, kernels);
}

static void put_program(Arena *arena, const MakeVariant *variants, const Pieces *pieces,
                        uint32_t count, Buf *out)
{
    const char *name = variants[0].plan->name;
    for (uint32_t v = 0; v < count; v++)
        buf_printf(out, "# For %s:\n%.*s", dtype_name(variants[v].dtype),
                   STR_ARG(pieces[v].reasons));
    buf_puts(out, "craft = 1\n\nT = dtype(");
    for (uint32_t v = 0; v < count; v++)
        buf_printf(out, "%s%s", v ? ", " : "", dtype_name(variants[v].dtype));
    buf_printf(out, ")%.*s\n@host\n", STR_ARG(pieces[0].sizes));
    put_signature(arena, variants, count, pieces[0].signature, out);
    for (uint32_t v = 0; v < count; v++) {
        const char *type = dtype_name(variants[v].dtype);
        buf_printf(out, "    %s T == %s:\n", v ? "elif" : "if", type);
        put_host(pieces[v].host, name, type, out);
    }
    for (uint32_t v = 0; v < count; v++)
        put_kernels(arena, pieces[v].kernels, name, dtype_name(variants[v].dtype), out);
}

bool make_join(Arena *arena, const MakeVariant *variants, uint32_t count, Str *craft, Diag *diag)
{
    Pieces *pieces = arena_array(arena, Pieces, count + 1);
    Buf out = {0};
    *craft = variants[0].plan->craft;
    if (count == 1)
        return true;
    for (uint32_t v = 0; v < count; v++) {
        if (split(variants[v].plan->craft, &pieces[v]) &&
            str_equal(pieces[v].sizes, pieces[0].sizes) &&
            same_operands(variants[v].plan, variants[0].plan))
            continue;
        diag_error(
            diag, "M014", (Span){0},
            "the programs for %s and %s have other sizes or operands and cannot stand in one "
            "file; make them one at a time",
            dtype_name(variants[0].dtype), dtype_name(variants[v].dtype));
        return false;
    }
    put_program(arena, variants, pieces, count, &out);
    *craft = str_from(buf_take(&out, arena));
    buf_free(&out);
    return true;
}
