/* Values that no draw contains; see strew.h. In: drawn inputs. Out: the same with such values among them. */
#include "graph/strew.h"

#include "base/rng.h"
#include <math.h>
#include <string.h>

Strew strew_all(unsigned kinds)
{
    Strew s = {0};
    for (int k = 0; k < STREW_KINDS; k++)
        s.inputs[k] = kinds >> k & 1 ? ~UINT64_C(0) : 0;
    return s;
}

bool strew_any(const Strew *strew)
{
    uint64_t any = 0;
    for (int k = 0; k < STREW_KINDS; k++)
        any |= strew->inputs[k];
    return any != 0;
}

/* Labels and masks are whole numbers: a large one among them is no input of the task. */
static bool is_drawn(const Tensor *t, bool *negative)
{
    bool whole = true;
    *negative = false;
    for (int64_t i = 0; i < t->count; i++) {
        double x = tensor_get(t, i);
        whole &= x == floor(x);
        *negative |= x < 0;
    }
    return !whole;
}

static int64_t line_length(const Tensor *t)
{
    return t->shape.rank > 1 ? t->shape.dim[t->shape.rank - 1] : 0;
}

/* ---- large numbers ---- */

enum { MOST_LINE = 1024 };

static void spike_lines(Tensor *t, uint64_t seed, uint64_t stream, bool negative)
{
    int64_t n = t->shape.rank ? t->shape.dim[t->shape.rank - 1] : 1;
    n = n > MOST_LINE ? MOST_LINE : n;
    double least = t->dtype == DT_F16 ? 14 : 120, most = t->dtype == DT_F16 ? 60 : 400;
    for (int64_t line = 0; n > 0 && line < t->count / n; line++) {
        uint64_t r = rng_u64(seed ^ 0x7370696Bu, stream, (uint64_t)line);
        int64_t at = r % 3 == 0 ? 0 : r % 3 == 1 ? n - 1 : (int64_t)((r >> 32) % (uint64_t)n);
        double size = least +
                      (most - least) * rng_uniform(seed ^ 0x73697A65u, stream, (uint64_t)line);
        tensor_set(t, line * n + at, negative && (r >> 8) % 4 == 0 ? -size : size);
    }
}

/* ---- zeros and equal numbers ---- */

/* With four bits after the first. */
static double few_bits(double x)
{
    int exponent;
    double part = frexp(x, &exponent);
    return ldexp(rint(ldexp(part, 4)), exponent - 4);
}

enum { FLAT_LINES = 8, ZERO_LINE = 1, BELOW_LINE = 2, EQUAL_LINE = 5, ABOVE_LINE = 6, ZEROS = 16 };

/* All on one side of zero, which is among them: the largest, or the smallest, is 0 and the others are not. */
static void keep_one_side(Tensor *t, int64_t from, int64_t to, bool below)
{
    for (int64_t i = from; i < to; i++) {
        double x = tensor_get(t, i);
        if (below ? x > 0 : x < 0)
            tensor_set(t, i, 0);
    }
}

/* A tensor of one axis has a run of each instead of lines. */
static void flatten_runs(Tensor *t)
{
    int64_t part = t->count / 16;
    keep_one_side(t, 2 * part, 3 * part, true);
    keep_one_side(t, 3 * part, 4 * part, false);
}

static void flatten_lines(Tensor *t, bool mask)
{
    int64_t n = line_length(t);
    if (n == 0 && !mask)
        flatten_runs(t);
    for (int64_t line = 0; n > 0 && line < t->count / n; line++) {
        int64_t kind = line % FLAT_LINES;
        if (!mask && (kind == BELOW_LINE || kind == ABOVE_LINE))
            keep_one_side(t, line * n, (line + 1) * n, kind == BELOW_LINE);
        double value = kind == ZERO_LINE ? 0 : mask ? 1 : few_bits(tensor_get(t, line * n));
        for (int64_t i = 0; (kind == ZERO_LINE || kind == EQUAL_LINE) && i < n; i++)
            tensor_set(t, line * n + i, value);
    }
}

static void strew_zeros(Tensor *t, uint64_t seed, uint64_t stream)
{
    for (int64_t i = 0; i < t->count; i++)
        if (rng_u64(seed ^ 0x7A65726Fu, stream, (uint64_t)i) % ZEROS == 0)
            tensor_set(t, i, 0);
}

/* ---- pieces that look alike ---- */

