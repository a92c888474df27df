import FoundationEssentials

// Codable's own synthesis leaves out what is nil; the contract wants every key, null when there is
// nothing to say. These write the optional ones themselves.

extension SyncReport.Section {
  private enum Key: String, CodingKey { case key, title, items, skipped, source, error }

  /// Writes every key.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(key, forKey: .key)
    try container.encode(title, forKey: .title)
    try container.encode(items, forKey: .items)
    try container.encode(skipped, forKey: .skipped)
    try container.encode(source, forKey: .source)
    try container.encode(error, forKey: .error)
  }
}

extension SyncReport.Change {
  private enum Key: String, CodingKey { case id, field, from, to }

  /// Writes every key.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(id, forKey: .id)
    try container.encode(field, forKey: .field)
    try container.encode(from, forKey: .from)
    try container.encode(to, forKey: .to)
  }
}

extension SyncReport.Failure {
  private enum Key: String, CodingKey { case stage, id, url, reason, attempts, detail }

  /// Writes every key.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(stage, forKey: .stage)
    try container.encode(id, forKey: .id)
    try container.encode(url, forKey: .url)
    try container.encode(reason, forKey: .reason)
    try container.encode(attempts, forKey: .attempts)
    try container.encode(detail, forKey: .detail)
  }
}

extension SyncReport.Skipped {
  private enum Key: String, CodingKey { case section, index, field, reason }

  /// Writes every key.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(section, forKey: .section)
    try container.encode(index, forKey: .index)
    try container.encode(field, forKey: .field)
    try container.encode(reason, forKey: .reason)
  }
}

extension SyncReport: Codable {
  private enum CodingKeys: String, CodingKey {
    case catalog, run, outcome, sections, items, details, images, squares, failures, skipped,
      unfinished
    case requests, durationSeconds
  }

  /// Reads a report that an earlier run kept.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(catalog: try container.decode(String.self, forKey: .catalog))
    run = try container.decode(Int64?.self, forKey: .run)
    outcome = try container.decode(Outcome.self, forKey: .outcome)
    sections = try container.decode([Section].self, forKey: .sections)
    items = try container.decode(Items.self, forKey: .items)
    details = try container.decode(Details.self, forKey: .details)
    images = try container.decode(Images.self, forKey: .images)
    squares = try container.decodeIfPresent(Squares.self, forKey: .squares)
    failures = try container.decode([Failure].self, forKey: .failures)
    skipped = try container.decode([Skipped].self, forKey: .skipped)
    unfinished = try container.decode([Unfinished].self, forKey: .unfinished)
    requests = try container.decode(Int.self, forKey: .requests)
    durationSeconds = try container.decode(Double.self, forKey: .durationSeconds)
  }

  /// Writes every key.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(catalog, forKey: .catalog)
    try container.encode(run, forKey: .run)
    try container.encode(outcome, forKey: .outcome)
    try container.encode(sections, forKey: .sections)
    try container.encode(items, forKey: .items)
    try container.encode(details, forKey: .details)
    try container.encode(images, forKey: .images)
    try container.encode(squares, forKey: .squares)
    try container.encode(failures, forKey: .failures)
    try container.encode(skipped, forKey: .skipped)
    try container.encode(unfinished, forKey: .unfinished)
    try container.encode(requests, forKey: .requests)
    try container.encode((durationSeconds * 1000).rounded() / 1000, forKey: .durationSeconds)
  }

  /// The report as one line of JSON.
  public func json() throws -> [UInt8] {
    try jsonLine()
  }

  /// Reads what ``json()`` wrote.
  public init(json: [UInt8]) throws {
    self = try JSONDecoder().decode(SyncReport.self, from: Data(json))
  }
}
