// Fetches URLs one after the other over one connection; bodies are counted and discarded.
#ifndef CFETCH_H
#define CFETCH_H

// The bytes of all bodies, or -1 if a request failed.
long cfetch(const char *const *urls, int count);

#endif
