/// The meanings of names in a shop's JSON, such as `preis` for a price and `thumb` for a picture.
///
/// `larder catalog init` finds the fields of an item by these meanings, together with the values (``FieldScore``).
enum FieldRules {
  /// A field of an item that can be recognized.
  enum Field: String {
    case id, title, description, badges, deliveryTypes, normalPrice, salePrice
    case latitude, longitude, address, thumbnail, gallery
  }

  /// The known names.
  ///
  /// Each row has four cells: a meaning, a confidence from 0 to 1, the names with this meaning, and the reason. The
  /// meaning is a ``Field`` or an auxiliary meaning such as `former`. Names are written as by ``NameWords/plain(_:)``:
  /// in lower case, with spaces between words. Currencies, endings and values are in lower case, but otherwise as shops
  /// write them. A name of a field must match as a whole, and so must a name of paging.
  /// For the other auxiliary meanings, one matching word is enough.
  private static let table = """
    id            | 1    | id | one thing has it alone
    id            | 0.95 | product id, item id, object id, goods id, record id, uid, uuid, guid, detail hash, asin, goods no, 상품번호, 상품코드, 商品番号, 商品コード | a shop's own number of a product
    id            | 0.85 | sku, hash, code, article number, product code, item no, item number, product number, artikelnummer, gtin, ean, isbn, 번호, 品番, 编号, артикул, 货号 | the trade's number of a product
    id            | 0.75 | handle, slug, key, reference, referencia, ref, codigo, código, part number | tells things apart in addresses
    title         | 1    | name, product name, productname, product title, item name, goods name, 상품명, 메뉴명, 商品名, produktname | says itself what it names
    title         | 0.99 | title, titel, titulo, título, titre, titolo, libelle, libellé, nimike, nombre, nom, nome, nazwa, naam, nimi, namn, navn, nume, denumire, titlu, bezeichnung, название, наименование, 이름, 제목, 名称, 名前, 标题, naziv, ime, nama, adı, adi, kitap adi, ürün adı, urun adi, název, nazev, tên, ten, 建物名, 物件名, pavadinimas, prekė, preke, nev, név, nimetus, nomi, nosaukums, nazov, názov, naslov, назва, назив, атауы, τίτλος, όνομα, الاسم, اسم, العنوان, نام, عنوان, שם, ชื่อ, नाम, isim, başlık, baslik, tytul, tytuł, emri, heiti, 书名, 品名, 产品名称, 商品标题, 商品名称, tieu de, ten sp, tensp, ten san pham, име, імя, nama produk, nama barang, ชื่อสินค้า, tuotenimi, termeknev, terméknév, produktnavn, produktnamn, nazwa produktu, nazev produktu, název produktu | next to a name it may be an epithet
    title         | 0.9  | display name, heading, headline, cím, cim | the same for people, or an address too
    title         | 0.7  | label, subject | may be another thing's
    title         | 0.5  | alt, caption | says what is in a picture
    thing         | 1    | product, produkt, produit, producto, produto, prodotto, artikel, articulo, artículo, artigo, articolo, товар, продукт, model, modell, modelo, modele, modèle, modello, модель, urun, ürün, tuote, termek, termék, produs, produk, barang, 商品, 상품, toode, tovar, izdelek, proizvod, prece, vara, voiture, coche, carro, mashina | the name of a thing, or its number
    description   | 1    | description, product description, beschreibung, descripcion, descripción, descrizione, descrição, opis, deskripsi, açıklama, aciklama, 상품설명, описание, опис, leiras, leírás, kirjeldus, popis, apraksts, aprasymas, aprašymas, kuvaus, beskrivelse, beskrivning, omschrijving, descriere, mota, mo ta, mô tả, περιγραφή, توضیحات, الوصف, תיאור, รายละเอียด, tavsif | prose of the item
    description   | 0.9  | short description, body html, desc, description html, 설명, 상세설명, 説明, 描述 | a part or a form of it
    description   | 0.8  | summary, blurb, long description, excerpt | shorter or longer
    description   | 0.65 | text, body, content, details, plain text, about, subtitle | often something else
    badges        | 1    | badge, badges | marks on the item
    badges        | 0.8  | tags, labels, ribbons | marks, or words to search by
    badges        | 0.5  | flags, category, categories | where it belongs
    deliveryTypes | 1    | delivery type, delivery types | how it comes
    deliveryTypes | 0.8  | delivery, shipping information, shipping methods, delivery methods, shipping | how it comes, or what that costs
    latitude      | 1    | latitude, lat, 위도, geo lat | degrees north
    latitude      | 0.7  | mapy | degrees north, perhaps in another grid
    longitude     | 1    | longitude, lng, lon, 경도, geo lon, geo lng | degrees east
    longitude     | 0.7  | mapx, long | degrees east, perhaps in another grid
    address       | 1    | address, full address, formatted address, road address, street address, address name, 주소, addr, addr1, 도로명주소, adresse, direccion, dirección, indirizzo, 住所, 地址 | where it is
    address       | 0.8  | address line, address1, street | a part of it
    thumbnail     | 1    | thumbnail, thumb, thumbnail url, thumb url, 썸네일 | stands for the item
    thumbnail     | 0.95 | main image, default image, primary image, featured image, image link, 대표이미지 | the first of its pictures
    thumbnail     | 0.92 | image, image url, img, img url, picture, photo, cover, poster, small image, 이미지, gambar, slika, resim, capa, rasm, rasmi, pilt, kep, kép, hinh anh, hinh, anh, ảnh, billede, bilde, nuotrauka, attels, poza, imagine, تصویر, عکس, صورة, εικόνα, תמונה, зображення, снимка, obrazek, obrázek, görsel, gorsel, รูปภาพ, รูป, चित्र, foto, bild, kuva, afbeelding, zdjecie, zdjęcie, imagen, imagem, immagine, фото, 画像, 图片, 圖片, 사진 | a picture of it
    gallery       | 1    | images, gallery, pictures, photos, image urls, all images | its pictures
    gallery       | 0.95 | additional images, additional image urls, additional image link, media, thumb images | further pictures
    gallery       | 0.8  | image, img, picture, photo | pictures, of whatever number
    price         | 0.97 | final, current, selling, calculated, 판매가, 판매가격, 販売価格, 售价 | what is paid in the end
    price         | 0.95 | price, prices, prc, preis, precio, prix, prezzo, preco, preço, cena, prijs, pris, fiyat, ціна, τιμή, ราคา, harga, pret, preț, preţ, pricing, سعر, السعر, fiyati, fiyatı, hinta, bid, fare, 가격, 価格, 价格, цена, gia, giá, מחיר, vk, cijena, 家賃, 賃料, kaina, ár, стоимость, вартість, narx, narxi, hind, verð, cmimi, çmimi, qiymet, qiymət, бағасы, баға, ფასი, գին, قیمت, कीमत, মূল্য, presyo, preu, prezo, 價格, 售價 | a price's name
    price         | 0.9  | ar | a price's name in one language, and a language
    price         | 0.65 | unit, base, net, netto, offers, standard, reference, market, suggested | a price in some sense
    reduced       | 1    | sale, special, discount, discounted, offer, promo, promotion, promotional, deal, aktions, angebots, sonder, aanbiedings, scontato, rebajado, promocyjna, oferta, preco por, preço por, 할인가, акция, specials, promocional, redus, الخصم, خصم, מבצע | only reduced items have it
    former        | 1    | mrp, normal, regular, list, original, org, orig, compare, old, was, before, former, previous, msrp, rrp, uvp, retail, market, strike, full, n, anterior, consumer, advies, streich, listen, listino, barre, barré, regularna, ordinarie, normaali, liste, goc, gốc, puvodni, původní, القديم, preco de, preço de, старая, 市场价, 정가, 정상가, 소비자가, 定価, 原价, reg, initial, strikethrough, reference, suggested, recommended, oude, vorige, undiscounted, unreduced, vechi, antigo, antiga, antiguo, antigua, ancien, ancienne, avant, antes, eski, przed, før, foer, tidligere, tidigare, vanha, régi, стара, 表示価格, 划线价, 原價 | the price that was
    cost          | 1    | cost, costs, costo, custo, coste, koszt, kosten, kostnad | what an item costs the shop, or its customers
    never         | 1    | cost, costs, costo, custo, coste, koszt, kosten, achat, compra, acquisto, achizitie, achiziție, einkaufs, inkoop, inkops, inköps, osto, alis, alış, nhap, nhập, ek, last sale, price id, закупочная, 进价, 成本, 仕入, 원가, ทุน, average, avg, trade, commission, parcelas, cuotas, raten, purchase, wholesale, dealer, supplier, shipping, delivery, member, members, deposit, installment, installments, coupon, tax, taxes, vat, fee, fees, saving, savings, saved, save, point, points, reward, rewards, credit, bonus, per, tip, tips, weight, percent, percentage, rate, count, max, maximum, high, highest, to, nanos, 배송비, 적립금, 포인트, 送料, level, levels, tier, tiers, employee, staff, supply, buying, bulk, premium, vendor price, trend, median, price group, التكلفة, تكلفة, עלות, club, loyalty, vip, b2b, subscription, comparison, uom, закупки, закупка, закупівельна, difference, change, diff, tac gia, tác giả, ma tac gia, mã tác giả, quoc gia, quốc gia, danh gia, đánh giá, tham gia, gia dinh, gia đình | other money, or none
    amount        | 1    | amount, value, raw, cents, cent, minor, min, from, low, minimum, lowest, gross, units, start, decimal, number, total, money, range, variant, v2, set, in, shop, presentment, gross, brutto, ttc, formatted, numeral, float, default, string, pretty, sp | a number that is called by what stands before it
    measure       | 1    | rating, ratings, score, stars, average, width, height, depth, length, size, ratio, volume, distance, radius, age, year, annee, année, año, ano, anno, jahr, rok, rik, год, рік, 年份, quantity, qty, stock, version, vintage, speed, duration, temperature, mileage, calories, kcal, latitude, longitude, lat, lng, lon | a number that is no money
    person        | 1    | author, artist, user, owner, seller, vendor, maker, photographer, creator, contributor, writer, director, publisher, customer, reviewer, agent, broker, host, contact, staff, chef, speaker, instructor, teacher, person, people, first, last, anfitrião, anfitriao, anfitrión, anfitrion, hôte, hote, gastgeber, vermieter, verkäufer, verkaeufer, vendedor, vendeur, venditore, verkoper, säljare, sprzedawca, satıcı, satici, autor, auteur, autore, artista, artiste, usuario, usuário, utilisateur, utente, benutzer, nutzer, gebruiker, użytkownik, propietario, proprietário, proprietario, propriétaire, proprietaire, eigentümer, besitzer, eigenaar, makler, agente, продавец, автор, хозяин, владелец, пользователь, агент, 판매자, 작성자, 호스트, 著者, 出品者, 作者, 卖家, 房东 | a person is no title
    epithet       | 1    | latin, latein, lateinisch, lateinischer, latino, latina, scientific, scientifique, scientifico, científico, cientifico, wissenschaftlich, wissenschaftlicher, botanical, botanic, botanisch, botanischer, botanique, botánico, botanico, binomial, taxon, латинское, научное, 学名, 학명 | a name that few customers know
    other         | 1    | brand, shop, store, manufacturer, reviews, review, category, categories, related, recommendations, merchant, supplier, flags, badges, badge, company, collection, collections, categoria, categorias, categoría, categorías, categorie, catégorie, catégories, kategorie, kategorien, kategoria, kategorija, kategorije, kategori, kategoriler, категория, категории, категорії | what the item only speaks of
    other         | 0.9  | logo, avatar, icons, qr | a mark
    mark          | 1    | logo, avatar, icons, qr, swatch, map, flag, prefix, suffix, host, domain | no picture of the item, or a part of an address
    wrapper       | 1    | node, product, item, attributes, fields, properties, data, info, source, current, details, content | holds the item itself
    pageLink      | 1    | url, link, links, href, uri, permalink | the page about the item
    whereabouts   | 1    | location, locations, venue, status | what an item speaks of when it says where or how it is
    contact       | 1    | phone, telephone, telefon, tel, mobile, fax, postal, postcode, zip, plz, street, house, haus | a part of an address, or how to reach somebody
    counter       | 1    | index, position, rank, row, order, seq, sequence, cursor, version, revision | says which in the list, or which edition
    tally         | 1    | raters, votes, likes, views, sold, downloads, favorites, favourites, followers, comments, clicks, bought, of, 수, 件数 | a number that changes from day to day
    group         | 1    | group, parent, family | says to what the thing belongs
    engines       | 1    | seo, meta, og | written for search engines
    picture       | 1    | image, images, img, imgs, picture, pictures, pict, pic, pics, photo, photos, thumb, thumbnail, thumbs, thumbnails, media, gallery, cover, poster, hero, icon, capa, foto, fotos, bild, bilder, imagen, imagenes, imágenes, imagem, imagens, immagine, immagini, afbeelding, afbeeldingen, zdjecie, zdjecia, zdjęcie, zdjęcia, obrázek, kuva, kuvat, 이미지, 사진, 썸네일, 画像, 写真, 图片, 图像, 圖片, фото, изображение, gambar, slika, slike, resim, resimler, rasm, rasmi, pilt, pildid, kep, kép, képek, hinh, ảnh, billede, billeder, bilde, nuotrauka, attels, poza, poze, imagine, imagini, تصویر, عکس, صورة, εικόνα, תמונה, зображення, снимка, снимки, obrazek, obrazky, obrázky, görsel, gorsel, รูปภาพ, รูป, चित्र | pictures
    link          | 1    | src, url, href, uri, link, original, large, file, path, small, medium, full, big, xl, lg, md, sm, xs, high, low, preview, regular, square, source, filename, raw, web, mobile, desktop, main, default, standard, normal | one of the forms of a picture
    largest       | 1    | original, o, large, detail, largest, full, xl, xxl, xlarge, lg, big, high, l, hd, zoom, fullsize, raw, max, hires, print, haupt, groß, gross, grosse, große, grande, grand, groot, stor, duze, duży, 상세 | its largest form
    idWord        | 1    | id, identifier, uuid, sku, code, key, no, nr, num, number, nummer, numero, número, kod, cod, codigo, código | begins or ends the name of an id, as in id_producto and objectNumber
    priceWord     | 1    | final, current, selling, calculated, unit, base, net, netto | means a price only beside a word such as price
    partly        | 1    | net, netto, ht, bez, excl, ex, excluding, without, unit, grund, total, excluded | a price without tax, or per unit
    untaxed       | 1    | net, netto, ht, bez, excl, ex, excluding, excluded, without | the price without tax
    lowest        | 1    | min, minimum, minimal, low, lowest, start, starting, from | the end of a range, or the limit of a price
    inside        | 1    | variants, variations, options, skus, reviews, images, media, categories, tags, attributes, facets, filters, related, recommendations, recommended, popular, trending, suggestions, banners, links, brands | a list that is usually a part of an item
    beside        | 1    | users, usuarios, utilisateurs, benutzer, customers, clients, clientes, kunden, orders, pedidos, commandes, ordini, bestellungen, cart, carts, basket, carrito, panier, warenkorb, wishlist, favorites, comments, comentarios, testimonials, testimonios, temoignages, témoignages, depoimentos, shipping, delivery, payment, payments, coupon, coupons, cupones, banners, slides, slider, posts, blog, news, team, staff, employees, faq, faqs | a list that a shop has beside its items
    ordinal       | 1    | main, default, primary, first, second, third, other, additional, extra | which of the pictures of an item it is
    listHolder    | 1    | edges, nodes, node | a member that only holds a list or an element of it
    aside         | 1    | filters, facets, facet, aggregations, breadcrumbs | the choices that a shop offers around its items
    variant       | 1    | variants, variations, options, skus, colors, colours, colorways, models | the forms of an item, whose pictures are its own
    baseURL       | 1    | base, base url, base uri, base path | the beginning of a URL
    source        | 1    | source, original, orig, org, raw, o | the largest form as it was sent to the shop
    whole         | 1    | full, fullsize, max | larger than large
    huge          | 1    | extra, xl, xxl, xlarge, hd, zoom, hires, print, largest | larger than large
    middle        | 1    | medium, middle, med, md, mid | smaller than usual
    width         | 1    | width, w, image width, pixel width | how wide the picture beside it is
    backdrop      | 1    | header, banner, background, backdrop, hero, alt, hover, back | a picture for an item that has no other
    webPage       | 1    | page, pages | a page about the item or its picture
    webLink       | 1    | detail, details, link, links, href, web | a page, unless a name says that it is a picture
    digits        | 1    | currency minor unit, minor unit, minor units, exponent, fraction digits, precision, scale, decimals | how many decimals the number beside it has
    divisor       | 1    | divisor, divide by, denominator | the number by which the price beside it has to be divided
    rate          | 1    | rate, exchange rate, kurs, курс | what one unit of a currency costs in another
    nanos         | 1    | nanos | the billionths of the price beside it
    unitName      | 1    | unit, units, scale, format | the name of the unit of the price beside it
    cents         | 1    | cents, cent, minor, pence, subunits, money, fen, centavos, centimes, centimos, céntimos, grosze, groszy, paise, kopecks, øre | the number is in minor units
    currency      | 1    | currency, currency code, currency id, currencycode, price currency, currency iso, iso currency, moneda, devise, währung, waehrung, valuta, moeda, 通貨, 货币, curr, ccy, 통화, cur, العملة | a currency's name
    language      | 1    | ar, bg, cs, da, de, el, en, es, et, fi, fr, he, hi, hr, hu, id, it, ja, ko, kr, lt, lv, ms, nb, nl, no, pl, pt, ro, ru, sk, sl, sr, sv, th, tr, uk, vi, zh | the text in this language
    form          | 1    | rendered, html, plain, default, #text, _text, $t | says how the value before it is written
    textForm      | 1    | value, text, data, _, #cdata-section, displayvalue | the text itself, after the name of a text
    more          | 1    | has more, has next, has next page, more | true if there is a next page
    next          | 1    | next, next page, next url, next link, next page url, next href, more url | where the next page is
    cursor        | 1    | cursor, next cursor, end cursor, next page token, continuation token, after, next token, continuation, cursor next, next after, page token, next cursor token | the place where the next page begins
    nextCursor    | 1    | next cursor, next page token, next token, next cursor token, continuation token | a cursor that says by its name that there are more pages
    stated        | 1    | total, total count, total results, total items, total elements, count | the total that a sync expects
    total         | 1    | total elements, total records, total products, num found, nb hits, total results | how many items there are on all pages
    noTotal       | 1    | page, pages, id, ids, code, status, statuscode, limit, size, per, perpage, pagesize, offset, skip, start, from, end, to, rows, requested, returned, time, timestamp, took, ms, duration, elapsed, date, year, version, price, prices, amount, rate, width, height, category, max, min, ttl, expires, radius, distance, seed, port, lat, lng, weight, query, cursor, next, token, bytes, length | a number around the list that does not count all items
    pages         | 1    | total pages, last page, pages, page count, num pages, max page, nb pages, number of pages | how many pages there are
    page          | 1    | page, current page, page number, page index, number, page no, pageno | which page this is
    offset        | 1    | skip, offset, start | how many items are before this page
    pageSize      | 1    | limit, per page, page size, pagesize | how many items a page has
    postedPage    | 1    | page, p, page no, pageno, page number, page num, page index, current page | which page a request asks for
    postedOffset  | 1    | offset, skip, from, start | how many items a request skips
    prose         | 1    | section, sections, detail, details, desc, description, content, body | pictures within a long description
    secret        | 1    | key, token, secret, password, signature, apikey, auth | a secret in the query of a URL
    nothing       | 1    | n/a, na, none, null, nil, -, no_selection, undefined, false, no image | stands where an item has no picture
    pictureBase   | 1    | cdn, asset, assets, static, prefix, host, domain | the beginning of the URLs of pictures
    pictureFile   | 1    | jpg, jpeg, png, gif, webp, avif, svg, bmp, tif, tiff, jfif, jpe, heic, ico | the ending of a picture's file
    otherFile     | 1    | html, htm, php, asp, aspx, jsp, mp4, m4v, webm, mov, m3u8, mp3, m4a, ogg, wav, pdf, zip, vtt, glb, gltf, usdz, json, xml, txt, csv | the ending of a page, a video or another file
    largeAmounts  | 1    | amd, aoa, ars, bdt, cop, crc, dop, dzd, egp, etb, huf, idr, inr, jmd, kes, kzt, lbp, lkr, mmk, mnt, mwk, ngn, npr, php, pkr, rsd, rub, thb, try, twd, tzs, uyu, uzs, yer, zmw | a currency with two decimals, although everyday prices have four digits or more before the decimal point
    smallest      | 1    | thumb, thumbnail, thumbs, thumbnails, small, sm, s, xs, sq, tiny, mini, icon, preview, low, klein, kleine, vorschau, piccola, piccolo, pequena, pequeña, petite, petit, vignette, miniatura, miniature, anteprima, liten, 목록 | its smallest form
    """

