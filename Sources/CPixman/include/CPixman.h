// pixman, on which Cairo is built: it composites pixels.
#ifndef LARDER_CPIXMAN_H
#define LARDER_CPIXMAN_H

#include <pixman-1/pixman.h>

#endif
