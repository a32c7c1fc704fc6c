/* The text of a program with the task's signature. In: the boundary's tensors and sizes, the planned
 * text. Out: the text with other declarations, another signature, and operands renamed in the host
 * function; kernels stay as they are. */
#include "gen/plan/boundary_int.h"

#include "gen/plan/chain_text.h"
#include <string.h>

static const char *name_of(const Boundary *b, const BoundSize *size)
{
    return b->program->vars.at[size->var].name;
}

static bool has_word(Str text, const char *word)
{
    Str name = str_from(word);
    for (size_t i = 0; i + name.len <= text.len; i++) {
        bool starts = i == 0 || !text_in_name(text.at[i - 1]);
        bool ends = i + name.len == text.len || !text_in_name(text.at[i + name.len]);
        if (starts && ends && memcmp(text.at + i, name.at, name.len) == 0)
            return true;
    }
    return false;
}

static bool names_tensor(const Boundary *b, const char *name)
{
    for (uint32_t i = 0; i < b->tensors.len; i++)
        if (strcmp(b->tensors.at[i].name, name) == 0)
            return true;
    return false;
}

/* n0_0, n0_1, ...: a name that neither the program nor the task has. */
static const char *new_size_name(const Boundary *b, const char *stem, int k)
{
    const char *name = str_format(b->arena, "%s_%d", stem, k);
    while (has_word(b->plan->craft, name) || names_tensor(b, name))
        name = str_format(b->arena, "%s_", name);
    return name;
}

/* Neither kernels nor a result need its sizes. */
static bool is_unread(const BoundTensor *t) { return !t->seen && t->replaced == UINT32_MAX; }

static void name_sizes(Boundary *b)
{
    for (uint32_t i = 0; i < b->program->dims.len; i++) {
        BoundSize *size = &b->sizes[i];
        for (int k = 0; k < size->parts; k++)
            size->part_name[k] = size->parts == 1 ? name_of(b, size)
                                                  : new_size_name(b, name_of(b, size), k);
    }
    int unread = 0;
    for (uint32_t i = 0; i < b->tensors.len; i++) {
        BoundTensor *t = &b->tensors.at[i];
        for (int a = 0; a < t->shape.rank && is_unread(t); a++, unread++)
            t->size_names[a] = new_size_name(b, "any", unread);
    }
}

/* ---- axes ---- */

/* The parts of the size that are axis `a`: those after the parts of the axes before it. */
static void put_part(const BoundTensor *t, int a, Buf *out)
{
    const BoundSize *size = t->axis[a].factor[0].size;
    int64_t before = 1, product = 1;
    for (int i = 0; i < a; i++)
        if (t->axis[i].kind == AXIS_PART && t->axis[i].factor[0].size == size)
            before = before * t->axis[i].number == size->value ? 1 : before * t->axis[i].number;
    int from = 0;
    for (int64_t skipped = 1; skipped < before && from < size->parts; from++)
        skipped *= size->part[from];
    int to = from;
    while (to < size->parts && product < t->axis[a].number)
        product *= size->part[to++];
    if (product != t->axis[a].number) { /* another order: told by its number */
        for (from = 0; from < size->parts && size->part[from] != t->axis[a].number;)
            from++;
        to = from + 1;
    }
    for (int k = from; k < to; k++)
        buf_printf(out, "%s%s", k > from ? " * " : "", size->part_name[k]);
}

/* Parts in another order: only then a prefix of the parts does not have the product of the axes. */
static bool is_in_order(const BoundTensor *t, const BoundSize *size)
{
    int next = 0;
    for (int a = 0; a < t->shape.rank; a++) {
        if (t->axis[a].kind != AXIS_PART || t->axis[a].factor[0].size != size)
            continue;
        int64_t product = 1;
        while (next < size->parts && product < t->axis[a].number)
            product *= size->part[next++];
        if (product != t->axis[a].number)
            return false;
        next = next == size->parts ? 0 : next;
    }
    return true;
}

static void put_part_by_number(const BoundTensor *t, int a, Buf *out)
{
    const BoundSize *size = t->axis[a].factor[0].size;
    for (int k = 0; k < size->parts; k++)
        if (size->part[k] == t->axis[a].number) {
            buf_puts(out, size->part_name[k]);
            return;
        }
}

