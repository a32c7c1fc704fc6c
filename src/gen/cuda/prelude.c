/* The text that every generated file begins with, kept as a file of its own (prelude.cuh) and taken into
 * the program by the assembler, because C17 has no #embed. */
#include "gen/cuda/cuda_int.h"

__asm__(".section .rodata\n"
        ".global cuda_prelude\ncuda_prelude:\n"
        ".incbin \"src/gen/cuda/prelude.cuh\"\n"
        ".global cuda_prelude_end\ncuda_prelude_end:\n.byte 0\n"
        ".text\n");
