/** Sentences of the service for programs name the request that helps. */
const REQUEST = /\b(?:GET|POST|PUT|PATCH|DELETE) \//

/** Names of fields that stand behind their words, as in "The folder (cwd)". */
const FIELD = / \((?:cwd|path|model)\)/g

/** Returns a text of the service without its sentences that name requests, for which people have pages, and without names of fields. */
export function plainWords (text: string): string {
  const named = text.replace(FIELD, '')
  return REQUEST.test(named) ? named.split(/(?<=[.!?])\s+/).filter((sentence) => !REQUEST.test(sentence)).join(' ') : named
}

/** A provider's own words, which a sentence of the service has in parentheses; short ones are no hindrance. */
const DETAIL = /^(The (?:model|provider)\b[^(]*?) \((.{20,})\)([.:] .*)$/s

/** Returns a sentence about a provider, and its own words apart. */
export function splitDetail (text: string): { sentence: string, detail?: string } {
  const [, before, detail, after] = DETAIL.exec(text) ?? []
  return before === undefined ? { sentence: text } : { sentence: before + after, detail }
}

/** Whether a text of the service tells to set up a model. */
export const isAboutModels = (text: string): boolean => /\/providers\/configure|\bin the settings\b/.test(text)
