import Catalog
import CurlTransport
import Pipeline
import Transport
import Web

/// What a report left, as JSON and for people.
struct ReportDocument: Encodable {
  private let path: String
  @OrNull private var folder: String?
  private let items: Int
  private let thumbnails: Int
  private let thumbnailsMade: Int
  private let bytes: Int
  private let seconds: Double

  init(_ made: ReportRun.Made, _ file: ReportFile, since began: MonotonicTime) {
    (path, items) = (file.path, made.items)
    (thumbnails, thumbnailsMade) = (made.thumbnails, made.thumbnailsMade)
    bytes = made.html.utf8.count
    seconds = (Double(MonotonicTime.now() - began) / 1e6).rounded() / 1000
    folder = made.files == nil ? nil : file.folderPath
  }

  /// A line.
  var text: String {
    let pictures = "\(Quantities.count(thumbnails, "picture")), \(thumbnailsMade) of them new"
    let place = folder.map { " in \(PlainText.line($0))" } ?? ""
    return "\(PlainText.line(path)): \(Quantities.count(items, "item")), \(pictures)\(place), "
      + "\(Quantities.bytes(ByteCount(Int64(bytes)))) in \(Quantities.duration(seconds))"
  }
}
