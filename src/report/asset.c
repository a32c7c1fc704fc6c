/* The style sheet and the scripts of the page, kept as files of their own (page.css, *.js) and
 * included in the program by the assembler, because C17 has no #embed. */
#include "report/report_int.h"

#define EMBED_BEGIN(name) ".global " #name "\n" #name ":\n"
#define EMBED_END(name) ".global " #name "_end\n" #name "_end:\n.byte 0\n"
#define EMBED_FILE(file) ".incbin \"src/report/" file "\"\n"

__asm__(".section .rodata\n"
        /* clang-format off */
        EMBED_BEGIN(report_style)
        EMBED_FILE("page.css")
        EMBED_END(report_style)
        EMBED_BEGIN(report_code)
        ".ascii \"'use strict';(function(){\\n\"\n"
        EMBED_FILE("page.js")
        EMBED_FILE("attempt.js")
        EMBED_FILE("timeline.js")
        ".ascii \"start();})();\\n\"\n"
        EMBED_END(report_code)
        /* clang-format on */
        ".text\n");
