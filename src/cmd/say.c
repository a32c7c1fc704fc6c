/* What every subcommand does with diagnostics. */
#include "cmd/cmd.h"

#include <stdio.h>

int cmd_say(const Diag *diag, int status)
{
    Buf out = {0};
    diag_print(diag, &out);
    if (out.len)
        fwrite(out.at, 1, out.len, stderr);
    buf_free(&out);
    return status;
}

void cmd_print(Buf *text)
{
    fwrite(text->at ? text->at : "", 1, text->len, stdout);
    buf_free(text);
}
