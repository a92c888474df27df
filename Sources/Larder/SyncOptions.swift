import Catalog
import Transport

/// What a sync is asked to do beyond what the catalog file says.
public struct SyncOptions: Sendable {
  /// Replaces the catalog's `base`.
  public var base: String?
  /// Only the pictures of the lists.
  public var thumbnailsOnly = false
  /// No details, and so none of their pictures.
  public var noDetails = false
  /// One bad item fails the run.
  public var strict = false
  /// How many items of a listing may be unreadable before it is not taken.
  public var maxSkipped = SkipLimit.standard
  /// The shrink guard lets everything go.
  public var allowRemovals = false
  /// Ask only for what is due, the most valuable first: an unattended run.
  public var onlyDue = false
  /// Pixels along a side of the squares that are kept beside the pictures; nil makes none.
  public var squareSide: Int?
  /// When no further square is begun; the transport has the deadline of the requests.
  public var squareDeadline: UnixTime?
  /// The most bytes of one picture.
  public var pictureLimit: Int64 = 64 << 20
  /// The most bytes of one JSON body.
  public var jsonLimit: Int64 = 1 << 30

  /// The defaults.
  public init() {}
}
