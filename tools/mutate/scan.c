/* Finds what can be slipped in AscendC text. In: the text. Out: one mutation per slip. A scanner of
 * call expressions is enough: name, template arguments, arguments; comments and strings are passed
 * over. Deleted text becomes an empty statement and keeps its line breaks. */
#include "tools/mutate/mutate.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { MOST_ARGS = 8 };

typedef struct Piece {
    size_t from, to;
} Piece;

typedef struct Call {
    Piece name, template, object, all; /* object: "queue" of queue.EnQue(...) */
    Piece statement;                   /* empty: the call is part of an expression */
    Piece arg[MOST_ARGS];
    uint32_t args, line, last_line;
    bool assigned; /* "x = queue.DeQue<T>();" with x declared before */
} Call;

typedef struct Scan {
    Arena *arena;
    Str text;
    Str code; /* the text with comments and strings blanked */
    VEC(Call) calls;
    Mutations *out;
} Scan;

static bool word_char(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Where the comment, string or preprocessor line that starts at `at` ends; `at`: there is none. */
static size_t end_of_other(Str text, size_t at)
{
    const char *c = text.at + at;
    size_t left = text.len - at, n = 2;
    if (left >= 2 && c[0] == '/' && c[1] == '*') {
        while (n < left && !(c[n - 1] == '*' && c[n] == '/' && n > 2))
            n++;
        return at + (n < left ? n + 1 : left);
    }
    bool slashes = left >= 2 && c[0] == '/' && c[1] == '/';
    if (slashes || (c[0] == '#' && (at == 0 || c[-1] == '\n'))) {
        for (n = 0; n < left && (c[n] != '\n' || (n && c[n - 1] == '\\'));)
            n++;
        return at + n;
    }
    if (c[0] != '"')
        return at;
    for (n = 1; n < left && c[n] != '"' && c[n] != '\n';)
        n += c[n] == '\\' ? 2 : 1;
    return at + (n < left ? n + 1 : left);
}

/* Comments, strings and preprocessor lines become blanks of the same length. */
static Str blank(Arena *arena, Str text)
{
    char *code = str_dup(arena, text);
    for (size_t i = 0; i < text.len; i++)
        for (size_t end = end_of_other(text, i); i < end; i++)
            code[i] = text.at[i] == '\n' ? '\n' : ' ';
    return (Str){code, text.len};
}

static size_t skip_space(Str code, size_t at)
{
    while (at < code.len && isspace((unsigned char)code.at[at]))
        at++;
    return at;
}

/* Past the bracket that closes the one at `at`; 0: none. Angle brackets only where asked for. */
static size_t close_bracket(Str code, size_t at, char open, char shut)
{
    uint32_t depth = 0;
    for (; at < code.len; at++) {
        if (code.at[at] == ';' && open == '<')
            return 0;
        if (code.at[at] == open)
            depth++;
        else if (code.at[at] == shut && --depth == 0)
            return at + 1;
    }
    return 0;
}

static void split_args(Str code, Call *call, size_t from, size_t to)
{
    int depth = 0;
    size_t start = from;
    for (size_t i = from; i <= to && call->args < MOST_ARGS; i++) {
        char c = i < to ? code.at[i] : ',';
        depth += c == '(' || c == '[' || c == '{';
        depth -= c == ')' || c == ']' || c == '}';
        if (c != ',' || depth > 0)
            continue;
        if (i > start)
            call->arg[call->args++] = (Piece){start, i};
        start = i + 1;
    }
}

/* Back over "queue." or "pipe->" or "q[i]." to the start of the expression. */
static size_t expression_start(Str code, size_t at)
{
    while (at > 0) {
        char c = code.at[at - 1];
        if (c == ']' || c == ')') {
            int depth = 0;
            do {
                at--;
                depth += code.at[at] == ']' || code.at[at] == ')';
                depth -= code.at[at] == '[' || code.at[at] == '(';
            } while (at > 0 && depth > 0);
        } else if (word_char(c) || c == '.' || c == ':') {
            at--;
        } else if (c == '>' && at > 1 && code.at[at - 2] == '-') {
            at -= 2;
        } else {
            break;
        }
    }
    return at;
}

static bool starts_statement(Str code, size_t at)
{
    while (at > 0 && isspace((unsigned char)code.at[at - 1]))
        at--;
    return at == 0 || strchr(";{})", code.at[at - 1]);
}

/* "x = " before the call, x a plain name at the start of a statement. */
static size_t assignment_start(Str code, size_t at)
{
    size_t p = at;
    while (p > 0 && isspace((unsigned char)code.at[p - 1]))
        p--;
    if (p < 2 || code.at[p - 1] != '=' || strchr("=<>!+-*/", code.at[p - 2]))
        return 0;
    for (p--; p > 0 && isspace((unsigned char)code.at[p - 1]);)
        p--;
    while (p > 0 && (word_char(code.at[p - 1]) || strchr("[]", code.at[p - 1])))
        p--;
    return starts_statement(code, p) ? p : 0;
}

static void place_call(Scan *s, Call *call)
{
    size_t start = expression_start(s->code, call->name.from);
    call->object = (Piece){start, call->name.from};
    size_t end = skip_space(s->code, call->all.to);
    if (end >= s->code.len || s->code.at[end] != ';')
        return;
    size_t assigned = assignment_start(s->code, start);
    call->assigned = assigned > 0;
    if (assigned)
        call->statement = (Piece){assigned, end};
    else if (starts_statement(s->code, start))
        call->statement = (Piece){start, end};
}

static uint32_t breaks(Str code, size_t from, size_t to)
{
    uint32_t n = 0;
    for (size_t i = from; i < to && i < code.len; i++)
        n += code.at[i] == '\n';
    return n;
}

static bool read_call(Scan *s, size_t from, size_t to, uint32_t line)
{
    Call call = {.name = {from, to}, .line = line};
    size_t at = skip_space(s->code, to);
    if (at < s->code.len && s->code.at[at] == '<') {
        size_t end = close_bracket(s->code, at, '<', '>');
        if (!end)
            return false;
        call.template = (Piece){at + 1, end - 1};
        at = skip_space(s->code, end);
    }
    if (at >= s->code.len || s->code.at[at] != '(')
        return false;
    size_t end = close_bracket(s->code, at, '(', ')');
    if (!end)
        return false;
    call.all = (Piece){from, end};
    call.last_line = line + breaks(s->code, from, end);
    split_args(s->code, &call, at + 1, end - 1);
    place_call(s, &call);
    vec_push(s->arena, &s->calls, call);
    return true;
}

static void find_calls(Scan *s)
{
    uint32_t line = 1;
    for (size_t i = 0; i < s->code.len; i++) {
        if (s->code.at[i] == '\n')
            line++;
        if (!word_char(s->code.at[i]) || (i > 0 && word_char(s->code.at[i - 1])))
            continue;
        size_t end = i;
        while (end < s->code.len && word_char(s->code.at[end]))
            end++;
        read_call(s, i, end, line);
    }
}

/* --- slips --- */

static Str piece(const Scan *s, Piece p) { return str_slice(s->code, p.from, p.to); }
static bool is(const Scan *s, const Call *c, const char *name)
{
    return str_equal(piece(s, c->name), str_from(name));
}
static const char *copy(const Scan *s, Piece p)
{
    Str v = str_trim(piece(s, p));
    return str_format(s->arena, "%.*s", (int)v.len, v.at);
}

static void add_edit(Mutation *m, Piece p, const char *with, bool statement)
{
    if (m->edit_count < MUTATE_EDITS)
        m->edits[m->edit_count++] = (MutationEdit){p.from, p.to, with, statement};
}

static void slip(Scan *s, MutationKind kind, const Call *c, const char *what, Piece p,
                 const char *with)
{
    Mutation m = {.kind = kind, .line = c->line, .last_line = c->last_line, .what = what};
    add_edit(&m, p, with, p.from == c->statement.from && p.to == c->statement.to);
    vec_push(s->arena, s->out, m);
}

static void delete_call(Scan *s, const Call *c)
{
    if (c->statement.to)
        slip(s, MUTATE_SYNC, c, str_format(s->arena, "delete %s", copy(s, c->name)), c->statement,
             "");
}

/* Calls and the builtins under them: SetFlag<HardEvent::V_MTE3>(id), set_flag(PIPE_V, PIPE_MTE3, id). */
static bool is_flag(const Scan *s, const Call *c)
{
    return is(s, c, "SetFlag") || is(s, c, "WaitFlag") || is(s, c, "set_flag") ||
           is(s, c, "wait_flag");
}
static bool is_barrier(const Scan *s, const Call *c)
{
    return is(s, c, "PipeBarrier") || is(s, c, "pipe_barrier");
}
/* What names the event of a flag, or the pipe of a barrier. */
static Piece pipes_of(const Call *c)
{
    if (c->template.to || c->args == 0)
        return c->template;
    return (Piece){c->arg[0].from, c->arg[c->args > 1].to};
}

/* All sets and waits of one event that name the same id: the synchronisation as a whole. */
static void delete_event(Scan *s, uint32_t first)
{
    const Call *c = &s->calls.at[first];
    Mutation m = {.kind = MUTATE_SYNC, .line = c->line, .last_line = c->last_line};
    for (uint32_t i = 0; i < s->calls.len; i++) {
        const Call *o = &s->calls.at[i];
        if (!is_flag(s, o) || !o->statement.to ||
            !str_equal(piece(s, pipes_of(o)), piece(s, pipes_of(c))))
            continue;
        if (i < first)
            return; /* counted there */
        add_edit(&m, o->statement, "", true);
        m.last_line = o->last_line;
    }
    m.what = str_format(s->arena, "delete every flag of %s", copy(s, pipes_of(c)));
    if (m.edit_count > 1)
        vec_push(s->arena, s->out, m);
}

static void weaken_barrier(Scan *s, const Call *c)
{
    Piece pipe = pipes_of(c);
    if (!pipe.to)
        return;
    bool all = str_find(piece(s, pipe), str_from("PIPE_ALL")) >= 0;
    const char *other = all ? "PIPE_V" : "PIPE_MTE2";
    const char *before = copy(s, (Piece){c->statement.from, pipe.from});
    const char *behind = copy(s, (Piece){pipe.to, c->statement.to});
    slip(s, MUTATE_SYNC, c, all ? "weaken PIPE_ALL to PIPE_V" : "barrier of another pipe",
         c->statement, str_format(s->arena, "%s%s%s", before, other, behind));
}

/* EnQue and the plain DeQue that follows it on the same queue. */
static void delete_queue_pair(Scan *s, uint32_t at)
{
    const Call *push = &s->calls.at[at];
    for (uint32_t i = at + 1; i < s->calls.len; i++) {
        const Call *pop = &s->calls.at[i];
        if (!str_equal(piece(s, pop->object), piece(s, push->object)))
            continue;
        if (!is(s, pop, "DeQue") || !pop->assigned || !push->statement.to)
            return;
        Mutation m = {.kind = MUTATE_SYNC,
                      .line = push->line,
                      .last_line = push->last_line,
                      .what = "delete EnQue and DeQue"};
        add_edit(&m, push->statement, "", true);
        add_edit(&m, pop->statement, "", true);
        vec_push(s->arena, s->out, m);
        return;
    }
}

static void shrink_buffer(Scan *s, const Call *c)
{
    Piece size = c->arg[c->args - 1];
    slip(s, MUTATE_BUFFER, c, "halve the buffer", size,
         str_format(s->arena, " (%s) / 2", copy(s, size)));
    if (c->args == 3)
        slip(s, MUTATE_BUFFER, c, "one buffer fewer", c->arg[1],
             str_format(s->arena, " (%s) - 1", copy(s, c->arg[1])));
}

static void shift_offset(Scan *s, const Call *c, Piece arg)
{
    Str a = piece(s, arg);
    ptrdiff_t open = str_find(a, str_from("["));
    if (open < 0 || a.at[a.len - 1] != ']')
        return;
    Piece index = {arg.from + (size_t)open + 1, arg.to - 1};
    slip(s, MUTATE_OFFSET, c, "shift the offset by a block", index,
         str_format(s->arena, "(%s) + 16", copy(s, index)));
}

/* Where a core's part of a tensor begins; gives no record of its own. */
static void shift_part(Scan *s, const Call *c)
{
    slip(s, MUTATE_OFFSET, c, "shift the part by a block", c->arg[0],
         str_format(s->arena, "(%s) + 16", copy(s, c->arg[0])));
    vec_last(s->out).last_line = 0;
}

static bool mentions(Str text, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= text.len; i++)
        if (strncasecmp(text.at + i, word, n) == 0)
            return true;
    return false;
}

