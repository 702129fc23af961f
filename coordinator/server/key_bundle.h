// A project's private keys in one text that only a passphrase opens: what a backup leaves out unless it is asked for.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/server/project.h"

namespace starling::server {

constexpr const char* kSealedKeys = "keys.sealed";  // file of such a text in a backup

// Contents of files with keys, and of the certificates that go with some of them, by name.
using KeyFiles = std::map<std::string, std::string>;

// The files' names.
std::vector<std::string> key_file_names();

// The project's keys, sealed (shared/crypto/sealed_text.h).
Result<std::string> seal_keys(const ProjectFiles& files, std::string_view passphrase);
// permission_denied: it is another passphrase, or bytes were changed; corrupt: no bundle of keys.
Result<KeyFiles> open_keys(std::string_view sealed, std::string_view passphrase);
Result<std::string> read_sealed_keys(const std::filesystem::path& file);
// Writes the files into a project's folder, readable by their owner only.
Status write_keys(const KeyFiles& keys, const ProjectFiles& to);

// The files that a project cannot be served without and does not have. Others are made again at the start.
std::vector<std::string> missing_keys(const ProjectFiles& files);

// True once note_export() was called for the keys that the project has now.
bool keys_were_exported(const Project& project);
Status note_export(const Project& project);
// The warning of a project whose keys are nowhere else; empty for others.
std::string export_warning(const Project& project);

// The passphrase is the first line of `file`; where that is empty, it is asked for on the terminal. A new one is asked
// for twice, and has at least kPassphraseBytesMin bytes. failed_precondition: there is no terminal.
constexpr std::size_t kPassphraseBytesMin = 12;
Result<std::string> new_passphrase(const std::filesystem::path& file);
Result<std::string> known_passphrase(const std::filesystem::path& file);

}  // namespace starling::server
