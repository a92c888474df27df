import Testing

@testable import LarderCommands

/// The command line of a measurement, as its report shows it.
@Suite struct ShownCommandTests {
  @Test(arguments: [
    (["bench", "shop.yaml", "--parallel", "1,4"], "larder bench shop.yaml --parallel 1,4"),
    (["bench", "a b.txt", ""], "larder bench 'a b.txt' ''"),
    (["bench", "it's.txt"], #"larder bench 'it'\''s.txt'"#),
    (["bench", "https://a.example/p.jpg"], "larder bench https://a.example/p.jpg"),
    (["--proxy", "http://u:p@ss@h:1"], "larder --proxy 'http://***@h:1'"),
    (["--proxy=http://u:p@h:1/?k"], "larder '--proxy=http://***@h:1/?***'"),
    (["https://a.example/p?sig=1&x=2#f"], "larder 'https://a.example/p?***'"),
    (["https://a.example/a@b"], "larder https://a.example/a@b"),
    (["a;b"], "larder 'a;b'"),
  ])
  func `a command is shown in shell syntax, without the secrets of its URLs`(
    _ arguments: [String],
    _ shown: String
  ) {
    #expect(ShownCommand(["/usr/bin/larder"] + arguments).description == shown)
  }
}
