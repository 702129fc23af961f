#include "tests/db/stores/faulty_disk.h"

#include <sqlite3.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <mutex>
#include <new>
#include <random>
#include <vector>

#include "shared/base/verify.h"

namespace starling::db::testing {
namespace {

constexpr std::size_t kSectorBytes = 512;

struct Change {
  std::int64_t offset = 0;
  std::string bytes;      // written at the offset
  bool truncate = false;  // the file is cut off at the offset instead
};

struct Platter {
  bool named = false;  // the folder's entry is on the disk, from the file's first sync on
  std::string durable;
  std::vector<Change> unsynced;
  std::int64_t size = 0;  // visible to programs
};

struct Disk {
  std::mutex mutex;
  sqlite3_vfs* real = nullptr;
  sqlite3_vfs vfs{};
  std::map<std::string, Platter> platters;
  bool off = false;
  std::int64_t calls = 0;
  std::int64_t cut_at = -1;
  std::uint64_t seed = 0;
  std::int64_t syncs_until_failure = 0;
  std::int64_t capacity = -1;
  std::filesystem::path reserve;
};
Disk* disk = nullptr;  // the C interface has no other way to it

struct File {
  sqlite3_file base;
  sqlite3_file* real;
  std::string* path;  // null for files that need not survive, such as the shared index
};
File* own(sqlite3_file* file) { return reinterpret_cast<File*>(file); }

void apply(std::string& image, const Change& change) {
  if (change.truncate) {
    image.resize(std::min(image.size(), static_cast<std::size_t>(change.offset)));
    return;
  }
  const std::size_t end = static_cast<std::size_t>(change.offset) + change.bytes.size();
  if (image.size() < end) image.resize(end);
  image.replace(static_cast<std::size_t>(change.offset), change.bytes.size(), change.bytes);
}

// Some of the pending data reaches the platter, sector by sector.
void lose_power(std::uint64_t seed) {
  disk->off = true;
  std::mt19937_64 random(seed);
  for (auto& [path, platter] : disk->platters) {
    for (const Change& change : platter.unsynced) {
      if (change.truncate) {
        if (random() % 2 == 0) apply(platter.durable, change);
        continue;
      }
      for (std::size_t at = 0; at < change.bytes.size(); at += kSectorBytes) {
        if (random() % 2 == 0) continue;
        apply(platter.durable,
              {change.offset + static_cast<std::int64_t>(at), change.bytes.substr(at, kSectorBytes), false});
      }
    }
    platter.unsynced.clear();
  }
}

// Called before each call that changes the disk. False: the power is off.
bool powered() {
  disk->calls += 1;
  if (!disk->off && disk->cut_at >= 0 && --disk->cut_at < 0) lose_power(disk->seed);
  return !disk->off;
}

std::int64_t used() {
  std::int64_t total = 0;
  for (const auto& [path, platter] : disk->platters) total += platter.size;
  std::error_code missing;
  const auto reserve = std::filesystem::file_size(disk->reserve, missing);
  return total + (missing ? 0 : static_cast<std::int64_t>(reserve));
}

int close_file(sqlite3_file* file) {
  const int code = own(file)->real->pMethods->xClose(own(file)->real);
  delete own(file)->path;
  return code;
}

int read_file(sqlite3_file* file, void* to, int count, sqlite3_int64 offset) {
  return own(file)->real->pMethods->xRead(own(file)->real, to, count, offset);
}

int write_file(sqlite3_file* file, const void* from, int count, sqlite3_int64 offset) {
  const std::scoped_lock lock(disk->mutex);
  if (own(file)->path != nullptr) {
    if (!powered()) return SQLITE_IOERR_WRITE;
    Platter& platter = disk->platters[*own(file)->path];
    const std::int64_t growth = std::max<std::int64_t>(0, offset + count - platter.size);
    if (disk->capacity >= 0 && growth > 0 && used() + growth > disk->capacity) return SQLITE_FULL;
    platter.unsynced.push_back(
        {offset, std::string(static_cast<const char*>(from), static_cast<std::size_t>(count)), false});
    platter.size += growth;
  }
  return own(file)->real->pMethods->xWrite(own(file)->real, from, count, offset);
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  const std::scoped_lock lock(disk->mutex);
  if (own(file)->path != nullptr) {
    if (!powered()) return SQLITE_IOERR_TRUNCATE;
    Platter& platter = disk->platters[*own(file)->path];
    platter.unsynced.push_back({size, {}, true});
    platter.size = std::min<std::int64_t>(platter.size, size);
  }
  return own(file)->real->pMethods->xTruncate(own(file)->real, size);
}

int sync_file(sqlite3_file* file, int) {
  const std::scoped_lock lock(disk->mutex);
  if (own(file)->path == nullptr) return SQLITE_OK;
  if (!powered()) return SQLITE_IOERR_FSYNC;
  if (disk->syncs_until_failure > 0 && --disk->syncs_until_failure == 0) return SQLITE_IOERR_FSYNC;
  Platter& platter = disk->platters[*own(file)->path];
  for (const Change& change : platter.unsynced) apply(platter.durable, change);
  platter.unsynced.clear();
  platter.named = true;
  return SQLITE_OK;
}

int file_size(sqlite3_file* file, sqlite3_int64* size) {
  return own(file)->real->pMethods->xFileSize(own(file)->real, size);
}
int lock_file(sqlite3_file* file, int level) { return own(file)->real->pMethods->xLock(own(file)->real, level); }
int unlock_file(sqlite3_file* file, int level) { return own(file)->real->pMethods->xUnlock(own(file)->real, level); }
int check_lock(sqlite3_file* file, int* held) {
  return own(file)->real->pMethods->xCheckReservedLock(own(file)->real, held);
}
int control_file(sqlite3_file* file, int operation, void* argument) {
  return own(file)->real->pMethods->xFileControl(own(file)->real, operation, argument);
}
int sector_size(sqlite3_file*) { return static_cast<int>(kSectorBytes); }
int characteristics(sqlite3_file*) { return 0; }  // promises nothing that a bad disk might not keep
int shm_map(sqlite3_file* file, int page, int size, int extend, void volatile** to) {
  return own(file)->real->pMethods->xShmMap(own(file)->real, page, size, extend, to);
}
int shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  return own(file)->real->pMethods->xShmLock(own(file)->real, offset, count, flags);
}
void shm_barrier(sqlite3_file* file) { own(file)->real->pMethods->xShmBarrier(own(file)->real); }
int shm_unmap(sqlite3_file* file, int remove) { return own(file)->real->pMethods->xShmUnmap(own(file)->real, remove); }

const sqlite3_io_methods kMethods = {
    2,         close_file,  read_file,  write_file,   truncate_file, sync_file,       file_size,
    lock_file, unlock_file, check_lock, control_file, sector_size,   characteristics, shm_map,
    shm_lock,  shm_barrier, shm_unmap,  nullptr,      nullptr};

int open_file(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  File* opened = new (file) File{{nullptr}, reinterpret_cast<sqlite3_file*>(own(file) + 1), nullptr};
  const int code = disk->real->xOpen(disk->real, name, opened->real, flags, out_flags);
  if (code != SQLITE_OK) return code;
  constexpr int kKept = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL;
  if (name != nullptr && (flags & kKept) != 0) opened->path = new std::string(name);
  opened->base.pMethods = &kMethods;
  return SQLITE_OK;
}

int delete_file(sqlite3_vfs*, const char* name, int sync_folder) {
  const std::scoped_lock lock(disk->mutex);
  if (!powered()) return SQLITE_IOERR_DELETE;
  disk->platters.erase(name);
  return disk->real->xDelete(disk->real, name, sync_folder);
}

}  // namespace

