/* Scans AscendC text for kernel entries and `<<<>>>` launches. Not a C++ parser: it skips
 * comments, strings and preprocessor lines and looks at the words between. In: text. Out: each
 * function declared with __global__, with its parameters; the text with launches rewritten. */
#include "twin/twin_int.h"

#include "twin/scan.h"
#include <string.h>

enum { MOST_ENTRIES = 256, MOST_PARAMS = 1024 };

static Str text_between(Str text, size_t from, size_t to)
{
    return str_trim(str_slice(text, from, to));
}

/* One parameter "GM_ADDR x", "__gm__ uint8_t *x", "const AddTiling tiling". */
static TwinParam read_param(Arena *arena, Str text)
{
    TwinScanner s = {.text = text};
    Str token, last = {0};
    bool pointer = false;
    while (twin_scan_next(&s, &token)) {
        if (str_is(token, "="))
            break;
        if (str_is(token, "*") || str_is(token, "GM_ADDR"))
            pointer = true;
        if (token.len && twin_scan_is_word(token.at[0]))
            last = token;
    }
    size_t type_end = last.len ? (size_t)(last.at - text.at) : text.len;
    return (TwinParam){.name = str_dup(arena, last),
                       .type = str_dup(arena, text_between(text, 0, type_end)),
                       .pointer = pointer};
}

/* From after "(" to the matching ")": splits at commas outside brackets. */
static void read_params(Arena *arena, TwinScanner *s, TwinParams *params)
{
    int depth = 1;
    size_t start = s->at, here = s->at;
    Str token;
    while (depth > 0 && twin_scan_next(s, &token)) {
        char c = token.len ? token.at[0] : 0;
        here = token.len ? (size_t)(token.at - s->text.at) : here;
        depth += c == '(' || c == '<' || c == '[';
        depth -= c == ')' || c == '>' || c == ']';
        if ((c == ',' && depth == 1) || depth == 0) {
            Str text = text_between(s->text, start, here);
            if (text.len && !str_is(text, "void") && params->len < MOST_PARAMS)
                vec_push(arena, params, read_param(arena, text));
            start = s->at;
        }
    }
}

static TwinEntry *find_entry(const TwinEntries *entries, Str name)
{
    for (uint32_t i = 0; i < entries->len; i++)
        if (str_is(name, entries->at[i].name))
            return &entries->at[i];
    return NULL;
}

/* Past "(a, b)"; its letters and digits without what stands between go to `kept`. */
static void skip_brackets(TwinScanner *s, char kept[4])
{
    Str token;
    int depth = 0;
    size_t len = 0;
    do {
        if (!twin_scan_next(s, &token))
            return;
        char c = token.len ? token.at[0] : 0;
        depth += (c == '(') - (c == ')');
        if (twin_scan_is_word(c) && token.len == 1 && len < 3)
            kept[len++] = c;
    } while (depth > 0);
}

/* A word before a kernel's name that is not it: __attribute__((...)), or which cores run the kernel,
 * __cube__, __vector__, __mix__(1, 2). */
static bool read_cores(TwinScanner *s, Str word, TwinCores *cores)
{
    char counts[4] = "";
    if (str_is(word, "__attribute__")) {
        skip_brackets(s, counts);
        return true;
    }
    if (str_is(word, "__cube__"))
        *cores = TWIN_CORES_CUBE;
    else if (str_is(word, "__vector__"))
        *cores = TWIN_CORES_VECTOR;
    else if (!str_is(word, "__mix__"))
        return false;
    if (!str_is(word, "__mix__"))
        return true;
    skip_brackets(s, counts);
    *cores = counts[0] == '0'   ? TWIN_CORES_VECTOR
             : counts[1] == '0' ? TWIN_CORES_CUBE
             : counts[1] == '1' ? TWIN_CORES_MIX_1_1
                                : TWIN_CORES_MIX_1_2;
    return true;
}

/* After __global__: words up to "(", the last of which is the name. */
static void read_entry(Arena *arena, TwinScanner *s, bool is_template, TwinCores cores,
                       TwinEntries *entries)
{
    Str token, name = {0};
    uint32_t line = s->line;
    int square = 0;
    bool two_heads = false; /* one under #if, the other under #else, before one name */
    while (twin_scan_next(s, &token)) {
        char c = token.len ? token.at[0] : 0;
        square += (c == '[') - (c == ']');
        if (c == '(' && !square && name.len)
            break;
        if (c == ';' || c == '{' || c == '}')
            return;
        if (str_is(token, "__global__"))
            two_heads = true;
        else if (twin_scan_is_word(c) && !square && !read_cores(s, token, &cores)) {
            name = token;
            line = s->line;
        }
    }
    TwinEntry entry = {
        .name = str_dup(arena, name), .line = line, .is_template = is_template, .cores = cores};
    entry.two_heads = two_heads;
    read_params(arena, s, &entry.params);
    TwinEntry *known = find_entry(entries, name);
    if (known && known->cores != cores) {
        known->cores = TWIN_CORES_UNSAID; /* two heads under #if: which one counts is not known */
        known->two_heads = true;
    }
    if (name.len && !known && entries->len < MOST_ENTRIES)
        vec_push(arena, entries, entry);
}

