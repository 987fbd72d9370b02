/**
 * True if a text contains something that looks like a key, a card number or a password. The formats are checked, which
 * works in any language, and words that mean a password. A harmless text that looks like a secret is not learned either.
 */
export function holdsSecret (written: string): boolean {
  // Normalised, so that full-width letters and invisible characters cannot hide a word.
  const text = written.normalize('NFKC').replace(/\p{Cf}/gu, '')
  return NAMED.test(text) || holdsCode(text) || KEYS.some((key) => key.test(text)) || ID.test(text) || holdsCard(text) || holdsIban(text) ||
    text.split(BOUNDARY).some(looksSecret)
}

/** Formats of keys: API keys of providers, tokens, private keys and the like. */
const KEYS = [
  /\b(?:sk|pk|rk|ghp|gho|ghs|ghu|glpat|xox[abprs]|npm|hf|AKIA|ASIA|AIza|ya29)[-_.]?[\w-]{12,}/,
  /\beyJ[\w-]{8,}\.[\w-]{8,}/,
  /-----BEGIN [A-Z ]+-----/,
  /\b(?:[0-9a-f]{32,}|[0-9A-F]{32,})\b/,
  /\b[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^\s/:@]+:[^\s/@]+@/,
  // Serial numbers and license keys: groups of letters and digits.
  /\b(?=[A-Z0-9-]*[A-Z])(?=[A-Z0-9-]*\d)(?:[A-Z0-9]{4,}-){2,}[A-Z0-9]{4,}\b/,
  /\b\d{3}-\d{2}-\d{4}\b/
]

/** Characters that continue a word. Characters of scripts without blanks do not continue a word of another script. */
const JOINED = '[\\p{Script=Latin}\\p{Script=Cyrillic}\\p{Script=Greek}\\p{Script=Hebrew}\\p{Script=Arabic}\\p{Script=Devanagari}\\p{N}]'

/** Words for a password, a secret number or an access key, in the languages that most users write. */
const NAMED = new RegExp(
  `(?<!${JOINED})(?:` + [
    'pass ?(?:word|phrase|code)s?|pwd|pw|my pass is|(?:(?:handy|karten|bank|konto|sim|ec)-?)?pin(?: ?code)?|cvv|cvc',
    'api[ -]?keys?|(?:private|secret|access|ssh) keys?|credit card|ssn|social security',
    '\\p{L}*passw[oö]rt\\p{L}*|\\p{L}*kennwort\\p{L}*|geheim(?:zahl|nummer)|zugangscode',
    'mots? de passe|code secret|contraseñas?|clave secreta|(?:la|mi) clave|mdp|codice segreto|senhas?|palavras?-passe|password[ie]?',
    "parola d'ordine",
    // Recovery phrases, which restore a wallet or an account after its password is lost.
    '(?:seed|recovery|backup|secret|mnemonic)[ -](?:phrase|word|code|key)s?|wiederherstellungs(?:phrase|wörter|schlüssel|code)n?',
    'phrase (?:de récupération|secrète|mnémonique)|frase (?:semilla|de recuperación|secreta|di recupero|de recuperação)',
    '(?:сид|мнемоническ\\p{L}*|секретн\\p{L}*)[- ]?фраз\\p{L}*|фраз\\p{L}* (?:для )?восстановления|عبارة (?:الاسترداد|الاستعادة|السر|سرية)',
    '\\p{L}*wachtwoord\\p{L}*|\\p{L}*lösenord\\p{L}*|adgangskode\\p{L}*|kodeord\\p{L}*|passord\\p{L}*|salasana\\p{L}*',
    'парол\\p{L}*|пін-?код\\p{L}*|пин-?код\\p{L}*|hasł\\p{L}*|hesl\\p{L}*|jelsz\\p{L}*|parolam\\p{L}*|parola mea',
    'şifre\\p{L}*|lozink\\p{L}*',
    'κωδικ\\p{L}*|συνθηματικ\\p{L}*|ה?סיסמ\\p{L}*|كلمة (?:المرور|السر|سر|مرور)|الرقم السري|رمز (?:عبور|ورود)|पासवर्ड|mật khẩu|kata sandi'
  ].join('|') + `)(?!${JOINED})|密码|密碼|口令|助记词|助記詞|恢复短语|(?:リカバリー|シード|復元)フレーズ|パスワード|暗証番号|合言葉|비밀번호|비번|암호는|รหัสผ่าน`,
  'iu'
)

/**
 * Matches numbers that identify an account, a customer or a person: eight or more digits in one piece, with or without
 * letters around them. Telephone numbers, which begin with 0 or +, and dates, which begin with their year, do not match.
 */
const ID = new RegExp(String.raw`(?<!${JOINED}|[+.,:/-])(?!(?:19|20)\d{6}(?!\d))\p{Lu}{0,3}[1-9]\d{7,}\p{Lu}?(?!${JOINED})`, 'u')

