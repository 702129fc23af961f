#include "coordinator/dataset/vocabulary.h"

#include <fmt/core.h>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "shared/base/permutation.h"

namespace starling::dataset {
namespace {

constexpr int kLogErrors = 2;
constexpr std::uint64_t kDrawSeed = 0x7a3c5e19;
constexpr std::string_view kReserved = "\u2585";  // SentencePiece's own mark: it learns nothing from lines that have it

using Settings = std::unordered_map<std::string, std::string>;

// Draws pieces of a text by a hash of their number, each with the same chance.
class Draw {
 public:
  Draw(TextReader& text, std::int64_t bytes)
      : text_(text), chance_(static_cast<double>(bytes) / static_cast<double>(text.bytes_total())) {
    text_.rewind();
  }
  // Goes to the next piece that is drawn; false if there is none.
  bool next() {
    while (text_.next()) {
      constexpr double kUnit = 0x1p-53;
      const double drawn = static_cast<double>(mix64(kDrawSeed ^ mix64(pieces_++)) >> 11) * kUnit;
      if (drawn >= chance_) continue;
      piece_ = text_.piece();
      for (std::size_t at = piece_.find(kReserved); at != std::string::npos; at = piece_.find(kReserved, at)) {
        piece_.replace(at, kReserved.size(), " ");
      }
      return true;
    }
    return false;
  }
  [[nodiscard]] const std::string& piece() const { return piece_; }
  [[nodiscard]] const Status& status() const { return text_.status(); }

 private:
  TextReader& text_;
  double chance_;
  std::string piece_;
  std::uint64_t pieces_ = 0;
};

// The drawn pieces as SentencePiece asks for them.
class Sentences final : public sentencepiece::SentenceIterator {
 public:
  explicit Sentences(Draw draw) : draw_(draw), there_(draw_.next()) {}
  [[nodiscard]] bool done() const override { return !there_; }
  void Next() override { there_ = draw_.next(); }
  [[nodiscard]] const std::string& value() const override { return draw_.piece(); }
  [[nodiscard]] sentencepiece::util::Status status() const override {
    if (draw_.status().ok()) return {};
    return {sentencepiece::util::StatusCode::kDataLoss, draw_.status().error().message};
  }

 private:
  Draw draw_;
  bool there_ = false;
};

// A text of one letter.
class OneLetter final : public sentencepiece::SentenceIterator {
 public:
  [[nodiscard]] bool done() const override { return done_; }
  void Next() override { done_ = true; }
  [[nodiscard]] const std::string& value() const override { return letter_; }
  [[nodiscard]] sentencepiece::util::Status status() const override { return {}; }

 private:
  std::string letter_ = "a";
  bool done_ = false;
};

Error refused(const VocabularyOptions& options, std::string_view why) {
  return {ErrorCode::invalid_argument, fmt::format("learn a vocabulary of {} tokens: {}", options.tokens, why)};
}

// SentencePiece ends the process when nothing is left of a text that its normaliser has gone over: blanks of all kinds,
// control characters, marks without width. A model of one letter has the same normaliser, and is asked first.
Status check_not_blank(Draw draw, const VocabularyOptions& options) {
  const Settings wanted = {{"vocab_size", "64"},
                           {"hard_vocab_limit", "false"},
                           {"model_type", "char"},
                           {"num_threads", "1"},
                           {"minloglevel", std::to_string(kLogErrors)}};
  OneLetter letter;
  std::string model;
  sentencepiece::SentencePieceProcessor normalizer;
  const auto learned = sentencepiece::SentencePieceTrainer::Train(wanted, &letter, &model);
  if (!learned.ok() || !normalizer.LoadFromSerializedProto(model).ok()) {
    return Error{ErrorCode::internal, "learn a vocabulary: SentencePiece cannot learn a single letter"};
  }
  std::vector<int> tokens;
  while (draw.next()) {
    if (normalizer.Encode(draw.piece(), &tokens).ok() && !tokens.empty()) return {};
  }
  STARLING_TRY(draw.status());
  return refused(options, "the text has nothing but blanks, line breaks and characters that do not show");
}

// The whole number behind `words`.
std::optional<int> number_behind(std::string_view words, std::string_view text) {
  const std::size_t at = text.find(words);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + words.size());
  int number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc()) return std::nullopt;
  return number;
}

// SentencePiece's reason in words for the operator. Its own name places in its source.
std::string reason_of(std::string_view message) {
  if (const auto most = number_behind("value <= ", message)) {
    if (*most < kVocabularyLeast) return fmt::format("the text bears {} only: it takes more text", *most);
    return fmt::format("the text bears {} at most: use --vocabulary {} or less, or more text", *most, *most);
  }
  if (const auto least = number_behind(" vs ", message)) {
    return fmt::format("it must have {} at least, one for each letter of the text: use --vocabulary {} or more", *least,
                       *least);
  }
  const std::size_t place = message.rfind("] ");
  const std::string_view told = place == std::string_view::npos ? "" : message.substr(place + 2);
  return told.empty() ? "SentencePiece cannot learn from this text" : fmt::format("SentencePiece says: {}", told);
}

}  // namespace

Result<std::string> learn_vocabulary(TextReader& text, const VocabularyOptions& options) {
  const Settings wanted = {
      {"vocab_size", std::to_string(options.tokens)},
      {"num_threads", std::to_string(options.threads)},
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
  STARLING_TRY(check_not_blank(Draw(text, options.text_bytes), options));
  Sentences sentences(Draw(text, options.text_bytes));
  std::string model;
  const auto learned = sentencepiece::SentencePieceTrainer::Train(wanted, &sentences, &model);
  STARLING_TRY(text.status());
  if (learned.ok()) return model;
  return refused(options, reason_of(learned.ToString()));
}

}  // namespace starling::dataset
