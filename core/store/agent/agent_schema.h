// The tables of an agent's journal; docs/journal.md describes them.
#pragma once

#include "core/store/database/migrations.h"

namespace tributary {

extern const Schema kAgentSchema;

}  // namespace tributary
