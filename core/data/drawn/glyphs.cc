#include "core/data/drawn/glyphs.h"

#include <array>
#include <cassert>

namespace tributary {
namespace {

// Names are k, digit, style letter, stroke number: k2c1 is the first stroke of the third style of
// digit 2. The points were chosen by hand.
constexpr Point k0a1[] = {{0.5f, 0},     {0.15f, 0.2f}, {0.05f, 0.5f}, {0.15f, 0.8f}, {0.5f, 1},
                          {0.85f, 0.8f}, {0.95f, 0.5f}, {0.85f, 0.2f}, {0.5f, 0}};
constexpr Stroke k0a[] = {k0a1};
constexpr Point k0b1[] = {{0.62f, 0.02f}, {0.3f, 0.12f},  {0.12f, 0.5f}, {0.25f, 0.92f}, {0.5f, 1},
                          {0.78f, 0.8f},  {0.86f, 0.42f}, {0.7f, 0.1f},  {0.4f, 0.06f}};
constexpr Stroke k0b[] = {k0b1};
constexpr Point k0c1[] = {{0.5f, 0},      {0.12f, 0.25f}, {0.1f, 0.75f}, {0.5f, 1},
                          {0.88f, 0.75f}, {0.9f, 0.25f},  {0.5f, 0}};
constexpr Point k0c2[] = {{0.8f, 0.15f}, {0.2f, 0.85f}};
constexpr Stroke k0c[] = {k0c1, k0c2};
constexpr Glyph k0[] = {k0a, k0b, k0c};

constexpr Point k1a1[] = {{0.5f, 0}, {0.5f, 1}};
constexpr Stroke k1a[] = {k1a1};
constexpr Point k1b1[] = {{0.22f, 0.28f}, {0.52f, 0}};
constexpr Point k1b2[] = {{0.52f, 0}, {0.52f, 1}};
constexpr Stroke k1b[] = {k1b1, k1b2};
constexpr Point k1c1[] = {{0.25f, 0.22f}, {0.52f, 0}};
constexpr Point k1c2[] = {{0.52f, 0}, {0.5f, 1}};
constexpr Point k1c3[] = {{0.2f, 1}, {0.82f, 1}};
constexpr Stroke k1c[] = {k1c1, k1c2, k1c3};
constexpr Glyph k1[] = {k1a, k1b, k1c};

constexpr Point k2a1[] = {{0.1f, 0.25f},  {0.3f, 0.03f}, {0.7f, 0.03f},
                          {0.88f, 0.28f}, {0.6f, 0.62f}, {0.1f, 1}};
constexpr Point k2a2[] = {{0.1f, 1}, {0.92f, 0.98f}};
constexpr Stroke k2a[] = {k2a1, k2a2};
constexpr Point k2b1[] = {{0.15f, 0.2f},  {0.5f, 0},      {0.85f, 0.25f},
                          {0.58f, 0.65f}, {0.22f, 0.97f}, {0.08f, 0.86f},
                          {0.25f, 0.76f}, {0.55f, 0.9f},  {0.95f, 1}};
constexpr Stroke k2b[] = {k2b1};
constexpr Point k2c1[] = {{0.12f, 0.1f}, {0.5f, 0}, {0.82f, 0.2f}, {0.7f, 0.5f}, {0.12f, 0.97f}};
constexpr Point k2c2[] = {{0.12f, 0.97f}, {0.5f, 0.9f}, {0.95f, 0.97f}};
constexpr Stroke k2c[] = {k2c1, k2c2};
constexpr Glyph k2[] = {k2a, k2b, k2c};

constexpr Point k3a1[] = {{0.1f, 0.1f}, {0.5f, 0}, {0.85f, 0.2f}, {0.72f, 0.42f}, {0.4f, 0.48f}};
constexpr Point k3a2[] = {{0.4f, 0.48f}, {0.78f, 0.54f}, {0.92f, 0.76f}, {0.6f, 1}, {0.08f, 0.9f}};
constexpr Stroke k3a[] = {k3a1, k3a2};
constexpr Point k3b1[] = {{0.1f, 0.02f}, {0.85f, 0}};
constexpr Point k3b2[] = {{0.85f, 0}, {0.45f, 0.4f}};
constexpr Point k3b3[] = {{0.45f, 0.4f}, {0.85f, 0.5f}, {0.9f, 0.8f}, {0.5f, 1}, {0.08f, 0.88f}};
constexpr Stroke k3b[] = {k3b1, k3b2, k3b3};
constexpr Point k3c1[] = {{0.15f, 0.12f}, {0.55f, 0},    {0.8f, 0.18f},  {0.6f, 0.42f},
                          {0.35f, 0.47f}, {0.36f, 0.5f}, {0.75f, 0.55f}, {0.88f, 0.8f},
                          {0.5f, 1},      {0.1f, 0.93f}};
constexpr Stroke k3c[] = {k3c1};
constexpr Glyph k3[] = {k3a, k3b, k3c};

constexpr Point k4a1[] = {{0.25f, 0}, {0.08f, 0.58f}};
constexpr Point k4a2[] = {{0.08f, 0.58f}, {0.95f, 0.55f}};
constexpr Point k4a3[] = {{0.7f, 0.15f}, {0.68f, 1}};
constexpr Stroke k4a[] = {k4a1, k4a2, k4a3};
constexpr Point k4b1[] = {{0.7f, 0}, {0.05f, 0.65f}};
constexpr Point k4b2[] = {{0.05f, 0.65f}, {0.95f, 0.65f}};
constexpr Point k4b3[] = {{0.7f, 0}, {0.7f, 1}};
constexpr Stroke k4b[] = {k4b1, k4b2, k4b3};
constexpr Point k4c1[] = {{0.12f, 0}, {0.1f, 0.38f}, {0.35f, 0.52f}, {0.8f, 0.42f}};
constexpr Point k4c2[] = {{0.82f, 0}, {0.7f, 1}};
constexpr Stroke k4c[] = {k4c1, k4c2};
constexpr Glyph k4[] = {k4a, k4b, k4c};

constexpr Point k5a1[] = {{0.88f, 0}, {0.2f, 0.02f}};
constexpr Point k5a2[] = {{0.2f, 0.02f}, {0.15f, 0.42f}};
constexpr Point k5a3[] = {{0.15f, 0.42f}, {0.5f, 0.34f}, {0.88f, 0.52f},
                          {0.85f, 0.85f}, {0.5f, 1},     {0.08f, 0.9f}};
constexpr Stroke k5a[] = {k5a1, k5a2, k5a3};
constexpr Point k5b1[] = {{0.85f, 0.05f}, {0.42f, 0.02f}, {0.16f, 0.2f}, {0.4f, 0.42f},
                          {0.8f, 0.58f},  {0.82f, 0.86f}, {0.45f, 1},    {0.08f, 0.92f}};
constexpr Stroke k5b[] = {k5b1};
constexpr Point k5c1[] = {{0.22f, 0.05f}, {0.2f, 0.45f}};
constexpr Point k5c2[] = {
    {0.2f, 0.45f}, {0.6f, 0.38f}, {0.9f, 0.65f}, {0.65f, 0.97f}, {0.1f, 0.95f}};
constexpr Point k5c3[] = {{0.22f, 0.05f}, {0.92f, 0}};
constexpr Stroke k5c[] = {k5c1, k5c2, k5c3};
constexpr Glyph k5[] = {k5a, k5b, k5c};

constexpr Point k6a1[] = {{0.75f, 0},    {0.35f, 0.2f},  {0.1f, 0.6f},  {0.2f, 0.92f}, {0.55f, 1},
                          {0.88f, 0.8f}, {0.75f, 0.55f}, {0.4f, 0.52f}, {0.13f, 0.72f}};
constexpr Stroke k6a[] = {k6a1};
constexpr Point k6b1[] = {{0.55f, 0},    {0.2f, 0.45f}, {0.08f, 0.75f}, {0.35f, 1},
                          {0.8f, 0.95f}, {0.9f, 0.7f},  {0.6f, 0.52f},  {0.2f, 0.64f}};
constexpr Stroke k6b[] = {k6b1};
constexpr Point k6c1[] = {{0.85f, 0.08f}, {0.5f, 0.02f},  {0.15f, 0.3f}, {0.08f, 0.7f}, {0.4f, 1},
                          {0.85f, 0.85f}, {0.75f, 0.56f}, {0.45f, 0.5f}, {0.12f, 0.64f}};
constexpr Stroke k6c[] = {k6c1};
constexpr Glyph k6[] = {k6a, k6b, k6c};

constexpr Point k7a1[] = {{0.05f, 0.02f}, {0.92f, 0}};
constexpr Point k7a2[] = {{0.92f, 0}, {0.6f, 0.45f}, {0.4f, 1}};
constexpr Stroke k7a[] = {k7a1, k7a2};
constexpr Point k7b1[] = {{0.05f, 0.02f}, {0.92f, 0}};
constexpr Point k7b2[] = {{0.92f, 0}, {0.58f, 0.5f}, {0.42f, 1}};
constexpr Point k7b3[] = {{0.25f, 0.52f}, {0.82f, 0.5f}};
constexpr Stroke k7b[] = {k7b1, k7b2, k7b3};
constexpr Point k7c1[] = {{0.08f, 0.2f}, {0.1f, 0}};
constexpr Point k7c2[] = {{0.1f, 0}, {0.5f, 0.06f}, {0.92f, 0}};
constexpr Point k7c3[] = {{0.92f, 0}, {0.3f, 1}};
constexpr Stroke k7c[] = {k7c1, k7c2, k7c3};
constexpr Glyph k7[] = {k7a, k7b, k7c};

constexpr Point k8a1[] = {{0.5f, 0.48f},  {0.18f, 0.25f}, {0.5f, 0},
                          {0.82f, 0.25f}, {0.5f, 0.48f},  {0.12f, 0.75f},
                          {0.5f, 1},      {0.88f, 0.75f}, {0.5f, 0.48f}};
constexpr Stroke k8a[] = {k8a1};
constexpr Point k8b1[] = {{0.5f, 0}, {0.2f, 0.22f}, {0.5f, 0.45f}, {0.8f, 0.22f}, {0.5f, 0}};
constexpr Point k8b2[] = {{0.5f, 0.45f}, {0.1f, 0.72f}, {0.5f, 1}, {0.9f, 0.72f}, {0.5f, 0.45f}};
constexpr Stroke k8b[] = {k8b1, k8b2};
constexpr Point k8c1[] = {{0.82f, 0.12f}, {0.5f, 0},     {0.2f, 0.2f},   {0.5f, 0.46f},
                          {0.86f, 0.75f}, {0.5f, 1},     {0.14f, 0.78f}, {0.45f, 0.5f},
                          {0.8f, 0.22f},  {0.82f, 0.12f}};
constexpr Stroke k8c[] = {k8c1};
constexpr Glyph k8[] = {k8a, k8b, k8c};

constexpr Point k9a1[] = {{0.85f, 0.3f}, {0.5f, 0.5f},   {0.12f, 0.3f}, {0.4f, 0},
                          {0.8f, 0.1f},  {0.86f, 0.38f}, {0.8f, 1}};
constexpr Stroke k9a[] = {k9a1};
constexpr Point k9b1[] = {{0.82f, 0.1f}, {0.45f, 0}, {0.12f, 0.25f}, {0.4f, 0.48f}, {0.82f, 0.25f}};
constexpr Point k9b2[] = {{0.84f, 0.02f}, {0.74f, 1}};
constexpr Stroke k9b[] = {k9b1, k9b2};
constexpr Point k9c1[] = {{0.85f, 0.25f}, {0.5f, 0.5f},   {0.14f, 0.28f},
                          {0.45f, 0},     {0.82f, 0.12f}, {0.88f, 0.42f},
                          {0.7f, 0.9f},   {0.3f, 1},      {0.12f, 0.88f}};
constexpr Stroke k9c[] = {k9c1};
constexpr Glyph k9[] = {k9a, k9b, k9c};

constexpr std::array<std::span<const Glyph>, kDigits> kAll = {k0, k1, k2, k3, k4,
                                                              k5, k6, k7, k8, k9};

}  // namespace

std::span<const Glyph> styles_of_digit(std::uint32_t digit) {
  assert(digit < kDigits);
  return kAll[digit];
}

}  // namespace tributary