/* if (tail > 0) ...: what it guards is left out. */
static void drop_tail(Scan *s, const Call *c)
{
    static const char *const words[] = {"tail", "remain", "rest", "left", "last"};
    Piece condition = {c->name.to, c->all.to};
    bool tail = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        tail = tail || mentions(piece(s, condition), words[i]);
    size_t at = skip_space(s->code, c->all.to), end = at;
    if (!tail || at >= s->code.len)
        return;
    if (s->code.at[at] == '{')
        end = close_bracket(s->code, at, '{', '}');
    while (s->code.at[at] != '{' && end < s->code.len && s->code.at[end] != ';')
        end++;
    slip(s, MUTATE_COUNT, c, "drop the tail", condition,
         str_format(s->arena, "(false && %s)", copy(s, condition)));
    vec_last(s->out).last_line = c->line + breaks(s->code, c->all.from, end);
}

static void shorten_count(Scan *s, const Call *c)
{
    Piece last = c->arg[c->args - 1];
    Str text = str_trim(piece(s, last));
    bool plain = text.len > 0;
    for (size_t i = 0; i < text.len; i++)
        plain = plain && (word_char(text.at[i]) || strchr(" */+-()", text.at[i]));
    if (plain && c->args >= 3)
        slip(s, MUTATE_COUNT, c, "shorten the count", last,
             str_format(s->arena, " (%s) - 8", copy(s, last)));
}

