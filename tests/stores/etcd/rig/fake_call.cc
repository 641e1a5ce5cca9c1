// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/etcd/rig/fake_call.h"

#include <grpc/support/time.h>
#include <mutex>
#include <utility>
#include <vector>

#include "tests/stores/etcd/rig/fake_core.h"

namespace tenure::test {
namespace {

std::string bytes_of(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  (void)buffer.Dump(&slices);
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

grpc::ByteBuffer buffer_of(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return {&slice, 1};
}

}  // namespace

FakeCall* FakeCall::make(std::shared_ptr<FakeCore> core,
                         grpc::GenericCallbackServerContext* context) {
  const std::shared_ptr<FakeCall> call(new FakeCall(std::move(core), context));
  call->self_ = call;
  {
    const std::lock_guard lock(call->core_->mutex);
    call->core_->open.insert(call.get());
  }
  call->StartRead(&call->incoming_);
  return call.get();
}

FakeCall::FakeCall(std::shared_ptr<FakeCore> core, grpc::GenericCallbackServerContext* context)
    : core_(std::move(core)), context_(context), call_(call_named(context->method())) {}

std::optional<std::string> FakeCall::metadata(const std::string& name) const {
  const auto& all = context_->client_metadata();
  const auto found = all.find(name);
  if (found == all.end()) return std::nullopt;
  return std::string(found->second.data(), found->second.size());
}

void FakeCall::add(Reaction reaction) {
  for (std::string& message : reaction.messages) queue_.push_back(std::move(message));
  if (reaction.end && !end_) end_ = std::move(reaction.end);
}

void FakeCall::add_later(Reaction reaction, Duration after) {
  const gpr_timespec when =
      gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_nanos(after.count(), GPR_TIMESPAN));
  alarms_.emplace_back().Set(when, [weak = std::weak_ptr(self_), reaction](bool due) {
    const std::shared_ptr<FakeCall> call = due ? weak.lock() : nullptr;
    if (!call) return;
    {
      const std::lock_guard lock(call->core_->mutex);
      call->add(reaction);
    }
    call->pump();
  });
}

// Decided under the lock, done without it: gRPC may call back at once. While a write is under way,
// nobody else writes or finishes.
void FakeCall::pump() {
  std::unique_lock lock(core_->mutex);
  if (writing_ || finished_) return;
  if (!queue_.empty()) {
    writing_ = true;
    outgoing_ = buffer_of(queue_.front());
    queue_.pop_front();
    lock.unlock();
    StartWrite(&outgoing_);
  } else if (end_) {
    finished_ = true;
    const grpc::Status end = *end_;
    lock.unlock();
    Finish(end);
  }
}

void FakeCall::OnReadDone(bool ok) {
  if (ok) {
    core_->serve(*this, bytes_of(incoming_));
    if (is_stream()) StartRead(&incoming_);
    return;
  }
  if (!is_stream()) return;
  {
    const std::lock_guard lock(core_->mutex);
    add({.end = grpc::Status::OK});
  }
  pump();
}

void FakeCall::OnWriteDone(bool ok) {
  {
    const std::lock_guard lock(core_->mutex);
    writing_ = false;
    if (!ok) {
      queue_.clear();
      add({.end = grpc::Status::CANCELLED});
    }
  }
  pump();
}

void FakeCall::OnCancel() {
  {
    const std::lock_guard lock(core_->mutex);
    queue_.clear();
    add({.end = grpc::Status::CANCELLED});
  }
  pump();
}

void FakeCall::OnDone() {
  std::list<grpc::Alarm> alarms;
  const std::shared_ptr<FakeCall> self = std::move(self_);
  const std::lock_guard lock(core_->mutex);
  core_->open.erase(this);
  alarms.swap(alarms_);
}

}  // namespace tenure::test
