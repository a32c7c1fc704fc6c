/* How to repair what a compiler refused. In: its message, and the notes after it that tell why a
 * call fits no form. Out: a hint at the diagnostic given last. */
#include "twin/twin_int.h"

#include <ctype.h>

enum { MOST_REASON = 400 };

/* The name between the first pair of quotes. */
static Str quoted(Str text)
{
    ptrdiff_t from = str_find(text, STR("'"));
    Str rest = from < 0 ? (Str){0} : str_slice(text, (size_t)from + 1, text.len);
    ptrdiff_t to = str_find(rest, STR("'"));
    return to < 0 ? (Str){0} : str_slice(rest, 0, (size_t)to);
}

/* ---- unknown names ---- */

typedef struct Row {
    const char *name, *text;
} Row;

static const char *row_text(const Row *rows, size_t count, Str name)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].name[0] == '*' ? str_find(name, str_from(rows[i].name + 1)) >= 0
                                   : str_is(name, rows[i].name))
            return rows[i].text;
    return NULL;
}

static const char *instead_of(Str name)
{
    static const Row rows[] = {
#define INSTEAD(name, text) {name, text},
#define MEMBER(name, text)
#define WORDS(words, text)
#include "twin/hints.def"
#undef INSTEAD
#undef MEMBER
    };
    return row_text(rows, sizeof rows / sizeof *rows, name);
}

static const char *member_instead_of(Str name)
{
    static const Row rows[] = {
#define INSTEAD(name, text)
#define MEMBER(name, text) {name, text},
#include "twin/hints.def"
#undef MEMBER
#undef WORDS
    };
    return row_text(rows, sizeof rows / sizeof *rows, name);
}

static const char *words_in(Str text)
{
    static const Row rows[] = {
#define MEMBER(name, text)
#define WORDS(words, text) {words, text},
#include "twin/hints.def"
#undef INSTEAD
#undef MEMBER
#undef WORDS
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_find(text, str_from(rows[i].name)) >= 0)
            return rows[i].text;
    return NULL;
}

static const char *nearest_api(Str name)
{
    const char *best = NULL;
    size_t least = name.len / 3 + 1;
    for (uint32_t op = 1; op < NPU_OP_COUNT; op++) {
        const char *api = npu_isa(op)->api;
        size_t d = api[0] ? str_distance(name, str_from(api)) : least;
        if (d < least) {
            least = d;
            best = api;
        }
    }
    return best;
}

static void hint_at_call(Diag *diag, Str name)
{
    const char *instead = instead_of(name), *near = instead ? NULL : nearest_api(name);
    if (instead)
        diag_hint(diag, "AscendC has no '%.*s': use %s", STR_ARG(name), instead);
    else if (near)
        diag_hint(diag, "no call '%.*s' is known here; did you mean %s?", STR_ARG(name), near);
    else
        diag_hint(diag,
                  "no call '%.*s' is known here: compose it from the calls there are, or report it "
                  "where CANN has it",
                  STR_ARG(name));
}

/* "no member named 'X' in 'gert::Shape'", not "in namespace 'AscendC'". */
static bool of_a_class(Str text)
{
    return str_starts(text, "no member named") && str_find(text, STR("in namespace")) < 0;
}

/* A capital begins the names of AscendC's calls and of nothing else in most kernels. */
/* "acraft: Neg does not exist on Atlas A2": our own words for a call of later chips. */
static Str absent_name(Str text)
{
    ptrdiff_t end = str_find(text, STR(" does not exist on Atlas A2"));
    if (!str_starts(text, "acraft: ") || end < 0)
        return (Str){0};
    return str_slice(text, sizeof "acraft: " - 1, (size_t)end);
}

void twin_hint_at_error(Diag *diag, Str text)
{
    Str name = quoted(text), absent = absent_name(text);
    const char *words = words_in(text);
    bool unknown = str_starts(text, "use of undeclared identifier") ||
                   str_starts(text, "no member named") ||
                   str_find(text, STR("was not declared in this scope")) >= 0;
    if (absent.len) {
        hint_at_call(diag, absent);
    } else if (words) {
        diag_hint(diag, "%s", words);
    } else if (unknown && of_a_class(text)) {
        const char *member = member_instead_of(name);
        if (member)
            diag_hint(diag, "%s", member);
    } else if (unknown && name.len && isupper((unsigned char)name.at[0])) {
        hint_at_call(diag, name);
    }
}

/* ---- calls that fit no form ---- */

void twin_nomatch_begin(TwinNoMatch *n, Str text)
{
    *n = (TwinNoMatch){.open = str_starts(text, "no matching"), .name = quoted(text)};
}

