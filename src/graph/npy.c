/* .npy files (format in the header). In: bytes that may be anything; out: a tensor, or an error.
 * The header is a Python dict of three known keys, read by a scanner for just that. */
#include "graph/npy.h"
#include "graph/eval_int.h"
#include "base/file.h"
#include <string.h>

#define MAGIC "\x93NUMPY"
enum { MAGIC_LEN = 6, HEADER_MOST = 1 << 20 };

typedef struct TypeRow {
    const char *descr; /* without the byte order */
    DType dtype;
} TypeRow;

static const TypeRow types[] = {{"f4", DT_F32},  {"f2", DT_F16}, {"V2", DT_BF16}, {"f8", DT_F64},
                                {"i1", DT_I8},   {"i2", DT_I16}, {"i4", DT_I32},  {"i8", DT_I64},
                                {"u1", DT_U8},   {"u2", DT_U16}, {"u4", DT_U32},  {"u8", DT_U64},
                                {"b1", DT_BOOL}, {"c8", DT_C64}};

typedef struct Header {
    DType dtype;
    Shape shape;
    bool columns; /* fortran_order */
    bool has_type, has_shape, has_order;
} Header;

static bool fail_npy(Diag *diag, const char *why)
{
    diag_error(diag, "E490", (Span){0}, "not a usable .npy file: %s", why);
    return false;
}

static void skip_space(Str *s)
{
    while (s->len && (*s->at == ' ' || *s->at == '\n' || *s->at == '\t'))
        *s = str_slice(*s, 1, s->len);
}

static bool take_char(Str *s, char c)
{
    skip_space(s);
    if (!s->len || *s->at != c)
        return false;
    *s = str_slice(*s, 1, s->len);
    return true;
}

/* 'text' or "text" */
static bool take_quoted(Str *s, Str *text)
{
    skip_space(s);
    if (!s->len || (*s->at != '\'' && *s->at != '"'))
        return false;
    const char *end = memchr(s->at + 1, *s->at, s->len - 1);
    if (!end)
        return false;
    *text = (Str){s->at + 1, (size_t)(end - s->at) - 1};
    *s = str_slice(*s, text->len + 2, s->len);
    return true;
}

static bool take_type(Str *s, Header *h, Diag *diag)
{
    Str text;
    if (!take_quoted(s, &text))
        return fail_npy(diag, "no simple element type");
    if (text.len < 2 || text.at[0] == '>')
        return fail_npy(diag, "elements are not little endian");
    Str code = str_slice(text, text.at[0] == '<' || text.at[0] == '|' || text.at[0] == '=',
                         text.len);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (str_is(code, types[i].descr)) {
            h->dtype = types[i].dtype;
            return h->has_type = true;
        }
    diag_error(diag, "E491", (Span){0}, "element type '%.*s' of the .npy file is not supported",
               STR_ARG(text));
    return false;
}

static bool take_order(Str *s, Header *h, Diag *diag)
{
    skip_space(s);
    h->columns = str_starts(*s, "True");
    if (!h->columns && !str_starts(*s, "False"))
        return fail_npy(diag, "fortran_order is neither True nor False");
    *s = str_slice(*s, h->columns ? 4 : 5, s->len);
    return h->has_order = true;
}

/* (2, 3) or (5,) or () */
static bool take_shape(Str *s, Header *h, Diag *diag)
{
    if (!take_char(s, '('))
        return fail_npy(diag, "no shape");
    while (!take_char(s, ')')) {
        size_t n = 0;
        skip_space(s);
        while (n < s->len && s->at[n] >= '0' && s->at[n] <= '9')
            n++;
        int64_t dim;
        if (h->shape.rank == GRAPH_MAX_RANK || !str_to_i64(str_slice(*s, 0, n), &dim))
            return fail_npy(diag, "the shape is not a tuple of at most 8 sizes");
        h->shape.dim[h->shape.rank++] = dim;
        *s = str_slice(*s, n, s->len);
        if (!take_char(s, ',') && !(s->len && *s->at == ')'))
            return fail_npy(diag, "the shape is not a tuple");
    }
    return h->has_shape = true;
}

static bool parse_header(Str s, Header *h, Diag *diag)
{
    if (!take_char(&s, '{'))
        return fail_npy(diag, "the header is no dict");
    while (!take_char(&s, '}')) {
        Str key;
        bool ok;
        if (!take_quoted(&s, &key) || !take_char(&s, ':'))
            return fail_npy(diag, "the header is no dict");
        if (str_is(key, "descr"))
            ok = take_type(&s, h, diag);
        else if (str_is(key, "fortran_order"))
            ok = take_order(&s, h, diag);
        else if (str_is(key, "shape") && !h->has_shape)
            ok = take_shape(&s, h, diag);
        else
            ok = fail_npy(diag, "the header has an unknown key");
        if (!ok)
            return false;
        take_char(&s, ',');
    }
    return (h->has_type && h->has_order && h->has_shape) ||
           fail_npy(diag, "the header lacks a key");
}

