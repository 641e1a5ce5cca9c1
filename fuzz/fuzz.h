// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

// What every target shares. A target takes bytes, and ends the process if a promise is broken.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace tenure::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline void require(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", promise);
  std::abort();
}

/// Takes decisions from the input; zeros when it has ended.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}

  [[nodiscard]] bool empty() const { return left_ == 0; }
  std::uint8_t byte() {
    if (left_ == 0) return 0;
    --left_;
    return *data_++;
  }
  /// 0 to most, which is at most 255.
  unsigned up_to(unsigned most) { return byte() % (most + 1); }
  bool flag() { return (byte() & 1U) != 0; }
  std::uint64_t word() {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8U | byte();
    return value;
  }
  std::string_view text() {
    const std::size_t wanted = byte();
    const std::size_t size = wanted < left_ ? wanted : left_;
    const std::string_view taken = text_of(data_, size);
    data_ += size;
    left_ -= size;
    return taken;
  }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
};

}  // namespace tenure::fuzz
