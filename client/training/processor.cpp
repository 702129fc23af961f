#include "client/training/processor.h"

#include <fstream>
#include <string_view>

#include "shared/base/machine_limits.h"

namespace starling::training {
namespace {

constexpr std::string_view kBlank = " \t";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

bool has_word(std::string_view line, std::string_view word) {
  for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || line[at - 1] == ' ') && (end == line.size() || line[end] == ' ')) return true;
  }
  return false;
}

}  // namespace

Processor read_processor(const std::filesystem::path& root) {
  Processor processor;
  processor.memory_bytes = memory_allowed_bytes(root);
  std::string board;  // 64-bit ARM names the board instead of the processor, if anything
  bool knows_flags = false;
  std::ifstream facts(root / "proc/cpuinfo");
  for (std::string line; std::getline(facts, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string_view key = trimmed(std::string_view(line).substr(0, colon));
    const std::string_view value = trimmed(std::string_view(line).substr(colon + 1));
    if (key == "model name" && processor.name.empty()) processor.name = value;
    if (key == "Model" && board.empty()) board = value;
    if (key != "flags" || knows_flags) continue;
    knows_flags = true;
    processor.bf16 = has_word(value, "amx_bf16") || has_word(value, "avx512_bf16");
  }
  if (processor.name.empty()) processor.name = board;
  return processor;
}

}  // namespace starling::training
