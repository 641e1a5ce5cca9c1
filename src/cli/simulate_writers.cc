// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate_writers.h"

#include "cli/exit_code.h"
#include "writers/experiment.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <limits>
#include <optional>
#include <ostream>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace tenure::cli {
namespace {

constexpr std::size_t kMostWriters = 10'000;
constexpr std::size_t kMostKeys = 10'000;
constexpr std::size_t kMostRounds = 1000;

// What is wrong with it; CLI11 itself takes -1, and 2^64, for the largest number.
std::string whole_number(const std::string& text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && rest == end) return {};
  return "is " + text + ", must be a whole number from 0 to " +
         std::to_string(std::numeric_limits<std::uint64_t>::max());
}

// A file that keeps its old content until the new one is complete: that is written beside it and
// then takes its name. What is no regular file (a pipe, /dev/stdout) is written directly.
class Replacement {
 public:
  explicit Replacement(std::string path) : target_(std::move(path)) {}
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  ~Replacement() {
    if (fd_ >= 0) ::close(fd_);
  }

  // Whether it can be written, as far as that can be known now; leaves nothing behind.
  std::error_code prepare();
  std::error_code write(std::string_view content);

 private:
  std::error_code open_direct();
  std::error_code open_beside();
  std::error_code write_and_close(std::string_view content);

  std::filesystem::path target_;
  std::string beside_;
  mode_t mode_ = 0;
  int fd_ = -1;
};

std::error_code last_error() { return {errno, std::generic_category()}; }

std::error_code Replacement::prepare() {
  namespace fs = std::filesystem;
  std::error_code failure;
  const fs::file_status status = fs::status(target_, failure);
  const bool exists = fs::exists(status);
  if (!exists && status.type() != fs::file_type::not_found) return failure;
  const std::string& name = target_.native();
  // Names of open descriptors, whatever those are.
  const bool descriptor = name.starts_with("/dev/") || name.starts_with("/proc/");
  const bool dangling = !exists && fs::is_symlink(fs::symlink_status(target_, failure));
  if (descriptor || dangling || (exists && !fs::is_regular_file(status))) return open_direct();
  if (exists) {
    target_ = fs::canonical(target_, failure);
    if (failure) return failure;
    if (::access(target_.c_str(), W_OK) != 0) return last_error();
    mode_ = static_cast<mode_t>(status.permissions() & fs::perms::all);
  } else {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    mode_ = 0666 & ~mask;
  }
  if (const auto error = open_beside()) return error;
  ::close(std::exchange(fd_, -1));
  return ::unlink(beside_.c_str()) == 0 ? std::error_code() : last_error();
}

std::error_code Replacement::open_direct() {
  fd_ = ::open(target_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  return fd_ >= 0 ? std::error_code() : last_error();
}

std::error_code Replacement::open_beside() {
  beside_ = (target_.parent_path() / ".tenure-XXXXXX").native();
  fd_ = ::mkostemp(beside_.data(), O_CLOEXEC);
  return fd_ >= 0 ? std::error_code() : last_error();
}

std::error_code Replacement::write(std::string_view content) {
  if (fd_ >= 0) return write_and_close(content);
  if (const auto error = open_beside()) return error;
  auto error = ::fchmod(fd_, mode_) == 0 ? std::error_code() : last_error();
  if (!error) error = write_and_close(content);
  if (!error && ::rename(beside_.c_str(), target_.c_str()) != 0) error = last_error();
  if (error) ::unlink(beside_.c_str());
  return error;
}

std::error_code Replacement::write_and_close(std::string_view content) {
  while (!content.empty()) {
    const ssize_t wrote = ::write(fd_, content.data(), content.size());
    if (wrote < 0 && errno != EINTR) return last_error();
    if (wrote > 0) content.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return ::close(std::exchange(fd_, -1)) == 0 ? std::error_code() : last_error();
}

}  // namespace

CLI::App* add_simulate_writers(CLI::App& parent, SimulateWritersOptions& options) {
  CLI::App* const sub = parent.add_subcommand(
      "writers", "How many writes replicas with a writer lease make, as replicas are added");
  sub->add_option("--writers", options.writers, "The most writers (default 1000)")
      ->check(CLI::Range(std::size_t{1}, kMostWriters));
  sub->add_option("--keys", options.keys, "Objects that all of them write (default 20)")
      ->check(CLI::Range(std::size_t{1}, kMostKeys));
  sub->add_option("--rounds", options.rounds, "Changes of every object (default 5)")
      ->check(CLI::Range(std::size_t{1}, kMostRounds));
  sub->add_option("--seed", options.seed, "The same seed gives the same table (default 1)")
      ->check(whole_number);
  sub->add_option("--svg", options.svg, "Draw it into this file")->type_name("FILE");
  sub->footer("Example: tenure simulate writers --writers 100 --svg writers.svg");
  return sub;
}

int simulate_writers(const SimulateWritersOptions& options, std::ostream& out, std::ostream& err) {
  const sim::ExperimentOptions experiment{.most_writers = options.writers,
                                          .keys = options.keys,
                                          .rounds = options.rounds,
                                          .seed = options.seed};
  const auto cannot_write = [&](const std::error_code& error, int code) {
    err << "tenure: --svg: cannot write " << options.svg << ": " << error.message() << "\n";
    return code;
  };
  std::optional<Replacement> file;
  if (!options.svg.empty()) file.emplace(options.svg);
  // Tried first: nobody wants to hear after the long run that it cannot be written.
  if (file) {
    if (const auto error = file->prepare()) return cannot_write(error, kUsage);
  }
  out << sim::table_head() << std::flush;
  const auto rows = sim::run_experiment(experiment, [&](const sim::ExperimentRow& row) {
    out << sim::table_line(row) << std::flush;
  });
  out << sim::table_legend() << std::flush;
  if (file) {
    const auto error = file->write(sim::picture(experiment, rows));
    if (error) return cannot_write(error, kUnavailable);
  }
  return out ? kOk : kUnavailable;
}

int simulate_command(std::vector<std::string> words, std::ostream& out, std::ostream& err) {
  CLI::App app("Runs the real machines in virtual time, and draws what happens", "tenure simulate");
  app.require_subcommand(1);
  SimulateWritersOptions options;
  add_simulate_writers(app, options);
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    out << app.help("", CLI::AppFormatMode::Normal);
    return kOk;
  } catch (const CLI::ParseError& error) {
    err << "tenure: " << error.what() << "\nTry: tenure simulate writers --help\n";
    return kUsage;
  }
  return simulate_writers(options, out, err);
}

}  // namespace tenure::cli
