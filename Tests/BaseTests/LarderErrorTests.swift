import Base
import Glibc
import Testing

struct LarderErrorTests {
  @Test func `an error is printed as its sentence, with the remedy behind a semicolon`() {
    let bare = LarderError(.damaged, "cannot read x: it is damaged")
    let helped = LarderError(.damaged, "cannot read x: it is damaged", remedy: .sync)

    #expect("\(bare)" == "cannot read x: it is damaged")
    #expect("\(helped)" == "cannot read x: it is damaged; sync first")
  }

  @Test func `a remedy is named for what the system refuses, but not for a full disk`() {
    let refused = LarderError.system("write", "x", errno: EACCES, remedy: .writableFile)
    let full = LarderError.system("write", "x", errno: ENOSPC, remedy: .writableFile)

    #expect(refused.code == .disk && refused.errno == EACCES && refused.thing == "x")
    #expect(
      "\(refused)" == "cannot write x: permission denied; choose a file you may write"
    )
    #expect(full.code == .diskFull && full.remedy == nil)
    #expect("\(full)" == "cannot write x: no space left; free some and run again")
  }

  @Test func `codes of two classes are two, though scripts see one word`() {
    #expect(LarderError.Code.damaged != .damagedPicture)
    #expect(LarderError.Code.damaged.rawValue == LarderError.Code.damagedPicture.rawValue)
    #expect(LarderError.Code.damaged.kind == .io && LarderError.Code.damagedPicture.kind == .data)
  }
}
