/// A picture that an item shows, and the part it plays there.
public struct ImageReference: Hashable, Sendable, Codable {
  /// Where a picture appears.
  public enum Role: String, Hashable, Sendable, Codable, CaseIterable {
    /// The small picture in a list.
    case thumbnail
    /// The large picture on top of a detail.
    case top
    /// One of the pictures to leaf through.
    case gallery
    /// A part of the long description, often text made into a picture.
    case section
  }

  /// The part this picture plays.
  public let role: Role
  /// The URL exactly as the feed wrote it; may be relative.
  public let url: String

  /// Makes a reference.
  public init(role: Role, url: String) {
    self.role = role
    self.url = url
  }
}
