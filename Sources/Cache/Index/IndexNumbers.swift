import GRDB
import Transport

/// A catalog's number in the index.
package struct CatalogID: RawRepresentable, Hashable, Sendable, Codable {
  /// The number, which SQLite gives out.
  package let rawValue: Int64

  /// The catalog of a number.
  package init(rawValue: Int64) { self.rawValue = rawValue }
}

/// A run's number: runs count from 1 in each cache, over all its catalogs.
package struct RunID: RawRepresentable, Hashable, Comparable, Sendable, Codable {
  /// The number, which SQLite gives out.
  package let rawValue: Int64

  /// The run of a number.
  package init(rawValue: Int64) { self.rawValue = rawValue }

  /// Orders by when they began.
  package static func < (left: RunID, right: RunID) -> Bool { left.rawValue < right.rawValue }
}

/// What names a listing: the first 63 bits of the SHA-256 of its items' numbers, in order.
///
/// Two runs that found the same items, in the same order, share one listing.
package struct ListingID: RawRepresentable, Hashable, Sendable, Codable {
  /// The number, never 0.
  package let rawValue: Int64

  /// The listing of a number.
  package init(rawValue: Int64) { self.rawValue = rawValue }
}

/// What names a document: the first 63 bits of the SHA-256 of who reads it and of its URL.
package struct DocumentID: RawRepresentable, Hashable, Sendable {
  /// The number, never negative.
  package let rawValue: Int64

  /// The document of a number.
  package init(rawValue: Int64) { self.rawValue = rawValue }

  /// The identity of the document at `url` as `reader` reads it.
  package init(url: String, reader: String) {
    // No URL and no reader holds a line feed.
    rawValue = PictureID(url: reader.isEmpty ? url : "\(reader)\n\(url)").number
  }
}

/// What names one version of an item: the first 63 bits of the SHA-256 of its stored form.
package struct ItemVersion: RawRepresentable, Hashable, Sendable {
  /// The number, never 0.
  package let rawValue: Int64

  /// The version of a number.
  package init(rawValue: Int64) { self.rawValue = rawValue }
}

extension RunID: ExpressibleByIntegerLiteral, CustomStringConvertible {
  /// The run of a number.
  package init(integerLiteral number: Int64) { self.init(rawValue: number) }

  /// The number.
  package var description: String { String(rawValue) }
}

extension PictureID: DatabaseValueConvertible {
  /// The number.
  package var databaseValue: DatabaseValue { number.databaseValue }

  /// Reads the number.
  package static func fromDatabaseValue(_ value: DatabaseValue) -> PictureID? {
    Int64.fromDatabaseValue(value).map(PictureID.init(number:))
  }
}

extension CatalogID: DatabaseValueConvertible {}
extension RunID: DatabaseValueConvertible {}
extension DocumentID: DatabaseValueConvertible {}
extension ListingID: DatabaseValueConvertible {}
extension ItemVersion: DatabaseValueConvertible {}

extension UnixTime: StatementColumnConvertible {
  /// Reads a column as SQLite converts it: what a damaged page holds is only wrong.
  package init?(sqliteStatement: SQLiteStatement, index: CInt) {
    self.init(Int64(sqliteStatement: sqliteStatement, index: index))
  }
}

extension ByteCount: DatabaseValueConvertible {
  /// The number.
  package var databaseValue: DatabaseValue { count.databaseValue }

  /// Reads the number.
  package static func fromDatabaseValue(_ value: DatabaseValue) -> ByteCount? {
    Int64.fromDatabaseValue(value).map { ByteCount($0) }
  }
}

extension UnixTime: DatabaseValueConvertible {
  /// Seconds since 1970.
  package var databaseValue: DatabaseValue { seconds.databaseValue }

  /// Reads seconds since 1970.
  package static func fromDatabaseValue(_ value: DatabaseValue) -> UnixTime? {
    Int64.fromDatabaseValue(value).map { UnixTime($0) }
  }
}
