// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tenure::cli::guardian {

// Runs this process as a guardian until nothing of its command lives. argv: program, kVerb, socket
// number, process group of the job, CMD and its arguments. Returns the exit code.
int main_of_guardian(int argc, char** argv);

}  // namespace tenure::cli::guardian
