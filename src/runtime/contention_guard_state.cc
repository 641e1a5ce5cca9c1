// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/contention_guard_state.h"

#include "runtime/run_callback.h"

#include <algorithm>
#include <optional>

namespace tenure {
namespace {

constexpr std::size_t kMostEarlier = 16;
// Own writes of one value that a watch may still show; one that hides them must not excuse others.
constexpr std::uint32_t kMostUnseen = 16;
constexpr int kSweptAtOnce = 2;

void note_unseen(std::uint32_t& unseen) { unseen = std::min(unseen + 1, kMostUnseen); }

}  // namespace

bool ContentionGuard::State::same(std::string_view a, std::string_view b) const {
  bool is_same = a == b;
  if (options.same) runtime::run_callback([&] { is_same = options.same(a, b); }, nullptr);
  return is_same;
}

// Calls use(entry, what, now) inside the lock, where `what` says what `value` is to the entry:
// kWanted, kForeign, or the number of the earlier one that it is. The caller's comparison runs
// without the lock, so what it compared with may have changed meanwhile: then it is asked again.
// A key that nothing is known of is made one that `value` is wanted for, unless `create` is false.
template <class Use>
auto ContentionGuard::State::compared(std::string_view key, std::string_view value, bool create,
                                      Use use) {
  std::optional<std::uint64_t> version;
  std::size_t what = kForeign;
  for (;;) {
    Entry copy;
    {
      const std::lock_guard guard(mutex);
      const Instant now = clock.now();
      sweep(now, kSweptAtOnce);
      auto found = entries.find(key);
      const bool is_new = found == entries.end();
      if (is_new) {
        if (!create) return decltype(use(found->second, what, now)){};
        found = entries.emplace(key, Entry{}).first;
        change_wish(found->second, value);
        what = kWanted;
      }
      if (is_new || version == found->second.version) {
        const auto result = use(found->second, what, now);
        found->second.contention.touch(now);
        place(found);
        return result;
      }
      copy.wanted = found->second.wanted;
      copy.earlier = found->second.earlier;
      version = found->second.version;
    }
    what = same(copy.wanted, value) ? kWanted : kForeign;
    for (std::size_t i = 0; i < copy.earlier.size() && what == kForeign; ++i) {
      if (same(copy.earlier[i].value, value)) what = i;
    }
  }
}

void ContentionGuard::State::change_wish(Entry& entry, std::string_view value) {
  if (entry.unseen > 0) keep_in_mind(entry, {std::move(entry.wanted), entry.unseen});
  entry.wanted = value;
  entry.unseen = 0;
  entry.version = ++versions;
}

void ContentionGuard::State::keep_in_mind(Entry& entry, Unseen unseen) {
  if (entry.earlier.size() == kMostEarlier) entry.earlier.erase(entry.earlier.begin());
  entry.earlier.push_back(std::move(unseen));
  entry.version = ++versions;
}

bool ContentionGuard::State::wish(std::string_view key, std::string_view value, bool written) {
  return compared(key, value, true, [&](Entry& entry, std::size_t what, Instant now) {
    if (what != kWanted) {
      change_wish(entry, value);
      entry.contention.on_new_wish(now);
    } else if (entry.wanted != value) {
      entry.wanted = value;
      entry.version = ++versions;
    }
    if (written) note_unseen(entry.unseen);
    return !entry.contention.contended(now);
  });
}

ContentionGuard::State::Now ContentionGuard::State::may_run(std::string_view key,
                                                            std::string_view value) {
  return compared(key, value, true, [](Entry& entry, std::size_t what, Instant now) {
    if (what != kWanted) return Now::gone;
    return entry.contention.contended(now) ? Now::wait : Now::run;
  });
}

void ContentionGuard::State::note_written(std::string_view key, std::string_view value) {
  compared(key, value, true, [&](Entry& entry, std::size_t what, Instant) {
    if (what == kWanted) {
      note_unseen(entry.unseen);
    } else {  // what is wanted has changed while it was written
      keep_in_mind(entry, {std::string(value), 1});
    }
    return true;
  });
}

bool ContentionGuard::State::observed(std::string_view key, std::string_view value) {
  enum class Seen { own, wanted, foreign, too_often };
  const auto seen = compared(key, value, false, [&](Entry& entry, std::size_t what, Instant now) {
    if (what == kForeign) {
      return entry.contention.on_foreign(terms, now) ? Seen::too_often : Seen::foreign;
    }
    const Seen result = what == kWanted ? Seen::wanted : Seen::own;
    if (what == kWanted) {
      if (entry.unseen == 0) return result;
      --entry.unseen;
      what = entry.earlier.size();
    } else if (--entry.earlier[what].count == 0) {
      ++what;
    }
    // A watch keeps the order: what was written before this will not be seen any more.
    const auto begin = entry.earlier.begin();
    entry.earlier.erase(begin, begin + static_cast<std::ptrdiff_t>(what));
    entry.version = ++versions;
    return result;
  });
  if (seen == Seen::too_often && options.on_contended) {
    runtime::run_callback([&] { options.on_contended(key); }, nullptr);
  }
  return seen == Seen::wanted;
}

// Only an earlier time moves a check: a later one is found out when the check comes.
void ContentionGuard::State::place(Entries::iterator found) {
  Entry& entry = found->second;
  const Instant when = entry.contention.forgettable(terms);
  if (when >= entry.check) return;
  if (entry.check != kNever) checks.erase({entry.check, found->first});
  entry.check = when;
  checks.emplace(when, found->first);
}

void ContentionGuard::State::erase(Entries::iterator found) {
  checks.erase({found->second.check, found->first});
  entries.erase(found);
}

void ContentionGuard::State::sweep(Instant now, int most) {
  for (; most > 0 && !checks.empty() && checks.begin()->first <= now; --most) {
    const auto found = entries.find(checks.begin()->second);
    if (found->second.contention.forgettable(terms) <= now) {
      erase(found);
    } else {
      checks.erase(checks.begin());
      found->second.check = kNever;
      place(found);
    }
  }
}

}  // namespace tenure
