// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/sqlite/token_mark.h"

#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

using tenure::fuzz::require;

// The mark in a lock file: damaged ones count as none; what was written is read again.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int fd = memfd_create("mark", 0);
  require(fd >= 0 && ftruncate(fd, 0) == 0, "a file");
  require(write(fd, data, size) >= 0 && lseek(fd, 0, SEEK_SET) == 0, "its content");
  tenure::sqlite::TokenMark mark = tenure::sqlite::read_mark(fd);
  tenure::fuzz::Bytes bytes(data, size);
  const std::uint64_t number = (mark.limit > mark.last ? mark.limit : mark.last) / 2 + bytes.byte();
  (void)mark.note(number, "this boot");
  require(mark.floor("this boot") >= number, "no number is handed out twice in a boot");
  require(mark.floor("the next") >= number, "nor after a power cut");
  require(tenure::sqlite::write_mark(fd, mark, false, "mark").has_value(), "written");
  const tenure::sqlite::TokenMark again = tenure::sqlite::read_mark(fd);
  require(again.boot == mark.boot && again.last == mark.last && again.limit == mark.limit,
          "read as written");
  return 0;
}
