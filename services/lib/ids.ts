import { v7, validate } from 'uuid'

/** Returns a new UUIDv7; such ids sort by creation time. All ids come from this function. */
export const newId = (): string => v7()

/** Whether a text has the form of an id. */
export const isId = (text: string): boolean => validate(text)

/** Returns the creation time of an id in milliseconds since the epoch: the first 48 bits of a UUIDv7 (RFC 9562). */
export const timeOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
