// pixman.h includes its neighbour from a folder that only pkg-config names, and SwiftPM would then
// link the libraries that pkg-config names.
#include <pixman-1/pixman-version.h>
