/* Tensors as people name them on a command line, and as files. In: "x=f16[2,3]", "x=@x.npy". Out:
 * TwinTensor with its bytes. The .npy reader takes versions 1 to 3, C order, the types we have. */
#include "twin/twin_int.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/rng.h"
#include <string.h>

#define MOST_BYTES (1ull << 36)

typedef struct NpyType {
    const char *code; /* without the byte-order character */
    DType dtype;
} NpyType;

static const NpyType npy_types[] = {
    {"f4", DT_F32}, {"f2", DT_F16}, {"f8", DT_F64}, {"i1", DT_I8},  {"i2", DT_I16}, {"i4", DT_I32},
    {"i8", DT_I64}, {"u1", DT_U8},  {"u2", DT_U16}, {"u4", DT_U32}, {"u8", DT_U64}, {"b1", DT_BOOL},
};
enum { NPY_TYPES = sizeof npy_types / sizeof *npy_types };

static bool complain(Diag *diag, const char *text, const char *what)
{
    diag_error(diag, "C020", (Span){0}, "'%s': %s", text, what);
    return false;
}

/* "1024,4096" with or without white space; an empty list is a scalar. */
static bool read_shape(Str list, TwinTensor *tensor)
{
    Str piece;
    int64_t extent;
    list = str_trim(list);
    tensor->rank = 0;
    while (list.len && str_next(&list, ',', &piece)) {
        piece = str_trim(piece);
        if (!piece.len && !list.len)
            break; /* Python writes (3,) */
        if (tensor->rank == TWIN_MOST_DIMS || !str_to_i64(piece, &extent) || extent < 0)
            return false;
        tensor->shape[tensor->rank++] = (uint64_t)extent;
    }
    return true;
}

static bool size_tensor(TwinTensor *tensor)
{
    uint64_t bytes = dtype_bytes(tensor->dtype);
    for (uint32_t i = 0; i < tensor->rank; i++)
        if (__builtin_mul_overflow(bytes, tensor->shape[i], &bytes) || bytes > MOST_BYTES)
            return false;
    tensor->bytes = (size_t)bytes;
    return true;
}

static bool fill(const char *text, TwinTensor *tensor, const void *from, Diag *diag)
{
    if (!twin_tensor_alloc(tensor))
        return complain(diag, text, "no memory for it");
    memcpy(tensor->data, from, tensor->bytes);
    return true;
}

/* --- .npy ------------------------------------------------------------------------------------ */

/* The text after 'key': up to the end of its value. */
static bool npy_value(Str header, const char *key, char open, char close, Str *value)
{
    ptrdiff_t at = str_find(header, str_from(key));
    if (at < 0)
        return false;
    Str rest = str_slice(header, (size_t)at + strlen(key), header.len);
    size_t from = 0;
    while (from < rest.len && rest.at[from] != open)
        from++;
    size_t to = from + 1;
    while (to < rest.len && rest.at[to] != close)
        to++;
    *value = str_slice(rest, from + 1, to);
    return to < rest.len;
}

static bool npy_dtype(Str code, DType *dtype)
{
    if (code.len < 2 || code.at[0] == '>')
        return false;
    for (int i = 0; i < NPY_TYPES; i++) {
        if (str_is(str_slice(code, 1, code.len), npy_types[i].code)) {
            *dtype = npy_types[i].dtype;
            return true;
        }
    }
    return false;
}

static bool npy_header(Str file, Str *header, size_t *data)
{
    static const char magic[] = "\x93NUMPY";
    if (file.len < 12 || memcmp(file.at, magic, 6) != 0)
        return false;
    const unsigned char *b = (const unsigned char *)file.at;
    size_t wide = b[6] >= 2, at = wide ? 12 : 10;
    size_t len = (size_t)b[8] | (size_t)b[9] << 8;
    if (wide)
        len |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
    if (len > file.len - at)
        return false;
    *header = str_slice(file, at, at + len);
    *data = at + len;
    return true;
}

static bool read_npy(const char *text, Str file, TwinTensor *tensor, Diag *diag)
{
    Str header, code, shape;
    size_t data;
    if (!npy_header(file, &header, &data) || !npy_value(header, "'shape'", '(', ')', &shape) ||
        !npy_value(header, "'descr':", '\'', '\'', &code))
        return complain(diag, text, "not an .npy file");
    if (str_find(header, STR("'fortran_order': True")) >= 0)
        return complain(diag, text, "Fortran order is not read; save it in C order");
    if (!npy_dtype(code, &tensor->dtype))
        return complain(diag, text, "its element type is none of ours");
    if (!read_shape(shape, tensor) || !size_tensor(tensor) || file.len - data < tensor->bytes)
        return complain(diag, text, "its shape and its length do not agree");
    return fill(text, tensor, file.at + data, diag);
}

static void npy_head_text(const TwinTensor *tensor, Buf *out)
{
    const char *code = "u1";
    for (int i = 0; i < NPY_TYPES; i++)
        if (npy_types[i].dtype == tensor->dtype)
            code = npy_types[i].code;
    if (tensor->dtype == DT_BF16)
        code = "u2";
    buf_printf(out, "{'descr': '%s%s', 'fortran_order': False, 'shape': (",
               code[1] == '1' ? "|" : "<", code);
    for (uint32_t i = 0; i < tensor->rank; i++)
        buf_printf(out, "%llu,", (unsigned long long)tensor->shape[i]);
    buf_puts(out, "), }");
}

