/* The parser against docs/craft.grammar: sentences made at random from the rules all parse.
 * In: the grammar file. Out: texts, a few hundred of them, from rule `file`. */
#include "tests/craft/help.h"

#include "base/map.h"
#include "base/rng.h"
#include "tests/t.h"

typedef struct Rule {
    Str name, body;
} Rule;

typedef struct Maker {
    Arena *arena;
    VEC(Rule) rules;
    Map by_name;
    Buf out;
    uint64_t seed, drawn;
    uint32_t depth, indent;
    bool line_start;
} Maker;

static uint64_t draw(Maker *m, uint64_t below) { return rng_u64(m->seed, 7, m->drawn++) % below; }

static void read_rules(Maker *m)
{
    Str text = help_read(m->arena, "docs/craft.grammar"), line;
    while (str_next(&text, '\n', &line)) {
        ptrdiff_t eq = str_find(line, STR(" = "));
        if (!line.len || line.at[0] == '#' || eq < 0)
            continue;
        Rule r = {str_slice(line, 0, (size_t)eq), str_slice(line, (size_t)eq + 3, line.len)};
        map_put(m->arena, &m->by_name, r.name, m->rules.len);
        vec_push(m->arena, &m->rules, r);
    }
}

/* ---- tokens ---- */

static void put_word(Maker *m, const char *word)
{
    if (m->line_start)
        buf_fill(&m->out, ' ', m->indent * 4);
    else
        buf_char(&m->out, ' ');
    m->line_start = false;
    buf_puts(&m->out, word);
}

static void new_line(Maker *m)
{
    buf_char(&m->out, '\n');
    m->line_start = true;
}

static bool put_token(Maker *m, Str name)
{
    static const char *const names[] = {"a", "b", "tile", "x", "load", "f32"};
    static const char *const ints[] = {"0", "7", "0x1f", "1_000"};
    static const char *const floats[] = {"0.5", "1e-6", ".5", "3."};
    static const char *const strings[] = {"\"s\"", "'t'", "\"a\\\"b\""};
    if (str_is(name, "NAME"))
        put_word(m, names[draw(m, 6)]);
    else if (str_is(name, "INT"))
        put_word(m, ints[draw(m, 4)]);
    else if (str_is(name, "FLOAT"))
        put_word(m, floats[draw(m, 4)]);
    else if (str_is(name, "STRING"))
        put_word(m, strings[draw(m, 3)]);
    else if (str_is(name, "NEWLINE"))
        new_line(m);
    else if (str_is(name, "INDENT"))
        m->indent++;
    else if (str_is(name, "DEDENT"))
        m->indent--;
    else
        return str_is(name, "END");
    return true;
}

/* ---- rule bodies ---- */

static void make_rule(Maker *m, Str name);

/* The word at the front: a quoted token, a name, or one of ( ) [ ] { } |. */
static Str next_word(Str *body)
{
    *body = str_trim(*body);
    size_t n = 0;
    if (body->len && body->at[0] == '"')
        for (n = 1; n < body->len && body->at[n] != '"'; n++)
            ;
    while (n < body->len && body->at[n] != ' ')
        n++;
    Str word = str_slice(*body, 0, n);
    *body = str_slice(*body, n, body->len);
    return word;
}

static bool is_word(Str w, char c) { return w.len == 1 && w.at[0] == c; }

/* Takes the text up to the bracket that closes what is open. */
static Str take_group(Str *body)
{
    const char *start = body->at;
    for (int depth = 1;;) {
        Str before = *body, w = next_word(body);
        depth += is_word(w, '(') || is_word(w, '[') || is_word(w, '{');
        depth -= is_word(w, ')') || is_word(w, ']') || is_word(w, '}');
        if (!depth || !w.len)
            return (Str){start, (size_t)(before.at - start)};
    }
}

static void make_body(Maker *m, Str body);

static void make_sequence(Maker *m, Str body)
{
    for (Str w = next_word(&body); w.len; w = next_word(&body)) {
        if (is_word(w, '(')) {
            make_body(m, take_group(&body));
        } else if (is_word(w, '[')) {
            Str group = take_group(&body);
            if (m->depth < 14 && draw(m, 3) == 0)
                make_body(m, group);
        } else if (is_word(w, '{')) {
            Str group = take_group(&body);
            for (int i = 0; i < 3 && m->depth < 14 && draw(m, 4) == 0; i++)
                make_body(m, group);
        } else if (w.at[0] == '"') {
            put_word(m, str_dup(m->arena, str_slice(w, 1, w.len - 1)));
        } else {
            make_rule(m, w);
        }
    }
}

/* One of the alternatives of a body; past a depth the last, which is the shortest. */
static void make_body(Maker *m, Str body)
{
    VEC(Str) choices = {0};
    const char *start = body.at;
    const char *end = body.at + body.len;
    while (str_trim(body).len) {
        Str w = next_word(&body);
        if (is_word(w, '(') || is_word(w, '[') || is_word(w, '{')) {
            take_group(&body);
        } else if (is_word(w, '|')) {
            vec_push(m->arena, &choices, ((Str){start, (size_t)(w.at - start)}));
            start = body.at;
        }
    }
    vec_push(m->arena, &choices, ((Str){start, (size_t)(end - start)}));
    uint64_t pick = draw(m, choices.len);
    make_sequence(m, choices.at[pick]);
}

static void make_rule(Maker *m, Str name)
{
    uint32_t index;
    if (put_token(m, name))
        return;
    REQUIRE(map_get(&m->by_name, name, &index));
    if (m->depth > 40 && str_is(name, "atom")) {
        put_word(m, "a");
        return;
    }
    if (m->depth > 24 && (str_is(name, "statement") || str_is(name, "block"))) {
        bool block = str_is(name, "block");
        put_word(m, "pass");
        new_line(m);
        (void)block;
        return;
    }
    m->depth++;
    make_body(m, m->rules.at[index].body);
    m->depth--;
}

T_TEST(grammar_sentences_parse)
{
    Arena arena = {0};
    Maker m = {.arena = &arena};
    read_rules(&m);
    CHECK(m.rules.len > 30);
    for (m.seed = 1; m.seed <= 400; m.seed++) {
        buf_clear(&m.out);
        m.drawn = m.depth = m.indent = 0;
        m.line_start = true;
        for (int i = 0; i < 6; i++)
            make_rule(&m, STR("statement"));
        Diag diag = diag_make(&arena, "sentence", buf_view(&m.out));
        craft_read(&arena, "sentence", buf_view(&m.out), &diag);
        uint32_t syntax = 0;
        for (uint32_t i = 0; i < diag.items.len; i++)
            syntax += !str_is(str_from(diag.items.at[i].code), "E007");
        if (!CHECK_MSG(syntax == 0, "seed %u", (unsigned)m.seed)) {
            Buf said = {0};
            diag_print(&diag, &said);
            CHECK_MSG(false, "%s\n%s", said.at, m.out.at);
            buf_free(&said);
            break;
        }
        /* and what the formatter prints parses to what it prints */
        Str once = help_format(&arena, buf_view(&m.out));
        CHECK_EQ_STR(str_dup(&arena, help_format(&arena, once)), str_dup(&arena, once));
    }
    buf_free(&m.out);
    arena_drop(&arena);
}
