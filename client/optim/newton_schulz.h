// The approximately nearest orthogonal matrix, by additions and multiplications in a fixed order.
#pragma once

#include <cstddef>
#include <vector>

#include "client/optim/kernels.h"

namespace starling::optim {

// `matrix`: rows × columns, row-major. Takes its singular values to about 1 (0.7 to 1.2 after five steps, if they are
// not far apart) and keeps its singular vectors: Jordan et al., "Muon", 2024, quintic Newton-Schulz iteration. A zero
// matrix stays zero.
std::vector<float> orthogonalized(std::vector<float> matrix, std::size_t rows, int steps, const Kernels& kernels);

// Floating-point operations of orthogonalized().
double newton_schulz_flops(std::size_t rows, std::size_t columns, int steps);

}  // namespace starling::optim
