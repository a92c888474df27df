import Base

/// A template for the names of output files, with the fields `{stem}`, `{size}` and `{ext}`.
///
///     let name = try PictureName("{stem}-{size}.{ext}", size: PixelSize(side: 512))
public struct PictureName: Sendable, Equatable {
  /// The input's own name, with the extension of the output's format.
  public static let usual = PictureName(parts: [.stem, .text("."), .ending])

  private enum Part: Equatable {
    case text(String)
    case stem
    case ending
  }

  private let parts: [Part]

  /// Whether inputs with different names get outputs with different names.
  var tellsApart: Bool { parts.contains(.stem) }

  private init(parts: [Part]) { self.parts = parts }

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
    var fields = FieldTemplate(template, for: "name pictures")
    var parts: [Part] = []
    while let piece = try fields.next() {
      switch piece {
      case .text(let text): parts.append(.text(String(text)))
      case .field("stem"): parts.append(.stem)
      case .field("ext"): parts.append(.ending)
      case .field("size"):
        guard let size else { throw fields.refusal("{size} needs a size; give one") }
        let isSquare = size.width == size.height
        parts.append(.text(isSquare ? "\(size.width)" : "\(size.width)x\(size.height)"))
      case .field(let name):
        throw fields.refusal("there is no field {\(name)}; use {stem}, {size} and {ext}")
      }
    }
    guard let last = parts.last else { throw fields.refusal("it is empty; try {stem}.{ext}") }
    let isEnded =
      if case .text(let text) = last {
        !parts.contains(.stem) && text.contains(".")
      } else if parts.count > 1, last == .ending, case .text(let text) = parts[parts.count - 2] {
        text.hasSuffix(".")
      } else {
        false
      }
    guard isEnded else {
      throw fields.refusal("it does not end in a file extension; end it with .{ext}")
    }
    let texts = parts.compactMap { if case .text(let text) = $0 { text } else { nil } }
    guard !texts.contains(where: { $0.contains("/") || $0.contains("\0") }) else {
      throw fields.refusal("it names another folder; give that folder as the output folder")
    }
    self.parts = parts
  }

  /// Checks whether the template suits `count` pictures of a format.
  ///
  /// - Throws: ``LarderError`` of code `usage` when all pictures would have the same name, or when the name has the
  ///   extension of another format.
  func check(count: Int, format: PictureFormat) throws(LarderError) {
    guard !tellsApart else { return }
    let text = String(decoding: bytes(stem: [], ending: format.fileExtension), as: UTF8.self)
    let template = FieldTemplate(text, for: "name pictures")
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
    parts.flatMap { part in
      switch part {
      case .text(let text): Array(text.utf8)
      case .stem: stem
      case .ending: Array(ending.utf8)
      }
    }
  }
}

/// Splits a template such as `{stem}.{ext}` into texts and fields.
struct FieldTemplate {
  enum Piece {
    case text(Substring)
    /// The name of a field, which stands between braces.
    case field(Substring)
  }

  private let template: String
  private let purpose: String
  private var rest: Substring

  /// Starts at the beginning of a template.
  ///
  /// `purpose` completes the words “cannot …” in errors, for example `name pictures`.
  init(_ template: String, for purpose: String) {
    (self.template, self.purpose) = (template, purpose)
    rest = template[...]
  }

  /// The error for a template that cannot be used; `reason` completes “cannot PURPOSE TEMPLATE: …”.
  func refusal(_ reason: String) -> LarderError {
    LarderError(.usage, "cannot \(purpose) \(template): \(reason)")
  }

  /// The next piece of the template, or nil at the end.
  ///
  /// A text is never empty.
  ///
  /// - Throws: ``LarderError`` of code `usage` for an unclosed brace.
  mutating func next() throws(LarderError) -> Piece? {
    guard rest.first == "{" else {
      let text = rest.prefix { $0 != "{" }
      rest = rest.dropFirst(text.count)
      return text.isEmpty ? nil : .text(text)
    }
    guard let close = rest.firstIndex(of: "}") else {
      throw refusal("a brace is not closed; close it")
    }
    defer { rest = rest[rest.index(after: close)...] }
    return .field(rest[rest.index(after: rest.startIndex)..<close])
  }
}
