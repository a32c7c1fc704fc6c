/* The text that every generated file begins with, kept as a file of its own (prelude.py) and taken into
 * the program by the assembler, because C17 has no #embed. */
#include "gen/pallas/pallas_int.h"

__asm__(".section .rodata\n"
        ".global pallas_prelude\npallas_prelude:\n"
        ".incbin \"src/gen/pallas/prelude.py\"\n"
        ".global pallas_prelude_end\npallas_prelude_end:\n.byte 0\n"
        ".text\n");
