// A mesh of all who will ever be members, open for as long as the process lives: what meshes of
// epochs are made of where connections cannot be made anew for each (epoch_mesh.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/net/mesh/mesh.h"

namespace tributary {

class LastingMesh : public Mesh {
 public:
  // What waits for a member and is not yet on its way is let go of. Returns how many bytes.
  virtual std::size_t forget(std::uint32_t member) = 0;
  // The member's part of waiting_bytes().
  virtual std::size_t waiting_bytes_for(std::uint32_t member) const = 0;
};

}  // namespace tributary
