// The tables of a coordinator's journal; docs/journal.md describes them.
//
// Released steps never change; a new version is a further step. core/store/released has the tables
// of every released version for the tests.
#pragma once

#include "core/store/database/migrations.h"

namespace tributary {

// Version that introduced slots of large chunks.
inline constexpr std::uint32_t kSlotsSince = 5;

const Migrations& coordinator_migrations();

}  // namespace tributary
