// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tenure::cli {

// What would be run for a command's name.
struct FoundCommand {
  std::string path;  // to be given to execve()
  int error = 0;     // errno of what is wrong; 0: nothing that can be seen without running it
  std::string interpreter;  // not empty: `error` is about this, which the file's first line names

  // The command itself is not there (127), as opposed to: it is there and cannot be run (126).
  [[nodiscard]] bool is_missing() const noexcept;
};

// Looks for `name` where execvp() would, and at the interpreter of a script. A file that is neither
// a program nor begins with "#!" is only refused when it is run: the system may know more formats.
[[nodiscard]] FoundCommand find_command(const std::string& name);

// "cannot run 'x': No such file or directory". `error`: errno of an attempt to run it, for what
// find_command() cannot see.
[[nodiscard]] std::string describe_failure(const std::string& name, const FoundCommand& found,
                                           int error);

}  // namespace tenure::cli
