// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// The writer lease as a model for Spin: the state table over the keyed queue, with every order of
// submissions, results, expiry, extend, remove and expire(). `scripts/models` runs it.
//
// What is modelled
//  - Two keys, any number of pieces. One piece, chosen freely among them, is MARKED and followed
//    (the rules do not look into pieces, so what holds for it holds for each).
//  - As many workers as keys: different keys run in parallel, in any order.
//  - Time without numbers: a lease of another, a rest and a retry interval end at any moment.
//
// What is not modelled: backoff lengths, wait(), limit_retries(), stop(), the runtime's threads.
//
// Claims
//  W1 no work is lost: the marked piece waits, runs, or has exactly one fate: done, replaced,
//     removed, seen done.
//  W2 when a follower's lease has expired, one piece probes until its result is known.
//  W3 a follower starts nothing while the lease of another goes on.
//  W4 a key does not run twice at once; what came while it ran runs after it.
//  W5 work that was dropped while it ran is not run again.
//  W6 when nothing new comes, the marked piece does not wait for ever (-DPROGRESS).
//
// Rules that can be taken out by a define, and then a claim must fail:
//  PROBE_ALL IGNORE_LEASE RUN_BESIDE RETRY_OVERWRITES DROP_IGNORED EXTEND_LOSES NEWER_STAYS_BEHIND
//  PROBE_NEVER_ENDS

#define KEYS 2

mtype = { electing, leading, following };
mtype = { nothing, plain, marked };            // a piece
mtype = { due, resting, retrying, behind };    // what a waiting piece waits for
mtype = { open, done, replaced, removed, seen };  // the fate of the marked piece; why it was dropped

mtype state = electing;
mtype waiting[KEYS] = nothing, running[KEYS] = nothing;
mtype kind[KEYS] = due;
mtype dropped[KEYS] = open;
mtype fate = open;
bit lease_on;    // another's lease keeps a follower back
bit probing, is_probe[KEYS];
bit submitted;   // the marked piece was
bit quiet;       // nothing new comes
byte probes;     // ghost: running pieces that a follower started

#define places (waiting[0] == marked) + (waiting[1] == marked) + \
               (running[0] == marked) + (running[1] == marked)
#define check() assert(!submitted || (places) + (fate != open) == 1)  // W1

inline end_piece(piece, how) {
  if
  :: piece == marked -> assert(fate == open); fate = how
  :: else
  fi
}

inline submit(k, piece) {
  end_piece(waiting[k], replaced);
  waiting[k] = piece;
  if
  :: state == following -> kind[k] = resting
  :: state != following && running[k] != nothing -> kind[k] = behind
  :: else -> kind[k] = due
  fi;
  check()
}

inline drop(k, how) {
#ifdef EXTEND_LOSES
  // RULE EXTEND_LOSES: what is dropped is told.
  if :: how != seen -> end_piece(waiting[k], how) :: else fi;
#else
  end_piece(waiting[k], how);
#endif
  waiting[k] = nothing; kind[k] = due;
  if :: running[k] != nothing && dropped[k] == open -> dropped[k] = how :: else fi;
  check()
}

#ifdef PROBE_ALL
#define probe_blocks 0  // RULE PROBE_ALL: one piece probes
#else
#define probe_blocks probing
#endif
#ifdef IGNORE_LEASE
#define lease_blocks 0  // RULE IGNORE_LEASE: a follower waits for the lease
#else
#define lease_blocks lease_on
#endif
#ifdef RUN_BESIDE
#define key_blocks(k) 0  // RULE RUN_BESIDE: newer work runs after its key's
#else
#define key_blocks(k) (running[k] != nothing)
#endif

#define may_take(k) (waiting[k] != nothing && kind[k] == due && !key_blocks(k) && \
                     !(state == following && (probe_blocks || lease_blocks)))

inline take(k) {
  assert(running[k] == nothing);                         // W4
  assert(!(state == following && lease_on));             // W3
  running[k] = waiting[k]; waiting[k] = nothing;
  dropped[k] = open;
  if
  :: state == following ->
     probing = 1; is_probe[k] = 1; probes++;
     assert(probes == 1)                                 // W2
  :: else
  fi;
  check()
}

