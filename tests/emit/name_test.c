/* Names of programs in C++: none meets a word of C++, of the emitter, or another name. */
#include "emit/ascendc_int.h"

#include "base/file.h"
#include "craft/craft.h"
#include "craft/fn.h"
#include "tests/t.h"
#include <ctype.h>
#include <string.h>

T_TEST(names_put_together_and_plain_ones_stay_apart)
{
    static const char *const names[] = {
        "x",         "t",          "t_",        "t__",   "t.start",   "tStart",   "tStart_",
        "int",       "int_",       "pipe",      "pipe_", "tiling",    "GM_ADDR",  "GM_ADDR_",
        "register",  "N",          "NN",        "NN_",   "scratch",   "scratch0", "scratch.0",
        "scratch0_", "p_ref",      "p_ref_",    "a.que", "aQue",      "row",      "row.value",
        "rowValue",  "Init",       "Process",   "half",  "workspace", "context",  "a_b",
        "aB",        "a.b",        "x_",        "_x",    "__gm__",    "template", "Order",
        "MaxOf",     "grid.cores", "gridCores", "op",    "user",      "platform"};
    Arena arena = {0};
    uint32_t n = sizeof names / sizeof *names;
    for (uint32_t i = 0; i < n; i++) {
        const char *own = camel(&arena, names[i]);
        CHECK_MSG(!name_is_reserved(own), "%s is %s", names[i], own);
        for (uint32_t k = 0; k < i; k++)
            CHECK_MSG(strcmp(own, camel(&arena, names[k])) != 0, "%s and %s are both %s", names[i],
                      names[k], own);
    }
    CHECK_EQ_STR(camel(&arena, "cols"), "cols");
    CHECK_EQ_STR(camel(&arena, "t.start"), "tStart");
    CHECK_EQ_STR(camel(&arena, "N"), "N");
    arena_drop(&arena);
}

T_TEST(an_operator_has_a_symbol_of_its_own)
{
    Arena arena = {0};
    EmitInput in = {0};
    AscProgram p = {.name = "log", .type = "Log"};
    CHECK_EQ_STR(op_name(&arena, &in, &p), "log_op");
    CHECK_EQ_STR(op_type(&arena, &in, &p), "LogOp");
    in.custom = true;
    CHECK_EQ_STR(op_name(&arena, &in, &p), "log_custom");
    p.name = "softmax";
    in.custom = false;
    CHECK_EQ_STR(op_name(&arena, &in, &p), "softmax");
    arena_drop(&arena);
}

/* ---- a program whose own names all begin with zq ---- */