  /// The confidences of the table, first by meaning and then by name.
  private static let known: [String: [String: Double]] = {
    var known: [String: [String: Double]] = [:]
    for line in table.split(separator: "\n") {
      let cells = line.split(separator: "|").map(\.trimmed)
      for name in cells[2].split(separator: ",") {
        known[cells[0], default: [:]][name.trimmed] = Double(cells[1])
      }
    }
    return known
  }()

  /// The confidence that a whole name has a meaning, or 0 if the table does not have the name.
  static func confidence(_ meaning: String, _ name: String) -> Double {
    known[meaning]?[name] ?? 0
  }

  /// All names with a meaning.
  static func names(of meaning: String) -> some Sequence<String> { (known[meaning] ?? [:]).keys }

  /// Whether the table has a whole name, in the form of ``NameWords/plain(_:)``, with a meaning.
  static func isNamed(_ meaning: String, _ name: String) -> Bool { known[meaning]?[name] != nil }

  /// Whether a name, or one of its words, has one of the meanings.
  static func has(_ meanings: String..., in name: String) -> Bool {
    meanings.contains { meaning in
      let names = known[meaning] ?? [:]
      return names[name] != nil
        || name.split(separator: " ").contains { word in
          // A number at the end is ignored: `img1` means the same as `img`.
          names[String(word)] != nil
            || word.lastIndex { !$0.isNumber }.map { names[String(word[...$0])] != nil } ?? false
        }
    }
  }