enum { OTHERS = 8, TURNED_LINE = 3, TURNED_LINES = 4 };

/* A line becomes the one before, its middle half the other way round. */
static void turn_middle(Tensor *t, int64_t n, int64_t line)
{
    for (int64_t i = 0; i < n; i++) {
        bool middle = i >= n / 4 && i < n - n / 4;
        tensor_set(t, line * n + i, tensor_get(t, (line - 1) * n + (middle ? n - 1 - i : i)));
    }
}

/* The number that most elements of a run are: one that was drawn, no zero and no large one. */
static double drawn_number(const Tensor *t, int64_t from)
{
    double most = 0;
    for (int64_t i = from; i < t->count && i < from + OTHERS; i++) {
        double x = tensor_get(t, i);
        most = most == 0 || (x != 0 && fabs(x) < fabs(most)) ? x : most;
    }
    return most;
}

enum { RUNS = 16, LEAST_RUN = 64 };

/* Writes runs of equal elements, also of each number in `numbers`, so that every part of the tensor has each of them. */
static void make_alike(Tensor *t, const double *numbers, uint32_t count, uint64_t seed,
                       uint64_t stream)
{
    int64_t n = line_length(t), from = t->count / 2;
    from = n > 0 && t->count > n ? from / n * n : from;
    double most = drawn_number(t, from);
    int64_t runs = count < RUNS ? count : RUNS, run = (t->count - from) / 2 / (runs + 1);
    for (int64_t i = from; i < t->count; i++) {
        int64_t which = run >= LEAST_RUN ? (i - from) / run : runs;
        if (rng_u64(seed ^ 0x616C696Bu, stream, (uint64_t)i) % OTHERS)
            tensor_set(t, i, which < runs ? numbers[which] : most);
    }
    for (int64_t line = n > 0 ? from / n : 0; n > 0 && line < t->count / n; line++)
        if (line % TURNED_LINES == TURNED_LINE)
            turn_middle(t, n, line);
}

/* ---- named numbers ---- */

static bool has_size(double x, StrewKind kind, DType dtype)
{
    double size = fabs(x), most = dtype == DT_F16 ? 6e4 : STREW_MOST;
    return kind == STREW_NUMBERS ? size <= STREW_NEAR
           : kind == STREW_FAR   ? size > STREW_NEAR && size <= STREW_FAR_MOST
                                 : size > STREW_FAR_MOST && size <= most;
}

/* The number or a neighbour of it, as the dtype can tell them apart. */
static double near_number(double x, uint64_t r, DType dtype, bool negative)
{
    double step = fabs(x) * (dtype == DT_F16 ? 0x1p-10 : dtype == DT_BF16 ? 0x1p-7 : 0x1p-23);
    static const double steps[] = {0, 1, -1, 0, 2, -2, 16, -16};
    double y = x + steps[r % 8] * step;
    y = r >> 3 & 1 && (r >> 4 & 3) == 0 ? -y : y;
    return negative ? y : fabs(y);
}

enum { NUMBERED = 32, FAR_NUMBERED = 8, MOST_NUMBERS = 256 };

static uint32_t list_numbers(const Tensor *t, StrewKind kind, const Strew *s, bool negative,
                             double *numbers)
{
    uint32_t n = 0;
    for (uint32_t i = s->number_count;
         i-- > 0 && n < MOST_NUMBERS;) /* the text's before the task's */
        if (has_size(s->numbers[i], kind, t->dtype) && s->numbers[i] != 0)
            numbers[n++] = negative ? s->numbers[i] : fabs(s->numbers[i]);
    return n;
}

/* What a text tells by a number without naming it: the number's root, square, quotient, logarithm, exponential, half or
 * double, on either side of 0. */
static double derived_number(double x, uint64_t r, bool negative)
{
    const double made[] = {sqrt(fabs(x)), x * x, 1 / x, log(fabs(x)), exp(x), x / 2, 2 * x};
    double y = fabs(made[r % 7]);
    y = y > 0 && y <= STREW_NEAR ? y : fabs(x);
    return negative && r >> 8 & 1 ? -y : y;
}

