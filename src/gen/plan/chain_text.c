/* Text of planned programs; see chain_text.h. */
#include "gen/plan/chain_text.h"

static bool is_letter(char ch)
{
    return ch == '_' || (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z');
}

bool text_in_name(char ch) { return is_letter(ch) || (ch >= '0' && ch <= '9'); }

static const char *new_name(const Renames *names, Str name)
{
    for (uint32_t i = 0; i < names->len; i++)
        if (str_equal(names->at[i].from, name))
            return names->at[i].to;
    return NULL;
}

void text_rename(const Renames *names, Str text, Buf *out)
{
    for (size_t i = 0; i < text.len;) {
        size_t from = i;
        bool starts = is_letter(text.at[i]) && (i == 0 || !text_in_name(text.at[i - 1]));
        while (starts && i < text.len && text_in_name(text.at[i]))
            i++;
        if (!starts) {
            buf_char(out, text.at[i++]);
            continue;
        }
        Str name = str_slice(text, from, i);
        const char *to = from && text.at[from - 1] == '.' ? NULL : new_name(names, name);
        if (to)
            buf_puts(out, to);
        else
            buf_str(out, name);
    }
}

void text_add_name(Arena *arena, Renames *names, Str from, const char *to)
{
    Rename r = {from, to};
    if (!new_name(names, from))
        vec_push(arena, names, r);
}

Str text_assigned(Str line)
{
    Str trimmed = str_trim(line);
    ptrdiff_t at = str_find(trimmed, STR(" = "));
    Str name = str_slice(trimmed, 0, at > 0 ? (size_t)at : 0);
    for (size_t i = 0; i < name.len; i++)
        if (!text_in_name(name.at[i]))
            return (Str){0};
    return name;
}

bool text_fixed_size(Str line, int64_t *size)
{
    ptrdiff_t at = str_find(line, STR(" = dim("));
    if (at < 0 || !str_ends(line, ")"))
        return false;
    return str_to_i64(str_slice(line, (size_t)at + 7, line.len - 1), size);
}

bool text_size_range(Str line, int64_t *most)
{
    ptrdiff_t at = str_find(line, STR(" = dim(1, "));
    return at > 0 && str_ends(line, ")") &&
           str_to_i64(str_slice(line, (size_t)at + 10, line.len - 1), most);
}

Str text_first_choice(Arena *arena, Str line)
{
    ptrdiff_t at = str_find(line, STR("choose(")), list = str_find(line, STR("["));
    if (at < 0 || list < at)
        return line;
    size_t end = (size_t)list + 1;
    while (end < line.len && line.at[end] != ',' && line.at[end] != ']')
        end++;
    return str_from(str_format(arena, "%.*s%.*s", (int)at, line.at, (int)(end - (size_t)list - 1),
                               line.at + list + 1));
}

size_t text_indent(Str line)
{
    size_t n = 0;
    while (n < line.len && line.at[n] == ' ')
        n++;
    return n;
}

bool text_is_branch(Str trimmed)
{
    return str_starts(trimmed, "if ") || str_starts(trimmed, "elif ") || str_is(trimmed, "else:");
}
