// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// The election protocol as a model for Spin: three candidates, one store, a network that loses,
// delays and reorders, and clocks of different rates. `scripts/models` runs it; docs/proof.md ties
// its rules to the code.
//
// What is modelled
//  - Time in ticks of the store's (true) clock. A ttl is TTL ticks; every timer is a count of what
//    is left, so that there is no absolute time and the number of terms is unbounded.
//  - Clock drift: a node's own clock misses one tick (or, where observers judge, counts one twice),
//    at most once in any TTL ticks. DRIFT = 1 of TTL = 3: much worse than the 1 % of the code.
//  - Pauses: nothing forces a node, the store or a message to move while time passes.
//  - Per node one request that is listened to, and one stray: a request that was given up, and that
//    may still take effect at any later time, or never. (-DONE_STRAY: one of all nodes together;
//    -DNO_STRAY: what is given up is lost, unless the store has handled it already.)
//  - A store that frees a record no sooner than its ttl after the last renewal that it handled, and
//    any time later. It may grant less than before (SHORT). With -DOBSERVERS it frees nothing; the
//    candidates judge by their own clocks.
//  - Crash and restart: the new incarnation has a new session, the old one's record has no owner.
//  - The work of a term, which ends when it likes; writes in flight, which land when they like.
//  - The record's revision and the fencing token are one number (as in etcd). Numbers in use are
//    renumbered densely in order, which keeps every comparison and makes their number finite.
//  - -DDELETIONS: an operator deletes the record under its holder.
//
// What is not modelled: the line of waiting candidates, the watch of those who wait (they ask again
// instead), errors other than silence, duplication of messages, a store that goes back in time,
// renewals while the work of an ended term goes on and renewals that take effect after they were
// given up (both only make others wait longer), more than one stray of a node, stop(), grace before the deadline (work is told at the deadline).
//
// Claims (each is an assertion below; C5 is the LTL formula of -DPROGRESS)
//  C1 at most one node holds.
//  C2 the token of a term is larger than that of every term before it.
//     (With -DDELETIONS, C1 and C2 speak of nodes to which no notice of the deletion is under way.)
//  C3 a record is released only after its term and its work have ended.
//  C4 the resource never accepts a write of a term older than one that it accepted.
//  C5 after the network has healed, somebody leads, again and again.
//
// Each rule can be taken out by a define, and then a claim must fail:
//  FROM_RECEIPT NO_DRIFT HELD_BY_FLAG IGNORE_GENERATION ADOPT_BY_ID ADOPT_AT_ONCE RELEASE_ANY
//  RELEASE_BEFORE_WORK TRUST_AGAIN STORE_SHORTENS NO_FRESH_READ TOKEN_REUSE NO_FENCE NO_OWN_WATCH
//  OBSERVER_NO_DRIFT OBSERVER_BLIND NO_EXPIRY NEVER_RETRY

#ifndef N
#define N 3
#endif
#ifndef FAULTY
#define FAULTY N  // so many nodes lose messages and have clocks that drift
#endif
#ifndef TTL
#define TTL 3
#endif
#define SHORT 2    // what the store grants when it grants less
#define DRIFT 1
#define NOBODY N   // the record is free
#define GHOST 5    // the record is of a session that crashed

// Of a node: standing; owns a record but has not proved it by a renewal; leads; the term is over
// and its work or its record is not.
#define STANDING 0
#define PROVING 1
#define LEADING 2
#define ENDING 3

// Of an exchange with the store: a request under way, or the answer under way.
#define NOTHING 0
#define ACQUIRE 1
#define RENEW 2
#define RELEASE 3
#define OURS 4
#define OTHERS 5
#define HELD 6
#define HELD_SHORT 7
#define GONE 8
#define RELEASED 9

byte state[N], left[N], token[N], last[N], age[N], slip[N];
byte exchange[N], exchange_token[N];  // what is listened to
byte stray[N], stray_token[N];        // what was given up
byte pen[N];                          // the token of a write in flight
bit work[N], uncertain[N], notice[N];
#ifdef OBSERVERS
byte wait[N];                          // until the observed record is judged
bit judging[N];                        // the request was sent with a judgement
bit seen[N], same[N], stray_same[N];   // the observation (in node, message) is of the present record
#endif

