import { encodingsOf } from '../lib/secrets.ts'
import type { Header } from './recording.ts'
import { createTextFinder } from './text-finder.ts'

/** Returns the placeholder for something in a recording. Ordinary text is unlikely to contain it. */
export const placeholder = (name: string): string => `{{recorded:${name}}}`

/** Values shorter than this occur in ordinary text. */
const SHORTEST = 6
const NAMES = 'pass(?:word|phrase|wd)?|pwd|secret|(?:api|access|private)[-_ ]?key|(?:auth|access)[-_ ]?token|credential'
/**
 * Patterns of values that are likely to be secrets by their form, or by the name before them (then the first group). A pattern never reads
 * more than a bounded part twice, so a text is searched once, whatever it contains.
 */
const LIKELY: ReadonlyArray<readonly [what: string, pattern: RegExp]> = [
  ['private key', /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:(?!-----END)[\s\S]){0,8000}(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?/g],
  ['key', /\b(?:sk|pk|rk)[-_][\w-]{12,400}/g],
  ['key', /\b(?:ghp|gho|ghs|ghu|ghr|github_pat|glpat|xox[abeprs]|npm|hf|shpat|sq0[a-z]{3}|dop_v1|whsec)[-_][\w-]{12,400}/g],
  ['key', /\b(?:AKIA|ASIA)[A-Z0-9]{12,128}\b|\bAIza[\w-]{20,128}|\bya29\.[\w-]{20,2000}/g],
  ['token', /\beyJ[\w-]{8,8000}(?:\.[\w-]{8,8000}(?:\.[\w-]{0,2000})?)?/g],
  ['token', /\b(?:bearer|basic)\s{1,20}([\w.~+/=-]{12,8000})/gi],
  ['password in an address', /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@"']{0,100}:([^\s/@"']{3,200})@/gi],
  ['named secret', new RegExp(`(?:${NAMES})s?["']?\\s{0,3}[:=]\\s{0,3}["']?([^\\s"',;<>{}()[\\]]{6,400})`, 'gi')]
]
/** Matches values behind such names that are not secrets: code, placeholders, plain words. */
const NO_VALUE = /^(?:process\.|env\.|os\.|\$|%|your|example|changeme|[A-Za-z]+$|\*+$)/i

type Replaced = NonNullable<Header['replaced']>

/**
 * Returns the functions that replace secrets and folders in texts. Each secret has the same placeholder wherever it occurs, so that calls
 * and files still fit together. `known` are the secrets of the service, `folders` paths with their placeholders.
 */
export function createScrubber ({ known, folders }: {
  known: Iterable<string>,
  folders: ReadonlyArray<readonly [path: string, name: string]>
}) {
  const names = new Map<string, { what: string, by: string, count: number }>()
  const finder = createTextFinder<{ by: string, count: number }>()
  const hide = (secret: string, what: string) => {
    const name = { what, by: placeholder(`secret-${names.size + 1}`), count: 0 }
    names.set(secret, name)
    for (const encoded of encodingsOf(secret)) finder.add(encoded, name)
  }
  for (const secret of [...new Set(known)].filter(({ length }) => length >= SHORTEST).sort((a, b) => b.length - a.length)) {
    hide(secret, 'secret of the service')
  }
  const paths = folders.filter(([path]) => path.length > 1).sort(([a], [b]) => b.length - a.length)

  /** Finds likely secrets in a text. From then on they are replaced everywhere. */
  function find (text: string): void {
    for (const [what, pattern] of LIKELY) {
      for (const [whole, value = whole] of text.matchAll(pattern)) {
        if (value.length < SHORTEST || value.includes('{{recorded:') || names.has(value)) continue
        // A value is read to its end even if it is no secret, so that it is not read again from each of its characters.
        if (what === 'token' && value.startsWith('eyJ') && !value.includes('.')) continue
        if (what === 'named secret' && (NO_VALUE.test(value) || !/\d|[^\w.-]/.test(value))) continue
        hide(value, what)
      }
    }
  }

  function clean (text: string): string {
    let rest = finder.replace(text, (name) => {
      name.count++
      return name.by
    })
    for (const [path, name] of paths) rest = rest.replaceAll(path, placeholder(name))
    return rest
  }

  return {
    /** Searches every text of a value for likely secrets. */
    look: (value: unknown): void => eachText(value, find),
    /** Returns the value with secrets and folders replaced in every text. */
    clean: <T>(value: T): T => mapTexts(value, clean) as T,
    /** Returns the replacements so far. */
    replaced: (): Replaced => [...names.values()].filter(({ count }) => count > 0)
  }
}

function eachText (value: unknown, visit: (text: string) => void): void {
  if (typeof value === 'string') visit(value)
  else if (Array.isArray(value)) { for (const each of value) eachText(each, visit) } else if (typeof value === 'object' && value !== null) {
    for (const [key, each] of Object.entries(value)) {
      visit(key)
      // A name and its value, as in a configuration file.
      if (typeof each === 'string') visit(`${key}: ${each}`)
      eachText(each, visit)
    }
  }
}

/** Returns the value with every text changed, including the names of fields. */
export function mapTexts (value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [change(key), mapTexts(each, change)]))
}