  /// Whether a name means a title or a description.
  ///
  /// A shop can write these in several languages.
  static func isText(_ name: String) -> Bool {
    let plain = NameWords.plain(name)
    return isNamed("title", plain) || isNamed("description", plain)
  }

  static func isID(_ name: String) -> Bool {
    let plain = NameWords.plain(name)
    return isNamed("id", plain)
      || ["id", "uuid", "sku"].contains(plain.split(separator: " ").last)
  }

  /// Whether a name in the form of ``NameWords/plain(_:)`` means something that an item only speaks of, or several persons.
  static func isOfOthers(_ name: String) -> Bool {
    has("other", "person", in: name)
      || name.hasSuffix("s") && has("person", in: String(name.dropLast()))
  }

  static func isPicture(_ name: String) -> Bool { has("picture", in: NameWords.plain(name)) }

  /// Whether a name says how large a picture is, such as `large` or `MediumSmall`.
  static func isPictureSize(_ name: String) -> Bool {
    has("smallest", "middle", "largest", in: NameWords.plain(name))
  }

  /// The assumed width of a picture, in pixels, if neither the name of its field nor its URL says more.
  static let usualSize = 400
  /// The assumed width of a picture whose name is such as `medium`.
  static let mediumSize = 300
  /// The least size of pictures whose name is such as `large`; it is above all widths.
  static let largeSize = 10_000

