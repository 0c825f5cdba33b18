#pragma once

#include "cmake/precompiled/standard.h"
#include "schemas/frame_generated.h"
