#include "shared/run/hugging_face.h"

#include <map>
#include <utility>

#include "shared/base/verify.h"
#include "shared/run/manifest_fields.h"
#include "shared/run/model_layout.h"

namespace starling::wire {
namespace {

// Takes tensors from the flat vector by their names here, and gives them their names there.
class Exporter {
 public:
  Exporter(const ModelOptions& model, std::span<const float> parameters) {
    VERIFY(parameters.size() == parameter_count(model));
    for (const ParameterInfo& info : model_layout(model)) {
      values_.emplace(info.name, std::pair(info.shape, parameters.subspan(info.offset, info.count)));
    }
  }

  void as_is(const std::string& here, const std::string& there) {
    const auto& [shape, values] = values_.at(here);
    add(there, shape, {values.begin(), values.end()});
  }
  // Takes weight and bias.
  void both(const std::string& here, const std::string& there) {
    as_is(here + ".weight", there + ".weight");
    as_is(here + ".bias", there + ".bias");
  }
  // Takes a matrix and stores it transposed, like GPT-2.
  void transposed(const std::string& here, const std::string& there) {
    const auto& [shape, values] = values_.at(here);
    const auto rows = static_cast<std::size_t>(shape[0]), columns = static_cast<std::size_t>(shape[1]);
    std::vector<float> turned(values.size());
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t column = 0; column < columns; ++column) {
        turned[column * rows + row] = values[row * columns + column];
      }
    }
    add(there, {shape[1], shape[0]}, std::move(turned));
  }
  // Takes a number of its rows, from this one on.
  void rows(const std::string& here, std::int64_t first, std::int64_t count, const std::string& there) {
    const auto& [shape, values] = values_.at(here);
    const auto chosen =
        values.subspan(static_cast<std::size_t>(first * shape[1]), static_cast<std::size_t>(count * shape[1]));
    add(there, {count, shape[1]}, {chosen.begin(), chosen.end()});
  }
  // Takes each row of the one plus each row of the other.
  void sums(const std::string& one, const std::string& other, const std::string& there) {
    const auto& [shape, values] = values_.at(one);
    const auto& [other_shape, other_values] = values_.at(other);
    const auto width = static_cast<std::size_t>(shape[1]);
    std::vector<float> sums;
    for (std::size_t row = 0; row < values.size(); row += width) {
      for (std::size_t i = 0; i < other_values.size(); ++i) sums.push_back(values[row + i % width] + other_values[i]);
    }
    add(there, {shape[0] * other_shape[0], shape[1]}, std::move(sums));
  }
  void zeros(const std::string& there, int size) {
    add(there, {size}, std::vector<float>(static_cast<std::size_t>(size)));
  }

  ExportedModel take(std::string config) {
    result_.config = std::move(config);
    return std::move(result_);
  }

 private:
  void add(const std::string& name, std::vector<std::int64_t> shape, std::vector<float> values) {
    result_.tensors.push_back({name, TensorType::f32, std::move(shape), 0, 0});
    result_.values.push_back(std::move(values));
  }

  std::map<std::string, std::pair<std::vector<std::int64_t>, std::span<const float>>> values_;
  ExportedModel result_;
};

void begin_config(JsonWriter& writer, std::string_view architecture, std::string_view type) {
  writer.open("", '{');
  writer.open("architectures", '[');
  writer.text("", architecture);
  writer.close(']');
  writer.text("model_type", type);
  writer.text("torch_dtype", "float32");
}

void write_mark_ids(JsonWriter& writer) {
  writer.integer("pad_token_id", kPadding);
  writer.integer("bos_token_id", kSampleBegin);
  writer.integer("eos_token_id", kStretchEnd);
}

