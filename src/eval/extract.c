/* From a model's raw answer to a candidate, by the rules of the benchmark whose form is wanted:
 *
 *     thinking          everything up to the last </think> goes
 *     mkb, mkb-direct   the first fenced block, or the whole text where there is no fence
 *     npukb-kernel      <kernel_impl> ... </kernel_impl>, in it a fenced block
 *     npukb-full        "===== path =====" lines, each with a fenced block behind it
 *     craft, kernel     the first fenced block that is one, or the whole text
 *
 * In: text nobody vouches for. Out: texts by path, or what is missing and whether it breaks off. */
#include "eval/candidate_int.h"

#include "base/file.h"
#include <ctype.h>
#include <string.h>

enum { MOST_BLOCKS = 200 };

/* ---- fenced blocks ---- */

typedef struct Block {
    Str text, tag;
    size_t from; /* of the opening fence in the answer */
    bool open;   /* the answer ends inside it */
} Block;

typedef VEC(Block) Blocks;

/* How many backquotes or tildes a line starts with, white space aside; under 3 is no fence. */
static size_t fence_width(Str line, char *mark)
{
    size_t at = 0, n = 0;
    while (at < line.len && (line.at[at] == ' ' || line.at[at] == '\t'))
        at++;
    *mark = at < line.len ? line.at[at] : 0;
    if (*mark != '`' && *mark != '~')
        return 0;
    while (at + n < line.len && line.at[at + n] == *mark)
        n++;
    return n >= 3 ? n : 0;
}

static bool closes(Str line, char mark, size_t width)
{
    char other;
    size_t n = fence_width(line, &other);
    if (n < width || other != mark)
        return false;
    line = str_trim(line);
    return line.len == n;
}

static void find_blocks(Arena *arena, Str answer, Blocks *blocks)
{
    Str line, rest = answer;
    char mark = 0;
    size_t width = 0;
    Block block = {0};
    while (blocks->len < MOST_BLOCKS && str_next(&rest, '\n', &line)) {
        size_t from = (size_t)(line.at - answer.at);
        if (!width && (width = fence_width(line, &mark))) {
            Str tag = str_trim(line);
            block = (Block){.from = from, .tag = str_trim(str_slice(tag, width, tag.len))};
            size_t start = from + line.len + 1;
            block.text = str_slice(answer, start, answer.len);
        } else if (width && closes(line, mark, width)) {
            block.text.len = (size_t)(line.at - block.text.at);
            vec_push(arena, blocks, block);
            width = 0;
        }
    }
    if (width && blocks->len < MOST_BLOCKS) {
        block.open = true;
        vec_push(arena, blocks, block);
    }
}

/* ---- the answer in hand ---- */

typedef struct Extract {
    Arena *arena;
    Str answer;
    Blocks blocks;
    EvalForm wanted;
    EvalCandidate *c;
    const char *reason;
    bool cut;
} Extract;

static bool miss(Extract *x, const char *reason, bool cut)
{
    x->reason = reason;
    x->cut = cut;
    return false;
}

static Str last_behind(Str text, const char *mark, bool *found)
{
    for (ptrdiff_t at; (at = str_find(text, str_from(mark))) >= 0; *found = true)
        text = str_slice(text, (size_t)at + strlen(mark), text.len);
    return text;
}

/* What a model thinks aloud is no answer; a prompt may already have opened the section. */
static bool strip_thinking(Extract *x)
{
    static const char *const ends[] = {"</think>", "</thinking>", "</reasoning>"};
    static const char *const starts[] = {"<think>", "<thinking>", "<reasoning>"};
    bool found = false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        x->answer = last_behind(x->answer, ends[i], &found);
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (str_starts(str_trim(x->answer), starts[i]))
            return miss(x, "the answer breaks off while thinking", true);
    x->answer = str_trim(x->answer);
    return x->answer.len || miss(x, "the answer is empty", false);
}

