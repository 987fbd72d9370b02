import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import type { ToolProgress } from '../../schemas/tool-progress.ts'

type Params = Record<string, unknown>

/**
 * Takes the notifications of which a server may send very many, before the SDK validates each message: progress of calls and messages
 * for the log.
 */
export function createServerNotes (logged: (params: Params) => void) {
  const calls = new Map<number, (progress: ToolProgress) => void>()
  let last = 0

  return {
    /** Takes a message if it is such a notification, and returns whether it is. */
    take (message: JSONRPCMessage): boolean {
      if (!('method' in message) || 'id' in message) return false
      const params = message.params ?? {}
      if (message.method === 'notifications/progress') {
        const progress = readProgress(params)
        if (progress !== undefined) calls.get(Number(params.progressToken))?.(progress)
        return true
      }
      if (message.method !== 'notifications/message') return false
      logged(params)
      return true
    },

    /** Calls `work` with the token of a call, and passes on the progress that the server reports for it meanwhile. */
    async during<T> (progress: (progress: ToolProgress) => void, work: (progressToken: number) => Promise<T>): Promise<T> {
      const token = ++last
      calls.set(token, progress)
      try {
        return await work(token)
      } finally {
        calls.delete(token)
      }
    }
  }
}

function readProgress ({ progress, total, message }: Params): ToolProgress | undefined {
  if (typeof progress !== 'number') return undefined
  return { progress, ...typeof total === 'number' && { total }, ...typeof message === 'string' && message !== '' && { message } }
}