/* The bracket that opens the text closes at its end. */
static bool closes_last(Str text)
{
    int depth = 0;
    for (size_t i = 0; i < text.len; i++) {
        depth += (text.at[i] == '(') - (text.at[i] == ')');
        if (depth == 0)
            return i + 1 == text.len;
    }
    return false;
}

static void put_factor(const Boundary *b, const BoundFactor *f, bool alone, Buf *out)
{
    const IrExpr *e = &b->program->exprs.at[f->expr];
    bool bare = alone || f->size || e->op == IR_E_INT;
    if (f->size && f->size->fixed) {
        buf_printf(out, "%lld", (long long)f->value);
        return;
    }
    Buf text = {0};
    ir_print_expr(b->program, NULL, f->expr, &text);
    bool around = text.len > 1 && text.at[0] == '(' && closes_last(buf_view(&text));
    if (bare && around)
        buf_str(out, str_slice(buf_view(&text), 1, text.len - 1));
    else
        buf_printf(out, bare || around ? "%s" : "(%s)", text.at);
    buf_free(&text);
}

static void put_axis(const Boundary *b, const BoundTensor *t, int a, Buf *out)
{
    const BoundAxis *axis = &t->axis[a];
    if (axis->kind == AXIS_PART && !axis->factor[0].size->fixed) {
        if (is_in_order(t, axis->factor[0].size))
            put_part(t, a, out);
        else
            put_part_by_number(t, a, out);
        return;
    }
    if (axis->kind != AXIS_PRODUCT) {
        buf_printf(out, "%lld", (long long)axis->number);
        return;
    }
    for (int k = 0; k < axis->factors; k++) {
        buf_puts(out, k ? " * " : "");
        put_factor(b, &axis->factor[k], axis->factors == 1, out);
    }
}

/* ---- declarations ---- */

static void put_size(const Boundary *b, const BoundSize *size, Buf *out)
{
    const IrVar *v = &b->program->vars.at[size->var];
    long long lo = (long long)v->lo, hi = (long long)v->hi;
    if (size->fixed) {
        buf_printf(out, "%s = dim(%lld)\n", v->name, (long long)size->value);
        return;
    }
    for (int k = 0; k < size->parts; k++)
        buf_printf(out, "%s = dim(1, %lld)\n", size->part_name[k], hi);
    buf_printf(out, "%s = dim(%lld, %lld", v->name, lo, hi);
    if (v->multiple > 1)
        buf_printf(out, ", %lld", (long long)v->multiple);
    buf_puts(out, ", of=");
    for (int k = 0; k < size->parts; k++)
        buf_printf(out, "%s%s", k ? " * " : "", size->part_name[k]);
    buf_puts(out, ")\n");
}

static const BoundSize *declared(const Boundary *b, Str line)
{
    Str name = text_assigned(line);
    for (uint32_t i = 0; name.len && i < b->program->dims.len; i++)
        if (str_is(name, name_of(b, &b->sizes[i])))
            return &b->sizes[i];
    return NULL;
}

static void put_declarations(const Boundary *b, Str text, Buf *out)
{
    Str line;
    Buf any = {0};
    buf_char(out, '\n');
    for (uint32_t i = 0; i < b->tensors.len; i++)
        for (int a = 0; a < b->tensors.at[i].shape.rank && is_unread(&b->tensors.at[i]); a++)
            buf_printf(&any, "%s = dim(0, %lld)\n", b->tensors.at[i].size_names[a],
                       (long long)PLAN_DIM_HUGE);
    while (str_next(&text, '\n', &line)) {
        const BoundSize *size = declared(b, line);
        if (size && (size->fixed || size->parts > 1))
            put_size(b, size, out);
        else if (line.len)
            buf_printf(out, "%.*s\n", STR_ARG(line));
    }
    buf_str(out, buf_view(&any));
    buf_char(out, '\n');
    buf_free(&any);
}

/* ---- the signature ---- */

