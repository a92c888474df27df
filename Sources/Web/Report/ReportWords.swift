/// The words of the report that stand on every one.
struct ReportWords {
  let kind, skip, search, sections, nothingFound, emptySection, emptyCatalog: String
  let footer, back, next, close: String
  let changes, problems, noProblems, advice: String
  let runs, days, goodDay, partDay, badDay, noDay: String
  let run, began, outcome, duration, received, requests, failures: String
  let sizes, section, items, picturesHeld, size, share, shared: String

  /// The words in a language.
  init(_ language: PageLanguage) {
    let say = language.of
    kind = say("Catalog report", "카탈로그 보고서")
    skip = say("Skip to the items", "상품으로 건너뛰기")
    search = say("Search items", "상품 검색")
    sections = say("Sections", "섹션")
    nothingFound = say(
      "No item has these words in its title, description, badge or id.",
      "제목, 설명, 배지, 상품 번호에 이 말이 들어 있는 상품이 없습니다."
    )
    emptySection = say("The shop lists nothing here.", "이 섹션에는 상품이 없습니다.")
    emptyCatalog = say("The catalog has no sections.", "카탈로그에 섹션이 없습니다.")
    footer = say(
      "Made by larder from what is held on this machine. The page loads nothing from elsewhere.",
      "이 컴퓨터에 저장된 자료로 larder가 만들었습니다. 이 페이지는 외부에서 아무것도 불러오지 않습니다."
    )
    back = say("Previous", "이전")
    next = say("Next", "다음")
    close = say("Close", "닫기")
    changes = say("What changed", "달라진 점")
    problems = say("What needs attention", "확인할 점")
    noProblems = say(
      "Nothing failed and nothing was skipped.",
      "실패하거나 건너뛴 것이 없습니다."
    )
    advice = say("What to do:", "할 일:")
    runs = say("Runs over time", "실행 기록")
    days = say("Days with a good run", "정상 실행된 날")
    goodDay = say("a complete run", "온전한 실행")
    partDay = say("only partial runs", "일부만 된 실행")
    badDay = say("failed runs only", "실패한 실행만")
    noDay = say("no run", "실행 없음")
    run = say("Run", "실행")
    began = say("Began", "시작")
    outcome = say("Outcome", "결과")
    duration = say("Took", "걸린 시간")
    received = say("Received", "받은 크기")
    requests = say("Requests", "요청")
    failures = say("Failures", "실패")
    sizes = say("Size by section", "섹션별 크기")
    section = say("Section", "섹션")
    items = say("Items", "상품")
    picturesHeld = say("Pictures held", "저장된 사진")
    size = say("Size", "크기")
    share = say("Share", "비율")
    shared = say(
      "A picture that several sections show counts in each, and once in the sum.",
      "여러 섹션에 나오는 사진은 섹션마다 세고, 합계에는 한 번만 셉니다."
    )
  }
}

extension PageLanguage {
  /// How a run ended, in a word.
  func outcome(_ outcome: String?) -> String {
    switch outcome {
    case "complete": of("complete", "완료")
    case "partial": of("partial", "일부 완료")
    case "withheld": of("withheld", "보류")
    case "failed": of("failed", "실패")
    case "interrupted": of("interrupted", "중단")
    default: of("not ended", "끝나지 않음")
    }
  }

  /// A field of an item.
  func field(_ name: String) -> String {
    switch name {
    case "section": of("section", "섹션")
    case "title": of("title", "제목")
    case "description": of("description", "설명")
    case "badges": of("badges", "배지")
    case "deliveryTypes": of("delivery", "배송")
    case "normalPrice": of("normal price", "정가")
    case "salePrice": of("sale price", "판매가")
    case "thumbnail": of("picture", "사진")
    case "images": of("pictures", "사진들")
    default: name
    }
  }

  /// What a picture is for.
  func role(_ role: String) -> String {
    switch role {
    case "thumbnail": of("In the list", "목록 사진")
    case "top": of("On top", "대표 사진")
    case "gallery": of("Gallery", "갤러리")
    default: of("Description", "상세 설명")
    }
  }
}
