// Copies parameters from a source JPEG to a new JPEG. These functions may longjmp, so call them under a setjmp.
#ifndef LARDER_CJPEG_LIKE_H
#define LARDER_CJPEG_LIKE_H

#include "session.h"

// Gives `target` the colour space, the sampling factors and the quantization tables of `source`, unchanged. Each
// component gets the table of its own first scan, if that scan has been read. A file may redefine its tables between
// two scans, and jpeg_copy_critical_parameters refuses such a file.
void like_start(j_decompress_ptr source, j_compress_ptr target);

// Makes the parameters from `like_start` valid for an encoder. An encoder cannot divide by a zero in a table. A value
// above 65,535 / 8 would overflow when the encoder multiplies it by eight. An interleaved unit may have at most ten
// blocks.
void clamp_tables(j_compress_ptr target);

// Swaps the axes of the sampling factors and of the quantization tables, because the axes of the picture are swapped.
void like_transposed(j_compress_ptr target);

// Sets the chroma subsampling to 420, 422 or 444, if the picture has chroma. 0 leaves it as it is.
void like_chroma(j_compress_ptr target, int chroma);

// Gives every component the quantization tables of the JPEG standard at `quality`. 0 leaves the tables as they are.
void like_quality(j_compress_ptr target, int quality);

// Calls `like_quality` if the table of any component is coarser than the standard's table at `cjpeg_least_fine`.
void raise_quality(j_compress_ptr target);

#endif
