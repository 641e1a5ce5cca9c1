// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0

/// What many elections in one process cost: heap and resident memory each, threads in all, and the
/// CPU of a process in which all of them are idle. Usage: many_elections [COUNT] [FOLDER]
/// Exit 1 if one takes 8 KiB of heap or more.
#include <tenure/election.h>
#include <tenure/runtime.h>

#include <malloc.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

using tenure::Election;

constexpr double kMostHeap = 8 * 1024;

std::size_t heap_bytes() { return ::mallinfo2().uordblks; }

std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t size = 0;
  std::size_t resident = 0;
  statm >> size >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

long threads() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       std::filesystem::directory_iterator());
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Load {
  const char* what;
  bool leading;
};

int measure(tenure::Runtime& runtime, const std::shared_ptr<tenure::LeaseStore>& store,
            const Load& load, int count) {
  const std::size_t heap_before = heap_bytes();
  const std::size_t resident_before = resident_bytes();
  tenure::Clock& clock = runtime.clock();
  const tenure::Instant began = clock.now();
  std::vector<Election> elections;
  for (int i = 0; i < count; ++i) {
    auto made = Election::create(runtime, store, {.name = "election-" + std::to_string(i)});
    if (!made || !made->start()) return 1;
    elections.push_back(std::move(*made));
  }
  for (Election& election : elections) {
    const auto event = election.wait_event(std::chrono::minutes(1));
    if (!event || election.held() != load.leading) {
      std::fprintf(stderr, "an election did not get where it should be\n");
      return 1;
    }
  }
  const double took_ms = std::chrono::duration<double, std::milli>(clock.now() - began).count();
  const double heap = static_cast<double>(heap_bytes() - heap_before) / count;
  const double resident = static_cast<double>(resident_bytes() - resident_before) / count;
  std::printf(
      "%-8s %5d elections: %6.0f bytes of heap and %6.0f resident each; %ld threads; "
      "all there after %.0f ms\n",
      load.what, count, heap, resident, threads(), took_ms);
  const double cpu_before = cpu_seconds();
  constexpr int kIdleMs = 15000;
  (void)::poll(nullptr, 0, kIdleMs);
  std::printf("%-8s idle: %.3f %% CPU for all of them\n", load.what,
              (cpu_seconds() - cpu_before) * 1e5 / kIdleMs);
  if (heap < kMostHeap) return 0;
  std::printf("%-8s TOO MUCH heap; limit %.0f bytes\n", load.what, kMostHeap);
  return 1;
}

int run(int count, const std::string& url) {
  auto runtime = tenure::Runtime::create();
  if (!runtime) return 1;
  auto ours = (*runtime)->open_store(url);
  auto theirs = (*runtime)->open_store(url);
  if (!ours || !theirs) {
    std::fprintf(stderr, "%s\n", (ours ? theirs : ours).error().message.c_str());
    return 1;
  }
  std::vector<Election> holders;
  if (const int failed = measure(**runtime, *ours, {"leading", true}, count); failed != 0)
    return failed;
  for (int i = 0; i < count; ++i) {
    auto made = Election::create(**runtime, *theirs, {.name = "election-" + std::to_string(i)});
    if (!made || !made->start() || !made->wait_event(std::chrono::minutes(1))) return 1;
    holders.push_back(std::move(*made));
  }
  return measure(**runtime, *ours, {"waiting", false}, count);
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 1000;
  const std::string parent = argc > 2 ? argv[2] : std::filesystem::temp_directory_path().string();
  std::string folder = parent + "/tenure-bench-XXXXXX";
  if (count <= 0 || ::mkdtemp(folder.data()) == nullptr) {
    std::fprintf(stderr, "usage: many_elections [COUNT] [FOLDER]\n");
    return 64;
  }
  const int result = run(count, "sqlite:" + folder + "/tenure.db");
  std::filesystem::remove_all(folder);
  return result;
}
