// eslint-disable-next-line no-control-regex
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g

/**
 * Returns a server's text as one line of at most `longest` characters: without control characters and overrides of the direction of
 * text, with which it could show the user something else, and without line ends, with which it could pass for a text of the application.
 */
export function shownText (value: unknown, longest: number): string {
  if (typeof value !== 'string') return ''
  // Cut first: a text may be of any length.
  const text = value.slice(0, longest * 4).replace(UNSEEN, ' ').replace(/ {2,}/g, ' ').trim()
  return text.length <= longest && value.length <= longest * 4 ? text : `${text.slice(0, longest - 1).trimEnd()}…`
}
