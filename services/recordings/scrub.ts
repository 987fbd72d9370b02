import { encodingsOf } from '../lib/secrets.ts'
import type { Header } from './recording.ts'
import { createTextFinder } from './text-finder.ts'

/** Returns the placeholder that replaces a part of a recording. Ordinary text is unlikely to contain such a placeholder. */
export const placeholder = (name: string): string => `{{recorded:${name}}}`

/** The fewest characters of a secret. Shorter values occur in ordinary text. */
const SHORTEST = 6
const NAMES = 'pass(?:word|phrase|wd)?|pwd|secret|(?:api|access|private)[-_ ]?key|(?:auth|access)[-_ ]?token|credential'
/**
 * Patterns of values that are likely secrets: by their form, or by the name before the value, which is then the first group.
 * No pattern reads more than a bounded part of the text twice, so the time of a search is bounded, whatever the text contains.
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
/** Matches values after such names that are no secrets: code, placeholders, plain words. */
const NO_VALUE = /^(?:process\.|env\.|os\.|\$|%|your|example|changeme|[A-Za-z]+$|\*+$)/i

type Replaced = NonNullable<Header['replaced']>

/**
 * Creates the functions that replace secrets and folders in texts. Each secret has the same placeholder wherever it occurs, so that
 * calls and files still fit together. `known`: the secrets of the service. `folders`: paths with the names of their placeholders.
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

  /** Finds likely secrets in a text. From then on, `clean` replaces them everywhere. */
  function find (text: string): void {
    for (const [what, pattern] of LIKELY) {
      for (const [whole, value = whole] of text.matchAll(pattern)) {
        if (value.length < SHORTEST || value.includes('{{recorded:') || names.has(value)) continue
        // Patterns match a value to its end even if it is no secret, so that the search does not start again at each of its characters.
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
    /** Searches all strings in a value for likely secrets. */
    look: (value: unknown): void => eachText(value, find),
    /** Returns the value with secrets and folders replaced in all its strings. */
    clean: <T>(value: T): T => mapTexts(value, clean) as T,
    /** Returns the secrets that `clean` has replaced so far, with their counts. */
    replaced: (): Replaced => [...names.values()].filter(({ count }) => count > 0)
  }
}

function eachText (value: unknown, visit: (text: string) => void): void {
  if (typeof value === 'string') visit(value)
  else if (Array.isArray(value)) { for (const each of value) eachText(each, visit) } else if (typeof value === 'object' && value !== null) {
    for (const [key, each] of Object.entries(value)) {
      visit(key)
      // The name and its value together, as a configuration file shows them.
      if (typeof each === 'string') visit(`${key}: ${each}`)
      eachText(each, visit)
    }
  }
}

/** Returns the value with `change` applied to all its strings, including the names of fields. */
export function mapTexts (value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [change(key), mapTexts(each, change)]))
}
