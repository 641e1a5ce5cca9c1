// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace tenure::sqlite {

/// A file system that several machines may share, by the type that statfs(2) gives.
struct SharedFileSystem {
  std::uint32_t magic;
  std::string_view name;
};

/// FUSE stands for many things. Most of those that are shared (sshfs, ceph-fuse, virtiofs) look
/// just like those that are not, so all of them are refused.
inline constexpr std::array kSharedFileSystems = {
    SharedFileSystem{0x00006969, "NFS"},          SharedFileSystem{0x0000517B, "SMB"},
    SharedFileSystem{0xFF534D42, "CIFS"},         SharedFileSystem{0xFE534D42, "SMB2"},
    SharedFileSystem{0x65735546, "FUSE"},         SharedFileSystem{0x01021997, "9p"},
    SharedFileSystem{0x00C36400, "Ceph"},         SharedFileSystem{0x5346414F, "AFS"},
    SharedFileSystem{0x6B414653, "AFS"},          SharedFileSystem{0x7461636F, "OCFS2"},
    SharedFileSystem{0x01161970, "GFS2"},         SharedFileSystem{0x0BD00BD0, "Lustre"},
    SharedFileSystem{0x73757245, "Coda"},         SharedFileSystem{0x0000564C, "NCP"},
    SharedFileSystem{0x47504653, "GPFS"},         SharedFileSystem{0x19830326, "BeeGFS"},
    SharedFileSystem{0x20030528, "OrangeFS"},     SharedFileSystem{0x786F4256, "VirtualBox share"},
    SharedFileSystem{0x7C7C6673, "Parallels"},    SharedFileSystem{0xAAD7AAEA, "PanFS"},
    SharedFileSystem{0xBEEFDEAD, "StorNext"},     SharedFileSystem{0x61636673, "ACFS"},
    SharedFileSystem{0xBACBACBC, "VMware share"},
};

/// The name of such a file system; empty for one that is local. Of the type only 32 bits count:
/// some machines extend its sign.
[[nodiscard]] constexpr std::string_view shared_file_system(std::int64_t type) noexcept {
  const auto* const found = std::find_if(
      kSharedFileSystems.begin(), kSharedFileSystems.end(),
      [&](const auto& each) { return each.magic == static_cast<std::uint32_t>(type); });
  return found == kSharedFileSystems.end() ? std::string_view() : found->name;
}

}  // namespace tenure::sqlite
