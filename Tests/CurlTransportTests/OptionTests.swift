import CCurl
import Testing

@testable import CurlTransport

struct OptionTests {
  @Test func `an option that libcurl takes leaves no refusal`() throws {
    let easy = try EasyHandle()
    ExchangePolicy(TransportOptions()).configure(easy)

    let refused = easy.refused?.words

    #expect(refused == nil)
  }

  @Test func `a refused option is remembered, whatever is set after it`() throws {
    let easy = try EasyHandle()

    easy.set(CURLOPT_PROTOCOLS_STR, "http,nonsense")
    easy.set(CURLOPT_PROTOCOLS_STR, "http,https")
    let refused = easy.refused

    #expect(refused?.option == CURLOPT_PROTOCOLS_STR)
    #expect(refused?.words.hasPrefix("libcurl refuses option 10318 (") == true)
  }
}
