// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// The libraries of gRPC are not built for ThreadSanitizer, which then takes their own handing over
// of memory between threads for races. What it finds in our code still counts.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TENURE_TSAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(TENURE_TSAN)

extern "C" const char* __tsan_default_suppressions();

extern "C" const char* __tsan_default_suppressions() {
  return "race:libabsl_\nmutex:libabsl_\nrace:libgrpc\nrace:libgpr\n";
}

#endif
