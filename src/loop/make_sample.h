/* Cases stored beside a project, for whoever runs it on a board: cases/NAME/in_X.npy, out_Y.npy. */
#ifndef LOOP_MAKE_SAMPLE_H
#define LOOP_MAKE_SAMPLE_H

#include "loop/make.h"

typedef struct MakeSample {
    const char *path; /* "cases/tiny/in_x.npy" */
    Str bytes;
} MakeSample;
typedef VEC(MakeSample) MakeSamples;

/* Up to two cases of up to a million elements; none where the program takes no size as small. */
void make_samples(Arena *arena, const MakeSpec *spec, MakeResult *result, MakeSamples *out);

#endif
