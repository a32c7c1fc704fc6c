/* Text for man(7); see man.h. */
#include "cmd/man.h"

#include "base/version.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void man_head(const char *name) { printf(".TH %s 1 \"\" \"acraft " ACRAFT_VERSION "\"\n", name); }

/* A line may not begin with a stop or a quote, a hyphen is no minus, a backslash is itself. */
static void put(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        bool begins = i == 0 || text[i - 1] == '\n';
        if (begins && (text[i] == '.' || text[i] == '\''))
            fputs("\\&", stdout);
        if (text[i] == '\\')
            fputs("\\e", stdout);
        else if (text[i] == '-')
            fputs("\\-", stdout);
        else
            putchar(text[i]);
    }
    putchar('\n');
}

void man_text(const char *text) { put(text, strlen(text)); }

void man_sentence(const char *text)
{
    char line[256];
    size_t len = 0;
    for (; text[len] && len < sizeof line - 1; len++) {
        if (text[len] == '.' && (text[len + 1] == 0 || strchr(" \n", text[len + 1])))
            break;
        line[len] = text[len] == '\n' ? ' ' : text[len];
    }
    put(line, len);
}
