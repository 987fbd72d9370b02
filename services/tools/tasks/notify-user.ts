import { Type } from '@sinclair/typebox'
import type { BuiltinTool } from '../../contracts/tool.ts'

export interface NotifyParts {
  /**
   * Sends the user of a task a text about what its run found. The same text is sent only once for each run. Throws ToolFailed beyond the
   * limits.
   */
  tellUser: (runId: string, text: string) => Promise<void>
}

/** The most characters of a message. */
const LONGEST = 500

/**
 * Creates the tool by which a run of a task sends its user a message at once, on the screen or by the webhook. A call that is repeated
 * after a crash does not send the message again.
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
