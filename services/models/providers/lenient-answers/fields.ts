import { isObject } from '../../../lib/json.ts'

// Readers of fields of answers: each accepts every value that has only one meaning. Any other value counts as absent.

/** Returns a text; a number as its digits. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined

/** Returns a text that is not empty. */
export const wordsOf = (value: unknown): string | undefined => textOf(value) || undefined

/** Returns a number, even if it was sent as a text. */
export function numberOf (value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

/** Returns a count; undefined for any other value. */
export function countOf (value: unknown): number | undefined {
  const number = numberOf(value)
  return number !== undefined && number >= 0 ? number : undefined
}

export const objectOf = (value: unknown): Record<string, any> | undefined => isObject(value) ? value : undefined

export const listOf = (value: unknown): unknown[] => Array.isArray(value) ? value : []

/** Returns the objects of a list, or a single object as a list. */
export const objectsOf = (value: unknown): Array<Record<string, any>> => (Array.isArray(value) ? value : [value]).filter(isObject)

/** Returns the input of a call as JSON text, which some servers send as an object. */
export const inputOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value)
