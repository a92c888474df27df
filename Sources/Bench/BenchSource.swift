import Base
import Catalog
import Pipeline
import Transport

/// The pictures to measure: those of a catalog, or a list of URLs.
package enum BenchSource: Sendable {
  /// All pictures of a catalog, with the folder that its relative paths start from, and the options of its syncs.
  ///
  /// The requests for its sections and details are made too, but only the pictures are measured. The pictures are
  /// stored in a cache, as by a sync.
  case catalog(CatalogFile, folder: String, options: SyncOptions)
  /// Pictures at these URLs, whose bytes are discarded.
  case urls([String])

  /// Parses a list that has one URL on each line.
  ///
  /// Empty lines, and lines that begin with `#`, are ignored.
  ///
  /// - Parameters:
  ///   - bytes: The list, in UTF-8.
  ///   - name: The name of the list, for the messages of errors.
  /// - Throws: ``LarderError`` when a line is not a URL, or when the list has no URL.
  package init(list bytes: [UInt8], name: String) throws(LarderError) {
    var urls: [String] = []
    for (number, text) in Self.lines(bytes[...]) {
      guard Self.isURL(text) else {
        throw LarderError(
          .data,
          "cannot read \(name): line \(number + 1) is not an http or https URL; write one per line"
        )
      }
      urls.append(text)
    }
    guard !urls.isEmpty else {
      throw LarderError(.data, "cannot bench \(name): it has no URL; write one per line")
    }
    self = .urls(urls)
  }

  /// Whether a file is a list of URLs, and not a catalog file.
  ///
  /// The first line that is neither empty nor a comment decides.
  package static func isList(_ bytes: [UInt8]) -> Bool {
    lines(bytes.prefix(1 << 16)).first.map { isURL($0.text) } ?? false
  }

  /// The lines of a list with their numbers, counted from 0, without those that are empty or comments.
  ///
  /// A byte order mark, which some editors write at the beginning, is left out.
  private static func lines(_ bytes: ArraySlice<UInt8>) -> [(number: Int, text: String)] {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    return String(decoding: bytes.starts(with: mark) ? bytes.dropFirst(3) : bytes, as: UTF8.self)
      .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated()
      .map { ($0.offset, $0.element.split(whereSeparator: \.isWhitespace).joined(separator: " ")) }
      .filter { !$0.1.isEmpty && !$0.1.hasPrefix("#") }
  }

  private static func isURL(_ text: String) -> Bool {
    let start = text.prefix(8).lowercased()
    return start.hasPrefix("http://") || start == "https://"
  }

  /// The hosts that the user has named.
  ///
  /// They are allowed to have private addresses.
  ///
  /// - Parameters:
  ///   - parser: Parses URLs.
  ///   - environment: The variables that replace `${NAME}` in the URLs of a catalog file.
  /// - Returns: The hosts with their ports.
  /// - Throws: An error if a URL is malformed.
  package func namedHosts(
    _ parser: any URLParsing,
    environment: [String: String] = [:]
  ) throws -> Set<HostPort> {
    switch self {
    case .catalog(let file, let folder, let options):
      return try CatalogAddresses(
        file,
        folder: folder,
        base: options.base,
        environment: environment,
        parser
      ).namedHosts()
    case .urls(let urls):
      var hosts: Set<HostPort> = []
      for url in urls { hosts.insert(try parser.parse(url, relativeTo: nil).hostPort) }
      return hosts
    }
  }
}
