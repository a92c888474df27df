// pixman, which composites pixels; Cairo is built on it.
#ifndef LARDER_CPIXMAN_H
#define LARDER_CPIXMAN_H

#include <pixman-1/pixman.h>

#endif
