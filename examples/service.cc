// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0

/// An active/standby service: start it twice, and one of the two works. It ends in order on SIGTERM
/// and SIGINT: the work is told to stop, it ends, the election is released, and the other one goes
/// on at once. Usage: service [STORE-URL]
#include <tenure/election.h>
#include <tenure/runtime.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace {

int give_up(const tenure::Error& error) {
  std::fprintf(stderr, "service: %s\n", error.message.c_str());
  return 1;
}

// What the service is for, once a second as long as it leads.
void work(const tenure::Leadership& term) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  std::printf("leading with token %llu\n", static_cast<unsigned long long>(term.token()));
  // The stop comes a grace before the deadline; held() is asked before whatever must not be done
  // by two, and the token goes with every write, for the resource to refuse an older one.
  while (!term.stop_token().stop_requested() && term.held()) {
    std::fflush(stdout);
    changed.wait_for(lock, term.stop_token(), std::chrono::seconds(1), [] { return false; });
  }
  std::printf("standing back\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  // Blocked before the library starts its threads, so that only the one below takes them.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);

  auto runtime = tenure::Runtime::create();
  if (!runtime) return give_up(runtime.error());
  auto store = (*runtime)->open_store(argc > 1 ? argv[1] : "");  // "": the default
  if (!store) return give_up(store.error());
  auto election = tenure::Election::create(**runtime, *store, {.name = "service"});
  if (!election) return give_up(election.error());

  std::thread ender([&] {
    int signal = 0;
    sigwait(&ends, &signal);
    const auto stopped = election->stop(std::chrono::seconds(10));
    if (!stopped) give_up(stopped.error());
  });
  const auto ended = election->lead(work);  // Until it is stopped.
  kill(getpid(), SIGTERM);                  // The ender may not have had one.
  ender.join();
  return ended ? 0 : give_up(ended.error());
}
