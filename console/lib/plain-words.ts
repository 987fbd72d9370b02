/** Sentences of the service for programs name the request that helps. */
const REQUEST = /\b(?:GET|POST|PUT|PATCH|DELETE) \//

/** Names of fields that stand behind their words, as in "The folder (cwd)". */
const FIELD = / \((?:cwd|path|model)\)/g

/** Returns a text of the service without its sentences that name requests, for which people have pages, and without names of fields. */
export function plainWords (text: string): string {
  const named = text.replace(FIELD, '')
  return REQUEST.test(named) ? named.split(/(?<=[.!?])\s+/).filter((sentence) => !REQUEST.test(sentence)).join(' ') : named
}

/** Whether a text of the service tells to set up a model. */
export const isAboutModels = (text: string): boolean => /\/providers\/configure|\bin the settings\b/.test(text)
