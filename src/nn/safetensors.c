/* Reading safetensors: the header's JSON, its checks, and elements as floats. */
#include "nn/safetensors.h"

#include "base/dtype.h"
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER_MOST = 100 * 1000 * 1000, PREFIX = 8 };

static const struct {
    const char *name;
    uint8_t bytes;
} dtypes[ST_DTYPE_COUNT] = {
#define ST_ROW(name, bytes) {#name, bytes},
    ST_DTYPES(ST_ROW)
#undef ST_ROW
};

const char *st_dtype_name(StDtype dtype) { return dtypes[dtype].name; }
size_t st_dtype_bytes(StDtype dtype) { return dtypes[dtype].bytes; }

/* A file that is refused says why, with the tensor where there is one. */
static bool fail_header(Diag *diag, const char *name, const char *why)
{
    if (name)
        diag_error(diag, "N002", (Span){0}, "tensor '%.80s': %s", name, why);
    else
        diag_error(diag, "N002", (Span){0}, "no safetensors file: %s", why);
    return false;
}

static bool parse_dtype(const json_t *text, StDtype *dtype)
{
    for (int i = 0; json_is_string(text) && i < ST_DTYPE_COUNT; i++)
        if (!strcmp(json_string_value(text), dtypes[i].name)) {
            *dtype = (StDtype)i;
            return true;
        }
    return false;
}

/* Sizes multiply without overflow; a size of 0 is legal. */
static bool parse_shape(const json_t *shape, StTensor *t)
{
    if (!json_is_array(shape) || json_array_size(shape) > ST_MOST_RANK)
        return false;
    t->rank = (uint32_t)json_array_size(shape);
    t->count = 1;
    for (uint32_t i = 0; i < t->rank; i++) {
        const json_t *size = json_array_get(shape, i);
        if (!json_is_integer(size) || json_integer_value(size) < 0)
            return false;
        t->shape[i] = (uint64_t)json_integer_value(size);
        if (__builtin_mul_overflow(t->count, t->shape[i], &t->count))
            return false;
    }
    return !__builtin_mul_overflow(t->count, (uint64_t)dtypes[t->dtype].bytes, &t->bytes);
}

static bool parse_offsets(const json_t *offsets, uint64_t data_size, uint64_t *from, uint64_t *to)
{
    if (!json_is_array(offsets) || json_array_size(offsets) != 2)
        return false;
    const json_t *a = json_array_get(offsets, 0), *b = json_array_get(offsets, 1);
    if (!json_is_integer(a) || !json_is_integer(b) || json_integer_value(a) < 0)
        return false;
    *from = (uint64_t)json_integer_value(a);
    *to = (uint64_t)json_integer_value(b);
    return json_integer_value(b) >= json_integer_value(a) && *to <= data_size;
}

static bool parse_tensor(Arena *arena, const char *name, const json_t *row, Str data, StFile *file,
                         Diag *diag)
{
    StTensor t = {0};
    uint64_t from, to;
    if (!json_is_object(row))
        return fail_header(diag, name, "its row is no object");
    if (!parse_dtype(json_object_get(row, "dtype"), &t.dtype))
        return fail_header(diag, name, "its dtype is not one that is known here");
    if (!parse_shape(json_object_get(row, "shape"), &t))
        return fail_header(diag, name, "its shape is not up to 8 sizes that can be multiplied");
    if (!parse_offsets(json_object_get(row, "data_offsets"), data.len, &from, &to))
        return fail_header(diag, name, "its data_offsets do not lie in the file");
    if (to - from != t.bytes)
        return fail_header(diag, name, "its data_offsets do not fit its dtype and shape");
    t.name = str_copy(arena, str_from(name));
    t.data = data.at + from;
    vec_push(arena, &file->tensors, t);
    return true;
}

static bool parse_metadata(Arena *arena, json_t *row, StFile *file, Diag *diag)
{
    const char *key;
    json_t *value;
    if (!json_is_object(row))
        return fail_header(diag, NULL, "__metadata__ is no object");
    json_object_foreach(row, key, value)
    {
        if (!json_is_string(value))
            return fail_header(diag, NULL, "__metadata__ holds something that is no string");
        StPair pair = {str_copy(arena, str_from(key)),
                       str_copy(arena, str_from(json_string_value(value)))};
        vec_push(arena, &file->metadata, pair);
    }
    return true;
}

static int by_place(const void *a, const void *b)
{
    const StTensor *x = a, *y = b;
    if (x->data != y->data)
        return (const char *)x->data < (const char *)y->data ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return str_compare(x->name, y->name);
}

/* Every byte of the data belongs to one tensor: no overlap, no hole, nothing behind. */
static bool check_cover(const StFile *file, Str data, Diag *diag)
{
    const char *at = data.at;
    for (uint32_t i = 0; i < file->tensors.len; i++) {
        const StTensor *t = &file->tensors.at[i];
        if ((const char *)t->data != at)
            return fail_header(diag, t->name.at,
                               "its data overlap another tensor's, or leave a gap");
        at += t->bytes;
    }
    if (at != data.at + data.len)
        return fail_header(diag, NULL, "bytes at the end belong to no tensor");
    return true;
}

