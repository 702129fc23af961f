#include "coordinator/dataset/text_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

#include "coordinator/dataset/examples.h"
#include "coordinator/dataset/file_kind.h"
#include "shared/base/os_error.h"

namespace starling::dataset {
namespace {

constexpr std::size_t kReadBytes = 1 << 20;
constexpr std::int64_t kMegabyte = 1'000'000;
constexpr std::size_t kNotesMax = 5;

double share_of(std::int64_t part, std::int64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

// Why a file has too many bytes that are no text, with what most likely is the reason.
std::string why_refused(const ByteCounts& counts) {
  const double nuls = share_of(counts.nuls, counts.all);
  if (nuls > 0.6) return "it is in UTF-32, or no text: convert it first: iconv -f UTF-32 -t UTF-8";
  if (nuls > 0.2) {
    return fmt::format(
        "{} of its bytes are zero, as in UTF-16: convert it first: iconv -f UTF-16LE (or UTF-16BE) -t UTF-8",
        percent_of(nuls));
  }
  if (counts.nuls > counts.invalid) return fmt::format("{} of its bytes are zero: it is no text", percent_of(nuls));
  return fmt::format(
      "{} of its bytes are no UTF-8: convert it from the encoding that it has, for example with iconv -f ISO-8859-1 -t "
      "UTF-8",
      percent_of(share_of(counts.invalid, counts.all)));
}

// All that is known once the files were looked at.
struct Findings {
  std::vector<std::string> refused;  // "'a.gz': it is compressed (gzip): unpack it first"
  std::vector<std::string> invalid;  // "12 in 'a.txt'"
  std::vector<std::string> nuls;
};

Status look_at(const std::filesystem::path& file, double invalid_max, Findings& findings, std::int64_t& bytes_read,
               Progress& progress) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return os_error("read", file, errno);
  ByteCounter counter;
  std::string block(kReadBytes, '\0');
  bool first = true;
  while (in) {
    in.read(block.data(), static_cast<std::streamsize>(block.size()));
    if (in.bad()) return os_error("read", file, errno);
    const std::string_view got(block.data(), static_cast<std::size_t>(in.gcount()));
    if (const FileKind* kind = std::exchange(first, false) ? kind_of_file(got) : nullptr; kind != nullptr) {
      findings.refused.push_back(fmt::format("'{}': it is {}: {}", file.string(), kind->name, kind->advice));
      return {};
    }
    counter.add(got);
    bytes_read += static_cast<std::int64_t>(got.size());
    progress.advance_to(bytes_read / kMegabyte);
  }
  const ByteCounts counts = counter.finish();
  if (share_of(counts.invalid + counts.nuls, counts.all) > invalid_max) {
    findings.refused.push_back(fmt::format("'{}': {}", file.string(), why_refused(counts)));
    return {};
  }
  if (counts.invalid > 0) findings.invalid.push_back(fmt::format("{} in '{}'", counts.invalid, file.string()));
  if (counts.nuls > 0) findings.nuls.push_back(fmt::format("{} in '{}'", counts.nuls, file.string()));
  return {};
}

}  // namespace

void ByteCounter::begin_character(unsigned char byte) {
  least_ = 0x80;
  most_ = 0xbf;
  wanted_ = 0;
  if (byte >= 0xc2 && byte <= 0xdf) wanted_ = 1;
  if (byte >= 0xe0 && byte <= 0xef) wanted_ = 2;
  if (byte >= 0xf0 && byte <= 0xf4) wanted_ = 3;
  if (byte == 0xe0) least_ = 0xa0;  // shorter forms exist of what is below
  if (byte == 0xed) most_ = 0x9f;   // halves of UTF-16's pairs
  if (byte == 0xf0) least_ = 0x90;
  if (byte == 0xf4) most_ = 0x8f;  // behind Unicode's last character
  seen_ = wanted_ > 0 ? 1 : 0;
  if (byte >= 0x80 && wanted_ == 0) ++counts_.invalid;
  if (byte == 0) ++counts_.nuls;
}

void ByteCounter::add_byte(unsigned char byte) {
  if (wanted_ == 0) {
    begin_character(byte);
    return;
  }
  if (byte < least_ || byte > most_) {
    counts_.invalid += seen_;
    begin_character(byte);
    return;
  }
  least_ = 0x80;
  most_ = 0xbf;
  ++seen_;
  if (--wanted_ == 0) seen_ = 0;
}

void ByteCounter::add(std::string_view bytes) {
  counts_.all += static_cast<std::int64_t>(bytes.size());
  for (const char byte : bytes) {
    const auto code = static_cast<unsigned char>(byte);
    if (wanted_ == 0 && code < 0x80 && code != 0) continue;
    add_byte(code);
  }
}

ByteCounts ByteCounter::finish() {
  if (wanted_ > 0) counts_.invalid += seen_;
  wanted_ = 0;
  seen_ = 0;
  return counts_;
}

Result<std::vector<std::string>> check_texts(std::span<const std::filesystem::path> files, double invalid_max,
                                             Progress& progress) {
  std::int64_t bytes = 0;
  std::error_code unknown;
  for (const std::filesystem::path& file : files) bytes += static_cast<std::int64_t>(file_size(file, unknown));
  progress.begin("looking at the text", bytes / kMegabyte, "MB");
  Findings findings;
  std::int64_t bytes_read = 0;
  for (const std::filesystem::path& file : files) {
    STARLING_TRY(look_at(file, invalid_max, findings, bytes_read, progress));
  }
  if (files.size() == 1 && !findings.refused.empty()) {
    return Error{ErrorCode::invalid_argument, "read text: " + findings.refused.front()};
  }
  if (!findings.refused.empty()) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("read text: {} of {} files are no text in UTF-8: {}", findings.refused.size(),
                             files.size(), examples_of(findings.refused))};
  }
  std::vector<std::string> notes;
  if (!findings.invalid.empty()) {
    notes.push_back(fmt::format("bytes that are no UTF-8, for which U+FFFD stands: {}",
                                examples_of(findings.invalid, ", ", kNotesMax)));
  }
  if (!findings.nuls.empty()) {
    notes.push_back(fmt::format("bytes that are zero, left out: {}", examples_of(findings.nuls, ", ", kNotesMax)));
  }
  return notes;
}

std::string why_no_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string head(kFileHeadBytes, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, in.gcount())));
  const FileKind* const kind = kind_of_file(head);
  return kind == nullptr ? "" : fmt::format("'{}' is {}", file.string(), kind->name);
}

}  // namespace starling::dataset
