/* Host text made fit for the binding program. In: text with `name<<<blocks, l2, stream>>>(args)`.
 * Out: ACRAFT_START(full name, decltype(&name), blocks, l2, stream)(args), line for line. */
#include "twin/binding_int.h"

#include <ctype.h>
#include <string.h>

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* From the last character of a name with template arguments back to its first. */
static size_t name_start(Str text, size_t end)
{
    size_t at = end;
    while (at && end - at < TWIN_LAUNCH_MOST && isspace((unsigned char)text.at[at - 1]))
        at--;
    if (at && text.at[at - 1] == '>') {
        int depth = 0;
        while (at && end - at < TWIN_LAUNCH_MOST) {
            char c = text.at[--at];
            depth += (c == '>') - (c == '<');
            if (!depth)
                break;
        }
    }
    while (at && end - at < 2 * TWIN_LAUNCH_MOST &&
           (is_word(text.at[at - 1]) || text.at[at - 1] == ':'))
        at--;
    return at;
}

/* Position of the ">>>" that closes a "<<<" whose inside starts at `at`; 0: none. */
static size_t launch_close(Str text, size_t at)
{
    int depth = 0;
    for (size_t from = at; at + 2 < text.len && at - from < TWIN_LAUNCH_MOST; at++) {
        char c = text.at[at];
        depth += (c == '(' || c == '[' || c == '{');
        depth -= (c == ')' || c == ']' || c == '}');
        if (depth < 0 || c == ';')
            return 0;
        if (depth == 0 && memcmp(text.at + at, ">>>", 3) == 0)
            return at;
    }
    return 0;
}

/* Template arguments, split at the commas outside brackets. */
static void add_arguments(Buf *out, Str args)
{
    int depth = 0;
    size_t from = 0;
    for (size_t at = 0; at <= args.len; at++) {
        char c = at < args.len ? args.at[at] : ',';
        depth += c == '(' || c == '<' || c == '[';
        depth -= c == ')' || c == '>' || c == ']';
        if (c != ',' || depth)
            continue;
        buf_printf(out, ", acraft::bind::name_of<%.*s>()",
                   STR_ARG(str_trim(str_slice(args, from, at))));
        from = at + 1;
    }
}

/* The compiler itself says the full name: in its namespace, with template arguments. */
static void add_launch(Buf *out, Str name, Str inside)
{
    ptrdiff_t angle = str_find(name, STR("<"));
    if (angle <
        0) { /* a plus makes a pointer of a function and leaves a constant pointer as it is */
        buf_printf(out, "ACRAFT_START((acraft::bind::kernel_name<+%.*s>()), ", STR_ARG(name));
    } else {
        buf_printf(out, "ACRAFT_START((acraft::bind::instance_name(acraft::bind::name_of<&%.*s>()",
                   STR_ARG(name));
        add_arguments(out, str_slice(name, (size_t)angle + 1, name.len - 1));
        buf_puts(out, ")), ");
    }
    buf_printf(out, "ACRAFT_TYPE(decltype(%c%.*s)), %.*s)", angle < 0 ? '+' : '&', STR_ARG(name),
               STR_ARG(inside));
}

static Str rewrite_launches(Arena *arena, Str text)
{
    Buf out = {0};
    size_t copied = 0;
    for (size_t at = 0; at + 3 < text.len; at++) {
        if (memcmp(text.at + at, "<<<", 3) != 0)
            continue;
        size_t close = launch_close(text, at + 3), from = name_start(text, at);
        if (!close || from < copied)
            continue;
        buf_str(&out, str_slice(text, copied, from));
        add_launch(&out, str_trim(str_slice(text, from, at)), str_slice(text, at + 3, close));
        copied = close + 3;
        at = copied - 1;
    }
    buf_str(&out, str_slice(text, copied, text.len));
    Str result = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return result;
}

/* The build writes aclrtlaunch_NAME.h for each kernel; ACLRT_LAUNCH_KERNEL needs no declaration. For each
 * operator it writes aclnn_NAME.h. */
static bool includes(Str line, const char *header)
{
    line = str_trim(line);
    return str_starts(line, "#include") && str_find(line, str_from(header)) >= 0;
}

static bool is_new_name(const NameList *names, Str name)
{
    for (uint32_t i = 0; i < names->len; i++)
        if (str_is(name, names->at[i]))
            return false;
    return true;
}

/* Declares the operators whose GetWorkspaceSize the text calls: the header would have. */
static void declare_operators(Arena *arena, Str text, Buf *out)
{
    NameList names = {0};
    const Str end = STR("GetWorkspaceSize");
    buf_puts(out, "#include \"acraft/bind/aclnn.h\"\n");
    for (ptrdiff_t at; (at = str_find(text, end)) >= 0;
         text = str_slice(text, (size_t)at + end.len, text.len)) {
        size_t from = (size_t)at;
        while (from && is_word(text.at[from - 1]))
            from--;
        Str name = str_slice(text, from, (size_t)at);
        if (!str_starts(name, "aclnn") || name.len == 5 || !is_new_name(&names, name))
            continue;
        vec_push(arena, &names, str_dup(arena, name));
        buf_printf(out, "ACRAFT_ACLNN(%.*s)\n", STR_ARG(name));
    }
}

Str twin_bind_text(Arena *arena, Str text)
{
    Buf out = {0}, body = {0};
    Str line, rest = twin_entry_end_main(arena, text);
    bool operators = false;
    while (str_next(&rest, '\n', &line)) {
        bool aclnn = includes(line, "aclnn_");
        operators = operators || aclnn;
        if (!aclnn && !includes(line, "aclrtlaunch_"))
            buf_str(&body, line);
        buf_char(&body, '\n');
    }
    if (operators)
        declare_operators(arena, buf_view(&body), &out);
    buf_puts(&out, "#define main acraft_user_main\n#line 1\n");
    buf_str(&out, buf_view(&body));
    Str whole = str_copy(arena, buf_view(&out));
    buf_free(&out);
    buf_free(&body);
    return rewrite_launches(arena, whole);
}
