// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/etcd/transport.h"

namespace tenure::etcd {

void Mailbox::push(Executor::Task task) {
  const std::lock_guard lock(mutex_);
  if (executor_ == nullptr) return;
  tasks_.push_back(std::move(task));
  if (tasks_.size() > 1) return;
  executor_->post([self = shared_from_this()] { self->deliver(); });
}

void Mailbox::deliver() {
  std::vector<Executor::Task> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(tasks_);
  }
  for (Executor::Task& task : tasks) task();
}

void Mailbox::close() {
  std::vector<Executor::Task> dropped;
  const std::lock_guard lock(mutex_);
  executor_ = nullptr;
  dropped.swap(tasks_);
}

}  // namespace tenure::etcd