static const char *const deleted[] = {
    "SetFlag",           "WaitFlag",        "PipeBarrier", "SyncAll",   "CrossCoreSetFlag",
    "CrossCoreWaitFlag", "IBSet",           "IBWait",      "EnQue",     "FreeTensor",
    "WaitPreBlock",      "NotifyNextBlock", "set_flag",    "wait_flag", "pipe_barrier"};
static const char *const counted[] = {
    "DataCopy",  "Add",       "Sub",       "Mul",   "Div",  "Muls",      "Adds", "Exp",
    "Ln",        "Sqrt",      "Abs",       "Relu",  "Max",  "Min",       "Cast", "Maxs",
    "Duplicate", "ReduceSum", "ReduceMax", "Rsqrt", "Mins", "Reciprocal"};

static bool among(const Scan *s, const Call *c, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is(s, c, names[i]))
            return true;
    return false;
}

static void slips_of(Scan *s, uint32_t i)
{
    const Call *c = &s->calls.at[i];
    if (among(s, c, deleted, sizeof deleted / sizeof *deleted))
        delete_call(s, c);
    if (is_flag(s, c) && c->statement.to)
        delete_event(s, i);
    if (is_barrier(s, c) && c->statement.to)
        weaken_barrier(s, c);
    if (is(s, c, "EnQue"))
        delete_queue_pair(s, i);
    if (is(s, c, "InitBuffer") && c->statement.to && c->args >= 2)
        shrink_buffer(s, c);
    if (is(s, c, "SetGlobalBuffer") && c->statement.to && c->args >= 1)
        shift_part(s, c);
    if (is(s, c, "if"))
        drop_tail(s, c);
    bool copy_call = is(s, c, "DataCopy") || is(s, c, "DataCopyPad");
    bool counts = among(s, c, counted, sizeof counted / sizeof *counted);
    if (!c->statement.to || (!copy_call && !counts))
        return;
    for (uint32_t a = 0; a < c->args && a < 3; a++)
        shift_offset(s, c, c->arg[a]);
    if (counts)
        shorten_count(s, c);
    if (is(s, c, "DataCopyPad"))
        slip(s, MUTATE_COUNT, c, "drop the copy", c->statement, "");
}

void mutate_scan(Arena *arena, Str text, Mutations *out)
{
    Scan s = {.arena = arena, .text = text, .out = out};
    s.code = blank(arena, text);
    find_calls(&s);
    for (uint32_t i = 0; i < s.calls.len; i++)
        slips_of(&s, i);
}

Str mutate_apply(Arena *arena, Str text, const Mutation *m)
{
    Buf out = {0};
    size_t at = 0;
    for (uint32_t i = 0; i < m->edit_count; i++) {
        const MutationEdit *e = &m->edits[i];
        buf_str(&out, str_slice(text, at, e->from));
        buf_puts(&out, e->with);
        for (size_t k = e->from; k < e->to; k++)
            if (text.at[k] == '\n')
                buf_char(&out, '\n');
        at = e->to;
    }
    buf_str(&out, str_slice(text, at, text.len));
    Str copy = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return copy;
}