static void put_tensor(const Boundary *b, const BoundTensor *t, Buf *out)
{
    const char *role = t->replaced != UINT32_MAX ? "inout" : t->output ? "out" : "gm";
    const char *name = t->name;
    if (!t->seen && t->replaced != UINT32_MAX) /* its elements are never read, its sizes are */
        t = &b->tensors.at[t->replaced];
    const Value *value = graph_value(b->graph, t->value);
    DType dtype = t->seen ? t->seen->dtype : value->dtype;
    bool pairs = t->shape.rank > value->shape.rank && !(t->seen && t->seen->upto);
    buf_printf(out, "%s: %s[%s", name, role, dtype_name(pairs ? DT_C64 : dtype));
    if (t->seen && t->seen->upto) {
        for (uint32_t a = 0; a < t->seen->rank; a++) {
            buf_puts(out, a ? ", " : ", upto(");
            ir_print_expr(b->program, NULL, t->seen->shape[a], out);
            buf_puts(out, a ? "" : ")");
        }
    } else {
        for (int a = 0; a < t->shape.rank - pairs; a++) {
            buf_puts(out, ", ");
            if (t->seen)
                put_axis(b, t, a, out);
            else
                buf_puts(out, t->size_names[a]);
        }
    }
    buf_char(out, ']');
}

static bool is_earlier(const Boundary *b, uint32_t tensor)
{
    for (uint32_t i = 0; i < tensor; i++)
        if (b->tensors.at[tensor].updates != i &&
            strcmp(b->tensors.at[i].name, b->tensors.at[tensor].name) == 0)
            return true;
    return false;
}

/* A word of Craft, a size, a function or a scalar of the host has the name: the tensor gets another. */
static void rename_tensors(Boundary *b, Str host)
{
    for (uint32_t i = 0; i < b->tensors.len; i++) {
        BoundTensor *t = &b->tensors.at[i];
        DType dtype;
        bool planned = false;
        for (uint32_t k = 0; k < b->plan->operands.len; k++)
            planned = planned || strcmp(b->plan->operands.at[k].name, t->name) == 0;
        bool word = dtype_from_name(str_from(t->name), &dtype) || !strcmp(t->name, "inf") ||
                    !strcmp(t->name, "nan") || !strcmp(t->name, "chip") ||
                    !strcmp(t->name, "craft");
        while (word || is_earlier(b, i) || (!planned && has_word(host, t->name))) {
            t->name = str_format(b->arena, "%s_%s", t->name, t->output ? "out" : "in");
            word = false;
        }
    }
}

static Renames operand_renames(const Boundary *b)
{
    Renames names = {0};
    for (uint32_t i = 0; i < b->plan->operands.len; i++) {
        const PlanOperand *o = &b->plan->operands.at[i];
        for (uint32_t k = 0; k < b->tensors.len; k++) {
            const BoundTensor *t = &b->tensors.at[k];
            if (t->value != o->value || t->output != o->output)
                continue;
            const char *name = t->updates != UINT32_MAX ? b->tensors.at[t->updates].name
                               : t->kept_as             ? t->kept_as
                                                        : t->name;
            text_add_name(b->arena, &names, str_from(o->name), name);
        }
    }
    return names;
}

/* The text up to `mark` and past it; all of it where the mark is not there. */
static Str cut(Str *text, const char *mark)
{
    ptrdiff_t at = str_find(*text, str_from(mark));
    size_t end = at < 0 ? text->len : (size_t)at;
    Str before = str_slice(*text, 0, end);
    *text = str_slice(*text, at < 0 ? text->len : end + strlen(mark), text->len);
    return before;
}

/* Lines of the host function: up to the first that is not indented. */
static Str cut_body(Str *text)
{
    size_t end = 0;
    while (end < text->len) {
        Str rest = str_slice(*text, end, text->len);
        ptrdiff_t line = str_find(rest, STR("\n"));
        if (rest.at[0] != ' ' && rest.at[0] != '\n')
            break;
        end += line < 0 ? rest.len : (size_t)line + 1;
    }
    Str body = str_slice(*text, 0, end);
    *text = str_slice(*text, end, text->len);
    return body;
}

/* ---- inputs that are written over ---- */

