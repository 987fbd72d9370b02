import { check } from './schedule-errors.ts'

/** Matches abbreviations that several time zones share, or that leave open whether summer time is meant. */
const ABBREVIATION = /\b(?:[ecmp][sd]t|a[kew]?[sd]t|c?e[es]?t|cest|eest|bst|ist|jst|kst|msk|hkt|sgt|nz[sd]?t|w[ei]s?t)\b/i
const UNIVERSAL = /(?:^|\s|(?<=\d[ap]m|\d))(?:utc|gmt)(?=\s|$)/
const FULL_NAME = /\b[a-z]+\/[a-z_]+(?:\/[a-z_]+)?\b/

let names: Map<string, string> | undefined

/** Returns the time zone with a full name in lower case, or with the name of its city; undefined for other names. */
function zoneNamed (name: string): string | undefined {
  names ??= new Map(Intl.supportedValuesOf('timeZone').flatMap((zone) =>
    [[zone.toLowerCase(), zone], [zone.split('/').at(-1)!.replaceAll('_', ' ').toLowerCase(), zone]] as const))
  return names.get(name)
}

const without = (text: string, words: string) => text.replace(words, ' ').replace(/ {2,}/g, ' ').trim()

/** Yields words that might name a time zone, the longest first, with the name that they contain. */
function * namesIn (text: string): Generator<[words: string, name: string]> {
  const full = FULL_NAME.exec(text)?.[0]
  if (full !== undefined) yield [full, full]
  const place = /(?:^|\s)((?:[a-z]+ ){1,3})time\b/.exec(text)?.[1].trim().split(' ') ?? []
  for (let words = place; words.length > 0; words = words.slice(1)) yield [`${words.join(' ')} time`, words.join(' ')]
  const within = /(?<=\d ?(?:[ap]m)? )in ([a-z]+(?: [a-z]+)?)\b/.exec(text)?.[1].split(' ') ?? []
  for (let words = within; words.length > 0; words = words.slice(0, -1)) yield [`in ${words.join(' ')}`, words.join(' ')]
}

/** Splits the time zone from a text: "9am UTC", "9:30 New York time". Throws BadSchedule for an ambiguous abbreviation. */
export function takeZone (text: string): { text: string, zone?: string } {
  const universal = UNIVERSAL.exec(text)?.[0]
  if (universal !== undefined) return { text: without(text, universal), zone: 'UTC' }
  for (const [words, name] of namesIn(text)) {
    const zone = zoneNamed(name)
    if (zone !== undefined) return { text: without(text, words), zone }
  }
  const short = /\d|noon|midnight/.test(text) ? ABBREVIATION.exec(text)?.[0] : undefined
  check(short === undefined, 'text', `"${short?.toUpperCase()}" may be several time zones: name a city, as in "9am New York time", or UTC.`)
  return { text }
}
