// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/time.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "tests/support/eventually.h"
#include "tests/support/temp_dir.h"

namespace tenure::test {

struct SpawnOptions {
  std::map<std::string, std::string> env{};  // on top of a small, fixed environment
  int in = -1;                               // standard input; -1: /dev/null
  int out = -1;                              // -1: a file, see Process::out()
  int err = -1;
  bool blocked = false;  // signals wait until the program takes them
  bool session = false;  // a session of its own, `in` its controlling terminal
};

// One process under test. What is left of it when the object ends is killed with its guardian.
class Process {
 public:
  Process(const TempDir& dir, std::vector<std::string> arguments, const SpawnOptions& options = {});
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  void send(int signal) const;

  // The exit code, 1000 + n if signal n ended it, nothing if it still runs after `limit`.
  std::optional<int> wait(Duration limit = kPatience);
  [[nodiscard]] bool running();

  [[nodiscard]] std::string out() const { return read_file(out_path_); }
  [[nodiscard]] std::string err() const { return read_file(err_path_); }

 private:
  pid_t pid_ = -1;
  int pidfd_ = -1;
  std::optional<int> code_;
  std::string out_path_;
  std::string err_path_;
};

// The programs under test.
[[nodiscard]] std::string tenure_binary();
[[nodiscard]] std::string worker_binary();

// A folder with a store and a file of marks that workers append to.
class Bench {
 public:
  [[nodiscard]] std::string store() const { return "sqlite:" + (dir / "tenure.db"); }
  [[nodiscard]] std::string marks_path() const { return dir / "marks"; }

  // tenure COMMAND --name job --store ... --ttl TTL EXTRA... -- CMD...
  [[nodiscard]] std::unique_ptr<Process> start(const std::string& command, const std::string& ttl,
                                               const std::vector<std::string>& program,
                                               const std::vector<std::string>& extra = {},
                                               const SpawnOptions& options = {}) const;

  // The worker that appends to this folder's marks.
  [[nodiscard]] std::vector<std::string> worker(const std::vector<std::string>& flags = {}) const;

  [[nodiscard]] std::vector<std::string> marks() const;
  [[nodiscard]] std::size_t count(const std::string& word) const;
  // Waits until the marks hold `count` lines that begin with `word`.
  [[nodiscard]] bool wait_for(const std::string& word, std::size_t count = 1) const;
  // The last line that begins with `word`, without it.
  [[nodiscard]] std::string last(const std::string& word) const;

  // Whether any worker that uses these marks lives, daemonised ones included.
  [[nodiscard]] bool worker_lives() const;

  TempDir dir;
};

// Whether process `pid` is there and not a zombie.
[[nodiscard]] bool alive(pid_t pid);

// The children of `pid` whose program name is `name` ("tenure-guard").
[[nodiscard]] std::vector<pid_t> children_named(pid_t pid, const std::string& name);

[[nodiscard]] std::vector<std::string> lines_of(const std::string& text);

}  // namespace tenure::test
