#include "client/models/expert_cell.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/utils.h>

#include <numeric>
#include <vector>

#include "client/models/experts.h"
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
  return expert_results(parameters_, of_units, units.counts, cell_.layer, cell_.first_expert);
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
