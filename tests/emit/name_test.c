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
    AscProgram p = {.name = "log"};
    CHECK_EQ_STR(op_name(&arena, &in, &p), "log_op");
    CHECK_EQ_STR(op_type(&arena, &in, &p), "LogOp");
    in.custom = true;
    CHECK_EQ_STR(op_name(&arena, &in, &p), "log_custom");
    p.name = "swi_glu_norm";
    in.custom = false;
    CHECK_EQ_STR(op_name(&arena, &in, &p), "swi_glu_norm");
    arena_drop(&arena);
}

/* A type of CANN's own is left to CANN, unless the task names it. */
T_TEST(an_operator_has_a_type_of_its_own)
{
    Arena arena = {0};
    EmitInput in = {0};
    AscProgram p = {.name = "relu"};
    CHECK(emit_is_builtin("Relu") && emit_is_builtin("Softmax") && emit_is_builtin("Add"));
    CHECK(!emit_is_builtin("ReluCustom") && !emit_is_builtin("Zzz") && !emit_is_builtin("A"));
    CHECK_EQ_STR(op_type(&arena, &in, &p), "ReluCustom");
    CHECK_EQ_STR(op_name(&arena, &in, &p), "relu_custom");
    p.name = "op_gelu_quant";
    in.type = "GeluQuant";
    CHECK_EQ_STR(op_type(&arena, &in, &p), "GeluQuant");
    CHECK_EQ_STR(op_name(&arena, &in, &p), "gelu_quant");
    arena_drop(&arena);
}

/* ---- CANN's rules, of which there are three ---- */

/* Every capital begins a word. */
static char *snake_by_capitals(Arena *arena, const char *type)
{
    Buf out = {0};
    for (const char *c = type; *c; c++) {
        if (isupper((unsigned char)*c) && c != type)
            buf_char(&out, '_');
        buf_char(&out, (char)tolower((unsigned char)*c));
    }
    char *name = buf_take(&out, arena);
    buf_free(&out);
    return name;
}

/* As the compiler's front end: a digit goes on with the word it stands behind. */
static char *snake_by_digits(Arena *arena, const char *type)
{
    Buf out = {0};
    bool inside = false;
    for (const char *c = type; *c; c++) {
        inside = islower((unsigned char)*c) ? false : isdigit((unsigned char)*c) ? true : inside;
        if (isupper((unsigned char)*c) && c != type) {
            if (!inside || islower((unsigned char)c[1]))
                buf_char(&out, '_');
            inside = true;
        }
        buf_char(&out, (char)tolower((unsigned char)*c));
    }
    char *name = buf_take(&out, arena);
    buf_free(&out);
    return name;
}

static void check_task_name(Arena *arena, const char *path)
{
    Str base = path_base(path);
    EmitInput in = {0};
    AscProgram p = {.name = str_dup(arena, str_slice(base, 0, base.len - strlen(".py")))};
    if (!islower((unsigned char)p.name[0]))
        return; /* of a suite that names its types */
    const char *type = op_type(arena, &in, &p), *name = op_name(arena, &in, &p);
    CHECK_MSG(emit_is_op_type(type), "%s: %s", path, type);
    CHECK_EQ_STR(name, emit_snake(arena, type));
    CHECK_EQ_STR(name, snake_by_capitals(arena, type));
    CHECK_EQ_STR(name, snake_by_digits(arena, type));
}

T_TEST(names_of_all_tasks_follow_the_vendors_rule)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "tasks", STR(""));
    NameList categories = {0};
    uint32_t checked = 0;
    CHECK_EQ_STR(emit_snake(&arena, "AveragePooling1d"), "average_pooling1d");
    CHECK_EQ_STR(emit_snake(&arena, "LayerNormV4"), "layer_norm_v4");
    CHECK_EQ_STR(emit_snake(&arena, "ApplyAdamWV2"), "apply_adam_wv2");
    CHECK_EQ_STR(emit_snake(&arena, "KLDivLoss"), "kl_div_loss");
    REQUIRE(file_list(&arena, "tasks", &categories, &diag));
    for (uint32_t i = 0; i < categories.len; i++) {
        const char *dir = path_join(&arena, "tasks", categories.at[i]);
        NameList names = {0};
        if (!file_is_dir(dir) || !file_list(&arena, dir, &names, &diag))
            continue;
        for (uint32_t k = 0; k < names.len; k++)
            if (str_ends(str_from(names.at[k]), ".py")) {
                check_task_name(&arena, path_join(&arena, dir, names.at[k]));
                checked++;
            }
    }
    CHECK_MSG(checked > 200, "%u files", checked);
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
        bool ours = strstr(word, "zq") || str_find(source, str_from(word)) >= 0 ||
                    str_ends(str_from(word), "_custom"); /* the entry, where its type is taken */
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
        if ((str_ends(str_from(files.at[i].path), ".cpp") ||
             str_ends(str_from(files.at[i].path), ".h")) &&
            strcmp(files.at[i].path, "example/main.cpp")) /* its names end in Array and Tensor */
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
