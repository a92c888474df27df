import CXML
import Glibc

/// A part of a page.
enum HTMLEvent {
  /// An element begins.
  ///
  /// The name is in lower case. If an attribute has no value, as in `<div itemscope>`, its value is empty.
  case start(name: String, attributes: [String: String])
  /// An element ends.
  ///
  /// It can end without an end tag, for example at the end of the page.
  case end(name: String)
  /// A text in UTF-8.
  ///
  /// Entities such as `&amp;` are decoded, except in scripts. A text can come in several pieces. A piece can end in the
  /// middle of a character. The text of a script or a style sheet is not shown by a browser.
  case text([UInt8], isShown: Bool)
}

/// Reads HTML pages with libxml2.
///
/// libxml2 repairs broken markup as browsers do, and fetches nothing. It compares each attribute of a tag with all
/// others, and each end tag with all open elements. Therefore ``MarkupTags`` limits the number of
/// attributes, and ``read(_:_:seconds:within:_:)`` the number of elements and the time.
enum HTMLPage {
  /// The maximum depth of nested elements.
  private static let mostDepth = 512
  /// The maximum number of words that the parser reads without reporting an event.
  ///
  /// The words can all be in one long tag, and each of them can be an attribute.
  private static let mostWords = 50_000
  /// The number of bytes that are passed to the parser at once.
  private static let piece = 64 << 10

  /// Reads a page.
  ///
  /// - Parameters:
  ///   - bytes: The page, in UTF-8 or in the encoding that its `meta` element names.
  ///   - subject: The name of the page in error messages, for example "section main".
  ///   - seconds: The maximum processor time. Nil means two seconds, and one second more for each megabyte.
  ///   - run: The limits for decoding, such as a deadline.
  ///   - take: Called with each event of the page before this function returns.
  /// - Throws: ``CatalogError`` if memory runs out, if a limit is exceeded, or if decoding was stopped, for example at
  ///   a deadline.
  static func read(
    _ bytes: ArraySlice<UInt8>,
    _ subject: String,
    seconds: Double? = nil,
    within run: DecodingLimits = DecodingLimits(),
    _ take: @escaping (HTMLEvent) -> Void
  ) throws(CatalogError) {
    if let fault = MarkupTags.fault(inHTML: bytes) {
      throw refusal("\(fault.reason), on line \(fault.line)", subject)
    }
    let receiver = Receiver(take)
    let isUTF8 = String(validating: bytes, as: UTF8.self) != nil
    guard let page = receiver.start(isUTF8: isUTF8) else { throw .outOfMemory(subject) }
    defer { withExtendedLifetime(receiver) { cxml_page_free(page) } }
    let seconds = seconds ?? 2 + Double(bytes.count) / 1_000_000
    let end = processorTime() + seconds
    var place = bytes.startIndex
    var words = 0
    while place < bytes.endIndex {
      let piece = Self.piece(of: bytes, from: place)
      place = piece.endIndex
      let events = receiver.events
      words += wordCount(of: piece)
      guard receiver.isRaw || words <= mostWords else {
        throw refusal("has a tag, comment or text of more than \(mostWords) words", subject)
      }
      try run.demandTime(subject)
      piece.withUnsafeBufferPointer { cxml_page_push(page, $0.baseAddress, $0.count) }
      // If the parser has reported an event, it has finished all earlier pieces. Only words of this piece can still be
      // in an unfinished tag.
      if receiver.events > events { words = wordCount(of: piece) }
      guard receiver.depth <= mostDepth else {
        throw refusal("has more than \(mostDepth) nested elements", subject)
      }
      guard processorTime() < end else {
        throw refusal("takes more than \(Int(seconds)) s of processor time", subject)
      }
    }
    cxml_page_end(page)
  }

  /// The receiver of the events of one page.
  private final class Receiver {
    private let take: (HTMLEvent) -> Void
    /// The number of open elements.
    private(set) var depth = 0
    /// The number of events so far.
    private(set) var events = 0
    /// Whether the parser is inside a script or a style sheet, where `<` begins no tag.
    private(set) var isRaw = false

    init(_ take: @escaping (HTMLEvent) -> Void) { self.take = take }

