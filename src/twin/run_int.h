/* Inside a run: the shared memories of one launch and the processes on them. */
#ifndef TWIN_RUN_INT_H
#define TWIN_RUN_INT_H

#include "box/worker.h"
#include "sim/place.h"
#include "sim/turns.h"
#include "twin/rt/share.h"
#include "twin/stream.h"
#include "twin/twin_int.h"

/* Memory that the tool and the simulator write and core processes map. */
typedef struct SharedMemory {
    int fd;
    uint8_t *at;
    size_t bytes, used;
} SharedMemory;

typedef struct GmPlace {
    uint64_t address;
    size_t at, bytes; /* in GM memory, or in the tensor's own */
    int32_t fd;       /* as core processes know it: SHARE_FD_GM or a tensor's */
    size_t repeat;    /* above 0: only these many bytes are there, over and over */
} GmPlace;

typedef struct LaunchMemory {
    SharedMemory launch, rings, gm;
    VEC(GmPlace) tensors; /* by tensor index */
    VEC(GmPlace) lists;   /* by argument index; bytes 0: not a list */
    GmPlace tiling, workspace;
    bool time_only, some_data; /* some_data: constants and tensors that have theirs are known */
    const Stream *only;
    uint32_t together;             /* cores the chip runs at a time */
    size_t image[NPU_SPACE_COUNT]; /* without data: one arbitrary memory for all cores */
    int fds[SHARE_MOST_FDS];       /* what core processes inherit, in their order */
    uint32_t fd_count;             /* with data they get launch and rings only */
    const TwinLaunch *of;
    const TwinLeft *left; /* LaunchSpec */
    SimKind kind;
    TwinSample sample;
} LaunchMemory;

#define SYSTEM_WORKSPACE_BYTES SIM_SYSTEM_WORKSPACE

/* memory.c */
typedef struct LaunchSpec {
    const TwinLaunch *launch;
    SimKind kind;
    const NpuChip *chip;
    bool time_only, some_data;
    const Stream *only;   /* of its cores, one of each kind; NULL: all */
    bool second;          /* the other draw of arbitrary values: every bit inverted */
    bool littered;        /* memories on chip start with other bytes than they do else */
    uint64_t seed;        /* of what scalar reads return without data */
    uint64_t place;       /* TwinOptions */
    bool no_scheduler;    /* SimConfig */
    TwinSample sample;    /* TwinOptions */
    const TwinLeft *left; /* what variables of the text start with; NULL: as the text says */
} LaunchSpec;
bool twin_memory_open(Arena *arena, const LaunchSpec *spec, LaunchMemory *memory, Verdict *verdict);
void twin_memory_close(LaunchMemory *memory);
/* SimConfig.map */
void *twin_memory_for_sim(void *context, const char *name, size_t bytes);
/* SimConfig.image: NULL where no tensor has data. */
const void *twin_memory_image(const LaunchMemory *memory);
bool twin_memory_add_regions(const LaunchMemory *memory, const TwinLaunch *launch, Sim *sim);
/* Fills the shared description, with the filter that cores put on; each core's own part when it starts. */
bool twin_memory_describe(Arena *arena, LaunchMemory *memory, const TwinOptions *options,
                          Str filter, Sim *sim);
bool twin_memory_describe_core(const LaunchMemory *memory, Sim *sim, uint32_t core);
/* Whether a core is an AIC, without making the simulator lay out its memories. */
bool twin_memory_is_cube(const LaunchMemory *memory, Sim *sim, uint32_t core);
void twin_memory_take_outputs(const LaunchMemory *memory);
/* From here on no new mapping of what core processes may only read can be writable. */
bool twin_memory_seal(const LaunchMemory *memory);
/* Whether a GM address lies in what no core may write. */
bool twin_memory_is_fixed(const LaunchMemory *memory, uint64_t address);
/* The bytes of the launch's tensors, with which the simulator's own memory grows. */
uint64_t twin_memory_bytes(const LaunchMemory *memory);
/* A tensor's bytes as the run left them; *kept: those it started with are still there too. */
const uint8_t *twin_memory_tensor(const LaunchMemory *memory, uint32_t tensor, bool *kept);

static inline ShareLaunch *shared_launch(const LaunchMemory *memory)
{
    return (ShareLaunch *)memory->launch.at;
}
static inline ShareCore *shared_core(const LaunchMemory *memory, uint32_t core)
{
    return (ShareCore *)(memory->launch.at + shared_launch(memory)->cores_at) + core;
}
static inline ShareRing *shared_ring(const LaunchMemory *memory, uint32_t core)
{
    return (ShareRing *)memory->rings.at + core;
}

/* Moves records from the rings to the simulator until every core has ended, one died, or none
 * can go on (feed.c). */
