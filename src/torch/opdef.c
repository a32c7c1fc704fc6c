/* Reads the op definition beside a reference (opdef.h), and compares a task's operands with it. */
#include "torch/opdef.h"

#include <string.h>

enum { MAX_DEF_BYTES = 4 << 20, MAX_OPERANDS = 64, MAX_TYPES = 256 };

/* --- reading ------------------------------------------------------------------------------ */

static bool type_from_ge(Str name, DType *type)
{
    static const struct {
        const char *ge;
        DType type;
    } rows[] = {{"DT_FLOAT", DT_F32},  {"DT_FLOAT16", DT_F16},  {"DT_BF16", DT_BF16},
                {"DT_INT8", DT_I8},    {"DT_INT16", DT_I16},    {"DT_INT32", DT_I32},
                {"DT_INT64", DT_I64},  {"DT_UINT8", DT_U8},     {"DT_UINT16", DT_U16},
                {"DT_UINT32", DT_U32}, {"DT_UINT64", DT_U64},   {"DT_BOOL", DT_BOOL},
                {"DT_DOUBLE", DT_F64}, {"DT_COMPLEX64", DT_C64}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (str_is(name, rows[i].ge)) {
            *type = rows[i].type;
            return true;
        }
    }
    return false;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The types between braces; none when one of them is unknown. */
static void take_types(Arena *arena, Str list, TorchOperand *o)
{
    Str piece;
    while (str_next(&list, ',', &piece) && o->types.len < MAX_TYPES) {
        DType type;
        piece = str_trim(piece);
        if (str_starts(piece, "ge::"))
            piece = str_slice(piece, 4, piece.len);
        if (!piece.len)
            continue;
        if (!type_from_ge(piece, &type)) {
            o->types.len = 0;
            return;
        }
        vec_push(arena, &o->types, type);
    }
}

static bool braced(Str text, Str *inside)
{
    text = str_trim(text);
    ptrdiff_t end = str_find(text, STR("}"));
    if (!text.len || text.at[0] != '{' || end < 0)
        return false;
    *inside = str_slice(text, 1, (size_t)end);
    return true;
}

/* `name = {...}` somewhere in the text. */
static bool named_list(Str text, Str name, Str *inside)
{
    while (text.len) {
        ptrdiff_t at = str_find(text, name);
        if (at < 0)
            return false;
        bool whole = at == 0 || !is_word(text.at[at - 1]);
        text = str_slice(text, (size_t)at + name.len, text.len);
        Str rest = str_trim(text);
        if (whole && rest.len && rest.at[0] == '=' && braced(str_slice(rest, 1, rest.len), inside))
            return true;
    }
    return false;
}

static Str argument_of(Str call, const char *method)
{
    ptrdiff_t at = str_find(call, str_from(method));
    if (at < 0)
        return (Str){0};
    return str_trim(str_slice(call, (size_t)at + strlen(method), call.len));
}

static bool take_operand(Arena *arena, Str text, Str call, bool input, TorchOpdef *def)
{
    ptrdiff_t quote = str_find(call, STR("\""));
    TorchOperand o = {.role = input ? OPERAND_IN : OPERAND_OUT};
    Str kind = argument_of(call, ".ParamType("), types = argument_of(call, ".DataType("), inside;
    if (quote < 0)
        return false;
    o.name = str_dup(arena, str_slice(call, 0, (size_t)quote));
    if (str_starts(kind, "DYNAMIC"))
        o.role = input ? OPERAND_LIST : OPERAND_OUTS;
    else if (str_starts(kind, "OPTIONAL") && input)
        o.role = OPERAND_OPT;
    size_t n = 0;
    while (n < types.len && is_word(types.at[n]))
        n++;
    if (n ? named_list(text, str_slice(types, 0, n), &inside) : braced(types, &inside))
        take_types(arena, inside, &o);
    vec_push(arena, def, o);
    return true;
}

static Str without_comments(Arena *arena, Str text)
{
    Buf out = {0};
    for (size_t i = 0; i < text.len; i++) {
        Str rest = str_slice(text, i, text.len);
        bool line = str_starts(rest, "//"), block = str_starts(rest, "/*");
        if (!line && !block) {
            buf_char(&out, text.at[i]);
            continue;
        }
        ptrdiff_t end = str_find(rest, line ? STR("\n") : STR("*/"));
        i += end < 0 ? rest.len : (size_t)end + block;
    }
    Str copy = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return copy;
}

void torch_opdef_parse(Arena *arena, Str source, TorchOpdef *def)
{
    Str text = without_comments(arena, source), rest = text;
    static const Str in = {"this->Input(\"", 13}, out = {"this->Output(\"", 14};
    while (def->len < MAX_OPERANDS) {
        ptrdiff_t a = str_find(rest, in), b = str_find(rest, out);
        if (a < 0 && b < 0)
            return;
        bool input = b < 0 || (a >= 0 && a < b);
        rest = str_slice(rest, (size_t)(input ? a : b) + (input ? in.len : out.len), rest.len);
        ptrdiff_t end = str_find(rest, STR(";"));
        Str call = str_slice(rest, 0, end < 0 ? rest.len : (size_t)end);
        if (!take_operand(arena, text, call, input, def))
            return;
    }
}

bool torch_opdef_beside(Arena *arena, const char *module_path, TorchOpdef *def)
{
    const char *inner = path_dir(arena, module_path);
    const char *dir = path_join(arena, path_dir(arena, inner), "question/op_host");
    Diag diag = diag_make(arena, dir, (Str){0});
    NameList names = {0};
    Str text;
    if (!str_is(path_base(inner), "validation") || !file_is_dir(dir) ||
        !file_list(arena, dir, &names, &diag))
        return false;
    for (uint32_t i = 0; i < names.len && !def->len; i++) {
        if (str_ends(str_from(names.at[i]), ".cpp") &&
            file_read(arena, path_join(arena, dir, names.at[i]), MAX_DEF_BYTES, &text, &diag))
            torch_opdef_parse(arena, text, def);
    }
    return def->len > 0;
}

/* --- comparing ---------------------------------------------------------------------------- */

static bool is_output(GraphRole role) { return role == OPERAND_OUT || role == OPERAND_OUTS; }

static bool same_types(const TorchOperand *a, const TorchOperand *b)
{
    return !b->types.len ||
           (a->types.len == b->types.len &&
            memcmp(a->types.at, b->types.at, a->types.len * sizeof *a->types.at) == 0);
}

/* The task's inputs, or its results, in order, against the definition's. */
static bool same_operands(Arena *arena, const TorchTask *task, const TorchOpdef *def, bool outputs,
                          const char **why)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < task->operands.len; i++) {
        const TorchOperand *o = &task->operands.at[i];
        if (o->role == OPERAND_ATTR || o->role == OPERAND_MUT || is_output(o->role) != outputs)
            continue;
        while (k < def->len && is_output(def->at[k].role) != outputs)
            k++;
        const TorchOperand *d = k < def->len ? &def->at[k++] : NULL;
        if (!d || strcmp(o->name, d->name) != 0 || o->role != d->role || !same_types(o, d)) {
            *why = str_format(arena, "operand '%s' is not as the op definition has it", o->name);
            return false;
        }
    }
    while (k < def->len && is_output(def->at[k].role) != outputs)
        k++;
    if (k < def->len)
        *why = str_format(arena, "the op definition has another operand, '%s'", def->at[k].name);
    return k == def->len;
}

