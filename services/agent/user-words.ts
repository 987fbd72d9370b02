import { readUserMessages, type ThreadRepository, type UserWords } from '../threads/index.ts'
import type { ActiveRuns } from '../runs/index.ts'

interface Parts {
  activeRuns: Pick<ActiveRuns, 'ofRun'>
  deps: { threads: Pick<ThreadRepository, 'turns' | 'messages'>, clock: { now: () => number } }
}

/** Creates the lookup of the user's own messages, steering included, in the conversation of an active run; undefined for other runs. */
export function createUserWords ({ activeRuns, deps: { threads, clock } }: Parts) {
  return async (runId: string): Promise<UserWords | undefined> => {
    const live = activeRuns.ofRun(runId)
    if (live === undefined) return undefined
    // The request of the run is a part of the conversation.
    await live.run.saved
    const { threadId } = live.run.record
    const messages = await readUserMessages(threads, threadId)
    const at = messages.at(-1)?.at ?? 0
    return { threadId, messages: [...messages, ...live.steered.map((text) => ({ text, at, said: clock.now() }))] }
  }
}