  /// The size of the pictures in a field with the given name, only to be compared with the sizes of other fields.
  ///
  /// For example, 640 for `image_640`, 0 for `thumb`, ``largeSize`` for `large`, and more for `original`.
  static func pictureSize(_ name: String) -> Int {
    let plain = NameWords.plain(name)
    let isLargest =
      has("largest", in: plain) || ["full", "large", "orig"].contains(where: plain.contains)
    if isLargest {
      if has("source", in: plain) || plain.contains("orig") { return 4 * largeSize }
      if has("whole", in: plain) || plain.contains("full") { return 3 * largeSize }
      return has("huge", in: plain) ? 2 * largeSize : largeSize
    }
    let pixels = name.split { !$0.isWholeNumber }.compactMap { Int($0) }.max() ?? 0
    if pixels >= 16 { return pixels }
    return has("smallest", in: plain) ? 0 : has("middle", in: plain) ? mediumSize : usualSize
  }
}

/// A kind of price that the name of a field can mean.
enum PriceMeaning {
  /// The usual price to pay, such as `price`.
  case asked
  /// A reduced price, such as `sale_price`. If an item has a reduced price, that is the price to pay.
  case reduced
  /// The price before a reduction, such as `old_price`.
  case former

  /// The kind of price that the names on a path mean, with a confidence from 0 to 1.
  ///
  /// A name such as `price` makes a price. Names that only mean an amount can follow it, as in `{"price": {"amount":
  /// 7}}` and `{"price": {"EUR": 7}}`.
  ///
  /// - Returns: Nil if the names do not mean a price of the item.
  static func of(_ place: FieldPlace) -> (meaning: PriceMeaning, confidence: Double)? {
    guard !FieldRules.isID(place.name) else { return nil }
    // A price can be called `price_with_tax`, but `tax` alone is not a price.
    var isNet = false
    var isLowest = false
    let path = place.names.map { name in
      let plain = plain(name)
      guard isPrice(plain) else { return plain }
      let words = plain.split(separator: " ")
      isLowest = isLowest || words.contains { FieldRules.isNamed("lowest", String($0)) }
      isNet = isNet || words.contains { FieldRules.isNamed("partly", String($0)) }
      return words.filter { !["tax", "taxes", "vat"].contains($0) }.joined(separator: " ")
    }
    guard !path.contains(where: { FieldRules.has("never", in: $0) }),
      let named = path.lastIndex(where: isPrice)
    else { return nil }
    let tail = path[(named + 1)...]
    let isMoney = tail.allSatisfy { name in
      Currency.codes.contains(name.uppercased())
        || name.split(separator: " ").allSatisfy { word in
          ["amount", "price", "former", "reduced"].contains {
            FieldRules.isNamed($0, String(word))
          }
        }
    }
    guard isMoney else { return nil }
    // The enclosing object counts too: in `{"compareAtPrice": {"minPrice": 7}}`, its name means the former price.
    let words = path[max(0, named - 1)...].joined(separator: " ")
    // A price without tax or per kilogram gets a low confidence, so that any other price of the item precedes it. The
    // same is true of the lowest price of a range, because it can also be a limit for sellers.
    isNet =
      isNet || path.contains { FieldRules.isNamed("partly", $0) }
      || tail.contains { FieldRules.has("untaxed", in: $0) }
    let confidence = min(Self.confidence(of: path[named]), isNet ? 0.65 : isLowest ? 0.8 : 1)
    if FieldRules.has("former", in: words) { return (.former, confidence) }
    return (FieldRules.has("reduced", in: words) ? .reduced : .asked, confidence)
  }

