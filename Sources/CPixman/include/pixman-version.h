// pixman.h includes this file from a folder that only pkg-config knows, and with pkg-config SwiftPM would link the
// libraries that it names.
#include <pixman-1/pixman-version.h>
