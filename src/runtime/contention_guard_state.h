// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/contention_guard.h>

#include "core/lease/contention.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenure {

/// What a contention guard, and the work that it guards, remember of each key.
struct ContentionGuard::State {
  // Own writes of one value that have not been seen yet.
  struct Unseen {
    std::string value;
    std::uint32_t count = 0;
  };
  struct Entry {
    std::string wanted;
    std::uint32_t unseen = 0;     // own writes of `wanted`
    std::vector<Unseen> earlier;  // own writes of what was wanted before, oldest first
    std::uint64_t version = 0;    // of all that values are compared with
    Instant check = kNever;       // when it stands in `checks`; kNever: it does not
    core::Contention contention;
  };
  using Entries = std::map<std::string, Entry, std::less<>>;
  static constexpr std::size_t kWanted = SIZE_MAX;
  static constexpr std::size_t kForeign = SIZE_MAX - 1;

  explicit State(ContentionGuardOptions given)
      : options(std::move(given)),
        terms{options.rewrites, options.window, options.quiet,
              options.most != 0 ? options.most : 4 * options.rewrites, options.forget_after},
        clock(options.clock != nullptr ? *options.clock : system_clock()) {}

  [[nodiscard]] bool same(std::string_view a, std::string_view b) const;
  template <class Use>
  auto compared(std::string_view key, std::string_view value, bool create, Use use);
  void change_wish(Entry& entry, std::string_view value);
  void keep_in_mind(Entry& entry, Unseen unseen);
  void place(Entries::iterator found);
  void erase(Entries::iterator found);
  void sweep(Instant now, int most);

  bool wish(std::string_view key, std::string_view value, bool written);
  enum class Now { run, wait, gone };
  Now may_run(std::string_view key, std::string_view value);
  void note_written(std::string_view key, std::string_view value);
  bool observed(std::string_view key, std::string_view value);

  const ContentionGuardOptions options;
  const core::ContentionTerms terms;
  Clock& clock;
  std::mutex mutex;
  Entries entries;
  std::set<std::pair<Instant, std::string_view>> checks;  // when which may be forgotten
  std::uint64_t versions = 0;
};

}  // namespace tenure