static bool read_count(Str text, const char *before, uint32_t *count)
{
    ptrdiff_t at = str_find(text, str_from(before));
    Str rest = at < 0 ? (Str){0} : str_slice(text, (size_t)at + str_from(before).len, text.len);
    size_t digits = 0;
    while (digits < rest.len && isdigit((unsigned char)rest.at[digits]))
        digits++;
    int64_t number;
    if (!digits || !str_to_i64(str_slice(rest, 0, digits), &number) || number > 63)
        return false;
    *count = (uint32_t)number;
    return true;
}

/* "requires at least 6 arguments, but 4 were provided" */
static void note_counts(TwinNoMatch *n, Str why)
{
    uint32_t takes;
    if (read_count(why, "requires at least ", &takes) || read_count(why, "requires ", &takes))
        n->takes |= 1ull << takes;
    read_count(why, "but ", &n->given);
}

/* "could not match 'LocalTensor<T>' against 'double'" */
static void note_plain(TwinNoMatch *n, Str why)
{
    ptrdiff_t at = str_find(why, STR("' against '"));
    if (at < 0 || str_find(why, STR("Tensor<")) < 0)
        return;
    Str type = quoted(str_slice(why, (size_t)at + 10, why.len));
    if (str_ends(type, "*"))
        n->address = true;
    if (!str_starts(why, "could not match 'LocalTensor<") || n->plain.len)
        return;
    static const char *const numbers[] = {"float", "double", "int", "half", "unsigned int"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (str_is(type, numbers[i]))
            n->plain = type;
}

void twin_nomatch_note(TwinNoMatch *n, Str text)
{
    static const char *const starts[] = {
        "candidate template ignored: ", "candidate function not viable: ",
        "candidate function template not viable: "};
    for (size_t i = 0; n->open && i < sizeof starts / sizeof *starts; i++) {
        if (!str_starts(text, starts[i]))
            continue;
        Str why = str_slice(text, str_from(starts[i]).len, text.len);
        if (str_find(why, STR("could not match")) >= 0)
            note_plain(n, why);
        else if (str_find(why, STR(" provided")) >= 0)
            note_counts(n, why);
        else if (!n->types.len || str_starts(why, "deduced conflicting types"))
            n->types = str_slice(why, 0, MOST_REASON);
    }
}

static bool is_api(const char *name)
{
    for (uint32_t op = 1; op < NPU_OP_COUNT; op++)
        if (str_is(str_from(npu_isa(op)->api), name))
            return true;
    return false;
}

static void hint_at_scalar(Arena *arena, Diag *diag, const TwinNoMatch *n)
{
    const char *scalar = str_format(arena, "%.*ss", STR_ARG(n->name));
    bool has = is_api(scalar);
    const char *instead = has ? NULL : instead_of(str_from(scalar));
    if (has || instead)
        diag_hint(diag, "'%.*s' takes tensors only, here is a %.*s: use %s", STR_ARG(n->name),
                  STR_ARG(n->plain), has ? scalar : instead);
    else
        diag_hint(diag, "'%.*s' takes tensors, here is a %.*s: fill a tensor with Duplicate first",
                  STR_ARG(n->name), STR_ARG(n->plain));
}

static void hint_at_counts(Diag *diag, const TwinNoMatch *n)
{
    if (n->given == 1 && n->takes & 1u << 3) {
        diag_hint(diag,
                  "'%.*s' works on tensors: destination, source, count; for one number "
                  "compute in plain C++",
                  STR_ARG(n->name));
        return;
    }
    Buf list = {0};
    uint32_t left = (uint32_t)__builtin_popcountll(n->takes);
    for (uint32_t i = 0; i < 64; i++)
        if (n->takes >> i & 1)
            buf_printf(&list, "%u%s", i, --left > 1 ? ", " : left ? " or " : "");
    diag_hint(diag, "there are %u arguments; the forms of '%.*s' ask for %.*s, optional ones apart",
              n->given, STR_ARG(n->name), STR_ARG(buf_view(&list)));
    buf_free(&list);
}

void twin_nomatch_end(Arena *arena, Diag *diag, TwinNoMatch *n)
{
    if (!n->open)
        return;
    n->open = false;
    if (n->plain.len)
        hint_at_scalar(arena, diag, n);
    else if (n->address)
        diag_hint(diag, "an address is no tensor: give it to SetGlobalBuffer of a GlobalTensor");
    else if (n->types.len && str_find(n->types, STR("('float' vs. 'double')")) >= 0)
        diag_hint(diag, "%.*s: a literal without f is a double", STR_ARG(n->types));
    else if (n->types.len)
        diag_hint(diag, "%.*s", STR_ARG(n->types));
    else if (n->takes)
        hint_at_counts(diag, n);
}
