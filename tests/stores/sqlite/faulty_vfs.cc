// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/sqlite/faulty_vfs.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace tenure::test {
namespace {

using Bytes = std::vector<unsigned char>;

Bytes read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

// In place: ext4 writes a file through to the disk at once that was cut to nothing first.
void write_whole(const std::string& path, const Bytes& content) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  const auto size = static_cast<ssize_t>(content.size());
  if (fd < 0 || ::pwrite(fd, content.data(), content.size(), 0) != size ||
      ::ftruncate(fd, size) != 0) {
    std::abort();
  }
  ::close(fd);
}

// One change of a file that no sync has followed yet.
struct Write {
  sqlite3_int64 offset = 0;
  Bytes bytes;
  bool truncates = false;
};

void apply(Bytes& content, const Write& write, std::size_t size) {
  const auto offset = static_cast<std::size_t>(write.offset);
  if (write.truncates) {
    content.resize(offset);
    return;
  }
  if (size == 0) return;
  if (content.size() < offset + size) content.resize(offset + size);
  std::copy_n(write.bytes.begin(), size, content.begin() + static_cast<std::ptrdiff_t>(offset));
}

// What the disk has of a file, and what it may have.
struct Disk {
  std::optional<Bytes> synced;  // Nothing: the file itself was not there.
  std::vector<Write> writes;
};

}  // namespace

struct FaultyVfs::State {
  sqlite3_vfs vfs{};
  sqlite3_vfs* base = nullptr;
  std::mutex mutex;
  std::map<std::string, Disk> disks;
  std::uint64_t calls = 0;
  std::uint64_t sleeps = 0;
  std::uint64_t fail_at = 0;
  int result = SQLITE_OK;
  bool for_ever = false;
  bool has_failed = false;

  int count() {
    const std::lock_guard guard(mutex);
    ++calls;
    const bool fails = fail_at != 0 && (calls == fail_at || (for_ever && calls > fail_at));
    has_failed = has_failed || fails;
    return fails ? result : SQLITE_OK;
  }

  Disk& disk(const std::string& path) {
    const auto [found, is_new] = disks.try_emplace(path);
    if (is_new && ::access(path.c_str(), F_OK) == 0) found->second.synced = read_whole(path);
    return found->second;
  }
};

