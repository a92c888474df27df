// pixman.h asks for its neighbour as if in a folder that only pkg-config names, and SwiftPM would then link what
// pkg-config names.
#include <pixman-1/pixman-version.h>
