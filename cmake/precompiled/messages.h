// The precompiled headers of folders that use the messages: the standard library and the code that
// flatc generates, which takes as long to compile as all other headers together.
#pragma once

#include "cmake/precompiled/standard.h"
#include "schemas/frame_generated.h"
