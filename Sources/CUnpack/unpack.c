// SwiftPM needs a source file in a C module.
#include "CUnpack.h"
