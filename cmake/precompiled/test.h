// The precompiled headers of test programs, in addition to those of the libraries: GoogleTest.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
