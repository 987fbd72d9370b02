import { isObject } from '../../../lib/json.ts'

// Readers of fields of answers: each accepts every value that has only one meaning. Any other value counts as absent.

/** Returns a string, or the digits of a number; undefined for any other value. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined

/** As `textOf`, but undefined for '' too. */
export const wordsOf = (value: unknown): string | undefined => textOf(value) || undefined

/** Returns a finite number, also one that was sent as a string; undefined for any other value. */
export function numberOf (value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

/** Returns a number that is not negative, also one that was sent as a string; undefined for any other value. */
export function countOf (value: unknown): number | undefined {
  const number = numberOf(value)
  return number !== undefined && number >= 0 ? number : undefined
}

export const objectOf = (value: unknown): Record<string, any> | undefined => isObject(value) ? value : undefined

export const listOf = (value: unknown): unknown[] => Array.isArray(value) ? value : []

/** Returns the elements of a list that are objects, or a single object as a list of one. Anything else gives []. */
export const objectsOf = (value: unknown): Array<Record<string, any>> => (Array.isArray(value) ? value : [value]).filter(isObject)

/** Returns the input of a call as JSON text, because some servers send it as an object. A missing input gives ''. */
export const inputOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value)
