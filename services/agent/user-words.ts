import { canonicalContent, readUserMessages, type ThreadRepository, type UserWords } from '../threads/index.ts'
import type { RunEvent } from '../contracts/run-events.ts'
import type { TaskConversation, ToolHost } from '../tools/index.ts'
import { settingsOfTask } from './run-settings.ts'
import { type ActiveRuns, steeringIn } from '../runs/index.ts'

interface Parts {
  activeRuns: Pick<ActiveRuns, 'ofRun'>
  deps: { threads: Pick<ThreadRepository, 'turns' | 'messages'>, host: Pick<ToolHost, 'find' | 'shown'> }
}

/**
 * Returns a function that finds the user's own messages, including those sent to the run while it worked (steering), in the conversation of
 * an active run. The function returns undefined for other runs.
 */
export function createUserWords ({ activeRuns, deps: { threads, host } }: Parts) {
  // The user's own memory contains nothing that others wrote.
  const isRead = (event: RunEvent) => event.type === 'tool-output' && host.find(event.toolName)?.effects?.source !== 'memory'
  return async (runId: string): Promise<UserWords | undefined> => {
    const live = activeRuns.ofRun(runId)
    if (live === undefined) return undefined
    // The request of the run is a part of the conversation.
    await live.run.saved
    const { threadId } = live.run.record
    const messages = await readUserMessages(threads, threadId)
    const at = messages.at(-1)?.at ?? 0
    const known = new Set(messages.map(({ id }) => id))
    const said = steeringIn(live.run.log.events).filter(({ id }) => !known.has(id))
    const hasRead = live.run.log.events.some(isRead)
    return { threadId, hasRead, messages: [...messages, ...said.map(({ id, text, at: said }) => ({ id, text, at, said }))] }
  }
}

/**
 * Returns a function that finds the conversation of an active run, with the settings and texts that a task made in it inherits. The
 * function returns undefined for runs without a person.
 */
export function createConversationOf (
  { activeRuns, deps }: Parts,
  userWords: ReturnType<typeof createUserWords>
) {
  return async (runId: string): Promise<TaskConversation | undefined> => {
    const run = activeRuns.ofRun(runId)?.run
    if (run === undefined || run.record.options?.interactive === false) return undefined
    const { record, messages, log } = run
    const { threadId } = record
    const words = await userWords(runId)
    const turns = [
      ...messages.filter(({ role }) => role === 'user').map(canonicalContent),
      ...steeringIn(log.events).map(({ text }) => text)
    ]
    return { threadId, ...settingsOfTask(record, deps.host), written: words?.messages.map(({ text }) => text) ?? [], turns }
  }
}
