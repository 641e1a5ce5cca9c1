// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/core/election/machine_world.h"

#include <map>
#include <memory>
#include <sstream>
#include <string>

namespace tenure::core {

/// Plays one scenario: a line is an input (`renew-ok ttl=15s`), and under it stands what the
/// machine asked for then, indented, with the time since the start. Lines of `#` are kept as they
/// are. play() gives the whole text back with the effects as they really are.
class Script {
 public:
  [[nodiscard]] std::string play(const std::string& text);

 private:
  using Words = std::map<std::string, std::string>;

  void obey(const std::string& line);
  void options(const Words& words);
  void answer(const std::string& verb, const Words& words);
  void act(const std::string& verb, const Words& words);
  void print_new_effects();
  [[nodiscard]] std::string time(Instant when) const;
  [[nodiscard]] std::string show(const Effect& effect) const;
  [[nodiscard]] Record holder(const std::string& text) const;
  MachineWorld& world();

  MachineWorld::Setup setup_;
  std::unique_ptr<MachineWorld> world_;
  std::size_t shown_ = 0;
  std::ostringstream out_;
};

}  // namespace tenure::core
