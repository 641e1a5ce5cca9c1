// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/etcd/rig/admin.h"

#include <algorithm>
#include <exception>
#include <future>
#include <nlohmann/json.hpp>
#include <utility>

#include "tests/stores/etcd/rig/base64.h"
#include "tests/stores/etcd/rig/http.h"

namespace tenure::test {
namespace {

using nlohmann::json;

// The gateway writes 64-bit numbers as strings and leaves out what is zero.
std::int64_t number(const json& object, const char* name) {
  const auto field = object.find(name);
  if (field == object.end()) return 0;
  return field->is_string() ? std::stoll(field->get<std::string>()) : field->get<std::int64_t>();
}

std::uint64_t identity(const json& object, const char* name) {
  const auto field = object.find(name);
  return field == object.end() ? 0 : std::stoull(field->get<std::string>());
}

std::int64_t revision_of(const json& answer) { return number(answer.at("header"), "revision"); }

// The end of the range of keys that begin with `prefix`.
std::string end_of(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff) end.pop_back();
  if (end.empty()) return std::string(1, '\0');
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

std::string begin_of(std::string_view prefix) {
  return prefix.empty() ? std::string(1, '\0') : std::string(prefix);
}

HttpAnswer post(HttpConnection& connection, std::string_view path, const std::string& body,
                const std::string& token) {
  std::vector<std::string> headers;
  if (!token.empty()) headers.push_back("Authorization: " + token);
  return connection.post("/v3/" + std::string(path), body, headers);
}

json parsed(std::string_view path, const HttpAnswer& answer) {
  if (answer.status != 200) {
    throw Refused(answer.status,
                  std::string(path) + ": " + std::to_string(answer.status) + " " + answer.body);
  }
  return json::parse(answer.body);
}

}  // namespace

Admin::Admin(std::vector<std::string> endpoints, Duration limit)
    : endpoints_(std::move(endpoints)), limit_(limit) {}

Admin& Admin::as(std::string user, std::string password) {
  user_ = std::move(user);
  password_ = std::move(password);
  token_.clear();
  return *this;
}

void Admin::log_in() {
  token_.clear();
  const json request{{"name", user_}, {"password", password_}};
  token_ = ask("auth/authenticate", request.dump()).at("token").get<std::string>();
}

json Admin::ask(std::string_view path, const std::string& request) {
  std::string faults;
  for (const std::string& endpoint : endpoints_) {
    HttpConnection connection(endpoint, limit_);
    try {
      return parsed(path, post(connection, path, request, token_));
    } catch (const Refused&) {
      throw;
    } catch (const RigError& error) {
      faults += std::string(" ") + error.what();
    }
  }
  throw RigError(std::string(path) + ": no endpoint serves:" + faults);
}

json Admin::call(std::string_view path, const json& request) {
  if (user_.empty()) return ask(path, request.dump());
  if (token_.empty()) log_in();
  try {
    return ask(path, request.dump());
  } catch (const Refused& refused) {
    if (refused.status() != 401) throw;
  }
  log_in();
  return ask(path, request.dump());
}

std::int64_t Admin::put(std::string_view key, std::string_view value, std::int64_t lease) {
  return revision_of(call(
      "kv/put",
      {{"key", to_base64(key)}, {"value", to_base64(value)}, {"lease", std::to_string(lease)}}));
}

std::int64_t Admin::remove(std::string_view key) {
  return revision_of(call("kv/deleterange", {{"key", to_base64(key)}}));
}

std::vector<Admin::Entry> Admin::keys(std::string_view prefix) {
  const json answer = call("kv/range", {{"key", to_base64(begin_of(prefix))},
                                        {"range_end", to_base64(end_of(prefix))},
                                        {"sort_order", "ASCEND"},
                                        {"sort_target", "CREATE"}});
  std::vector<Entry> entries;
  for (const json& kv : answer.value("kvs", json::array())) {
    entries.push_back({.key = from_base64(kv.at("key").get<std::string>()),
                       .value = from_base64(kv.value("value", "")),
                       .create_revision = number(kv, "create_revision"),
                       .mod_revision = number(kv, "mod_revision"),
                       .version = number(kv, "version"),
                       .lease = number(kv, "lease")});
  }
  return entries;
}

std::int64_t Admin::revision() {
  return revision_of(call("kv/range", {{"key", to_base64("x")}, {"count_only", true}}));
}

std::int64_t Admin::put_many(std::string_view key, std::size_t count) {
  // The first one settles which endpoint serves, and the token.
  std::int64_t last = put(key, "0");
  const std::string body = json{{"key", to_base64(key)}, {"value", to_base64("more")}}.dump();
  constexpr std::size_t kConnections = 8;
  std::vector<std::future<std::int64_t>> parts;
  for (std::size_t part = 0; part < kConnections; ++part) {
    const std::size_t share = (count - 1) / kConnections + (part < (count - 1) % kConnections);
    parts.push_back(std::async(std::launch::async, [&, share] {
      HttpConnection connection(endpoints_.front(), limit_);
      std::int64_t revision = 0;
      for (std::size_t i = 0; i < share; ++i) {
        revision = revision_of(parsed("kv/put", post(connection, "kv/put", body, token_)));
      }
      return revision;
    }));
  }
  for (auto& part : parts) last = std::max(last, part.get());
  return last;
}

void Admin::compact(std::int64_t revision) {
  call("kv/compaction", {{"revision", std::to_string(revision)}, {"physical", true}});
}

std::int64_t Admin::grant(std::int64_t ttl_seconds) {
  return number(call("lease/grant", {{"TTL", std::to_string(ttl_seconds)}}), "ID");
}

void Admin::revoke(std::int64_t lease) { call("lease/revoke", {{"ID", std::to_string(lease)}}); }

std::int64_t Admin::keep_alive(std::int64_t lease) {
  return number(call("lease/keepalive", {{"ID", std::to_string(lease)}}).at("result"), "TTL");
}

std::vector<std::int64_t> Admin::leases() {
  std::vector<std::int64_t> found;
  const json answer = call("lease/leases", json::object());
  for (const json& lease : answer.value("leases", json::array())) {
    found.push_back(number(lease, "ID"));
  }
  return found;
}

Admin::TimeToLive Admin::time_to_live(std::int64_t lease) {
  const json answer = call("lease/timetolive", {{"ID", std::to_string(lease)}, {"keys", true}});
  TimeToLive result{.left = number(answer, "TTL"), .granted = number(answer, "grantedTTL")};
  for (const json& key : answer.value("keys", json::array())) {
    result.keys.push_back(from_base64(key.get<std::string>()));
  }
  return result;
}

Admin::Status Admin::status() {
  const json answer = call("maintenance/status", json::object());
  return {.member = identity(answer.at("header"), "member_id"),
          .leader = identity(answer, "leader"),
          .term = identity(answer, "raftTerm"),
          .version = answer.value("version", "")};
}

void Admin::move_leader(std::uint64_t to_member) {
  call("maintenance/transfer-leadership", {{"targetID", std::to_string(to_member)}});
}

bool Admin::healthy() {
  try {
    const HttpAnswer answer = HttpConnection(endpoints_.front(), limit_).get("/health");
    return answer.status == 200 && json::parse(answer.body).at("health") == "true";
  } catch (const RigError&) {
    return false;
  }
}

void Admin::add_user(std::string_view name, std::string_view password) {
  call("auth/user/add", {{"name", name}, {"password", password}});
}

void Admin::change_password(std::string_view name, std::string_view password) {
  call("auth/user/changepw", {{"name", name}, {"password", password}});
}

void Admin::add_role(std::string_view role) { call("auth/role/add", {{"name", role}}); }

void Admin::allow(std::string_view role, std::string_view prefix, Right right) {
  const char* const type = right == Right::read    ? "READ"
                           : right == Right::write ? "WRITE"
                                                   : "READWRITE";
  call("auth/role/grant", {{"name", role},
                           {"perm",
                            {{"permType", type},
                             {"key", to_base64(begin_of(prefix))},
                             {"range_end", to_base64(end_of(prefix))}}}});
}

void Admin::give_role(std::string_view user, std::string_view role) {
  call("auth/user/grant", {{"user", user}, {"role", role}});
}

void Admin::enable_auth() { call("auth/enable", json::object()); }

}  // namespace tenure::test
