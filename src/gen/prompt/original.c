/* The benchmarks' own prompts. Their words are read from a user's clone; only the order of the
 * pieces is known here. */
#include "gen/prompt/original.h"

#include <ctype.h>
#include <string.h>

bool original_refuse(Diag *diag, const char *file, const char *why)
{
    diag_error(diag, "M010", (Span){0},
               "%s: %s; this clone is laid out otherwise than the one "
               "acraft knows",
               file, why);
    return false;
}

Str original_fence(Arena *arena, const char *language, Str code)
{
    Str inner = str_trim(code);
    return str_from(str_format(arena, "```%s\n%.*s\n```", language, STR_ARG(inner)));
}

bool original_texts(Arena *arena, const PromptSpec *spec, const char *name, PyTexts *texts,
                    Diag *diag)
{
    Str source;
    if (!file_read(arena, path_join(arena, spec->clone, name), 0, &source, diag))
        return false;
    pytext_read(arena, source, texts);
    return true;
}

/* ---- MultiKernelBench ---- */

/* reference/CATEGORY/NAME.py of the clone; its category decides the example. */
static bool find_task(Arena *arena, const PromptSpec *spec, Str *source, const char **category,
                      Diag *diag)
{
    const char *root = path_join(arena, spec->clone, "reference");
    const char *file = str_format(arena, "%s.py", spec->task);
    NameList folders = {0};
    if (!file_list(arena, root, &folders, diag))
        return false;
    for (uint32_t i = 0; i < folders.len; i++) {
        const char *path = path_join(arena, path_join(arena, root, folders.at[i]), file);
        if (!file_exists(path))
            continue;
        *category = folders.at[i];
        return file_read(arena, path, 0, source, diag);
    }
    return original_refuse(diag, root, str_format(arena, "there is no %s", file));
}

/* The example of a category: pairs of literals in the table of dataset.py. */
static bool find_example(Arena *arena, const PromptSpec *spec, const char *category,
                         const char **example, Diag *diag)
{
    Str source;
    const char *path = path_join(arena, spec->clone, "dataset.py");
    if (!file_read(arena, path, 0, &source, diag))
        return false;
    ptrdiff_t at = str_find(source, STR("category2exampleop"));
    PyTexts pairs = {0};
    if (at >= 0)
        pytext_read(arena, str_slice(source, (size_t)at, source.len), &pairs);
    for (uint32_t i = 0; i + 1 < pairs.len; i += 2)
        if (str_is(pairs.at[i].text, category)) {
            *example = pairs.at[i + 1].text.at;
            return true;
        }
    return original_refuse(diag, path, str_format(arena, "no example for category %s", category));
}

static const char *pascal(Arena *arena, const char *name)
{
    char *out = str_dup(arena, str_from(name)), *to = out;
    bool up = true;
    for (const char *c = name; *c; c++) {
        if (*c != '_')
            *to++ = (char)(up ? toupper((unsigned char)*c) : *c);
        up = *c == '_';
    }
    *to = 0;
    return out;
}

enum { MKB_PIECES = 7, SHORTEST_PIECE = 20 };

/* The sentences of ascendc_template, in order. */
static bool mkb_pieces(const PyTexts *texts, Str pieces[MKB_PIECES])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < texts->len; i++) {
        const PyText *t = &texts->at[i];
        if (strcmp(t->function, "ascendc_template") != 0 || t->text.len < SHORTEST_PIECE)
            continue;
        if (n < MKB_PIECES)
            pieces[n] = t->text;
        n++;
    }
    return n == MKB_PIECES;
}

static bool mkb_system(Arena *arena, const PromptSpec *spec, Str *text, Diag *diag)
{
    PyTexts texts = {0};
    if (!original_texts(arena, spec, "generate_and_write.py", &texts, diag))
        return false;
    for (uint32_t i = 0; i + 2 < texts.len; i++)
        if (str_is(texts.at[i].text, "system") && str_is(texts.at[i + 1].text, "content")) {
            *text = texts.at[i + 2].text;
            return true;
        }
    return original_refuse(diag, "generate_and_write.py", "no system message");
}

static bool mkb_prompt(Arena *arena, const PromptSpec *spec, Prompt *prompt, Diag *diag)
{
    static const char file[] = "prompt_generators/prompt_utils.py";
    Str task, example_task, example_answer, statement, instruction, system, p[MKB_PIECES];
    const char *category, *example = "add";
    PyTexts texts = {0};
    if (!find_task(arena, spec, &task, &category, diag) ||
        (spec->strategy == PROMPT_MKB_SELECTED &&
         !find_example(arena, spec, category, &example, diag)) ||
        !original_texts(arena, spec, file, &texts, diag) || !mkb_system(arena, spec, &system, diag))
        return false;
    if (!pytext_named(&texts, "ASCENDC_PROBLEM_STATEMENT", &statement) ||
        !pytext_named(&texts, "ASCENDC_PROBLEM_INSTRUCTION", &instruction) ||
        !mkb_pieces(&texts, p))
        return original_refuse(diag, file, "the pieces of ascendc_template are not found");
    const char *dir = path_join(arena, spec->clone, "prompts");
    if (!file_read(arena, path_join(arena, dir, str_format(arena, "cuda_model_%s.py", example)), 0,
                   &example_task, diag) ||
        !file_read(arena,
                   path_join(arena, dir, str_format(arena, "ascendc_new_model_%s.py", example)), 0,
                   &example_answer, diag))
        return false;
    const char *op = str_format(arena, "%s_custom", spec->task);
    PyFill fills[] = {{"example_op", str_from(str_format(arena, "%s_custom", example))},
                      {"op", str_from(op)},
                      {"underscore_to_pascalcase(op)", str_from(pascal(arena, op))},
                      {NULL, {0}}};
    const char *missing;
    if (!pytext_fill(arena, p[1], fills, &p[1], &missing) ||
        !pytext_fill(arena, p[6], fills, &p[6], &missing))
        return original_refuse(diag, file, str_format(arena, "what is {%s}?", missing));
    const Str parts[] = {str_trim(statement),
                         p[0],
                         p[1],
                         original_fence(arena, "python", example_task),
                         p[2],
                         p[3],
                         p[4],
                         p[5],
                         original_fence(arena, "python", example_answer),
                         p[6],
                         original_fence(arena, "python", task),
                         str_trim(instruction)};
    Buf user = {0}, sys = {0};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        buf_printf(&user, "%s%.*s", i ? "\n\n" : "", STR_ARG(parts[i]));
    buf_char(&user, '\n');
    buf_str(&sys, system);
    prompt_say(arena, prompt, CHAT_SYSTEM, &sys);
    prompt_say(arena, prompt, CHAT_USER, &user);
    return true;
}

bool prompt_original(Arena *arena, const PromptSpec *spec, Prompt *prompt, Diag *diag)
{
    bool mkb = spec->strategy == PROMPT_MKB_ADD || spec->strategy == PROMPT_MKB_SELECTED;
    if (!spec->clone)
        return original_reworded(arena, spec, prompt);
    return mkb ? mkb_prompt(arena, spec, prompt, diag) : npukb_prompt(arena, spec, prompt, diag);
}
