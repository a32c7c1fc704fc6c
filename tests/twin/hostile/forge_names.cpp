// Announces endless names.
// want: not-compiled no AscendC header
// open: hazard|forged|timeout|output
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    for (unsigned i = 0; i < 200000; i++) {
        if (acraft_core.cursor == acraft_core.limit)
            acraft_ring_full();
        RecordText *t = (RecordText *)acraft_core.cursor++;
        *t = RecordText{};
        t->op = REC_TEXT;
        t->kind = REC_TEXT_NAME;
        t->more = 1;
        t->id = (unsigned short)i;
        t->length = 65535;
    }
}
