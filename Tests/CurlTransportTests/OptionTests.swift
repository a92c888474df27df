import CCurl
import Testing
import Transport

@testable import CurlTransport

/// The options of libcurl, and the record of a refused one.
struct OptionTests {
  @Test func `an accepted option leaves no refusal`() throws {
    let easy = try EasyHandle()
    ExchangePolicy(TransportOptions()).configure(easy)

    let refused = easy.refused?.detail

    #expect(refused == nil)
  }

  @Test func `a refused option is remembered, whatever is set after it`() throws {
    let easy = try EasyHandle()

    easy.set(CURLOPT_PROTOCOLS_STR, "http,nonsense")
    easy.set(CURLOPT_PROTOCOLS_STR, "http,https")
    let refused = easy.refused

    #expect(refused?.reason == .libraryRefused)
    #expect(CURLOPT_PROTOCOLS_STR.rawValue == 10318)
    #expect(refused?.detail.hasPrefix("libcurl refuses option 10318 (") == true)
  }

  @Test func `a refused option of all transfers is an error`() throws {
    let multi = try MultiHandle()

    let refused = #expect(throws: TransferFailure.self) {
      try multi.set(CURLMoption(9999), 1)
    }

    #expect(refused?.reason == .libraryRefused)
    #expect(refused?.detail == "libcurl refuses option 9999 of all transfers (Unknown option)")
  }

  @Test func `libcurl accepts every option of all transfers`() throws {
    _ = try TransferCore(TransportOptions())
  }
}
