#include "coordinator/dataset/vocabulary.h"

#include <fmt/core.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <unordered_map>

namespace starling::dataset {
namespace {

constexpr int kLogErrors = 2;

// Pieces of text, evenly spaced over all of it.
class Sentences final : public sentencepiece::SentenceIterator {
 public:
  explicit Sentences(TextReader& text) : text_(text) {
    text_.rewind();
    const auto stride = static_cast<int>((text_.bytes_total() + kVocabularyTextBytesMax - 1) / kVocabularyTextBytesMax);
    stride_ = std::max(1, stride);
    there_ = text_.next();
  }
  [[nodiscard]] bool done() const override { return !there_; }
  void Next() override {
    for (int i = 0; i < stride_ && there_; ++i) there_ = text_.next();
  }
  [[nodiscard]] const std::string& value() const override { return text_.piece(); }
  [[nodiscard]] sentencepiece::util::Status status() const override {
    if (text_.status().ok()) return {};
    return {sentencepiece::util::StatusCode::kDataLoss, text_.status().error().message};
  }

 private:
  TextReader& text_;
  int stride_ = 1;
  bool there_ = false;
};

}  // namespace

Result<std::string> learn_vocabulary(TextReader& text, int vocabulary, int threads) {
  const std::unordered_map<std::string, std::string> wanted = {
      {"vocab_size", std::to_string(vocabulary)},
      {"num_threads", std::to_string(threads)},
      {"max_sentence_length", std::to_string(kPieceBytesMax)},
      {"minloglevel", std::to_string(kLogErrors)},
      {"model_type", "unigram"},
      {"pad_id", "0"},
      {"unk_id", "1"},
      {"bos_id", "2"},
      {"eos_id", "3"},
      {"pad_piece", "<pad>"},
      {"unk_piece", "<unk>"},
      {"bos_piece", "[CLS]"},
      {"eos_piece", "[SEP]"},
      {"control_symbols", "[MASK]"},
  };
  Sentences sentences(text);
  std::string model;
  const auto learned = sentencepiece::SentencePieceTrainer::Train(wanted, &sentences, &model);
  STARLING_TRY(text.status());
  if (learned.ok()) return model;
  return Error{ErrorCode::invalid_argument,
               fmt::format("learn a vocabulary of {} tokens: {}", vocabulary, learned.ToString())};
}

}  // namespace starling::dataset
