import Glibc
import Support
import Synchronization
import Transport

@testable import CurlTransport

/// Collects results of the transfer thread, and waits for them with a semaphore.
final class Results: Sendable {
  private let results = Mutex<[Int: Result<Response, TransferFailure>]>([:])
  private let done = Semaphore()

  func completion(_ number: Int) -> @Sendable (Result<Response, TransferFailure>) -> Void {
    { result in
      self.results.withLock {
        precondition($0[number] == nil, "completed twice")
        $0[number] = result
      }
      self.done.signal()
    }
  }

  /// Starts a GET over a shared transport and stores its result under the number.
  func begin(_ number: Int, _ url: String, over transport: CurlTransport) throws {
    let request = Request(try CurlURLParser.parse(url))
    transport.fetch(request, into: CollectingSink(), completion: completion(number))
  }

  func wait(for count: Int) -> [Result<Response, TransferFailure>] {
    for _ in 0..<count { done.wait() }
    return results.withLock { results in
      results.sorted { $0.key < $1.key }.map(\.value)
    }
  }
}

/// Transport options for tests: loopback allowed, no delays between attempts, and long timeouts
/// for slow machines.
func testOptions(_ change: (inout TransportOptions) -> Void = { _ in }) -> TransportOptions {
  var options = TransportOptions()
  options.retry.retries = 0
  options.retry.firstDelay = .milliseconds(1)
  options.connectTimeout = .seconds(60)
  options.transferTimeout = .seconds(60)
  options.allowPrivateAddresses = true
  change(&options)
  return options
}

/// Fetches one URL and waits for the result.
func fetch(
  _ url: String,
  _ options: TransportOptions = testOptions(),
  into sink: any BodySink = CollectingSink(),
  _ change: (inout Request) -> Void = { _ in }
) throws -> Result<Response, TransferFailure> {
  let transport = try CurlTransport(options)
  defer { transport.shutdown() }
  var request = Request(try CurlURLParser.parse(url))
  change(&request)
  let results = Results()
  transport.fetch(request, into: sink, completion: results.completion(0))
  return results.wait(for: 1)[0]
}

extension Result<Response, TransferFailure> {
  var response: Response? { try? get() }

  var failure: TransferFailure? {
    guard case .failure(let failure) = self else { return nil }
    return failure
  }
}