FaultyDisk::FaultyDisk() {
  VERIFY(disk == nullptr);
  disk = new Disk;
  disk->real = sqlite3_vfs_find(nullptr);
  disk->vfs = *disk->real;
  disk->vfs.pNext = nullptr;
  disk->vfs.zName = "faulty-disk";
  disk->vfs.szOsFile = static_cast<int>(sizeof(File)) + disk->real->szOsFile;
  disk->vfs.xOpen = open_file;
  disk->vfs.xDelete = delete_file;
  VERIFY(sqlite3_vfs_register(&disk->vfs, 0) == SQLITE_OK);
}

FaultyDisk::~FaultyDisk() {
  sqlite3_vfs_unregister(&disk->vfs);
  delete disk;
  disk = nullptr;
}

void FaultyDisk::cut_power_at(std::int64_t call, std::uint64_t seed) {
  const std::scoped_lock lock(disk->mutex);
  disk->cut_at = call;
  disk->seed = seed;
}

void FaultyDisk::cut_power_now(std::uint64_t seed) {
  const std::scoped_lock lock(disk->mutex);
  if (!disk->off) lose_power(seed);
}

bool FaultyDisk::is_off() const {
  const std::scoped_lock lock(disk->mutex);
  return disk->off;
}

std::int64_t FaultyDisk::calls() const {
  const std::scoped_lock lock(disk->mutex);
  return disk->calls;
}

void FaultyDisk::restore(const std::filesystem::path& folder) const {
  const std::scoped_lock lock(disk->mutex);
  for (const auto& [path, platter] : disk->platters) {
    if (!platter.named) continue;
    std::ofstream(folder / std::filesystem::path(path).filename(), std::ios::binary) << platter.durable;
  }
}

void FaultyDisk::fail_sync_at(std::int64_t sync) {
  const std::scoped_lock lock(disk->mutex);
  disk->syncs_until_failure = sync;
}

void FaultyDisk::set_capacity(std::int64_t bytes, const std::filesystem::path& reserve) {
  const std::scoped_lock lock(disk->mutex);
  disk->capacity = bytes;
  disk->reserve = reserve;
}

std::int64_t FaultyDisk::bytes_used() const {
  const std::scoped_lock lock(disk->mutex);
  return used();
}

}  // namespace starling::db::testing
