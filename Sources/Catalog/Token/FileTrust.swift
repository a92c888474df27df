/// Judges from owner and permissions whether a file is safe to run as a program, or safe as a file that names a program
/// to run.
///
/// Used for the program of `token:`, for the catalog file that names the program, and for programs that an option
/// names.
package enum FileTrust {
  /// Owner and mode of a file or folder, as `stat(2)` returns them.
  package struct Entry: Hashable, Sendable {
    /// The owner's user id.
    package let owner: UInt32
    /// The type and the permissions.
    package let mode: UInt32

    /// Makes an entry from the owner and mode that `stat(2)` returned.
    package init(owner: UInt32, mode: UInt32) {
      self.owner = owner
      self.mode = mode
    }

    private static let typeMask: UInt32 = 0o170000
    private static let device: UInt32 = 0o020000
    private static let sticky: UInt32 = 0o1000
    private static let group: UInt32 = 0o020
    private static let other: UInt32 = 0o002

    /// Whether users other than the owner may write to the file or folder.
    ///
    /// Devices are not counted as writable by others: only root makes them, and a user's terminal is writable by its
    /// group.
    fileprivate var isOpen: Bool {
      mode & Self.typeMask != Self.device && mode & (Self.group | Self.other) != 0
    }
    /// Whether everybody may replace files in this folder.
    fileprivate var isOpenFolder: Bool { mode & Self.other != 0 && mode & Self.sticky == 0 }
  }

  /// Why a file is not trusted.
  package enum Doubt: Hashable, Sendable {
    /// The file belongs neither to root nor to the user who runs larder.
    case owner(UInt32)
    /// The file's group or everybody may write to it.
    case writable
    /// Everybody may replace the file in its folder.
    case folder

    /// The reason, as words that follow the file's name and "is not trusted".
    package var reason: String {
      switch self {
      case .owner(let user): "it belongs to user \(user), not to root or you"
      case .writable: "its group or everyone can write to it"
      case .folder: "everyone can replace it in its folder"
      }
    }

    /// A remedy for the user to try.
    package func remedy(_ path: String) -> String {
      switch self {
      case .owner: "chown \(path), or copy it"
      case .writable: "chmod go-w \(path)"
      case .folder: "chmod o-w its folder, or move it"
      }
    }
  }

  /// Judges a file by its own entry, and by the entries of the folders that contain the file or a link to it.
  ///
  /// - Parameters:
  ///   - file: The entry of the file, after symbolic links are followed.
  ///   - folders: The entries of the folders.
  ///   - user: The effective user of this process.
  /// - Returns: The first doubt; nil when only root and the user can change the file.
  package static func doubt(of file: Entry, in folders: [Entry], for user: UInt32) -> Doubt? {
    guard file.owner == 0 || file.owner == user else { return .owner(file.owner) }
    if file.isOpen { return .writable }
    return folders.contains(where: \.isOpenFolder) ? .folder : nil
  }
}
