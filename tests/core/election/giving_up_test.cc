// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/core/election/machine_world.h"

namespace tenure::core {
namespace {

constexpr Instant kStart = at(hours(1));

MachineWorld::Setup giving_up_after(Duration limit) {
  MachineWorld::Setup setup;
  setup.options.give_up_after = limit;
  return setup;
}

TEST(GivingUp, GivesUpWhenNotElectedInTime) {
  MachineWorld w(giving_up_after(seconds(20)));
  w.start();
  w.held_by("B", 5);
  w.run_until<SendAcquire>();
  w.held_by("B", 5);
  w.run_to(kStart + seconds(20) - nanoseconds(1));
  EXPECT_EQ(w.phase(), Phase::standing);
  w.run_for(nanoseconds(1));
  EXPECT_EQ(w.phase(), Phase::stopped);
  EXPECT_EQ(w.last<Finish>().error->code, Errc::timed_out);
  EXPECT_NE(w.last<Finish>().error->message.find("B leads"), std::string::npos);
}

TEST(GivingUp, CK06_GivingUpAfterZeroTriesOnce) {
  MachineWorld w(giving_up_after(Duration::zero()));
  w.start();
  EXPECT_EQ(w.phase(), Phase::standing);
  EXPECT_GT(w.last<SendAcquire>().limit, w.now) << "there is time for one answer";
  w.granted(7);
  EXPECT_EQ(w.phase(), Phase::leading);
  MachineWorld other(giving_up_after(Duration::zero()));
  other.start();
  other.run_for(milliseconds(5));
  other.held_by("B", 5);
  EXPECT_EQ(other.phase(), Phase::stopped);
  EXPECT_EQ(other.count<SendAcquire>(), 1);
}

TEST(GivingUp, GivingUpOnASilentStoreStillComesToAnEnd) {
  MachineWorld w(giving_up_after(Duration::zero()));
  w.start();
  w.run_for(seconds(10));
  EXPECT_EQ(w.phase(), Phase::stopped);
  EXPECT_EQ(w.last<Finish>().error->code, Errc::outcome_unknown) << "and says what was wrong";
  EXPECT_EQ(w.last<SendRelease>().revision, 0U) << "after it cleaned up what may be there";
}

TEST(GivingUp, GivingUpCountsFromWhenItBeganToStand) {
  MachineWorld w(giving_up_after(seconds(20)));
  w.start();
  w.granted(7);
  for (int i = 0; i < 10; ++i) {
    w.run_until<SendRenew>();
    w.renewed();
  }
  EXPECT_EQ(w.phase(), Phase::leading);
  w.sees(record_of("B", 9), 9);
  w.held_by("B", 9);
  w.run_for(seconds(10));
  EXPECT_EQ(w.phase(), Phase::standing);
}

TEST(GivingUp, GivingUpTakesTheErrorOfTheOutageWithIt) {
  MachineWorld w(giving_up_after(seconds(2)));
  w.start();
  while (w.phase() == Phase::standing) {
    w.acquire_fails(Errc::unavailable);
    w.run_to(w.machine.next_deadline());
  }
  EXPECT_EQ(w.last<Finish>().error->code, Errc::unavailable);
}

TEST(GivingUp, StoreThatTurnsForeignIsTheEnd) {
  for (const Errc code : {Errc::corrupt, Errc::unsupported, Errc::invalid_argument}) {
    SCOPED_TRACE(to_string(code));
    MachineWorld w;
    w.start();
    w.held_by(record_of("B", 5), false);
    w.run_until<SendAcquire>();
    w.acquire_fails(code);
    EXPECT_EQ(w.phase(), Phase::stopped);
    ASSERT_TRUE(w.last<Finish>().error.has_value());
    EXPECT_EQ(w.last<Finish>().error->code, code);
    EXPECT_EQ(w.count<SendRelease>(), 0) << "there is nothing of ours";
  }
}

TEST(GivingUp, StoreThatTurnsForeignIsLeftWithoutARecordOfOurs) {
  MachineWorld w;
  w.start();
  w.acquire_fails(Errc::outcome_unknown);
  w.run_until<SendAcquire>();
  w.acquire_fails(Errc::corrupt);
  EXPECT_EQ(w.last<SendRelease>().revision, 0U);
  w.release_fails(Errc::corrupt);
  w.run_for(seconds(15));
  EXPECT_EQ(w.phase(), Phase::stopped);
  EXPECT_EQ(w.last<Finish>().error->code, Errc::corrupt) << "what it gave up for";
}

TEST(GivingUp, StoreThatTurnsForeignUnderALeaderEndsItAfterItsTerm) {
  MachineWorld w;
  w.lead(7);
  w.run_for(seconds(5));
  w.renew_fails(Errc::corrupt);
  EXPECT_EQ(w.phase(), Phase::leading) << "it may come back";
  for (int tries = 0; w.losses().empty() && tries < 1000; ++tries) {
    w.renew_fails(Errc::corrupt);
    w.run_to(std::min(w.machine.next_deadline(), w.now + seconds(20)));
  }
  EXPECT_EQ(w.losses(), "fatal");
  w.run_until<SendAcquire>();
  w.acquire_fails(Errc::corrupt);
  EXPECT_EQ(w.phase(), Phase::stopped);
}

}  // namespace
}  // namespace tenure::core
