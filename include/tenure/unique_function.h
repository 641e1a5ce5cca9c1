// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstring>
#include <functional>
#include <new>
#include <type_traits>
#include <utility>

namespace tenure {

template <class Signature>
class UniqueFunction;

namespace detail {
template <class T>
inline constexpr bool kIsUniqueFunction = false;
template <class Signature>
inline constexpr bool kIsUniqueFunction<UniqueFunction<Signature>> = true;
template <class T>
inline constexpr bool kIsStdFunction = false;
template <class Signature>
inline constexpr bool kIsStdFunction<std::function<Signature>> = true;

/// Calls `callable`; where R is void, what it returns is thrown away.
template <class R, class F, class... Args>
R invoke_as(F& callable, Args&&... args) {
  if constexpr (std::is_void_v<R>) {
    static_cast<void>(std::invoke(callable, std::forward<Args>(args)...));
  } else {
    return std::invoke(callable, std::forward<Args>(args)...);
  }
}
}  // namespace detail

/// A callable that is moved, never copied, so that it may own what cannot be copied:
///
///     UniqueFunction<int()> f = [p = std::make_unique<int>(7)] { return *p; };
///     UniqueFunction<int()> g = std::move(f);      // f is empty now
///     if (g) std::printf("%d\n", g());
///
/// Captures of up to 24 bytes that move without throwing are kept inside, without an allocation;
/// others on the heap. The whole is 32 bytes. Exceptions of the callable pass through the call.
/// std::bad_alloc may come out of the constructor for a large callable, as with std::function.
///
/// Not promised: calling an empty one is undefined; ask it first.
///
/// Thread-safety: none; one thread at a time.
template <class R, class... Args>
class UniqueFunction<R(Args...)> {
 public:
  /// Empty.
  UniqueFunction() noexcept = default;
  // NOLINTNEXTLINE(google-explicit-constructor): as std::function
  UniqueFunction(std::nullptr_t) noexcept {}

  /// Takes any callable that fits the signature, by value. A null function pointer or an empty
  /// std::function gives an empty one.
  template <class F>
  requires(!detail::kIsUniqueFunction<std::remove_cvref_t<F>> &&
           std::is_invocable_r_v<R, std::decay_t<F>&, Args...>)
      // NOLINTNEXTLINE(google-explicit-constructor): lambdas are passed as is
      UniqueFunction(F&& callable) {
    using Held = std::decay_t<F>;
    if constexpr (std::is_pointer_v<std::remove_reference_t<F>> ||
                  std::is_member_pointer_v<std::remove_reference_t<F>>) {
      if (callable == nullptr) return;
    } else if constexpr (detail::kIsStdFunction<Held>) {
      if (!callable) return;
    }
    if constexpr (kFitsInside<Held>) {
      ::new (static_cast<void*>(storage_)) Held(std::forward<F>(callable));
      table_ = &kInside<Held>;
    } else {
      Held* held = new Held(std::forward<F>(callable));
      std::memcpy(storage_, &held, sizeof(held));
      table_ = &kOutside<Held>;
    }
  }

  UniqueFunction(UniqueFunction&& other) noexcept { take(other); }
  UniqueFunction& operator=(UniqueFunction&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  UniqueFunction(const UniqueFunction&) = delete;
  UniqueFunction& operator=(const UniqueFunction&) = delete;
  ~UniqueFunction() { reset(); }

  /// Whether there is something to call.
  explicit operator bool() const noexcept { return table_ != nullptr; }

  /// Calls it. Must not be empty.
  R operator()(Args... args) { return table_->call(storage_, std::forward<Args>(args)...); }

  /// Destroys the callable and all that it captured.
  void reset() noexcept {
    const Table* table = std::exchange(table_, nullptr);
    if (table != nullptr && table->destroy != nullptr) table->destroy(storage_);
  }

  /// Whether destroying it runs code: false for an empty one and for plain captures.
  [[nodiscard]] bool owns() const noexcept {
    return table_ != nullptr && table_->destroy != nullptr;
  }

 private:
  static constexpr std::size_t kInsideBytes = 24;

  /// A null `move` means that the bytes may be copied; a null `destroy`, that nothing is to do.
  struct Table {
    R (*call)(std::byte*, Args&&...);
    void (*move)(std::byte* from, std::byte* to) noexcept;
    void (*destroy)(std::byte*) noexcept;
  };

  template <class Held>
  static constexpr bool kFitsInside =
      sizeof(Held) <= kInsideBytes &&
      alignof(Held) <= alignof(void*) && std::is_nothrow_move_constructible_v<Held>;

  template <class Held>
  static Held* inside(std::byte* storage) noexcept {
    return std::launder(reinterpret_cast<Held*>(storage));
  }
  template <class Held>
  static Held* outside(std::byte* storage) noexcept {
    Held* held = nullptr;
    std::memcpy(&held, storage, sizeof(held));
    return held;
  }

  template <class Held>
  static void move_inside(std::byte* from, std::byte* to) noexcept {
    ::new (static_cast<void*>(to)) Held(std::move(*inside<Held>(from)));
    inside<Held>(from)->~Held();
  }

  template <class Held>
  static constexpr Table kInside = {
      [](std::byte* s, Args&&... args) -> R {
        return detail::invoke_as<R>(*inside<Held>(s), std::forward<Args>(args)...);
      },
      std::is_trivially_copyable_v<Held> ? nullptr : &move_inside<Held>,
      std::is_trivially_destructible_v<Held>
          ? nullptr
          : +[](std::byte* s) noexcept { inside<Held>(s)->~Held(); }};

  template <class Held>
  static constexpr Table kOutside = {
      [](std::byte* s, Args&&... args) -> R {
        return detail::invoke_as<R>(*outside<Held>(s), std::forward<Args>(args)...);
      },
      nullptr, [](std::byte* s) noexcept { delete outside<Held>(s); }};

  void take(UniqueFunction& other) noexcept {
    table_ = std::exchange(other.table_, nullptr);
    if (table_ == nullptr) return;
    if (table_->move != nullptr) {
      table_->move(other.storage_, storage_);
    } else {
      std::memcpy(storage_, other.storage_, kInsideBytes);
    }
  }

  const Table* table_ = nullptr;
  alignas(void*) std::byte storage_[kInsideBytes];
};

}  // namespace tenure
