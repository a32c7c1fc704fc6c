/* The frame of a page: head with its policy, the line that says what the figures are, the foot.
 *
 * The policy names the hashes of our style and script, so that nothing else in the page can run
 * or load, whatever a model wrote. */
#include "report/report_int.h"

#include "base/hash.h"
#include <string.h>

static uint8_t nibble(char c) { return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10); }

static void put_hash(Buf *out, const char *from, const char *end)
{
    char hex[65];
    uint8_t raw[32];
    Sha256 sha = sha256_begin();
    sha256_add(&sha, from, (size_t)(end - from));
    sha256_end(&sha, hex);
    for (int i = 0; i < 32; i++)
        raw[i] = (uint8_t)(nibble(hex[2 * i]) << 4 | nibble(hex[2 * i + 1]));
    buf_puts(out, "'sha256-");
    report_base64(out, raw, sizeof raw);
    buf_puts(out, "'");
}

static void put_policy(Buf *out, bool live)
{
    buf_puts(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                  "base-uri 'none'; form-action 'none'; style-src ");
    put_hash(out, report_style, report_style_end);
    buf_puts(out, "; script-src ");
    put_hash(out, report_code, report_code_end);
    buf_puts(out, live ? "; connect-src 'self'\">\n" : "\">\n");
}

void report_open(Buf *out, const char *title, const char *claim, bool live)
{
    buf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    put_policy(out, live);
    buf_puts(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<meta name=\"referrer\" content=\"no-referrer\">\n<title>");
    report_puts(out, title);
    buf_puts(out, "</title>\n<style>");
    buf_add(out, report_style, (size_t)(report_style_end - report_style));
    buf_printf(out,
               "</style>\n</head>\n<body%s>\n<header class=\"top\"><a class=\"home\" href=\"#\">"
               "acraft</a><span class=\"claim\">%s</span><button id=\"theme\" type=\"button\" "
               "aria-label=\"light or dark\">light / dark</button></header>\n<main>\n",
               live ? " class=\"live\"" : "", claim);
}

void report_close(Buf *out, const char *version, const char *words)
{
    buf_puts(out, "</main>\n<footer>Written by acraft ");
    report_puts(out, version);
    buf_printf(out, ".%s</footer>\n<script>", words);
    buf_add(out, report_code, (size_t)(report_code_end - report_code));
    buf_puts(out, "</script>\n</body>\n</html>\n");
}