  /// A name as by ``NameWords/plain(_:)``, in which a group of words with a meaning of its own is one word.
  static func plain(_ name: String) -> String {
    phrases.reduce(NameWords.plain(name)) { $0.replacing($1.phrase, with: $1.word) }
  }

  /// For example, a `price_without_rebate` is a price from before the rebate.
  private static let phrases: [(phrase: String, word: String)] = [
    ("maximum retail price", "mrp"), ("compare at", "compare"),
    ("non discounted", "undiscounted"), ("before bonus", "before"), ("daily rate", "price"),
    ("nightly rate", "price"), ("crossed out rate", "was price"), ("crossed out", "was"),
    ("current retail", "current"), ("without rebate", "before"), ("without discount", "before"),
    ("discounted from", "was"), ("saving basis", "list price"), ("gia cu", "was price"),
    ("giá cũ", "was price"),
  ]

  /// Whether a name in the form of ``plain(_:)`` means a price by itself.
  static func isPrice(_ name: String) -> Bool { confidence(of: name) > 0 }

  /// The confidence that a name by itself means a price.
  ///
  /// `sale price` does, because one of its words is `price`. `sale` alone does not.
  private static func confidence(of name: String) -> Double {
    let whole = ["price", "former", "reduced"].first { meaning in
      FieldRules.isNamed(meaning, name)
        && (meaning == "price" || ["mrp", "msrp", "rrp", "uvp", "was"].contains(name)
          || name.contains { !$0.isASCII })
    }
    if let whole {
      return FieldRules.isNamed("priceWord", name)
        ? 0 : min(FieldRules.confidence(whole, name), 0.97)
    }
    let words = name.split(separator: " ").map(String.init)
    let isCalled = words.contains {
      FieldRules.confidence("price", $0) == 0.95 || ["mrp", "msrp", "rrp", "uvp"].contains($0)
    }
    guard isCalled else {
      // Thai, Chinese, Japanese and Korean write compounds without spaces: the word for price is a part of them. The
      // letters of other languages come before those of Thai in Unicode. There, the letters of a price can also be in
      // another word, such as that for calories in Arabic.
      func isCompound(_ meaning: String) -> Bool {
        FieldRules.names(of: meaning).contains { word in
          word.count > 1 && word.unicodeScalars.allSatisfy { $0.value >= 0xE00 }
            && name.contains(word)
        }
      }
      return isCompound("price") && !isCompound("never") ? 0.9 : 0
    }
    return words.map { FieldRules.confidence("price", $0) }.filter { $0 > 0 && $0 != 0.95 }.max()
      ?? 0.95
  }
}

