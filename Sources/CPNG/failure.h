// What libpng calls when something is wrong.
#ifndef LARDER_CPNG_FAILURE_H
#define LARDER_CPNG_FAILURE_H

#include <setjmp.h>

#include <png.h>

#include "CPNG.h"

// Where a sequence of calls goes on when one of them fails, be it of the reader or of the writer.
typedef struct {
  jmp_buf escape;
  cpng_outcome *outcome;
} failure;

void failure_begin(failure *failure, cpng_outcome *outcome);

_Noreturn void failure_leave(png_structp png, png_const_charp message);

void failure_ignore(png_structp png, png_const_charp message);

#endif
