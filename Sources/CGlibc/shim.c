#include "CGlibc.h"

#include <malloc.h>

void larder_limit_heaps(int count) { mallopt(M_ARENA_MAX, count); }