void twin_entry_scan(Arena *arena, Str text, TwinEntries *entries)
{
    TwinScanner s = {.text = text, .line = 1};
    Str token;
    TwinCores cores = TWIN_CORES_UNSAID;
    bool is_template = false;
    while (twin_scan_next(&s, &token)) {
        if (str_is(token, "template")) {
            is_template = true;
        } else if (str_is(token, ";") || str_is(token, "}")) {
            is_template = false;
            cores = TWIN_CORES_UNSAID;
        } else if ((str_is(token, "__global__") || str_is(token, "acraft_scan_global"))) {
            read_entry(arena, &s, is_template, cores, entries);
            cores = TWIN_CORES_UNSAID;
        } else {
            read_cores(&s, token, &cores);
        }
    }
}

/* --- launches -------------------------------------------------------------------------------- */

/* Position just past the ">>>" that closes a "<<<" whose inside starts at `at`; 0: none. */
static size_t launch_end(Str text, size_t at)
{
    int depth = 0;
    for (size_t from = at; at + 2 < text.len && at - from < TWIN_LAUNCH_MOST; at++) {
        char c = text.at[at];
        depth += (c == '(' || c == '[' || c == '{');
        depth -= (c == ')' || c == ']' || c == '}');
        if (depth < 0 || c == ';')
            return 0;
        if (depth == 0 && memcmp(text.at + at, ">>>", 3) == 0)
            return at + 3;
    }
    return 0;
}

/* The launched name goes: host code is never run, and it may name a kernel of another file. One
 * with template arguments stays, to keep the expression whole. */
static bool drop_name(Buf *out)
{
    size_t len = out->len;
    while (len && (out->at[len - 1] == ' ' || out->at[len - 1] == '\t'))
        len--;
    if (!len || !twin_scan_is_word(out->at[len - 1]))
        return false;
    while (len && (twin_scan_is_word(out->at[len - 1]) || out->at[len - 1] == ':'))
        len--;
    out->len = len;
    return true;
}

Str twin_entry_rewrite_launches(Arena *arena, Str text, uint32_t *count)
{
    Buf out = {0};
    TwinScanner s = {.text = text, .line = 1};
    size_t copied = 0;
    /* The device compiler's attribute in its longer form; the headers know the short one. */
    static const char host_and_device[] = "[host, aicore]";
    *count = 0;
    while (twin_scan_space(&s)) {
        char c = twin_scan_peek(&s, 0);
        size_t end = c == '<' && twin_scan_peek(&s, 1) == '<' && twin_scan_peek(&s, 2) == '<'
                         ? launch_end(text, s.at + 3)
                         : 0;
        if (c == '"' || c == '\'') {
            twin_scan_quoted(&s);
        } else if (end) {
            buf_str(&out, str_slice(text, copied, s.at));
            buf_puts(&out, drop_name(&out) ? "ACRAFT_LAUNCH(" : " ACRAFT_LAUNCH_OF(");
            buf_str(&out, str_slice(text, s.at + 3, end - 3));
            buf_char(&out, ')');
            copied = s.at = end;
            ++*count;
        } else if (str_starts(str_slice(text, s.at, text.len), host_and_device)) {
            buf_str(&out, str_slice(text, copied, s.at));
            buf_puts(&out, "[aicore]");
            copied = s.at += sizeof host_and_device - 1;
        } else {
            twin_scan_char(&s);
        }
    }
    buf_str(&out, str_slice(text, copied, text.len));
    Str result = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return result;
}

/* --- main ------------------------------------------------------------------------------------ */

/* Past the body that begins at the next "{"; where its last "}" stands. 0: none. */
static size_t body_end(TwinScanner *s)
{
    Str token;
    int depth = 0;
    while (twin_scan_next(s, &token)) {
        char c = token.len ? token.at[0] : 0;
        if (!depth && c == ';')
            return 0;
        depth += (c == '{') - (c == '}');
        if (!depth && c == '}')
            return (size_t)(token.at - s->text.at);
    }
    return 0;
}

Str twin_entry_end_main(Arena *arena, Str text)
{
    TwinScanner s = {.text = text, .line = 1};
    Str token, before = {0};
    while (twin_scan_next(&s, &token)) {
        bool found = str_is(before, "main") && str_is(token, "(");
        size_t end = found ? body_end(&s) : 0;
        before = token;
        if (!end)
            continue;
        Buf out = {0};
        buf_str(&out, str_slice(text, 0, end));
        buf_puts(&out, " return 0; ");
        buf_str(&out, str_slice(text, end, text.len));
        Str whole = str_copy(arena, buf_view(&out));
        buf_free(&out);
        return whole;
    }
    return text;
}
