/* Hazards and the second checker beside a run. In: the simulator, in its own process. Out: what they saw,
 * as a row of bytes that the tool's process reads. */
#include "tools/mutate/mutate.h"

#include "sim/hazard.h"
#include "twin/row.h"
#include <string.h>

static void open_checkers(void *context, Sim *sim)
{
    Watch *w = context;
    w->hazard = hazard_open(sim, w->strict);
    w->proof = proof_open(sim, w->strict, w->prove);
}

static void collect(void *context, Sim *sim, Buf *out)
{
    Watch *w = context;
    const PairList *loose = proof_loose(w->proof);
    Buf why = {0};
    (void)sim;
    row_put_u64(out, proof_stream(w->proof));
    row_put_u32(out, proof_holds(w->proof, &why));
    row_put_u32(out, loose != NULL);
    row_put_block(out, loose ? loose->at : NULL, loose ? loose->len * sizeof *loose->at : 0);
    row_put_text(out, buf_view(&why));
    row_put_block(out, proof_lines(w->proof), MUTATE_LINES * sizeof(bool));
    buf_free(&why);
    hazard_close(w->hazard);
    proof_close(w->proof);
}

static void receive(void *context, Str bytes)
{
    Watch *w = context;
    Seen *seen = w->seen;
    Row row = {.rest = bytes};
    seen->stream = row_u64(&row);
    seen->ordered = row_u32(&row);
    seen->proved = row_u32(&row);
    Str loose = row_block(&row);
    for (size_t at = 0; at + sizeof(LoosePair) <= loose.len; at += sizeof(LoosePair)) {
        LoosePair pair;
        memcpy(&pair, loose.at + at, sizeof pair);
        vec_push(w->arena, &seen->loose, pair);
    }
    seen->path = str_dup(w->arena, row_text(&row));
    Str lines = row_block(&row);
    if (lines.len == MUTATE_LINES * sizeof(bool))
        seen->lines = memcpy(arena_alloc(w->arena, lines.len), lines.at, lines.len);
}

void watch_run(TwinOptions *options, Watch *watch)
{
    options->prepare = open_checkers;
    options->inspect = collect;
    options->receive = receive;
    options->context = watch;
}
