import CXML
import Glibc

/// The receiver of the events that ``HTMLPage`` finds in a page, such as the start of an element.
///
/// A subclass overrides the methods for the events that it needs.
class HTMLReceiver {
  /// The number of open elements.
  private(set) var depth = 0
  /// The number of events so far.
  fileprivate var events = 0
  /// Whether the parser is inside a script or a style sheet, where `<` begins no tag.
  fileprivate var isRaw = false

  /// Called when an element begins.
  ///
  /// The name is in lower case. The attributes are valid only during the call.
  func start(_ name: String, _ attributes: HTMLAttributes) {}

  /// Called when an element ends.
  ///
  /// It can end without an end tag, for example at the end of the page.
  func end(_ name: String) {}

  /// Called with a text of the page in UTF-8.
  ///
  /// Entities such as `&amp;` are decoded, except in scripts. A text can come in several pieces. A piece can end in the
  /// middle of a character.
  func text(_ bytes: [UInt8]) {}

  fileprivate func took(start name: String, _ attributes: HTMLAttributes) {
    events += 1
    depth += 1
    isRaw = name == "script" || name == "style"
    start(name, attributes)
  }

  fileprivate func took(end name: String) {
    events += 1
    depth -= 1
    isRaw = false
    end(name)
  }

  fileprivate func took(text bytes: [UInt8]) {
    events += 1
    text(bytes)
  }
}

/// The attributes of an element that begins.
struct HTMLAttributes {
  /// Pointers to a name, its value, the next name, its value, and so on.
  ///
  /// A value can be NULL, and NULL follows the last value. If the element has no attributes, this pointer is nil.
  fileprivate let pairs: UnsafePointer<UnsafePointer<CChar>?>?

  /// The value of an attribute, or nil if the element does not have it.
  ///
  /// If the attribute has no value, as in `<div itemscope>`, the result is empty.
  subscript(name: String) -> String? {
    guard var pair = pairs else { return nil }
    while let own = pair[0] {
      if strcmp(own, name) == 0 { return pair[1].map { String(cString: $0) } ?? "" }
      pair += 2
    }
    return nil
  }
}

/// The owner of one libxml2 parser for an HTML page.
///
/// The parser is freed exactly once. libxml2 repairs broken markup as browsers do, and fetches nothing. It compares
/// each attribute of a tag with all others, and each end tag with all open elements. Therefore ``MarkupTags`` and
/// ``Limits`` limit the number of attributes and elements.
struct HTMLPage: ~Copyable {
  /// The limits for one page.
  struct Limits {
    /// The maximum depth of nested elements.
    var depth = 512
    /// The maximum number of words that the parser reads without reporting an event.
    ///
    /// The words can all be in one long tag, and each of them can be an attribute.
    var words = 50_000
    /// The maximum processor time, in seconds.
    ///
    /// Nil means two seconds, and one second more for each megabyte.
    var seconds: Double?
  }

  /// The number of bytes that are passed to the parser at once.
  private static let piece = 64 << 10

  private let page: OpaquePointer
  private let handler: UnsafeMutablePointer<cxml_page_handler>
  private let receiver: HTMLReceiver

  /// Reads a page.
  ///
  /// - Parameters:
  ///   - bytes: The page, in UTF-8 or in the encoding that its `meta` element names.
  ///   - receiver: The receiver of the page's events. It receives all of them before this function returns.
  ///   - subject: The name of the page in error messages, for example "section main".
  ///   - limits: The limits for the page.
  ///   - run: The limits for decoding, such as a deadline.
  /// - Throws: ``CatalogError`` if memory runs out, if a limit is exceeded, or if decoding was stopped, for example at
  ///   a deadline.
  static func read(
    _ bytes: ArraySlice<UInt8>,
    into receiver: HTMLReceiver,
    _ subject: String,
    limits: Limits = Limits(),
    within run: DecodingLimits = DecodingLimits()
  ) throws(CatalogError) {
    if let fault = MarkupTags.fault(inHTML: bytes) {
      throw refusal("\(fault.reason), on line \(fault.line)", subject)
    }
    let page = try HTMLPage(isUTF8: isUTF8(bytes), receiver, subject)
    let seconds = limits.seconds ?? 2 + Double(bytes.count) / 1_000_000
    let end = processorTime() + seconds
    var place = bytes.startIndex
    var words = 0
    while place < bytes.endIndex {
      let piece = Self.piece(of: bytes, from: place)
      place = piece.endIndex
      let events = receiver.events
      words += wordCount(of: piece)
      guard receiver.isRaw || words <= limits.words else {
        throw refusal("has a tag, comment or text of more than \(limits.words) words", subject)
      }
      try run.demandTime(subject)
      page.push(piece)
      // If the parser has reported an event, it has finished all earlier pieces. Only words of this piece can still be
      // in an unfinished tag.
      if receiver.events > events { words = wordCount(of: piece) }
      guard receiver.depth <= limits.depth else {
        throw refusal("has more than \(limits.depth) nested elements", subject)
      }
      guard processorTime() < end else {
        throw refusal("takes more than \(Int(seconds)) s of processor time", subject)
      }
    }
    page.end()
  }

