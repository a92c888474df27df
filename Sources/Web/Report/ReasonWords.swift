/// What a failure's reason means to the owner of a shop, and what can be done about it.
///
/// Reasons are those of docs/reference.md; what flags help is the command's to say.
struct ReasonWords: Equatable {
  let meaning: String
  let advice: String

  /// The words for a reason.
  init(_ reason: String, _ language: PageLanguage) {
    let say = language.of
    let retry = say("The next sync tries again.", "다음 동기화가 다시 시도합니다.")
    switch reason {
    case "http-404", "http-410":
      meaning = say("The shop names it and does not have it.", "쇼핑몰이 안내한 주소에 파일이 없습니다.")
      advice = say("Tell the shop, or correct its address there.", "쇼핑몰에 알리거나 주소를 고쳐 주세요.")
    case "http-401", "http-403":
      meaning = say("The shop refuses to hand it out.", "쇼핑몰이 접근을 거부했습니다.")
      advice = say(
        "Check headers and token in the catalog file, and what they are set to.",
        "카탈로그 파일의 headers와 token 값을 확인해 주세요."
      )
    case "dns-failed", "connect-refused", "connect-failed", "timeout-connect", "timeout-idle",
      "timeout-total", "circuit-open", "asked-to-wait", "reset", "truncated":
      meaning = say("The host could not be reached, or broke off.", "서버에 연결할 수 없거나 연결이 끊겼습니다.")
      advice = say("Check the network and the shop. ", "네트워크와 쇼핑몰 상태를 확인해 주세요. ") + retry
    case "tls-expired", "tls-host", "tls-untrusted", "tls-failed":
      meaning = say("The shop's certificate is not good.", "쇼핑몰의 인증서에 문제가 있습니다.")
      advice = say("Have the shop renew its certificate.", "쇼핑몰에 인증서 갱신을 요청해 주세요.")
    case "proxy-failed", "proxy-auth", "proxy-refused":
      meaning = say("The proxy did not let it through.", "프록시가 통과시키지 않았습니다.")
      advice = say("Check the proxy and its password.", "프록시와 비밀번호를 확인해 주세요.")
    case "not-a-picture":
      meaning = say("What came is no picture.", "받은 파일이 사진이 아닙니다.")
      advice = say("Look at the address in a browser.", "브라우저에서 주소를 열어 확인해 주세요.")
    case "undecodable", "field-missing", "details-missing":
      meaning = say(
        "The shop's data is not as the catalog file says.",
        "쇼핑몰 자료가 카탈로그 파일의 설정과 다릅니다."
      )
      advice = say("Correct the paths in the catalog file.", "카탈로그 파일의 경로를 고쳐 주세요.")
    case "url-invalid", "scheme-refused", "address-refused", "redirect-loop",
      "too-many-redirects", "redirect-downgrade", "redirect-invalid":
      meaning = say("The address leads nowhere that is safe.", "안전하게 열 수 없는 주소입니다.")
      advice = say("Correct the address at the shop.", "쇼핑몰에서 주소를 고쳐 주세요.")
    case "deadline", "bytes-limit", "keep-free", "cancelled":
      meaning = say("The run ended before it came to this.", "차례가 오기 전에 실행이 끝났습니다.")
      advice = retry
    case "disk", "out-of-memory":
      meaning = say("This machine had no room for it.", "이 컴퓨터에 공간이 부족합니다.")
      advice = say("Free some room and sync again.", "공간을 확보한 뒤 다시 동기화해 주세요.")
    case _ where reason.hasPrefix("http-5") || reason == "http-429":
      meaning = say("The shop was in trouble.", "쇼핑몰 서버에 문제가 있었습니다.")
      advice = retry
    default:
      meaning = ""
      advice = retry
    }
  }
}
