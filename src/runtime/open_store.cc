// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/open_store.h"

#include "core/url.h"
#include "runtime/store_module.h"

#include <tenure/memory_store.h>
#ifdef TENURE_STORE_SQLITE
#include <tenure/sqlite_store.h>
#endif

#include <string>
#include <utility>

namespace tenure::runtime {
namespace {

using core::Url;
using Store = Result<std::shared_ptr<LeaseStore>>;

tl::unexpected<Error> has_no_host(const Url& url) {
  return fail(Errc::invalid_argument,
              "a store of the scheme " + url.scheme + ": has no host; write " + url.scheme + ":" +
                  (url.scheme == "memory" ? "NAME" : "PATH") + ", without the two slashes");
}

Store open_memory(const Url& url, Executor& executor, const StoreOptions&) {
  if (auto known = core::check_options(url, {}); !known) return tl::unexpected(known.error());
  if (url.authority) return has_no_host(url);
  return open_memory_store("memory:" + url.path, executor);
}

#ifdef TENURE_STORE_SQLITE
Store open_sqlite_at(std::optional<std::string> path, Executor& executor,
                     const StoreOptions& options) {
  auto store = open_sqlite_store({.path = std::move(path), .create = options.create}, executor);
  if (!store) return tl::unexpected(std::move(store.error()));
  return std::shared_ptr<LeaseStore>(std::move(*store));
}

Store open_sqlite(const Url& url, Executor& executor, const StoreOptions& options) {
  if (auto known = core::check_options(url, {}); !known) return tl::unexpected(known.error());
  // sqlite:///PATH is common elsewhere, and can only mean that.
  if (url.authority && !url.authority->empty()) return has_no_host(url);
  return open_sqlite_at(url.path, executor, options);
}

Store open_default(Executor& executor, const StoreOptions& options) {
  return open_sqlite_at(std::nullopt, executor, options);
}
#else
Store open_sqlite(const Url&, Executor&, const StoreOptions&) {
  return fail(Errc::unsupported, "this build of tenure has no sqlite store");
}

Store open_default(Executor&, const StoreOptions&) {
  return fail(Errc::unsupported,
              "this build of tenure has no sqlite store, which is the default; name another one");
}
#endif

struct Scheme {
  std::string_view name;
  std::string_view form;
  /// Null: the store is a module.
  Store (*open)(const Url& url, Executor& executor, const StoreOptions& options);
};

constexpr Scheme kSchemes[] = {
    {"sqlite", "sqlite:PATH", open_sqlite},
    {"memory", "memory:NAME", open_memory},
#ifdef TENURE_STORE_ETCD
    {"etcd", "etcd://HOST:PORT", nullptr},
#endif
};

Store open_url(std::string_view text, Executor& executor, const StoreOptions& options) {
  if (text.empty()) return open_default(executor, options);
  const auto url = core::parse_url(text);
  if (!url) return tl::unexpected(url.error());
  std::string accepted;
  for (const Scheme& scheme : kSchemes) {
    if (scheme.name == url->scheme) {
      return scheme.open != nullptr ? scheme.open(*url, executor, options)
                                    : open_by_module(scheme.name, text, executor, options);
    }
    accepted += accepted.empty() ? "" : ", ";
    accepted += scheme.form;
  }
  return fail(Errc::invalid_argument,
              "\"" + url->scheme + ":\" is no kind of store; accepted: " + accepted);
}

// What a user's last reference to a store does. What the store holds on the loop must be destroyed
// there, and in a forked child it is the parent's.
struct LastReference {
  std::shared_ptr<Engine> engine;
  std::shared_ptr<LeaseStore> owned;

  void operator()(LeaseStore*) {
    if (engine->in_forked_child()) {
      (void)new std::shared_ptr<LeaseStore>(std::move(owned));
      return;
    }
    if (engine->on_loop()) return owned.reset();
    engine->post([last = std::move(owned)] {});
  }
};

}  // namespace

Store open_store(const std::shared_ptr<Engine>& engine, std::string_view url,
                 const StoreOptions& options) {
  auto opened = open_url(url, *engine, options);
  if (!opened) return opened;
  LeaseStore* const store = opened->get();
  return std::shared_ptr<LeaseStore>(store, LastReference{engine, std::move(*opened)});
}

}  // namespace tenure::runtime
