/* Lists of valid names, from the tables that own them. */
#include "cmd/names.h"

#include "eval/candidate.h"
#include "graph/compare.h"

static const char *joined(Arena *arena, int count, const char *(*name)(int))
{
    const char *list = "";
    for (int i = 0; i < count; i++)
        list = str_format(arena, "%s%s%s", list, i ? ", " : "", name(i));
    return list;
}

static const char *rule_name(int i) { return compare_rule_name((CompareRule)i); }
static const char *form_name(int i) { return eval_form_text((EvalForm)i); }

const char *names_of_rules(Arena *arena) { return joined(arena, RULE_COUNT, rule_name); }
const char *names_of_forms(Arena *arena) { return joined(arena, EVAL_FORM_COUNT, form_name); }
