import FoundationEssentials
import GRDB

extension Row {
  /// The bytes in a column; nil for NULL.
  func bytes(_ column: String) throws -> [UInt8]? {
    try decode(Data?.self, forColumn: column).map { [UInt8]($0) }
  }

  /// The pictures in a column, as ``IdentityDigest/pack(_:)`` wrote them; none for NULL.
  func pictures(_ column: String) throws -> [PictureID] {
    (try decode(Data?.self, forColumn: column) ?? Data())
      .withUnsafeBytes { IdentityDigest.unpack($0) }.map(PictureID.init)
  }
}

extension [UInt8] {
  /// The bytes as a value for SQLite.
  var databaseValue: DatabaseValue { Data(self).databaseValue }
}
