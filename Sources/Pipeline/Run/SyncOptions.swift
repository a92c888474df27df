import Catalog
import Imaging
import Transport

/// What a sync is asked to do beyond what the catalog file says.
package struct SyncOptions: Sendable {
  /// Replaces the catalog's `base`.
  package var base: String?
  /// Only the pictures of the lists.
  package var thumbnailsOnly = false
  /// No details, and so none of their pictures.
  package var noDetails = false
  /// One bad item fails the run.
  package var strict = false
  /// How many items of a listing may be unreadable before it is not taken.
  package var maxSkipped = SkipLimit.standard
  /// The shrink guard lets everything go.
  package var allowRemovals = false
  /// Ask only for what is due, the most valuable first: an unattended run.
  package var onlyDue = false
  /// Pixels along a side of the squares that are kept beside the pictures; nil makes none.
  package var squareSide: Int?
  /// Where squares are made.
  package var pictures: any PictureWorking = PicturesHere()
  /// When no body is decoded further, and squares end, those under way too where they can be given up; the transport has
  /// the deadline of the requests.
  package var deadline: UnixTime?
  /// The most bytes of one picture.
  package var pictureLimit = ByteCount.mebibytes(64)
  /// The most bytes of one JSON body.
  package var jsonLimit = ByteCount.mebibytes(1024)

  /// The defaults.
  package init() {}
}
