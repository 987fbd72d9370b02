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
/** At least one character that is not white space. */
export const NOT_BLANK = { minLength: 1, pattern: '[^ \\t-\\r]', format: 'not-blank' }
