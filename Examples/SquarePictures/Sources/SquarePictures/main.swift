import Imaging
import SystemPackage

// Crops every given picture, and every picture in a given folder, to an upright square.
//
//     SquarePictures OUT SIDE PICTURE|FOLDER…

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count >= 3, let folder = arguments.first,
  let side = Int(arguments.dropFirst().first ?? "")
else {
  fatalError("usage: SquarePictures OUT SIDE PICTURE|FOLDER…")
}
let batch = try PictureBatch(arguments.dropFirst(2).map { FilePath($0) }, into: FilePath(folder))
for result in try batch.run(Crop(size: side)) {
  print(result.input, "→", result.output ?? "none", result.error?.description ?? "")
}