/* MultiKernelBench takes no code from behind a fence that is not closed, even if it is all there. */
static bool miss_open(Extract *x)
{
    EvalCandidate whole = {0};
    const char *reason;
    bool cut;
    if (eval_read_six(x->arena, x->blocks.at[0].text, &whole, &reason, &cut))
        return miss(x, "the fence around the code is not closed: put ``` behind it", false);
    return miss(x, "the answer breaks off inside its code", true);
}

/* The text MultiKernelBench would take. */
static bool first_block(Extract *x, Str *text)
{
    *text = x->answer;
    x->c->extracted = "whole answer";
    if (!x->blocks.len)
        return true;
    if (x->blocks.at[0].open)
        return miss_open(x);
    *text = x->blocks.at[0].text;
    x->c->extracted = "first fenced block";
    return true;
}

/* ---- the forms ---- */

typedef bool IsForm(Str text);

/* The first fenced block that is of the form; else the whole text. */
static bool block_of(Extract *x, IsForm *is_form, const char *what, const char *path, EvalForm form)
{
    Str text = {0};
    for (uint32_t i = 0; i < x->blocks.len && !text.len; i++) {
        if (!is_form(x->blocks.at[i].text))
            continue;
        if (x->blocks.at[i].open)
            return miss(x, str_format(x->arena, "the answer breaks off inside its %s", what), true);
        text = x->blocks.at[i].text;
        x->c->extracted = i ? str_format(x->arena, "fenced block %u", i + 1) : "first fenced block";
    }
    if (!text.len && !x->blocks.len && is_form(x->answer)) {
        text = x->answer;
        x->c->extracted = "whole answer";
    }
    bool open = x->blocks.len && vec_last(&x->blocks).open;
    if (!text.len)
        return miss(x, str_format(x->arena, "the answer has no %s", what), open);
    x->c->form = form;
    eval_text_add(x->arena, x->c, path, text);
    return true;
}

static bool extract_craft(Extract *x)
{
    const char *what = x->wanted == FORM_ANY
                           ? "kernel: no Craft program, no AscendC, no form of a benchmark"
                           : "Craft program";
    return block_of(x, eval_is_craft, what, "answer.craft", FORM_CRAFT);
}

static bool extract_kernel(Extract *x)
{
    return block_of(x, eval_is_kernel, "kernel", "answer.cpp", FORM_KERNEL);
}

static bool extract_mkb(Extract *x)
{
    Str text;
    if (!first_block(x, &text))
        return false;
    return eval_read_six(x->arena, text, x->c, &x->reason, &x->cut);
}

static bool extract_mkb_direct(Extract *x)
{
    Str text;
    if (!first_block(x, &text))
        return false;
    return eval_read_direct_json(x->arena, text, x->c, &x->reason, &x->cut);
}

static bool extract_npukb_kernel(Extract *x)
{
    static const char open[] = "<kernel_impl>", close[] = "</kernel_impl>";
    ptrdiff_t from = str_find(x->answer, str_from(open));
    if (from < 0)
        return miss(x, "the answer has no <kernel_impl> block", false);
    Str text = str_slice(x->answer, (size_t)from + sizeof open - 1, x->answer.len);
    ptrdiff_t to = str_find(text, str_from(close));
    if (to < 0)
        return miss(x, "the answer breaks off inside <kernel_impl>", true);
    text = str_trim(str_slice(text, 0, (size_t)to));
    Blocks inner = {0};
    find_blocks(x->arena, text, &inner);
    if (inner.len)
        text = str_trim(inner.at[0].text);
    if (!text.len)
        return miss(x, "<kernel_impl> is empty", false);
    x->c->form = FORM_NPUKB_KERNEL;
    x->c->extracted = "<kernel_impl> block";
    eval_text_add(x->arena, x->c, "op_kernel/kernel.cpp", text);
    return true;
}

/* "===== op_host/add.cpp =====" gives the path; empty: no such line. */
static Str header_path(Str line)
{
    line = str_trim(line);
    if (!str_starts(line, "=====") || !str_ends(line, "====="))
        return (Str){0};
    while (line.len && line.at[0] == '=')
        line = str_slice(line, 1, line.len);
    while (line.len && line.at[line.len - 1] == '=')
        line = str_slice(line, 0, line.len - 1);
    return str_trim(line);
}