  private init(
    isUTF8: Bool,
    _ receiver: HTMLReceiver,
    _ subject: String
  ) throws(CatalogError) {
    let handler = UnsafeMutablePointer<cxml_page_handler>.allocate(capacity: 1)
    // SAFETY: the context is the receiver, which this value keeps alive until the page is freed. The parser calls back
    // only while `push` or `end` runs.
    handler.initialize(
      to: cxml_page_handler(
        context: Unmanaged.passUnretained(receiver).toOpaque(),
        start: { context, name, attributes in
          guard let context, let name else { return }
          Unmanaged<HTMLReceiver>.fromOpaque(context).takeUnretainedValue()
            .took(start: String(cString: name), HTMLAttributes(pairs: attributes))
        },
        end: { context, name in
          guard let context, let name else { return }
          Unmanaged<HTMLReceiver>.fromOpaque(context).takeUnretainedValue()
            .took(end: String(cString: name))
        },
        text: { context, bytes, count in
          guard let context else { return }
          Unmanaged<HTMLReceiver>.fromOpaque(context).takeUnretainedValue()
            .took(text: Array(UnsafeBufferPointer(start: bytes, count: count)))
        }
      )
    )
    guard let page = cxml_page_start(handler, isUTF8) else {
      handler.deallocate()
      throw .outOfMemory(subject)
    }
    self.page = page
    self.handler = handler
    self.receiver = receiver
  }

  deinit {
    cxml_page_free(page)
    handler.deallocate()
  }

  private borrowing func push(_ piece: ArraySlice<UInt8>) {
    piece.withUnsafeBufferPointer { cxml_page_push(page, $0.baseAddress, $0.count) }
  }

  private borrowing func end() { cxml_page_end(page) }

  /// The next bytes to pass to the parser.
  ///
  /// They end before a `<`, unless there is none. If a piece ended with a part of `</script>`, the parser would take
  /// this part for text of the script.
  private static func piece(of bytes: ArraySlice<UInt8>, from start: Int) -> ArraySlice<UInt8> {
    let rest = bytes[start...]
    guard rest.count > piece else { return rest }
    let next = rest.prefix(piece)
    let last = next.dropFirst().lastIndex(of: UInt8(ascii: "<"))
    return last.map { bytes[start..<$0] } ?? next
  }

  /// An upper bound for the number of attributes in a text.
  ///
  /// Each attribute except the first follows white space or a quote, so these are counted.
  private static func wordCount(of bytes: ArraySlice<UInt8>) -> Int {
    var count = 0
    var wasSpace = false
    for byte in bytes {
      let isSpace = byte <= 0x20
      if isSpace ? !wasSpace : byte == 0x22 || byte == 0x27 { count += 1 }
      wasSpace = isSpace
    }
    return count
  }

  private static func isUTF8(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.withUnsafeBufferPointer { String(validating: $0, as: UTF8.self) != nil }
  }

  /// The processor time of this thread, in seconds.
  private static func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private static func refusal(_ what: String, _ subject: String) -> CatalogError {
    CatalogError(
      .unexpectedShape,
      subject: subject,
      expected: "a page that a browser could show",
      reason: "the page \(what)",
      remedy: "try another page, or the shop's JSON"
    )
  }
}

/// Converts HTML in a field of a shop's data, such as a description, to plain text.
enum PageText {
  /// The names of elements that begin on a new line.
  private static let blocks: Set<String> = [
    "p", "div", "br", "li", "ul", "ol", "tr", "table", "h1", "h2", "h3", "h4", "h5", "h6", "hr",
    "section", "article", "header", "footer", "blockquote", "pre", "dl", "dt", "dd",
  ]

  /// The text without tags and entities.
  ///
  /// For example, `<p>Cup &amp; saucer</p><p>blue</p>` becomes two lines.
  ///
  /// - Parameter text: HTML or plain text.
  /// - Returns: The plain text, or the original text if it cannot be parsed.
  static func plain(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "<") }) else {
      return text
    }
    let gathering = Gathering()
    guard (try? HTMLPage.read(Array(text.utf8)[...], into: gathering, "text")) != nil else {
      return text
    }
    return PlainText.block(String(decoding: gathering.bytes, as: UTF8.self))
  }

  /// The text with its entities decoded.
  ///
  /// Everything that looks like a tag remains.
  ///
  /// - Parameter text: A text that can have entities, such as `Cup &amp; saucer`. (HTML, section 13.5)
  /// - Returns: The decoded text, or the original text if it cannot be parsed.
  static func withoutEntities(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "&")) else { return text }
    return plain(text.replacing("<", with: "&lt;"))
  }

  private final class Gathering: HTMLReceiver {
    var bytes: [UInt8] = []
    private var hidden = 0

    override func start(_ name: String, _ attributes: HTMLAttributes) {
      if name == "script" || name == "style" { hidden += 1 }
      if PageText.blocks.contains(name) { endLine() }
    }

    override func end(_ name: String) {
      if name == "script" || name == "style" { hidden -= 1 }
      if PageText.blocks.contains(name) { endLine() }
    }

    private func endLine() {
      if let last = bytes.last, last != 0x0A { bytes.append(0x0A) }
    }

    override func text(_ piece: [UInt8]) {
      if hidden == 0 { bytes += piece }
    }
  }
}
