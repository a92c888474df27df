#include "failure.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

void failure_begin(failure *failure, cpng_outcome *outcome, long memory) {
  memset(outcome, 0, sizeof *outcome);
  failure->outcome = outcome;
  failure->memory = memory;
}

png_voidp failure_allocate(png_structp png, png_alloc_size_t size) {
  failure *failure = png_get_mem_ptr(png);
  bool is_allowed = failure->memory > 0 && size <= (png_alloc_size_t)failure->memory;
  void *block = is_allowed ? malloc(size) : NULL;
  if (block == NULL) {
    failure->outcome->out_of_memory = true;
  } else {
    failure->memory -= (long)malloc_usable_size(block);
  }
  return block;
}

void failure_free(png_structp png, png_voidp block) {
  failure *failure = png_get_mem_ptr(png);
  failure->memory += (long)malloc_usable_size(block);
  free(block);
}

_Noreturn void failure_no_memory(png_structp png) {
  failure *failure = png_get_error_ptr(png);
  failure->outcome->out_of_memory = true;
  png_error(png, "there is not enough memory");
}

_Noreturn void failure_leave(png_structp png, png_const_charp message) {
  failure *failure = png_get_error_ptr(png);
  strncpy(failure->outcome->message, message, sizeof failure->outcome->message - 1);
  longjmp(failure->escape, 1);
}

void failure_ignore(png_structp png, png_const_charp message) {
  (void)png;
  (void)message;
}
