// The callbacks of libpng for errors and warnings.
#ifndef LARDER_CPNG_FAILURE_H
#define LARDER_CPNG_FAILURE_H

#include <setjmp.h>

#include <png.h>

#include "CPNG.h"

// From 1.6.35 on, no header makes libpng divide by zero (CVE-2018-13785).
#if PNG_LIBPNG_VER < 10635
#error "libpng 1.6.35 or later is needed"
#endif

// Where libpng jumps to when a call of the reader or the writer fails, and how many bytes
// libpng may still allocate.
typedef struct {
  jmp_buf escape;
  cpng_outcome *outcome;
  long memory;
} failure;

void failure_begin(failure *failure, cpng_outcome *outcome, long memory);

// libpng tells a lack of memory by the words of its error alone: its allocations go through these, which note the lack.
png_voidp failure_allocate(png_structp png, png_alloc_size_t size);
void failure_free(png_structp png, png_voidp block);

// Ends the sequence because there is no memory for the caller's own data.
_Noreturn void failure_no_memory(png_structp png);

_Noreturn void failure_leave(png_structp png, png_const_charp message);

void failure_ignore(png_structp png, png_const_charp message);

#endif
