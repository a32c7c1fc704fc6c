/* How NPUKernelBench's tasks compare: read off the text of custom_check_precision, which has one of four
 * shapes. In: prepare_inputs.py. Out: a rule and its constant.
 *
 *     RTOL_OVER_THRESHOLD       npukb-matmul      LOSS = 3e-3             npukb-fraction
 *     RTOL_GENERAL              npukb-scaled      max_abs_error=0.01      npukb, by branches over dtype
 */
#include "loop/bench_judge_int.h"

#include <ctype.h>
#include <string.h>

static bool has(Str text, const char *word) { return str_find(text, str_from(word)) >= 0; }

/* The number behind the first `word`; 0: there is none. */
static double number_behind(Str text, const char *word)
{
    ptrdiff_t at = str_find(text, str_from(word));
    Str rest = at < 0 ? STR("") : str_trim(str_slice(text, (size_t)at + strlen(word), text.len));
    size_t n = 0;
    double value;
    while (n < rest.len && (isdigit((unsigned char)rest.at[n]) || strchr(".eE-", rest.at[n])))
        n++;
    return n && str_to_double(str_slice(rest, 0, n), &value) && value > 0 ? value : 0;
}

/* Whether a condition names the dtype as a word of its own: bfloat16 is no float16. */
static bool names(Str line, const char *word)
{
    size_t len = strlen(word);
    for (size_t i = 0; i + len <= line.len; i++) {
        bool before = i > 0 && (isalnum((unsigned char)line.at[i - 1]) || line.at[i - 1] == '_');
        bool after = i + len < line.len && isalnum((unsigned char)line.at[i + len]);
        if (!before && !after && memcmp(line.at + i, word, len) == 0)
            return true;
    }
    return false;
}

static const char *torch_name(DType dtype)
{
    return dtype == DT_F16 ? "float16" : dtype == DT_BF16 ? "bfloat16" : "float32";
}

/* The constant of the first branch that is for the dtype. */
static double constant_of(Str text, DType dtype)
{
    bool here = true;
    Str line;
    while (str_next(&text, '\n', &line)) {
        Str code = str_trim(line);
        if (str_starts(code, "if ") || str_starts(code, "elif "))
            here = names(code, torch_name(dtype)) || !has(code, "dtype");
        else if (str_starts(code, "else"))
            here = true;
        if (here && has(code, "max_abs_error"))
            return has(code, "max_abs_error=") ? number_behind(code, "max_abs_error=")
                                               : number_behind(code, "max_rel_error =");
    }
    return 0;
}

CompareRule checker_rule(Str prepare_inputs, DType dtype, double *bound)
{
    ptrdiff_t at = str_find(prepare_inputs, STR("def custom_check_precision"));
    Str own = at < 0 ? STR("") : str_slice(prepare_inputs, (size_t)at, prepare_inputs.len);
    *bound = 0;
    if (has(own, "RTOL_OVER_THRESHOLD"))
        return RULE_NPUKB_MATMUL;
    if (has(own, "RTOL_GENERAL"))
        return RULE_NPUKB_SCALED;
    *bound = has(own, "LOSS = ") ? number_behind(own, "LOSS = ") : constant_of(own, dtype);
    return has(own, "LOSS = ") ? RULE_NPUKB_FRACTION : RULE_NPUKB;
}
