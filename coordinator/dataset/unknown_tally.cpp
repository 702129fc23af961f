#include "coordinator/dataset/unknown_tally.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "coordinator/dataset/examples.h"

namespace starling::dataset {
namespace {

constexpr int kUnknown = 1;
constexpr std::size_t kLettersMax = 4096;  // kinds of letters that are counted
constexpr std::size_t kLettersTold = 5;
constexpr char32_t kReplacement = 0xfffd;

double share_of(std::int64_t part, std::int64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

// Takes a character of UTF-8 from the front of the text.
char32_t take_letter(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t size = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  char32_t letter = size == 1 ? first : first & (0x7fU >> size);
  bool whole = first < 0x80 || (first >= 0xc0 && text.size() >= size);
  for (std::size_t i = 1; whole && i < size; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    whole = (byte & 0xc0U) == 0x80;
    letter = letter << 6U | (byte & 0x3fU);
  }
  text.remove_prefix(whole ? size : 1);
  return whole ? letter : kReplacement;
}

// Only letters of the commonest scripts are shown as they are: others may be marks that change their surroundings.
bool may_be_shown(char32_t letter) {
  return (letter > 0x20 && letter < 0x7f) || (letter >= 0xa1 && letter < 0x300 && letter != 0xad) ||
         (letter >= 0x370 && letter < 0x483) || (letter >= 0x3041 && letter < 0xa000 && letter != 0x3164);
}

std::string spelled(char32_t letter) {
  const std::string number = fmt::format("U+{:04X}", static_cast<std::uint32_t>(letter));
  if (!may_be_shown(letter)) return number;
  std::string shown;
  if (letter < 0x80) {
    shown += static_cast<char>(letter);
  } else if (letter < 0x800) {
    shown += {static_cast<char>(0xc0U | letter >> 6U), static_cast<char>(0x80U | (letter & 0x3fU))};
  } else {
    shown += {static_cast<char>(0xe0U | letter >> 12U), static_cast<char>(0x80U | (letter >> 6U & 0x3fU)),
              static_cast<char>(0x80U | (letter & 0x3fU))};
  }
  return fmt::format("'{}' ({})", shown, number);
}

}  // namespace

void UnknownTally::add(const text::Tokenizer& tokenizer, std::string_view piece, std::span<const int> tokens) {
  tokens_ += static_cast<std::int64_t>(tokens.size());
  bytes_ += static_cast<std::int64_t>(piece.size());
  const auto unknown = std::count(tokens.begin(), tokens.end(), kUnknown);
  if (unknown == 0) return;
  unknown_ += unknown;
  for (const std::string& part : tokenizer.unknown_parts(piece)) {
    unknown_bytes_ += static_cast<std::int64_t>(part.size());
    for (std::string_view left = part; !left.empty();) {
      const char32_t letter = take_letter(left);
      if (letters_.size() < kLettersMax || letters_.contains(letter)) ++letters_[letter];
    }
  }
}

double UnknownTally::share() const { return std::max(share_of(unknown_, tokens_), share_of(unknown_bytes_, bytes_)); }

std::string UnknownTally::commonest_letters() const {
  std::vector<std::pair<std::int64_t, char32_t>> counted;
  for (const auto& [letter, count] : letters_) counted.emplace_back(-count, letter);
  std::sort(counted.begin(), counted.end());
  std::vector<std::string> words;
  for (const auto& [count, letter] : counted) words.push_back(spelled(letter));
  return examples_of(words, ", ", kLettersTold);
}

std::string UnknownTally::told() const {
  if (unknown_ == 0) return "none of the tokens is unknown";
  return fmt::format("{} of the tokens are unknown ({}, for {} of the text): {}",
                     percent_of(share_of(unknown_, tokens_)), unknown_, percent_of(share_of(unknown_bytes_, bytes_)),
                     commonest_letters());
}

}  // namespace starling::dataset
