/* The table of diagnostic codes and the one function that uses it. */
#include "craft/report.h"

#include "craft/craft.h"
#include <string.h>

const CraftCode craft_codes[] = {
#define CODE(id, code, brief, text, bad, good) {#code, brief, text, bad, good},
#include "craft/codes.def"
#undef CODE
    {0},
};

const CraftCode *craft_explain(Str code)
{
    for (const CraftCode *row = craft_codes; row->code; row++)
        if (str_is(code, row->code))
            return row;
    return NULL;
}

static bool same_item(const DiagItem *a, const char *code, Span at, const char *text)
{
    return a->at.line == at.line && a->at.col == at.col && !strcmp(a->code, code) &&
           !strcmp(a->text, text);
}

void craft_report(Diag *diag, CraftCodeId id, Span at, const char *hint, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = str_vformat(diag->arena, format, args);
    va_end(args);
    const char *code = craft_codes[id].code;
    for (uint32_t i = 0; i < diag->items.len; i++)
        if (same_item(&diag->items.at[i], code, at, text))
            return;
    diag_error(diag, code, at, "%s", text);
    if (hint)
        diag_hint(diag, "%s", hint);
}
