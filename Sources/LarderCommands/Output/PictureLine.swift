import Imaging

/// One made picture as people read it.
struct PictureLine {
  private let result: PictureResult

  init(_ result: PictureResult) {
    self.result = result
  }

  /// The output, its size, how it was made, and what to know of it.
  var text: String {
    guard let output = result.output, let summary = result.summary else { return result.input }
    var line = "\(output)  \(summary.width)×\(summary.height)  \(summary.method.rawValue)"
    if summary.shift.x != 0 || summary.shift.y != 0 {
      line += "  moved by \(summary.shift.x), \(summary.shift.y) pixels"
    }
    if let time = result.time { line += "  \(time) (\(result.timeSource ?? ""))" }
    if summary.isDamaged { line += "  damaged" }
    if let upload = result.upload, upload.isAccepted {
      line += "  posted" + (upload.message.map { ": \($0)" } ?? "")
    }
    return line
  }
}
