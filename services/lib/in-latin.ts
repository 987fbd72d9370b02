/** Letters of other alphabets, each followed by its transliteration (Cyrillic and Greek after BGN/PCGN, without marks). */
const LETTERS = 'а a б b в v г g д d е e ё yo ж zh з z и i й y к k л l м m н n о o п p р r с s т t у u ф f х kh ц ts ч ch ш sh ' +
  'щ shch ъ - ы y ' +
  'ь - э e ю yu я ya і i ї yi є ye ґ g ў u ђ dj ј j љ lj њ nj ћ c џ dz ѓ gj ќ kj ѕ dz ә a ғ gh қ q ң ng ө o ұ u ү u һ h ' +
  'α a β v γ g δ d ε e ζ z η i θ th ι i κ k λ l μ m ν n ξ x ο o π p ρ r σ s ς s τ t υ y φ f χ ch ψ ps ω o ' +
  'ß ss æ ae œ oe ø o ł l đ d ð d þ th ı i ŋ ng ħ h'
const pairs = LETTERS.split(' ')
const LATIN = new Map(pairs.flatMap((letter, at) => at % 2 === 0 ? [[letter, pairs[at + 1].replace('-', '')] as const] : []))

/** Returns the Latin transliteration of a letter; undefined if its script is not in the table. */
function letterInLatin (letter: string): string | undefined {
  const small = letter.toLowerCase()
  const found = LATIN.get(small) ?? LATIN.get(small.normalize('NFD')[0])
  if (found === undefined) return undefined
  return small === letter ? found : found.charAt(0).toUpperCase() + found.slice(1)
}

/** Returns a name in ASCII letters, and whether every letter and digit of it could be written. */
export function inLatin (name: string): { text: string, isWhole: boolean } {
  if (!/[^\p{ASCII}]/u.test(name)) return { text: name, isWhole: true }
  let isWhole = true
  const letters = [...name.normalize('NFC')].map((letter) => {
    const plain = letterInLatin(letter) ?? letter.normalize('NFKD').replace(/\p{M}/gu, '')
    if (!/[^\p{ASCII}]/u.test(plain)) return plain
    if (!/[\p{L}\p{N}]/u.test(plain)) return '_'
    isWhole = false
    return ''
  })
  const text = letters.join('').replace(/__+/g, '_').replace(/^_|_$/g, '')
  return { text, isWhole: isWhole && text !== '' }
}
