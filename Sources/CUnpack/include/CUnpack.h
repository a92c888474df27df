// The declarations of zlib.
#ifndef LARDER_CUNPACK_H
#define LARDER_CUNPACK_H

#include <zlib.h>

#endif
