/// Checks whether only trusted users can change a file, before the file is run as a program.
///
/// The check is for the program that `token:` in a catalog file names, for the catalog file itself, and for programs
/// that a command-line option names. Trusted users are root and the user who runs larder.
package enum FileTrust {
  /// The owner and mode of a file or folder, as `stat(2)` returns them.
  package struct Entry: Hashable, Sendable {
    /// The user id of the owner.
    package let owner: UInt32
    /// The type and the permissions.
    package let mode: UInt32

    /// Makes an entry of an owner and a mode.
    package init(owner: UInt32, mode: UInt32) {
      self.owner = owner
      self.mode = mode
    }

    /// Whether users other than the owner are allowed to write to the file.
    ///
    /// It is false for devices, because only root can make them, and because the group `tty` is always allowed to write
    /// to a terminal.
    fileprivate var isOpen: Bool {
      let isDevice = mode & 0o170000 == 0o020000
      return !isDevice && mode & 0o022 != 0
    }
    /// Whether every user is allowed to replace the files in this folder.
    ///
    /// In a folder with the sticky bit, only the owner of a file is allowed to replace it.
    fileprivate var isOpenFolder: Bool { mode & 0o1002 == 0o002 }
  }

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

  /// Checks a file.
  ///
  /// - Parameters:
  ///   - file: The entry of the file. If the path is a symbolic link, it is the entry of the link's target.
  ///   - folders: The entries of all folders that contain the file or a link to it.
  ///   - user: The id of the user who runs larder.
  /// - Returns: The first reason not to trust the file, or nil if the file is trusted.
  package static func doubt(of file: Entry, in folders: [Entry], for user: UInt32) -> Doubt? {
    guard file.owner == 0 || file.owner == user else { return .owner(file.owner) }
    if file.isOpen { return .writable }
    return folders.contains(where: \.isOpenFolder) ? .folder : nil
  }
}
