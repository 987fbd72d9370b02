/** An HTTP request in a sentence of the service. Such sentences are for programs. */
const REQUEST = /\b(?:GET|POST|PUT|PATCH|DELETE) \//

/** Field names in parentheses after their words, as in "The folder (cwd)". */
const FIELD = / \((?:cwd|path|model)\)/g

/** Returns a text of the service without sentences that name HTTP requests, because people use pages instead, and without field names. */
export function plainWords (text: string): string {
  const named = text.replace(FIELD, '')
  return REQUEST.test(named) ? named.split(/(?<=[.!?])\s+/).filter((sentence) => !REQUEST.test(sentence)).join(' ') : named
}

/** A sentence of the service that quotes a provider's message in parentheses. Short messages stay in the sentence. */
const DETAIL = /^(The (?:model|provider)\b[^(]*?) \((.{20,})\)([.:] .*)$/s

/** Returns a sentence about a provider, and the quoted message of the provider separately. */
export function splitDetail (text: string): { sentence: string, detail?: string } {
  const [, before, detail, after] = DETAIL.exec(text) ?? []
  return before === undefined ? { sentence: text } : { sentence: before + after, detail }
}

/** Returns true if a text of the service tells the user to set up a model. */
export const isAboutModels = (text: string): boolean => /\/providers\/configure|\bin the settings\b/.test(text)
