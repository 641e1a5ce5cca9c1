// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// Has nothing of its own: the headers that every test is compiled with are made beside it.