byte owner = NOBODY, record_token, record_left, last_token;
byte high;    // the resource: the largest token it accepted
byte newest;  // the largest token of a term that began
bit healed;
byte i, j, used;  // scratch, zero between steps

#ifdef HELD_BY_FLAG
#define holds(n) (state[n] == LEADING)
#else
#define holds(n) (state[n] == LEADING && left[n] > 0)
#endif

// RULE NO_DRIFT: a grant is trusted for less than its ttl.
#ifdef NO_DRIFT
#define trusted(ttl) (ttl)
#else
#define trusted(ttl) ((ttl) - DRIFT)
#endif

// RULE FROM_RECEIPT: validity counts from before the request was sent.
#ifdef FROM_RECEIPT
#define sent_ago(n) 0
#else
#define sent_ago(n) age[n]
#endif

#define remaining(n, ttl) (trusted(ttl) > sent_ago(n) -> trusted(ttl) - sent_ago(n) : 0)

inline each_lower(x) { if :: x > i -> x-- :: else fi }
inline note_use(x) { if :: x == i -> used = 1 :: else fi }

// Drops what cannot matter any more, and renumbers the tokens in use densely, in order.
inline renumber() {
  j = 0;
  do
  :: j == N -> break
  :: else ->
     if :: last[j] != record_token && last[j] != exchange_token[j] && last[j] != stray_token[j] ->
           last[j] = 0
        :: else
     fi;
#if !defined(RELEASE_ANY) && !defined(IGNORE_GENERATION)
     if :: stray[j] != ACQUIRE && stray_token[j] != record_token ->
           stray[j] = NOTHING; stray_token[j] = 0
        :: else
     fi;
#endif
     j++
  od;
  i = last_token;
  do
  :: i == 0 -> break
  :: else ->
     used = 0; note_use(last_token); note_use(record_token); note_use(high); note_use(newest);
     j = 0;
     do
     :: j == N -> break
     :: else ->
        note_use(token[j]); note_use(last[j]); note_use(exchange_token[j]);
        note_use(stray_token[j]); note_use(pen[j]); j++
     od;
     if
     :: used -> skip
     :: else ->
        each_lower(last_token); each_lower(record_token); each_lower(high); each_lower(newest);
        j = 0;
        do
        :: j == N -> break
        :: else ->
           each_lower(token[j]); each_lower(last[j]); each_lower(exchange_token[j]);
           each_lower(stray_token[j]); each_lower(pen[j]); j++
        od
     fi;
     i--
  od;
  i = 0; j = 0; used = 0
}

// Whoever has seen the record as it was has not seen it as it is now.
inline record_changed() {
#ifdef OBSERVERS
  j = 0;
  do
  :: j == N -> break
  :: else -> seen[j] = 0; wait[j] = 0; same[j] = 0; stray_same[j] = 0; j++
  od;
  j = 0
#else
  skip
#endif
}

inline free_record() { owner = NOBODY; record_token = 0; record_left = 0; record_changed() }

inline create_record(n) {
  owner = n;
  notice[n] = 0;
#ifdef TOKEN_REUSE
  record_token = 1;
#else
  last_token++;
  record_token = last_token;
#endif
  record_left = TTL;
  record_changed()
}

// ---- the candidate

inline forget(n) {
  token[n] = 0; left[n] = 0; age[n] = 0; exchange[n] = NOTHING; exchange_token[n] = 0;
  notice[n] = 0
}

