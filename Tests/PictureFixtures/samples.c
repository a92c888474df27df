#include "PictureFixtures.h"

#include <math.h>
#include <stdlib.h>

void fixture_wave(uint8_t *samples, int width, int height, int channels, double length) {
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) {
      for (int channel = 0; channel < channels; channel++) {
        double value = sin((double)(x * (channel + 2)) / length / 9) +
                       cos((double)(y * (channel + 1)) / length / 7);
        *samples++ = (uint8_t)(128 + value * 55);
      }
    }
  }
}

void fixture_noise(uint8_t *samples, size_t count, uint8_t mask, int limit) {
  uint32_t state = 12345;
  for (size_t index = 0; index < count; index++) {
    state = state * 1664525 + 1013904223;
    uint8_t value = (uint8_t)(state >> 24);
    samples[index] = limit > 0 ? (uint8_t)(value % limit) : value & mask;
  }
}

int fixture_largest_difference_8(const void *one, const void *other, size_t count) {
  const uint8_t *left = one, *right = other;
  int most = 0;
  for (size_t index = 0; index < count; index++) {
    int difference = abs(left[index] - right[index]);
    if (difference > most) most = difference;
  }
  return most;
}

int fixture_largest_difference_16(const void *one, const void *other, size_t count) {
  const uint16_t *left = one, *right = other;
  int most = 0;
  for (size_t index = 0; index < count; index++) {
    int difference = abs(left[index] - right[index]);
    if (difference > most) most = difference;
  }
  return most;
}

double fixture_squared_difference(const void *one, const void *other, size_t count,
                                  bool skips_fourth) {
  const uint8_t *left = one, *right = other;
  double total = 0;
  for (size_t index = 0; index < count; index++) {
    if (skips_fourth && index % 4 == 3) continue;
    double difference = left[index] - right[index];
    total += difference * difference;
  }
  return total;
}

uint32_t fixture_crc(uint32_t crc, const void *bytes, size_t count) {
  const uint8_t *all = bytes;
  for (size_t index = 0; index < count; index++) {
    crc ^= all[index];
    for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0xEDB88320 : crc >> 1;
  }
  return crc;
}
