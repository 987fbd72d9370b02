import { decodeStrictly, LEGACY_ENCODINGS, type LegacyEncoding } from './legacy-encoding.ts'

/** The most non-ASCII bytes that are examined. More would not change the guess. */
const MOST_BYTES = 400

/**
 * The non-ASCII characters of a language: its frequent letters, the most frequent first, and a pattern for the other characters of its
 * script. `isLatin` is true if the letters occur among ASCII letters.
 */
interface Language {
  letters: string
  others?: RegExp
  isLatin?: true
}

const HAN_SIMPLIFIED = '的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成' +
  '方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业' +
  '外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解' +
  '水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空' +
  '决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导' +
  '争运请星期姓址号码订单置配测试路径址客户价格数量日期备注文件夹你好午友孩踢足球树棋园步散草京朝阳街省'
const HAN_TRADITIONAL = '的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事' +
  '成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日軍者意無力它與長把機十民第公此已工使情明性知全三又關點' +
  '正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月話合回特代內信表化老給世位次度門任常先海通教兒原東聲提立及比' +
  '員解水名真論處走義各入幾口認條平系氣題活爾更別打女變四神總何電數安少報才結反受目太量再感建務做接必場件計管期市直德資命山金指克許統區保至隊形社便' +
  '空決治展馬科司五基眼書非則聽白卻界達光放強即像難且權思王象完設式色路記南品住告類求據程北邊死張該交規萬取拉格望覺術領共確傳師觀清今切院讓識候帶導' +
  '爭運請星姓址號碼訂單置測試徑客戶價量備註檔夾午友孩踢足球樹棋園步散草灣段街縣'
const KANJI = '日一大年会人本中国出者上同時分生事前自社見方間長場金行所年東部地合市内業回定目立新高月手体学代明主戦力発不対法最物取田小文' +
  '通言動入今気三関経山公問野作子水心表相性全保実化下後用数当氏数議員政度成意女原海京交使名話円氷電住番号設定売商品注名前約契書持来曜午天散歩時変更' +
  '資料東都千代丸太郎'
const HANGUL = '이다의는에을가고하로한은사지를기도리인대자시서나과어아일정보부수제여구해라있전상으원유주장조트만면계들안니그연성스동국세용마' +
  '적무경공오선비실미영간건소요신물각생개우물관내음것학중회위발분화모방문입재드진명치래진할단양금되년당했후심련행민었결야때말던러체본외없된' +
  '설등차강처불까게려살출늘못집약녕름번호법종길홍특별울메테파료휴날씨산책변습견새'
const CHINESE_MARKS = '，。、：；？！（）《》“”「」'

const LANGUAGES: Record<LegacyEncoding, Language[]> = {
  gbk: [{ letters: HAN_SIMPLIFIED + CHINESE_MARKS, others: /\p{Script=Han}/u }],
  big5: [{ letters: HAN_TRADITIONAL + CHINESE_MARKS, others: /\p{Script=Han}/u }],
  shift_jis: [{ letters: '', others: /[\p{Script=Han}]/u }],
  'euc-jp': [{ letters: '', others: /[\p{Script=Han}]/u }],
  'euc-kr': [{ letters: HANGUL, others: /\p{Script=Hangul}/u }],
  'windows-1251': [{ letters: 'оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъёіїєґўћђљњџ№«»—' }],
  'koi8-r': [{ letters: 'оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё' }],
  'windows-1253': [{ letters: 'αοιετσνηυρπκμλςίόάέδγχωήθύφώβξζψϊϋΐΰ«»' }],
  'windows-1255': [{ letters: 'יוהלאתרבמשנקדעחפםכסטגןזצךףץ₪״׳' }],
  'windows-1256': [{ letters: 'اليمنوترعبدةسفهكحأقجشصىطخإضزذغئءثؤظآ،؟' }],
  'windows-1252': [
    { letters: 'éèàêçâôîûùëïœ’«»€', isLatin: true },
    { letters: 'äüöß„“”–€', isLatin: true },
    { letters: 'óíáéñúü¿¡', isLatin: true },
    { letters: 'ãçáéíõóêâúà', isLatin: true },
    { letters: 'äåöøæéü', isLatin: true },
    { letters: '’‘“”–—…€£éï•©', isLatin: true }
  ],
  'windows-1250': [
    { letters: 'łąęóżśćńź„”–', isLatin: true },
    { letters: 'íáěéčšřžýůúňťď„“–', isLatin: true },
    { letters: 'áéíóöőúüű„”–', isLatin: true },
    { letters: 'čšžćđ', isLatin: true },
    { letters: 'ăîâţş„”', isLatin: true }
  ],
  'windows-1254': [{ letters: 'ıişüğçöİâîû’“”', isLatin: true }]
}
const JAPANESE: Language = {
  letters: 'のにはをたがでてとしれさいるなもすこらかくりっだきんうどまそあよめえけじせつちおわやろばみインスルトアラリドクシジマタレコカフテバムロメデプオサニ' +
  'ー、。「」・' + KANJI,
  others: /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u
}
LANGUAGES.shift_jis = [JAPANESE]
LANGUAGES['euc-jp'] = [JAPANESE]

