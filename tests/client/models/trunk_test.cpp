#include "client/models/trunk.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <algorithm>
#include <vector>
// Comes after torch, because torch's CHECK must give way.
#include <doctest/doctest.h>

#include "client/models/decoder.h"
#include "client/models/expert_cell.h"
#include "client/models/experts.h"
#include "shared/run/cells.h"

using namespace starling;
using namespace starling::models;

namespace {

constexpr std::int64_t kBatch = 3;

wire::ModelOptions model_of(int layers, int rows, int columns, int every, int per_cell) {
  wire::ModelOptions model{.architecture = wire::Architecture::decoder,
                           .layers = layers,
                           .width = 16,
                           .heads = 2,
                           .context = 12,
                           .vocabulary = 40};
  model.mlp_width = 20;
  model.experts.rows = rows;
  model.experts.columns = columns;
  model.experts.every = every;
  model.experts.load_loss = 0.2;
  model.experts.cells.experts = per_cell;
  return model;
}

at::Tensor stretch(const at::Tensor& vector, std::size_t first, std::size_t count) {
  return vector.narrow(0, static_cast<std::int64_t>(first), static_cast<std::int64_t>(count));
}

std::size_t trunk_count(const wire::ModelOptions& model) { return wire::parameter_count(wire::trunk_of(model)); }

// Results of a layer's experts, and their causes.
struct Layer {
  Asked end;    // in the segment's graph
  Asked asked;  // its values outside, which take gradients
  ExpertResults results;
  struct Part {
    std::size_t cell = 0;
    std::vector<std::int32_t> counts, rows;
    std::int64_t first = 0;  // in the results
  };
  std::vector<Part> parts;
};

// A model in pieces, on stretches of one pair of vectors.
struct Pieces {
  Pieces(const wire::ModelOptions& options, const at::Tensor& vector, const at::Tensor& gradient)
      : model(options),
        cells(wire::cells_of(model)),
        trunk(wire::trunk_of(model), stretch(vector, 0, trunk_count(model)), stretch(gradient, 0, trunk_count(model))) {
    for (const wire::Cell& cell : cells) {
      experts.emplace_back(wire::cell_of(model, static_cast<wire::CellIndex>(experts.size())),
                           stretch(vector, cell.offset, cell.count), stretch(gradient, cell.offset, cell.count));
    }
  }

  // Has the layer's experts compute for those who are chosen. lost: nobody answers for this expert.
  Layer ask(const Asked& end, int layer, int lost) const {
    Layer asked{
        end,
        {end.stream.detach().requires_grad_(true), end.inputs.detach(), end.outputs.detach().requires_grad_(true)},
        {},
        {}};
    const torch::NoGradGuard no_graph;
    const at::Tensor scores = expert_scores(model, asked.asked.outputs);
    asked.results.experts = choose_experts(scores, model.experts.active).experts;
    if (lost >= 0) asked.results.experts.masked_fill_(asked.results.experts.eq(lost), -1);
    const at::Tensor chosen = asked.results.experts.reshape({-1});
    std::vector<std::int64_t> places;
    std::vector<at::Tensor> values;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].layer != layer) continue;
      Layer::Part part{i, {}, {}, static_cast<std::int64_t>(places.size())};
      for (int expert = cells[i].first_expert; expert < cells[i].first_expert + cells[i].experts; ++expert) {
        const std::size_t before = part.rows.size();
        for (std::int64_t place = 0; place < chosen.numel(); ++place) {
          if (chosen[place].item<std::int64_t>() != expert) continue;
          places.push_back(place);
          part.rows.push_back(static_cast<std::int32_t>(place / model.experts.active));
        }
        part.counts.push_back(static_cast<std::int32_t>(part.rows.size() - before));
      }
      values.push_back(experts[i].forward(asked.asked.inputs, {part.counts, part.rows}));
      asked.parts.push_back(std::move(part));
    }
    asked.results.places = at::tensor(places, at::kLong);
    asked.results.values = at::cat(values).requires_grad_(true);
    return asked;
  }

  // Loss, and the gradient of all pieces.
  at::Tensor train(const Batch& batch, int lost = -1) const {
    std::vector<Layer> layers;
    std::vector<at::Tensor> gate_losses;
    Asked end = trunk.begin(batch.at(0));
    for (int segment = 0; segment < trunk.segments() - 1; ++segment) {
      layers.push_back(ask(end, (segment + 1) * model.experts.every - 1, lost));
      if (segment == trunk.segments() - 2) break;
      Middle middle = trunk.go_on(segment + 1, layers.back().asked, layers.back().results, kBatch);
      end = middle.asked;
      gate_losses.push_back(middle.gate_loss);
    }
    at::Tensor loss = trunk.loss(layers.back().asked, layers.back().results, batch);
    loss.backward();
    for (std::size_t k = layers.size(); k-- > 0;) {
      const Layer& layer = layers[k];
      at::Tensor of_inputs = at::zeros_like(layer.asked.inputs);
      for (const Layer::Part& part : layer.parts) {
        if (part.rows.empty()) continue;
        const at::Tensor upstream =
            layer.results.values.grad().narrow(0, part.first, static_cast<std::int64_t>(part.rows.size()));
        of_inputs += experts[part.cell].backward(layer.asked.inputs, {part.counts, part.rows}, upstream);
      }
      std::vector<at::Tensor> roots{layer.end.stream, layer.end.inputs, layer.end.outputs};
      std::vector<at::Tensor> upstream{layer.asked.stream.grad(), of_inputs, layer.asked.outputs.grad()};
      if (k > 0) {
        roots.push_back(gate_losses[k - 1]);
        upstream.push_back(at::ones_like(gate_losses[k - 1]));
      }
      torch::autograd::backward(roots, upstream);
    }
    return loss;
  }

  wire::ModelOptions model;
  std::vector<wire::Cell> cells;
  Trunk trunk;
  std::vector<ExpertCell> experts;
};

