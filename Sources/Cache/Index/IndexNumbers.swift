import FoundationEssentials
import GRDB

/// The id of a catalog in the index.
package struct CatalogID: RawRepresentable, Hashable, Sendable, Codable {
  /// The number that SQLite assigned to the row.
  package let rawValue: Int64

  /// Makes an id from its number.
  package init(rawValue: Int64) { self.rawValue = rawValue }
}

/// The number of a run.
///
/// In each cache, runs are numbered from 1, and all catalogs of the cache share the numbers.
public struct RunID: RawRepresentable, Hashable, Comparable, Sendable, Codable {
  /// The number, as commands print it.
  public let rawValue: Int64

  /// Makes an id from its number.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// Orders runs by their start.
  public static func < (left: RunID, right: RunID) -> Bool { left.rawValue < right.rawValue }
}

/// The id of a listing, which is an ordered list of items, in an index.
///
/// If several runs have the same items in the same order, they share one listing.
package struct ListingID: RawRepresentable, Hashable, Sendable, Codable {
  /// The number that SQLite assigned to the row.
  package let rawValue: Int64

  /// Makes an id from its number.
  package init(rawValue: Int64) { self.rawValue = rawValue }
}

/// The key of a document, which is a page of a section or the detail of an item.
///
/// It is the first 128 bits of the SHA-256 of the document's reader and URL.
package struct DocumentID: Hashable, Sendable {
  package let digest: IdentityDigest

  /// Makes a key from its digest.
  package init(_ digest: IdentityDigest) { self.digest = digest }

  /// The key of the document at `url` that `reader` decodes.
  ///
  /// The reader is a text that names the section or catalog whose rules decode the document. Several readers can decode
  /// the document at the same URL.
  package init(url: String, reader: String) {
    // The line feed is a separator, because neither URLs nor readers contain one.
    digest = IdentityDigest(of: reader.isEmpty ? url : "\(reader)\n\(url)")
  }
}

/// The id of one version of an item in an index.
///
/// Items with the same JSON share it, also if several listings have them.
package struct ItemVersion: RawRepresentable, Hashable, Sendable {
  /// The number that SQLite assigned to the row.
  package let rawValue: Int64

  /// Makes an id from its number.
  package init(rawValue: Int64) { self.rawValue = rawValue }
}

extension RunID: ExpressibleByIntegerLiteral, CustomStringConvertible {
  /// Makes an id from its number.
  public init(integerLiteral number: Int64) { self.init(rawValue: number) }

  /// The number in digits.
  public var description: String { String(rawValue) }
}

extension IdentityDigest: DatabaseValueConvertible {
  /// The bytes of the digest.
  package var databaseValue: DatabaseValue { Data(bytes).databaseValue }

  /// Reads the bytes of the digest.
  package static func fromDatabaseValue(_ value: DatabaseValue) -> IdentityDigest? {
    guard let data = Data.fromDatabaseValue(value), data.count == size else { return nil }
    return data.withUnsafeBytes { IdentityDigest(reading: $0) }
  }
}
