// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/lease/work_queue.h"

#include "core/check.h"

#include <algorithm>
#include <utility>

namespace tenure::core {

WorkQueue::WorkQueue() noexcept {
  for (std::uint32_t i = 0; i < heads_.size(); ++i) heads_[i] = {kHeads + i, kHeads + i};
}

Work WorkQueue::put(std::string_view key, std::uint32_t hash, Work work, Start start,
                    Instant not_before) {
  const std::uint32_t found = find(key, hash);
  if (found != kNone) return renew(found, std::move(work), start, not_before);
  const std::uint32_t number = slots_.allocate();
  slots_[number].key = KeyText(key);
  add(number, hash, std::move(work), start, not_before);
  return {};
}

Work WorkQueue::put(KeyText&& key, std::uint32_t hash, Work work, Start start, Instant not_before) {
  const std::uint32_t found = find(key.view(), hash);
  if (found != kNone) return renew(found, std::move(work), start, not_before);
  const std::uint32_t number = slots_.allocate();
  slots_[number].key = std::move(key);
  add(number, hash, std::move(work), start, not_before);
  return {};
}

void WorkQueue::add(std::uint32_t number, std::uint32_t hash, Work work, Start start,
                    Instant not_before) {
  Slot& slot = slots_[number];
  TENURE_CHECK(work && !slot.queued() && !slot.running);
  TENURE_CHECK(slot.list == ListName::none && slot.dropped == DropReason::none);
  slot.hash = hash;
  slot.work = std::move(work);
  slot.not_before = not_before;
  append(number, start == Start::at_once ? ListName::due : ListName::resting);
  index_.insert(hash, number);
  ++size_;
}

Work WorkQueue::renew(std::uint32_t number, Work work, Start start, Instant not_before) {
  Slot& slot = slots_[number];
  TENURE_CHECK(work);
  TENURE_CHECK(slot.queued() == (slot.list != ListName::none));
  TENURE_CHECK(slot.queued() || slot.running);
  if (!slot.pending()) ++size_;
  Work replaced = std::exchange(slot.work, std::move(work));
  if (slot.list == ListName::none) {  // Its key runs, and nothing newer had come.
    slot.not_before = not_before;
    append(number, start == Start::at_once ? ListName::behind : ListName::resting);
  } else if (start == Start::at_once) {
    if (is_in(slot, ListName::resting) || is_in(slot, ListName::retrying)) {
      move(number, slot.running ? ListName::behind : ListName::due);
    }
  } else if (is_in(slot, ListName::retrying) && not_before < slot.not_before) {
    slot.not_before = not_before;
    move(number, ListName::resting);
  }
  return replaced;
}

WorkQueue::Dropped WorkQueue::drop(std::string_view key, std::uint32_t hash, DropReason reason) {
  const std::uint32_t number = find(key, hash);
  if (number == kNone || !slots_[number].pending()) return {};
  Slot& slot = slots_[number];
  TENURE_CHECK(reason != DropReason::none && size_ > 0);
  Dropped dropped{true, std::move(slot.work)};
  --size_;
  if (slot.list != ListName::none) unlink(number);
  if (!slot.running) {
    free(number);
  } else if (slot.dropped == DropReason::none) {
    slot.dropped = reason;
  }
  return dropped;
}

void WorkQueue::expect(std::span<const std::uint32_t> hashes) const noexcept {
  for (const std::uint32_t hash : hashes) index_.expect(hash);
  for (const std::uint32_t hash : hashes) {
    const std::uint32_t likely = index_.find(hash, [](std::uint32_t) { return true; });
    if (likely != kNone) slots_.expect(likely);
  }
}

WorkQueue::Taken WorkQueue::take(Instant now) {
  for (;;) {
    // One of each at a time: work that has waited gets its turn beside a stream of new work, and
    // no call takes long however much is due.
    const bool rested = promote(ListName::resting, now);
    const bool promoted = promote(ListName::retrying, now) || rested;
    if (empty(ListName::due)) {
      if (!promoted) return {};
      continue;
    }
    const std::uint32_t number = first(ListName::due);
    Slot& slot = slots_[number];
    TENURE_CHECK(slot.queued() && slot.list != ListName::none);
    if (slot.running) {
      move(number, ListName::behind);
      continue;
    }
    unlink(number);
    TENURE_CHECK(slot.dropped == DropReason::none);
    slot.running = true;
    return {number, slot.key.view(), std::move(slot.work)};
  }
}

WorkQueue::Finished WorkQueue::finish(std::uint32_t number, Work work, bool retry,
                                      Instant retry_at) {
  Slot& slot = slots_[number];
  TENURE_CHECK(slot.running);
  TENURE_CHECK(slot.queued() == (slot.list != ListName::none));
  const DropReason dropped = slot.dropped;
  TENURE_CHECK(!slot.pending() || size_ > 0);
  if (slot.pending()) --size_;
  slot.running = false;
  slot.dropped = DropReason::none;

  Fate fate = Fate::done;
  if (retry && dropped == DropReason::seen_elsewhere) fate = Fate::seen_elsewhere;
  if (retry && dropped == DropReason::removed) fate = Fate::removed;
  const bool again = retry && dropped == DropReason::none;
  if (slot.queued()) {
    ++size_;
    if (again) fate = Fate::replaced;
    if (is_in(slot, ListName::behind)) {
      move(number, ListName::due);
    } else if (again && is_in(slot, ListName::resting) && retry_at < slot.not_before) {
      slot.not_before = retry_at;
      move(number, ListName::retrying);
    }
  } else if (again) {
    TENURE_CHECK(work);
    ++size_;
    slot.work = std::move(work);
    slot.not_before = retry_at;
    append(number, ListName::retrying);
    return {Fate::retried, {}};
  } else {
    free(number);
  }
  return {fate, std::move(work)};
}

void WorkQueue::end_rest() noexcept { splice_to_due(ListName::resting); }

void WorkQueue::end_all_waits() noexcept {
  splice_to_due(ListName::resting);
  splice_to_due(ListName::retrying);
}

Instant WorkQueue::next_due() noexcept {
  if (!empty(ListName::due)) return kLongAgo;
  Instant next = kNever;
  for (const ListName name : {ListName::resting, ListName::retrying}) {
    if (!empty(name)) next = std::min(next, slots_[first(name)].not_before);
  }
  return next;
}

Work WorkQueue::take_any() {
  for (std::uint32_t head = kHeads; head < kHeads + heads_.size(); ++head) {
    const std::uint32_t number = links(head).next;
    if (number == head) continue;
    Slot& slot = slots_[number];
    TENURE_CHECK(slot.queued());
    Work work = std::move(slot.work);
    unlink(number);
    if (!slot.pending()) --size_;
    if (!slot.running) free(number);
    return work;
  }
  return {};
}

std::uint32_t WorkQueue::find(std::string_view key, std::uint32_t hash) noexcept {
  return index_.find(hash, [&](std::uint32_t number) { return slots_[number].key.view() == key; });
}

void WorkQueue::append(std::uint32_t number, ListName name) noexcept {
  TENURE_CHECK(name != ListName::none);
  Slot& slot = slots_[number];
  TENURE_CHECK(slot.list == ListName::none);
  const std::uint32_t head = head_of(name);
  const std::uint32_t last = links(head).prev;
  slot.links = {last, head};
  links(last).next = number;
  links(head).prev = number;
  slot.list = name;
  slot.epoch = epochs_[static_cast<std::size_t>(name)];
}

void WorkQueue::unlink(std::uint32_t number) noexcept {
  Slot& slot = slots_[number];
  TENURE_CHECK(slot.list != ListName::none);
  TENURE_CHECK(links(slot.links.prev).next == number && links(slot.links.next).prev == number);
  links(slot.links.prev).next = slot.links.next;
  links(slot.links.next).prev = slot.links.prev;
  slot.list = ListName::none;
}

void WorkQueue::move(std::uint32_t number, ListName name) noexcept {
  unlink(number);
  append(number, name);
}

// The members keep their label; the new epoch is what says that it is true no more.
void WorkQueue::splice_to_due(ListName name) noexcept {
  if (empty(name)) return;
  Links& from = heads_[static_cast<std::size_t>(name)];
  const std::uint32_t head = head_of(ListName::due);
  const std::uint32_t last = links(head).prev;
  links(from.next).prev = last;
  links(last).next = from.next;
  links(from.prev).next = head;
  links(head).prev = from.prev;
  from = {head_of(name), head_of(name)};
  // An epoch that starts anew must not make old labels true again. They are all in here.
  if (++epochs_[static_cast<std::size_t>(name)] != 0) return;
  for (std::uint32_t at = first(ListName::due); at != head; at = slots_[at].links.next) {
    slots_[at].list = ListName::due;
    slots_[at].epoch = epochs_[static_cast<std::size_t>(ListName::due)];
  }
}

bool WorkQueue::promote(ListName name, Instant now) noexcept {
  if (empty(name)) return false;
  const std::uint32_t number = first(name);
  const Slot& slot = slots_[number];
  if (slot.not_before > now) return false;
  move(number, slot.running ? ListName::behind : ListName::due);
  return true;
}

void WorkQueue::free(std::uint32_t number) {
  Slot& slot = slots_[number];
  TENURE_CHECK(!slot.queued() && !slot.running && slot.list == ListName::none);
  TENURE_CHECK(size_ <= slots_.in_use());
  index_.erase(slot.hash, number);
  slot.key = KeyText();
  slots_.release(number);
}

}  // namespace tenure::core
