import type { Log } from '../../lib/log.ts'
import type { Extraction } from '../../../schemas/brain.ts'
import { createKeyedLock } from '../../lib/keyed-lock.ts'
import { defineError } from '../../lib/service-error.ts'
import {
  type Ask,
  extractionQuestion,
  factsPrompt,
  type NoAnswer,
  type ShownEntry
} from '../../models/index.ts'
import { beginning, readUserMessages, ThreadNotFound, type ThreadRepository, type UserMessage } from '../../threads/index.ts'
import type { BrainService, Learning } from '../brain.ts'
import type { Habitual } from '../learning.ts'
import type { Entry, Habit } from '../memory.ts'
import type { Problem, Verified } from './pointers.ts'

const NoExtraction = defineError(
  'ERR_UPSTREAM',
  'The model of role "fast" did not extract facts: its answer %s. Try again, or test the model with POST /providers/test.'
)

/** The model gave no answer, or one that cannot be parsed. */
export class ModelFailed extends NoExtraction {
  readonly kind?: NoAnswer['kind']

  constructor ({ problem, kind }: NoAnswer) {
    super(problem)
    this.kind = kind
  }
}

interface RanTask {
  taskId: string
  goal: string
  at: number
}

export type Extractor = ReturnType<typeof createExtraction>

/** The most characters of messages in one model call. */
const MAX_CHARACTERS = 12_000
/** The most characters of each task goal in one model call. */
const MAX_GOAL = 500
/** The most model calls for one extraction. */
const MAX_CALLS = 10

interface ExtractionParts {
  threads: ThreadRepository
  brain: Pick<BrainService, 'ingest' | 'from' | 'known'>
  /** Asks the model. Not called if `isOffline` resolves to true. */
  ask: Ask<{ signal: AbortSignal, thread: string }>
  /** True if no model can be asked about the thread. */
  isOffline: (thread: string) => Promise<boolean>
  /** Returns the newest background tasks that ran, with the time of their last run. */
  ranTasks: () => Promise<RanTask[]>
  log: Pick<Log, 'warn'>
}

/**
 * Creates the service that learns users' statements about themselves from threads: a model points at words, and code
 * verifies the words. With the offline model nothing is extracted, and only the tool `remember` adds to the memory.
 */
export function createExtraction (parts: ExtractionParts) {
  const { threads, brain, isOffline } = parts
  /** Extractions run one at a time, so that each knows the results of the previous one. */
  const locked = createKeyedLock()

  return {
    /**
     * Extracts new statements from the whole thread, or with `since: 'last'` from the messages since the last
     * extraction. Throws ThreadNotFound (404) and ModelFailed (502).
     */
    extract: (
      id: string,
      { signal = new AbortController().signal, since = 'start' }: { signal?: AbortSignal, since?: 'start' | 'last' } = {}
    ): Promise<Extraction> =>
      locked('', async () => {
        if (await threads.get(id) === undefined) throw new ThreadNotFound(id)
        const state = await threads.unread(id)
        const readings = await isOffline(id)
          ? []
          : await readByModel(await readUserMessages(threads, id, since === 'last' ? state.read : 0), { id, signal }, parts)
        const { known, proposed } = await brain.ingest(
          readings.flatMap((reading) => learningsOf(reading, id)),
          readings.flatMap((reading) => habitsOf(reading, id))
        )
        await threads.markRead(id, state)
        const rejected = rejectedIn(readings)
        return {
          ...await brain.from(id),
          added: known.filter(({ kind }) => kind !== 'instruction').length,
          proposed: proposed.length,
          ...(rejected.length > 0 && { rejected })
        }
      })
  }
}

