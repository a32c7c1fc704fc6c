/* The bound and the attainable time beside every measured time that they can be worked out for.
 *
 *     bench-exam_bound MEASURED.tsv [--all]
 *
 * In: the table of measured times (shapes and element types as lists, times in us) and bench/exam/work.tsv, which says
 * by an operator's shapes what it must read, store and multiply. Out: with --all a line for each row, else for those
 * that lie below the bound, below the attainable time, or under 10 us; then the counts, and by reason the rows
 * that have no task (cycles of single instructions, chips that are not modelled, shapes that are not stated). A time
 * below the bound cannot be a whole run of the task as stated. Without arguments nothing is done. */
#include "base/file.h"
#include "base/vec.h"
#include "npu/npu.h"

#include <ctype.h>
#include <fnmatch.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DIMS = 8, RULE_FIELDS = 8 };

typedef struct Input {
    double dim[MOST_DIMS], elements, each; /* each: bytes of an element */
    uint32_t rank;
} Input;

typedef struct Name {
    const char *name;
    double value;
} Name;

/* What the expressions of a rule are about. */
typedef struct Task {
    Arena *arena;
    VEC(Input) inputs;
    VEC(Name) names; /* M=8192, S0=S1=1024 */
    json_t *attrs;
} Task;

typedef struct Rule {
    const char *
        field[RULE_FIELDS]; /* operator, hardware, chip, read, written, special, products, narrow */
} Rule;

typedef struct Row {
    const char *id, *hardware, *op, *kase, *shapes, *dtypes, *attrs, *unit;
    double us;
} Row;

typedef struct Rules {
    Arena arena;
    VEC(Rule) rules;
    Diag diag;
} Rules;

typedef struct Counts {
    uint32_t rows, told, below_bound, below_attainable, small, small_below;
} Counts;

/* --- fields --- */

/* A field without the quotes that a spreadsheet puts around it. */
static char *unquote(Arena *arena, Str field)
{
    char *text = str_dup(arena, field), *to = text;
    if (field.len < 2 || *text != '"')
        return text;
    for (const char *at = text + 1; at[1]; at++) {
        *to++ = *at;
        at += at[0] == '"' && at[1] == '"';
    }
    *to = 0;
    return text;
}

static void split_fields(Arena *arena, Str line, const char **fields, uint32_t most)
{
    Str field;
    for (uint32_t i = 0; i < most; i++) {
        field = (Str){0};
        str_next(&line, '\t', &field);
        fields[i] = unquote(arena, field);
    }
}

static bool next_line(Str *text, Str *line)
{
    while (str_next(text, '\n', line))
        if (line->len && line->at[0] != '#')
            return true;
    return false;
}

/* --- shapes --- */

static double bytes_of(const char *dtype)
{
    static const struct {
        const char *name;
        double bytes;
    } types[] = {{"float32", 4}, {"float16", 2}, {"bfloat16", 2}, {"int8", 1},  {"uint8", 1},
                 {"bool", 1},    {"int16", 2},   {"int32", 4},    {"int64", 8}, {"half", 2},
                 {"fp16", 2},    {"float", 4},   {"int4", 0.5}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strncmp(dtype, types[i].name, strlen(types[i].name)))
            return types[i].bytes;
    return 0;
}

static bool is_shape(const json_t *list)
{
    return json_is_array(list) &&
           (!json_array_size(list) || json_is_integer(json_array_get(list, 0)));
}

static void add_dim(Input *in, double n)
{
    if (in->rank < MOST_DIMS)
        in->dim[in->rank++] = n;
    in->elements = (in->rank == 1 ? 1 : in->elements) * n;
}

/* Lists of tensors are counted through; null is an input that is not there. A list of element types shorter than
 * that of the shapes goes on with its last. */
