#include "tests/sim/cells_model.h"

#include <algorithm>
#include <cmath>

#include "shared/base/verify.h"
#include "tests/sim/fashion.h"
#include "tests/sim/vector_loops.h"

namespace starling::sim {
namespace {

constexpr std::size_t kLanes = 16;
constexpr float kLeastVariance = 1e-5F;

// Places of a trunk's first floats.
struct TrunkPlaces {
  explicit TrunkPlaces(const CellsShape& shape)
      : embedding_bias(shape.width * kFashionPixels),
        gates(embedding_bias + shape.width),
        classes(gates + shape.layers * shape.grid.scores() * shape.width),
        class_biases(classes + kFashionClasses * shape.width),
        end(class_biases + kFashionClasses) {}
  // The embedding's matrix [width, pixels] is the first.
  std::size_t embedding_bias;
  std::size_t gates;    // [layers, scores, width]
  std::size_t classes;  // [classes, width]
  std::size_t class_biases;
  std::size_t end;
};

// Places of an expert's first floats. Each matrix has the units of a hidden layer as its rows, so that those which the
// rectifier has set to zero are passed over.
struct ExpertPlaces {
  ExpertPlaces(std::size_t width, std::size_t hidden)
      : second(hidden * width),
        third(second + hidden * hidden),
        first_bias(third + hidden * width),
        second_bias(first_bias + hidden),
        third_bias(second_bias + hidden),
        end(third_bias + width) {}
  // The first matrix [hidden, width], out of the input, is the first.
  std::size_t second;  // [hidden, hidden], a row for each unit of the first layer
  std::size_t third;   // [hidden, width], a row for each unit of the second layer
  std::size_t first_bias, second_bias, third_bias;
  std::size_t end;
};

void draw(std::span<float> values, std::size_t inputs, swarm::RandomStream& random) {
  const float bound = 1 / std::sqrt(static_cast<float>(inputs));
  for (float& value : values) value = bound * (2 * static_cast<float>(random.uniform()) - 1);
}

void normalize(std::span<const float> x, Normed& out) {
  const std::size_t size = x.size();
  const auto count = static_cast<float>(size);
  float mean = 0, variance = 0;
  for (const float value : x) mean += value;
  mean /= count;
  for (const float value : x) variance += (value - mean) * (value - mean);
  out.scale = 1 / std::sqrt(variance / count + kLeastVariance);
  out.values.resize(size);
  for (std::size_t i = 0; i < size; ++i) out.values[i] = (x[i] - mean) * out.scale;
}

// Adds the derivative by what was normed, for the derivative `error` by the result.
void add_norm_error(const Normed& normed, std::span<const float> error, std::span<float> to) {
  const std::size_t size = error.size();
  const auto count = static_cast<float>(size);
  float mean = 0;
  for (const float value : error) mean += value;
  mean /= count;
  const float along = dot<kLanes>(error.data(), normed.values.data(), size) / count;
  for (std::size_t i = 0; i < size; ++i) to[i] += normed.scale * (error[i] - mean - normed.values[i] * along);
}

void softmax(std::span<float> values) {
  const float largest = *std::ranges::max_element(values);
  float sum = 0;
  for (float& value : values) sum += value = std::exp(value - largest);
  for (float& value : values) value /= sum;
}

}  // namespace

std::size_t CellsShape::trunk_parameters() const { return TrunkPlaces(*this).end; }

std::size_t CellsShape::expert_parameters() const { return ExpertPlaces(width, hidden).end; }

std::size_t CellsShape::multiplications() const {
  const std::size_t in_expert = hidden * (2 * width + hidden);
  return width * (kFashionPixels + kFashionClasses) +
         layers * (static_cast<std::size_t>(active) * in_expert + grid.scores() * width);
}

void draw_trunk(const CellsShape& shape, swarm::RandomStream& random, std::span<float> parameters) {
  const TrunkPlaces at(shape);
  VERIFY(parameters.size() == at.end);
  draw(parameters.first(at.gates), kFashionPixels, random);
  draw(parameters.subspan(at.gates), shape.width, random);
}

void draw_expert(const CellsShape& shape, swarm::RandomStream& random, std::span<float> parameters) {
  const ExpertPlaces at(shape.width, shape.hidden);
  VERIFY(parameters.size() == at.end);
  draw(parameters.first(at.second), shape.width, random);
  draw(parameters.subspan(at.second, at.first_bias - at.second), shape.hidden, random);
  draw(parameters.subspan(at.first_bias, shape.hidden), shape.width, random);
  draw(parameters.subspan(at.second_bias), shape.hidden, random);
}

Expert::Expert(const CellsShape& shape)
    : width_(shape.width), hidden_(shape.hidden), error_(shape.hidden), below_(shape.hidden) {}

void Expert::compute_hidden(const float* parameters, std::span<const float> input) {
  const ExpertPlaces at(width_, hidden_);
  std::vector<float>& sums = below_;
  for (std::size_t j = 0; j < hidden_; ++j) {
    sums[j] = parameters[at.first_bias + j] + dot<kLanes>(parameters + j * width_, input.data(), width_);
  }
  normalize(sums, first_);
  std::copy_n(parameters + at.second_bias, hidden_, sums.begin());
  for (std::size_t j = 0; j < hidden_; ++j) {
    const float unit = first_.values[j];
    if (unit > 0) add_scaled(sums.data(), unit, parameters + at.second + j * hidden_, hidden_);
  }
  normalize(sums, second_);
}

void Expert::forward(std::span<const float> parameters, std::span<const float> input, std::span<float> result) {
  const ExpertPlaces at(width_, hidden_);
  compute_hidden(parameters.data(), input);
  std::copy_n(parameters.data() + at.third_bias, width_, result.begin());
  for (std::size_t j = 0; j < hidden_; ++j) {
    const float unit = second_.values[j];
    if (unit > 0) add_scaled(result.data(), unit, parameters.data() + at.third + j * width_, width_);
  }
}

void Expert::backward(std::span<const float> parameters, std::span<const float> input,
                      std::span<const float> result_error, std::span<float> gradient, std::span<float> input_error) {
  const ExpertPlaces at(width_, hidden_);
  compute_hidden(parameters.data(), input);
  add_scaled(gradient.data() + at.third_bias, 1, result_error.data(), width_);
  std::fill(error_.begin(), error_.end(), 0.0F);
  for (std::size_t j = 0; j < hidden_; ++j) {
    const float unit = second_.values[j];
    if (unit <= 0) continue;
    error_[j] = dot<kLanes>(parameters.data() + at.third + j * width_, result_error.data(), width_);
    add_scaled(gradient.data() + at.third + j * width_, unit, result_error.data(), width_);
  }
  std::fill(below_.begin(), below_.end(), 0.0F);
  add_norm_error(second_, error_, below_);
  add_scaled(gradient.data() + at.second_bias, 1, below_.data(), hidden_);
  std::fill(error_.begin(), error_.end(), 0.0F);
  for (std::size_t j = 0; j < hidden_; ++j) {
    const float unit = first_.values[j];
    if (unit <= 0) continue;
    error_[j] = dot<kLanes>(parameters.data() + at.second + j * hidden_, below_.data(), hidden_);
    add_scaled(gradient.data() + at.second + j * hidden_, unit, below_.data(), hidden_);
  }
  std::fill(below_.begin(), below_.end(), 0.0F);
  add_norm_error(first_, error_, below_);
  add_scaled(gradient.data() + at.first_bias, 1, below_.data(), hidden_);
  for (std::size_t j = 0; j < hidden_; ++j) {
    add_scaled(gradient.data() + j * width_, below_[j], input.data(), width_);
    add_scaled(input_error.data(), below_[j], parameters.data() + j * width_, width_);
  }
}

PictureWay::PictureWay(const CellsShape& shape)
    : shape_(shape),
      search_(shape.grid, shape.active),
      expert_(shape),
      stream_(shape.width),
      layers_(shape.layers),
      chances_(kFashionClasses),
      error_(shape.width) {}

std::span<const std::int32_t> PictureWay::chosen(std::size_t layer) const { return layers_[layer].chosen; }

void PictureWay::begin(std::span<const float> trunk, std::span<const float> pixels) {
  const TrunkPlaces at(shape_);
  VERIFY(trunk.size() == at.end && pixels.size() == kFashionPixels);
  for (std::size_t i = 0; i < shape_.width; ++i) {
    stream_[i] =
        trunk[at.embedding_bias + i] + dot<kLanes>(trunk.data() + i * kFashionPixels, pixels.data(), kFashionPixels);
  }
}

void PictureWay::choose(std::span<const float> trunk, std::size_t layer, const std::vector<bool>& held) {
  Layer& at_layer = layers_[layer];
  normalize(stream_, at_layer.input);
  const std::size_t count = shape_.grid.scores();
  const float* gate = trunk.data() + TrunkPlaces(shape_).gates + layer * count * shape_.width;
  std::vector<float> scores(count);
  for (std::size_t k = 0; k < count; ++k) {
    scores[k] = dot<kLanes>(gate + k * shape_.width, at_layer.input.values.data(), shape_.width);
  }
  at_layer.chosen.resize(static_cast<std::size_t>(shape_.active));
  search_.choose(held, scores, at_layer.chosen);
  std::erase(at_layer.chosen, routing::kNoExpert);
  at_layer.shares.clear();
  for (const std::int32_t expert : at_layer.chosen) {
    float score = scores[static_cast<std::size_t>(expert / shape_.grid.columns)];
    if (shape_.grid.columns > 1) {
      score += scores[static_cast<std::size_t>(shape_.grid.rows + expert % shape_.grid.columns)];
    }
    at_layer.shares.push_back(score);
  }
  if (!at_layer.shares.empty()) softmax(at_layer.shares);
}

void PictureWay::forward(std::size_t layer, std::span<const std::vector<float>> experts) {
  Layer& at_layer = layers_[layer];
  at_layer.results.resize(at_layer.chosen.size() * shape_.width);
  for (std::size_t k = 0; k < at_layer.chosen.size(); ++k) {
    const std::span<float> result = std::span(at_layer.results).subspan(k * shape_.width, shape_.width);
    expert_.forward(experts[static_cast<std::size_t>(at_layer.chosen[k])], at_layer.input.values, result);
    add_scaled(stream_.data(), at_layer.shares[k], result.data(), shape_.width);
  }
}

std::size_t PictureWay::likeliest(std::span<const float> trunk) {
  const TrunkPlaces at(shape_);
  normalize(stream_, last_);
  for (std::size_t c = 0; c < kFashionClasses; ++c) {
    chances_[c] = trunk[at.class_biases + c] +
                  dot<kLanes>(trunk.data() + at.classes + c * shape_.width, last_.values.data(), shape_.width);
  }
  softmax(chances_);
  return static_cast<std::size_t>(std::ranges::max_element(chances_) - chances_.begin());
}

double PictureWay::end(std::span<const float> trunk, std::size_t answer, std::span<float> gradient) {
  const TrunkPlaces at(shape_);
  likeliest(trunk);
  const double loss = -std::log(std::max(static_cast<double>(chances_[answer]), 1e-30));
  std::vector<float> error(shape_.width);
  for (std::size_t c = 0; c < kFashionClasses; ++c) {
    const float by_class = chances_[c] - (c == answer ? 1.0F : 0.0F);
    gradient[at.class_biases + c] += by_class;
    add_scaled(gradient.data() + at.classes + c * shape_.width, by_class, last_.values.data(), shape_.width);
    add_scaled(error.data(), by_class, trunk.data() + at.classes + c * shape_.width, shape_.width);
  }
  std::fill(error_.begin(), error_.end(), 0.0F);
  add_norm_error(last_, error, error_);
  return loss;
}

std::vector<float> PictureWay::score_errors(const Layer& layer) const {
  std::vector<float> by_share(layer.chosen.size());
  float mean = 0;
  for (std::size_t k = 0; k < by_share.size(); ++k) {
    by_share[k] = dot<kLanes>(error_.data(), layer.results.data() + k * shape_.width, shape_.width);
    mean += layer.shares[k] * by_share[k];
  }
  std::vector<float> errors(shape_.grid.scores());
  for (std::size_t k = 0; k < by_share.size(); ++k) {
    const float by_score = layer.shares[k] * (by_share[k] - mean);
    errors[static_cast<std::size_t>(layer.chosen[k] / shape_.grid.columns)] += by_score;
    if (shape_.grid.columns > 1) {
      errors[static_cast<std::size_t>(shape_.grid.rows + layer.chosen[k] % shape_.grid.columns)] += by_score;
    }
  }
  return errors;
}

void PictureWay::backward(std::size_t layer, std::span<const float> trunk, std::span<const std::vector<float>> experts,
                          std::span<float> gradient, std::span<std::vector<float>> expert_gradients) {
  const Layer& at_layer = layers_[layer];
  const std::size_t width = shape_.width;
  std::vector<float> input_error(width), result_error(width);
  for (std::size_t k = 0; k < at_layer.chosen.size(); ++k) {
    for (std::size_t i = 0; i < width; ++i) result_error[i] = at_layer.shares[k] * error_[i];
    const auto number = static_cast<std::size_t>(at_layer.chosen[k]);
    expert_.backward(experts[number], at_layer.input.values, result_error, expert_gradients[number], input_error);
  }
  const std::vector<float> errors = score_errors(at_layer);
  const std::size_t gate = TrunkPlaces(shape_).gates + layer * errors.size() * width;
  for (std::size_t s = 0; s < errors.size(); ++s) {
    if (errors[s] == 0) continue;
    add_scaled(gradient.data() + gate + s * width, errors[s], at_layer.input.values.data(), width);
    add_scaled(input_error.data(), errors[s], trunk.data() + gate + s * width, width);
  }
  add_norm_error(at_layer.input, input_error, error_);
}

void PictureWay::finish(std::span<const float> pixels, std::span<float> gradient) {
  const TrunkPlaces at(shape_);
  for (std::size_t i = 0; i < shape_.width; ++i) {
    gradient[at.embedding_bias + i] += error_[i];
    add_scaled(gradient.data() + i * kFashionPixels, error_[i], pixels.data(), kFashionPixels);
  }
}

}  // namespace starling::sim
