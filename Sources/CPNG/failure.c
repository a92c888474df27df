#include "failure.h"

#include <string.h>

_Noreturn void failure_leave(png_structp png, png_const_charp message) {
  cpng_outcome *outcome = png_get_error_ptr(png);
  strncpy(outcome->message, message, sizeof outcome->message - 1);
  outcome->out_of_memory = strstr(message, "emory") != NULL;
  png_longjmp(png, 1);
}

void failure_ignore(png_structp png, png_const_charp message) {
  (void)png;
  (void)message;
}
