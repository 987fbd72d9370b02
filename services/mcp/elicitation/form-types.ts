export type Json = Record<string, unknown>
export const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** A value of a field as the server gets it. */
export type FieldValue = string | number | boolean | string[]
/** What an answer is for the server, or a clause that says what is wrong with it. */
export type Reading = { value: FieldValue } | { wrong: string }
