/* Case lists beside model files, and the model files below a directory. */
#include "torch/case.h"

#include <string.h>

enum { MAX_TABLE_BYTES = 64 << 20, MAX_LIST_BYTES = 256 << 20 };

static bool has_text(Str text, const char *what) { return str_find(text, str_from(what)) >= 0; }

void torch_cases_lines(Arena *arena, Str text, TorchCases *cases)
{
    Str line;
    while (str_next(&text, '\n', &line)) {
        if (str_trim(line).len)
            vec_push(arena, &cases->lines, str_trim(line));
    }
}

/* The first line with text names the columns, each line after it is a case. */
void torch_cases_table(Arena *arena, Str text, TorchCases *cases)
{
    Str line;
    if (str_starts(text, "\xef\xbb\xbf"))
        text = str_slice(text, 3, text.len);
    while (!cases->header.len && str_next(&text, '\n', &line))
        cases->header = str_trim(line);
    torch_cases_lines(arena, text, cases);
}

static bool read_pair(Arena *arena, const char *dir, TorchCases *cases, Diag *diag)
{
    const char *table = path_join(arena, dir, "test_cases.csv");
    const char *code = path_join(arena, dir, "prepare_inputs.py");
    Str text;
    if (!file_exists(table) || !file_exists(code))
        return true;
    if (!file_read(arena, table, MAX_TABLE_BYTES, &text, diag) ||
        !file_read(arena, code, PY_MAX_BYTES, &cases->companion, diag))
        return false;
    torch_cases_table(arena, text, cases);
    return true;
}

bool torch_cases(Arena *arena, const char *model_path, TorchCases *cases, Diag *diag)
{
    Str stem = str_from(model_path), text;
    if (!str_ends(stem, ".py"))
        return true;
    const char *list = str_format(arena, "%.*s.json", (int)stem.len - 3, stem.at);
    const char *table = str_format(arena, "%.*s.csv", (int)stem.len - 3, stem.at);
    if (file_exists(table)) {
        if (!file_read(arena, table, MAX_TABLE_BYTES, &text, diag))
            return false;
        torch_cases_table(arena, text, cases);
        return true;
    }
    if (!file_exists(list))
        return read_pair(arena, path_dir(arena, model_path), cases, diag);
    if (!file_read(arena, list, MAX_LIST_BYTES, &text, diag))
        return false;
    torch_cases_lines(arena, text, cases);
    return true;
}

static bool is_true(Str field)
{
    return str_is(field, "True") || str_is(field, "true") || str_is(field, "TRUE");
}

static bool is_false(Str field)
{
    return str_is(field, "False") || str_is(field, "false") || str_is(field, "FALSE");
}

static Str field_at(Str row, uint32_t column)
{
    Str field = STR("");
    for (uint32_t i = 0; i <= column; i++) {
        if (!str_next(&row, ';', &field))
            return STR("");
    }
    return str_trim(field);
}

/* What pandas takes a column for: all its fields are numbers, or all are True and False; else each
 * is text, numbers too. */
typedef enum Column { COLUMN_TEXT, COLUMN_NUMBERS, COLUMN_BOOLS } Column;

static Column column_of(const TorchCases *cases, uint32_t column)
{
    bool numbers = true, bools = true;
    double f;
    for (uint32_t i = 0; i < cases->lines.len; i++) {
        Str field = field_at(cases->lines.at[i], column);
        numbers = numbers && (!field.len || str_to_double(field, &f));
        bools = bools && (!field.len || is_true(field) || is_false(field));
    }
    return numbers ? COLUMN_NUMBERS : bools ? COLUMN_BOOLS : COLUMN_TEXT;
}

static PyVal field_value(Interp *it, Str field, Column column)
{
    int64_t i;
    double f;
    if (!field.len)
        return pv_none();
    if (column == COLUMN_NUMBERS && str_to_i64(field, &i))
        return pv_int(i);
    if (column == COLUMN_NUMBERS && str_to_double(field, &f))
        return pv_float(f);
    if (column == COLUMN_BOOLS)
        return pv_bool(is_true(field));
    return pv_str(it->arena, field);
}

static bool is_name(Str s)
{
    for (size_t i = 0; i < s.len; i++) {
        bool letter = s.at[i] == '_' || (s.at[i] >= 'a' && s.at[i] <= 'z') ||
                      (s.at[i] >= 'A' && s.at[i] <= 'Z');
        if (!letter && !(i && s.at[i] >= '0' && s.at[i] <= '9'))
            return false;
    }
    return s.len > 0;
}

static bool is_literal(Str field)
{
    double number;
    return field.at[0] == '[' || field.at[0] == '(' || str_to_double(field, &number) ||
           str_is(field, "None");
}

