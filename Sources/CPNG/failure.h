// What libpng calls when something is wrong.
#ifndef LARDER_CPNG_FAILURE_H
#define LARDER_CPNG_FAILURE_H

#include <png.h>

#include "CPNG.h"

_Noreturn void failure_leave(png_structp png, png_const_charp message);

void failure_ignore(png_structp png, png_const_charp message);

#endif
