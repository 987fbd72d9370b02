import type { Clock } from '../../lib/clock.ts'
import { emptyIfDamaged, type StoredRecord } from '../../store/index.ts'

/** The most conversations that can be read within READ_WINDOW_MS. */
const MOST_READS = 10
const READ_WINDOW_MS = 60_000
/** The pause of a model whose answer was refused, did not come or could not be parsed; milliseconds. */
const MODEL_PAUSE_MS = 10 * 60_000
/** The pause of a conversation whose extraction failed; milliseconds. */
const THREAD_PAUSE_MS = 30 * 60_000
/** After this many unreadable answers about a conversation, the conversation is read again only when it has changed. */
const MOST_UNREADABLE = 3
/** How many of the newest entries are stored in each list. */
const MOST_KEPT = 100

interface ThreadFailure { unreadable: number, until: number }

/** The stored state of the brake, which survives restarts. Times are milliseconds since the Unix epoch. */
export interface StoredBrake {
  /** The times of the newest readings of conversations. */
  reads?: number[]
  /** The end of the pause of each model, by its id. */
  models?: Record<string, number>
  threads?: Record<string, ThreadFailure>
}

/**
 * How the extraction from a conversation failed. `unreadable`: the answer could not be used. `unavailable`: the
 * model did not answer. `budget`: a budget forbids the call.
 */
export type ExtractionFailure = 'unreadable' | 'unavailable' | 'budget'

export type ExtractionBrake = Awaited<ReturnType<typeof openExtractionBrake>>

/**
 * Creates the brake that limits how often idle conversations are read, across restarts: at most MOST_READS a
 * minute, and none with a model that failed within MODEL_PAUSE_MS. `setup` returns the values on which models
 * depend (configuration, keys); if one changes, the pauses of models end.
 */
export async function openExtractionBrake ({ stored, clock, setup }: {
  stored: StoredRecord<StoredBrake>
  clock: Pick<Clock, 'now'>
  setup: () => readonly unknown[]
}) {
  let state: StoredBrake = await stored.get().catch(emptyIfDamaged)
  let seen = setup()

  async function change (part: StoredBrake): Promise<void> {
    state = { ...state, ...part }
    await stored.replace(state)
  }

  /** Returns the rest of a pause in milliseconds, at most its whole length (`longest`), even if the clock was set back. */
  const left = (until: number | undefined, longest: number) => Math.min(Math.max((until ?? 0) - clock.now(), 0), longest)

  function pausedModels (): Record<string, number> {
    const now = setup()
    if (now.some((value, at) => value !== seen[at])) state = { ...state, models: {} }
    seen = now
    return state.models ?? {}
  }

  return {
    /** Returns the milliseconds until another conversation can be read; 0 if one can be read now. */
    waitMs (): number {
      const oldest = (state.reads ?? []).at(-MOST_READS)
      return oldest === undefined ? 0 : left(oldest + READ_WINDOW_MS, READ_WINDOW_MS)
    },

    /** Returns the milliseconds until a model can be asked; 0 if it can be asked now. */
    modelPauseMs: (model: string): number => left(pausedModels()[model], MODEL_PAUSE_MS),

    isThreadPaused: (thread: string): boolean => left(state.threads?.[thread]?.until, THREAD_PAUSE_MS) > 0,

    /** Counts a reading of a conversation. Resolves when the count is durable, so that a crash of the service does not lose it. */
    recordRead: (): Promise<void> => change({ reads: [...state.reads ?? [], clock.now()].slice(-MOST_READS) }),

    async recordSuccess (thread: string): Promise<void> {
      const { [thread]: failure, ...threads } = state.threads ?? {}
      if (failure !== undefined) await change({ threads })
    },

    /** Records a failed extraction. Resolves to true if it failed so often that the conversation is read again only when it has changed. */
    async recordFailure (thread: string, model: string, failure: ExtractionFailure): Promise<boolean> {
      const { [thread]: earlier, ...threads } = state.threads ?? {}
      const unreadable = (earlier?.unreadable ?? 0) + (failure === 'unreadable' ? 1 : 0)
      const isOver = unreadable >= MOST_UNREADABLE
      await change({
        // A budget forbids calls of all models, so no single model pauses.
        models: failure === 'budget' ? pausedModels() : newest({ ...pausedModels(), [model]: clock.now() + MODEL_PAUSE_MS }),
        threads: isOver ? threads : newest({ ...threads, [thread]: { unreadable, until: clock.now() + THREAD_PAUSE_MS } })
      })
      return isOver
    }
  }
}

const newest = <T>(record: Record<string, T>): Record<string, T> => Object.fromEntries(Object.entries(record).slice(-MOST_KEPT))
