// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/etcd/rig/certificates.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include "tests/support/temp_dir.h"

namespace tenure::test {
namespace {

X509* load(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "r");
  X509* const certificate =
      file == nullptr ? nullptr : ::PEM_read_X509(file, nullptr, nullptr, nullptr);
  if (file != nullptr) std::fclose(file);
  return certificate;
}

// What OpenSSL says of a certificate whose authority is to be in `ca`.
int verdict(const std::string& ca, const std::string& cert) {
  X509* const root = load(ca);
  X509* const leaf = load(cert);
  if (root == nullptr || leaf == nullptr) return -1;
  X509_STORE* const store = ::X509_STORE_new();
  ::X509_STORE_add_cert(store, root);
  X509_STORE_CTX* const context = ::X509_STORE_CTX_new();
  ::X509_STORE_CTX_init(context, store, leaf, nullptr);
  ::X509_verify_cert(context);
  const int error = ::X509_STORE_CTX_get_error(context);
  ::X509_STORE_CTX_free(context);
  ::X509_STORE_free(store);
  ::X509_free(root);
  ::X509_free(leaf);
  return error;
}

TEST(RigCertificates, AreGoodForTheirAuthorityOnly) {
  const TempDir dir;
  Authority one(dir / "one");
  Authority two(dir / "two");
  const auto files = one.issue("client", {.common_name = "tenure"});
  EXPECT_EQ(verdict(one.ca(), files.cert), X509_V_OK);
  EXPECT_NE(verdict(two.ca(), files.cert), X509_V_OK);
}

TEST(RigCertificates, CanBeOverOrNotYetBegun) {
  using std::chrono::hours;
  const TempDir dir;
  Authority ca(dir / "ca");
  const auto over = ca.issue("over", {.common_name = "x", .ends = -std::chrono::minutes(1)});
  EXPECT_EQ(verdict(ca.ca(), over.cert), X509_V_ERR_CERT_HAS_EXPIRED);
  const auto early = ca.issue("early", {.common_name = "x", .begins = hours(1)});
  EXPECT_EQ(verdict(ca.ca(), early.cert), X509_V_ERR_CERT_NOT_YET_VALID);
}

TEST(RigCertificates, NameTheirServer) {
  const TempDir dir;
  Authority ca(dir / "ca");
  const auto files =
      ca.issue("m", {.common_name = "m", .dns = {"m0.tenure.test"}, .ips = {"127.0.0.2"}});
  X509* const certificate = load(files.cert);
  EXPECT_EQ(::X509_check_host(certificate, "m0.tenure.test", 0, 0, nullptr), 1);
  EXPECT_EQ(::X509_check_host(certificate, "m1.tenure.test", 0, 0, nullptr), 0);
  EXPECT_EQ(::X509_check_ip_asc(certificate, "127.0.0.2", 0), 1);
  EXPECT_EQ(::X509_check_ip_asc(certificate, "127.0.0.1", 0), 0);
  ::X509_free(certificate);
}

TEST(RigCertificates, IssuedAgainReplaceTheFiles) {
  const TempDir dir;
  Authority ca(dir / "ca");
  const auto first = ca.issue("client", {.common_name = "tenure"});
  const std::string cert = read_file(first.cert);
  const std::string key = read_file(first.key);
  const auto second = ca.issue("client", {.common_name = "tenure"});
  EXPECT_EQ(first.cert, second.cert);
  EXPECT_NE(read_file(second.cert), cert);
  EXPECT_NE(read_file(second.key), key);
  EXPECT_EQ(verdict(ca.ca(), second.cert), X509_V_OK);
}

}  // namespace
}  // namespace tenure::test
