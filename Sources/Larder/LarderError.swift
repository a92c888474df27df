import Base
import Catalog
import Transport

extension LarderError {
  /// Runs `body`, and translates its errors into the errors that the library documents.
  static func translating<Value>(_ body: () throws -> Value) throws(LarderError) -> Value {
    do {
      return try body()
    } catch {
      throw LarderError(shown: error)
    }
  }

  /// Translates an error of a module to an error that the library documents, without the text of its remedy.
  init(shown error: any Error) {
    switch error {
    case let error as LarderError:
      self.init(
        error.code.shown,
        error.problem,
        thing: error.thing,
        errno: error.errno,
        status: error.status
      )
    case let error as CatalogError:
      let thing = [error.file ?? error.subject, error.keyPath].compactMap(\.self)
      self.init(
        .catalog,
        error.description,
        thing: thing.filter { !$0.isEmpty }.joined(separator: ": ")
      )
    case let error as TransferFailure:
      let isAddress = error.reason == .urlInvalid || error.reason == .schemeRefused
      self.init(
        isAddress ? .address : error.reason == .libraryRefused ? .unfit : .transfer,
        error.description,
        thing: error.url.isEmpty ? nil : error.url,
        status: error.status
      )
    default: self.init(.disk, "cannot continue: \(error)")
    }
  }
}

extension LarderError.Code {
  /// The code that the library documents for a code of a module.
  fileprivate var shown: Self {
    switch self {
    case .catalog, .address, .argument, .locked, .notFound, .diskFull, .damaged, .tooNew, .unfit,
      .refused, .transfer:
      self
    case .configuration: .address
    case .ambiguous, .usage: .argument
    case .busy: .locked
    case .empty, .unknown: .notFound
    case .oldLibrary, .unfitFolder: .unfit
    case .state: .refused
    default: .disk
    }
  }
}
