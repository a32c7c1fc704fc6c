/* The message for a library name that acraft does not read: why (unsupported.def), or which name that
 * it does read is nearest. */
#include "torch/unsupported.h"

#include "torch/nn.h"
#include <string.h>

static const struct {
    const char *name, *why;
} reasons[] = {
#define WHY(name, why) {name, why},
#include "torch/unsupported.def"
#undef WHY
};

enum { LONGEST = 40, NEAR = 2 };

/* Letters to change, add or take away; more than LONGEST letters are far from everything. */
static int distance(Str a, Str b)
{
    int row[LONGEST + 1];
    if (a.len > LONGEST || b.len > LONGEST)
        return LONGEST;
    for (size_t k = 0; k <= b.len; k++)
        row[k] = (int)k;
    for (size_t i = 0; i < a.len; i++) {
        int before = row[0];
        row[0] = (int)i + 1;
        for (size_t k = 0; k < b.len; k++) {
            int keep = before + (a.at[i] != b.at[k]), least = row[k] + 1;
            before = row[k + 1];
            least = before + 1 < least ? before + 1 : least;
            row[k + 1] = keep < least ? keep : least;
        }
    }
    return row[b.len];
}

static const char *space_of(unsigned where)
{
    return where & IN_TORCH    ? "torch"
           : where & IN_F      ? "torch.nn.functional"
           : where & IN_LINALG ? "torch.linalg"
           : where & IN_METHOD ? "tensor"
                               : NULL;
}

/* The nearest function that is read, by its path; NULL: none is near. */
static const char *nearest(Arena *arena, Str name)
{
    int best = name.len < 5 ? 1 : NEAR;
    const char *found = NULL;
    for (uint32_t i = 0; i < fn_count; i++) {
        const char *space = space_of(fn_rows[i].where);
        int far = space ? distance(name, str_from(fn_rows[i].name)) : LONGEST;
        if (far > best || (found && far == best))
            continue;
        best = far;
        found = str_format(arena, "%s.%s", space, fn_rows[i].name);
    }
    return found;
}

/* The nearest library module by name; NULL: none is near. */
static const char *nearest_module(Arena *arena, Str name)
{
    int best = NEAR + 1;
    const char *found = NULL;
    for (uint32_t i = 0; i < nn_count; i++) {
        int far = distance(name, str_from(nn_rows[i].name));
        if (far >= best)
            continue;
        best = far;
        found = str_format(arena, "torch.nn.%s", nn_rows[i].name);
    }
    return found;
}

void unsupported_attribute(Interp *it, Span at, const PyObject *object, Str name)
{
    int best = name.len < 5 ? 2 : NEAR + 1;
    Str found = {0};
    for (uint32_t i = 0; i < object->attrs.entries.len; i++) {
        PyVal key = object->attrs.entries.at[i].key;
        bool there = key.tag == PV_STR && !object->attrs.entries.at[i].gone;
        int far = there ? distance(name, *key.str) : LONGEST;
        if (far >= best)
            continue;
        best = far;
        found = *key.str;
    }
    if (found.len)
        interp_fail(it, at, "T010",
                    "an object of class %.*s has no attribute '%.*s'; it has '%.*s'",
                    STR_ARG(object->cls->name), STR_ARG(name), STR_ARG(found));
    interp_fail(it, at, "T010", "an object of class %.*s has no attribute '%.*s'",
                STR_ARG(object->cls->name), STR_ARG(name));
}

void unsupported_name(Interp *it, Span at, Str path)
{
    Str space, name = path_name(path, &space);
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (str_is(name, reasons[i].name))
            interp_fail(it, at, "T011", "%.*s is not supported: %s", STR_ARG(path), reasons[i].why);
    const char *near = nearest(it->arena, name);
    if (str_starts(path, "torch.nn.") && !str_starts(path, "torch.nn.functional."))
        near = nearest_module(it->arena, name);
    if (near && (str_starts(path, "torch.") || str_starts(path, "tensor.")))
        interp_fail(it, at, "T011", "%.*s is not supported; %s is", STR_ARG(path), near);
    interp_fail(it, at, "T011", "%.*s is not supported", STR_ARG(path));
}
