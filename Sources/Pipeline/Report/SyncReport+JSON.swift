import Cache
import Catalog
import FoundationEssentials

// The contract: every key is present, null when there is nothing to say, and equal reports have equal bytes, so keys
// are sorted.

extension SyncReport {
  /// The report as one line of JSON.
  ///
  /// A first sync of a million items names each: Codable's encoder takes 0.75 s of processor time and 54 MiB for the ids alone.
  package func json() -> [UInt8] {
    var writer = StoredFormWriter()
    writer.object {
      $0.member("catalog", catalog)
      $0.name("details")
      $0.value(details)
      $0.member("durationSeconds", (durationSeconds * 1000).rounded() / 1000)
      $0.name("failures")
      $0.array { for failure in failures { $0.value(failure) } }
      $0.name("failuresOmitted")
      $0.object {
        // In the order of their names, as everywhere.
        $0.name("detail")
        $0.value(failuresOmitted[.detail] ?? [:])
        $0.name("image")
        $0.value(failuresOmitted[.image] ?? [:])
        $0.name("section")
        $0.value(failuresOmitted[.section] ?? [:])
      }
      $0.name("images")
      $0.value(images)
      $0.name("items")
      $0.value(items)
      $0.member("outcome", outcome.rawValue)
      $0.member("requests", requests)
      $0.member("run", run?.rawValue)
      $0.name("sections")
      $0.array { for section in sections { $0.value(section) } }
      $0.name("skipped")
      $0.value(skipped)
      $0.name("squares")
      if let squares { $0.value(squares) } else { $0.value(nil as String?) }
      $0.name("unfinished")
      $0.array { for item in unfinished { $0.value(item) } }
    }
    return writer.bytes
  }

  /// Reads what ``json()`` wrote.
  package init(json: [UInt8]) throws {
    self = try JSONDecoder().decode(SyncReport.self, from: Data(json))
    // The document has every stage, the value those alone that have counts.
    failuresOmitted = failuresOmitted.filter { !$0.value.isEmpty }
  }
}

extension StoredFormWriter {
  fileprivate mutating func value(_ section: SyncReport.Section) {
    object {
      $0.member("error", section.error)
      $0.member("items", section.items)
      $0.member("kept", section.kept)
      $0.member("key", section.key)
      $0.member("remedy", section.remedy?.rawValue)
      $0.member("repeats", section.repeats)
      $0.member("skipped", section.skipped)
      $0.name("skippedReasons")
      $0.value(section.skippedReasons)
      $0.member("source", section.source.rawValue)
      $0.member("title", section.title)
      $0.member("unread", section.unread)
      $0.member("warning", section.warning)
      $0.member("withheld", section.withheld)
    }
  }

  fileprivate mutating func value(_ items: SyncReport.Items) {
    object {
      $0.member("added", items.added)
      $0.name("changed")
      $0.array { for change in items.changed { $0.value(change) } }
      $0.member("removed", items.removed)
      $0.member("total", items.total)
      $0.member("withheld", items.withheld)
    }
  }

  private mutating func value(_ change: SyncReport.Change) {
    object {
      $0.member("field", change.field)
      $0.member("from", change.from)
      $0.member("id", change.id)
      $0.member("to", change.to)
    }
  }

  fileprivate mutating func value(_ details: SyncReport.Details) {
    object {
      $0.member("error", details.error)
      $0.member("failed", details.failed)
      $0.member("fetched", details.fetched)
      $0.member("kept", details.kept)
      $0.member("missing", details.missing)
      $0.member("remedy", details.remedy?.rawValue)
      $0.member("stale", details.stale)
      $0.member("total", details.total)
      $0.member("unchanged", details.unchanged)
      $0.member("withheld", details.withheld)
    }
  }

  fileprivate mutating func value(_ images: SyncReport.Images) {
    object {
      $0.member("bytesFetched", images.bytesFetched.count)
      $0.member("bytesHeld", images.bytesHeld.count)
      $0.member("changed", images.changed)
      $0.member("failed", images.failed)
      $0.member("fetched", images.fetched)
      $0.member("fresh", images.fresh)
      $0.member("referenced", images.referenced)
      $0.member("revalidated", images.revalidated)
      $0.member("unique", images.unique)
    }
  }

  fileprivate mutating func value(_ squares: SyncReport.Squares) {
    object {
      $0.name("failures")
      $0.array {
        for failure in squares.failures {
          $0.object {
            $0.member("path", failure.path)
            $0.member("reason", failure.reason)
          }
        }
      }
      $0.member("fresh", squares.fresh)
      $0.member("made", squares.made)
      $0.member("removed", squares.removed)
      $0.member("size", squares.size)
      $0.member("unfinished", squares.unfinished)
      $0.member("unfit", squares.unfit)
    }
  }

  fileprivate mutating func value(_ failure: SyncReport.Failure) {
    object {
      $0.member("attempts", failure.attempts)
      $0.member("detail", failure.detail)
      $0.member("id", failure.id)
      $0.member("known", failure.isKnown)
      $0.member("reason", failure.reason)
      $0.member("remedy", failure.remedy?.rawValue)
      $0.member("stage", failure.stage.rawValue)
      $0.member("url", failure.url)
    }
  }

  fileprivate mutating func value(_ item: SyncReport.Unfinished) {
    object {
      $0.member("stage", item.stage.rawValue)
      $0.member("url", item.url)
    }
  }

  /// Writes items that could not be read.
  mutating func value(_ skipped: [SyncReport.Skipped]) {
    array {
      for item in skipped {
        $0.object {
          $0.member("field", item.field)
          $0.member("id", item.id)
          $0.member("index", item.index)
          $0.member("lost", item.lost.rawValue)
          $0.member("reason", item.reason)
          $0.member("section", item.section)
        }
      }
    }
  }
}
