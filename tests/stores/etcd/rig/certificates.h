// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace tenure::test {

/// An authority that issues certificates (P-256) as PEM files in a folder. Two of the same name are
/// still two: neither trusts what the other has signed.
///
///     Authority ca(dir / "pki");
///     const auto mine = ca.issue("client", {.common_name = "tenure"});
///     const auto late = ca.issue("late", {.common_name = "x", .ends = -std::chrono::minutes(1)});
class Authority {
 public:
  struct Files {
    std::string cert;
    std::string key;
  };
  struct Wish {
    std::string common_name{};
    std::vector<std::string> dns{};                        // names of a server
    std::vector<std::string> ips{};                        // addresses of a server
    std::chrono::seconds begins = -std::chrono::hours(1);  // from now
    std::chrono::seconds ends = std::chrono::hours(24);
  };

  /// Makes `folder`, with the certificate of the authority.
  explicit Authority(std::string folder, const std::string& name = "tenure test authority");
  ~Authority();
  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;

  [[nodiscard]] std::string ca() const { return folder_ + "/ca.crt"; }

  /// NAME.crt and NAME.key, with a new key, good for servers and clients. Issued again under the
  /// same name, each file is replaced by a rename: a reader sees the old one or the new one.
  Files issue(const std::string& name, const Wish& wish);

 private:
  struct Keys;
  std::string folder_;
  std::unique_ptr<Keys> keys_;
};

/// A new RSA key pair as PEM files (Files::cert is the public key): etcd signs tokens with it.
[[nodiscard]] Authority::Files make_rsa_key(const std::string& path);

}  // namespace tenure::test
