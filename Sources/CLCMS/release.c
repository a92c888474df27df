#include "CLCMS.h"

// From 2.9 on, no profile makes littlecms read beyond its buffer (CVE-2016-10165): profiles come with pictures.
#if LCMS_VERSION < 2090
#error "lcms2 2.9 or later is needed"
#endif
