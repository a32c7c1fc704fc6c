/* NPUKernelBench's prompts: one user message from the pieces of its generator, the operator's
 * description, a row of its cases and its empty template. */
#include "gen/prompt/original.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the case, as pandas prints a row ---- */

enum { MOST_COLUMNS = 64 };

typedef struct Table {
    Str names[MOST_COLUMNS];
    VEC(Str *) rows;
    uint32_t columns;
} Table;

static uint32_t split(Str line, Str *cells)
{
    uint32_t n = 0;
    Str cell;
    while (n < MOST_COLUMNS && str_next(&line, ';', &cell))
        cells[n++] = cell;
    return n;
}

static void read_table(Arena *arena, Str text, Table *t)
{
    Str line;
    while (str_next(&text, '\n', &line)) {
        if (line.len && line.at[line.len - 1] == '\r')
            line.len--;
        if (!line.len)
            continue;
        if (!t->columns) {
            t->columns = split(line, t->names);
            continue;
        }
        Str *cells = arena_array(arena, Str, MOST_COLUMNS);
        split(line, cells);
        vec_push(arena, &t->rows, cells);
    }
}

typedef enum ColumnKind { COLUMN_TEXT, COLUMN_INT, COLUMN_FLOAT, COLUMN_BOOL } ColumnKind;

static bool is_one_of(Str cell, const char *const *words)
{
    for (; *words; words++)
        if (str_is(cell, *words))
            return true;
    return false;
}

static bool is_missing(Str cell)
{
    static const char *const words[] = {"",     "None", "nan", "NaN",  "NULL", "null",
                                        "<NA>", "N/A",  "n/a", "#N/A", "NA",   NULL};
    return is_one_of(cell, words);
}

static const char *bool_text(Str cell)
{
    static const char *const yes[] = {"True", "true", "TRUE", NULL};
    static const char *const no[] = {"False", "false", "FALSE", NULL};
    return is_one_of(cell, yes) ? "True" : is_one_of(cell, no) ? "False" : NULL;
}

static bool all_bool(const Table *t, uint32_t column)
{
    for (uint32_t r = 0; r < t->rows.len; r++)
        if (!bool_text(t->rows.at[r][column]))
            return false;
    return true;
}

static ColumnKind column_kind(const Table *t, uint32_t column)
{
    ColumnKind kind = COLUMN_INT;
    if (all_bool(t, column))
        return COLUMN_BOOL;
    for (uint32_t r = 0; r < t->rows.len; r++) {
        Str cell = str_trim(t->rows.at[r][column]);
        int64_t i;
        double d;
        if (is_missing(cell))
            kind = COLUMN_FLOAT;
        else if (!str_to_double(cell, &d))
            return COLUMN_TEXT;
        else if (!str_to_i64(cell, &i))
            kind = COLUMN_FLOAT;
    }
    return kind;
}

/* Six digits after the point, trailing zeros off. */
static const char *float_text(Arena *arena, Str cell)
{
    double d = NAN;
    if (!str_to_double(str_trim(cell), &d) || isnan(d))
        return "NaN";
    if (isinf(d))
        return d < 0 ? "-inf" : "inf";
    char *text = str_format(arena, "%.6f", d);
    size_t n = strlen(text);
    while (n > 2 && text[n - 1] == '0' && text[n - 2] != '.')
        text[--n] = 0;
    return text;
}

static const char *cell_text(Arena *arena, ColumnKind kind, Str cell)
{
    if (kind == COLUMN_FLOAT)
        return float_text(arena, cell);
    if (kind == COLUMN_BOOL)
        return bool_text(cell);
    return is_missing(cell) ? "NaN" : str_dup(arena, cell);
}

bool npukb_case_text(Arena *arena, Str table, uint32_t row, Buf *out)
{
    Table t = {0};
    const char *values[MOST_COLUMNS];
    size_t wide_name = 0, wide_value = 0;
    bool all_ints = true;
    read_table(arena, table, &t);
    if (row >= t.rows.len)
        return false;
    for (uint32_t c = 0; c < t.columns; c++) {
        ColumnKind kind = column_kind(&t, c);
        Str cell = t.rows.at[row][c];
        all_ints &= kind == COLUMN_INT;
        values[c] = cell_text(arena, kind, cell);
        wide_name = t.names[c].len > wide_name ? t.names[c].len : wide_name;
        wide_value = strlen(values[c]) > wide_value ? strlen(values[c]) : wide_value;
    }
    for (uint32_t c = 0; c < t.columns; c++)
        buf_printf(out, "%-*.*s    %*s\n", (int)wide_name, STR_ARG(t.names[c]), (int)wide_value,
                   values[c]);
    buf_printf(out, "Name: %u, dtype: %s", row, all_ints ? "int64" : "object");
    return true;
}

/* ---- files ---- */

