import { v7, validate } from 'uuid'

/** A new id: UUIDv7, so that ids sort by the time they were made. The one place ids come from. */
export const newId = (): string => v7()

/** Whether a text has the form of an id of ours. */
export const isId = (text: string): boolean => validate(text)
