/* Names of a Craft program in C++. In: a name of the program, or one that lowering made, which has a
 * dot in it. Out: an identifier that nothing else in the emitted text has.
 *
 *     cols      cols        t.start   tStart      a.que     aQue       what the emitter adds: xGm
 *     int       int_        t         t_          tStart    tStart_    x_   x__
 *
 * So three kinds never meet: names that are plain small letters, words of C++ and of the emitter
 * itself (reserved here), and names put together, which have a capital inside. A name of the program
 * that is of the second or third kind, or ends in what is appended, gets one more underscore. */
#include "emit/ascendc_int.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { OF_CXX = 1, OF_EMITTER = 2, OF_LIBRARY = 4 };

static const struct {
    const char *text;
    int of;
} reserved[] = {
#define KEYWORD(text) {#text, OF_CXX},
#define WORD(text) {#text, OF_EMITTER},
#define SYMBOL(text) {#text, OF_LIBRARY},
#include "emit/reserved.def"
#undef KEYWORD
#undef WORD
#undef SYMBOL
};

static bool is_among(const char *name, int of)
{
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if ((reserved[i].of & of) && strcmp(name, reserved[i].text) == 0)
            return true;
    return false;
}

bool name_is_reserved(const char *name) { return is_among(name, OF_CXX | OF_EMITTER); }
bool name_is_symbol(const char *name) { return is_among(name, OF_CXX | OF_LIBRARY); }

/* Has a capital, and is not one of the single letters that sizes are called by. */
static bool has_capital(const char *name)
{
    bool any = false;
    for (const char *c = name; *c; c++)
        any = any || isupper((unsigned char)*c);
    return any && name[1];
}

/* scratch0, scratch1...: tensors of the compiler's. */
static bool is_scratch(const char *name)
{
    size_t stem = strlen("scratch");
    return strncmp(name, "scratch", stem) == 0 && name[stem] &&
           strspn(name + stem, "0123456789") == strlen(name + stem);
}

/* launch_softmax, softmax_kernel, p_ref, n_offset: functions, parameters and members of others. */
static bool is_affixed(const char *name)
{
    Str s = str_from(name);
    return str_starts(s, "launch_") || str_starts(s, "acraft_") || str_starts(s, "variant") ||
           str_find(s, STR("_kernel")) >= 0 || str_ends(s, "_ref") || str_ends(s, "_offset") ||
           str_ends(s, "_reserve_buf") || str_ends(s, "_");
}

/* The name as the program has it, if nobody else can have that; else with an underscore. */
static char *own_name(Arena *arena, const char *name)
{
    bool taken = name_is_reserved(name) || has_capital(name) || is_scratch(name) ||
                 is_affixed(name);
    return str_format(arena, "%s%s", name, taken ? "_" : "");
}

char *camel(Arena *arena, const char *name)
{
    if (!strchr(name, '.'))
        return own_name(arena, name);
    char *out = arena_alloc(arena, strlen(name) + 1), *to = out;
    bool up = false;
    for (const char *c = name; *c; c++) {
        if (*c != '.')
            *to++ = (char)(up ? toupper((unsigned char)*c) : *c);
        up = *c == '.';
    }
    *to = 0;
    return out;
}

/* ---- the operator's own names ---- */

static const char *const builtin[] = {
#define BUILTIN(name) #name,
#include "emit/builtin_op.def"
#undef BUILTIN
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool emit_is_builtin(const char *type)
{
    return bsearch(&type, builtin, sizeof builtin / sizeof *builtin, sizeof *builtin,
                   compare_names) != NULL;
}

bool emit_is_op_type(const char *text)
{
    bool is = isupper((unsigned char)text[0]);
    for (const char *c = text; *c; c++)
        is = is && isalnum((unsigned char)*c);
    return is;
}

const char *emit_snake(Arena *arena, const char *type)
{
    Buf out = {0};
    for (const char *c = type; *c; c++) {
        bool up = isupper((unsigned char)*c), first = c == type;
        bool after_up = !first && isupper((unsigned char)c[-1]);
        if (up && !first && c[-1] != '_' && (!after_up || islower((unsigned char)c[1])))
            buf_char(&out, '_');
        buf_char(&out, (char)tolower((unsigned char)*c));
    }
    const char *name = out.len ? buf_take(&out, arena) : "";
    buf_free(&out);
    return name;
}

/* average_pooling_1d is AveragePooling1d. A capital stands behind a small letter only: behind a digit or
 * another capital CANN's tools do not agree on where a word begins. */
static const char *type_of_name(Arena *arena, const char *name)
{
    char *out = str_dup(arena, str_from(name)), *to = out;
    bool starts = true;
    for (const char *c = name; *c; c++) {
        if (*c == '_') {
            starts = true;
            continue;
        }
        bool may = to == out || islower((unsigned char)to[-1]);
        *to++ = (char)(starts && may ? toupper((unsigned char)*c) : *c);
        starts = false;
    }
    *to = 0;
    return out;
}

const char *op_type(Arena *arena, const EmitInput *in, const AscProgram *p)
{
    const char *type = in->type ? in->type : type_of_name(arena, p->name);
    if (in->custom)
        return str_format(arena, "%sCustom", type);
    if (name_is_symbol(emit_snake(arena, type)))
        return str_format(arena, "%sOp", type);
    return !in->type && emit_is_builtin(type) ? str_format(arena, "%sCustom", type) : type;
}

/* MultiKernelBench fixes the names of its files; everything else follows CANN's rule. */
const char *op_name(Arena *arena, const EmitInput *in, const AscProgram *p)
{
    if (in->custom)
        return str_format(arena, "%s_custom", p->name);
    return emit_snake(arena, op_type(arena, in, p));
}

const char *emit_op_type(Arena *arena, const EmitInput *in)
{
    return op_type(arena, in, in->variants.at[0]);
}

const char *emit_module_class(Arena *arena, const EmitInput *in)
{
    const char *class = str_format(arena, "%sNpu", emit_op_type(arena, in));
    return in->model && str_is(in->model->name, class) ? str_format(arena, "%sModule", class)
                                                       : class;
}

const char *emit_op_name(Arena *arena, const EmitInput *in)
{
    return op_name(arena, in, in->variants.at[0]);
}