typedef struct Feeder Feeder;
typedef enum FeedEnd {
    FEED_DONE,
    FEED_HANG,
    FEED_DEAD_CORE,
    FEED_DEAD_BOX,
    FEED_FORGED,
    FEED_DIFFERS,
    FEED_POLLS, /* every core that goes on waits for a word in GM that nobody changes */
    FEED_END_COUNT
} FeedEnd;
/* A piece of variables as one core has changed it, from what it found at its start. */
typedef struct CoreLeft {
    uint32_t core;
    RecordLeft piece;
} CoreLeft;
typedef VEC(CoreLeft) CoreLefts;
enum { CORE_LEFTS_MOST = 1 << 15 };

typedef struct FeedResult {
    FeedEnd end;
    uint32_t core; /* the one that died, forged or was waited for */
    uint64_t records;
    const char *file; /* of that core's last record; "": not known */
    uint32_t line;
    const char *read_file; /* FEED_DIFFERS: the scalar read before it */
    uint32_t read_line;
    TwinLeft left;  /* in variables of the text; only in the simulator's process */
    CoreLefts each; /* the same, core by core */
} FeedResult;
/* `stream` (NULL: none) notes every record; one that compares takes the simulator's place, and the
 * feeding ends at the first difference. */
FeedResult twin_feed_all(Arena *arena, LaunchMemory *memory, Sim *sim, Stream *stream);

/* How many of a launch's `cores` have a process at the same time, at most. */
uint32_t twin_feed_most(const LaunchMemory *memory, uint32_t cores);

/* Processors of this machine that the tool may use. */
unsigned twin_host_cores(void);

/* What the simulator's process does (simulate.c, BoxWorkerSpec.body). */
typedef struct Simulation {
    Arena *arena;
    const LaunchSpec *spec;
    const TwinOptions *options;
    LaunchMemory *memory;
    Str core_filter; /* made by the tool: a worker cannot */
    Stream *against; /* the other run, to be compared with; NULL: none */
    bool note;       /* keep the records' hashes for another run */
    bool watched;    /* prepare and inspect of the options are called */
} Simulation;
bool twin_simulate(void *context, const BoxWorker *self, Buf *answer);

/* What the simulator's process hands back (answer.c). */
typedef struct SimAnswer {
    uint32_t cores;
    FeedResult feed;
    VEC(SimFault) faults;
    uint64_t left_out;   /* findings that had no room in that list */
    bool unwritten_only; /* sim_reads_unwritten_only */
    Str printed;
    Str seen;       /* of TwinOptions.inspect; points into the bytes */
    TwinLeft left;  /* in variables, by all cores together */
    CoreLefts each; /* by each of them */
} SimAnswer;
/* `seen` by the observers; `stream` may be closed. */
void twin_answer_put(Buf *out, const Sim *sim, const FeedResult *feed, Str seen,
                     const Stream *stream);
/* False: the bytes are not from a simulator. `stream` may be NULL; else the caller closes it in either case. */
bool twin_answer_take(Arena *arena, Str bytes, uint32_t most_cores, SimAnswer *answer,
                      Stream *stream);

/* One launch with its memories and what its processes left. */
typedef struct Launched {
    Arena *arena;
    const TwinKernel *kernel;
    const TwinOptions *options;
    LaunchMemory memory;
    SimAnswer answer;
    BoxResult box;
    BoxWorker simulator;
    bool ready; /* the simulator was; what comes then is for records */
    uint8_t **
        saved; /* copies of the tensors that the launch changes in place, from before it (second.c) */
} Launched;

/* Runs one simulation, from memories to answer. False: the verdict says why there is none
 * (run.c). */
Launched twin_launched_make(Arena *arena, const TwinKernel *kernel, const TwinOptions *options);
bool twin_launched_simulate(Launched *l, const LaunchSpec *spec, Simulation job, Stream *notes,
                            Verdict *verdict);
void twin_launched_close(Launched *l);

/* A launch may change variables of the text; then a second launch is made, and the verdict fails
 * where it does something else. Call `save` before the launch and `drop` at the end (second.c). */
void twin_second_save(Launched *l, const LaunchSpec *spec);
void twin_second_launch(Launched *first, LaunchSpec spec, Verdict *verdict);
void twin_second_drop(Launched *l);

/* Notes which branches of the kernel its cores executed (seen.c). */
void twin_seen_launch(TwinSeen *seen, const Launched *l);

/* Adds the simulator's faults to the verdict (findings.c). */
void twin_findings_add(Arena *arena, const TwinKernel *kernel, SimAnswer *answer, Verdict *verdict);
/* Whether one of them says what acraft lacks; a core's own word for that counts nothing. */
bool twin_findings_lack(const SimAnswer *answer);

#endif
