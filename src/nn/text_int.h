/* What the classifiers of texts share. */
#ifndef NN_TEXT_INT_H
#define NN_TEXT_INT_H

#include <stdint.h>

void text_softmax(float *p, uint32_t count); /* in place */
uint32_t text_largest(const float *p, uint32_t count);

#endif