/** True if the text contains a code of digits, such as that of a door or a safe. Postal codes and years do not count. */
const holdsCode = (text: string) => CODE.test(text) && !NO_SECRET_CODE.test(text)
const CODE = new RegExp(
  String.raw`(?:(?:\p{L}*code|(?<!\p{L})(?:código|codice|code[zs]|kod|kód|kode|koodi|код))(?!\p{L})|コード|代码|代碼|코드|קוד).{0,40}(?<!\p{N})` +
    String.raw`(?!(?:19|20)\d\d(?!\d))\p{Nd}{4,8}(?!\p{N})`,
  'iu'
)
const NO_SECRET_CODE = /zip|post|area|error|source|индекс|郵便|邮政|우편|מיקוד/iu

/**
 * Matches what separates words: blanks, and characters of scripts without blanks. Punctuation does not separate,
 * because passwords contain it.
 */
const BOUNDARY = new RegExp(
  String.raw`[\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}` +
    String.raw`\u3001\u3002\uFF0C\uFF1A\uFF1B\uFF1F\uFF08\uFF09]+`,
  'u'
)
const EMAIL = /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/
/** Matches punctuation around a word, such as a full stop. An exclamation mark does not match, because it might belong to a password. */
const AROUND = /^[("'[{<\u00AB\u201C\u201E\u2018]+|[)"'\]}>.,;:?\u00BB\u201D\u2019]+$/g

/** The fewest characters of a word that might be a password. */
const SHORTEST = 8
/** From this length on, a word counts as a key if it mixes letters and digits without a pattern. */
const KEY_LENGTH = 16

function looksSecret (word: string): boolean {
  const bare = word.replace(AROUND, '')
  if (bare.length < SHORTEST || EMAIL.test(bare) || !/\p{L}/u.test(bare) || !/\p{N}/u.test(bare)) return false
  const classes = [/\p{Ll}/u, /\p{Lu}/u, /\p{N}/u, /[!@#$%^&*_+=~?]/].filter((each) => each.test(bare)).length
  if (classes === 4) return true
  // Two or more digits between letters, as in "Summer2024home". Names and versions have digits at an end, or single ones.
  if (/\p{L}[^\p{L}\p{N}]*\p{N}{2,}[^\p{L}\p{N}]*\p{L}/u.test(bare) && classes >= 3) return true
  if (/[!@#$%^&*_+=~]/.test(bare.slice(0, -1)) && classes >= 3) return true
  return bare.length >= KEY_LENGTH && /^[\w+/=.-]+$/.test(bare) && entropy(bare) > 3.2 && changes(bare) >= 4
}

/** Counts the changes between letters and digits in a word. */
const changes = (word: string) => word.match(/\p{L}(?=\p{N})|\p{N}(?=\p{L})/gu)?.length ?? 0

/** Returns the Shannon entropy of the characters of a word, in bits per character. */
function entropy (word: string): number {
  const counts = Object.values(Object.groupBy([...word], (letter) => letter)).map((group) => group!.length)
  return -counts.reduce((sum, count) => sum + (count / word.length) * Math.log2(count / word.length), 0)
}

function holdsCard (text: string): boolean {
  return [...text.matchAll(/(?<!\p{N})\p{Nd}(?:[ .-]?\p{Nd}){12,18}(?!\p{N})/gu)].some(([found]) => luhn(digitsOf(found)))
}

/** Returns the decimal digits of a text, in any script, as ASCII digits. */
function digitsOf (text: string): string {
  const isDigit = (code: number) => /\p{Nd}/u.test(String.fromCodePoint(code))
  return (text.match(/\p{Nd}/gu) ?? []).map((digit) => {
    const code = digit.codePointAt(0)!
    let value = 0
    // In Unicode the ten digits of a script are consecutive, with no digit before them.
    while (value < 9 && isDigit(code - value - 1)) value++
    return value
  }).join('')
}

/** Whether the check digit of a card number is right (ISO/IEC 7812-1). */
function luhn (digits: string): boolean {
  if (digits.length < 13 || /^0+$/.test(digits)) return false
  const sum = [...digits].toReversed().reduce((sum, digit, at) => {
    const value = Number(digit) * (at % 2 === 1 ? 2 : 1)
    return sum + (value > 9 ? value - 9 : value)
  }, 0)
  return sum % 10 === 0
}

/** Whether the text holds an IBAN whose check digits are right (ISO 13616). */
function holdsIban (text: string): boolean {
  return [...text.matchAll(/\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}\b/gi)].some(([found]) => {
    const iban = found.replaceAll(' ', '').toUpperCase()
    // A word after the IBAN can look like a part of the IBAN.
    for (let length = iban.length; length >= 15; length--) if (isIban(iban.slice(0, length))) return true
    return false
  })
}

function isIban (iban: string): boolean {
  const digits = [...iban.slice(4) + iban.slice(0, 4)].map((letter) => Number.parseInt(letter, 36)).join('')
  return [...digits].reduce((rest, digit) => (rest * 10 + Number(digit)) % 97, 0) === 1
}
