/* The option reader all subcommands share: argv in, values stored where the table says, the
 * remaining words moved to the front of argv. */
#include "cmd/cmd.h"

#include "cmd/man.h"
#include "npu/npu.h"
#include <stdio.h>
#include <string.h>

enum { MAX_OPTIONS = 64, COMMON = 5 };

/* The subcommand's options and then those that every command has. */
typedef struct Reader {
    const CmdUsage *usage;
    CmdArgs *args;
    bool help;
    const char *help_as; /* NULL: for a person; else "man" or "words" */
    CmdOption common[COMMON];
    int argc, at;
    char **argv;
} Reader;

static Reader make_reader(const CmdUsage *usage, int argc, char **argv, CmdArgs *args)
{
    Reader r = {.usage = usage, .args = args, .argc = argc, .argv = argv};
    r.common[0] = (CmdOption){"json", CMD_FLAG, &args->json, NULL, "the answer as JSON"};
    r.common[1] = (CmdOption){"chip", CMD_TEXT, &args->chip, "NAME", "the chip (910B2)"};
    r.common[2] = (CmdOption){"seed", CMD_I64, &args->seed, "N", "seed of everything random (0)"};
    r.common[3] = (CmdOption){
        "color", CMD_TEXT, &args->color, "WHEN",
        "colours: auto (on a terminal, unless NO_COLOR is set), always, never"};
    r.common[4] = (CmdOption){"help", CMD_FLAG, NULL, NULL, "this text"};
    return r;
}

static size_t option_count(const Reader *r) { return r->usage->option_count + COMMON; }

static const CmdOption *option_at(const Reader *r, size_t i)
{
    return i < r->usage->option_count ? &r->usage->options[i]
                                      : &r->common[i - r->usage->option_count];
}

/* --- help and complaints --------------------------------------------------------------- */

enum { HELP_AT = 25, HELP_WIDTH = 75 };

/* The text in lines of at most HELP_WIDTH characters, the second and later ones below the first. */
static void print_folded(const char *text)
{
    while (strlen(text) > HELP_WIDTH) {
        size_t end = HELP_WIDTH;
        while (end && text[end] != ' ')
            end--;
        if (!end)
            break;
        printf("%.*s\n%*s", (int)end, text, HELP_AT, "");
        text += end + 1;
    }
    puts(text);
}

static void print_option(const CmdOption *option)
{
    char left[64];
    if (option->kind == CMD_HEAD) {
        printf("\n%s\n", option->help);
        return;
    }
    bool letter = option->name[1] == 0;
    snprintf(left, sizeof left, "%s%s%s%s", letter ? "-" : "--", option->name,
             option->kind == CMD_FLAG ? "" : " ", option->kind == CMD_FLAG ? "" : option->value);
    printf("  %-*s ", HELP_AT - 3, left);
    print_folded(option->help);
}

static void print_help(const Reader *r)
{
    const CmdUsage *usage = r->usage;
    printf("usage: acraft %s%s%s\n\n%s\n\n", usage->name, *usage->synopsis ? " " : "",
           usage->synopsis, usage->text);
    for (size_t i = 0; i < option_count(r); i++)
        print_option(option_at(r, i));
    printf("\nexample:\n  %s\n", usage->example);
}

static void print_words(const Reader *r)
{
    for (size_t i = 0; i < option_count(r); i++) {
        const CmdOption *o = option_at(r, i);
        if (o->kind != CMD_HEAD)
            printf("%s%s%s\n", o->name[1] ? "--" : "-", o->name, o->kind == CMD_FLAG ? "" : "=");
    }
}

static void print_man_option(const CmdOption *o)
{
    if (o->kind == CMD_HEAD) {
        printf(".SS ");
        man_text(o->help);
        return;
    }
    printf(".TP\n.B%s \\-%s", o->kind == CMD_FLAG ? "" : "I", o->name[1] ? "\\-" : "");
    for (const char *c = o->name; *c; c++)
        printf("%s%c", *c == '-' ? "\\" : "", *c);
    if (o->kind != CMD_FLAG)
        printf(" \" %s\"", o->value);
    puts("");
    man_text(o->help);
}

static void print_man(const Reader *r)
{
    const CmdUsage *usage = r->usage;
    char name[64];
    snprintf(name, sizeof name, "acraft-%s", usage->name);
    man_head(name);
    printf(".SH NAME\n%s \\- ", name);
    man_sentence(usage->text);
    printf(".SH SYNOPSIS\n.B acraft %s\n", usage->name);
    man_text(usage->synopsis);
    printf(".SH DESCRIPTION\n");
    man_text(usage->text);
    printf(".SH OPTIONS\n");
    for (size_t i = 0; i < option_count(r); i++)
        print_man_option(option_at(r, i));
    printf(".SH EXAMPLE\n.nf\n");
    man_text(usage->example);
    printf(".fi\n.SH SEE ALSO\n.BR acraft (1)\n");
}

static void print_asked(const Reader *r)
{
    if (!r->help_as)
        print_help(r);
    else if (!strcmp(r->help_as, "man"))
        print_man(r);
    else
        print_words(r);
}

static bool complain(const Reader *r, const char *format, ...) ATTR_PRINTF(2, 3);

/* Always false, so that callers can return it. */
static bool complain(const Reader *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "acraft %s: ", r->usage->name);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    return false;
}

/* "-o, --dtype, --range" */
static void list_options(const Reader *r, Buf *list)
{
    for (size_t i = 0; i < option_count(r); i++) {
        const CmdOption *o = option_at(r, i);
        if (o->kind != CMD_HEAD)
            buf_printf(list, "%s%s%s", list->len ? ", " : "", o->name[1] ? "--" : "-", o->name);
    }
}

