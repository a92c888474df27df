// What Swift's own Glibc module leaves out.
#ifndef LARDER_CGLIBC_H
#define LARDER_CGLIBC_H

/// Lets all threads share so many heaps. malloc.h is not part of Swift's Glibc module.
void larder_limit_heaps(int count);

#endif