std::string gpt2_config(const ModelOptions& model, DataKind data_kind) {
  JsonWriter writer;
  begin_config(writer, "GPT2LMHeadModel", "gpt2");
  writer.integer("n_layer", model.layers);
  writer.integer("n_embd", model.width);
  writer.integer("n_head", model.heads);
  writer.integer("n_positions", model.context);
  writer.integer("n_ctx", model.context);
  writer.integer("vocab_size", model.vocabulary);
  writer.text("activation_function", "gelu_new");
  writer.number("layer_norm_epsilon", 1e-5);
  for (const char* dropout : {"attn_pdrop", "embd_pdrop", "resid_pdrop"}) writer.number(dropout, 0);
  writer.boolean("tie_word_embeddings", true);
  if (data_kind == DataKind::tokens) write_mark_ids(writer);  // data of bytes have no marks
  writer.close('}');
  return std::move(writer.str());
}

ExportedModel export_gpt2(const ModelOptions& model, DataKind data_kind, std::span<const float> parameters) {
  Exporter exporter(model, parameters);
  exporter.as_is("embedding.weight", "transformer.wte.weight");
  exporter.as_is("position.weight", "transformer.wpe.weight");
  for (int layer = 0; layer < model.layers; ++layer) {
    const std::string here = "block" + std::to_string(layer) + ".";
    const std::string there = "transformer.h." + std::to_string(layer) + ".";
    exporter.both(here + "attention_norm", there + "ln_1");
    exporter.transposed(here + "qkv.weight", there + "attn.c_attn.weight");
    exporter.zeros(there + "attn.c_attn.bias", 3 * model.width);
    exporter.transposed(here + "attention_out.weight", there + "attn.c_proj.weight");
    exporter.as_is(here + "attention_out.bias", there + "attn.c_proj.bias");
    exporter.both(here + "mlp_norm", there + "ln_2");
    exporter.transposed(here + "mlp_in.weight", there + "mlp.c_fc.weight");
    exporter.as_is(here + "mlp_in.bias", there + "mlp.c_fc.bias");
    exporter.transposed(here + "mlp_out.weight", there + "mlp.c_proj.weight");
    exporter.as_is(here + "mlp_out.bias", there + "mlp.c_proj.bias");
  }
  exporter.both("final_norm", "transformer.ln_f");
  return exporter.take(gpt2_config(model, data_kind));
}

std::string albert_config(const ModelOptions& model) {
  JsonWriter writer;
  begin_config(writer, "AlbertForPreTraining", "albert");
  writer.integer("num_hidden_layers", model.layers);
  writer.integer("hidden_size", model.width);
  writer.integer("num_attention_heads", model.heads);
  writer.integer("embedding_size", model.embedding_width);
  writer.integer("intermediate_size", model.mlp_width);
  writer.integer("max_position_embeddings", model.context);
  writer.integer("vocab_size", model.vocabulary);
  writer.integer("num_hidden_groups", 1);
  writer.integer("inner_group_num", 1);
  writer.integer("type_vocab_size", 2);
  writer.text("hidden_act", "gelu_new");
  writer.number("layer_norm_eps", 1e-12);
  for (const char* dropout : {"hidden_dropout_prob", "attention_probs_dropout_prob", "classifier_dropout_prob"}) {
    writer.number(dropout, 0);
  }
  write_mark_ids(writer);
  writer.close('}');
  return std::move(writer.str());
}