/** Lets the model point at words in the messages, in up to MAX_CALLS questions. */
async function readByModel (
  messages: UserMessage[],
  { id, signal }: { id: string, signal: AbortSignal },
  { brain, ask, ranTasks, log }: Pick<ExtractionParts, 'brain' | 'ask' | 'ranTasks' | 'log'>
): Promise<Reading[]> {
  const readings: Reading[] = []
  // Loaded at its first use, because its regular expressions take time and memory.
  const { verifyPointers } = await import('./pointers.ts')
  const tasks = await ranTasks()
  const goals = tasks.map(({ goal }) => beginning(goal, MAX_GOAL))
  const left = batches(messages.filter(({ text }) => text.trim() !== '')).slice(-MAX_CALLS)
  for (let calls = 0; calls < MAX_CALLS && left.length > 0; calls++) {
    const batch = left.shift()!
    const { entries, habits } = await brain.known()
    const ids = shownIds(entries, habits)
    const messages = batch.map(({ text, said: time, asked }) => ({ text, day: time === 0 ? undefined : dayOf(time), asked }))
    const text = extractionQuestion({ messages, goals, known: ids.known, habits: ids.habits })
    const answer = await ask({ ...factsPrompt, text, signal, thread: id })
    if ('refused' in answer && answer.refused) throw answer.refused
    const half = Math.ceil(batch.length / 2)
    // The answer was cut off at the output limit, so two further questions ask about one half of the messages each.
    if ('isCut' in answer && answer.isCut && half < batch.length && left.length + 2 < MAX_CALLS - calls) {
      left.unshift(batch.slice(0, half), batch.slice(half))
      continue
    }
    if ('problem' in answer) throw new ModelFailed(answer)
    const reading = { shown: batch, tasks, ...verifyPointers({ messages, goals }, { pointers: [], ...answer.value }, ids.idOf) }
    if (reading.problems.size > 0) log.warn({ thread: id, rejected: rejectedIn([reading]) }, 'pointers of the extraction were rejected')
    readings.push(reading)
  }
  return readings
}

/** Returns the local day of a time (milliseconds since the Unix epoch) as YYYY-MM-DD. */
function dayOf (time: number): string {
  const date = new Date(time)
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, '0')).join('-')
}

/** The verified findings from one question, with the messages and tasks that the question showed. */
type Reading = Verified & { shown: UserMessage[], tasks: RanTask[] }

const learningsOf = ({ found, shown }: Reading, threadId: string): Learning[] =>
  found.map(({ message, ...rest }) => {
    const { said, at, id } = shown[message]
    return { ...rest, isAdvice: true, said, source: { threadId, message: at, ...(id !== undefined && { messageId: id }), span: rest.fact } }
  })

const habitsOf = ({ habits, shown, tasks }: Reading, threadId: string): Habitual[] =>
  habits.map(({ message, ...rest }) => {
    if (message < shown.length) return { ...rest, at: shown[message].said, evidence: { threadId } }
    const { taskId, at } = tasks[message - shown.length]
    return { ...rest, at, evidence: { taskId } }
  })

function rejectedIn (readings: Reading[]): Array<{ reason: Problem, count: number }> {
  const counts = new Map<Problem, number>()
  for (const { problems } of readings) for (const [problem, count] of problems) counts.set(problem, (counts.get(problem) ?? 0) + count)
  return [...counts].map(([reason, count]) => ({ reason, count }))
}

/** Groups messages, in their order, into batches that fit into one model call. */
function batches (messages: UserMessage[]): UserMessage[][] {
  const all: UserMessage[][] = [[]]
  let remaining = MAX_CHARACTERS
  for (const message of messages) {
    if (message.text.length > remaining) {
      all.push([])
      remaining = MAX_CHARACTERS
    }
    all.at(-1)!.push(message)
    remaining -= message.text.length
  }
  return all.filter(({ length }) => length > 0)
}

/** The most characters of known entries in a question, and of known habits; the newest are shown. */
const MAX_KNOWN = 8_000

/** Gives known entries and habits short ids for a question to a model. `idOf` maps a short id back to the real id. */
function shownIds (entries: Entry[], habits: Habit[]) {
  const real = new Map<string, string>()
  const shown = (all: Array<{ id: string, text: string }>, letter: string): ShownEntry[] => {
    let left = MAX_KNOWN
    const first = all.findLastIndex(({ text }) => (left -= text.length + letter.length) < 0) + 1
    return all.slice(first).map(({ id, text }, n) => {
      const short = `${letter}${n + 1}`
      real.set(short, id)
      return { id: short, text }
    })
  }
  const known = shown(entries.map(({ id, fact }) => ({ id, text: fact })), 'k')
  return {
    known,
    habits: shown(habits.map(({ id, pattern }) => ({ id, text: pattern })), 'h'),
    idOf: (id: string) => real.get(id)
  }
}
