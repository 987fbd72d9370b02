import { Type } from '@sinclair/typebox'

// Patterns of the OpenAPI document must mean the same in every dialect of regular expressions, with and without flags: no Unicode classes,
// no \s, \d or \w, no look-around, and escaped punctuation in character classes. test/docs/pages.test.ts checks this. A rule that such a
// pattern cannot express is a format (schemas/formats.ts).

export const UUID = '^[0-9a-f\\-]{36}$'
export const ThreadId = Type.String({
  pattern: '^[^\\/\\x00-\\x1f\\x7f-\\x9f]+$',
  maxLength: 128,
  format: 'thread-id',
  description: 'Up to 128 printable characters without "/"'
})
export const TaskId = Type.String({ pattern: UUID, description: 'A UUID' })
/**
 * Returns keywords that appear only in the OpenAPI document. The service checks the same rule itself, because its own error has a better
 * sentence or code than a failed schema. The keywords are never stricter than that check.
 */
export const inDocument = (rules: { pattern: string } | { enum: readonly string[] }) => ({ 'x-in-document': rules })
/**
 * The role of a message. It is no enumeration, because generated clients would then require a literal type, which messages of other
 * libraries do not have.
 */
export const roleOf = (roles: readonly string[]) => Type.String({
  ...inDocument({ pattern: `^(?:${roles.join('|')})$` }),
  description: `One of ${roles.join(', ')}`
})
/** Keywords for the id of a model in a request. `GET /models` lists the ids. */
export const MODEL_ID = inDocument({ pattern: '^[A-Za-z0-9_.\\-]+\\/[^ \\x00-\\x1f\\x7f?#%\\\\]+$' })
/** At least one character that is not white space. */
export const NOT_BLANK = { minLength: 1, pattern: '[^ \\t-\\r]', format: 'not-blank' }
