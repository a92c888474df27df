import Base
import Foundation

/// The test cases of the project http-tests/cache-tests, which are read from a folder beside the repository.
struct CacheSuite: Decodable {
  /// One test: a sequence of requests, and the requests that the origin is expected to receive.
  struct Case: Decodable, Sendable {
    let id: String
    let name: String
    /// The kind of the test.
    ///
    /// Nil means `required`. An `optimal` test checks for unnecessary requests. A `check` has no right answer.
    let kind: String?
    let cdn_only: Bool?
    let requests: [Step]

    var isRequired: Bool { (kind ?? "required") == "required" }
    var isOptimal: Bool { kind == "optimal" }
  }

  /// One request of a test and the origin's answer to it.
  struct Step: Decodable, Sendable {
    let request_method: String?
    let request_headers: [Field]?
    let response_status: Status?
    let response_headers: [Field]?
    let expected_type: String?
    let expected_request_headers: [Expected]?
    let setup: Bool?
    let setup_tests: [String]?
    let pause_after: Bool?
    let disconnect: Bool?
    let query_arg: String?
    let cache: String?
    let magic_locations: Bool?
    let interim_responses: [Interim]?
  }

  /// A header field.
  ///
  /// A number as its value stands for a date, in seconds from now.
  struct Field: Decodable, Sendable, Hashable {
    enum Value: Hashable, Sendable {
      case text(String)
      case seconds(Int64)
    }

    let name: String
    let value: Value

    init(from decoder: any Decoder) throws {
      var list = try decoder.unkeyedContainer()
      name = try list.decode(String.self)
      if let seconds = try? list.decode(Int64.self) {
        value = .seconds(seconds)
      } else {
        value = .text(try list.decode(String.self))
      }
    }

    /// The value to send at a moment.
    func text(at now: UnixTime) -> String {
      switch value {
      case .text(let text): text
      case .seconds(let seconds): (now + seconds).httpDate
      }
    }
  }

  /// A status code and its reason phrase.
  struct Status: Decodable, Sendable {
    let code: Int

    init(from decoder: any Decoder) throws {
      var list = try decoder.unkeyedContainer()
      code = try list.decode(Int.self)
    }
  }

  /// The status of an interim response.
  struct Interim: Decodable, Sendable {
    let code: Int

    init(from decoder: any Decoder) throws {
      var list = try decoder.unkeyedContainer()
      code = try list.decode(Int.self)
    }
  }

  /// A field that the request must have: its name, and its value unless any value will do.
  struct Expected: Decodable, Sendable {
    let name: String
    let value: String?

    init(from decoder: any Decoder) throws {
      if let name = try? decoder.singleValueContainer().decode(String.self) {
        (self.name, value) = (name, nil)
        return
      }
      var list = try decoder.unkeyedContainer()
      name = try list.decode(String.self)
      value = try list.decode(String.self)
    }
  }

  let id: String
  let tests: [Case]

  /// The path of the suite, beside the repository.
  static let path = "../shared/data/cache-tests/tests.json"

  /// All tests of all groups, in the order of the file; nil if the suite is missing.
  static let all: [Case]? = {
    guard let data = FileManager.default.contents(atPath: path) else { return nil }
    do {
      return try JSONDecoder().decode([CacheSuite].self, from: data).flatMap(\.tests)
    } catch {
      fatalError("cannot read \(path): \(error)")
    }
  }()
}
