#include "coordinator/dataset/tokenizer.h"

#include <fmt/core.h>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "shared/wire/model_layout.h"

namespace starling::dataset {
namespace {

constexpr std::string_view kWordStart = "\u2581";  // as SentencePiece writes a blank
constexpr int kLogErrors = 2;

// Pieces of text, evenly from all of it.
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

struct Tokenizer::Impl {
  sentencepiece::SentencePieceProcessor processor;
};

Tokenizer::Tokenizer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::Tokenizer(Tokenizer&& other) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<Tokenizer> Tokenizer::from_model(std::string_view model) {
  auto impl = std::make_unique<Impl>();
  const auto loaded = impl->processor.LoadFromSerializedProto({model.data(), model.size()});
  if (!loaded.ok()) return Error{ErrorCode::invalid_argument, fmt::format("read the tokenizer: {}", loaded.ToString())};
  const auto& processor = impl->processor;
  const bool has_marks = processor.GetPieceSize() > wire::kReservedTokens && processor.pad_id() == 0 &&
                         processor.unk_id() == 1 && processor.bos_id() == 2 && processor.eos_id() == 3 &&
                         processor.IsControl(4);
  if (has_marks) return Tokenizer(std::move(impl));
  return Error{ErrorCode::invalid_argument,
               "read the tokenizer: its tokens 0 to 4 are not padding, unknown, begin, end and mask: train it with "
               "--pad_id=0 --unk_id=1 --bos_id=2 --eos_id=3 --control_symbols=[MASK]"};
}

int Tokenizer::vocabulary() const { return impl_->processor.GetPieceSize(); }

Status Tokenizer::encode(std::string_view text, std::vector<int>& tokens) const {
  const auto encoded = impl_->processor.Encode({text.data(), text.size()}, &tokens);
  if (encoded.ok()) return {};
  return Error{ErrorCode::internal, fmt::format("make tokens of text: {}", encoded.ToString())};
}

std::vector<std::uint8_t> Tokenizer::word_starts() const {
  std::vector<std::uint8_t> starts(static_cast<std::size_t>(vocabulary()), 1);
  for (int token = wire::kReservedTokens; token < vocabulary(); ++token) {
    starts[static_cast<std::size_t>(token)] = impl_->processor.IdToPiece(token).starts_with(kWordStart) ? 1 : 0;
  }
  return starts;
}

std::vector<std::uint8_t> Tokenizer::word_bytes() const {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(vocabulary()), 0);
  for (int token = 1; token < vocabulary(); ++token) {
    std::size_t length = 1;  // of one that nobody knows, and of one that stands for a byte
    if (token >= wire::kReservedTokens && !impl_->processor.IsByte(token)) {
      const std::string& piece = impl_->processor.IdToPiece(token);
      length = piece.size();
      for (std::size_t at = piece.find(kWordStart); at != std::string::npos; at = piece.find(kWordStart, at + 1)) {
        length -= kWordStart.size() - 1;  // a blank is one byte
      }
    } else if (token >= 2 && token < wire::kReservedTokens) {
      length = 0;
    }
    bytes[static_cast<std::size_t>(token)] = static_cast<std::uint8_t>(std::min<std::size_t>(length, 255));
  }
  return bytes;
}

}  // namespace starling::dataset
