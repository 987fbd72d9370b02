/** The names of a request's fields, as error messages mention them. */
export interface FieldNames {
  message: (n: number) => string
  /** The field of a tool result that names the call of the result. */
  call: string
  tool: (n: number) => string
  format: string
  schema: string
  effort: string
}

export const CHAT_FIELDS: FieldNames = {
  message: (n) => `messages[${n}]`,
  call: 'tool_call_id',
  tool: (n) => `tools[${n}].function`,
  format: 'response_format',
  schema: 'response_format.json_schema.schema',
  effort: 'reasoning_effort'
}

export const RESPONSE_FIELDS: FieldNames = {
  message: (n) => `input[${n}]`,
  call: 'call_id',
  tool: (n) => `tools[${n}]`,
  format: 'text.format',
  schema: 'text.format.schema',
  effort: 'reasoning.effort'
}

/** Returns the field names for requests to this path. */
export const fieldsAt = (path: string): FieldNames => /^\/v1\/responses\b/.test(path) ? RESPONSE_FIELDS : CHAT_FIELDS
