/* GM's bandwidth over time; see cycle_gm.h. */
#include "sim/cycle_gm.h"

#include "base/arena.h"

/* Slots of 256 cycles: a tenth of the time a tile of 32 KiB takes. What lies more than a ring of them back
 * is forgotten; cores of one launch are never that far apart but for those that have long ended. */
enum { SLOT = 256, SLOTS = 4096 };

typedef struct GmSlot {
    uint64_t number; /* 1 + number of the slot in time; 0: never used */
    double chip;     /* bytes moved by the chip */
} GmSlot;

/* One wave of blocks: a ring of slots, each with the bytes moved by every port. */
typedef struct GmWave {
    GmSlot *slots;
    float *ports; /* by slot */
} GmWave;

struct GmTime {
    GmRates rates;
    GmWave *waves;
};

GmTime *gm_time_open(const GmRates *rates)
{
    GmTime *gm = heap_alloc(sizeof *gm);
    gm->rates = *rates;
    gm->waves = heap_alloc((rates->waves + 1) * sizeof *gm->waves);
    return gm;
}

void gm_time_close(GmTime *gm)
{
    for (uint32_t i = 0; gm && i < gm->rates.waves; i++) {
        heap_free(gm->waves[i].slots);
        heap_free(gm->waves[i].ports);
    }
    if (gm)
        heap_free(gm->waves);
    heap_free(gm);
}

static GmWave *wave_of(GmTime *gm, uint32_t number)
{
    GmWave *wave = &gm->waves[number < gm->rates.waves ? number : gm->rates.waves - 1];
    if (!wave->slots) {
        wave->slots = heap_alloc(SLOTS * sizeof *wave->slots);
        wave->ports = heap_alloc((size_t)SLOTS * gm->rates.ports * sizeof *wave->ports);
    }
    return wave;
}

/* The slot of that number, empty if the ring held another. */
static GmSlot *slot_of(GmTime *gm, GmWave *wave, uint64_t number, float **ports)
{
    GmSlot *slot = &wave->slots[number % SLOTS];
    *ports = &wave->ports[number % SLOTS * gm->rates.ports];
    if (slot->number != number + 1) {
        *slot = (GmSlot){.number = number + 1};
        for (uint32_t p = 0; p < gm->rates.ports; p++)
            (*ports)[p] = 0;
    }
    return slot;
}

static double smaller(double a, double b) { return a < b ? a : b; }

/* Written lines leave beside the reads; they take of the chip alone. Gives the time the last is gone. */
static double take_back(GmTime *gm, GmWave *wave, double at, double bytes)
{
    for (uint64_t number = (uint64_t)(at / SLOT); bytes > 0; number++) {
        float *ports;
        GmSlot *slot = slot_of(gm, wave, number, &ports);
        double left = gm->rates.chip * SLOT - slot->chip, taken = smaller(left, bytes);
        if (left <= 0)
            continue;
        slot->chip += taken;
        bytes -= taken;
        at = (double)number * SLOT + SLOT * slot->chip / (gm->rates.chip * SLOT);
    }
    return at;
}

static double take_port(GmTime *gm, GmWave *wave, const GmRequest *r)
{
    const GmRates *rates = &gm->rates;
    double rate = r->port < rates->ports / 2 ? rates->vector_port : rates->cube_port;
    double at = r->start, left = r->bytes;
    for (uint64_t number = (uint64_t)(at / SLOT); left > 0; number++) {
        float *ports;
        GmSlot *slot = slot_of(gm, wave, number, &ports);
        double end = (double)(number + 1) * SLOT, held = end > r->held_from ? r->held * SLOT : 0;
        double here = smaller(rate * SLOT - held - ports[r->port], rates->chip * SLOT - slot->chip);
        here = smaller(here, rate * (end - at)); /* a port is no faster for having stood idle */
        double taken = smaller(here, left);
        if (here > 0) {
            slot->chip += taken;
            ports[r->port] += (float)taken;
            left -= taken;
            at += left > 0 ? 0 : (end - at) * taken / here;
        }
        at = left > 0 ? end : at;
    }
    return at;
}

double gm_time_take(GmTime *gm, const GmRequest *r)
{
    GmWave *wave = wave_of(gm, r->wave);
    double gone = r->back > 0 ? take_back(gm, wave, r->start, r->back) : r->start;
    double end = r->bytes > 0 ? take_port(gm, wave, r) : gone;
    return end > r->start ? end - r->start : 0;
}