inline result(k, effect) {
  if
  :: effect == leading ->
     if
     :: state != leading ->
        state = leading;
        if :: kind[0] == resting -> kind[0] = due :: else fi;
        if :: kind[1] == resting -> kind[1] = due :: else fi
     :: else
     fi;
     lease_on = 0
  :: effect == following -> state = following; lease_on = 1
  :: else  // none: nothing changes
  fi;
#ifndef PROBE_NEVER_ENDS
  // RULE PROBE_NEVER_ENDS: any result ends the probe, one that says nothing too.
  if :: is_probe[k] -> probing = 0 :: else fi;
#else
  if :: is_probe[k] && effect != electing -> probing = 0 :: else fi;
#endif
  if :: is_probe[k] -> probes--; is_probe[k] = 0 :: else fi
}

inline finish(k, effect, retry) {
  result(k, effect);
  if
  :: !(retry) -> end_piece(running[k], done)
#ifndef DROP_IGNORED
  :: retry && dropped[k] != open -> end_piece(running[k], dropped[k])
  :: retry && dropped[k] == open && waiting[k] != nothing ->
#else
  :: retry && waiting[k] != nothing ->   // RULE DROP_IGNORED: what was dropped is not retried
#endif
#ifdef RETRY_OVERWRITES
     // RULE RETRY_OVERWRITES: a retry runs the newest work.
     waiting[k] = running[k]; kind[k] = retrying
#else
     end_piece(running[k], replaced)
#endif
#ifndef DROP_IGNORED
  :: retry && dropped[k] == open && waiting[k] == nothing ->
#else
  :: retry && waiting[k] == nothing ->
     assert(dropped[k] == open);         // W5
#endif
     waiting[k] = running[k]; kind[k] = retrying
  fi;
  running[k] = nothing; dropped[k] = open;
#ifndef NEWER_STAYS_BEHIND
  if :: kind[k] == behind -> kind[k] = due :: else fi;  // RULE NEWER_STAYS_BEHIND
#endif
  check()
}

proctype worker(byte k) {
end:
  do
  :: d_step { may_take(k) -> take(k) }
  :: d_step { running[k] != nothing -> finish(k, leading, 0) }
  :: d_step { running[k] != nothing -> finish(k, following, 0) }
  :: d_step { running[k] != nothing -> finish(k, electing, 0) }
  :: d_step { running[k] != nothing && !quiet -> finish(k, leading, 1) }
  :: d_step { running[k] != nothing && !quiet -> finish(k, following, 1) }
  :: d_step { running[k] != nothing && !quiet -> finish(k, electing, 1) }
  od
}

proctype user(byte k) {
end:
  do
  :: d_step { !quiet -> submit(k, plain) }
  :: d_step { !quiet && !submitted -> submitted = 1; submit(k, marked) }
  :: d_step { !quiet && (waiting[k] != nothing ||
                         (running[k] != nothing && dropped[k] == open)) ->
       drop(k, seen);
       if :: state == following -> lease_on = 1 :: else fi }
  :: d_step { !quiet && (waiting[k] != nothing || running[k] != nothing) -> drop(k, removed) }
  :: d_step { !quiet && state == following -> lease_on = 0; kind[0] = due; kind[1] = due }
#ifdef PROGRESS
  :: d_step { !quiet -> quiet = 1 }
#endif
  od
}

// The earlier of two times counts; a piece behind its key waits for no time.
proctype time(byte k) {
end:
  do
  :: d_step { kind[k] == resting || kind[k] == retrying -> kind[k] = due }
  :: d_step { lease_on -> lease_on = 0 }
  od
}

init {
  atomic {
    run worker(0); run worker(1); run user(0); run user(1); run time(0); run time(1)
  }
}

#ifdef PROGRESS
ltl progress { [] (quiet -> <> (waiting[0] != marked && waiting[1] != marked)) }
#endif
