// pixman (which Cairo itself stands on): it blends pixels.
#ifndef LARDER_CPIXMAN_H
#define LARDER_CPIXMAN_H

#include <pixman-1/pixman.h>

#endif