inline begin_term(n) {
  left[n] = remaining(n, TTL);
  if
  :: left[n] == 0 -> state[n] = PROVING  // too late to lead on it; a renewal will do
  :: else ->
     j = 0;
     do
     :: j == N -> break
     :: else -> assert(j == n || !holds(j) || notice[j] || notice[n]); j++  // C1
     od;
     j = 0;
     assert(token[n] > newest || notice[n]);  // C2
     if :: token[n] > newest -> newest = token[n] :: else fi;
     last[n] = token[n];
     state[n] = LEADING;
#ifdef TRUST_AGAIN
     // RULE TRUST_AGAIN: an acquire that was lost once may still take effect, however late.
     uncertain[n] = 0;
#endif
#ifndef NO_WORK
     work[n] = 1
#else
     skip
#endif
  fi
}

inline record_is_ours(n, t) {
  token[n] = t;
  if
  :: t == last[n] -> state[n] = ENDING     // left over from a term that ended here
#ifndef ADOPT_AT_ONCE
  :: t != last[n] && uncertain[n] -> state[n] = PROVING
  :: t != last[n] && !uncertain[n] -> begin_term(n)
#else
  :: t != last[n] -> begin_term(n)         // RULE ADOPT_AT_ONCE: only a later renewal counts
#endif
  fi
}

inline record_is_gone(n) {
  token[n] = 0; left[n] = 0; notice[n] = 0;
  if
  :: work[n] -> state[n] = ENDING
  :: else -> state[n] = STANDING
  fi
}

inline renewed(n, ttl) {
  if :: state[n] == LEADING -> left[n] = remaining(n, ttl) :: else fi;
  if :: state[n] == PROVING && ttl == TTL -> begin_term(n) :: else fi
}

inline receive(n) {
  i = exchange[n]; used = exchange_token[n];
  exchange[n] = NOTHING; exchange_token[n] = 0;
  if
  :: i == OURS -> record_is_ours(n, used)
  :: i == OTHERS ->
#ifdef OBSERVERS
     if
     :: same[n] && !seen[n] ->
        seen[n] = 1;
#ifdef OBSERVER_NO_DRIFT
        wait[n] = TTL  // RULE OBSERVER_NO_DRIFT: an observer waits longer than the ttl
#else
        wait[n] = TTL + DRIFT
#endif
     :: else
     fi;
     same[n] = 0
#else
     skip
#endif
  :: i == HELD -> renewed(n, TTL)
  :: i == HELD_SHORT -> renewed(n, SHORT)
  :: i == GONE -> record_is_gone(n)
  :: i == RELEASED -> record_is_gone(n)
  fi;
  age[n] = 0; i = 0; used = 0
}

// The request limit has passed: what was sent may still take effect.
inline give_up(n) {
  if :: exchange[n] == ACQUIRE || exchange[n] == OURS || exchange[n] == OTHERS ||
        (exchange[n] == NOTHING && state[n] == STANDING) -> uncertain[n] = 1
     :: else
  fi;
#ifdef NO_STRAY
  exchange[n] = NOTHING; exchange_token[n] = 0;
#endif
#ifdef ONE_STRAY
  j = 0;
  do
  :: j == N -> break
  :: else -> stray[j] = NOTHING; stray_token[j] = 0; j++
  od;
  j = 0;
#endif
#ifdef IGNORE_GENERATION
  stray[n] = exchange[n]; stray_token[n] = exchange_token[n];
#else
  // An answer that nobody listens to is no answer. An older stray is lost, or stays and this one
  // is lost.
  if
  :: exchange[n] == ACQUIRE || exchange[n] == RELEASE -> stray[n] = exchange[n]; stray_token[n] = exchange_token[n]
  :: else
  fi;
#endif
#ifdef OBSERVERS
  stray_same[n] = same[n]; same[n] = 0;
#endif
  exchange[n] = NOTHING; exchange_token[n] = 0; age[n] = 0
}

inline crash(n) {
  state[n] = STANDING; work[n] = 0; uncertain[n] = 0; last[n] = 0; slip[n] = 0;
  stray[n] = NOTHING; stray_token[n] = 0;
#ifdef OBSERVERS
  seen[n] = 0; wait[n] = 0; same[n] = 0; stray_same[n] = 0;
#endif
  forget(n);
  if :: owner == n -> owner = GHOST :: else fi
}

