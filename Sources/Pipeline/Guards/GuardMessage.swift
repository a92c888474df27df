import Catalog

/// The messages of the guards about a section, which is a list of items.
///
/// A guard is a check that rejects a change of a section if it looks like a fault of the shop. A message names the
/// rejected change and a remedy.
struct GuardMessage {
  /// The section's key.
  let key: String
  /// The number of its items in the cache.
  let held: Int

  /// A message without a full stop, and an option for the next sync that would help.
  struct Finding {
    var problem: String
    var remedy: SyncReport.Remedy? = .acceptRemovals
  }

  private var items: String { held == 1 ? "its 1 item" : "its \(held) items" }

  /// The message that the shop no longer lists any items in the section.
  var emptied: Finding {
    Finding(
      problem:
        "cannot empty section \(key): the feed no longer lists \(items), which looks like "
        + "a fault, so they are kept"
    )
  }

  /// The message that the shop's response no longer names the section.
  var dropped: Finding {
    Finding(
      problem:
        "cannot drop section \(key): the feed no longer names it, which looks like a fault, so "
        + "\(items) \(held == 1 ? "is" : "are") kept"
    )
  }

  /// The message that the shop no longer lists `count` of the items.
  func shrunk(by count: Int) -> Finding {
    Finding(
      problem:
        "cannot remove \(count) of \(items) from section \(key): a removal of this size looks "
        + "like a fault, so the last good items are kept"
    )
  }

  /// The message that the shop has replaced every item of the section, and now lists `count` other items.
  func replaced(by count: Int) -> Finding {
    Finding(
      problem:
        "cannot replace section \(key): the feed now lists \(count) other \(count == 1 ? "item" : "items"), "
        + "which looks like a fault, so \(items) \(held == 1 ? "is" : "are") kept"
    )
  }

  /// The message that all items have lost a field, or that all have the same value in it.
  ///
  /// - Parameters:
  ///   - findings: The fields.
  ///   - mapping: The catalog file's paths for the fields.
  ///   - count: The number of items that the shop lists now.
  /// - Returns: The message and its remedy.
  func suspicious(
    _ findings: [FieldGuard.Finding],
    _ mapping: Mapping.Item,
    listed count: Int
  ) -> Finding {
    let parts = findings.map { finding in
      switch finding {
      case .gone(let field):
        "no item has a value of item.\(field.rawValue) at "
          + mapping.paths(of: field).map(\.description).joined(separator: ", ") + " any more"
      case .shared(let field):
        "all \(count) items have the same \(field.rawValue)"
      }
    }
    return Finding(
      problem:
        "cannot accept section \(key): \(parts.joined(separator: ", and ")), so the last good items "
        + "are kept; correct the path in the catalog file if the shop renamed it"
    )
  }

  /// The message that all details have lost some fields.
  ///
  /// A detail is the document about one item, with more data than the item has in a section.
  ///
  /// - Parameters:
  ///   - names: The names of the fields.
  ///   - paths: The catalog file's paths for the fields.
  ///   - count: The number of details whose old fields are kept.
  /// - Returns: The message and its remedy.
  static func lost(_ names: [String], _ paths: [JSONPath], details count: Int) -> Finding {
    Finding(
      problem: "cannot refresh \(names.joined(separator: ", ")) of \(count) "
        + "\(count == 1 ? "detail" : "details"): no fetched detail has a value at "
        + "\(paths.map(\.description).joined(separator: ", ")) any more, so their previous versions are kept; correct "
        + "the path in the catalog file if the shop renamed it"
    )
  }

  /// The message that too many items cannot be read.
  ///
  /// - Parameters:
  ///   - notes: The unreadable items and fields.
  ///   - elements: The number of items that the shop lists, as far as its response was read.
  ///   - isHeld: Whether the cache has items of an earlier run.
  /// - Returns: The message and its remedy.
  func unreadable(
    _ notes: SectionNotes,
    of elements: Int,
    isHeld: Bool
  ) -> Finding {
    let lost = notes.skipped.filter(\.isUnread)
    // The most frequent cause.
    let cause = Dictionary(grouping: lost) { [$0.field ?? "", $0.reason] }
      .min { ($1.value.count, $0.key[0], $0.key[1]) < ($0.value.count, $1.key[0], $1.key[1]) }?
      .value.first
    let why = cause.map { " (\($0.field.map { "\($0): " } ?? "")\($0.reason))" } ?? ""
    let correction =
      cause?.field.map {
        "correct the path of \"\($0)\" in the catalog file if the shop renamed it"
      }
      ?? "correct \"items\" in the catalog file if the shop moved them"
    // Reading stopped early, so only the first items count.
    let first = notes.isGivenUp ? "first " : ""
    return Finding(
      problem:
        "cannot accept section \(key): \(notes.lost) of its \(first)\(elements) items cannot be read\(why)"
        + (isHeld ? ", so the last good ones are kept" : "") + "; \(correction)",
      remedy: notes.lost < elements ? .acceptSkipped : nil
    )
  }
}

extension FieldGuard.Finding {
  /// The name of the field in the catalog file.
  var field: String {
    switch self {
    case .gone(let field): "item.\(field.rawValue)"
    case .shared(.picture): "item.images"
    case .shared(.price): "item.salePrice"
    case .shared(.title): "item.title"
    }
  }
}