static bool parse_rows(Arena *arena, json_t *header, Str data, StFile *file, Diag *diag)
{
    const char *name;
    json_t *row;
    json_object_foreach(header, name, row)
    {
        bool ok = strcmp(name, "__metadata__") ? parse_tensor(arena, name, row, data, file, diag)
                                               : parse_metadata(arena, row, file, diag);
        if (!ok)
            return false;
    }
    if (file->tensors.len)
        qsort(file->tensors.at, file->tensors.len, sizeof *file->tensors.at, by_place);
    for (uint32_t i = 0; i < file->tensors.len; i++)
        map_put(arena, &file->names, file->tensors.at[i].name, i);
    return check_cover(file, data, diag);
}

static uint64_t read_u64(const char *at)
{
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--)
        value = value << 8 | (uint8_t)at[i];
    return value;
}

bool st_parse(Arena *arena, Str bytes, StFile *file, Diag *diag)
{
    if (bytes.len < PREFIX)
        return fail_header(diag, NULL, "shorter than 8 bytes");
    uint64_t len = read_u64(bytes.at);
    if (len > HEADER_MOST || len > bytes.len - PREFIX)
        return fail_header(diag, NULL, "its header is longer than the file, or than 100 MB");
    json_error_t error;
    json_t *header = json_loadb(bytes.at + PREFIX, (size_t)len, JSON_REJECT_DUPLICATES, &error);
    if (!header || !json_is_object(header)) {
        diag_error(diag, "N002", (Span){0}, "no safetensors file: the header is no JSON object%s%s",
                   header ? "" : ": ", header ? "" : error.text);
        json_decref(header);
        return false;
    }
    Str data = str_slice(bytes, PREFIX + (size_t)len, bytes.len);
    bool ok = parse_rows(arena, header, data, file, diag);
    json_decref(header);
    return ok;
}

static bool map_file(const char *path, StFile *file, Diag *diag)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && fstat(fd, &st) == 0;
    if (ok && (!S_ISREG(st.st_mode) || st.st_size == 0)) {
        close(fd);
        diag_error(diag, "N002", (Span){0}, "'%s' is empty or no plain file", path);
        return false;
    }
    if (ok) {
        file->mapped = (size_t)st.st_size;
        file->map = mmap(NULL, file->mapped, PROT_READ, MAP_PRIVATE, fd, 0);
        ok = file->map != MAP_FAILED;
    }
    if (!ok) {
        diag_error(diag, "F001", (Span){0}, "cannot read '%s': %s", path, strerror(errno));
        file->map = NULL;
    }
    if (fd >= 0)
        close(fd);
    return ok;
}

bool st_open(Arena *arena, const char *path, StFile *file, Diag *diag)
{
    *file = (StFile){0};
    if (!map_file(path, file, diag))
        return false;
    const char *outer = diag->file;
    diag->file = path;
    bool ok = st_parse(arena, (Str){file->map, file->mapped}, file, diag);
    diag->file = outer;
    if (!ok)
        st_close(file);
    return ok;
}

void st_close(StFile *file)
{
    if (file->map)
        munmap(file->map, file->mapped);
    *file = (StFile){0};
}

const StTensor *st_find(const StFile *file, Str name)
{
    uint32_t index;
    return map_get(&file->names, name, &index) ? &file->tensors.at[index] : NULL;
}

Str st_metadata(const StFile *file, const char *key)
{
    for (uint32_t i = 0; i < file->metadata.len; i++)
        if (str_is(file->metadata.at[i].key, key))
            return file->metadata.at[i].value;
    return STR("");
}

static float load_float(StDtype dtype, const uint8_t *at)
{
    float whole;
    int32_t integer;
    uint16_t half;
    switch (dtype) {
    case ST_F32: memcpy(&whole, at, sizeof whole); return whole;
    case ST_I32: memcpy(&integer, at, sizeof integer); return (float)integer;
    case ST_F16: memcpy(&half, at, sizeof half); return half_to_float(half);
    case ST_BF16: memcpy(&half, at, sizeof half); return bf16_to_float(half);
    case ST_I16: memcpy(&half, at, sizeof half); return (float)(int16_t)half;
    case ST_I8: return (float)(int8_t)*at;
    case ST_U8: return (float)*at;
    default: return 0;
    }
}

bool st_floats(const StTensor *t, uint64_t from, uint64_t count, float *out)
{
    if (t->dtype == ST_F64 || t->dtype == ST_I64 || t->dtype == ST_BOOL)
        return false;
    size_t bytes = dtypes[t->dtype].bytes;
    const uint8_t *at = (const uint8_t *)t->data + from * bytes;
    for (uint64_t i = 0; i < count; i++)
        out[i] = load_float(t->dtype, at + i * bytes);
    return true;
}
