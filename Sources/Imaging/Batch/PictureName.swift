import Base

/// A template for the names of output files, with the fields `{stem}`, `{size}` and `{ext}`.
///
///     let name = try PictureName("{stem}-{size}.{ext}", size: PixelSize(side: 512))
public struct PictureName: Sendable, Equatable {
  /// The input's own name, with the extension of the output's format.
  public static let usual = PictureName(filled: "{stem}.{ext}")

  /// The template, in which the size is already filled in.
  private let template: String

  private init(filled template: String) { self.template = template }

  /// Reads a template.
  ///
  /// - Parameters:
  ///   - template: `{stem}` stands for the input's name without its extension, `{ext}` for the extension of the
  ///     output's format, and `{size}` for `size`, such as 512 or 640x480. A template without `{stem}` names a single
  ///     picture. It may end in an extension of its own: `soup.png`.
  ///   - size: The requested size; nil if none was requested.
  /// - Throws: ``LarderError`` of code `usage` when a name would not have the extension of its format, or would name a
  ///   file in another folder.
  public init(_ template: String, size: PixelSize? = nil) throws(LarderError) {
    let fields = FieldTemplate(template: template, purpose: "name pictures")
    let tail = try fields.tail(behind: ["{stem}", "{size}", "{ext}"])
    guard size != nil || !template.contains("{size}") else {
      throw fields.refusal("{size} needs a size; give one")
    }
    guard !template.isEmpty else { throw fields.refusal("it is empty; try {stem}.{ext}") }
    let namesItself = !template.contains("{stem}") && tail.contains(".")
    guard template.hasSuffix(".{ext}") || namesItself else {
      throw fields.refusal("it does not end with the extension of the format; end it with .{ext}")
    }
    guard !template.utf8.contains(UInt8(ascii: "/")), !template.utf8.contains(0) else {
      throw fields.refusal("it names another folder; give that folder as the output folder")
    }
    let (width, height) = (size?.width ?? 0, size?.height ?? 0)
    let words = width == height ? "\(width)" : "\(width)x\(height)"
    self.template = template.replacing("{size}", with: words)
  }

  /// Checks whether the template suits `count` pictures of a format.
  ///
  /// - Throws: ``LarderError`` of code `usage` when all pictures would have the same name, or when the name has the
  ///   extension of another format.
  func check(count: Int, format: PictureFormat) throws(LarderError) {
    guard !template.contains("{stem}") else { return }
    let text = String(decoding: bytes(stem: [], ending: format.fileExtension), as: UTF8.self)
    let template = FieldTemplate(template: text, purpose: "name pictures")
    guard count < 2 else {
      throw template.refusal("every picture would have one name; add {stem}")
    }
    let ending = text.split(separator: ".").last?.lowercased() ?? ""
    guard format.fileExtensions.contains(ending) else {
      throw template.refusal(
        "the output format is \(format.name), but the name has another extension; end it with .{ext}"
      )
    }
  }

  /// The name as bytes, because the stem need not be UTF-8.
  func bytes(stem: [UInt8], ending: String) -> [UInt8] {
    let parts = template.replacing("{ext}", with: ending)
      .split(separator: "{stem}", omittingEmptySubsequences: false)
    return Array(parts.map { Array($0.utf8) }.joined(separator: stem))
  }
}

/// A template with fields, such as `{stem}.{ext}`.
struct FieldTemplate {
  let template: String
  /// Completes the words “cannot …” in errors, for example `name pictures`.
  let purpose: String

  /// The error for a template that cannot be used; `reason` completes “cannot PURPOSE TEMPLATE: …”.
  func refusal(_ reason: String) -> LarderError {
    LarderError(.usage, "cannot \(purpose) \(template): \(reason)")
  }

  /// Checks that each brace begins one of the fields, such as `{stem}`, and returns the text behind the last field.
  ///
  /// - Throws: ``LarderError`` of code `usage` for an unclosed brace, or for another field.
  func tail(behind fields: [String]) throws(LarderError) -> Substring {
    var rest = template[...]
    while let open = rest.firstIndex(of: "{") {
      guard let close = rest[open...].firstIndex(of: "}") else {
        throw refusal("a brace is not closed; close it")
      }
      guard fields.contains(String(rest[open...close])) else {
        let known = fields.dropLast().joined(separator: ", ") + " and \(fields.last ?? "")"
        throw refusal("there is no field \(rest[open...close]); use \(known)")
      }
      rest = rest[close...].dropFirst()
    }
    return rest
  }
}