static void add_inputs(Task *t, const json_t *shapes, const json_t *dtypes)
{
    for (size_t i = 0; i < json_array_size(shapes); i++) {
        const json_t *shape = json_array_get(shapes, i), *dtype = dtypes;
        if (json_is_array(dtypes)) {
            size_t n = json_array_size(dtypes);
            dtype = json_array_get(dtypes, i < n ? i : n - 1);
        }
        if (json_is_array(shape) && !is_shape(shape)) {
            add_inputs(t, shape, dtype);
            continue;
        }
        Input in = {0};
        while (json_is_array(dtype))
            dtype = json_array_get(dtype, 0);
        for (size_t k = 0; k < json_array_size(shape); k++)
            add_dim(&in, json_number_value(json_array_get(shape, k)));
        in.each = json_is_string(dtype) ? bytes_of(json_string_value(dtype)) : 0;
        vec_push(t->arena, &t->inputs, in);
    }
}

/* "x[1024,1024] w[8,1024,8192]", with one element type for all or one each. */
static void add_bracketed(Task *t, const char *text, const char *dtypes)
{
    for (const char *at = strchr(text, '['); at; at = strchr(at + 1, '[')) {
        Input in = {.each = bytes_of(dtypes)};
        char *end = NULL;
        for (const char *n = at + 1; *n && *n != ']'; n = *end == ',' ? end + 1 : end) {
            add_dim(&in, strtod(n, &end));
            if (end == n || (*end != ',' && *end != ']'))
                break;
        }
        vec_push(t->arena, &t->inputs, in);
        const char *next = strchr(dtypes, ' ');
        dtypes = next ? next + 1 : dtypes;
    }
}

/* "M=N=K=8192", "MNK=[512,4096,1024]", "S0=S1=1024 D=128". */
static void add_names(Task *t, const char *text)
{
    int64_t list = str_find(str_from(text), STR("MNK=["));
    if (list >= 0) {
        static const char *const of_list[] = {"M", "N", "K"};
        char *at = (char *)text + list + 4;
        for (int i = 0; i < 3; i++)
            vec_push(t->arena, &t->names, ((Name){of_list[i], strtod(at + 1, &at)}));
        return;
    }
    Str words = str_from(text), word;
    while (str_next(&words, ' ', &word)) {
        Str rest = word, part;
        const char *equals = strrchr(str_dup(t->arena, word), '=');
        double value = equals ? strtod(equals + 1, NULL) : 0;
        while (value > 0 && str_next(&rest, '=', &part))
            vec_push(t->arena, &t->names, ((Name){str_dup(t->arena, part), value}));
    }
}

static Task task_of(Arena *arena, const Row *r)
{
    Task t = {.arena = arena, .attrs = json_loads(r->attrs, 0, NULL)};
    json_t *shapes = json_loads(r->shapes, 0, NULL), *dtypes = json_loads(r->dtypes, 0, NULL);
    if (shapes && dtypes && *r->dtypes == '[')
        add_inputs(&t, shapes, dtypes);
    else
        add_bracketed(&t, r->shapes, r->dtypes);
    add_names(&t, r->shapes);
    json_decref(shapes);
    json_decref(dtypes);
    return t;
}

/* --- expressions: sum := product {(+|-) product}; product := atom {(*|/) atom}; atom := number | name | (sum) --- */

static double sum_of(const Task *t, const char **at);

static double attribute(const Task *t, const char *name, size_t len)
{
    char key[64], *dot;
    snprintf(key, sizeof key, "%.*s", (int)len, name);
    const json_t *value = NULL;
    if ((dot = strchr(key, '.'))) {
        *dot = 0;
        value = json_array_get(json_object_get(t->attrs, key), strtoul(dot + 1, NULL, 10));
    } else {
        value = json_object_get(t->attrs, key);
    }
    return value ? json_number_value(value) : (double)NAN;
}

