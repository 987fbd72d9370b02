import type { Log } from '../../lib/log.ts'
import type { Clock } from '../../lib/clock.ts'
import { repeatRounds } from '../../lib/rounds.ts'
import { type Ask, filingPrompt } from '../../models/index.ts'
import type { BrainService } from '../brain.ts'
import type { Entry } from '../memory.ts'

/** The most entries in one question, and the most characters of all these entries together. */
const MAX_ENTRIES = 20
const MAX_CHARACTERS = 8_000
/** The age at which an entry is filed, in milliseconds, so that entries typed one after the other are filed with one question. */
const SETTLED_MS = 60_000
/** The pause between two rounds, and the pause after a failed round; milliseconds. */
const ROUND_MS = 60_000
const RETRY_MS = 30 * 60_000

/**
 * Creates the service that files entries which the user typed or asked to remember: it gives them topics and
 * marks the important ones. Entries learned from conversations have both already.
 */
export function createFiling ({ brain, ask, isOffline, isWanted, clock, log }: {
  brain: Pick<BrainService, 'known' | 'file'>
  /** Asks a model. Entries from a conversation (`thread`) go only to a model that is allowed to see that conversation. */
  ask: Ask<{ signal: AbortSignal, thread: string | undefined }>
  isOffline: (thread: string | undefined) => Promise<boolean>
  isWanted: () => boolean
  clock: Clock
  log: Pick<Log, 'warn'>
}) {
  /** Files entries of one conversation, or typed entries (`thread` undefined). Resolves to false if the model gave no answer. */
  async function fileSome (entries: Entry[], thread: string | undefined, signal: AbortSignal): Promise<boolean> {
    const { question, ...asked } = filingPrompt
    const text = question(entries.map(({ fact }, n) => ({ id: `e${n + 1}`, text: fact })))
    const answer = await ask({ ...asked, text, signal, thread })
    if ('problem' in answer) {
      log.warn({ problem: answer.problem }, 'entries of the memory got no topics')
      return false
    }
    const filed = new Map((answer.value.entries ?? []).flatMap((each) => each.id === undefined ? [] : [[each.id, each] as const]))
    await brain.file(entries.map(({ id }, n) => {
      const { topics, important } = filed.get(`e${n + 1}`) ?? {}
      return { id, topics, isImportant: important === true }
    }))
    return true
  }

  /** Files some new entries. Resolves to the pause until the next round, in milliseconds. */
  async function round (signal: AbortSignal): Promise<number> {
    if (!isWanted()) return ROUND_MS
    const unfiled = (await brain.known()).entries.filter(({ topics, createdAt }) =>
      topics === undefined && createdAt + SETTLED_MS <= clock.now())
    for (const [thread, entries] of Map.groupBy(unfiled, ({ source }) => source?.threadId)) {
      // No model can be asked about these entries now. They must not keep the others from being filed.
      if (await isOffline(thread)) continue
      let left = MAX_CHARACTERS
      const some = entries.slice(0, MAX_ENTRIES).filter(({ fact }, n) => (left -= fact.length) >= 0 || n === 0)
      return await fileSome(some, thread, signal) ? ROUND_MS : RETRY_MS
    }
    return ROUND_MS
  }

  return {
    round,
    /** Repeats rounds until the signal aborts. */
    run: (signal: AbortSignal): Promise<void> =>
      repeatRounds(round, { clock, log, signal, failure: 'entries of the memory could not be given topics', retryMs: RETRY_MS })
  }
}
