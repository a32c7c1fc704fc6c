/* Whatever -DBODY says, between the queues of the frame. */
#include "frame.h"

#ifndef INPUTS
#define INPUTS 1
#endif
KERNEL(INPUTS, BODY)