static const Block *block_behind(const Extract *x, size_t from)
{
    for (uint32_t i = 0; i < x->blocks.len; i++)
        if (x->blocks.at[i].from >= from)
            return &x->blocks.at[i];
    return NULL;
}

static bool add_headed(Extract *x)
{
    Str line, rest = x->answer;
    while (str_next(&rest, '\n', &line)) {
        Str path = header_path(line);
        size_t behind = (size_t)(line.at - x->answer.at) + line.len;
        const Block *block = path.len ? block_behind(x, behind) : NULL;
        if (!path.len)
            continue;
        if (!block || block->open)
            return miss(x, str_format(x->arena, "the answer breaks off in %.*s", STR_ARG(path)),
                        true);
        eval_text_add(x->arena, x->c, str_dup(x->arena, path), block->text);
    }
    return true;
}

static bool extract_npukb_full(Extract *x)
{
    if (!add_headed(x))
        return false;
    bool tiling = eval_text_ending(x->c, "_tiling.h"), host = false, kernel = false;
    for (uint32_t i = 0; i < x->c->texts.len; i++) {
        Str path = str_from(x->c->texts.at[i].path);
        host = host || (str_starts(path, "op_host/") && str_ends(path, ".cpp"));
        kernel = kernel || (str_starts(path, "op_kernel/") && str_ends(path, ".cpp"));
    }
    if (!tiling || !host || !kernel)
        return miss(x,
                    str_format(x->arena, "the answer has no %s",
                               !tiling ? "tiling header"
                               : !host ? "host file"
                                       : "kernel file"),
                    x->blocks.len && vec_last(&x->blocks).open);
    x->c->form = FORM_NPUKB_FULL;
    x->c->extracted = "===== path ===== headers";
    return true;
}

/* ---- which form ---- */

typedef bool ExtractForm(Extract *x);

static ExtractForm *const extractors[EVAL_FORM_COUNT] = {[FORM_CRAFT] = extract_craft,
                                                         [FORM_KERNEL] = extract_kernel,
                                                         [FORM_MKB] = extract_mkb,
                                                         [FORM_MKB_DIRECT] = extract_mkb_direct,
                                                         [FORM_NPUKB_KERNEL] = extract_npukb_kernel,
                                                         [FORM_NPUKB_FULL] = extract_npukb_full};

static bool has(const Extract *x, const char *mark)
{
    return str_find(x->answer, str_from(mark)) >= 0;
}

/* The form an answer of unknown origin seems to have. */
static EvalForm guess(const Extract *x)
{
    if (has(x, "<kernel_impl>"))
        return FORM_NPUKB_KERNEL;
    if (has(x, "===== op_host/") || has(x, "===== op_kernel/"))
        return FORM_NPUKB_FULL;
    if (eval_is_six_strings(x->answer))
        return FORM_MKB;
    if (has(x, "\"sources\"") && has(x, "\"content\""))
        return FORM_MKB_DIRECT;
    return eval_is_kernel(x->answer) ? FORM_KERNEL : FORM_CRAFT;
}

bool eval_candidate_extract(Arena *arena, Str answer, EvalForm wanted, EvalCandidate *candidate,
                            const char **reason, bool *cut)
{
    *candidate = (EvalCandidate){.form = wanted, .name = "answer", .entry = "", .extracted = ""};
    Extract x = {.arena = arena, .answer = answer, .wanted = wanted, .c = candidate, .reason = ""};
    bool ok = strip_thinking(&x);
    if (ok) {
        find_blocks(arena, x.answer, &x.blocks);
        EvalForm form = wanted == FORM_ANY ? guess(&x) : wanted;
        ok = extractors[form] ? extractors[form](&x)
                              : miss(&x,
                                     str_format(arena, "form '%s' is not one that answers have",
                                                eval_form_text(form)),
                                     false);
    }
    *reason = x.reason;
    *cut = x.cut;
    return ok;
}
