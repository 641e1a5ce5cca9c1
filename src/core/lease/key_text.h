// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/check.h"

#include <cstdint>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>

namespace tenure::core {

/// A key, owned, in 16 bytes: up to 12 bytes of text are kept inside, longer text on the heap
/// without slack. (std::string takes 32 bytes, and the text of a longer one beside them.)
class KeyText {
 public:
  /// The longest key there may be; checked where keys come in.
  static constexpr std::size_t kLongest = 64 * 1024;
  /// Up to here no memory is taken.
  static constexpr std::size_t kInside = 12;

  KeyText() noexcept = default;
  explicit KeyText(std::string_view text) : size_(static_cast<std::uint32_t>(text.size())) {
    TENURE_CHECK(text.size() <= kLongest);
    char* to = inside_;
    if (!fits()) {
      to = new char[size_];
      std::memcpy(inside_ + kPointerAt, &to, sizeof(to));
    }
    if (size_ != 0) std::memcpy(to, text.data(), size_);
  }
  KeyText(KeyText&& other) noexcept : size_(std::exchange(other.size_, 0)) {
    std::memcpy(inside_, other.inside_, sizeof(inside_));
  }
  KeyText& operator=(KeyText&& other) noexcept {
    if (this == &other) return *this;
    free();
    size_ = std::exchange(other.size_, 0);
    std::memcpy(inside_, other.inside_, sizeof(inside_));
    return *this;
  }
  KeyText(const KeyText&) = delete;
  KeyText& operator=(const KeyText&) = delete;
  ~KeyText() { free(); }

  /// Valid as long as the key is neither moved nor destroyed.
  [[nodiscard]] std::string_view view() const noexcept {
    return {fits() ? inside_ : heap(), size_};
  }

 private:
  // Right after the size and 4 bytes of padding, so that the pointer is aligned.
  static constexpr std::size_t kPointerAt = 4;

  [[nodiscard]] bool fits() const noexcept { return size_ <= kInside; }
  [[nodiscard]] char* heap() const noexcept {
    char* text = nullptr;
    std::memcpy(&text, inside_ + kPointerAt, sizeof(text));
    return text;
  }
  void free() noexcept {
    if (!fits()) delete[] heap();
    size_ = 0;
  }

  std::uint32_t size_ = 0;
  alignas(4) char inside_[kInside];
};

/// 32 bits that spread keys over a table.
[[nodiscard]] inline std::uint32_t hash_key(std::string_view key) noexcept {
  const std::uint64_t hash = std::hash<std::string_view>{}(key);
  return static_cast<std::uint32_t>(hash ^ (hash >> 32U));
}

}  // namespace tenure::core
