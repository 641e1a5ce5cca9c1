// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace tenure::test {

/// What the rig throws when the world is not as the test needs it: etcd did not start, an
/// administrative call was refused, a limit passed. GoogleTest makes a failure of it, with its
/// text.
class RigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace tenure::test
