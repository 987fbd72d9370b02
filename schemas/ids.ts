import { Type } from '@sinclair/typebox'

// Patterns of the OpenAPI document mean the same in every dialect of regular expressions, with and without flags: no classes of
// Unicode, no \s, \d or \w, no look-around, and escaped punctuation in classes. test/docs/pages.test.ts checks it. What they
// cannot say is a format (schemas/formats.ts).

export const UUID = '^[0-9a-f\\-]{36}$'
export const ThreadId = Type.String({
  pattern: '^[^\\/\\x00-\\x1f\\x7f-\\x9f]+$',
  maxLength: 128,
  format: 'thread-id',
  description: 'Up to 128 printable characters without "/"'
})
export const TaskId = Type.String({ pattern: UUID, description: 'A UUID' })
/**
 * Returns rules for the document alone: the service checks them itself, with a sentence or a code that a failed rule of a schema would not
 * have. They are never stricter than that check.
 */
export const inDocument = (rules: { pattern: string } | { enum: readonly string[] }) => ({ 'x-in-document': rules })
/** The role of a message. As an enumeration it would be a type of its own in clients, which the messages of other libraries do not have. */
export const roleOf = (roles: readonly string[]) => Type.String({
  ...inDocument({ pattern: `^(?:${roles.join('|')})$` }),
  description: `One of ${roles.join(', ')}`
})
/** The id of a model in a request. Which models there are, is in `GET /models`. */
export const MODEL_ID = inDocument({ pattern: '^[A-Za-z0-9_.\\-]+\\/[^ \\x00-\\x1f\\x7f?#%\\\\]+$' })
/** At least one character that is not white space. */
export const NOT_BLANK = { minLength: 1, pattern: '[^ \\t-\\r]', format: 'not-blank' }
