// pixman.h includes a file of this name, whose folder only pkg-config knows. If the package used pkg-config, SwiftPM
// would also link the libraries that pkg-config names.
#include <pixman-1/pixman-version.h>
