import Base
import Catalog
import Glibc

/// Checks whether only trusted users can change a file, before the file is run as a program.
///
/// The check is for the program that `token:` in a catalog file names, for the catalog file itself, and for programs
/// that a command-line option names. Trusted users are root and the user who runs larder.
package enum FileTrust {
  /// The reason why a file is not trusted.
  package enum Doubt: Hashable, Sendable {
    /// The file belongs to the user with this id, who is neither root nor the user who runs larder.
    case owner(UInt32)
    /// The group of the file, or every user, is allowed to write to it.
    case writable
    /// Every user is allowed to replace the file in its folder.
    case folder

    /// The words that follow the name of the file and "is not trusted" in a message.
    package var reason: String {
      switch self {
      case .owner(let user): "it belongs to user \(user), not to root or you"
      case .writable: "its group or everyone can write to it"
      case .folder: "everyone can replace it in its folder"
      }
    }

    /// A remedy for the file at a path, for example "chmod go-w refresh-token".
    package func remedy(_ path: String) -> String {
      switch self {
      case .owner: "chown \(path), or copy it"
      case .writable: "chmod go-w \(path)"
      case .folder: "chmod o-w its folder, or move it"
      }
    }
  }

  /// Checks whether the user of this process can trust a file, judged by the owners and permissions of the file and its
  /// folder.
  ///
  /// - Parameter path: The file. It can be a symbolic link.
  /// - Returns: The first reason for doubt; nil if the file can be trusted or does not exist.
  package static func doubt(ofFile path: String) -> Doubt? {
    guard let file = status(of: path), let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    let folders = [path, String(cString: real)].compactMap { status(of: Files.folder(of: $0)) }
    return doubt(of: file, in: folders, for: geteuid())
  }

  private static func status(of path: String) -> stat? {
    var status = stat()
    return stat(path, &status) == 0 ? status : nil
  }

  /// Checks a file.
  ///
  /// - Parameters:
  ///   - file: The owner and mode of the file. If the path is a symbolic link, they are those of the link's target.
  ///   - folders: The owner and mode of each folder that contains the file or a link to it.
  ///   - user: The id of the user who runs larder.
  /// - Returns: The first reason not to trust the file, or nil if the file is trusted.
  static func doubt(of file: stat, in folders: [stat], for user: uid_t) -> Doubt? {
    guard file.st_uid == 0 || file.st_uid == user else { return .owner(file.st_uid) }
    // Only root can make devices, and the group `tty` is always allowed to write to a terminal.
    let isDevice = file.st_mode & S_IFMT == S_IFCHR
    if !isDevice, file.st_mode & 0o022 != 0 { return .writable }
    // In a folder with the sticky bit, only the owner of a file is allowed to replace it.
    return folders.contains { $0.st_mode & 0o1002 == 0o002 } ? .folder : nil
  }
}

extension CatalogFile {
  /// Refuses a catalog file that names a token command if other users than root and this process's user can change the
  /// file.
  ///
  /// - Parameter path: The file's path.
  /// - Throws: ``CatalogError`` with the file, the reason and a remedy.
  package func demandTrust(ofFile path: String) throws(CatalogError) {
    guard token != nil, let doubt = FileTrust.doubt(ofFile: path) else { return }
    throw CatalogError(
      .catalogFile,
      subject: "catalog file \(path)",
      file: path,
      keyPath: "token.command",
      reason: "it names a command to run, and \(doubt.reason)",
      remedy: doubt.remedy(path)
    )
  }
}
