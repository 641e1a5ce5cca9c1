// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/etcd/rig/certificates.h"

#include <filesystem>
#include <fstream>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <utility>

#include "tests/stores/etcd/rig/error.h"

namespace tenure::test {
namespace {

template <auto kFree>
struct Free {
  template <typename T>
  void operator()(T* object) const noexcept {
    kFree(object);
  }
};
using PrivateKey = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Memory = std::unique_ptr<BIO, Free<BIO_free_all>>;

void check(bool good, const char* what) {
  if (good) return;
  const unsigned long code = ::ERR_get_error();
  const char* const reason = ::ERR_reason_error_string(code);
  throw RigError(std::string(what) + ": " + (reason != nullptr ? reason : "failed"));
}

std::string text_of(const Memory& memory) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

void replace_file(const std::string& path, const std::string& text) {
  const std::string next = path + ".next";
  std::ofstream(next, std::ios::binary) << text;
  std::filesystem::permissions(next, std::filesystem::perms::owner_read);
  std::filesystem::rename(next, path);
}

std::string pem(const Certificate& certificate) {
  const Memory memory(::BIO_new(::BIO_s_mem()));
  check(::PEM_write_bio_X509(memory.get(), certificate.get()) == 1, "writing a certificate");
  return text_of(memory);
}

std::string pem(const PrivateKey& key) {
  const Memory memory(::BIO_new(::BIO_s_mem()));
  check(::PEM_write_bio_PrivateKey(memory.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                   nullptr) == 1,
        "writing a key");
  return text_of(memory);
}

void extend(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  ::X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = ::X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  check(extension != nullptr, value.c_str());
  ::X509_add_ext(certificate, extension, -1);
  ::X509_EXTENSION_free(extension);
}

void name(X509_NAME* subject, const std::string& common_name) {
  check(::X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                                     reinterpret_cast<const unsigned char*>(common_name.c_str()),
                                     -1, -1, 0) == 1,
        "naming a certificate");
}

// Not yet signed.
Certificate draft(EVP_PKEY* key, const std::string& common_name, std::chrono::seconds begins,
                  std::chrono::seconds ends) {
  Certificate certificate(::X509_new());
  ::X509_set_version(certificate.get(), 2);
  unsigned char serial[8];
  ::RAND_bytes(serial, sizeof serial);
  std::uint64_t number = 0;
  for (const unsigned char byte : serial) number = number << 8 | byte;
  ::ASN1_INTEGER_set_uint64(::X509_get_serialNumber(certificate.get()), number >> 1);
  ::X509_gmtime_adj(::X509_getm_notBefore(certificate.get()), begins.count());
  ::X509_gmtime_adj(::X509_getm_notAfter(certificate.get()), ends.count());
  ::X509_set_pubkey(certificate.get(), key);
  name(::X509_get_subject_name(certificate.get()), common_name);
  return certificate;
}

void sign(X509* certificate, EVP_PKEY* key) {
  check(::X509_sign(certificate, key, ::EVP_sha256()) > 0, "signing a certificate");
}

}  // namespace

struct Authority::Keys {
  PrivateKey key;
  Certificate certificate;
};

Authority::Authority(std::string folder, const std::string& name)
    : folder_(std::move(folder)), keys_(std::make_unique<Keys>()) {
  std::filesystem::create_directories(folder_);
  keys_->key.reset(::EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  check(keys_->key != nullptr, "making a key");
  keys_->certificate =
      draft(keys_->key.get(), name, -std::chrono::hours(1), std::chrono::hours(24));
  X509* const own = keys_->certificate.get();
  ::X509_set_issuer_name(own, ::X509_get_subject_name(own));
  extend(own, own, NID_basic_constraints, "critical,CA:TRUE");
  extend(own, own, NID_key_usage, "critical,keyCertSign,cRLSign");
  extend(own, own, NID_subject_key_identifier, "hash");
  sign(own, keys_->key.get());
  replace_file(ca(), pem(keys_->certificate));
}

Authority::~Authority() = default;

Authority::Files Authority::issue(const std::string& name, const Wish& wish) {
  const PrivateKey key(::EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  check(key != nullptr, "making a key");
  const Certificate certificate = draft(key.get(), wish.common_name, wish.begins, wish.ends);
  X509* const issuer = keys_->certificate.get();
  ::X509_set_issuer_name(certificate.get(), ::X509_get_subject_name(issuer));
  extend(certificate.get(), issuer, NID_basic_constraints, "critical,CA:FALSE");
  extend(certificate.get(), issuer, NID_key_usage, "critical,digitalSignature");
  extend(certificate.get(), issuer, NID_ext_key_usage, "serverAuth,clientAuth");
  extend(certificate.get(), issuer, NID_authority_key_identifier, "keyid");
  std::string names;
  for (const std::string& dns : wish.dns) names += ",DNS:" + dns;
  for (const std::string& ip : wish.ips) names += ",IP:" + ip;
  if (!names.empty()) extend(certificate.get(), issuer, NID_subject_alt_name, names.substr(1));
  sign(certificate.get(), keys_->key.get());

  Files files{folder_ + "/" + name + ".crt", folder_ + "/" + name + ".key"};
  replace_file(files.key, pem(key));
  replace_file(files.cert, pem(certificate));
  return files;
}

Authority::Files make_rsa_key(const std::string& path) {
  const PrivateKey key(::EVP_RSA_gen(2048));
  check(key != nullptr, "making a key");
  const Memory memory(::BIO_new(::BIO_s_mem()));
  check(::PEM_write_bio_PUBKEY(memory.get(), key.get()) == 1, "writing a key");
  Authority::Files files{path + ".pub", path + ".key"};
  replace_file(files.cert, text_of(memory));
  replace_file(files.key, pem(key));
  return files;
}

}  // namespace tenure::test
