// A look at a picture before a part of it is taken, of which all is read once. These jump: call them under a setjmp.
#ifndef LARDER_CJPEG_LOOK_H
#define LARDER_CJPEG_LOOK_H

#include "packed.h"

// Reads all coefficients of a picture in one scan, in the place of jpeg_start_decompress; the pixels of any region can be
// had afterwards.
void look_hold(j_decompress_ptr source, packed_coefficients *held, long most);

// Asks for the region, once all are read.
cjpeg_region look_choose(j_decompress_ptr source, packed_coefficients *held, const cjpeg_chooser *chooser);

#endif