static bool is_letter(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool is_craft_word(Str word)
{
    static const char *const words[] = {
        "craft", "and",    "or",    "not",    "in",     "if",   "else",  "elif",    "for",
        "with",  "def",    "pass",  "return", "assert", "True", "False", "inf",     "nan",
        "chip",  "cores",  "gm",    "out",    "inout",  "opt",  "ws",    "gm_list", "out_list",
        "host",  "kernel", "depth", "pad",    "start",  "stop", "index", "upto",    "f16",
        "bf16",  "i8",     "u8",    "i16",    "u16",    "i32",  "u32",   "bool",    "c64"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is(word, words[i]))
            return true;
    return craft_fn_find(word) != NULL;
}

/* Skips a comment or a string that begins here; the place behind it. */
static size_t skip_aside(Str s, size_t i)
{
    if (s.at[i] == '#')
        while (i < s.len && s.at[i] != '\n')
            i++;
    else if (s.at[i] == '"')
        for (i++; i < s.len && s.at[i++] != '"';) {
        }
    return i;
}

static char *renamed(Arena *arena, Str source)
{
    Buf out = {0};
    for (size_t i = 0; i < source.len;) {
        size_t end = skip_aside(source, i);
        if (end > i) {
            buf_add(&out, source.at + i, end - i);
        } else if (isalpha((unsigned char)source.at[i]) || source.at[i] == '_') {
            while (end < source.len && is_letter(source.at[end]))
                end++;
            Str word = str_slice(source, i, end);
            bool member = i > 0 && source.at[i - 1] == '.';
            buf_printf(&out, "%s%.*s", is_craft_word(word) || member ? "" : "zq", STR_ARG(word));
        } else {
            end = i + 1;
            while (isdigit((unsigned char)source.at[i]) && end < source.len &&
                   is_letter(source.at[end]))
                end++;
            buf_add(&out, source.at + i, end - i);
        }
        i = end;
    }
    char *text = buf_take(&out, arena);
    buf_free(&out);
    return text;
}

/* ---- the words of the emitted text ---- */

/* Without comments, strings, directives, helpers that stand apart from the program's names, and
 * classes of kernels, where every scalar gets a name that is free. */
static char *bare(Arena *arena, Str text)
{
    Buf out = {0};
    Str line;
    bool apart = false;
    while (str_next(&text, '\n', &line)) {
        if (str_find(line, STR("class ")) == 0 || str_find(line, STR("ListSize(A")) >= 0 ||
            str_find(line, STR("void Order()")) >= 0 || str_find(line, STR("TORCH_LIBRARY")) == 0 ||
            str_find(line, STR("PYBIND11_MODULE")) == 0)
            apart = true;
        bool ends = line.len && line.at[0] == '}';
        bool helper = str_find(line, STR("inline")) >= 0 && str_find(line, STR("{ return")) >= 0;
        bool definition = str_find(line, STR("OpDef(name)")) >= 0;
        ptrdiff_t comment = str_find(line, STR("//"));
        if (comment >= 0)
            line = str_slice(line, 0, (size_t)comment);
        bool quoted = false;
        for (size_t i = 0; i < line.len && !apart && !helper && !definition && line.at[0] != '#';
             i++) {
            quoted ^= line.at[i] == '"';
            buf_char(&out, quoted ? ' ' : line.at[i]);
        }
        buf_char(&out, '\n');
        apart = apart && !ends;
    }
    char *bare_text = buf_take(&out, arena);
    buf_free(&out);
    return bare_text;
}

/* Not a name of its own: a member, or of a namespace. */
static bool is_qualified(const char *text, const char *word, const char *end)
{
    if (word > text && word[-1] == '.')
        return true;
    if (word > text + 1 && (strncmp(word - 2, "->", 2) == 0 || strncmp(word - 2, "::", 2) == 0))
        return true;
    return strncmp(end, "::", 2) == 0;
}

static void check_words(Arena *arena, const char *path, Str text, Str source)
{
    const char *c = bare(arena, text), *begin = c;
    while (*c) {
        if (!isalpha((unsigned char)*c) && *c != '_') {
            c += 1 +
                 (isdigit((unsigned char)*c) ? strspn(c + 1, "0123456789xabcdefABCDEFuUlL.") : 0);
            continue;
        }
        const char *end = c;
        bool capital = false;
        for (; is_letter(*end); end++)
            capital = capital || isupper((unsigned char)*end);
        char *word = str_dup(arena, (Str){c, (size_t)(end - c)});
        bool ours = strstr(word, "zq") || str_find(source, str_from(word)) >= 0;
        if (!capital && !ours && word[0] != '_' && !is_qualified(begin, c, end))
            CHECK_MSG(strcmp(camel(arena, word), word) != 0, "%s: a program may have '%s' too",
                      path, word);
        c = end;
    }
}

static void check_emitted(Arena *arena, const char *file, const char *target)
{
    Diag diag = diag_make(arena, file, (Str){0});
    Str source;
    REQUIRE(file_read(arena, file, 1 << 20, &source, &diag));
    const char *text = renamed(arena, source);
    EmitInput in = {.file = file, .source = str_from(text)};
    CraftFile *craft = craft_read(arena, file, in.source, &diag);
    for (uint32_t v = 0; craft && v < craft_variant_count(craft); v++) {
        IrProgram *ir = craft_program(arena, craft, v, &diag);
        AscProgram *p = ir ? lower_program(arena, ir, npu_chip_find(STR("910B2")), LOWER_ALIGN,
                                           &diag)
                           : NULL;
        if (p)
            vec_push(arena, &in.variants, p);
    }
    EmitFiles files = {0};
    CHECK_MSG(diag_ok(&diag), "%s: %s", file, diag.items.len ? diag.items.at[0].text : "");
    REQUIRE(in.variants.len);
    bool ok = emit_target(str_from(target))->emit(arena, &in, &files, &diag);
    bool refused = diag.items.len && strstr(diag.items.at[0].text, "no direct launch yet");
    CHECK_MSG(ok || refused, "%s as %s: %s", file, target,
              diag.items.len ? diag.items.at[0].text : "");
    for (uint32_t i = 0; i < files.len; i++)
        if (str_ends(str_from(files.at[i].path), ".cpp") ||
            str_ends(str_from(files.at[i].path), ".h"))
            check_words(arena, files.at[i].path, files.at[i].text, source);
}

T_TEST(every_word_of_the_emitter_is_reserved)
{
    Arena arena = {0};
    NameList all = {0};
    Diag diag = diag_make(&arena, "examples", (Str){0});
    REQUIRE(file_list(&arena, "examples", &all, &diag));
    for (uint32_t i = 0; i < all.len; i++) {
        if (!str_ends(str_from(all.at[i]), ".craft"))
            continue;
        const char *path = path_join(&arena, "examples", all.at[i]);
        check_emitted(&arena, path, "project");
        check_emitted(&arena, path, "direct");
    }
    arena_drop(&arena);
}
