import Cache
import Catalog
import Pipeline

extension ShownItem {
  /// The item as a terminal may show it: every text from elsewhere on one line.
  var plain: ShownItem {
    var shown = self
    shown.item.id = PlainText.line(item.id)
    shown.item.title = PlainText.line(item.title)
    shown.item.description = item.description.map(PlainText.line)
    shown.item.badges = item.badges.map(PlainText.line)
    shown.item.deliveryTypes = item.deliveryTypes.map(PlainText.line)
    shown.item.address = item.address.map(PlainText.line)
    shown.sections = sections.map(PlainText.line)
    shown.images = images.map { image in
      var image = image
      image.url = PlainText.line(image.url)
      return image
    }
    return shown
  }
}

extension RunSection {
  /// The section as a terminal may show it.
  var plain: RunSection {
    var section = self
    section.key = PlainText.line(key)
    section.title = PlainText.line(title)
    section.subtitle = subtitle.map(PlainText.line)
    return section
  }
}
