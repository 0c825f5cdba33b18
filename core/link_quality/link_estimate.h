// What a member knows of its line.
#pragma once

namespace tributary {

struct LinkEstimate {
  double alpha_s = 0;          // from the last bit sent to the last bit received: half a round trip
  double beta_s_per_byte = 0;  // of its own line, in each direction
};

}  // namespace tributary
