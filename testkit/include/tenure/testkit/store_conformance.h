// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/testkit/conformance_acquire.h>
#include <tenure/testkit/conformance_close.h>
#include <tenure/testkit/conformance_names.h>
#include <tenure/testkit/conformance_queue.h>
#include <tenure/testkit/conformance_renew.h>
#include <tenure/testkit/conformance_watch.h>

/// The store conformance suite: holds every sentence of the store contract (docs/store-contract.md
/// and <tenure/store.h>) against a store of yours. Needs GoogleTest; include it in exactly one
/// source file of a test program:
///
///     #include <tenure/testkit/store_conformance.h>
///
///     class MyWorld : public tenure::testkit::ManualWorld {
///       std::shared_ptr<tenure::LeaseStore> open() override { ... }
///     };
///
///     namespace tenure::testkit {
///     INSTANTIATE_TEST_SUITE_P(
///         Mine, StoreConformance,
///         testing::Values(StoreUnderTest{"plain", [] { return std::make_unique<MyWorld>(); }}),
///         store_name);
///     }
///
/// It assumes nothing about threads or about how long things take: it runs the loop until what it
/// waits for has come, within the world's patience.
