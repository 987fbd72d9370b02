import { v7, validate } from 'uuid'

/** A new id: UUIDv7, so that ids sort by the time they were made. The one place ids come from. */
export const newId = (): string => v7()

/** Whether a text has the form of an id of ours. */
export const isId = (text: string): boolean => validate(text)

/** When an id of ours was made, epoch milliseconds: the first 48 bits of a UUIDv7 (RFC 9562). */
export const timeOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
