// pixman (which Cairo itself stands on), opened when the first picture is drawn on rather than when the program starts:
// it blends pixels.
#ifndef LARDER_CPIXMAN_H
#define LARDER_CPIXMAN_H

#include <pixman-1/pixman.h>

/// Opens the library; safe from any thread; later calls cost nothing.
///
/// Before it has returned NULL once, no function of pixman may be called.
///
/// @return NULL when it is there, else the dynamic loader's words, which stay valid.
const char *cpixman_open(void);

#endif
