import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js'

/** Disables the SDK's validation of tool results: a result that violates the tool's own output schema is still an answer. */
export const acceptAll: jsonSchemaValidator = {
  getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined })
}
