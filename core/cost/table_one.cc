#include "core/cost/table_one.h"

#include <cmath>

namespace tributary::table_one {
namespace {

double cost(const LinkEstimate& link, double alphas, double bytes) {
  return alphas * link.alpha_s + bytes * link.beta_s_per_byte;
}

}  // namespace

double star(std::uint32_t n, double bytes, const LinkEstimate& link) {
  return cost(link, 2, 2 * (n - 1.0) * bytes);
}

double ring(std::uint32_t n, double bytes, const LinkEstimate& link) {
  return cost(link, 2 * (n - 1.0), 2 * (n - 1.0) / n * bytes);
}

double tree(std::uint32_t n, double bytes, const LinkEstimate& link) {
  return cost(link, 2 * std::log2(n), 2 * std::log2(n) * bytes);
}

double broadcast(std::uint32_t n, double bytes, const LinkEstimate& link) {
  return cost(link, std::log2(n), std::log2(n) * bytes);
}

double all_gather(std::uint32_t n, double bytes, const LinkEstimate& link) {
  return cost(link, std::log2(n), (n - 1.0) * bytes);
}

double ar_top_k_ring(std::uint32_t n, double kept_bytes, const LinkEstimate& link) {
  return broadcast(n, kept_bytes, link) + ring(n, kept_bytes, link);
}

double ar_top_k_tree(std::uint32_t n, double kept_bytes, const LinkEstimate& link) {
  return broadcast(n, kept_bytes, link) + tree(n, kept_bytes, link);
}

double top_k_all_gather(std::uint32_t n, double kept_bytes, const LinkEstimate& link) {
  return all_gather(n, 2 * kept_bytes, link);
}

}  // namespace tributary::table_one
