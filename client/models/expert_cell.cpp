#include "client/models/expert_cell.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/utils.h>

#include <numeric>
#include <vector>

#include "shared/base/verify.h"

namespace starling::models {

ExpertCell::ExpertCell(const wire::ModelOptions& cell, const at::Tensor& parameters, const at::Tensor& gradient)
    : cell_(wire::cells_of(cell).at(static_cast<std::size_t>(cell.experts.piece))),
      parameters_(cell, parameters, gradient) {}

at::Tensor ExpertCell::results(const at::Tensor& inputs, const Units& units) const {
  VERIFY(units.counts.size() == static_cast<std::size_t>(cell_.experts));
  VERIFY(std::accumulate(units.counts.begin(), units.counts.end(), std::size_t{0}) == units.rows.size());
  const std::vector<std::int64_t> rows(units.rows.begin(), units.rows.end());
  const at::Tensor of_units = inputs.index_select(0, at::tensor(rows, at::kLong).to(inputs.device()));
  std::vector<at::Tensor> results;
  std::int64_t first = 0;
  for (int expert = 0; expert < cell_.experts; ++expert) {
    const std::int64_t count = units.counts[static_cast<std::size_t>(expert)];
    if (count == 0) continue;
    results.push_back(parameters_.gated_perceptron(of_units.narrow(0, first, count),
                                                   wire::expert_name(cell_.layer, cell_.first_expert + expert)));
    first += count;
  }
  return results.empty() ? of_units : at::cat(results);
}

at::Tensor ExpertCell::forward(const at::Tensor& inputs, const Units& units) const {
  const torch::NoGradGuard no_graph;
  return results(inputs, units);
}

at::Tensor ExpertCell::backward(const at::Tensor& inputs, const Units& units, const at::Tensor& upstream) const {
  const at::Tensor from = inputs.detach().requires_grad_(true);
  const at::Tensor results = this->results(from, units);
  torch::autograd::backward({results}, {upstream.to(results.scalar_type())});
  return from.grad();
}

}  // namespace starling::models