/* in, in0, n0, e0, d0.1, d0.-1 */
static double of_inputs(const Task *t, const char *name, size_t len)
{
    double sum = 0;
    if (len == 2 && !strncmp(name, "in", 2)) {
        for (uint32_t i = 0; i < t->inputs.len; i++)
            sum += t->inputs.at[i].elements * t->inputs.at[i].each;
        return sum;
    }
    char *dot;
    size_t skip = strncmp(name, "in", 2) ? 1 : 2, i = strtoul(name + skip, &dot, 10);
    if (i >= t->inputs.len)
        return name[0] == 'd' ? (double)NAN : 0;
    const Input *in = &t->inputs.at[i];
    if (name[0] != 'd')
        return name[0] == 'i' ? in->elements * in->each : name[0] == 'n' ? in->elements : in->each;
    long k = strtol(dot + 1, NULL, 10), rank = (long)in->rank;
    k += k < 0 ? rank : 0;
    return k >= 0 && k < rank ? in->dim[k] : (double)NAN;
}

static double value_of(const Task *t, const char *name, size_t len)
{
    if (len > 3 && !strncmp(name, "at.", 3))
        return attribute(t, name + 3, len - 3);
    for (uint32_t i = 0; i < t->names.len; i++)
        if (strlen(t->names.at[i].name) == len && !strncmp(t->names.at[i].name, name, len))
            return t->names.at[i].value;
    return strchr("ined", *name) ? of_inputs(t, name, len) : (double)NAN;
}

static double atom_of(const Task *t, const char **at)
{
    double value;
    if (**at == '(') {
        ++*at;
        value = sum_of(t, at);
        *at += **at == ')';
        return value;
    }
    if (isdigit((unsigned char)**at))
        return strtod(*at, (char **)at);
    const char *from = *at;
    while (isalnum((unsigned char)**at) || **at == '_' || **at == '.' ||
           (**at == '-' && (*at)[-1] == '.'))
        ++*at;
    return value_of(t, from, (size_t)(*at - from));
}

static double product_of(const Task *t, const char **at)
{
    double value = atom_of(t, at);
    while (**at == '*' || **at == '/') {
        bool times = *(*at)++ == '*';
        double by = atom_of(t, at);
        value = times ? value * by : value / by;
    }
    return value;
}

static double sum_of(const Task *t, const char **at)
{
    double value = product_of(t, at);
    while (**at == '+' || **at == '-') {
        bool plus = *(*at)++ == '+';
        double by = product_of(t, at);
        value = plus ? value + by : value - by;
    }
    return value;
}

/* --- rows --- */

static bool fits(const Rule *rule, const Row *r)
{
    const char *const *f = rule->field;
    return fnmatch(f[0], r->op, 0) == 0 && !strncmp(r->hardware, f[1], strlen(f[1]));
}

static NpuWork work_of(const Rule *rule, const Task *t)
{
    double v[5];
    for (int i = 0; i < 5; i++) {
        const char *at = rule->field[3 + i];
        v[i] = sum_of(t, &at);
    }
    return (NpuWork){
        .read = v[0], .written = v[1], .special = v[2], .products = v[3], .narrow = v[4] > 0};
}

/* The first rule for the row whose sizes the row states. */
static const Rule *rule_for(const Rules *all, const Row *r, const Task *t, NpuWork *work)
{
    for (uint32_t i = 0; i < all->rules.len; i++) {
        const Rule *rule = &all->rules.at[i];
        *work = fits(rule, r) ? work_of(rule, t) : (NpuWork){.read = (double)NAN};
        if (isfinite(work->read + work->written + work->special + work->products))
            return rule;
    }
    return NULL;
}

/* Why a row has no task; NULL: it has one. */
static const char *why_not(const Row *r)
{
    if (!strcmp(r->unit, "cycles"))
        return "cycles of an instruction, no task";
    if (strstr(r->hardware, "950"))
        return "950, not modelled";
    if (strstr(r->hardware, "simulation"))
        return "simulated by the vendor, not measured";
    if (!(r->us > 0))
        return "no time";
    if (!strchr(r->shapes, '[') && !strchr(r->shapes, '='))
        return "no shapes";
    return NULL;
}

