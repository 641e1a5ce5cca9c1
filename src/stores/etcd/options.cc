// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/etcd/options.h"

#include "core/url.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

namespace tenure::etcd {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kLongestPrefix = 512;
constexpr Duration kLongestTimeout = std::chrono::minutes(1);
constexpr std::string_view kDefaultPort = ":2379";

tl::unexpected<Error> refuse(std::string message) {
  return fail(Errc::invalid_argument, std::move(message));
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const auto comma = text.find(',');
    parts.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

Result<void> check_endpoint(std::string_view endpoint) {
  const auto colon = endpoint.rfind(':');
  const bool good_host =
      colon != std::string_view::npos && colon > 0 &&
      endpoint.find_first_of("/@?# \t\n") == std::string_view::npos &&
      (endpoint.front() == '[' ? endpoint[colon - 1] == ']' : endpoint.find(':') == colon);
  unsigned port = 0;
  if (good_host) {
    const char* const end = endpoint.data() + endpoint.size();
    const auto parsed = std::from_chars(endpoint.data() + colon + 1, end, port);
    if (parsed.ec != std::errc() || parsed.ptr != end || port > 65535) port = 0;
  }
  if (port != 0) return {};
  return refuse("\"" + std::string(endpoint.substr(0, 100)) +
                "\" is no etcd endpoint; write HOST:PORT, and [ADDRESS]:PORT for IPv6");
}

std::string with_port(std::string endpoint) {
  const auto after = endpoint.starts_with('[') ? endpoint.find(']') : 0;
  if (!endpoint.empty() && after != std::string::npos &&
      endpoint.find(':', after) == std::string::npos) {
    endpoint += kDefaultPort;
  }
  return endpoint;
}

Result<Duration> parse_duration(std::string_view name, std::string_view text) {
  std::int64_t count = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string_view unit(parsed.ptr,
                              static_cast<std::size_t>(text.data() + text.size() - parsed.ptr));
  if (parsed.ec == std::errc() && count > 0 && count <= 60'000) {
    if (unit == "ms") return milliseconds(count);
    if (unit == "s" && count <= 60) return std::chrono::seconds(count);
  }
  return refuse("the option " + std::string(name) + " of an etcd store is \"" +
                std::string(text.substr(0, 40)) + "\"; a time such as 500ms or 2s is accepted");
}

Result<void> check_timeout(const char* name, Duration timeout) {
  if (timeout > Duration::zero() && timeout <= kLongestTimeout) return {};
  return refuse(std::string(name) + " of an etcd store must be above 0 and at most 60 s");
}

Result<void> take_times(EtcdOptions& options, const core::Url& url) {
  for (const auto& [name, to] : {std::pair("dial-timeout", &options.dial_timeout),
                                 std::pair("request-timeout", &options.request_timeout)}) {
    const auto text = url.option(name);
    if (!text) continue;
    auto time = parse_duration(name, *text);
    if (!time) return tl::unexpected(std::move(time.error()));
    *to = *time;
  }
  return {};
}

Result<std::string> take_prefix(const core::Url& url) {
  std::string_view path = url.path;
  if (path.starts_with('/')) path.remove_prefix(1);
  const auto option = url.option("prefix");
  if (option && !path.empty()) {
    return refuse("an etcd store's prefix is given twice: in the path and as an option");
  }
  if (option) return std::string(*option);
  std::string prefix(path);
  if (!prefix.empty() && !prefix.ends_with('/')) prefix += '/';
  return prefix;
}

}  // namespace

Result<void> check_options(const EtcdOptions& options) {
  if (options.endpoints.empty()) return refuse("an etcd store needs an endpoint, HOST:PORT");
  for (const std::string& endpoint : options.endpoints) {
    if (auto good = check_endpoint(endpoint); !good) return good;
  }
  if (options.prefix.size() > kLongestPrefix || options.prefix.find('\0') != std::string::npos) {
    return refuse("the prefix of an etcd store has at most 512 bytes, and no NUL");
  }
  if (options.certificate.empty() != options.key.empty()) {
    return refuse("an etcd store needs both a certificate and its key (cert, key), or neither");
  }
  const std::size_t names = options.server_names.size();
  if (names > 1 && names != options.endpoints.size()) {
    return refuse("server-name of an etcd store must give one name, or one for each endpoint");
  }
  const bool has_password = !options.password.empty() || !options.password_file.empty();
  if (options.user.empty() && !options.password_file.empty()) {
    return refuse("an etcd store has a password but no user");
  }
  if (!options.user.empty() && !has_password) {
    return refuse(
        "an etcd store has a user but no password: give password-file or TENURE_ETCD_PASSWORD");
  }
  if (auto good = check_timeout("dial-timeout", options.dial_timeout); !good) return good;
  return check_timeout("request-timeout", options.request_timeout);
}

}  // namespace tenure::etcd

namespace tenure {

Result<EtcdOptions> parse_etcd_url(std::string_view text) {
  using etcd::split;
  const auto url = core::parse_url(text);
  if (!url) return tl::unexpected(url.error());
  if (url->scheme != "etcd" || !url->authority || url->authority->empty()) {
    return etcd::refuse("an etcd store is written etcd://HOST:PORT[,HOST:PORT...][/PREFIX]");
  }
  auto known =
      core::check_options(*url, {"ca", "cert", "key", "server-name", "user", "password-file",
                                 "prefix", "dial-timeout", "request-timeout"});
  if (!known) return tl::unexpected(std::move(known.error()));
  EtcdOptions options;
  for (std::string& endpoint : split(*url->authority)) {
    options.endpoints.push_back(etcd::with_port(std::move(endpoint)));
  }
  const auto take = [&url](std::string_view name) {
    return std::string(url->option(name).value_or(""));
  };
  options.ca = take("ca");
  options.certificate = take("cert");
  options.key = take("key");
  options.user = take("user");
  options.password_file = take("password-file");
  if (const auto names = url->option("server-name")) options.server_names = split(*names);
  if (!options.user.empty() && options.password_file.empty()) {
    if (const char* const password = std::getenv("TENURE_ETCD_PASSWORD")) {
      options.password = password;
    }
  }
  auto prefix = etcd::take_prefix(*url);
  if (!prefix) return tl::unexpected(std::move(prefix.error()));
  options.prefix = std::move(*prefix);
  if (auto good = etcd::take_times(options, *url); !good) return tl::unexpected(good.error());
  if (auto good = etcd::check_options(options); !good) return tl::unexpected(good.error());
  return options;
}

}  // namespace tenure
