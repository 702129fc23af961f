// Facts about a model that need no model: its parameters in their order in the flat vector, and the cost of a sample.
// Trainer, daemon and coordinator must agree on both.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "shared/run/run_manifest.h"

namespace starling::wire {

// In a gpt, a position's input is the sum of the embeddings of its own token and of the tokens before it
// (ModelOptions::recent of them), each from a table of its own. Most of the early learning about bytes is which letters
// stand together, and attention alone takes long to find it.

// Tokens with a meaning of their own in data of kind 'tokens', where words are masked: padding, unknown, the begin of a
// sample, the end of a stretch of text, and a token that is left out.
constexpr int kPadding = 0;
constexpr int kUnknown = 1;
constexpr int kSampleBegin = 2;
constexpr int kStretchEnd = 3;
constexpr int kMask = 4;
constexpr int kReservedTokens = 5;
constexpr int kMaskedContextMin = 8;

// One named tensor of the flat parameter vector.
struct ParameterInfo {
  std::string name;                 // "block2.qkv.weight"
  std::vector<std::int64_t> shape;  // row-major
  std::size_t offset = 0;           // place of its first float in the flat vector
  std::size_t drawn_at = 0;         // likewise in the whole model's: what its initial values depend on
  std::size_t count = 0;            // product of shape
  bool decayed = false;             // takes part in weight decay (matrices do, norms and biases do not)
  bool hidden = false;              // a matrix from one hidden layer to another: no embedding, no output layer
  double initial_bound = 0;         // initial values are uniform in [-bound, bound); 0: constant
  float initial_value = 0;          // the constant
};

// A convolution of a resnet. Its parameters: "NAME.weight" [out, in · kernel · kernel], and those of the norm behind
// it, "NAME_norm.weight" and "NAME_norm.bias".
struct Convolution {
  std::string name;
  int in = 0;  // channels
  int out = 0;
  int kernel = 0;  // pixels; padded by half of it
  int stride = 1;
  int size = 0;  // height and width of the result, pixels
};

// True if a model of this architecture can learn from data of this kind.
bool learns_from(const ModelOptions& model, DataKind kind);
// "'bytes' or 'tokens'"
std::string data_kinds(const ModelOptions& model);
// The form of its samples where the data is text.
SampleForm text_form(const ModelOptions& model);

// Returns the convolutions in the order of the layout.
std::vector<Convolution> resnet_convolutions(const ModelOptions& model);
constexpr int kExpertsMax = 16384;  // in all layers of a model together
// Number of experts in each layer that has them; 0: the model has none.
int experts_in_layer(const ModelOptions& model);
bool has_experts(const ModelOptions& model, int layer);
// The prefix of an expert's parameters: "block2.expert17."
std::string expert_name(int layer, int expert);
// Heads of a decoder's keys and values.
int kv_heads(const ModelOptions& model);
// The most tokens of a sample that an albert has to guess.
int masked_tokens(const ModelOptions& model);

// Parameters of the model, or of the piece of it that the options name, in the order of the flat vector, without gaps.
std::vector<ParameterInfo> model_layout(const ModelOptions& model);
std::size_t parameter_count(const ModelOptions& model);
// Floats that a replica must agree on with all others: [parameters | the optimizer's vectors].
std::size_t state_size(const RunManifest& manifest);
// Floats of local steps: [own parameters | the inner optimizer's vectors]; 0 where there are none.
std::size_t local_state_size(const RunManifest& manifest);
// Size of the state at whose parameters gradients are computed: a volunteer's own where it steps by itself.
std::size_t computed_state_size(const RunManifest& manifest);

// Bytes that a volunteer's computer needs at least to take part, with micro-batches of one sample.
struct MemoryNeeds {
  double programs = 0;     // the programs, whatever they train
  double state = 0;        // parameters and moments
  double gradients = 0;    // all vectors of the parameters' length that rounds go through
  double activations = 0;  // one sample's
  [[nodiscard]] double total() const;
};
MemoryNeeds memory_needs(const RunManifest& manifest);

// Floating-point operations of one sample, forward and backward: twice the multiplications of every matrix product and
// convolution. Norms, softmax and the like are left out. A cell's are those where each gets as many of a sample's
// tokens as others, with the forward pass that is made again on the way back.
double flops_per_sample(const ModelOptions& model);

}  // namespace starling::wire