/// The likelihood that a certain path in an item, such as `$.price`, leads to a certain field, such as `salePrice`.
struct FieldScore {
  /// The values at the path.
  var evidence: FieldEvidence
  /// From 0 (certainly not this field) to 1 (certainly this field).
  var confidence: Double

  /// A path with a lower confidence is not proposed at all.
  static let floor = 0.3
  /// A field whose path has a lower confidence is commented out in the proposed file.
  static let sure = 0.7

  var isSure: Bool { confidence >= Self.sure }

  /// Judges from the names on a path and from its values how likely it is that the path leads to the field.
  static func judge(_ field: FieldRules.Field, _ evidence: FieldEvidence) -> FieldScore {
    let score = named(field, evidence) * fit(field, evidence)
    // Among paths that are equally likely, a shorter path precedes, and a path where more items have a value.
    let depth = Double(max(0, evidence.place.steps.count - 1))
    return FieldScore(
      evidence: evidence,
      confidence: score * max(0.94, 1 - 0.01 * depth) * (0.95 + 0.05 * evidence.share)
    )
  }

  /// The paths that possibly lead to the field, the likeliest first.
  ///
  /// Paths with equal scores keep the order that they have in the item.
  static func ranking(_ field: FieldRules.Field, _ all: [FieldEvidence]) -> [FieldScore] {
    all.map { judge(field, $0) }.filter { $0.confidence >= floor }.ranked(by: \.confidence)
  }

  /// The short texts that differ in most of the items; each has the confidence ``floor``.
  ///
  /// If there are none, a text such as `slug` is the title, or else a title that all items share, or else the URL of a
  /// page or a picture, or else an id.
  static func possibleTitles(_ all: [FieldEvidence]) -> [FieldScore] {
    // A number, such as that of the bedrooms of a house, is the title of last resort, and so is a mileage.
    func isNumber(_ evidence: FieldEvidence) -> Bool {
      evidence.share(PriceText.isPrice) >= 0.5
        || FieldRules.has("measure", in: NameWords.plain(evidence.place.name))
    }
    let texts = all.filter { evidence in
      let isOther = evidence.place.names.contains {
        FieldRules.has("other", "person", "mark", "counter", in: NameWords.plain($0))
          || FieldRules.isID($0)
      }
      return fit(.title, evidence) > 0.5 && evidence.variety > 0.5 && !isOther
        && evidence.share { $0.utf8.count <= 200 } == 1
    }
    let slugs = all.filter { evidence in
      let isSlug = ["slug", "handle", "permalink"].contains(NameWords.plain(evidence.place.name))
      return isSlug && evidence.isText && evidence.isOne && evidence.variety > 0.5
        && evidence.share { $0.contains("-") && !PictureText.isLink($0) } > 0.5
    }
    let named = all.filter { evidence in
      let name = NameWords.plain(evidence.place.name)
      return evidence.isText && evidence.isOne
        && ["title", "thing"].contains { FieldRules.isNamed($0, name) }
    }.ranked(by: \.share)
    let shared = named.first.map { !$0.isRefused } == true ? named : []
    let links = all.filter { evidence in
      let isPicture = judge(.thumbnail, evidence).isSure && !evidence.place.isMany
      return (isPicture || IDChoice.isPageLink(evidence)) && evidence.isNearlyUnique
    }
    let short = texts.filter { !isNumber($0) }
    let ids = ranking(.id, all).filter { $0.isSure && $0.evidence.isNearlyUnique }.map(\.evidence)
    let found = [short, slugs, shared, links, ids, texts].first { !$0.isEmpty } ?? []
    return found.map { FieldScore(evidence: $0, confidence: floor) }
  }