/* tasks/LEVEL/CATEGORY/NAME of the clone. */
static const char *find_dir(Arena *arena, const PromptSpec *spec, Diag *diag)
{
    const char *root = path_join(arena, spec->clone, "tasks");
    NameList levels = {0};
    if (!file_list(arena, root, &levels, diag))
        return NULL;
    for (uint32_t l = 0; l < levels.len; l++) {
        const char *level = path_join(arena, root, levels.at[l]);
        NameList categories = {0};
        if (!file_is_dir(level) || !file_list(arena, level, &categories, diag))
            continue;
        for (uint32_t c = 0; c < categories.len; c++) {
            const char *dir = path_join(arena, path_join(arena, level, categories.at[c]),
                                        spec->task);
            if (file_is_dir(dir))
                return dir;
        }
    }
    original_refuse(diag, root, str_format(arena, "there is no task %s", spec->task));
    return NULL;
}

static bool is_up(char c) { return c >= 'A' && c <= 'Z'; }
static bool is_low(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

/* CamelCase to snake_case, as the suite names its files. */
static const char *snake(Arena *arena, const char *name)
{
    Buf out = {0};
    for (size_t i = 0; name[i]; i++) {
        bool next_low = is_up(name[i]) && name[i + 1] >= 'a' && name[i + 1] <= 'z';
        if (i && is_up(name[i]) && (is_low(name[i - 1]) || next_low) && name[i - 1] != '_')
            buf_char(&out, '_');
        buf_char(&out, is_up(name[i]) ? (char)(name[i] + 32) : name[i]);
    }
    const char *text = buf_take(&out, arena);
    buf_free(&out);
    return text;
}

/* ---- pieces ---- */

/* What follows "workspace" up to the bracket goes. */
static Str cut_after_workspace(Arena *arena, Str code)
{
    Buf out = {0};
    for (;;) {
        ptrdiff_t at = str_find(code, STR("workspace"));
        Str rest = at < 0 ? (Str){0} : str_slice(code, (size_t)at, code.len);
        ptrdiff_t end = at < 0 ? -1 : str_find(rest, STR(")"));
        if (end < 0)
            break;
        buf_str(&out, str_slice(code, 0, (size_t)at));
        buf_puts(&out, "workspace)");
        code = str_slice(rest, (size_t)end + 1, rest.len);
    }
    buf_str(&out, code);
    Str text = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return text;
}

static Str without(Arena *arena, Str text, Str what)
{
    Buf out = {0};
    for (ptrdiff_t at; what.len && (at = str_find(text, what)) >= 0;) {
        buf_str(&out, str_slice(text, 0, (size_t)at));
        text = str_slice(text, (size_t)at + what.len, text.len);
    }
    buf_str(&out, text);
    Str copy = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return copy;
}

/* textwrap.dedent where no line is indented in common: lines of blanks become empty. */
static Str dedent(Arena *arena, Str text)
{
    Buf out = {0};
    for (size_t at = 0; at <= text.len;) {
        Str rest = str_slice(text, at, text.len);
        ptrdiff_t end = str_find(rest, STR("\n"));
        Str line = end < 0 ? rest : str_slice(rest, 0, (size_t)end);
        bool blank = true;
        for (size_t i = 0; i < line.len; i++)
            blank &= line.at[i] == ' ' || line.at[i] == '\t';
        if (!blank)
            buf_str(&out, line);
        if (end < 0)
            break;
        buf_char(&out, '\n');
        at += (size_t)end + 1;
    }
    Str copy = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return copy;
}

/* The f-string number n of a function, or the longest. */
#define LONGEST UINT32_MAX
static bool format_of(const PyTexts *texts, const char *function, uint32_t n, Str *text)
{
    uint32_t seen = 0;
    *text = (Str){0};
    for (uint32_t i = 0; i < texts->len; i++) {
        const PyText *t = &texts->at[i];
        if (!t->format || strcmp(t->function, function) != 0)
            continue;
        if (n == LONGEST ? t->text.len > text->len : n == seen++)
            *text = t->text;
    }
    return text->len > 0;
}

typedef struct Npukb {
    Arena *arena;
    const PromptSpec *spec;
    Diag *diag;
    PyTexts texts; /* of the generator */
    const char *dir, *kernel_name;
    Str kernel, host, api, cases;
    bool full;
} Npukb;

static bool fill(const Npukb *p, Str format, const PyFill *fills, Str *text)
{
    const char *missing;
    if (pytext_fill(p->arena, format, fills, text, &missing))
        return true;
    return original_refuse(p->diag, "generate_codes_with_sft.py",
                           str_format(p->arena, "what is {%s}?", missing));
}

static bool answer_template(const Npukb *p, Str *text)
{
    Str format, host = p->host;
    if (!format_of(&p->texts, "generate_answer_template", p->full, &format))
        return original_refuse(p->diag, "generate_codes_with_sft.py", "no answer template");
    for (uint32_t i = 0; i < p->texts.len; i++)
        if (!strcmp(p->texts.at[i].function, "generate_answer_template") &&
            str_starts(p->texts.at[i].text, "context->SetBlockDim"))
            host = without(p->arena, host, p->texts.at[i].text);
    PyFill fills[] = {{"cpp_code", cut_after_workspace(p->arena, p->kernel)},
                      {"self.task_obj.kernel_name", str_from(p->kernel_name)},
                      {"self.task_obj.op_name", str_from(p->spec->task)},
                      {"host_impl", host},
                      {"kernel_impl", p->kernel},
                      {NULL, {0}}};
    Str filled;
    if (!fill(p, format, fills, &filled))
        return false;
    *text = dedent(p->arena, filled);
    return true;
}

/* The description with the case's dtype put before its first known heading. */
static Str description(const Npukb *p)
{
    Table t = {0};
    Str dtype = {0};
    read_table(p->arena, p->cases, &t);
    for (uint32_t c = 0; c < t.columns && p->spec->kase < t.rows.len; c++)
        if (str_is(t.names[c], "dtype"))
            dtype = t.rows.at[p->spec->kase][c];
    Str info = {0};
    if (!dtype.len)
        return p->api;
    for (uint32_t i = 0; i < p->texts.len; i++) {
        const PyText *x = &p->texts.at[i];
        if (strcmp(x->function, "enhance_api_description") != 0)
            continue;
        PyFill fills[] = {{"self.test_case_data['dtype']", dtype}, {NULL, {0}}};
        if (x->format && !fill(p, x->text, fills, &info))
            return p->api;
        ptrdiff_t at = str_starts(x->text, "## ") ? str_find(p->api, x->text) : -1;
        if (at >= 0 && info.len)
            return str_from(str_format(p->arena, "%.*s%.*s%.*s", (int)at, p->api.at, STR_ARG(info),
                                       STR_ARG(str_slice(p->api, (size_t)at, p->api.len))));
    }
    return str_from(str_format(p->arena, "%.*s%.*s", STR_ARG(info), STR_ARG(p->api)));
}

static bool read_files(Npukb *p)
{
    Arena *a = p->arena;
    const char *file = str_format(a, "%s.cpp", p->kernel_name);
    const char *question = path_join(a, p->dir, "question");
    return file_read(a, path_join(a, path_join(a, question, "op_kernel"), file), 0, &p->kernel,
                     p->diag) &&
           file_read(a, path_join(a, path_join(a, question, "op_host"), file), 0, &p->host,
                     p->diag) &&
           file_read(a, path_join(a, p->dir, "api_desc.md"), 0, &p->api, p->diag) &&
           file_read(a, path_join(a, p->dir, "validation/test_cases.csv"), 0, &p->cases, p->diag);
}

static bool sample_texts(const Npukb *p, Str *example, Str *requirement)
{
    PyTexts texts = {0};
    const char *which = p->full ? "FULL" : "KERNEL_ONLY";
    const char *file = p->full ? "kernel_generator/full_sft_sample.py"
                               : "kernel_generator/kernel_only_sft_sample.py";
    if (!original_texts(p->arena, p->spec, file, &texts, p->diag))
        return false;
    if (!pytext_named(&texts, str_format(p->arena, "%s_EXAMPLE_CODE", which), example) ||
        !pytext_named(&texts, str_format(p->arena, "%s_CODE_REQUIREMENT", which), requirement))
        return original_refuse(p->diag, file, "the example or the requirements are not found");
    return true;
}

bool npukb_prompt(Arena *arena, const PromptSpec *spec, Prompt *prompt, Diag *diag)
{
    Npukb p = {.arena = arena,
               .spec = spec,
               .diag = diag,
               .dir = find_dir(arena, spec, diag),
               .kernel_name = snake(arena, spec->task),
               .full = spec->strategy == PROMPT_NPUKB_FULL};
    Str format, example, requirement, template, text;
    Buf kase = {0}, user = {0};
    if (!p.dir || !read_files(&p) || !sample_texts(&p, &example, &requirement) ||
        !original_texts(arena, spec, "kernel_generator/generate_codes_with_sft.py", &p.texts, diag))
        return false;
    if (!format_of(&p.texts, "build_code_generation_prompts", LONGEST, &format) ||
        !npukb_case_text(arena, p.cases, spec->kase, &kase))
        return original_refuse(diag, p.dir, "no prompt or no case");
    if (!answer_template(&p, &template))
        return false;
    PyFill fills[] = {
        {"code_requirement", requirement},
        {"example_content", example},
        {"self.enhance_api_description()", description(&p)},
        {"self.test_case_data", buf_view(&kase)},
        {"self.generate_answer_template(*template_contents)", template},
        {NULL, {0}},
    };
    bool ok = fill(&p, format, fills, &text);
    buf_free(&kase);
    if (!ok)
        return false;
    /* The suite's raw route frames the text like this, stray marks included. */
    buf_printf(&user, "\\(%.*s)", STR_ARG(dedent(arena, text)));
    prompt_say(arena, prompt, CHAT_USER, &user);
    prompt->raw = true;
    return true;
}
