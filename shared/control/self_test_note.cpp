#include "shared/control/self_test_note.h"

#include "shared/base/files.h"
#include "shared/wire/fields.h"

namespace starling::wire {
namespace {

constexpr std::size_t kFileBytesMax = 4096;
constexpr const char* kName = "self-test.json";
constexpr const char* kMissesName = "misses.json";

struct SelfTestNote {
  WallTime passed;
};

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, SelfTestNote>& note) {
  visit("passed_ms", note.passed.unix_ms, Whole{0, INT64_MAX});
}

struct MissesNote {
  std::int64_t misses = 0;
  WallTime told;
};

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, MissesNote>& note) {
  visit("misses", note.misses, Whole{0, INT64_MAX});
  visit("told_ms", note.told.unix_ms, Whole{0, INT64_MAX});
}

}  // namespace

WallTime first_told_of_miss(const std::filesystem::path& project_folder, std::int64_t misses, WallTime now) {
  const std::filesystem::path path = project_folder / kMissesName;
  if (const auto text = read_file(path, kFileBytesMax); text.ok()) {
    const auto note = decode_fields<MissesNote>(*text, "misses", kFileBytesMax);
    if (note.ok() && note->misses == misses) return note->told;
  }
  // Without the note a self-test that is made while the daemon is away does not count: it can be made again.
  (void)write_file_atomically(path, encode_fields(MissesNote{misses, now}));
  return now;
}

Status note_self_test(const std::filesystem::path& data_dir, WallTime passed) {
  return write_file_atomically(data_dir / kName, encode_fields(SelfTestNote{passed}));
}

bool self_test_passed_since(const std::filesystem::path& project_folder, WallTime since) {
  const std::filesystem::path parent = project_folder.parent_path();
  const std::filesystem::path data_dir = parent.filename() == "projects" ? parent.parent_path() : project_folder;
  const auto text = read_file(data_dir / kName, kFileBytesMax);
  if (!text.ok()) return false;
  const auto note = decode_fields<SelfTestNote>(*text, "self-test", kFileBytesMax);
  return note.ok() && note->passed.unix_ms >= since.unix_ms;
}

}  // namespace starling::wire