  /// The confidence that the names on a path mean the field.
  ///
  /// Ids, titles, prices and pictures with an unknown name are recognized by their values.
  private static func named(_ field: FieldRules.Field, _ evidence: FieldEvidence) -> Double {
    let place = evidence.place
    let path = place.names.map(NameWords.plain)
    let name = path.last ?? ""
    let parents = path.dropLast()
    let isOfOthers = parents.contains(where: FieldRules.isOfOthers)
    let isOfPicture = parents.contains { FieldRules.has("picture", in: $0) }
    let known = FieldRules.confidence(field.rawValue, name)
    switch field {
    case .id, .title:
      // A name inside an object such as `attributes` is the item's own. Inside any other object, it can be the name of
      // that object, for example of a brand. `currentLocation` is no such wrapper, because a location has its own id.
      let isOwn = parents.allSatisfy {
        FieldRules.has("wrapper", in: $0) && !FieldRules.has("whereabouts", in: $0)
      }
      let kin = isOfOthers || isOfPicture ? 0.35 : isOwn ? 1 : evidence.variety == 1 ? 0.65 : 0.4
      let guess = field == .id ? unnamedID : unnamedTitle
      return (known > 0 ? known : guess(evidence, name)) * kin
    case .description:
      if isOfOthers || isOfPicture { return 0.4 * known }
      let isOfElement = place.steps.dropLast().contains {
        $0.isList && !FieldRules.isText($0.name)
      }
      return (known > 0 ? known : unnamedDescription(evidence, name)) * (isOfElement ? 0.85 : 1)
    case .latitude, .longitude, .address: return known
    case .badges, .deliveryTypes:
      guard known == 0, ["name", "title", "label", "text"].contains(name) else { return known }
      return FieldRules.confidence(field.rawValue, parents.last ?? "") * 0.95
    case .salePrice, .normalPrice:
      guard let (meaning, confidence) = PriceMeaning.of(place) else {
        return field == .salePrice ? unnamedPrice(evidence) : 0
      }
      return (meaning == .former) == (field == .normalPrice) ? confidence : 0
    case .thumbnail, .gallery:
      if evidence.isPage { return 0 }
      let isNamed = path.contains { FieldRules.has("picture", in: $0) }
      let isMark = path.contains { FieldRules.has("mark", in: $0) }
      let hasEndings = evidence.share(PictureText.hasEnding) > 0.8
      let isForm = FieldRules.has("link", "picture", in: name)
      let own = max(known, isNamed && isForm ? 0.9 : 0, hasEndings ? 0.8 : 0)
      let isBackdrop = path.contains { name in
        FieldRules.has("backdrop", in: name)
          && (name != path.last || FieldRules.has("picture", in: name))
      }
      let isService =
        FieldRules.isID(place.name)
        || ["href", "self", "link"].contains(name.split(separator: " ").last ?? "")
          && evidence.share(PictureText.isService) > 0.5
      let isTemplate = evidence.share(PictureText.isTemplate) > 0.2
      let likely =
        isOfOthers || isService
        ? 0.35
        : isMark
          // A mark such as an avatar can be the only picture of an item; a suffix is no picture.
          ? FieldRules.has("other", in: name) ? 0.4 : 0.35
          : isTemplate ? 0.5 : isBackdrop || isPortrait(name) ? 0.6 : 1
      return own * likely * (evidence.share(PictureText.isHosted) > 0.8 ? 0.9 : 1)
    }
  }

  /// Whether a picture's name says that it is a picture of a person, as `seller_photo` does.
  ///
  /// The words `first` and `last` only mean a person in names of texts, such as `first_name`.
  private static func isPortrait(_ name: String) -> Bool {
    name.split(separator: " ").contains { word in
      FieldRules.has("person", in: String(word)) && word != "first" && word != "last"
    }
  }

  /// The confidence that a path with an unknown name, such as `imdbID`, leads to the id.
  ///
  /// The values must differ in all items.
  private static func unnamedID(_ evidence: FieldEvidence, _ name: String) -> Double {
    let words = name.split(separator: " ").map(String.init)
    let isOther =
      FieldRules.has("other", "person", "address", "contact", "measure", "tally", in: name)
      || FieldRules.has("never", in: name)
    guard evidence.place.steps.count < 3, evidence.variety >= 0.95, !isOther,
      PriceMeaning.of(evidence.place) == nil,
      evidence.share({ $0.utf8.count <= 80 && !$0.contains(" ") && !PictureText.isLink($0) }) == 1
    else { return 0 }
    let isID = words.count > 1 && [words.first, words.last].contains("id")
    if FieldRules.has("counter", in: name) || evidence.isCount && !isID {
      return evidence.variety == 1 ? 0.35 : 0
    }
    // The name begins or ends with a word such as `id`, as in `id_producto`, `objectNumber` and `itemcode`.
    let isCalled =
      [words.first, words.last].contains { FieldRules.isNamed("idWord", $0 ?? "") }
      || ["code", "sku", "id"].contains(where: name.hasSuffix)
    if isCalled { return FieldRules.has("group", in: name) ? 0.5 : 0.85 }
    if evidence.variety < 1 { return 0 }
    // Words, such as the kinds of three plants, and dates can differ by chance.
    if evidence.share({ !$0.contains(where: \.isNumber) || isDate($0) }) > 0.5 { return floor }
    // A number gets a lower confidence than a text, because it can also be a year or a size.
    return evidence.isText && evidence.share(PriceText.isPrice) < 1 ? 0.5 : 0.4
  }

  /// The confidence that a path with an unknown name, such as `goods_nm`, leads to the title.
  ///
  /// Most of the values should be short texts of several words.
  private static func unnamedTitle(_ evidence: FieldEvidence, _ name: String) -> Double {
    let words = name.split(separator: " ").map(String.init)
    if FieldRules.has("person", "other", in: name) || words.contains("file") { return 0 }
    let isWords = evidence.share { $0.contains(" ") && $0.utf8.count <= 200 } > 0.5
    if isCalledTitle(name), !FieldRules.has("engines", "contact", in: name) {
      let called = FieldRules.isNamed("thing", name) ? 0.75 : 0.85
      return isWords && evidence.variety > 0.8 ? called : 0.5
    }
    // If the items have no better title, their description can serve as the title.
    let isOwn = evidence.variety > 0.8 && evidence.place.steps.count < 3
    return isWords && isOwn ? evidence.share(isSentence) > 0.5 ? 0.35 : 0.45 : 0
  }

  /// Whether a name has a word that means a title, as `goods_nm` and `commonName` have.
  static func isCalledTitle(_ name: String) -> Bool {
    let words = name.split(separator: " ").map(String.init)
    return words.contains { ["nm", "name", "title"].contains($0) }
      || FieldRules.isNamed("thing", name)
      || FieldRules.confidence("title", words.first ?? "") > 0.9
  }

