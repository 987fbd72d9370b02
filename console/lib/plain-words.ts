/** Sentences of the service for programs name the request that helps. */
const REQUEST = /\b(?:GET|POST|PUT|PATCH|DELETE) \//

/** Returns a text of the service without its sentences that name requests: people have pages for them. */
export const plainWords = (text: string): string =>
  REQUEST.test(text) ? text.split(/(?<=[.!?])\s+/).filter((sentence) => !REQUEST.test(sentence)).join(' ') : text

/** Whether a text of the service tells to set up a model. */
export const isAboutModels = (text: string): boolean => text.includes('/providers/configure')