static void count_row(const Row *r, NpuBound bound, NpuBound least, bool show, Counts *c)
{
    bool below = r->us < bound.us, under = r->us < least.us, small = r->us < 10;
    c->told++;
    c->below_bound += below;
    c->below_attainable += under;
    c->small += small;
    c->small_below += small && under;
    if (show || below || under || small)
        printf("%-6s %-34.34s %-22.22s %12.2f %10.2f %10.2f  %s%s\n", r->id, r->op, r->kase, r->us,
               bound.us, least.us, bound.by,
               below   ? "  BELOW THE BOUND"
               : under ? "  BELOW THE ATTAINABLE TIME"
                       : "");
}

static bool judge_row(const Rules *all, const Row *r, bool show, Counts *c)
{
    Arena arena = {0};
    Task task = task_of(&arena, r);
    NpuWork work;
    const Rule *rule = rule_for(all, r, &task, &work);
    const NpuChip *chip = rule ? npu_chip_find(str_from(rule->field[2])) : NULL;
    if (chip)
        count_row(r, npu_bound(chip, &work), npu_attainable(chip, &work), show, c);
    json_decref(task.attrs);
    arena_drop(&arena);
    return chip;
}

static Row row_of(Arena *arena, Str line)
{
    enum { FIELDS = 12 };
    const char *f[FIELDS];
    split_fields(arena, line, f, FIELDS);
    return (Row){f[0], f[4], f[5], f[6], f[7], f[8], f[9], f[11], strtod(f[10], NULL)};
}

static void print_reasons(const char *const *reasons, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t like = 0, before = 0;
        for (uint32_t k = 0; k < n; k++) {
            like += !strcmp(reasons[k], reasons[i]);
            before += k < i && !strcmp(reasons[k], reasons[i]);
        }
        if (!before)
            printf("  %4u rows not judged: %s\n", like, reasons[i]);
    }
}

static void judge_rows(Rules *all, Str text, bool show)
{
    Counts c = {0};
    VEC(const char *) reasons = {0};
    Str line;
    next_line(&text, &line); /* the names of the columns */
    printf("%-6s %-34s %-22s %12s %10s %10s\n", "row", "operator", "case", "measured us", "bound",
           "attainable");
    while (next_line(&text, &line)) {
        Row r = row_of(&all->arena, line);
        const char *why = why_not(&r);
        c.rows++;
        if (!why && !judge_row(all, &r, show, &c))
            why = "work.tsv has no rule";
        if (why)
            vec_push(&all->arena, &reasons, why);
    }
    printf("\n%u rows, %u judged: below the bound %u, below the attainable time %u; of these under "
           "10 us %u, below the attainable time %u\n",
           c.rows, c.told, c.below_bound, c.below_attainable, c.small, c.small_below);
    print_reasons(reasons.at, reasons.len);
}

int main(int argc, char **argv)
{
    if (argc == 1) {
        printf("bench-exam_bound MEASURED.tsv: give the table of measured times\n");
        return 0;
    }
    Rules all = {0};
    all.diag = diag_make(&all.arena, "exam_bound", (Str){0});
    Str measured, rules, line;
    if (argc > 3 || (argc == 3 && strcmp(argv[2], "--all") != 0) ||
        !file_read(&all.arena, argv[1], 0, &measured, &all.diag) ||
        !file_read(&all.arena, "bench/exam/work.tsv", 0, &rules, &all.diag)) {
        fprintf(stderr,
                "usage: bench-exam_bound MEASURED.tsv [--all], in the root of the repository\n");
        return 2;
    }
    while (next_line(&rules, &line)) {
        Rule rule;
        split_fields(&all.arena, line, rule.field, RULE_FIELDS);
        vec_push(&all.arena, &all.rules, rule);
    }
    judge_rows(&all, measured, argc == 3);
    arena_drop(&all.arena);
    return 0;
}
