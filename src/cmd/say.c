/* What every subcommand prints for people: diagnostics and verdicts, in colour where that is wanted, with the
 * source lines that they are about. */
#include "cmd/cmd.h"

#include "base/paint.h"
#include "cmd/progress.h"
#include "verdict/show.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The terminal belongs to the process, and so does this: --color, until the command ends. */
static CmdColour wanted = CMD_COLOUR_AUTO;

bool cmd_set_colour(const char *when)
{
    static const char *const names[] = {"auto", "always", "never"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(when, names[i])) {
            wanted = (CmdColour)i;
            return true;
        }
    return false;
}

/* NO_COLOR: see no-color.org. */
bool cmd_colour(int fd)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (wanted != CMD_COLOUR_AUTO)
        return wanted == CMD_COLOUR_ALWAYS;
    return !(no && *no) && terminal && strcmp(terminal, "dumb") != 0 && isatty(fd);
}

int cmd_say(const Diag *diag, int status)
{
    Buf out = {0};
    progress_end();
    diag_show(diag, cmd_colour(STDERR_FILENO), &out);
    if (out.len)
        fwrite(out.at, 1, out.len, stderr);
    buf_free(&out);
    return status;
}

void cmd_print(Buf *text)
{
    progress_end();
    fwrite(text->at ? text->at : "", 1, text->len, stdout);
    buf_free(text);
}

/* --- verdicts ------------------------------------------------------------------------------ */

/* The directory whose texts may be shown: a kernel names its own file (`#line`), and must not have another one of the
 * user's printed. */
typedef struct Candidate {
    Arena *arena;
    char root[PATH_MAX]; /* its directory, links resolved */
    const char *last;    /* file, of which `text` is the text */
    Str text;
} Candidate;

/* A path as findings give it: as typed, or relative to the candidate's directory. */
static bool resolve(const Candidate *c, const char *file, char *to)
{
    size_t len = strlen(c->root);
    const char *joined = str_format(c->arena, "%s/%s", c->root, file);
    bool found = realpath(file, to) && !strncmp(to, c->root, len) && to[len] == '/';
    if (!found)
        found = realpath(joined, to) && !strncmp(to, c->root, len) && to[len] == '/';
    return found;
}

static Str source_of(void *context, const char *file)
{
    Candidate *c = context;
    char path[PATH_MAX];
    if (c->last && !strcmp(c->last, file))
        return c->text;
    c->last = file;
    c->text = (Str){0};
    Diag unheard = diag_make(c->arena, file, (Str){0});
    if (!resolve(c, file, path) || !file_is_plain(path) ||
        !file_read(c->arena, path, 16 << 20, &c->text, &unheard))
        c->text = (Str){0};
    return c->text;
}

void cmd_show_verdict(Arena *arena, const char *path, const Verdict *verdict, Buf *out)
{
    Candidate c = {.arena = arena};
    VerdictShow how = {.colour = cmd_colour(STDOUT_FILENO), .context = &c};
    const char *dir = file_is_dir(path) ? path : path_dir(arena, path);
    if (realpath(*dir ? dir : ".", c.root))
        how.source = source_of;
    verdict_show(verdict, &how, out);
}