/** Penalties of encodings that are rare in files, subtracted from the score. */
const RARER: Partial<Record<LegacyEncoding, number>> =
  { 'euc-jp': 1, 'koi8-r': 2, 'windows-1250': 0.5, 'windows-1254': 1, 'windows-1253': 0.5 }

/** Logarithms of the probabilities of characters that are not in the list of frequent letters. */
const [RARE, ODD, IMPOSSIBLE] = [-8, -11, -16]
const LETTER = /\p{L}|\p{M}/u

const likelihoods = new Map<Language, Map<string, number>>()

/** Returns the logarithm of the probability of a non-ASCII character in a language. */
function likelihoodOf (character: string, language: Language): number {
  const known = likelihoods.get(language) ?? listedLikelihoods(language)
  const likelihood = known.get(character) ?? known.get(character.toLowerCase()) ?? unlistedLikelihood(character, language)
  known.set(character, likelihood)
  return likelihood
}

function listedLikelihoods (language: Language): Map<string, number> {
  const letters = [...language.letters]
  const listed = new Map(letters.map((letter, at) => [letter, -Math.log(5 + at) - Math.log(Math.log(1 + letters.length / 5))]))
  likelihoods.set(language, listed)
  return listed
}

function unlistedLikelihood (character: string, { others }: Language): number {
  if (/[\p{Cc}\p{Co}\p{Cn}]/u.test(character)) return IMPOSSIBLE
  if (others?.test(character)) return RARE
  return others !== undefined && /[、。，：；？！（）「」\u3000\uff01-\uff5e]/.test(character) ? RARE + 2 : ODD
}

/** Returns a penalty, zero or negative, for a letter that is unusual beside its neighbours. It is a logarithm, too. */
function oddnessOf (before: string, character: string, after: string, { isLatin, others }: Language): number {
  const isAscii = (each: string) => /[A-Za-z]/.test(each)
  const isForeign = (each: string) => each > '\u007f' && LETTER.test(each)
  if (!LETTER.test(character)) return 0
  let oddness = 0
  if (isLatin) {
    if (isForeign(before)) oddness -= 2
    if (!isAscii(before) && !isAscii(after) && !isForeign(before) && !isForeign(after)) oddness -= 2
  } else if (isAscii(before) || isAscii(after)) oddness -= 4
  const isUpper = character !== character.toLowerCase()
  if (others === undefined && isUpper) {
    const isInside = before !== '' && LETTER.test(before)
    const isAfterCapital = isInside && before !== before.toLowerCase()
    oddness -= isAfterCapital ? 0 : isInside ? 5 : 1
  }
  if (others === undefined && !isUpper && before !== before.toLowerCase() && after !== '' && after !== after.toLowerCase()) oddness -= 3
  return oddness
}

function scoreOf (text: string, language: Language): number {
  const characters = [...text]
  let score = 0
  for (const [at, character] of characters.entries()) {
    if (character <= '\u007f') continue
    score += likelihoodOf(character, language) + oddnessOf(characters[at - 1] ?? '', character, characters[at + 1] ?? '', language)
  }
  return score
}

/** Returns the beginning of a text up to its first MOST_BYTES non-ASCII bytes. */
function beginningOf (bytes: Uint8Array): Uint8Array {
  let high = 0
  for (let at = 0; at < bytes.length; at++) if (bytes[at] > 0x7f && ++high > MOST_BYTES) return bytes.subarray(0, at)
  return bytes
}

/**
 * Guesses the encoding of bytes that are not UTF-8: decodes them in each encoding, and compares the text with the languages that use the
 * encoding. `isBeginning` is true if the bytes can end inside a character. Longer texts give better guesses.
 */
export function guessEncoding (bytes: Uint8Array, { isBeginning = false } = {}): LegacyEncoding {
  const sample = beginningOf(bytes)
  let best: { encoding: LegacyEncoding, score: number } = { encoding: 'windows-1252', score: -Infinity }
  for (const encoding of LEGACY_ENCODINGS) {
    const text = decodeStrictly(sample, encoding, isBeginning || sample.length < bytes.length)
    if (text === undefined) continue
    const score = Math.max(...LANGUAGES[encoding].map((language) => scoreOf(text, language))) - (RARER[encoding] ?? 0)
    if (score > best.score) best = { encoding, score }
  }
  return best.encoding
}