static void strew_numbers(Tensor *t, StrewKind kind, const double *numbers, uint32_t n,
                          uint64_t seed, uint64_t stream, bool negative)
{
    for (int64_t i = 0; n && i < t->count; i++) {
        uint64_t r = rng_u64(seed ^ (0x6E756D62u + (uint64_t)kind), stream, (uint64_t)i);
        bool near = kind == STREW_NUMBERS;
        if (r % (near ? NUMBERED : FAR_NUMBERED) != 0)
            continue;
        double x = numbers[(r >> 32) % n];
        tensor_set(t, i,
                   near && (r >> 16) % 4 == 0 ? derived_number(x, r >> 20, negative)
                                              : near_number(x, r >> 8, t->dtype, negative));
    }
}

/* ---- numbers that have to do with each other ---- */

enum { RELATED_RUN = 64, MOST_RELATED = 12 };

/* Factors and differences: twice and minus, then what is named. */
static uint32_t list_factors(const double *numbers, uint32_t n, bool negative, double *factors)
{
    uint32_t count = 0;
    factors[count++] = 2;
    if (negative)
        factors[count++] = -1;
    for (uint32_t i = 0; i < n && count < MOST_RELATED; i++)
        if (fabs(numbers[i]) > 0.01 && fabs(numbers[i]) <= 8 && numbers[i] != 1 && numbers[i] != 2)
            factors[count++] = numbers[i];
    return count;
}

/* Runs of x, k x, x, k x ... or x, x + k, x ..., each with another k, so that a piece may begin anywhere. */
static void relate_neighbours(Tensor *t, const double *numbers, uint32_t n, uint64_t seed,
                              uint64_t stream, bool negative)
{
    double factors[MOST_RELATED];
    uint32_t count = list_factors(numbers, n, negative, factors);
    int64_t from = t->count / 4, to = t->count / 2;
    double first = 0;
    for (int64_t i = from; i < to; i++) {
        int64_t run = (i - from) / RELATED_RUN, at = (i - from) % RELATED_RUN;
        uint64_t r = rng_u64(seed ^ 0x72656C61u, stream, (uint64_t)run);
        double k = factors[(r >> 8) % count];
        bool adds = r & 1,
             turned = r >> 1 & 1; /* turned: it is the first that is k times the second */
        first = at ? first : tensor_get(t, i);
        tensor_set(t, i, (at % 2 != 0) == turned ? first : adds ? first + k : first * k);
    }
}

/* Runs that lie as a whole beyond a number of this size, on either side of 0. */
static void shift_beyond(Tensor *t, const Strew *s, bool negative)
{
    enum { MOST_SHIFTS = 8 };
    double far[MOST_SHIFTS];
    uint32_t n = 0;
    for (uint32_t i = s->number_count; i-- > 0 && n < MOST_SHIFTS;)
        if (fabs(s->numbers[i]) > 4 &&
            fabs(s->numbers[i]) <= (t->dtype == DT_F16 ? 2e4 : STREW_MOST))
            far[n++] = fabs(s->numbers[i]);
    int64_t from = t->count - t->count / 4, run = n ? (t->count - from) / (2 * (int64_t)n) + 1 : 1;
    for (int64_t i = from; n && i < t->count; i++) {
        int64_t which = (i - from) / run;
        double by = 1.5 * far[which / 2 % n];
        tensor_set(t, i, tensor_get(t, i) + (negative && which % 2 == 0 ? -by : by));
    }
}

/* ---- what is no number, infinities, and numbers whose square is one ---- */

enum { SPECIAL_LINES = 8, SPECIAL_ELEMENTS = 64 };

/* Its square is more than the dtype holds; one over it, and the square is 0. */
static double huge_number(uint64_t r, DType dtype, bool negative)
{
    int least = dtype == DT_F16 ? 8 : 60, most = dtype == DT_F16 ? 15 : 100;
    double x = ldexp(1.0 + (double)(r & 0xff) / 256, least + (int)(r >> 8 & 0xff) % (most - least));
    return negative && (r >> 16 & 1) ? -x : x;
}

/* Those that are asked for and are something else than what was drawn. */
static uint32_t list_special(const bool *has, bool negative, StrewKind *kinds)
{
    uint32_t n = 0;
    for (StrewKind k = STREW_NAN; k <= STREW_MINUS; k++) {
        bool other = k == STREW_BELOW ? negative : k != STREW_MINUS || !negative;
        if (has[k] && other)
            kinds[n++] = k;
    }
    return n;
}

static double special_number(StrewKind kind, double drawn, double huge)
{
    switch (kind) {
    case STREW_NAN: return (double)NAN;
    case STREW_ABOVE: return (double)INFINITY;
    case STREW_BELOW: return -(double)INFINITY;
    case STREW_HUGE: return huge;
    case STREW_TINY: return 1 / huge;
    case STREW_MINUS: return -drawn;
    default: return 0;
    }
}

