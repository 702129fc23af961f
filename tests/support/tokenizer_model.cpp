#include "tests/support/tokenizer_model.h"

#include <sentencepiece_trainer.h>

#include <unordered_map>
#include <utility>
#include <vector>

#include "shared/base/verify.h"

namespace starling::testing {
namespace {

class Lines final : public sentencepiece::SentenceIterator {
 public:
  explicit Lines(std::vector<std::string> lines) : lines_(std::move(lines)) {}
  [[nodiscard]] bool done() const override { return at_ == lines_.size(); }
  void Next() override { ++at_; }
  [[nodiscard]] const std::string& value() const override { return lines_[at_]; }
  [[nodiscard]] sentencepiece::util::Status status() const override { return {}; }

 private:
  std::vector<std::string> lines_;
  std::size_t at_ = 0;
};

}  // namespace

std::string tokenizer_model(int vocabulary, bool marks, const std::string& fourth) {
  const std::vector<std::string> words = {"the",   "heron", "stands", "seven", "river", "and",  "cold",
                                          "water", "runs",  "under",  "stone", "grey",  "wind", "slowly"};
  const std::vector<std::string> syllables = {"ta", "ro", "mi", "len", "su", "ver", "ga", "nol"};
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < 400; ++i) {
    std::string line;
    for (std::size_t k = 0; k < 6; ++k) {
      line += words[(i * 7 + k * (1 + i % 5)) % words.size()] + " " + syllables[(i + k) % 8] + syllables[i / 8 % 8] +
              syllables[(i / 64 + k) % 8] + " ";
    }
    lines.push_back(line);
  }
  std::unordered_map<std::string, std::string> wanted = {
      {"vocab_size", std::to_string(vocabulary)}, {"minloglevel", "2"}, {"num_threads", "1"}};
  if (marks) {
    wanted.insert({{"pad_id", "0"}, {"unk_id", "1"}, {"bos_id", "2"}, {"eos_id", "3"}, {"control_symbols", fourth}});
  }
  std::string model;
  Lines sentences(std::move(lines));
  const auto learned = sentencepiece::SentencePieceTrainer::Train(wanted, &sentences, &model);
  VERIFY(learned.ok());
  return model;
}

}  // namespace starling::testing
