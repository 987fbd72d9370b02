import { Type } from '@sinclair/typebox'
import type { BuiltinTool } from '../../contracts/tool.ts'

export interface NotifyParts {
  /** Tells the person of a task what its run found. The same words of a run are told once. Throws ToolFailed beyond the limits. */
  tellUser: (runId: string, text: string) => Promise<void>
}

/** The most characters of a message. */
const LONGEST = 500

/**
 * Tells the user of a task something at once, on the screen or by the webhook. A call that is repeated after a crash does not tell it
 * twice.
 */
export function createNotifyUser ({ tellUser }: NotifyParts): BuiltinTool<{ text: string }> {
  return {
    model: {
      name: 'notifyUser',
      description: 'Tell the user something now, in a sentence or two. Only for what the task is to tell them, or what cannot wait: they ' +
        'read the report of the run anyway.',
      schema: Type.Object({
        text: Type.String({ minLength: 1, maxLength: LONGEST, pattern: '\\S', description: 'In the language of the task' })
      }, { additionalProperties: false })
    },
    says: { en: { label: 'Tell you something', does: 'tell you' } },
    policy: { effect: 'read', permission: 'allow', needs: ['task'] },
    effects: { proves: 'message' },
    async execute ({ text }, { runId }) {
      await tellUser(runId, text)
      return { told: text }
    }
  }
}