static void put_count(const Boundary *b, const BoundTensor *t, Buf *out)
{
    buf_puts(out, t->shape.rank ? "" : "1");
    for (int a = 0; a < t->shape.rank; a++) {
        buf_puts(out, a ? " * (" : "(");
        put_axis(b, t, a, out);
        buf_char(out, ')');
    }
}

static void put_keeps(const Boundary *b, size_t indent, bool launches, Buf *out)
{
    for (uint32_t i = 0; i < b->tensors.len; i++) {
        const BoundTensor *t = &b->tensors.at[i];
        if (!t->kept_as)
            continue;
        buf_fill(out, ' ', indent);
        if (launches)
            buf_printf(out, "%s_keep_%s[chip.cores](%s, %s, ", b->plan->name,
                       dtype_name(t->seen->dtype), t->name, t->kept_as);
        else
            buf_printf(out, "%s = workspace(%s, ", t->kept_as, dtype_name(t->seen->dtype));
        put_count(b, t, out);
        buf_puts(out, ")\n");
    }
}

/* The host's lines; every branch first copies what it will write over. */
static void put_body(const Boundary *b, Str body, Buf *out)
{
    Str line;
    bool fresh = true;
    put_keeps(b, 4, false, out);
    while (str_next(&body, '\n', &line)) {
        Str trimmed = str_trim(line);
        bool launch = str_starts(trimmed, b->plan->name) && str_find(trimmed, STR("](")) > 0;
        if (text_is_branch(trimmed))
            fresh = true;
        if (launch && fresh)
            put_keeps(b, text_indent(line), true, out);
        fresh = fresh && !launch;
        buf_printf(out, "%.*s\n", STR_ARG(line));
    }
}

static void put_keep_kernels(const Boundary *b, Buf *out)
{
    uint64_t said = 0;
    for (uint32_t i = 0; i < b->tensors.len; i++) {
        const BoundTensor *t = &b->tensors.at[i];
        if (!t->kept_as || (said >> t->seen->dtype & 1))
            continue;
        said |= UINT64_C(1) << t->seen->dtype;
        const char *type = dtype_name(t->seen->dtype);
        buf_printf(out,
                   "\n@kernel\ndef %s_keep_%s(from_gm: gm[%s, count], kept: ws[%s, count], count: "
                   "i64):\n    a = ub(%s, 4096, depth=2)\n    for t in tiles(share(count, 64), "
                   "4096):\n        with copyin():\n            load(a[:t.size], from_gm[t])\n"
                   "        with copyout():\n            store(kept[t], a[:t.size])\n",
                   b->plan->name, type, type, type, type);
    }
}

Str boundary_text(Boundary *b)
{
    Str rest = b->plan->craft;
    Str head = cut(&rest, "\n@host\n");
    ptrdiff_t start = str_find(head, STR("craft = 1\n"));
    size_t sizes = start < 0 ? 0 : (size_t)start + strlen("craft = 1\n");
    Str name = cut(&rest, "("), signature = cut(&rest, "):\n"), body = cut_body(&rest);
    (void)signature;
    rename_tensors(b, str_slice(b->plan->craft, sizes, b->plan->craft.len - rest.len));
    name_sizes(b);
    Renames names = operand_renames(b);
    Buf out = {0};
    buf_str(&out, str_slice(head, 0, sizes));
    put_declarations(b, str_slice(head, sizes, head.len), &out);
    buf_printf(&out, "@host\n%.*s(", STR_ARG(name));
    for (uint32_t i = 0; i < b->tensors.len; i++) {
        if (b->tensors.at[i].updates != UINT32_MAX)
            continue;
        buf_puts(&out, i ? ", " : "");
        put_tensor(b, &b->tensors.at[i], &out);
    }
    buf_puts(&out, "):\n");
    Buf renamed = {0};
    text_rename(&names, body, &renamed);
    bool keeps = false;
    for (uint32_t i = 0; i < b->tensors.len; i++)
        keeps = keeps || b->tensors.at[i].kept_as;
    if (keeps)
        put_body(b, buf_view(&renamed), &out);
    else
        buf_str(&out, buf_view(&renamed));
    buf_free(&renamed);
    buf_str(&out, rest);
    put_keep_kernels(b, &out);
    Str text = str_from(buf_take(&out, b->arena));
    buf_free(&out);
    return text;
}
