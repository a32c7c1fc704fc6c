/* What a simulator process hands back, as a row of bytes (row.h). In, there: the simulator after its
 * last record. Out, in the tool: SimAnswer. The simulator worked on hostile records, so nothing that
 * is read here is assumed. */
#include "twin/run_int.h"

#include "twin/row.h"
#include <string.h>

/* A finding is its fields, then its texts. */
static void put_fault(Buf *out, const SimFault *fault)
{
    buf_add(out, fault, sizeof *fault);
    row_put_text(out, str_from(fault->api ? fault->api : ""));
    row_put_text(out, str_from(fault->file ? fault->file : ""));
    row_put_text(out, str_from(fault->message ? fault->message : ""));
    row_put_text(out, str_from(fault->other_file ? fault->other_file : ""));
    row_put_text(out, str_from(fault->seen_file ? fault->seen_file : ""));
    row_put_text(out, str_from(fault->repair ? fault->repair : ""));
    row_put_text(out, str_from(fault->tensor ? fault->tensor : ""));
}

static const char *take_name(Arena *arena, Row *row) { return str_dup(arena, row_text(row)); }

static SimFault take_fault(Arena *arena, Row *row)
{
    SimFault fault;
    row_take(row, &fault, sizeof fault);
    fault.api = take_name(arena, row);
    fault.file = take_name(arena, row);
    fault.message = take_name(arena, row);
    fault.other_file = take_name(arena, row);
    fault.seen_file = take_name(arena, row);
    fault.repair = take_name(arena, row);
    fault.tensor = take_name(arena, row);
    row->bad = row->bad || fault.code >= SIM_FAULT_COUNT;
    return fault;
}

static void put_feed(Buf *out, const FeedResult *feed)
{
    row_put_u32(out, feed->end);
    row_put_u32(out, feed->core);
    row_put_u64(out, feed->records);
    row_put_text(out, str_from(feed->file ? feed->file : ""));
    row_put_u32(out, feed->line);
    row_put_text(out, str_from(feed->read_file ? feed->read_file : ""));
    row_put_u32(out, feed->read_line);
}

static FeedResult take_feed(Arena *arena, Row *row)
{
    uint32_t end = row_u32(row);
    FeedResult feed = {.end = (FeedEnd)end, .core = row_u32(row), .records = row_u64(row)};
    feed.file = take_name(arena, row);
    feed.line = row_u32(row);
    feed.read_file = take_name(arena, row);
    feed.read_line = row_u32(row);
    row->bad = row->bad || end >= FEED_END_COUNT;
    return feed;
}

/* Pieces as they are. */
static void put_left(Buf *out, const TwinLeft *left)
{
    for (int role = 0; role < 2; role++)
        row_put_block(out, (const char *)left->of[role].at,
                      left->of[role].len * sizeof(RecordLeft));
}

static TwinLeft take_left(Arena *arena, Row *row)
{
    TwinLeft left = {0};
    for (int role = 0; role < 2; role++) {
        Str bytes = row_block(row);
        RecordLeft piece;
        row->bad = row->bad || bytes.len % sizeof piece || bytes.len / sizeof piece > REC_LEFT_MOST;
        for (size_t at = 0; at < bytes.len && !row->bad; at += sizeof piece) {
            memcpy(&piece, bytes.at + at, sizeof piece);
            vec_push(arena, &left.of[role], piece);
        }
    }
    return left;
}

static CoreLefts take_each(Arena *arena, Row *row)
{
    CoreLefts each = {0};
    CoreLeft one;
    Str bytes = row_block(row);
    row->bad = row->bad || bytes.len % sizeof one || bytes.len / sizeof one > CORE_LEFTS_MOST;
    for (size_t at = 0; at < bytes.len && !row->bad; at += sizeof one) {
        memcpy(&one, bytes.at + at, sizeof one);
        vec_push(arena, &each, one);
    }
    return each;
}

void twin_answer_put(Buf *out, const Sim *sim, const FeedResult *feed, Str seen,
                     const Stream *stream)
{
    row_put_u32(out, sim_core_count(sim));
    put_feed(out, feed);
    row_put_u32(out, sim_fault_count(sim));
    for (uint32_t i = 0; i < sim_fault_count(sim); i++)
        put_fault(out, sim_fault(sim, i));
    row_put_u64(out, sim_faults_left_out(sim));
    row_put_u32(out, sim_reads_unwritten_only(sim));
    row_put_block(out, sim_printed(sim).at, sim_printed(sim).len);
    row_put_block(out, seen.at, seen.len);
    put_left(out, &feed->left);
    row_put_block(out, (const char *)feed->each.at, feed->each.len * sizeof(CoreLeft));
    stream_put(stream, out);
}

bool twin_answer_take(Arena *arena, Str bytes, uint32_t most_cores, SimAnswer *answer,
                      Stream *stream)
{
    Row row = {.rest = bytes};
    *answer = (SimAnswer){.cores = row_u32(&row)};
    answer->feed = take_feed(arena, &row);
    uint32_t faults = row_u32(&row);
    for (uint32_t i = 0; i < faults && !row.bad; i++) {
        SimFault fault = take_fault(arena, &row);
        if (!row.bad)
            vec_push(arena, &answer->faults, fault);
    }
    answer->left_out = row_u64(&row);
    answer->unwritten_only = row_u32(&row);
    answer->printed = str_copy(arena, row_block(&row));
    answer->seen = row_block(&row);
    answer->left = take_left(arena, &row);
    answer->each = take_each(arena, &row);
    Stream taken = stream_take(&row, most_cores);
    if (stream)
        *stream = taken;
    else
        stream_close(&taken);
    return !row.bad && !row.rest.len && answer->cores <= most_cores &&
           (answer->feed.core < answer->cores || answer->cores == 0);
}
