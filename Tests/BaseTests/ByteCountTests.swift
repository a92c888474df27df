import Base
import Testing

struct ByteCountTests {
  @Test(arguments: [
    (0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567"), (-1000, "−1,000"),
  ])
  func `thousands are grouped by a separator`(_ count: Int, _ text: String) {
    #expect(count.grouped == text)
  }

  @Test(
    arguments: [
      (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (102_348, "99.9 KiB"), (102_399, "100 KiB"),
      (1_048_063, "1023 KiB"), (1_048_535, "1.0 MiB"), (1_048_576, "1.0 MiB"),
      (1_073_700_000, "1.0 GiB"),
    ] as [(Int64, String)]
  )
  func `the unit of a size is chosen after rounding`(_ bytes: Int64, _ text: String) {
    #expect(ByteCount(bytes).formatted() == text)
  }
}
