#include "failure.h"

#include <string.h>

void failure_begin(failure *failure, cpng_outcome *outcome) {
  memset(outcome, 0, sizeof *outcome);
  failure->outcome = outcome;
}

_Noreturn void failure_leave(png_structp png, png_const_charp message) {
  failure *failure = png_get_error_ptr(png);
  strncpy(failure->outcome->message, message, sizeof failure->outcome->message - 1);
  failure->outcome->out_of_memory = strstr(message, "emory") != NULL;
  longjmp(failure->escape, 1);
}

void failure_ignore(png_structp png, png_const_charp message) {
  (void)png;
  (void)message;
}
