#include "shared/run/hugging_face.h"

#include <doctest/doctest.h>

#include "shared/run/model_layout.h"

using namespace starling::wire;

namespace {

const std::vector<std::string> kMarks = {"<pad>", "<unk>", "<s>", "</s>", "[MASK]"};

bool says(const std::string& json, const char* field) { return json.find(field) != std::string::npos; }

}  // namespace

TEST_CASE("text is handed to SentencePiece as it is, by the class that puts the marks where the model knows them") {
  ModelOptions model;
  model.context = 128;
  const std::string gpt = export_tokenizer_config(model, kMarks);
  CHECK(says(gpt, R"("tokenizer_class":"GPTSw3Tokenizer")"));
  CHECK(says(gpt, R"("do_lower_case":false)"));
  CHECK(says(gpt, R"("keep_accents":true)"));
  CHECK(says(gpt, R"("eos_token":"</s>")"));
  CHECK(says(gpt, R"("model_max_length":128)"));
  CHECK_FALSE(says(gpt, "mask_token"));

  model.architecture = Architecture::albert;
  const std::string albert = export_tokenizer_config(model, kMarks);
  CHECK(says(albert, R"("tokenizer_class":"AlbertTokenizer")"));
  CHECK(says(albert, R"("do_lower_case":false)"));
  CHECK(says(albert, R"("cls_token":"<s>")"));
  CHECK(says(albert, R"("sep_token":"</s>")"));
  CHECK(says(albert, R"("mask_token":"[MASK]")"));
}

TEST_CASE("only a GPT-2 of tokens ends its texts with a mark") {
  ModelOptions model{.layers = 1, .width = 8, .heads = 2, .context = 8, .vocabulary = 300};
  model.activation = Activation::gelu;
  model.recent = 0;
  REQUIRE(is_for_transformers(model));
  const std::vector<float> parameters(parameter_count(model));
  CHECK(says(export_model(model, DataKind::tokens, parameters).config, R"("eos_token_id":3)"));
  CHECK_FALSE(says(export_model(model, DataKind::bytes, parameters).config, "eos_token_id"));
}
