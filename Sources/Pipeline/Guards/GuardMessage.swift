import Catalog

/// The guards' messages about a section: the rejected change, and a remedy.
struct GuardMessage {
  /// A sentence without its full stop, and the remedies besides correcting the catalog file.
  struct Finding {
    var problem: String
    var remedy: SyncReport.Remedy?
  }

  private let key: String
  private let held: Int

  /// Messages about the section `key`, which showed `held` items.
  init(_ key: String, held: Int) {
    self.key = key
    self.held = held
  }

  private var items: String { held == 1 ? "its 1 item" : "its \(held) items" }

  /// The feed lists nothing any more.
  var emptied: Finding {
    Finding(
      problem:
        "cannot empty section \(key): the feed lists none of \(items) any more, which looks "
        + "like a fault, so they stay",
      remedy: .acceptRemovals
    )
  }

  /// The feed does not name the section any more.
  var dropped: Finding {
    Finding(
      problem:
        "cannot drop section \(key): the feed no longer names it, which looks like a fault, so "
        + "\(items) \(held == 1 ? "stays" : "stay")",
      remedy: .acceptRemovals
    )
  }

  /// The feed lists fewer items.
  func shrunk(by count: Int) -> Finding {
    Finding(
      problem:
        "cannot remove \(count) of \(items) from section \(key): so many at once look like a "
        + "fault, so they stay",
      remedy: .acceptRemovals
    )
  }

  /// The feed lists other items instead of all those that were shown.
  func replaced(by count: Int) -> Finding {
    Finding(
      problem:
        "cannot replace section \(key): none of \(items) is among the \(count) that the feed lists now, "
        + "which looks like a fault, so the last good ones stay",
      remedy: .acceptRemovals
    )
  }

  /// Fields are gone from all items, or all items share a value.
  ///
  /// - Parameters:
  ///   - findings: the fields.
  ///   - mapping: where the feed has them.
  ///   - count: how many items the feed lists.
  /// - Returns: The finding and its remedy.
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
        "cannot take section \(key): \(parts.joined(separator: ", and ")), so the last good items "
        + "stay; correct the path in the catalog file if the shop renamed it",
      remedy: .acceptRemovals
    )
  }

  /// No detail has some fields any more.
  ///
  /// - Parameters:
  ///   - names: the fields.
  ///   - paths: where they were.
  ///   - count: the number of details that keep their fields.
  /// - Returns: The finding and its remedy.
  static func lost(_ names: [String], _ paths: [JSONPath], details count: Int) -> Finding {
    Finding(
      problem: "cannot refresh \(names.joined(separator: ", ")) of \(count) "
        + "\(count == 1 ? "detail" : "details"): no detail that came has a value at "
        + "\(paths.map(\.description).joined(separator: ", ")) any more, so what was held stays; correct "
        + "the path in the catalog file if the shop renamed it",
      remedy: .acceptRemovals
    )
  }

  /// Too many items cannot be read.
  ///
  /// - Parameters:
  ///   - notes: the unreadable items and fields.
  ///   - elements: how many items the feed lists.
  ///   - isHeld: whether there is a good listing from before.
  /// - Returns: The finding and its remedy.
  func unreadable(
    _ notes: SectionNotes,
    of elements: Int,
    isHeld: Bool
  ) -> Finding {
    let lost = notes.skipped.filter(\.isUnread)
    let causes = Dictionary(
      lost.map { (Cause(field: $0.field, reason: $0.reason), 1) },
      uniquingKeysWith: +
    )
    let cause = causes.min { ($1.value, $0.key) < ($0.value, $1.key) }?.key
    let why = cause.map { " (\($0.field.map { "\($0): " } ?? "")\($0.reason))" } ?? ""
    let correction =
      cause?.field.map {
        "correct the path of \"\($0)\" in the catalog file if the shop renamed it"
      }
      ?? "correct \"items\" in the catalog file if the shop moved them"
    // The rest was not read.
    let first = notes.isGivenUp ? "first " : ""
    return Finding(
      problem:
        "cannot take section \(key): \(notes.lost) of its \(first)\(elements) items cannot be read\(why)"
        + (isHeld ? ", so the last good ones stay" : "") + "; \(correction)",
      remedy: notes.lost < elements ? .acceptSkipped : nil
    )
  }

  private struct Cause: Hashable, Comparable {
    var field: String?
    var reason: String

    static func < (left: Cause, right: Cause) -> Bool {
      (left.field ?? "", left.reason) < (right.field ?? "", right.reason)
    }
  }
}

extension FieldGuard.Finding {
  /// The field, by its name in the catalog file.
  var field: String {
    switch self {
    case .gone(let field): "item.\(field.rawValue)"
    case .shared(.picture): "item.images"
    case .shared(.price): "item.salePrice"
    case .shared(.title): "item.title"
    }
  }
}
