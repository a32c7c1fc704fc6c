/* Values as text: f-strings' formats and the '%' of text. In: a value and its format. Out: text; a
 * format that is not understood is refused, never guessed. */
#include "torch/interp.h"

#include <string.h>

static PyVal take_text(Interp *it, Buf *buf)
{
    PyVal v = pv_str(it->arena, (Str){buf_take(buf, it->arena), buf->len});
    buf_free(buf);
    return v;
}

/* [[fill]align][sign][#][0][width][,][.precision][type], as far as numbers and text go. */
/* [[fill]align][sign][0][width][,][.precision][type] */
typedef struct Format {
    char fill, align, sign, type;
    bool zero, comma;
    int64_t width, precision; /* precision -1: none */
} Format;

static Format read_format(Interp *it, Span at, Str spec)
{
    Format f = {.fill = ' ', .precision = -1};
    size_t i = 0;
    bool filled = spec.len > 1 && memchr("<>^=", spec.at[1], 4);
    if (filled)
        f.fill = spec.at[i++];
    if (i < spec.len && memchr("<>^=", spec.at[i], 4))
        f.align = spec.at[i++];
    if (i < spec.len && memchr("+- ", spec.at[i], 3))
        f.sign = spec.at[i++];
    if (i < spec.len && spec.at[i] == '0') {
        f.zero = true;
        i++;
    }
    for (; i < spec.len && spec.at[i] >= '0' && spec.at[i] <= '9' && f.width < 10000; i++)
        f.width = f.width * 10 + (spec.at[i] - '0');
    if (i < spec.len && spec.at[i] == ',') {
        f.comma = true;
        i++;
    }
    if (i < spec.len && spec.at[i] == '.') {
        f.precision = 0;
        for (i++; i < spec.len && spec.at[i] >= '0' && spec.at[i] <= '9' && f.precision < 60; i++)
            f.precision = f.precision * 10 + (spec.at[i] - '0');
    }
    f.type = i < spec.len ? spec.at[i++] : '\0';
    if (i < spec.len || f.width >= 10000 || f.precision > 60 || f.comma ||
        (f.type && !memchr("dsfeg%xX", f.type, 8)))
        interp_fail(it, at, "T011", "the format '%.*s' is not supported", STR_ARG(spec));
    return f;
}

static void print_plain(PyVal v, const Format *f, bool quoted, Buf *out)
{
    int precision = f->precision < 0 ? 6 : (int)f->precision;
    bool number = pv_is_number(v);
    double value = number ? pv_as_double(v) : 0;
    if (number && f->sign && f->sign != '-' && !(value < 0))
        buf_char(out, f->sign);
    if (number && f->type == 'e')
        buf_printf(out, "%.*e", precision, value);
    else if (number && (f->type == 'g' || (!f->type && f->precision >= 0)))
        buf_printf(out, "%.*g", precision, value);
    else if (number && (f->type == 'f' || f->type == '%'))
        buf_printf(out, "%.*f%s", precision, f->type == '%' ? value * 100 : value,
                   f->type == '%' ? "%" : "");
    else if (pv_is_int(v) && (f->type == 'x' || f->type == 'X'))
        buf_printf(out, f->type == 'x' ? "%llx" : "%llX", (unsigned long long)pv_as_int(v));
    else if (v.tag == PV_BOOL && f->type == 'd')
        buf_printf(out, "%d", v.b);
    else
        pv_print(v, quoted, out);
}

PyVal interp_format(Interp *it, Span at, PyVal v, Str conversion, Str spec)
{
    Format f = read_format(it, at, spec);
    Buf plain = {0}, out = {0};
    bool text = str_is(conversion, "r") || str_is(conversion, "s") || !pv_is_number(v);
    print_plain(v, &f, str_is(conversion, "r"), &plain);
    int64_t gap = f.width - (int64_t)plain.len;
    char align = f.align ? f.align : f.zero && !text ? '=' : text ? '<' : '>';
    char fill = f.zero && !f.align ? '0' : f.fill;
    int64_t left = gap <= 0 || align == '<' ? 0 : align == '^' ? gap / 2 : gap;
    bool sign = align == '=' && plain.len && memchr("+- ", plain.at[0], 3);
    if (sign)
        buf_char(&out, plain.at[0]);
    for (int64_t i = 0; i < left; i++)
        buf_char(&out, fill);
    buf_printf(&out, "%.*s", (int)plain.len - sign, plain.at ? plain.at + sign : "");
    for (int64_t i = left; i < gap; i++)
        buf_char(&out, fill);
    buf_free(&plain);
    return take_text(it, &out);
}

/* "%s-%03d" % values: each place formatted as an f-string would. */
PyVal interp_percent(Interp *it, Span at, Str text, PyVal values)
{
    PyVal list = values.tag == PV_TUPLE ? values : pv_tuple_of(it->arena, 1, &values);
    Buf out = {0};
    uint32_t next = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] != '%') {
            buf_char(&out, text.at[i]);
            continue;
        }
        size_t from = ++i;
        while (i < text.len && memchr("0123456789.+- ", text.at[i], 14))
            i++;
        char type = i < text.len ? text.at[i] : '\0';
        if (type == '%') {
            buf_char(&out, '%');
            continue;
        }
        if (!type || !memchr("dsrfegxXi", type, 9) || next >= list.list->items.len) {
            buf_free(&out);
            interp_fail(it, at, "T011", "this '%%' format is not supported");
        }
        Str spec = str_from(str_format(it->arena, "%.*s%c", (int)(i - from), text.at + from,
                                       type == 'i'   ? 'd'
                                       : type == 'r' ? 's'
                                                     : type));
        PyVal v = list.list->items.at[next++];
        buf_str(&out, *interp_format(it, at, v, type == 'r' ? STR("r") : STR(""),
                                     type == 's' && pv_is_number(v) ? STR("") : spec)
                           .str);
    }
    return take_text(it, &out);
}
