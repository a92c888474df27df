// The callbacks of libpng for errors and warnings.
#ifndef LARDER_CPNG_FAILURE_H
#define LARDER_CPNG_FAILURE_H

#include <setjmp.h>

#include <png.h>

#include "CPNG.h"

// Before 1.6.35, a header could make libpng divide by zero (CVE-2018-13785).
#if PNG_LIBPNG_VER < 10635
#error "libpng 1.6.35 or later is needed"
#endif

// The target to which libpng jumps when a call fails, and the number of bytes that libpng may still allocate.
typedef struct {
  jmp_buf escape;
  cpng_outcome *outcome;
  long memory;
} failure;

void failure_begin(failure *failure, cpng_outcome *outcome, long memory);

// libpng reports a lack of memory only in the text of its error. So its allocations go through these functions, which
// note a lack of memory in the outcome.
png_voidp failure_allocate(png_structp png, png_alloc_size_t size);
void failure_free(png_structp png, png_voidp block);

// Jumps out (longjmp) after a caller could not allocate memory for its own data.
_Noreturn void failure_no_memory(png_structp png);

_Noreturn void failure_leave(png_structp png, png_const_charp message);

void failure_ignore(png_structp png, png_const_charp message);

#endif