    /// Starts a parser that calls this receiver.
    ///
    /// The caller frees it. The result is nil if there is no memory.
    func start(isUTF8: Bool) -> OpaquePointer? {
      // SAFETY: the context is the receiver. Its owner keeps it alive until the parser is freed.
      cxml_page_start(
        Unmanaged.passUnretained(self).toOpaque(),
        { context, name, attributes in
          guard let context, let name else { return }
          let attributes = Receiver.attributes(attributes)
          Receiver.at(context).receive(
            .start(name: String(cString: name), attributes: attributes)
          )
        },
        { context, name in
          guard let context, let name else { return }
          Receiver.at(context).receive(.end(name: String(cString: name)))
        },
        { context, bytes, count in
          guard let context, count > 0 else { return }
          let bytes = UnsafeBufferPointer(start: bytes, count: Int(count))
          let receiver = Receiver.at(context)
          let text = Windows1252.characters(bytes)
          receiver.receive(.text(text, isShown: !receiver.isRaw))
        },
        isUTF8
      )
    }

    private static func at(_ context: UnsafeMutableRawPointer) -> Receiver {
      Unmanaged<Receiver>.fromOpaque(context).takeUnretainedValue()
    }

    /// Copies attributes.
    ///
    /// - Parameter pairs: Pointers to a name, its value, the next name, its value, and so on. A value can be NULL, and
    ///   NULL follows the last value. If the element has no attributes, the parameter is nil.
    /// - Returns: The values of the attributes, by their names.
    private static func attributes(
      _ pairs: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?
    ) -> [String: String] {
      var attributes: [String: String] = [:]
      guard var pair = pairs else { return attributes }
      while let name = pair[0] {
        let value = pair[1].map { Windows1252.characters(String(cString: $0).utf8) } ?? []
        attributes[String(cString: name)] = String(decoding: value, as: UTF8.self)
        pair += 2
      }
      return attributes
    }

    private func receive(_ event: HTMLEvent) {
      events += 1
      switch event {
      case .start(let name, _):
        depth += 1
        isRaw = name == "script" || name == "style"
      case .end:
        depth -= 1
        isRaw = false
      case .text: break
      }
      take(event)
    }
  }

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

  /// The processor time of this thread, in seconds.
  private static func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// The error that a page exceeds a limit.
  static func refusal(_ what: String, _ subject: String) -> CatalogError {
    .shape(subject, "the page \(what)", remedy: "try another page, or the shop's JSON")
  }
}

/// The characters that a page means by control characters.
///
/// A page that names ISO-8859-1 is in Windows-1252, and `&#128;` is the euro sign. libxml2 reads both as the standards of
/// 1987 say, as controls from U+0080 to U+009F. (WHATWG Encoding, section 4.2; HTML, section 13.2.5.80)
private enum Windows1252 {
  /// The characters of the bytes from 0x80 to 0x9F.
  private static let table = Array(
    "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8D}Ž\u{8F}\u{90}‘’“”•–—˜™š›œ\u{9D}žŸ".unicodeScalars.map {
      Array(String($0).utf8)
    }
  )

  /// A text in UTF-8, with the characters that the page means.
  static func characters(_ bytes: some BidirectionalCollection<UInt8>) -> [UInt8] {
    guard bytes.contains(0xC2) else { return Array(bytes) }
    var text: [UInt8] = []
    for byte in bytes {
      if (0x80..<0xA0).contains(byte), text.last == 0xC2 {
        text.removeLast()
        text += table[Int(byte - 0x80)]
      } else {
        text.append(byte)
      }
    }
    return text
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
    var bytes: [UInt8] = []
    let isRead: Void? = try? HTMLPage.read(Array(text.utf8)[...], "text") { event in
      switch event {
      case .text(let piece, let isShown): if isShown { bytes += piece }
      case .start(let name, _), .end(let name):
        guard let last = bytes.last else { return }
        if blocks.contains(name), last != 0x0A { bytes.append(0x0A) }
        // The cells of a row.
        if name == "td" || name == "th", last > 0x20 { bytes.append(0x20) }
      }
    }
    guard isRead != nil else { return text }
    return PlainText.block(String(decoding: bytes, as: UTF8.self))
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
}