// RULE RELEASE_BEFORE_WORK: the record goes after the work.
#ifdef RELEASE_BEFORE_WORK
#define may_release(n) (state[n] == ENDING && token[n])
#else
#define may_release(n) (state[n] == ENDING && token[n] && !work[n])
#endif

// Without faults, renewals are sent when they are due and not before.
#define renewal_due(n) (state[n] == PROVING || (state[n] == LEADING && left[n] == 1))
#define may_renew(n)                                                     \
  (token[n] && (healed -> renewal_due(n)                                 \
                        : state[n] == PROVING || holds(n)))
#define vacant_for(n) (owner == NOBODY || owner == n)
#define idle(n) (age[n] == 0 && exchange[n] == NOTHING)
// age counts from 1 while a request is out, so that a lost one is not an idle node.
#define out(n) (age[n] > 0)
#define ask(n, what, t) exchange[n] = what; exchange_token[n] = t; age[n] = 1

proctype node(byte n) {
end:
  do
  // Once healed, who waits asks when the watch says that it is worth it.
  :: d_step { state[n] == STANDING && idle(n) && !work[n] && (!healed || vacant_for(n)) ->
       ask(n, ACQUIRE, 0);
#ifdef OBSERVERS
       same[n] = (seen[n] && wait[n] == 0);
#ifdef OBSERVER_BLIND
       judging[n] = same[n];
#endif
#endif
     }
  :: d_step { idle(n) && may_renew(n) -> ask(n, RENEW, token[n]) }
  :: d_step { idle(n) && may_release(n) -> ask(n, RELEASE, token[n]) }
  :: d_step { exchange[n] >= OURS -> age[n]--; receive(n) }
#ifndef NEVER_RETRY
  // A lost request is given up at its limit; without faults none is.
  :: d_step { out(n) && n < FAULTY && (!healed || exchange[n] == NOTHING) -> give_up(n) }
#endif
#ifdef IGNORE_GENERATION
  // RULE IGNORE_GENERATION: an answer is dated by its own request, and counts for it only.
  :: d_step { out(n) && exchange[n] < OURS && stray[n] >= OURS &&
              ((exchange[n] == ACQUIRE && stray[n] <= OTHERS) ||
               (exchange[n] == RENEW && stray[n] >= HELD && stray[n] <= GONE)) ->
       exchange[n] = stray[n]; exchange_token[n] = stray_token[n];
       stray[n] = NOTHING; stray_token[n] = 0; age[n]--; receive(n) }
#endif
  // The clock has passed the deadline; the node sees it when it gets to run.
  :: d_step { state[n] == LEADING && left[n] == 0 -> state[n] = ENDING }
  // A yield, or a stop.
  :: d_step { !healed && holds(n) -> left[n] = 0; state[n] = ENDING }
  :: d_step { work[n] && (state[n] == ENDING || (state[n] == LEADING && !healed)) ->
       work[n] = 0;
       if :: state[n] == LEADING -> left[n] = 0; state[n] = ENDING :: else fi;
       if :: token[n] == 0 -> state[n] = STANDING :: else fi }
  // The record of a term that is over is left to lapse.
  :: d_step { !healed && state[n] == ENDING && token[n] && idle(n) && left[n] == 0 ->
       record_is_gone(n) }
#ifdef CRASHES
  :: d_step { !healed -> crash(n) }
#endif
#ifndef NO_OWN_WATCH
  // RULE NO_OWN_WATCH: the holder watches its own record too.
  :: d_step { notice[n] && token[n] -> record_is_gone(n) }
#else
  :: d_step { notice[n] && token[n] -> notice[n] = 0 }
#endif
#ifdef WRITES
  :: d_step { holds(n) && pen[n] == 0 -> pen[n] = token[n] }
  :: d_step { pen[n] ->
#ifndef NO_FENCE
       if  // RULE NO_FENCE: the resource refuses a smaller token
       :: pen[n] >= high -> assert(pen[n] >= high); high = pen[n]
       :: else
       fi;
#else
       assert(pen[n] >= high);  // C4
       high = pen[n];
#endif
       pen[n] = 0 }
#endif
  od
}