bool twin_tensor_write(const TwinTensor *tensor, const char *path, Diag *diag)
{
    Buf file = {0}, head = {0};
    if (str_ends(str_from(path), ".npy")) {
        npy_head_text(tensor, &head);
        while ((10 + head.len + 1) % 64)
            buf_char(&head, ' ');
        buf_char(&head, '\n');
        buf_add(&file, "\x93NUMPY\x01\x00", 8);
        buf_char(&file, (char)(head.len & 255));
        buf_char(&file, (char)(head.len >> 8));
        buf_str(&file, buf_view(&head));
    }
    buf_add(&file, tensor->data, tensor->bytes);
    bool ok = file_write(path, buf_view(&file), diag);
    buf_free(&file);
    buf_free(&head);
    return ok;
}

/* --- values ---------------------------------------------------------------------------------- */

/* A stream per tensor name, so that adding a tensor does not change the others. */
static void fill_random(TwinTensor *tensor, uint64_t seed)
{
    uint64_t stream = hash64(tensor->name, strlen(tensor->name));
    size_t count = tensor->bytes / dtype_bytes(tensor->dtype);
    DTypeClass kind = dtype_rows[tensor->dtype].kind;
    for (size_t i = 0; i < count; i++) {
        double value = kind == DTC_F || kind == DTC_C ? rng_normal(seed, stream, i)
                       : kind == DTC_B                ? (double)rng_range(seed, stream, i, 0, 2)
                       : kind == DTC_U                ? (double)rng_range(seed, stream, i, 0, 100)
                                                      : (double)rng_range(seed, stream, i, -50, 51);
        dtype_store(tensor->dtype, tensor->data, i, value);
    }
}

static bool read_raw(const char *text, Str file, TwinTensor *tensor, Diag *diag)
{
    if (file.len != tensor->bytes)
        return complain(diag, text, "the file's length is not that of the tensor");
    return fill(text, tensor, file.at, diag);
}

/* "f16[2,3]" */
static bool read_type(const char *text, Str spec, TwinTensor *tensor, Diag *diag)
{
    ptrdiff_t open = str_find(spec, STR("["));
    Str name = str_slice(spec, 0, open < 0 ? spec.len : (size_t)open);
    if (!dtype_from_name(name, &tensor->dtype) && !dtype_from_torch(name, &tensor->dtype))
        return complain(diag, text, "no such element type; as in x=f16[1024,4096]");
    if (open < 0 || !str_ends(spec, "]") ||
        !read_shape(str_slice(spec, (size_t)open + 1, spec.len - 1), tensor))
        return complain(diag, text, "a shape is missing; as in x=f16[1024,4096]");
    return size_tensor(tensor) || complain(diag, text, "too large");
}

/* Name, type and shape, and the file after '@'; *typed: a type was written. */
static bool read_words(Arena *arena, const char *text, TwinTensor *tensor, const char **file,
                       bool *typed, Diag *diag)
{
    Str rest = str_from(text), name, spec;
    *file = NULL;
    ptrdiff_t equals = str_find(rest, STR("="));
    if (equals < 1)
        return complain(diag, text, "a tensor is NAME=TYPE[SHAPE] or NAME=@FILE.npy");
    name = str_slice(rest, 0, (size_t)equals);
    rest = str_slice(rest, (size_t)equals + 1, rest.len);
    ptrdiff_t at = str_find(rest, STR("@"));
    spec = str_slice(rest, 0, at < 0 ? rest.len : (size_t)at);
    tensor->name = str_dup(arena, name);
    if (at >= 0)
        *file = str_dup(arena, str_slice(rest, (size_t)at + 1, rest.len));
    *typed = spec.len > 0;
    if (*typed && !read_type(text, spec, tensor, diag))
        return false;
    if (!*typed && (tensor->role == SIM_OUT || !*file))
        return complain(diag, text, "a type and shape are missing; as in y=f16[1024,4096]");
    return true;
}

bool twin_tensor_shape(Arena *arena, const char *text, SimRole role, TwinTensor *tensor, Diag *diag)
{
    const char *file;
    bool typed;
    *tensor = (TwinTensor){.role = role};
    if (!read_words(arena, text, tensor, &file, &typed, diag))
        return false;
    return typed || complain(diag, text, "without data a type and shape are needed");
}

bool twin_tensor_parse(Arena *arena, const char *text, SimRole role, uint64_t seed,
                       TwinTensor *tensor, const char **file, Diag *diag)
{
    Str bytes;
    bool typed;
    *tensor = (TwinTensor){.role = role};
    if (!read_words(arena, text, tensor, file, &typed, diag))
        return false;
    if (role == SIM_OUT || !*file) {
        if (!twin_tensor_alloc(tensor))
            return complain(diag, text, "no memory for it");
        if (role != SIM_OUT)
            fill_random(tensor, seed);
        return true;
    }
    if (!file_read(arena, *file, MOST_BYTES, &bytes, diag))
        return false;
    return typed ? read_raw(text, bytes, tensor, diag) : read_npy(text, bytes, tensor, diag);
}
