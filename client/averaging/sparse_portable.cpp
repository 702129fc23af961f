#include <algorithm>
#include <array>
#include <bit>

#include "client/averaging/sparse_kernels.h"
#include "shared/base/verify.h"
#include "shared/wire/codec.h"

namespace starling::averaging {
namespace {

std::uint32_t magnitude_bits(float value) { return std::bit_cast<std::uint32_t>(value) & 0x7fffffffu; }

}  // namespace

// Magnitudes are first counted by exponent and three more bits, so only those in the bin at the edge have to be
// compared.
void portable_select(const float* values, std::size_t size, std::size_t wanted, std::uint16_t* chosen) {
  VERIFY(wanted <= size && size <= wire::kSparseChunkFloats);
  constexpr unsigned kShift = 20;
  std::array<std::uint16_t, (0x7fffffffu >> kShift) + 1> histogram{};
  for (std::size_t i = 0; i < size; ++i) ++histogram[magnitude_bits(values[i]) >> kShift];
  std::size_t above = 0;
  std::uint32_t edge = histogram.size() - 1;
  for (; above + histogram[edge] < wanted; --edge) above += histogram[edge];
  std::array<std::uint16_t, wire::kSparseChunkFloats> on_edge;
  std::size_t edge_count = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint32_t bin = magnitude_bits(values[i]) >> kShift;
    if (bin < edge) continue;
    (bin > edge ? chosen[count++] : on_edge[edge_count++]) = static_cast<std::uint16_t>(i);
  }
  const auto larger = [values](std::uint16_t a, std::uint16_t b) {
    const std::uint32_t first = magnitude_bits(values[a]);
    const std::uint32_t second = magnitude_bits(values[b]);
    return first != second ? first > second : a < b;
  };
  const auto taken = on_edge.begin() + static_cast<std::ptrdiff_t>(wanted - count);
  std::nth_element(on_edge.begin(), taken, on_edge.begin() + static_cast<std::ptrdiff_t>(edge_count), larger);
  std::copy(on_edge.begin(), taken, chosen + count);
  std::sort(chosen, chosen + wanted);
}

}  // namespace starling::averaging
