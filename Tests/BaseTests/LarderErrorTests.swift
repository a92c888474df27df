import Base
import Glibc
import Testing

struct LarderErrorTests {
  @Test func `an error prints its sentence, then a semicolon and the remedy`() {
    let bare = LarderError(.damaged, "cannot read x: it is damaged")
    let helped = LarderError(.damaged, "cannot read x: it is damaged", remedy: .sync)

    #expect("\(bare)" == "cannot read x: it is damaged")
    #expect("\(helped)" == "cannot read x: it is damaged; sync first")
  }

  @Test func `a permission error has a remedy, but a full disk has none`() {
    let refused = LarderError.system("write", "x", errno: EACCES, remedy: .writableFile)
    let full = LarderError.system("write", "x", errno: ENOSPC, remedy: .writableFile)

    #expect(refused.code == .disk && refused.errno == EACCES && refused.thing == "x")
    #expect(
      "\(refused)" == "cannot write x: permission denied; choose a file that you can write to"
    )
    #expect(full.code == .diskFull && full.remedy == nil)
    #expect("\(full)" == "cannot write x: no space left; free some and run again")
  }

  @Test func `two codes can share a raw value and still be different`() {
    #expect(LarderError.Code.damaged != .damagedPicture)
    #expect(LarderError.Code.damaged.rawValue == LarderError.Code.damagedPicture.rawValue)
    #expect(LarderError.Code.damaged.kind == .io && LarderError.Code.damagedPicture.kind == .data)
  }
}