bool torch_opdef_agrees(Arena *arena, const TorchTask *task, const TorchOpdef *def,
                        const char **why)
{
    return same_operands(arena, task, def, false, why) &&
           same_operands(arena, task, def, true, why);
}

static DType type_here(const TorchTask *task, const TorchOperand *o)
{
    bool result = is_output(o->role) || o->role == OPERAND_MUT;
    ValueId id = result ? task->graph->outputs.at[o->first] : task->graph->inputs.at[o->first];
    return graph_value(task->graph, id)->dtype;
}

static bool column_fits(const TorchTask *task, uint32_t column, bool results)
{
    for (uint32_t i = 0; i < task->operands.len; i++) {
        const TorchOperand *o = &task->operands.at[i];
        bool result = is_output(o->role) || o->role == OPERAND_MUT;
        if (o->role == OPERAND_ATTR || !o->count || (result && !results))
            continue;
        if (column >= o->types.len || o->types.at[column] != type_here(task, o))
            return false;
    }
    return true;
}

static bool listed(const TorchOperand *o, DType type)
{
    for (uint32_t i = 0; i < o->types.len; i++) {
        if (o->types.at[i] == type)
            return true;
    }
    return false;
}

bool torch_opdef_typed(const TorchTask *task, const char **why)
{
    bool known = false;
    *why = "a result has not the type the op definition declares";
    for (uint32_t c = 0; c < MAX_TYPES; c++) {
        if (column_fits(task, c, true))
            return true;
        known = known || column_fits(task, c, false);
    }
    for (uint32_t i = 0; i < task->operands.len && !known; i++) {
        const TorchOperand *o = &task->operands.at[i];
        if (is_output(o->role) && o->count && !listed(o, type_here(task, o)))
            return false;
    }
    return !known && task->operands.len > 0;
}
