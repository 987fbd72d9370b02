/** Yields all strings in a value, at any depth. */
export function * textsIn (value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) yield * textsIn(each)
}