// ---- the store

// RULE ADOPT_BY_ID: a record is ours by its session. Nodes 0 and 1 were given the same id.
#ifdef ADOPT_BY_ID
#define is_same(n) (owner == n || (uncertain[n] && owner < 2 && n < 2))
#else
#define is_same(n) (owner == n)
#endif

// RULE RELEASE_ANY: a release names the incarnation that it means.
#ifdef RELEASE_ANY
#define names_it(n, t) (owner == n)
#else
#define names_it(n, t) (owner == n && record_token == t)
#endif

// Sets i to the answer and used to its token.
inline handle(n, what, t, judged) {
  i = NOTHING; used = 0;
  if
  :: what == ACQUIRE && is_same(n) -> i = OURS
  :: what == ACQUIRE && !is_same(n) && (owner == NOBODY || judged) -> create_record(n); i = OURS
  :: what == ACQUIRE && !is_same(n) && owner != NOBODY && !(judged) -> i = OTHERS
  :: what == RENEW && is_same(n) && record_token == t -> i = HELD
  :: what == RENEW && !(is_same(n) && record_token == t) -> i = GONE
  :: what == RELEASE && names_it(n, t) ->
     assert(!work[n] || token[n] != t);                       // C3
     assert(!holds(n));                                        // C3
     free_record(); i = RELEASED
  :: what == RELEASE && !names_it(n, t) -> i = RELEASED
  fi;
  if :: i == OURS -> used = record_token :: else fi
}

#ifdef OBSERVERS
#ifdef OBSERVER_BLIND
// RULE OBSERVER_BLIND: what was judged is replaced only if it is still the same.
#define judged_now(n) (exchange[n] == ACQUIRE && judging[n])
#else
#define judged_now(n) same[n]
#endif
#else
#define judged_now(n) 0
#endif

inline answer(n) {
  handle(n, exchange[n], exchange_token[n], judged_now(n));
  exchange[n] = i; exchange_token[n] = used;
#ifdef OBSERVERS
  same[n] = (i == OTHERS);
#endif
#ifndef OBSERVERS
  // Nothing depends on how long an answer takes that grants nothing.
  if :: i == OTHERS || i == GONE || i == RELEASED -> age[n]--; receive(n) :: else fi;
#endif
  i = 0; used = 0;
  renumber()
}

inline prolong(ttl) { record_left = ttl; record_changed() }

#define asks(n) (exchange[n] >= ACQUIRE && exchange[n] <= RELEASE)
#define strays(n) (stray[n] == ACQUIRE || stray[n] == RELEASE)
#define renews_ours(n) (exchange[n] == RENEW && is_same(n) && record_token == exchange_token[n])

proctype link(byte n) {
end:
  do
  :: d_step { asks(n) && !renews_ours(n) -> answer(n) }
  :: d_step { renews_ours(n) -> prolong(TTL); exchange[n] = HELD; exchange_token[n] = 0 }
#ifdef SHORTER
  #ifdef STORE_SHORTENS
  // RULE STORE_SHORTENS: a store takes nothing back that it promised before; should the answer that
  // says so be lost, the holder could not know.
  :: d_step { renews_ours(n) -> prolong(SHORT); exchange[n] = HELD_SHORT; exchange_token[n] = 0 }
#endif
  :: d_step { renews_ours(n) && record_left <= SHORT -> prolong(SHORT);
       exchange[n] = HELD_SHORT; exchange_token[n] = 0 }
#endif
#ifdef NO_FRESH_READ
  // RULE NO_FRESH_READ: a renewal counts only once a fresh read has proved who answered it. Here a
  // stalled former leader acknowledges it, to no effect.
  :: d_step { exchange[n] == RENEW -> exchange[n] = HELD; exchange_token[n] = 0 }
#endif
  :: d_step { strays(n) ->
#ifdef OBSERVERS
       handle(n, stray[n], stray_token[n], stray_same[n]);
#else
       handle(n, stray[n], stray_token[n], 0);
#endif
#ifdef IGNORE_GENERATION
       stray[n] = i; stray_token[n] = used;
#else
       stray[n] = NOTHING; stray_token[n] = 0;
#endif
#ifdef OBSERVERS
       stray_same[n] = 0;
#endif
       i = 0; used = 0; renumber() }
#ifdef PROGRESS
  // Elsewhere silence says the same: nothing forces a message to be handled.
  :: d_step { exchange[n] != NOTHING && !healed -> exchange[n] = NOTHING; exchange_token[n] = 0 }
  :: d_step { stray[n] != NOTHING -> stray[n] = NOTHING; stray_token[n] = 0 }
#endif
  od
}

