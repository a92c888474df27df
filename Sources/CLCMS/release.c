#include "CLCMS.h"

// The profiles in pictures are untrusted. Before 2.9, a profile could make littlecms read beyond its buffer
// (CVE-2016-10165).
#if LCMS_VERSION < 2090
#error "lcms2 2.9 or later is needed"
#endif
