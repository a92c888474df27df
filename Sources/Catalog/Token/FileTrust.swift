/// Judges whether a file may be run as a program, or may name one, by who else can write to it.
package enum FileTrust {
  /// Owner and mode of a file or folder, as `stat(2)` returns them.
  package struct Entry: Hashable, Sendable {
    /// The owner's user id.
    package let owner: UInt32
    /// The type and the permissions.
    package let mode: UInt32

    /// Takes owner and mode from `stat(2)`.
    package init(owner: UInt32, mode: UInt32) {
      self.owner = owner
      self.mode = mode
    }

    private static let typeMask: UInt32 = 0o170000
    private static let device: UInt32 = 0o020000
    private static let sticky: UInt32 = 0o1000
    private static let group: UInt32 = 0o020
    private static let other: UInt32 = 0o002

    /// Whether others than its owner may write it.
    ///
    /// Only root makes devices, and a terminal is its user's although its
    /// group may write to it.
    fileprivate var isOpen: Bool {
      mode & Self.typeMask != Self.device && mode & (Self.group | Self.other) != 0
    }
    /// Whether everybody may replace a file in this folder.
    fileprivate var isOpenFolder: Bool { mode & Self.other != 0 && mode & Self.sticky == 0 }
  }

  /// Why a file is not trusted.
  package enum Doubt: Hashable, Sendable {
    /// It belongs neither to root nor to the user who runs larder.
    case owner(UInt32)
    /// Its group or everybody may write it.
    case writable
    /// Everybody may replace it in its folder.
    case folder

    /// The reason, in words that follow the file's name and "is not trusted".
    package var reason: String {
      switch self {
      case .owner(let user): "it belongs to user \(user), not to root or you"
      case .writable: "its group or everyone can write to it"
      case .folder: "everyone can replace it in its folder"
      }
    }

    /// The next step.
    package func remedy(_ path: String) -> String {
      switch self {
      case .owner: "chown \(path), or copy it"
      case .writable: "chmod go-w \(path)"
      case .folder: "chmod o-w its folder, or move it"
      }
    }
  }

  /// Judges a file by its own entry and those of the folders that contain it and the link to it.
  ///
  /// - Parameters:
  ///   - file: The file, links followed.
  ///   - folders: The folders.
  ///   - user: The effective user of this process.
  /// - Returns: The first doubt; nil when nobody but root and the user can change the file.
  package static func doubt(of file: Entry, in folders: [Entry], for user: UInt32) -> Doubt? {
    guard file.owner == 0 || file.owner == user else { return .owner(file.owner) }
    if file.isOpen { return .writable }
    return folders.contains(where: \.isOpenFolder) ? .folder : nil
  }
}
