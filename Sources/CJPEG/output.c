#include "output.h"

void output_begin(memory_output *output, size_t guess) {
  output->first = malloc(guess);
  output->bytes = output->first;
  output->count = output->first ? guess : 0;
}

void output_end(memory_output *output, uint8_t **out, size_t *out_count) {
  if (output->bytes != output->first) free(output->first);
  *out = output->bytes;
  *out_count = output->count;
}

void output_abandon(memory_output *output) {
  if (output->bytes != output->first) free(output->bytes);
  free(output->first);
}

void keep_adobe(j_compress_ptr target, j_decompress_ptr source) {
  if (source->num_components == 4) target->write_Adobe_marker = source->saw_Adobe_marker;
}