/* One element of the line, or all of them. */
static void strew_line(Tensor *t, int64_t from, int64_t length, StrewKind kind, bool whole,
                       double huge, int64_t at)
{
    for (int64_t i = 0; i < length; i++)
        if (i == at || whole)
            tensor_set(t, from + i, special_number(kind, tensor_get(t, from + i), huge));
}

/* Kinds share lines by turns, so that what one does is not hidden by another, and each has one of a few lines.
 * Infinities and numbers below 0 have the whole line every second time, the first one too. */
static void strew_special(Tensor *t, const bool *has, uint64_t seed, uint32_t input, bool negative)
{
    StrewKind kinds[STREW_KINDS];
    uint32_t n = list_special(has, negative, kinds);
    double huge = huge_number(rng_u64(seed ^ 0x68756765u, input, 0), t->dtype, negative);
    int64_t length = line_length(t), lines = length > 1 ? t->count / length : 0, turn = 0;
    for (int64_t line = 0; n && line < lines; line++) {
        uint64_t r = rng_u64(seed ^ 0x7370656Bu, 0, (uint64_t)line);
        if (r % SPECIAL_LINES != input % SPECIAL_LINES)
            continue;
        StrewKind kind = kinds[turn % n];
        bool whole = (kind == STREW_ABOVE && has[STREW_ALL_ABOVE]) ||
                     (kind == STREW_BELOW && has[STREW_ALL_BELOW]) || kind == STREW_MINUS;
        strew_line(t, line * length, length, kind, whole && turn / n % 2 == 0, huge,
                   (int64_t)((r >> 32) % (uint64_t)length));
        turn++;
    }
    for (int64_t i = 0; n && !lines && i < t->count; i++) {
        uint64_t r = rng_u64(seed ^ 0x7370656Cu, 0, (uint64_t)i);
        if (r % SPECIAL_ELEMENTS == input)
            tensor_set(t, i, special_number(kinds[turn++ % n], tensor_get(t, i), huge));
    }
}

/* ---- what lies at the ends of axes ---- */

enum { EDGE_RUNS = 16 };

/* Element i stands in the first or the last slice of an axis other than the last one. */
static bool is_edge(const Tensor *t, int64_t i)
{
    if (t->shape.rank < 2)
        return i < t->count / EDGE_RUNS || i >= t->count - t->count / EDGE_RUNS;
    for (int d = t->shape.rank - 1; d >= 0; d--) {
        int64_t size = t->shape.dim[d], at = i % size;
        i /= size;
        if (d < t->shape.rank - 1 && size > 1 && (at == 0 || at == size - 1))
            return true;
    }
    return false;
}

static void shrink_edges(Tensor *t)
{
    double by = t->dtype == DT_F16 ? 0x1p-6 : 0x1p-10;
    for (int64_t i = 0; i < t->count; i++)
        if (is_edge(t, i))
            tensor_set(t, i, tensor_get(t, i) * by);
}

/* ---- integers ---- */

/* The range that a value of the source graph is drawn from, looked for through casts. */
static bool drawn_range(const Graph *source, ValueId value, int64_t *lo, int64_t *hi)
{
    for (uint32_t n = source->nodes.len; n-- > 0;) {
        const Node *node = &source->nodes.at[n];
        if (node->out != value)
            continue;
        if (node->op == OP_RANDOM && node->kind == RANDOM_integer) {
            *lo = (int64_t)node_float(node, AT_A, 0);
            *hi = (int64_t)node_float(node, AT_B, 1);
            return *hi - *lo > 2;
        }
        if (node->op != OP_CAST)
            return false;
        value = node->in[0];
    }
    return false;
}

bool graph_drawn_range(const Graph *g, uint32_t input, int64_t *lo, int64_t *hi)
{
    const Value *v = graph_value(g, g->inputs.at[input]);
    return g->source && !dtype_is_float(v->dtype) && v->dtype != DT_BOOL &&
           drawn_range(g->source, g->source->outputs.at[v->source], lo, hi);
}

enum { ENDED = 8, MOST_ENDS = 256 };