static const Py *field_literal(Arena *arena, Str field)
{
    Buf text = {0};
    if (is_true(field) || is_false(field))
        buf_puts(&text, is_true(field) ? "True" : "False");
    else if (is_literal(field))
        buf_str(&text, field);
    else
        buf_json_str(&text, field);
    Str source = {buf_take(&text, arena), text.len};
    Diag quiet = diag_make(arena, "case", source);
    const Py *value = py_parse_expression(arena, source, &quiet);
    buf_free(&text);
    return value;
}

static bool one_of_cases(const TorchOptions *options, Diag *diag)
{
    if (options->case_index < options->cases->lines.len)
        return true;
    diag_error(diag, "T022", (Span){0}, "there is no case %u; the file has %u", options->case_index,
               options->cases->lines.len);
    return false;
}

bool case_row(Arena *arena, const TorchOptions *options, CaseRow *row, Diag *diag)
{
    const TorchCases *cases = options->cases;
    if (!cases || !cases->lines.len || !cases->header.len || cases->companion.len)
        return true;
    if (!one_of_cases(options, diag))
        return false;
    Str names = cases->header, fields = cases->lines.at[options->case_index], name, field;
    while (str_next(&names, ';', &name)) {
        name = str_trim(name);
        if (!is_name(name)) {
            diag_error(diag, "T022", (Span){0}, "column '%.*s' of the cases is no name",
                       STR_ARG(name));
            return false;
        }
        field = str_next(&fields, ';', &field) ? str_trim(field) : STR("");
        if (!field.len)
            continue;
        CaseField entry = {name, field_literal(arena, field)};
        if (!entry.value) {
            field = str_slice(field, 0, 60);
            diag_error(diag, "T022", (Span){0}, "case %u: '%.*s' of column %.*s does not read",
                       options->case_index, STR_ARG(field), STR_ARG(name));
            return false;
        }
        vec_push(arena, row, entry);
    }
    if (fields.len) {
        diag_error(diag, "T022", (Span){0}, "case %u has more fields than there are columns",
                   options->case_index);
        return false;
    }
    return true;
}

PyVal case_row_dict(Interp *it, const CaseRow *row)
{
    PyVal dict = pv_dict(it->arena);
    Env *env = env_new(it->arena, NULL);
    for (uint32_t i = 0; i < row->len; i++)
        dict_set_name(it->arena, dict.dict, row->at[i].name,
                      interp_eval(it, env, row->at[i].value));
    return dict;
}

static PyVal row_dict(Interp *it, const TorchCases *cases, Str row)
{
    PyVal dict = pv_dict(it->arena);
    Str header = cases->header, name;
    for (uint32_t i = 0; str_next(&header, ';', &name); i++) {
        PyVal value = field_value(it, field_at(row, i), column_of(cases, i));
        /* an empty field is missing: param.get gives its default */
        if (!pv_is_none(value))
            dict_set_name(it->arena, dict.dict, str_trim(name), value);
    }
    return dict;
}

bool case_prepare(Interp *it, const TorchOptions *options, const Py **companion)
{
    const TorchCases *cases = options->cases;
    *companion = NULL;
    if (!cases || !cases->lines.len)
        return true;
    if (!one_of_cases(options, it->diag))
        return false;
    Str line = cases->lines.at[options->case_index];
    if (!cases->header.len) {
        it->case_text = line;
        return true;
    }
    if (!cases->companion.len)
        return true;
    it->param = row_dict(it, cases, line);
    *companion = py_parse(it->arena, cases->companion, it->diag);
    return *companion != NULL;
}

/* --- suites ------------------------------------------------------------------------------- */

static bool is_model_file(Arena *arena, const char *path)
{
    Str text;
    Diag quiet = diag_make(arena, path, (Str){0});
    if (!str_ends(str_from(path), ".py") || !file_read(arena, path, PY_MAX_BYTES, &text, &quiet))
        return false;
    if (!has_text(text, "class Model"))
        return false;
    const char *beside = path_join(arena, path_dir(arena, path), "prepare_inputs.py");
    return has_text(text, "def get_input") ||
           (str_is(path_base(path), "module.py") && file_exists(beside));
}

static bool walk_suite(Arena *arena, const char *dir, NameList *paths, int depth, Diag *diag)
{
    NameList names = {0};
    if (!file_list(arena, dir, &names, diag))
        return false;
    for (uint32_t i = 0; i < names.len; i++) {
        if (names.at[i][0] == '.')
            continue;
        const char *path = path_join(arena, dir, names.at[i]);
        if (file_is_dir(path)) {
            if (depth < 16 && !walk_suite(arena, path, paths, depth + 1, diag))
                return false;
        } else if (is_model_file(arena, path)) {
            vec_push(arena, paths, path);
        }
    }
    return true;
}

bool torch_suite(Arena *arena, const char *dir, NameList *paths, Diag *diag)
{
    return walk_suite(arena, dir, paths, 0, diag);
}
