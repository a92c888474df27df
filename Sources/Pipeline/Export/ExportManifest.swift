import Catalog
import FoundationEssentials
import Transport

/// What an exported folder holds: a row for each picture of each listing, and where items are.
struct ExportManifest {
  private struct Row: Encodable {
    var catalog: String
    var section: String
    var item: String
    var title: String
    var role: String
    var url: String
    @OrNull var path: String?
    @OrNull var sha256: String?
    @OrNull var bytes: ByteCount?
    @OrNull var type: String?

    enum CodingKeys: String, CodingKey, CaseIterable {
      case catalog, section, item, title, role, url, path, sha256, bytes, type
    }

    /// The fields in the order of the keys.
    var line: CSVLine {
      CSVLine([
        .text(catalog), .text(section), .text(item), .text(title), .text(role), .text(url),
        .text(path), .text(sha256), .number(bytes.map(\.description)), .text(type),
      ])
    }
  }

  private let rows: [Row]
  private let features: [PlaceFeature]

  init(
    _ listed: [(catalog: String, item: ShownItem)],
    paths: [String: String],
    missing: Set<String>
  ) {
    rows = listed.flatMap { catalog, item in
      item.images.map { image in
        let isHere = !missing.contains(image.url)
        return Row(
          catalog: catalog,
          section: item.sections.first ?? "",
          item: item.item.id,
          title: item.item.title,
          role: image.role.rawValue,
          url: image.url,
          path: isHere ? paths[image.url] : nil,
          sha256: isHere ? image.sha256 : nil,
          bytes: isHere ? image.bytes : nil,
          type: isHere ? image.type : nil
        )
      }
    }
    features = listed.compactMap { catalog, item in
      PlaceFeature(
        item,
        catalog: catalog,
        picture: item.thumbnail.flatMap { paths[$0.url] }
      )
    }
  }

  /// One JSON object a line.
  var lines: String {
    rows.map { String(decoding: (try? $0.jsonLine()) ?? [], as: UTF8.self) + "\n" }.joined()
  }

  /// CSV with a heading: numbers are numbers, and no text is a formula.
  var table: String {
    CSVLine.table([CSVLine(heading: Row.CodingKeys.allCases.map(\.rawValue))] + rows.map(\.line))
  }

  /// How many items have a place.
  var places: Int { features.count }

  /// The items that have a place. (RFC 7946)
  var geography: String {
    let collection = FeatureCollection(features: features)
    return String(decoding: (try? collection.jsonLine()) ?? [], as: UTF8.self) + "\n"
  }

  private struct FeatureCollection: Encodable {
    var type = "FeatureCollection"
    var features: [PlaceFeature]
  }
}