// ---- time, and what the world does

// The age of a request matters only where its answer may grant something.
#define ages(n)                                                                              \
  (out(n) && age[n] <= TTL && state[n] != ENDING &&                                          \
   (exchange[n] == RENEW || exchange[n] == HELD || exchange[n] == HELD_SHORT ||              \
    ((exchange[n] == ACQUIRE || exchange[n] == OURS) && grants_at_once(n))))
#ifdef ADOPT_AT_ONCE
#define grants_at_once(n) 1
#else
#define grants_at_once(n) (!uncertain[n])
#endif
#ifdef OBSERVERS
#define has_timer(n) ((state[n] == LEADING && left[n]) || ages(n) || wait[n])
#else
#define has_timer(n) ((state[n] == LEADING && left[n]) || ages(n))
#endif

inline count_one(n) {
  if :: state[n] == LEADING && left[n] > 0 -> left[n]-- :: else fi;
  if :: ages(n) && age[n] <= TTL -> age[n]++ :: else fi;
#ifdef OBSERVERS
  if :: wait[n] > 0 -> wait[n]-- :: else fi
#endif
}

// How a node's clock counts this tick: one, or none, or (observers) two.
inline pass_time(n) {
  if
  :: !has_timer(n) -> slip[n] = 0
  :: has_timer(n) -> count_one(n); if :: slip[n] -> slip[n]-- :: else fi
#ifndef PROGRESS
  :: has_timer(n) && n < FAULTY && slip[n] == 0 -> slip[n] = TTL - 1
#ifdef OBSERVERS
  :: has_timer(n) && n < FAULTY && slip[n] == 0 -> slip[n] = TTL - 1; count_one(n); count_one(n)
#endif
#endif
  fi
}

// After the network has healed, time stands still while anybody has something to do.
#define busy(n)                                                                            \
  (exchange[n] != NOTHING || stray[n] != NOTHING || (out(n) && exchange[n] == NOTHING) ||  \
   (state[n] == STANDING && idle(n) && vacant_for(n)) ||                                   \
   (idle(n) && token[n] && renewal_due(n)) || state[n] == ENDING)
#if N == 3
#define anybody(what) (what(0) || what(1) || what(2))
#else
#define anybody(what) (what(0) || what(1))
#endif

proctype clock() {
end:
  do
  :: atomic { !(healed && (anybody(busy) || (owner != NOBODY && record_left == 0))) ->
       if :: record_left > 0 -> record_left-- :: else fi;
       pass_time(0);
       pass_time(1);
#if N == 3
       pass_time(2);
#endif
     }
#if !defined(OBSERVERS) && !defined(NO_EXPIRY)
  :: d_step { owner != NOBODY && record_left == 0 -> free_record(); renumber() }
#endif
#ifdef DELETIONS
  :: d_step { owner < N ->
       if :: token[owner] == record_token || exchange_token[owner] == record_token ->
             notice[owner] = 1 :: else fi;
       free_record(); renumber() }
#endif
#ifdef PROGRESS
  :: d_step { !healed -> healed = 1 }
#endif
  od
}

init {
  atomic {
    run node(0); run link(0);
    run node(1); run link(1);
#if N == 3
    run node(2); run link(2);
#endif
    run clock()
  }
}

#ifdef PROGRESS
ltl progress { [] (healed -> <> anybody(holds)) }
#endif
