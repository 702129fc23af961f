// A disk that can lose its power, run full or fail, as a file layer of SQLite over real files. It keeps
// beside each file what the platters would hold: only what was synced. The power goes at a chosen call;
// from then on nothing is written, and restore() lays out what a restarted machine would find.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace starling::db::testing {

class FaultyDisk {
 public:
  // Registered as a file layer for as long as it lives; one at a time. Connections to it must be closed first.
  FaultyDisk();
  ~FaultyDisk();
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;

  [[nodiscard]] static std::string vfs() { return "faulty-disk"; }

  // The power goes at the n-th write, truncation, removal or sync from now on. Of what was not synced by then,
  // each 512-byte sector is kept or lost at random by `seed`: disks reorder, and tear what they write.
  void cut_power_at(std::int64_t call, std::uint64_t seed);
  void cut_power_now(std::uint64_t seed);
  [[nodiscard]] bool is_off() const;
  [[nodiscard]] std::int64_t calls() const;
  // What is left after the cut, for a start with the default file layer.
  void restore(const std::filesystem::path& folder) const;

  // The n-th sync from now on fails with EIO; 0: none.
  void fail_sync_at(std::int64_t sync);
  // All files together, and `reserve` if it exists, may have so many bytes. Negative: any number.
  void set_capacity(std::int64_t bytes, const std::filesystem::path& reserve = {});
  [[nodiscard]] std::int64_t bytes_used() const;
};

}  // namespace starling::db::testing
