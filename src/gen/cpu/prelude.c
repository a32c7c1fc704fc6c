/* The text that every generated file begins with, kept as a file of its own (prelude.h) and taken into
 * the program by the assembler, because C17 has no #embed. */
#include "gen/cpu/cpu_int.h"

__asm__(".section .rodata\n"
        ".global cpu_prelude\ncpu_prelude:\n"
        ".incbin \"src/gen/cpu/prelude.h\"\n"
        ".global cpu_prelude_end\ncpu_prelude_end:\n.byte 0\n"
        ".text\n");
