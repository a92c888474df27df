// The parameters that a JPEG takes from its source file. These jump: call them under a setjmp.
#ifndef LARDER_CJPEG_LIKE_H
#define LARDER_CJPEG_LIKE_H

#include "session.h"

// Gives `target` the colour space, the sampling factors and the quantization tables of `source`, as they
// are. Each component keeps the table of its own first scan, where that is read: a file may redefine
// its tables between two scans, which jpeg_copy_critical_parameters refuses.
void like_start(j_decompress_ptr source, j_compress_ptr target);

// Makes the parameters of `like_start` fit for an encoder: it would divide by a zero in a table,
// and by an eighth of 65,536, and cannot interleave more than ten blocks.
void clamp_tables(j_compress_ptr target);

// The chroma sampling: 420, 422 or 444 in a picture with colours; 0 leaves it as it is.
void like_chroma(j_compress_ptr target, int chroma);

// The standard's tables at a quality, for every component; 0 leaves those that are there.
void like_quality(j_compress_ptr target, int quality);

// The same, where one of the tables that are there is coarser.
void raise_quality(j_compress_ptr target, int quality);

#endif
