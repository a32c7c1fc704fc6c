/* Answers between processes: a JSON object, the verdict as its text inside. */
#include "loop/make_int.h"

#include <jansson.h>

static void put_text(Buf *out, const char *key, Str text)
{
    buf_printf(out, ", \"%s\": ", key);
    buf_json_str(out, text);
}

static void put_item(const DiagItem *item, Buf *out)
{
    buf_printf(out, "{\"line\": %u, \"col\": %u, \"width\": %u", item->at.line, item->at.col,
               item->at.width);
    put_text(out, "code", str_from(item->code));
    put_text(out, "text", str_from(item->text));
    if (item->hint)
        put_text(out, "hint", str_from(item->hint));
    buf_char(out, '}');
}

static void put_errors(const Diag *said, Buf *out)
{
    const char *between = "";
    put_text(out, "file", str_from(said->file));
    put_text(out, "source", said->source);
    buf_puts(out, ", \"errors\": [");
    for (uint32_t i = 0; i < said->items.len; i++) {
        if (said->items.at[i].level != DIAG_ERROR)
            continue;
        buf_puts(out, between);
        put_item(&said->items.at[i], out);
        between = ", ";
    }
    buf_char(out, ']');
}

void make_answer_put(const MakeAnswer *answer, Buf *out)
{
    Buf verdict = {0};
    verdict_to_json(&answer->verdict, &verdict);
    buf_printf(out, "{\"end\": %d, \"planned\": %d, \"same\": %d", (int)answer->end,
               answer->planned, answer->same);
    put_text(out, "verdict", buf_view(&verdict));
    put_text(out, "trace", answer->trace);
    put_errors(&answer->said, out);
    buf_puts(out, ", \"turns\": [");
    for (uint32_t i = 0; i < answer->turns.len; i++)
        buf_printf(out, "%s%u, %d", i ? ", " : "", answer->turns.at[i].stmt,
                   answer->turns.at[i].taken);
    buf_puts(out, "]}");
    buf_free(&verdict);
}

static Str get_text(Arena *arena, json_t *from, const char *key)
{
    json_t *value = json_object_get(from, key);
    return str_copy(arena, (Str){json_string_value(value), json_string_length(value)});
}

static uint32_t get_number(json_t *from, const char *key)
{
    return (uint32_t)json_integer_value(json_object_get(from, key));
}

static void get_errors(Arena *arena, json_t *from, Diag *said)
{
    size_t i;
    json_t *item;
    *said = diag_make(arena, get_text(arena, from, "file").at, get_text(arena, from, "source"));
    json_array_foreach(json_object_get(from, "errors"), i, item)
    {
        Span at = {get_number(item, "line"), get_number(item, "col"), get_number(item, "width")};
        diag_error(said, get_text(arena, item, "code").at, at, "%s",
                   get_text(arena, item, "text").at);
        if (json_object_get(item, "hint"))
            diag_hint(said, "%s", get_text(arena, item, "hint").at);
    }
}

/* [statement, taken, statement, taken, ...] */
static void get_turns(Arena *arena, json_t *from, IrTurns *turns)
{
    json_t *list = json_object_get(from, "turns");
    for (size_t i = 0; i + 1 < json_array_size(list); i += 2) {
        IrTurn turn = {(IrStmtId)json_integer_value(json_array_get(list, i)),
                       json_integer_value(json_array_get(list, i + 1)) != 0};
        vec_push(arena, turns, turn);
    }
}

bool make_answer_take(Arena *arena, Str text, MakeAnswer *answer)
{
    json_t *from = text.len ? json_loadb(text.at, text.len, 0, NULL) : NULL;
    Diag quiet = diag_make(arena, "", (Str){0});
    *answer = (MakeAnswer){.end = get_number(from, "end"),
                           .planned = get_number(from, "planned") != 0,
                           .same = get_number(from, "same") != 0};
    bool ok = from &&
              verdict_from_json(arena, get_text(arena, from, "verdict"), &answer->verdict, &quiet);
    if (ok) {
        get_errors(arena, from, &answer->said);
        answer->trace = get_text(arena, from, "trace");
        get_turns(arena, from, &answer->turns);
    }
    json_decref(from);
    return ok;
}

void make_answer_lost(Arena *arena, const char *task, const char *kase, const char *died,
                      MakeAnswer *answer)
{
    *answer = (MakeAnswer){.end = MAKE_JUDGED, .verdict = verdict_make()};
    answer->verdict.task = task;
    answer->verdict.candidate = "plan";
    answer->verdict.kase = kase;
    verdict_fail(&answer->verdict, VERDICT_INTERNAL, STAGE_RUN,
                 str_format(arena, "the case was not judged: %s",
                            died ? died : "its answer cannot be read"));
}
