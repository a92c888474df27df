// Fetches URLs one after the other over one connection; what comes is counted and forgotten.
#ifndef CFETCH_H
#define CFETCH_H

// Bytes of all bodies, or -1 when one cannot be had.
long cfetch(const char *const *urls, int count);

#endif