ExportedModel export_albert(const ModelOptions& model, std::span<const float> parameters) {
  Exporter exporter(model, parameters);
  const std::string embeddings = "albert.embeddings.", encoder = "albert.encoder.";
  const std::string layer = encoder + "albert_layer_groups.0.albert_layers.0.";
  exporter.as_is("embedding.weight", embeddings + "word_embeddings.weight");
  exporter.as_is("position.weight", embeddings + "position_embeddings.weight");
  exporter.as_is("segment.weight", embeddings + "token_type_embeddings.weight");
  exporter.both("embedding_norm", embeddings + "LayerNorm");
  exporter.both("widen", encoder + "embedding_hidden_mapping_in");
  std::int64_t first = 0;
  for (const char* name : {"query", "key", "value"}) {
    exporter.rows("qkv.weight", std::exchange(first, first + model.width), model.width,
                  layer + "attention." + name + ".weight");
    exporter.zeros(layer + "attention." + name + ".bias", model.width);
  }
  exporter.both("attention_out", layer + "attention.dense");
  exporter.both("attention_norm", layer + "attention.LayerNorm");
  exporter.both("mlp_in", layer + "ffn");
  exporter.both("mlp_out", layer + "ffn_output");
  exporter.both("mlp_norm", layer + "full_layer_layer_norm");
  exporter.both("pooler", "albert.pooler");
  exporter.both("guess", "predictions.dense");
  exporter.both("guess_norm", "predictions.LayerNorm");
  exporter.as_is("guess_out.bias", "predictions.bias");
  exporter.as_is("guess_out.bias", "predictions.decoder.bias");
  exporter.both("order", "sop_classifier.classifier");
  return exporter.take(albert_config(model));
}

// Layers with perceptrons and layers with experts in one model have no class there.
bool is_mixtral(const ModelOptions& model) { return model.experts.rows > 0 && model.experts.every == 1; }

std::string llama_config(const ModelOptions& model, DataKind data_kind) {
  JsonWriter writer;
  if (is_mixtral(model)) {
    begin_config(writer, "MixtralForCausalLM", "mixtral");
    writer.integer("num_local_experts", experts_in_layer(model));
    writer.integer("num_experts_per_tok", model.experts.active);
    writer.number("router_aux_loss_coef", model.experts.load_loss);
  } else {
    begin_config(writer, "LlamaForCausalLM", "llama");
  }
  writer.integer("num_hidden_layers", model.layers);
  writer.integer("hidden_size", model.width);
  writer.integer("num_attention_heads", model.heads);
  writer.integer("num_key_value_heads", kv_heads(model));
  writer.integer("head_dim", model.width / model.heads);
  writer.integer("intermediate_size", model.mlp_width);
  writer.integer("max_position_embeddings", model.context);
  writer.integer("vocab_size", model.vocabulary);
  writer.text("hidden_act", "silu");
  writer.number("rms_norm_eps", 1e-5);
  writer.number("rope_theta", 10000);
  writer.boolean("attention_bias", false);
  writer.boolean("mlp_bias", false);
  writer.boolean("tie_word_embeddings", model.output_layer == OutputLayer::tied);
  if (data_kind == DataKind::tokens) write_mark_ids(writer);  // data of bytes have no marks
  writer.close('}');
  return std::move(writer.str());
}

// A Mixtral's gate has a row for each expert: the sum of our grid's row and column.
void export_experts(Exporter& exporter, const ModelOptions& model, int layer) {
  const std::string here = "block" + std::to_string(layer) + ".";
  const std::string there = "model.layers." + std::to_string(layer) + ".block_sparse_moe.";
  if (model.experts.columns > 1) {
    exporter.sums(here + "gate_rows.weight", here + "gate_columns.weight", there + "gate.weight");
  } else {
    exporter.as_is(here + "gate_rows.weight", there + "gate.weight");
  }
  for (int expert = 0; expert < experts_in_layer(model); ++expert) {
    const std::string from = expert_name(layer, expert);
    const std::string to = there + "experts." + std::to_string(expert) + ".";
    exporter.rows(from + "mlp_in.weight", 0, model.mlp_width, to + "w1.weight");
    exporter.rows(from + "mlp_in.weight", model.mlp_width, model.mlp_width, to + "w3.weight");
    exporter.as_is(from + "mlp_out.weight", to + "w2.weight");
  }
}

