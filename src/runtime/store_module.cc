// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/store_module.h"

#include <tenure/version.h>

#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace tenure::runtime {
namespace {

void here() {}

// The folder of the program or shared library that holds this code; empty if nobody knows.
std::string own_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&here), &info) == 0 || info.dli_fname == nullptr) {
    return {};
  }
  // A path without a slash was found by the shell, and says nothing.
  std::string path = info.dli_fname;
  if (path.find('/') == std::string::npos) {
    std::vector<char> buffer(4096);
    const auto length = ::readlink("/proc/self/exe", buffer.data(), buffer.size());
    if (length <= 0) return {};
    path.assign(buffer.data(), static_cast<std::size_t>(length));
  }
  return path.substr(0, path.rfind('/'));
}

std::vector<std::string> folders() {
  if (const char* const given = ::secure_getenv("TENURE_MODULES")) return {given};
  std::vector<std::string> all;
  if (const std::string own = own_folder(); !own.empty()) {
    all.push_back(own + "/tenure-modules");
    all.push_back(own + "/" TENURE_MODULES_FROM_BIN);
  }
  all.emplace_back(TENURE_MODULES_INSTALLED);
  return all;
}

tl::unexpected<Error> unusable(std::string_view scheme, const std::string& why) {
  return fail(Errc::unsupported, "the " + std::string(scheme) + " store cannot be loaded: " + why);
}

}  // namespace

OpenedStore open_by_module(std::string_view scheme, std::string_view url, Executor& executor,
                           const StoreOptions& options) {
  const std::string name = "tenure-store-" + std::string(scheme) + ".so";
  std::string looked;
  for (const std::string& folder : folders()) {
    const std::string path = folder + "/" + name;
    looked += looked.empty() ? "" : ", ";
    looked += folder;
    if (::access(path.c_str(), F_OK) != 0) continue;
    void* const module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (module == nullptr) return unusable(scheme, ::dlerror());
    const auto entry = reinterpret_cast<ModuleEntry>(::dlsym(module, kModuleEntry));
    if (entry == nullptr) return unusable(scheme, path + " is no module of tenure");
    OpenedStore opened = fail(Errc::unsupported, {});
    if (entry(version(), url, executor, options, opened)) return opened;
    return unusable(scheme, path + " is of another version than this, " + std::string(version()));
  }
  return unusable(scheme, "its module " + name + " is not there; looked in " + looked +
                              " (TENURE_MODULES names another folder)");
}

}  // namespace tenure::runtime
