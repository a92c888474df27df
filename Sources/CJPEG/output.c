#include "output.h"

static void begin(j_compress_ptr target) {
  memory_output *output = (memory_output *)target->dest;
  output->manager.next_output_byte = output->bytes;
  output->manager.free_in_buffer = output->size;
}

static boolean grow(j_compress_ptr target) {
  memory_output *output = (memory_output *)target->dest;
  bool in_room = output->bytes == output->room;
  uint8_t *bytes = realloc(in_room ? NULL : output->bytes, output->size * 2);
  if (bytes == NULL) ERREXIT1(target, JERR_OUT_OF_MEMORY, 0);
  if (in_room) memcpy(bytes, output->room, output->size);
  output->bytes = bytes;
  output->manager.next_output_byte = bytes + output->size;
  output->manager.free_in_buffer = output->size;
  output->size *= 2;
  return TRUE;
}

static void end(j_compress_ptr target) {
  memory_output *output = (memory_output *)target->dest;
  output->count = output->size - output->manager.free_in_buffer;
}

void output_open(memory_output *output, j_compress_ptr target) {
  output->manager.init_destination = begin;
  output->manager.empty_output_buffer = grow;
  output->manager.term_destination = end;
  target->dest = &output->manager;
}

void output_end(memory_output *output, uint8_t **out, size_t *out_count) {
  *out = output->bytes;
  *out_count = output->count;
}

void output_abandon(memory_output *output) {
  if (output->bytes != output->room) free(output->bytes);
}
