import Catalog
import Transport

/// A document that more than a fixed URL asks for: by POST, or with places in its URL that each request fills.
struct DocumentQuery: Hashable, Sendable {
  /// The URL with its places closed, or without any.
  private let template: WebURL
  /// How it is asked for.
  let request: RequestRule
  /// What fills the places.
  private(set) var values: [Placeholder: String]
  /// The URL with its places filled, and without the environment's values.
  private(set) var url: WebURL
  private var variables = URLVariables.none

  /// A query at a URL without places; `values` fill those of the body.
  init(_ url: WebURL, _ request: RequestRule, filling values: [Placeholder: String]) {
    template = url
    self.request = request
    self.values = values
    self.url = url
  }

  /// A query at a URL with places.
  ///
  /// - Parameters:
  ///   - template: The URL, with places as ``Placeholder/closed(_:_:)`` leaves them.
  ///   - request: How it is asked for.
  ///   - values: What fills the places.
  ///   - variables: What the URL and the name are to leave out.
  ///   - parser: How URLs are read.
  /// - Throws: ``TransferFailure`` when the filled text is no URL.
  init(
    template: WebURL,
    _ request: RequestRule,
    filling values: [Placeholder: String],
    hiding variables: URLVariables,
    _ parser: any URLParsing
  ) throws(TransferFailure) {
    self.init(template, request, filling: values)
    self.variables = variables
    let text = Placeholder.fill(
      url: Placeholder.reopened(template.text, values.keys),
      with: values
    )
    if text != template.text {
      url = variables.veiled(try parser.parse(text, relativeTo: template))
    }
  }

  /// The same query for another page.
  ///
  /// - Parameters:
  ///   - kept: What the index keeps of it, see ``NextPage``.
  ///   - place: Where it goes.
  ///   - parser: How URLs are read.
  /// - Returns: The query.
  /// - Throws: ``TransferFailure`` when the filled text is no URL.
  func page(
    kept: String,
    at place: Placeholder,
    _ parser: any URLParsing
  ) throws(TransferFailure) -> DocumentQuery {
    var values = values
    values[place] = variables.cursor(kept: kept)
    return try DocumentQuery(
      template: template,
      request,
      filling: values,
      hiding: variables,
      parser
    )
  }

  /// The same query at another URL.
  func moved(to url: WebURL) -> DocumentQuery {
    var query = self
    query.url = url
    return query
  }

  /// The body; nil for a GET.
  var body: [UInt8]? {
    request.method == .post ? request.body(filling: values) : nil
  }

  /// The text that tells it in the index from other documents of the same reader.
  ///
  /// Bodies of one reader differ in their values alone, for the rest of them is in the mapping's digest.
  var name: String {
    guard request.method == .post else { return url.text }
    let pairs = values.sorted { $0.key.rawValue < $1.key.rawValue }.map {
      "\($0.key.rawValue)=\(PercentEncoding.escaped(variables.kept(cursor: $0.value)))"
    }
    return (["POST", url.text] + pairs).joined(separator: " ")
  }
}

/// What the index keeps of a page that follows: a URL, or what stands in the place that tells pages apart.
enum NextPage {
  /// The text for a value; no URL begins so.
  static func text(for value: String) -> String { " " + value }

  /// The value that such a text holds; nil for a URL.
  static func value(in text: String) -> String? {
    text.hasPrefix(" ") ? String(text.dropFirst()) : nil
  }
}
