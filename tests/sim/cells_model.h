// The model of the experiment about cells (tests/sim/emulated_cells.h): pictures to classes, through layers of experts
// that are called one layer after the other, written out by hand. A layer adds the mixture of a few experts' results to
// a stream of `width` floats; its gate scores the rows and columns of the experts' grid, and the shares of the mixture
// are the softmax of the chosen ones' scores. Experts are perceptrons with two hidden layers, as in the emulator of
// Learning@home's authors (arXiv 2002.04013, section 4.2). The embedding of the pictures, the gates and the classes'
// layer are the trunk. A model with one expert in each layer is a dense one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "client/routing/gate_search.h"
#include "shared/swarm/random_stream.h"

namespace starling::sim {

// Sizes of a model.
struct CellsShape {
  std::size_t layers = 4;
  routing::Grid grid{8, 8};  // the experts of a layer
  int active = 4;            // experts of a layer that a picture goes through
  std::size_t width = 64;    // floats of the stream
  std::size_t hidden = 64;   // units of an expert's two hidden layers

  [[nodiscard]] std::size_t experts() const { return static_cast<std::size_t>(grid.experts()); }
  [[nodiscard]] std::size_t trunk_parameters() const;
  [[nodiscard]] std::size_t expert_parameters() const;
  // Multiplications for a picture, forward.
  [[nodiscard]] std::size_t multiplications() const;
};

// Writes initial parameters, uniform within the inverse root of a matrix's inputs. The spans have the sizes that the
// shape says.
void draw_trunk(const CellsShape& shape, swarm::RandomStream& random, std::span<float> parameters);
void draw_expert(const CellsShape& shape, swarm::RandomStream& random, std::span<float> parameters);

// Values with their mean and deviation taken out.
struct Normed {
  std::vector<float> values;
  float scale = 1;  // 1 / deviation
};

// An expert. It keeps memory for its hidden units and nothing else: what they were on the way there is computed again
// on the way back, at the parameters of that moment, as holders of cells do.
class Expert {
 public:
  explicit Expert(const CellsShape& shape);

  // Writes the result for `input`; both have `width` floats.
  void forward(std::span<const float> parameters, std::span<const float> input, std::span<float> result);
  // Adds the loss's derivatives by the parameters and by the input, for those by the result.
  void backward(std::span<const float> parameters, std::span<const float> input, std::span<const float> result_error,
                std::span<float> gradient, std::span<float> input_error);

 private:
  void compute_hidden(const float* parameters, std::span<const float> input);

  std::size_t width_, hidden_;
  Normed first_, second_;             // before the rectifier
  std::vector<float> error_, below_;  // derivatives by a hidden layer
};

// One picture's way through the model and back. Calls: begin(), then choose() and forward() for each layer, then end(),
// then backward() for each layer from the last one on, then finish(). In between others may step the experts; `trunk`
// must be the same all the time.
class PictureWay {
 public:
  explicit PictureWay(const CellsShape& shape);

  void begin(std::span<const float> trunk, std::span<const float> pixels);
  // Chooses experts of a layer by their scores, among those that are held (by number in the layer).
  void choose(std::span<const float> trunk, std::size_t layer, const std::vector<bool>& held);
  // Goes through the chosen experts of a layer. `experts`: the layer's, the parameters of each first in its vector.
  void forward(std::size_t layer, std::span<const std::vector<float>> experts);
  // Returns the class that is likeliest.
  std::size_t likeliest(std::span<const float> trunk);
  // Returns the loss, in nats, and adds its derivatives by the classes' layer to the gradient of the trunk.
  double end(std::span<const float> trunk, std::size_t answer, std::span<float> gradient);
  // Adds the derivatives of a layer's gate to the trunk's gradient, and those of its chosen experts to theirs.
  void backward(std::size_t layer, std::span<const float> trunk, std::span<const std::vector<float>> experts,
                std::span<float> gradient, std::span<std::vector<float>> expert_gradients);
  void finish(std::span<const float> pixels, std::span<float> gradient);

  // The experts that a layer's input went through; fewer than `active` where fewer were held.
  [[nodiscard]] std::span<const std::int32_t> chosen(std::size_t layer) const;

 private:
  struct Layer {
    Normed input;
    std::vector<std::int32_t> chosen;
    std::vector<float> shares;   // by place in `chosen`
    std::vector<float> results;  // [chosen, width]
  };
  // Returns the derivatives by the scores of the rows and columns.
  std::vector<float> score_errors(const Layer& layer) const;

  CellsShape shape_;
  routing::GateSearch search_;
  Expert expert_;
  std::vector<float> stream_;
  std::vector<Layer> layers_;
  Normed last_;                 // the stream that classes are read from
  std::vector<float> chances_;  // the classes'
  std::vector<float> error_;    // the loss's derivative by the stream
};

}  // namespace starling::sim
