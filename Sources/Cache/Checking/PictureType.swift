import Imaging

/// What a file's first bytes say it is, whatever its name or the origin says.
package typealias PictureType = PictureFormat
