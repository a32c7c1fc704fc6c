/* A compiler's output, shortened. In: what clang or g++ printed. Out: one diagnostic per error,
 * at the user's own line even where the error itself lies inside our headers, and the names of
 * APIs that exist on the device and that acraft lacks ("acraft-unsupported: NAME"). */
#include "twin/twin_int.h"

#include <ctype.h>

enum { MOST_ERRORS = 12, MOST_TEXT = 400 };

typedef struct Message {
    Str file, kind, text;
    uint32_t line, col;
} Message;

static bool read_number(Str *rest, uint32_t *value)
{
    Str piece;
    int64_t number;
    if (!str_next(rest, ':', &piece) || !str_to_i64(piece, &number) || number < 0 ||
        number > INT32_MAX)
        return false;
    *value = (uint32_t)number;
    return true;
}

/* "file:line:col: kind: text" */
static bool read_message(Str line, Message *m)
{
    static const char *const kinds[] = {"error", "fatal error", "note"};
    Str rest = line;
    if (!str_next(&rest, ':', &m->file) || !read_number(&rest, &m->line) ||
        !read_number(&rest, &m->col) || !str_next(&rest, ':', &m->kind))
        return false;
    m->kind = str_trim(m->kind);
    m->text = str_trim(rest);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_is(m->kind, kinds[i]))
            return true;
    return false;
}

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

static void add_unsupported(Arena *arena, Str name, Verdict *verdict)
{
    for (uint32_t i = 0; i < verdict->unsupported.len; i++)
        if (str_is(name, verdict->unsupported.at[i]))
            return;
    vec_push(arena, &verdict->unsupported, str_dup(arena, name));
}

/* Names that the headers refuse so; a text may write such a message itself. */
static bool is_gap(Str name)
{
    static const char *const gaps[] = {
#define UNSUPPORTED(name) #name,
#include "twin/include/acraft/unsupported.def"
#undef UNSUPPORTED
        "EXTERN_IMPL_BUFPOOL", "GetBatchTensorC", "Matmul", "SetFixPipeConfig", "SoftMax",
        "SoftmaxFlashV2",      "SoftmaxGrad"};
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++)
        if (str_is(name, gaps[i]))
            return true;
    return false;
}

static void note_unsupported(Arena *arena, Str text, Verdict *verdict)
{
    static const char mark[] = "acraft-unsupported: ";
    ptrdiff_t at = str_find(text, str_from(mark));
    if (at < 0)
        return;
    size_t from = (size_t)at + sizeof mark - 1, to = from;
    while (to < text.len && is_name(text.at[to]))
        to++;
    if (is_gap(str_slice(text, from, to)))
        add_unsupported(arena, str_slice(text, from, to), verdict);
}

/* A header of the vendor's that we do not have is our gap, not the text's. */
static void note_missing_header(Arena *arena, Str text, Verdict *verdict)
{
    static const char *const folders[] = {
        "adv_api/",  "basic_api/",  "impl/",      "include/",  "interface/",  "kernel_",
        "lib/",      "tiling/",     "register/",  "graph/",    "exe_graph/",  "platform/",
        "external/", "experiment/", "log/",       "acl/",      "aclnn",       "opdev/",
        "level0/",   "level2/",     "error/",     "base/",     "toolchain/",  "utils/",
        "c_api/",    "util/",       "op_common/", "simt_api/", "tensor_api/", "atvoss/"};
    if (!str_starts(text, "'") || !str_ends(text, "' file not found"))
        return;
    Str name = str_slice(text, 1, text.len - (sizeof "' file not found" - 1));
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (str_starts(name, folders[i]))
            add_unsupported(arena, name, verdict);
}

/* The compiler's own wording around a failed static_assert says nothing to the user. */
static Str plain_text(Str text)
{
    static const char *const wraps[] = {"static_assert failed due to requirement ",
                                        "static assertion failed: ", "static_assert failed "};
    for (size_t i = 0; i < sizeof wraps / sizeof *wraps; i++) {
        if (!str_starts(text, wraps[i]))
            continue;
        ptrdiff_t quote = str_find(text, STR("\""));
        if (quote >= 0)
            text = str_slice(text, (size_t)quote + 1, text.len - (str_ends(text, "\"") ? 1 : 0));
    }
    return str_slice(text, 0, MOST_TEXT);
}

typedef struct Reading {
    Arena *arena;
    const char *shown;
    Verdict *verdict;
    Diag *diag;
    Message pending; /* an error whose place in the user's text is still looked for */
    bool any;
    uint32_t told;
    TwinNoMatch nomatch; /* what the notes after the last error say of it */
} Reading;

static void tell(Reading *r, const Message *at)
{
    const Message *m = &r->pending;
    r->any = false;
    if (r->told++ >= MOST_ERRORS)
        return;
    Str file = at ? at->file : m->file;
    uint32_t line = at ? at->line : m->line, col = at ? at->col : m->col;
    Str text = plain_text(m->text);
    const char *before = r->diag->file;
    Str source = r->diag->source;
    r->diag->file = str_dup(r->arena, file);
    if (!str_is(file, r->shown)) /* the lines of another file are not at hand */
        r->diag->source = (Str){0};
    diag_error(r->diag, "C001", (Span){line, col, 1}, "%.*s", STR_ARG(text));
    twin_hint_at_error(r->diag, text);
    twin_nomatch_begin(&r->nomatch, text);
    r->diag->file = before;
    r->diag->source = source;
    if (r->told == 1)
        verdict_fail(r->verdict, VERDICT_NOT_COMPILED, STAGE_COMPILE,
                     str_format(r->arena, "%.*s:%u: %.*s", STR_ARG(file), line, STR_ARG(text)));
}

/* The notes after an error lead from our headers back to the user's line. */
static void read_line(Reading *r, Str line)
{
    Message m;
    if (!read_message(line, &m))
        return;
    bool mine = str_is(m.file, r->shown);
    if (str_is(m.kind, "note")) {
        if (r->any && mine)
            tell(r, &m);
        else if (r->told && str_starts(r->pending.text, "expected") &&
                 str_starts(m.text, "expanded from macro 'DTYPE_"))
            diag_hint(r->diag, "the build defines the DTYPE_ names as macros: do not declare them");
        else
            twin_nomatch_note(&r->nomatch, m.text);
        return;
    }
    if (r->any)
        tell(r, NULL);
    twin_nomatch_end(r->arena, r->diag, &r->nomatch);
    note_unsupported(r->arena, m.text, r->verdict);
    note_missing_header(r->arena, m.text, r->verdict);
    r->pending = m;
    r->any = true;
    if (mine)
        tell(r, NULL);
}

void twin_messages_read(Arena *arena, Str output, const char *shown_path, Verdict *verdict,
                        Diag *diag)
{
    Reading r = {.arena = arena, .shown = shown_path, .verdict = verdict, .diag = diag};
    Str line, rest = output;
    VerdictStatus before = verdict->status;
    while (str_next(&rest, '\n', &line))
        read_line(&r, line);
    if (r.any)
        tell(&r, NULL);
    twin_nomatch_end(arena, diag, &r.nomatch);
    if (r.told > MOST_ERRORS)
        diag_note(diag, "C002", (Span){0}, "%u more errors", r.told - MOST_ERRORS);
    if (verdict->unsupported.len && before == VERDICT_OK)
        verdict->status = VERDICT_UNSUPPORTED;
}
