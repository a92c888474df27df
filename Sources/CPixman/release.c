#include "CPixman.h"

// Cairo draws text with pixman. Before 0.42.2, a shape could make pixman write beyond its buffer (CVE-2022-44638).
#if PIXMAN_VERSION < PIXMAN_VERSION_ENCODE(0, 42, 2)
#error "pixman 0.42.2 or later is needed"
#endif