ExportedModel export_llama(const ModelOptions& model, DataKind data_kind, std::span<const float> parameters) {
  Exporter exporter(model, parameters);
  const std::int64_t width = model.width, hidden = model.mlp_width;
  const std::int64_t kv_width = kv_heads(model) * (width / model.heads);
  exporter.as_is("embedding.weight", "model.embed_tokens.weight");
  for (int layer = 0; layer < model.layers; ++layer) {
    const std::string here = "block" + std::to_string(layer) + ".";
    const std::string there = "model.layers." + std::to_string(layer) + ".";
    exporter.as_is(here + "attention_norm.weight", there + "input_layernorm.weight");
    exporter.rows(here + "qkv.weight", 0, width, there + "self_attn.q_proj.weight");
    exporter.rows(here + "qkv.weight", width, kv_width, there + "self_attn.k_proj.weight");
    exporter.rows(here + "qkv.weight", width + kv_width, kv_width, there + "self_attn.v_proj.weight");
    exporter.as_is(here + "attention_out.weight", there + "self_attn.o_proj.weight");
    exporter.as_is(here + "mlp_norm.weight", there + "post_attention_layernorm.weight");
    if (is_mixtral(model)) {
      export_experts(exporter, model, layer);
      continue;
    }
    exporter.rows(here + "mlp_in.weight", 0, hidden, there + "mlp.gate_proj.weight");
    exporter.rows(here + "mlp_in.weight", hidden, hidden, there + "mlp.up_proj.weight");
    exporter.as_is(here + "mlp_out.weight", there + "mlp.down_proj.weight");
  }
  exporter.as_is("final_norm.weight", "model.norm.weight");
  if (model.output_layer == OutputLayer::own) exporter.as_is("output.weight", "lm_head.weight");
  return exporter.take(llama_config(model, data_kind));
}

ExportedModel export_as_it_is(const ModelOptions& model, std::span<const float> parameters) {
  Exporter exporter(model, parameters);
  for (const ParameterInfo& info : model_layout(model)) exporter.as_is(info.name, info.name);
  JsonWriter writer;
  writer.open("", '{');
  write_fields(writer, "model", model);
  writer.close('}');
  return exporter.take(std::move(writer.str()));
}

}  // namespace

bool is_for_transformers(const ModelOptions& model) {
  if (model.architecture == Architecture::decoder) return model.experts.rows == 0 || is_mixtral(model);
  return model.architecture == Architecture::albert ||
         (model.architecture == Architecture::gpt && model.positions == Positions::learned &&
          model.activation == Activation::gelu && model.recent == 0);
}

ExportedModel export_model(const ModelOptions& model, DataKind data_kind, std::span<const float> parameters) {
  if (!is_for_transformers(model)) return export_as_it_is(model, parameters);
  if (model.architecture == Architecture::albert) return export_albert(model, parameters);
  if (model.architecture == Architecture::decoder) return export_llama(model, data_kind, parameters);
  return export_gpt2(model, data_kind, parameters);
}

std::string export_tokenizer_config(const ModelOptions& model, std::span<const std::string> marks) {
  VERIFY(marks.size() == kReservedTokens);
  const bool is_albert = model.architecture == Architecture::albert;
  JsonWriter writer;
  writer.open("", '{');
  // GPT-SW3 is a GPT-2 whose tokens are SentencePiece's; ALBERT's class puts begin and end around each text.
  writer.text("tokenizer_class", is_albert ? "AlbertTokenizer" : "GPTSw3Tokenizer");
  // The SentencePiece model itself says how text is made uniform before it is cut; nothing else is done to it.
  writer.boolean("do_lower_case", false);
  writer.boolean("remove_space", false);
  writer.boolean("keep_accents", true);
  writer.text("pad_token", marks[kPadding]);
  writer.text("unk_token", marks[kUnknown]);
  writer.text("bos_token", marks[kSampleBegin]);
  writer.text("eos_token", marks[kStretchEnd]);
  if (is_albert) {
    writer.text("cls_token", marks[kSampleBegin]);
    writer.text("sep_token", marks[kStretchEnd]);
    writer.text("mask_token", marks[kMask]);
  }
  writer.integer("model_max_length", model.context);
  writer.close('}');
  return std::move(writer.str());
}

}  // namespace starling::wire