at::Tensor noise(std::size_t count, std::uint64_t seed) {
  return at::randn({static_cast<std::int64_t>(count)}, at::detail::createCPUGenerator(seed),
                   at::TensorOptions(at::kDouble)) *
         0.3;
}

Batch some_batch() {
  const at::Tensor tokens =
      at::randint(40, {kBatch, 13}, at::detail::createCPUGenerator(5), at::TensorOptions(at::kLong));
  return {tokens.narrow(1, 0, 12), tokens.narrow(1, 1, 12)};
}

}  // namespace

TEST_CASE("a model in pieces has the loss and the gradient of the whole") {
  for (const auto& model :
       {model_of(2, 4, 1, 1, 2), model_of(4, 2, 3, 2, 4), model_of(3, 4, 1, 2, 1), model_of(1, 3, 1, 1, 3)}) {
    const at::Tensor vector = noise(wire::parameter_count(model), 3);
    const at::Tensor of_whole = at::zeros_like(vector), of_pieces = at::zeros_like(vector);
    const Batch batch = some_batch();
    const at::Tensor whole = Decoder(model, vector, of_whole).loss(batch);
    whole.backward();
    const at::Tensor pieces = Pieces(model, vector, of_pieces).train(batch);
    CHECK(pieces.item<double>() == doctest::Approx(whole.item<double>()).epsilon(1e-12));
    CHECK((of_pieces - of_whole).abs().max().item<double>() < 1e-12);
    CHECK(of_whole.abs().max().item<double>() > 1e-3);
  }
}

TEST_CASE("a token whose experts do not answer passes by, and one that has another keeps that") {
  const wire::ModelOptions model = model_of(2, 2, 1, 1, 1);  // both experts are chosen always
  const at::Tensor vector = noise(wire::parameter_count(model), 4);
  const at::Tensor gradient = at::zeros_like(vector);
  const Batch batch = some_batch();
  const Pieces pieces(model, vector, gradient);
  const at::Tensor loss = pieces.train(batch, /*lost=*/0);
  // Only the second expert's share is left, which is 1.
  at::Tensor alone = vector.clone();
  for (const wire::Cell& cell : pieces.cells) {
    if (cell.first_expert == 0) {
      const std::size_t other = cell.offset + cell.count;
      stretch(alone, cell.offset, cell.count).copy_(stretch(vector, other, cell.count));
    }
  }
  const at::Tensor unused = at::zeros_like(vector);
  CHECK(loss.item<double>() == doctest::Approx(Decoder(model, alone, unused).loss(batch).item<double>()));
  for (const wire::Cell& cell : pieces.cells) {
    CHECK((stretch(gradient, cell.offset, cell.count).abs().max().item<double>() == 0) == (cell.first_expert == 0));
  }
  CHECK(gradient.isfinite().all().item<bool>());
}

TEST_CASE("without any answer the trunk goes on alone") {
  wire::ModelOptions model = model_of(2, 1, 1, 1, 1);
  model.experts.active = 1;
  const at::Tensor vector = noise(wire::parameter_count(model), 4);
  const at::Tensor gradient = at::zeros_like(vector);
  const Pieces pieces(model, vector, gradient);
  const at::Tensor loss = pieces.train(some_batch(), /*lost=*/0);
  CHECK(std::isfinite(loss.item<double>()));
  CHECK(gradient.isfinite().all().item<bool>());
  CHECK(stretch(gradient, 0, trunk_count(model)).abs().max().item<double>() > 1e-3);
}
