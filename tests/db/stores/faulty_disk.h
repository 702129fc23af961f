// A disk that can lose its power, run full or fail, as a file layer of SQLite over real files. For each file it keeps
// the content that the platters would hold: only synced data. The power fails at a chosen call; from then on nothing is
// written, and restore() produces the files that a restarted machine would find.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace starling::db::testing {

class FaultyDisk {
 public:
  // Registered as a file layer during its lifetime; one at a time. Connections to it must be closed first.
  FaultyDisk();
  ~FaultyDisk();
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;

  [[nodiscard]] static std::string vfs() { return "faulty-disk"; }

  // The power fails at the n-th write, truncation, removal or sync from now on. Each 512-byte sector that was not
  // synced by then is kept or lost at random by `seed`: disks reorder writes, and tear them.
  void cut_power_at(std::int64_t call, std::uint64_t seed);
  void cut_power_now(std::uint64_t seed);
  [[nodiscard]] bool is_off() const;
  [[nodiscard]] std::int64_t calls() const;
  // Writes the content after the power cut, for a start with the default file layer.
  void restore(const std::filesystem::path& folder) const;

  // The n-th sync from now on fails with EIO; 0: none.
  void fail_sync_at(std::int64_t sync);
  // Limits the size of all files together, and of `reserve` if it exists, to `bytes`. Negative: no limit.
  void set_capacity(std::int64_t bytes, const std::filesystem::path& reserve = {});
  [[nodiscard]] std::int64_t bytes_used() const;
};

}  // namespace starling::db::testing
