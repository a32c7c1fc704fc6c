/* acraft fmt: the canonical spelling of a Craft file. */
#include "cmd/cmd.h"
#include "craft/craft.h"
#include <stdio.h>

static int format_file(Arena *arena, const char *path, bool check, const char *into)
{
    Str text;
    Diag diag = diag_make(arena, path, (Str){0});
    if (!file_read(arena, path, 0, &text, &diag))
        return cmd_say(&diag, CMD_USAGE);
    diag.source = text;
    CraftFile *file = craft_read(arena, path, text, &diag);
    if (!file || !diag_ok(&diag))
        return cmd_say(&diag, CMD_NO);
    Buf out = {0};
    int status = CMD_OK;
    craft_format(file, &out);
    if (check) {
        status = str_equal(buf_view(&out), text) ? CMD_OK : CMD_NO;
        if (status)
            printf("%s is not in canonical spelling\n", path);
    } else if (into) {
        status = file_write(into, buf_view(&out), &diag) ? CMD_OK : cmd_say(&diag, CMD_USAGE);
    } else if (out.len) {
        fwrite(out.at, 1, out.len, stdout);
    }
    buf_free(&out);
    return status;
}

int cmd_fmt(int argc, char **argv)
{
    bool check = false;
    const char *into = NULL;
    const CmdOption options[] = {
        {"check", CMD_FLAG, &check, NULL, "only say whether the file is canonical"},
        {"o", CMD_TEXT, &into, "FILE", "write there (the file itself is allowed)"},
    };
    CmdUsage usage = {"fmt",
                      "FILE.craft",
                      "Prints the canonical spelling of a Craft file.",
                      "acraft fmt examples/softmax.craft",
                      options,
                      2,
                      1,
                      1};
    CmdArgs args = {0};
    int status = CMD_OK;
    if (cmd_read(&usage, argc, argv, &args, &status))
        status = format_file(&args.arena, args.words[0], check, into);
    cmd_done(&args);
    return status;
}
