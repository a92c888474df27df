import Catalog
import FoundationEssentials

// The contract wants every key, null when there is nothing to say, and equal reports the same bytes:
// keys are in the order of their letters.

extension SyncReport {
  /// The report as one line of JSON.
  public func json() -> [UInt8] {
    var writer = StoredFormWriter()
    writer.object {
      $0.name("catalog")
      $0.value(catalog)
      $0.name("details")
      $0.value(details)
      $0.name("durationSeconds")
      $0.value((durationSeconds * 1000).rounded() / 1000)
      $0.name("failures")
      $0.array { for failure in failures { $0.value(failure) } }
      $0.name("images")
      $0.value(images)
      $0.name("items")
      $0.value(items)
      $0.name("outcome")
      $0.value(outcome.rawValue)
      $0.name("requests")
      $0.value(requests)
      $0.name("run")
      $0.value(run)
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
  public init(json: [UInt8]) throws {
    self = try JSONDecoder().decode(SyncReport.self, from: Data(json))
  }
}

extension StoredFormWriter {
  fileprivate mutating func value(_ section: SyncReport.Section) {
    object {
      $0.name("error")
      $0.value(section.error)
      $0.name("items")
      $0.value(section.items)
      $0.name("key")
      $0.value(section.key)
      $0.name("skipped")
      $0.value(section.skipped)
      $0.name("source")
      $0.value(section.source.rawValue)
      $0.name("title")
      $0.value(section.title)
    }
  }

  fileprivate mutating func value(_ items: SyncReport.Items) {
    object {
      $0.name("added")
      $0.value(items.added)
      $0.name("changed")
      $0.array { for change in items.changed { $0.value(change) } }
      $0.name("moved")
      $0.value(items.moved)
      $0.name("removed")
      $0.value(items.removed)
      $0.name("total")
      $0.value(items.total)
      $0.name("withheld")
      $0.value(items.withheld)
    }
  }

  private mutating func value(_ change: SyncReport.Change) {
    object {
      $0.name("field")
      $0.value(change.field)
      $0.name("from")
      $0.value(change.from)
      $0.name("id")
      $0.value(change.id)
      $0.name("to")
      $0.value(change.to)
    }
  }

  fileprivate mutating func value(_ details: SyncReport.Details) {
    object {
      $0.name("failed")
      $0.value(details.failed)
      $0.name("fetched")
      $0.value(details.fetched)
      $0.name("missing")
      $0.value(details.missing)
      $0.name("total")
      $0.value(details.total)
      $0.name("unchanged")
      $0.value(details.unchanged)
    }
  }

  fileprivate mutating func value(_ images: SyncReport.Images) {
    object {
      $0.name("assumed")
      $0.value(images.assumed)
      $0.name("bytesFetched")
      $0.value(images.bytesFetched)
      $0.name("bytesHeld")
      $0.value(images.bytesHeld)
      $0.name("changed")
      $0.value(images.changed)
      $0.name("failed")
      $0.value(images.failed)
      $0.name("fetched")
      $0.value(images.fetched)
      $0.name("fresh")
      $0.value(images.fresh)
      $0.name("referenced")
      $0.value(images.referenced)
      $0.name("revalidated")
      $0.value(images.revalidated)
      $0.name("unique")
      $0.value(images.unique)
    }
  }

  fileprivate mutating func value(_ squares: SyncReport.Squares) {
    object {
      $0.name("failures")
      $0.array {
        for failure in squares.failures {
          $0.object {
            $0.name("path")
            $0.value(failure.path)
            $0.name("reason")
            $0.value(failure.reason)
          }
        }
      }
      $0.name("fresh")
      $0.value(squares.fresh)
      $0.name("made")
      $0.value(squares.made)
      $0.name("removed")
      $0.value(squares.removed)
      $0.name("size")
      $0.value(squares.size)
      $0.name("unfinished")
      $0.value(squares.unfinished)
      $0.name("unfit")
      $0.value(squares.unfit)
    }
  }

  fileprivate mutating func value(_ failure: SyncReport.Failure) {
    object {
      $0.name("attempts")
      $0.value(failure.attempts)
      $0.name("detail")
      $0.value(failure.detail)
      $0.name("id")
      $0.value(failure.id)
      $0.name("reason")
      $0.value(failure.reason)
      $0.name("stage")
      $0.value(failure.stage.rawValue)
      $0.name("url")
      $0.value(failure.url)
    }
  }

  fileprivate mutating func value(_ item: SyncReport.Unfinished) {
    object {
      $0.name("stage")
      $0.value(item.stage.rawValue)
      $0.name("url")
      $0.value(item.url)
    }
  }

  /// Writes items that could not be read.
  mutating func value(_ skipped: [SyncReport.Skipped]) {
    array {
      for item in skipped {
        $0.object {
          $0.name("field")
          $0.value(item.field)
          $0.name("index")
          $0.value(item.index)
          $0.name("reason")
          $0.value(item.reason)
          $0.name("section")
          $0.value(item.section)
        }
      }
    }
  }
}