namespace {

FaultyVfs::State* current = nullptr;

struct File {
  sqlite3_file base;
  const char* path;  // Null: temporary, never survives anyway.
  sqlite3_file* real() noexcept { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

File& as_file(sqlite3_file* file) noexcept { return *reinterpret_cast<File*>(file); }
const sqlite3_io_methods& methods_of(sqlite3_file* file) noexcept {
  return *as_file(file).real()->pMethods;
}

void remember(sqlite3_file* file, Write write) {
  if (as_file(file).path == nullptr) return;
  const std::lock_guard guard(current->mutex);
  current->disk(as_file(file).path).writes.push_back(std::move(write));
}

int file_close(sqlite3_file* file) { return methods_of(file).xClose(as_file(file).real()); }

int file_read(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
  if (const int result = current->count(); result != SQLITE_OK) return SQLITE_IOERR_READ;
  return methods_of(file).xRead(as_file(file).real(), to, size, offset);
}

int file_write(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
  if (const int result = current->count(); result != SQLITE_OK) return result;
  const auto* bytes = static_cast<const unsigned char*>(from);
  remember(file, {offset, Bytes(bytes, bytes + size), false});
  return methods_of(file).xWrite(as_file(file).real(), from, size, offset);
}

int file_truncate(sqlite3_file* file, sqlite3_int64 size) {
  if (current->count() != SQLITE_OK) return SQLITE_IOERR_TRUNCATE;
  remember(file, {size, {}, true});
  return methods_of(file).xTruncate(as_file(file).real(), size);
}

int file_sync(sqlite3_file* file, int /*flags*/) {
  if (current->count() != SQLITE_OK) return SQLITE_IOERR_FSYNC;
  if (as_file(file).path == nullptr) return SQLITE_OK;
  // The real file needs no sync: the power cut is played.
  const std::lock_guard guard(current->mutex);
  Disk& disk = current->disk(as_file(file).path);
  if (!disk.synced) disk.synced.emplace();
  for (const Write& write : disk.writes) apply(*disk.synced, write, write.bytes.size());
  disk.writes.clear();
  return SQLITE_OK;
}

int file_size(sqlite3_file* file, sqlite3_int64* size) {
  if (current->count() != SQLITE_OK) return SQLITE_IOERR_FSTAT;
  return methods_of(file).xFileSize(as_file(file).real(), size);
}

int file_lock(sqlite3_file* file, int level) {
  return methods_of(file).xLock(as_file(file).real(), level);
}
int file_unlock(sqlite3_file* file, int level) {
  return methods_of(file).xUnlock(as_file(file).real(), level);
}
int file_check_lock(sqlite3_file* file, int* result) {
  return methods_of(file).xCheckReservedLock(as_file(file).real(), result);
}
int file_control(sqlite3_file* file, int what, void* with) {
  return methods_of(file).xFileControl(as_file(file).real(), what, with);
}
int file_sector_size(sqlite3_file* file) {
  return methods_of(file).xSectorSize(as_file(file).real());
}
int file_traits(sqlite3_file* /*file*/) { return 0; }  // Promises nothing about writes.
int file_shm_map(sqlite3_file* file, int page, int size, int extend, void volatile** at) {
  if (current->count() != SQLITE_OK) return SQLITE_IOERR_SHMMAP;
  return methods_of(file).xShmMap(as_file(file).real(), page, size, extend, at);
}
int file_shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  return methods_of(file).xShmLock(as_file(file).real(), offset, count, flags);
}
void file_shm_barrier(sqlite3_file* file) { methods_of(file).xShmBarrier(as_file(file).real()); }
int file_shm_unmap(sqlite3_file* file, int remove) {
  return methods_of(file).xShmUnmap(as_file(file).real(), remove);
}

const sqlite3_io_methods kMethods = {
    2,           file_close,   file_read,     file_write,       file_truncate,  file_sync,
    file_size,   file_lock,    file_unlock,   file_check_lock,  file_control,   file_sector_size,
    file_traits, file_shm_map, file_shm_lock, file_shm_barrier, file_shm_unmap, nullptr,
    nullptr};

int vfs_open(sqlite3_vfs* /*vfs*/, const char* path, sqlite3_file* to, int flags, int* out) {
  File& file = as_file(to);
  file.base.pMethods = nullptr;
  file.path = path;
  if (current->count() != SQLITE_OK) return SQLITE_CANTOPEN;
  if (path != nullptr) {
    const std::lock_guard guard(current->mutex);
    current->disk(path);
  }
  const int result = current->base->xOpen(current->base, path, file.real(), flags, out);
  if (file.real()->pMethods != nullptr) file.base.pMethods = &kMethods;
  return result;
}

// A deletion that is not followed by a sync of the folder may not have happened; SQLite asks for
// that sync where it matters.
int vfs_delete(sqlite3_vfs* /*vfs*/, const char* path, int sync_folder) {
  if (current->count() != SQLITE_OK) return SQLITE_IOERR_DELETE;
  const int result = current->base->xDelete(current->base, path, sync_folder);
  const std::lock_guard guard(current->mutex);
  if (result == SQLITE_OK) current->disks[path] = Disk{};
  return result;
}

int vfs_sleep(sqlite3_vfs* /*vfs*/, int microseconds) {
  {
    const std::lock_guard guard(current->mutex);
    ++current->sleeps;
  }
  return current->base->xSleep(current->base, microseconds);
}

}  // namespace

FaultyVfs::FaultyVfs() : state_(std::make_unique<State>()) {
  current = state_.get();
  state_->base = sqlite3_vfs_find(nullptr);
  state_->vfs = *state_->base;
  state_->vfs.zName = "tenure-faulty";
  state_->vfs.pNext = nullptr;
  state_->vfs.szOsFile = static_cast<int>(sizeof(File)) + state_->base->szOsFile;
  state_->vfs.xOpen = vfs_open;
  state_->vfs.xDelete = vfs_delete;
  state_->vfs.xSleep = vfs_sleep;
  sqlite3_vfs_register(&state_->vfs, 0);
}

FaultyVfs::~FaultyVfs() {
  sqlite3_vfs_unregister(&state_->vfs);
  current = nullptr;
}

std::string FaultyVfs::name() const { return state_->vfs.zName; }

void FaultyVfs::fail_at(std::uint64_t call, int result, bool for_ever) {
  const std::lock_guard guard(state_->mutex);
  state_->calls = 0;
  state_->fail_at = call;
  state_->result = result;
  state_->for_ever = for_ever;
  state_->has_failed = false;
}

std::uint64_t FaultyVfs::calls() const { return state_->calls; }

std::uint64_t FaultyVfs::sleeps() const { return state_->sleeps; }

bool FaultyVfs::has_failed() const { return state_->has_failed; }

void FaultyVfs::cut_power(std::uint64_t seed) {
  const std::lock_guard guard(state_->mutex);
  std::mt19937_64 random(seed);
  for (auto& [path, disk] : state_->disks) {
    const bool is_shared_memory = path.size() > 4 && path.ends_with("-shm");
    if (!disk.synced && disk.writes.empty()) {
      ::unlink(path.c_str());
      continue;
    }
    if (is_shared_memory) continue;
    Bytes content = disk.synced.value_or(Bytes{});
    // Mostly the first few of the writes; sometimes any of them, as disks reorder.
    const bool in_order = random() % 4 != 0;
    std::size_t left = disk.writes.empty() ? 0 : random() % (disk.writes.size() + 1);
    for (const Write& write : disk.writes) {
      if (in_order && left == 0) break;
      if (in_order) --left;
      if (!in_order && random() % 2 == 0) continue;
      const bool is_torn = in_order && left == 0 && !write.truncates && random() % 2 == 0;
      apply(content, write, is_torn ? random() % write.bytes.size() : write.bytes.size());
    }
    write_whole(path, content);
  }
  // Shared memory is gone with the machine.
  for (auto& [path, disk] : state_->disks) {
    if (path.ends_with(".db")) ::unlink((path + "-shm").c_str());
  }
  state_->disks.clear();
}

}  // namespace tenure::test