/* Ends of the range, and named numbers within it with their neighbours. */
static uint32_t list_ends(const Strew *s, int64_t lo, int64_t hi, int64_t *ends)
{
    uint32_t n = 0;
    ends[n++] = hi - 1;
    ends[n++] = lo;
    for (uint32_t i = 0; i < s->number_count; i++)
        for (int64_t by = -1; by <= 1 && n < MOST_ENDS; by++) {
            double named = s->numbers[i] + (double)by;
            if (named >= (double)lo && named < (double)hi && named == floor(named))
                ends[n++] = (int64_t)named;
        }
    return n;
}

static void strew_ends(const Graph *g, uint32_t input, Tensor *t, const Strew *s, uint64_t seed)
{
    int64_t lo, hi, ends[MOST_ENDS];
    uint32_t strewn = 0;
    if (!graph_drawn_range(g, input, &lo, &hi))
        return;
    uint32_t n = list_ends(s, lo, hi, ends);
    for (int64_t i = t->count; i-- > 0;) /* the last element is the range's */
        if (i == t->count - 1 || rng_u64(seed ^ 0x656E6473u, input, (uint64_t)i) % ENDED == 0)
            tensor_store_i64(t, i, 1, 1, &ends[strewn++ % n]);
}

/* ---- the whole ---- */

static void strew_float(Tensor *t, uint32_t i, const Strew *s, uint64_t seed)
{
    bool negative, has[STREW_KINDS];
    if (!is_drawn(t, &negative))
        return;
    for (int k = 0; k < STREW_KINDS; k++)
        has[k] = s->inputs[k] >> i & 1;
    if (has[STREW_LARGE])
        spike_lines(t, seed, i, negative);
    double numbers[MOST_NUMBERS];
    for (StrewKind k = STREW_NUMBERS; k <= STREW_FARTHER; k++)
        if (has[k])
            strew_numbers(t, k, numbers, list_numbers(t, k, s, negative, numbers), seed, i,
                          negative);
    if (has[STREW_FLAT]) { /* a line with a large number is not flat */
        strew_zeros(t, seed, i);
        flatten_lines(t, false);
    }
    uint32_t named = has[STREW_NUMBERS] ? list_numbers(t, STREW_NUMBERS, s, negative, numbers) : 0;
    if (has[STREW_ALIKE])
        make_alike(t, numbers, named, seed, i);
    if (has[STREW_RELATED])
        relate_neighbours(t, numbers, named, seed, i, negative);
    if (has[STREW_BEYOND])
        shift_beyond(t, s, negative);
    if (has[STREW_EDGES])
        shrink_edges(t);
    strew_special(t, has, seed, i, negative);
}

void graph_inputs_strew(const Graph *g, TaskInputs *in, const Strew *s, uint64_t seed)
{
    enum { MOST_INPUTS = 64 };
    for (uint32_t i = 0; i < in->n_inputs && i < MOST_INPUTS; i++) {
        Tensor *t = in->inputs[i];
        if (dtype_is_float(t->dtype))
            strew_float(t, i, s, seed);
        else if (t->dtype == DT_BOOL && s->inputs[STREW_FLAT] >> i & 1)
            flatten_lines(t, true);
        else if (t->dtype != DT_BOOL && s->inputs[STREW_ENDS] >> i & 1)
            strew_ends(g, i, t, s, seed);
    }
    if (s->inputs[STREW_ENDS])
        graph_inputs_distinct(g, in, seed);
}

/* ---- numbers of a graph ---- */

static uint32_t add_number(double x, double *numbers, uint32_t n, uint32_t most)
{
    for (uint32_t i = 0; i < n; i++)
        if (numbers[i] == x)
            return n;
    if (n < most && isfinite(x) && x != 0)
        numbers[n++] = x;
    return n;
}

uint32_t graph_numbers(const Graph *g, double *numbers, uint32_t most)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < g->nodes.len; k++) {
        const Node *node = &g->nodes.at[k];
        for (uint32_t i = 0; i < node->n_attr; i++)
            if (attr_rows[node->attr[i].key].type == ATTR_FLOAT)
                n = add_number(node->attr[i].f, numbers, n, most);
    }
    for (uint32_t k = 0; k < g->values.len; k++) {
        const Value *v = &g->values.at[k];
        int64_t count;
        if (v->kind != VALUE_CONST || !v->data || !shape_count(v->shape, &count) || count != 1)
            continue;
        Tensor one = {.dtype = v->dtype, .shape = v->shape, .count = 1, .at = (void *)v->data};
        n = add_number(tensor_get(&one, 0), numbers, n, most);
    }
    return n;
}
