#include "CPixman.h"

// From 0.42.2 on, no shape makes pixman write beyond its buffer (CVE-2022-44638): texts are drawn with it.
#if PIXMAN_VERSION < PIXMAN_VERSION_ENCODE(0, 42, 2)
#error "pixman 0.42.2 or later is needed"
#endif
