import { Type, type Static } from '@sinclair/typebox'
import type { BuiltinTool, ToolContext, ToolOutput } from '../contracts/tool.ts'

const Input = Type.Object({
  question: Type.String({ minLength: 1, maxLength: 8_000, description: 'With all that is needed to understand it' })
}, { additionalProperties: false })

/** How long an investigation may take without a call, in milliseconds. */
const LIMIT_MS = 20 * 60 * 1000

/**
 * Creates the tool that has a question investigated in a separate conversation, so that only the report enters the conversation of the run.
 */
export function createInvestigateTool (
  { investigate }: { investigate: (question: string, context: ToolContext) => Promise<{ report: string, calls: unknown[] }> }
): BuiltinTool<Static<typeof Input>> {
  return {
    model: {
      name: 'investigate',
      description: 'Have an agent that only reads find out what takes many look-ups, and report. Ask several at once.',
      schema: Input,
      output: ({ report, ...output }): ToolOutput => report === undefined ? output : { report }
    },
    says: { en: { label: 'Look into something', does: 'investigate' }, otherNames: ['task', 'agent'] },
    policy: { effect: 'read', needs: ['conversation'], timeLimitMs: LIMIT_MS },
    effects: { source: 'report' },
    execute: async ({ question }, context) => ({ ...await investigate(question, context) })
  }
}
