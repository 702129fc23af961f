// The model of a run: an architecture, chosen by a word, with exactly the settings that this word has. A manifest's
// writer, reader and checks, and the operator's settings, all follow each_model_setting(): one table, so that no door
// knows a setting that another does not. The parts of an architecture are in model_layout.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/ids.h"
#include "shared/wire/codec.h"

namespace starling::wire {

// A digest-named file that the coordinator (or any mirror) serves.
struct Artefact {
  Digest sha256;
  std::int64_t bytes = 0;

  friend bool operator==(const Artefact&, const Artefact&) = default;
};

// A model of the operator's own: a program that volunteers are asked about before they run it.
struct ScriptModel {
  struct Tensor {
    std::string name;
    std::vector<std::int64_t> shape;  // row-major
  };
  Artefact program;             // TorchScript: forward(batch…) returns the mean loss of the batch's samples
  Artefact parameters;          // safetensors of F32: the program's parameters at the start
  std::vector<Tensor> tensors;  // the parameters, in the order of the flat vector
  // Memory that one sample takes beside parameters and gradients, on its forward and backward pass; 0: unknown.
  std::int64_t activation_bytes = 0;
};

// The kinds of models that trainers know, and programs of the operator's own.
enum class Architecture : std::uint8_t { gpt, albert, resnet, mlp, script, decoder };
inline constexpr std::array<std::string_view, 6> kArchitectureWords{"gpt", "albert", "resnet",
                                                                    "mlp", "script", "decoder"};
inline std::span<const std::string_view> words_of(Architecture /*architecture*/) { return kArchitectureWords; }

// How a gpt knows tokens' positions.
enum class Positions : std::uint8_t { learned, rotary };
inline constexpr std::array<std::string_view, 2> kPositionsWords{"learned", "rotary"};
inline std::span<const std::string_view> words_of(Positions /*positions*/) { return kPositionsWords; }

// Between the layers of a gpt's blocks: the square of a rectifier's output, or gelu in its tanh form.
enum class Activation : std::uint8_t { relu2, gelu };
inline constexpr std::array<std::string_view, 2> kActivationWords{"relu2", "gelu"};
inline std::span<const std::string_view> words_of(Activation /*activation*/) { return kActivationWords; }

// The last layer of a decoder, from its width to the tokens' scores: the embedding once more, or a matrix of its own.
enum class OutputLayer : std::uint8_t { tied, own };
inline constexpr std::array<std::string_view, 2> kOutputLayerWords{"tied", "own"};
inline std::span<const std::string_view> words_of(OutputLayer /*output_layer*/) { return kOutputLayerWords; }

// The experts of a decoder that volunteers hold together: a cell (cells.h).
using CellIndex = std::int32_t;

// A model, or a piece of it that is trained by itself: the trunk or a cell, by its number. No piece is nothing: the
// part in the trunk's run of a volunteer that is too small for the trunk, and holds cells alone.
using ModelPiece = std::int32_t;
constexpr ModelPiece kNoPiece = -3;
constexpr ModelPiece kWholeModel = -2;
constexpr ModelPiece kTrunk = -1;

// The parameters of a cell: only those of experts, so far.
enum class CellKind : std::uint8_t { experts };
inline constexpr std::array<std::string_view, 1> kCellKindWords{"experts"};
inline std::span<const std::string_view> words_of(CellKind /*kind*/) { return kCellKindWords; }

// When a cell steps: in rounds of its holders, which average what each has gathered; or at each holder as gradients
// arrive, and rounds average how far that has led.
enum class CellUpdate : std::uint8_t { round, arrival };
inline constexpr std::array<std::string_view, 2> kCellUpdateWords{"round", "arrival"};
inline std::span<const std::string_view> words_of(CellUpdate /*update*/) { return kCellUpdateWords; }

constexpr int kCellsMax = 512;      // in a model
constexpr int kCellHoldersMax = 8;  // for each cell
constexpr int kAnswersMinMax = 64;

// How a decoder's experts are shared out among volunteers (cells.h): the manifest's table `cells`.
struct CellOptions {
  CellKind kind = CellKind::experts;
  int experts = 0;  // in a cell; 0: there are no cells, and everybody holds the whole model
  int holders = 2;  // volunteers that are to hold each cell
  CellUpdate update = CellUpdate::round;
  Codec codec = Codec::int8;  // values' on their way to experts and back
  // Experts whose answers a token needs; the others are waited for half as long again. 0: all are waited for.
  int answers_min = 0;
  std::vector<Digest> digests{};  // for the state that each cell begins with, by cell
  friend bool operator==(const CellOptions&, const CellOptions&) = default;
};

// The experts of a decoder (client/models/experts.h), each with a hidden layer of mlp_width.
struct ExpertOptions {
  int rows = 0;     // rows of a layer's grid; 0: there are no experts
  int columns = 1;  // columns of the grid
  int every = 1;    // layers from one with experts to the next; the last of each such stretch has them
  int active = 2;   // experts that a token goes through
  double load_loss = 0.01;
  double z_loss = 0.001;
  CellOptions cells{};
  ModelPiece piece = kWholeModel;  // the subject of the layout and of costs; no setting of a manifest
};

struct ModelOptions {
  Architecture architecture = Architecture::gpt;
  int layers = 4;                             // blocks; resnet: 18 or 50; mlp: hidden layers
  int width = 128;                            // values between the blocks
  int heads = 4;                              // attention heads
  int context = 128;                          // tokens (bytes, or others) a sample holds, beside the last target
  int vocabulary = 256;                       // number of tokens; 256 where they are byte values
  Positions positions = Positions::learned;   // gpt
  Activation activation = Activation::relu2;  // gpt
  int recent = 3;            // gpt: tokens before its own whose embeddings join a position's input (model_layout.h)
  int embedding_width = 64;  // albert: a token's, before it is widened to the model's width
  int mlp_width = 512;       // albert, decoder: hidden layer of a block
  int kv_heads = 0;          // decoder: heads of keys and values (grouped-query attention); 0: as many as heads
  OutputLayer output_layer = OutputLayer::tied;  // decoder
  ExpertOptions experts{};                       // decoder
  double masked = 0.15;  // albert: the fraction of a sample's tokens that the model has to guess
  int inputs = 784;      // mlp: values a sample holds
  int channels = 3;      // resnet: channels of an image
  int image_size = 32;   // resnet: pixels an image is high and wide; up to 64 the first layer keeps them all
  int classes = 10;      // resnet, mlp, script: number of labels
  ScriptModel script{};  // script
};

// Facts about an architecture, from the table in layouts.h.
// True if the model is a program of the operator's own, which volunteers are asked about before they run it.
bool has_program(const ModelOptions& model);
// True if the model can continue a text token by token.
bool writes_text(const ModelOptions& model);
// Number of values of a sample; 0 where samples are text.
std::int64_t input_values(const ModelOptions& model);

// A setting's range, both ends included, and the value with which it is left out of the canonical form, so that
// manifests from before it keep their bytes, and so their signatures.
template <typename Number>
struct ModelSetting {
  Number least;
  Number most;
  std::optional<Number> left_out{};
};
// Like ModelSetting, for a word.
template <typename Word>
struct ModelWord {
  std::optional<Word> left_out{};
};

// Calls visit(name, value, setting) for each setting that options.architecture has, in the order of the canonical form.
// Options may be const.
template <typename Options, typename Visit>
void each_model_setting(Options& options, const Visit& visit) {
  using Count = ModelSetting<int>;
  constexpr int kLayersMax = 256, kWidthMax = 16384, kContextMax = 65536, kVocabularyMax = 1 << 20,
                kClassesMax = 1 << 20, kExpertGridMax = 1024;
  const auto is = [&options](Architecture architecture) { return options.architecture == architecture; };
  const bool is_gpt = is(Architecture::gpt), is_albert = is(Architecture::albert);
  const bool is_decoder = is(Architecture::decoder), attends = is_gpt || is_albert || is_decoder;
  const bool is_resnet = is(Architecture::resnet), is_mlp = is(Architecture::mlp);
  const bool is_script = is(Architecture::script);  // context and vocabulary of text, or classes
  if (attends || is_resnet || is_mlp) visit("layers", options.layers, Count{1, kLayersMax});
  if (attends || is_mlp) visit("width", options.width, Count{1, kWidthMax});
  if (attends) {
    visit("heads", options.heads, Count{1, kWidthMax});
    visit("context", options.context, Count{1, kContextMax});
    visit("vocabulary", options.vocabulary, Count{2, kVocabularyMax});
  }
  if (is_gpt) {
    visit("positions", options.positions, ModelWord<Positions>{Positions::learned});
    visit("activation", options.activation, ModelWord<Activation>{Activation::relu2});
    visit("recent", options.recent, Count{0, 8, 3});
  }
  if (is_albert) {
    visit("embedding_width", options.embedding_width, Count{1, kWidthMax});
    visit("mlp_width", options.mlp_width, Count{1, 4 * kWidthMax});
    visit("masked", options.masked, ModelSetting<double>{0.01, 0.9});
  }
  if (is_decoder) {
    visit("kv_heads", options.kv_heads, Count{0, kWidthMax, 0});
    visit("mlp_width", options.mlp_width, Count{1, 4 * kWidthMax});
    visit("output_layer", options.output_layer, ModelWord<OutputLayer>{OutputLayer::tied});
    visit("expert_rows", options.experts.rows, Count{0, kExpertGridMax, 0});
  }
  if (is_decoder && options.experts.rows > 0) {
    visit("expert_columns", options.experts.columns, Count{1, kExpertGridMax, 1});
    visit("expert_every", options.experts.every, Count{1, kLayersMax, 1});
    visit("active_experts", options.experts.active, Count{1, 64});
    visit("load_loss", options.experts.load_loss, ModelSetting<double>{0, 1});
    visit("z_loss", options.experts.z_loss, ModelSetting<double>{0, 1});
  }
  if (is_resnet) {
    visit("channels", options.channels, Count{1, 64});
    visit("image_size", options.image_size, Count{8, 1024});
  }
  if (is_mlp) visit("inputs", options.inputs, Count{1, 1 << 24});
  if (is_script) {
    visit("context", options.context, Count{1, kContextMax, 128});
    visit("vocabulary", options.vocabulary, Count{2, kVocabularyMax, 256});
    visit("classes", options.classes, Count{2, kClassesMax, 10});
    visit("activation_bytes", options.script.activation_bytes, ModelSetting<std::int64_t>{0, std::int64_t{1} << 40, 0});
  }
  if (is_resnet || is_mlp) visit("classes", options.classes, Count{2, kClassesMax});
}

}  // namespace starling::wire