static bool unknown_option(const Reader *r, const char *typed, Str name)
{
    const char *names[MAX_OPTIONS];
    size_t count = 0;
    for (size_t i = 0; i < option_count(r) && count < MAX_OPTIONS; i++)
        if (option_at(r, i)->name[1])
            names[count++] = option_at(r, i)->name;
    char short_name[65];
    snprintf(short_name, sizeof short_name, "%.*s", STR_ARG(str_slice(name, 0, 64)));
    const char *near = cmd_nearest(short_name, names, count);
    if (near)
        return complain(r, "no option '%s'; did you mean '--%s'?", typed, near);
    Buf list = {0};
    list_options(r, &list);
    complain(r, "no option '%s'; there are %s; acraft %s --help says what they do", typed, list.at,
             r->usage->name);
    buf_free(&list);
    return false;
}

/* --- reading --------------------------------------------------------------------------- */

static const CmdOption *find_option(const Reader *r, Str name)
{
    for (size_t i = 0; i < option_count(r); i++)
        if (str_is(name, option_at(r, i)->name))
            return option_at(r, i);
    return NULL;
}

static bool store_value(Reader *r, const CmdOption *option, const char *value)
{
    switch (option->kind) {
    case CMD_HEAD:
    case CMD_FLAG: break;
    case CMD_TEXT: *(const char **)option->into = value; return true;
    case CMD_LIST: vec_push(&r->args->arena, (NameList *)option->into, value); return true;
    case CMD_I64:
        if (str_to_i64(str_from(value), option->into))
            return true;
        return complain(r, "'%s' of option '%s' is no whole number", value, option->name);
    case CMD_F64:
        if (str_to_double(str_from(value), option->into))
            return true;
        return complain(r, "'%s' of option '%s' is no number", value, option->name);
    }
    return complain(r, "option '%s' takes no value", option->name);
}

static bool take_help(Reader *r, const char *as)
{
    r->help = true;
    r->help_as = as;
    return !as || !strcmp(as, "man") || !strcmp(as, "words") ||
           complain(r, "--help=%s: there are --help=man and --help=words", as);
}

/* `attached` is what stands in the same word as the option, or NULL. */
static bool take_option(Reader *r, const CmdOption *option, const char *attached)
{
    if (!option->into && option->kind == CMD_FLAG)
        return take_help(r, attached);
    if (attached)
        return store_value(r, option, attached);
    if (option->kind == CMD_FLAG) {
        *(bool *)option->into = true;
        return true;
    }
    if (r->at == r->argc)
        return complain(r, "option '%s' needs a value: %s", r->argv[r->at - 1], option->value);
    return store_value(r, option, r->argv[r->at++]);
}

static bool read_long(Reader *r, const char *word)
{
    const char *name = word + 2, *equals = strchr(name, '=');
    Str slice = equals ? (Str){name, (size_t)(equals - name)} : str_from(name);
    const CmdOption *option = slice.len ? find_option(r, slice) : NULL;
    if (!option)
        return unknown_option(r, word, slice);
    return take_option(r, option, equals ? equals + 1 : NULL);
}

static bool read_short(Reader *r, const char *word)
{
    Str letter = {word + 1, 1};
    const CmdOption *option = find_option(r, str_is(letter, "h") ? STR("help") : letter);
    if (!option)
        return unknown_option(r, word, str_from(word + 1));
    return take_option(r, option, word[2] ? word + 2 : NULL);
}

static bool read_words(Reader *r)
{
    bool only_words = false;
    r->args->words = r->argv;
    while (r->at < r->argc) {
        char *word = r->argv[r->at++];
        bool ok = true;
        if (only_words || word[0] != '-' || word[1] == 0)
            r->args->words[r->args->word_count++] = word;
        else if (!strcmp(word, "--"))
            only_words = true;
        else
            ok = word[1] == '-' ? read_long(r, word) : read_short(r, word);
        if (!ok)
            return false;
    }
    return true;
}

static bool check_words(const Reader *r)
{
    const CmdUsage *usage = r->usage;
    if (r->args->word_count < usage->least)
        return complain(r, "an argument is missing: acraft %s %s", usage->name, usage->synopsis);
    if (r->args->word_count > usage->most)
        return complain(r, "'%s' is one too many: acraft %s%s%s", r->args->words[usage->most],
                        usage->name, *usage->synopsis ? " " : "", usage->synopsis);
    return true;
}

static bool check_chip(const Reader *r)
{
    Buf list = {0};
    if (npu_chip_find(str_from(r->args->chip)))
        return true;
    for (uint32_t i = 0; i < npu_chip_count; i++)
        if (npu_chips[i].simulated)
            buf_printf(&list, "%s%s", list.len ? ", " : "", npu_chips[i].name);
    complain(r, "no chip '%s'; there are %s", r->args->chip, list.at);
    buf_free(&list);
    return false;
}

static bool check_colour(const Reader *r)
{
    return !r->args->color || cmd_set_colour(r->args->color) ||
           complain(r, "--color takes auto, always or never, not '%s'", r->args->color);
}

bool cmd_read(const CmdUsage *usage, int argc, char **argv, CmdArgs *args, int *status)
{
    *args = (CmdArgs){.chip = "910B2"};
    Reader r = make_reader(usage, argc, argv, args);
    r.at = 1;
    bool ok = read_words(&r);
    *status = ok ? CMD_OK : CMD_USAGE;
    if (ok && r.help) {
        print_asked(&r);
        return false;
    }
    if (ok && (!check_words(&r) || !check_chip(&r) || !check_colour(&r)))
        *status = CMD_USAGE;
    return *status == CMD_OK;
}

void cmd_done(CmdArgs *args) { arena_drop(&args->arena); }
