// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/console.h"

#include <array>
#include <cstddef>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace tenure::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Both ends of something that holds only so much. The writer's end makes writers wait, as ours do.
class Channel {
 public:
  enum class Kind { pipe, socket };

  explicit Channel(Kind kind) {
    const int failed = kind == Kind::pipe
                           ? pipe2(ends_.data(), O_CLOEXEC)
                           : socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_.data());
    EXPECT_EQ(failed, 0);
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() {
    for (const int end : ends_) close(end);
  }

  [[nodiscard]] int writer() const { return ends_[1]; }
  [[nodiscard]] bool writer_waits() const { return (fcntl(writer(), F_GETFL) & O_NONBLOCK) == 0; }

  // Fills it, in pieces of `size`, but for `left` of them.
  void fill(std::size_t size, std::size_t left = 0) const {
    const std::string piece(size, 'x');
    fcntl(writer(), F_SETFL, fcntl(writer(), F_GETFL) | O_NONBLOCK);
    while (write(writer(), piece.data(), size) > 0) {
    }
    fcntl(writer(), F_SETFL, fcntl(writer(), F_GETFL) & ~O_NONBLOCK);
    std::string back(size * left, '\0');
    if (left > 0) {
      EXPECT_EQ(read(ends_[0], back.data(), back.size()), static_cast<ssize_t>(back.size()));
    }
  }

  [[nodiscard]] std::string drain() const {
    fcntl(ends_[0], F_SETFL, O_NONBLOCK);
    std::string all;
    std::array<char, 65536> buffer{};
    for (ssize_t got = 0; (got = read(ends_[0], buffer.data(), buffer.size())) > 0;) {
      all.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return all;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

TEST(Console, NeverWaitsForAReaderAndSaysHowManyLinesAreLost) {
  for (const auto kind : {Channel::Kind::pipe, Channel::Kind::socket}) {
    const Channel channel(kind);
    Console console(Level::info, "job", channel.writer());
    channel.fill(4096);
    channel.fill(1);
    console.info("one");
    console.info("two");
    EXPECT_TRUE(channel.writer_waits()) << "what others share with us is as it was";
    (void)channel.drain();
    console.info("three");
    EXPECT_EQ(channel.drain(),
              "tenure: job: (lines that could not be written: 2)\ntenure: job: three\n");
    console.info("four");
    EXPECT_EQ(channel.drain(), "tenure: job: four\n");
  }
}

// There is room, but less than what is to be said.
TEST(Console, ALineIsNeverSoLongThatAPipeWithRoomMakesItWait) {
  const Channel channel(Channel::Kind::pipe);
  Console console(Level::info, "", channel.writer());
  channel.fill(4096, 1);
  console.info(std::string(100'000, 'y'));
  const std::string all = channel.drain();
  EXPECT_EQ(all.substr(all.size() - 4), "...\n");
  EXPECT_THAT(all.substr(all.size() - 4096), StartsWith("tenure: yyy"));
}

TEST(Console, SaysNothingBelowItsLevel) {
  const Channel channel(Channel::Kind::pipe);
  Console console(Level::warning, "", channel.writer());
  console.info("no");
  console.debug("no");
  console.warning("yes");
  console.error("too");
  EXPECT_EQ(channel.drain(), "tenure: yes\ntenure: too\n");
}

TEST(Shown, LeavesWhatIsReadAndWritesOutWhatIsNot) {
  const std::array<std::pair<std::string, std::string>, 13> cases{{
      {"plain text, 100 %", "plain text, 100 %"},
      {"Gr\xC3\xBC\xC3\x9F"
       "e \xE6\x97\xA5 \xF0\x9F\x98\x80",
       "Gr\xC3\xBC\xC3\x9F"
       "e \xE6\x97\xA5 \xF0\x9F\x98\x80"},
      {"a\x1B[31mb", "a\\x1b[31mb"},
      {"a\nb\tc\x7F", "a\\x0ab\\x09c\\x7f"},
      {std::string("a\0b", 3), "a\\x00b"},
      {"a\xC2\x9B"
       "31m",
       "a\\u009b31m"},
      {"user\xE2\x80\xAEgpj.exe", "user\\u202egpj.exe"},
      {"\xE2\x81\xA6"
       "a\xE2\x81\xA9",
       "\\u2066a\\u2069"},
      {"a\xE2\x80\x8B"
       "b\xEF\xBB\xBF",
       "a\\u200bb\\ufeff"},
      {"a\xE2\x80\xA8"
       "b",
       "a\\u2028b"},
      {"\xF3\xA0\x81\xA1", "\\U000e0061"},
      {"bad \xFF\xC3", "bad \\xff\\xc3"},
      {"long \xC0\xAF \xED\xA0\x80", "long \\xc0\\xaf \\xed\\xa0\\x80"},
  }};
  for (const auto& [raw, wanted] : cases) EXPECT_EQ(shown(raw), wanted);
}

TEST(Shown, HoldsForEveryLineAndForTheSubject) {
  const Channel channel(Channel::Kind::pipe);
  Console console(Level::info, "job\xE2\x80\xAE", channel.writer());
  console.info("'a\x1B[2J\nb' leads");
  EXPECT_EQ(channel.drain(), "tenure: job\\u202e: 'a\\x1b[2J\\x0ab' leads\n");
}

TEST(Quoted, CutsBetweenCharacters) {
  EXPECT_EQ(cli::quoted("a\x1B"
                        "b"),
            "'a\\x1bb'");
  EXPECT_EQ(cli::quoted(std::string(60, 'a')), "'" + std::string(60, 'a') + "'");
  EXPECT_EQ(cli::quoted(std::string(61, 'a')), "'" + std::string(60, 'a') + "...'");
  const std::string umlauts = std::string(59, 'a') + "\xC3\xBC" + "bc";
  EXPECT_EQ(cli::quoted(umlauts), "'" + std::string(59, 'a') + "...'");
}

}  // namespace
}  // namespace tenure::cli