/* Splits the file into header text and elements. */
static bool split(Str bytes, Str *header, Str *body, Diag *diag)
{
    const uint8_t *b = (const uint8_t *)bytes.at;
    if (bytes.len < 10 || memcmp(bytes.at, MAGIC, MAGIC_LEN) != 0)
        return fail_npy(diag, "it does not start with \\x93NUMPY");
    size_t start = b[6] == 1 ? 10 : 12, len;
    if (b[6] < 1 || b[6] > 3 || bytes.len < start)
        return fail_npy(diag, "unknown version");
    len = (size_t)b[8] | (size_t)b[9] << 8;
    if (b[6] > 1)
        len |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
    if (len > HEADER_MOST || len > bytes.len - start)
        return fail_npy(diag, "the header is longer than the file");
    *header = str_slice(bytes, start, start + len);
    *body = str_slice(bytes, start + len, bytes.len);
    return true;
}

/* Elements in column order are a row-order tensor with its dims reversed. */
static Tensor *to_rows(Tensor *t, Shape shape)
{
    Tensor *out = tensor_new_raw(t->dtype, shape);
    int64_t stride[GRAPH_MAX_RANK], run = 1;
    for (int i = 0; i < shape.rank; i++) {
        stride[i] = run;
        run *= shape.dim[i];
    }
    if (out)
        eval_copy_strided(t, 0, stride, out);
    tensor_free(t);
    return out;
}

static void make_truths(Tensor *t)
{
    for (int64_t i = 0; t->dtype == DT_BOOL && i < t->count; i++)
        TENSOR_AT(t, uint8_t)[i] = TENSOR_AT(t, uint8_t)[i] != 0;
}

Tensor *npy_parse(Str bytes, Diag *diag)
{
    Str header, body;
    Header h = {0};
    int64_t size = 0;
    if (!split(bytes, &header, &body, diag) || !parse_header(header, &h, diag))
        return NULL;
    if (!shape_bytes(h.shape, h.dtype, &size) || (size_t)size != body.len) {
        diag_error(diag, "E492", (Span){0},
                   "the .npy file holds %zu bytes of elements, its shape wants %lld", body.len,
                   (long long)size);
        return NULL;
    }
    Tensor *t = tensor_new_raw(h.dtype, h.shape);
    if (t && body.len)
        memcpy(t->at, body.at, body.len);
    if (t)
        make_truths(t);
    if (t && h.columns)
        t = to_rows(t, h.shape);
    if (!t)
        fail_npy(diag, "no memory for its elements");
    return t;
}

Tensor *npy_read(const char *path, Diag *diag)
{
    Arena arena = {0};
    Str bytes;
    Tensor *t = file_read(&arena, path, (size_t)1 << 40, &bytes, diag) ? npy_parse(bytes, diag)
                                                                       : NULL;
    arena_drop(&arena);
    return t;
}

void npy_format(const Tensor *t, Buf *out)
{
    Buf h = {0};
    const char *code = "f4";
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].dtype == t->dtype)
            code = types[i].descr;
    bool single = dtype_bytes(t->dtype) == 1;
    buf_printf(&h, "{'descr': '%c%s', 'fortran_order': False, 'shape': (", single ? '|' : '<',
               code);
    for (int i = 0; i < t->shape.rank; i++)
        buf_printf(&h, "%s%lld", i ? ", " : "", (long long)t->shape.dim[i]);
    buf_puts(&h, t->shape.rank == 1 ? ",), }" : "), }");
    buf_fill(&h, ' ', (64 - (10 + h.len + 1) % 64) % 64);
    buf_char(&h, '\n');
    uint8_t lead[10] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (uint8_t)(h.len & 255), (uint8_t)(h.len >> 8)};
    buf_add(out, lead, sizeof lead);
    buf_str(out, buf_view(&h));
    buf_add(out, t->at, (size_t)t->count * dtype_bytes(t->dtype));
    buf_free(&h);
}

bool npy_write(const char *path, const Tensor *t, Diag *diag)
{
    Buf out = {0};
    npy_format(t, &out);
    bool ok = file_write(path, buf_view(&out), diag);
    buf_free(&out);
    return ok;
}