  /// The confidence that a path with an unknown name, such as `flavorText`, leads to the description.
  ///
  /// The values should differ in most of the items and be long sentences.
  private static func unnamedDescription(_ evidence: FieldEvidence, _ name: String) -> Double {
    // A `brand_description`, an `artist_bio` or a `shipping_note` is about something else.
    let isOther = FieldRules.has("other", "person", "picture", "never", in: name)
    guard evidence.isText, evidence.variety > 0.5, evidence.share >= 0.1, !isOther else {
      return 0
    }
    // A text such as "5.98 per kg" in `unitPriceDescription` is a price.
    let isOfPrice = name.split(separator: " ").contains {
      FieldRules.confidence("price", String($0)) == 0.95
    }
    if isOfPrice, evidence.share({ $0.contains(where: \.isWholeNumber) }) > 0.5 { return 0 }
    let isCalled = ["description", "desc", "descr"].contains { name.hasSuffix(" \($0)") }
    if isCalled, evidence.share({ $0.count { $0 == " " } > 1 }) > 0.5 { return 0.85 }
    return evidence.place.steps.count < 4 && evidence.share(isSentence) > 0.7 ? 0.72 : 0
  }

  /// Whether a text has six words or more, and a mark such as a point that ends a sentence.
  private static func isSentence(_ text: String) -> Bool {
    text.utf8.count >= 40 && text.count { $0 == " " } >= 5
      && text.contains { ".!?。！？".contains($0) }
  }

  /// The confidence that a path whose names do not mean a price leads to a price.
  ///
  /// The values must contain a currency, such as `9 €`.
  private static func unnamedPrice(_ evidence: FieldEvidence) -> Double {
    let place = evidence.place
    let path = place.names.map(NameWords.plain)
    let isOther = path.contains {
      FieldRules.has("never", "former", "reduced", "person", "other", in: $0)
    }
    guard place.steps.count <= 3, !place.isMany, !isOther else { return 0 }
    return evidence.isText && evidence.share(PriceText.hasUnit) > 0.8 ? 0.8 : 0
  }

  /// How well the values fit the field, from 0 to 1; names do not count.
  private static func fit(_ field: FieldRules.Field, _ evidence: FieldEvidence) -> Double {
    let place = evidence.place
    let isLinks = evidence.share(PictureText.isLink) > 0.5
    switch field {
    case .id:
      let isShort = evidence.share { $0.utf8.count <= 200 && !$0.contains("\n") } >= 0.95
      // An item can be listed in several sections. Therefore half as many different ids as items are enough.
      return evidence.isOne && isShort && evidence.reals == 0
        ? evidence.share * min(1, evidence.variety * 2) : 0
    case .title:
      // Some of the titles can be numbers, such as that of the book "1984".
      guard evidence.texts * 2 > evidence.values, evidence.isOne, !isLinks, !evidence.isConstant
      else { return 0 }
      let isAmount =
        evidence.share(PriceText.hasUnit) > 0.5
        || evidence.share(PriceText.isPrice) > 0.5
          && (PriceMeaning.of(place) != nil || evidence.share(PriceText.hasDecimals) > 0.5)
      let isOther = isAmount || evidence.share(isDate) > 0.5
      let isToken =
        evidence.share {
          $0.hasPrefix("['")
            || !$0.contains(" ")
              && ($0.contains { "_./:".contains($0) } || isSlug($0) || isCode($0))
        } > 0.8
      return isOther
        ? 0 : evidence.leading * (0.5 + 0.5 * evidence.variety) * (isToken ? 0.6 : 1)
    case .description:
      let isAmount = evidence.share(PriceText.hasUnit) > 0.5
      return evidence.isText && evidence.isOne && !isLinks && !isAmount && !evidence.isConstant
        ? 1 : 0
    case .address: return evidence.isText && evidence.isOne && !isLinks ? 1 : 0
    case .badges, .deliveryTypes:
      return evidence.isText && !isLinks && evidence.share(PriceText.isPrice) < 0.5 ? 1 : 0
    case .normalPrice, .salePrice:
      let isList = place.isMany && !place.entersList && !place.isChosen
      let read = evidence.amountShare
      let isCode = evidence.share(PriceText.isCode) > 0.5
      return isList || isCode || read < 0.8 || evidence.leading == 0 ? 0 : read
    case .latitude, .longitude:
      let bound = field == .latitude ? 90.0 : 180.0
      let isDegrees = evidence.share { Double($0).map { abs($0) <= bound } ?? false } == 1
      // Zero stands where a place is unknown.
      let isKnown = evidence.share { Double($0) == 0 } < 1
      return isDegrees && isKnown && !place.isMany ? 1 : 0
    case .thumbnail:
      return evidence.isText && isPictures(evidence) ? (place.isMany ? 0.9 : 1) : 0
    case .gallery:
      let isMany =
        place.isMany || evidence.hasTextLists
        ? isPictures(evidence) : PictureText.separator(of: evidence) != nil
      return evidence.isText && isMany ? 1 : 0
    }
  }

  /// Whether a text is a part of a URL that was made from a title, such as `blue-tea-cup`.
  private static func isSlug(_ text: String) -> Bool {
    text.count { $0 == "-" } > 1 && text == text.lowercased()
  }

  /// Whether a text is a code such as `ITM-59311`.
  private static func isCode(_ text: String) -> Bool {
    text.utf8.count > 5 && text.contains(where: \.isNumber) && text.allSatisfy(\.isASCII)
      && text == text.uppercased()
  }

  /// Whether a text is a date or a timestamp. (RFC 3339)
  private static func isDate(_ text: String) -> Bool {
    let digits = text.prefix(10).map { $0.isWholeNumber ? "9" : $0 }
    return String(digits) == "9999-99-99"
  }

  /// Whether most of the values are URLs or paths, and few of them end like a web page or a video.
  ///
  /// `data:` URLs do not count.
  private static func isPictures(_ evidence: FieldEvidence) -> Bool {
    let addresses = evidence.samples.filter { !PictureText.isData($0) }
    guard !addresses.isEmpty else { return false }
    let links = addresses.count(where: PictureText.isLink)
    let pages = addresses.count(where: PictureText.isOther)
    return links * 5 > addresses.count * 4 && pages * 5 < addresses.count
  }
}
