// Copies parameters from a source JPEG to a new one. These functions may longjmp: call them under a setjmp.
#ifndef LARDER_CJPEG_LIKE_H
#define LARDER_CJPEG_LIKE_H

#include "session.h"

// Gives `target` the colour space, the sampling factors and the quantization tables of `source`, unchanged. Each
// component keeps the table of its own first scan, if that has been read. (A file may redefine its tables between two
// scans, which jpeg_copy_critical_parameters refuses.)
void like_start(j_decompress_ptr source, j_compress_ptr target);

// Makes the parameters from `like_start` valid for an encoder. A zero in a table would be a divisor, and a value above
// 65,535 / 8 would overflow when it is multiplied by eight. An interleaved unit may have at most ten blocks.
void clamp_tables(j_compress_ptr target);

// Sets the chroma subsampling, 420, 422 or 444, of a picture with chroma; 0 leaves it as it is.
void like_chroma(j_compress_ptr target, int chroma);

// Sets the standard's tables at a quality for every component; 0 leaves the tables as they are.
void like_quality(j_compress_ptr target, int quality);

// Does the same if one of the present tables is coarser.
void raise_quality(j_compress_ptr target, int quality);

#endif
