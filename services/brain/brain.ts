import {
  LIMITS,
  type Brain,
  type BrainView,
  type FactChange,
  type FactFilter,
  type FactList,
  type KnownFact,
  type PreferenceBody
} from '../../schemas/brain.ts'
import { newId } from '../lib/ids.ts'
import type { StoredRecord } from '../store/index.ts'
import { BrainDamaged, EntryNotFound, FactNotFound, PreferenceNotFound } from './brain-errors.ts'
import { contextPreview } from './context-preview.ts'
import { add, changeEntry, drop, erase, factView, hasKey, listFacts, makeKnown, requireRoom, sameEntry } from './entry-changes.ts'
import { foldText, normalise, topicsIn } from './fact-text.ts'
import { eraseForgotten, findAbout, forgetAll, ignoreAbout, ignoreEverything } from './forget-about.ts'
import { type Habitual, learn, type Learned, type Learning, observeHabits } from './learning.ts'
import {
  brainOf,
  emptyMemory,
  isPattern,
  isProtected,
  ofKind,
  preferencesOf,
  type Entry,
  type Habit,
  type Memory,
  changeBetween,
  type BrainChange
} from './memory.ts'

export { emptyMemory } from './memory.ts'
export type { Learning } from './learning.ts'

/** A user's wish to have something forgotten, with the words that express the wish. */
type ForgetWish = Pick<Learning, 'fact' | 'said' | 'source' | 'isUnsure'> & {
  /** True if no text from others can have caused the wish. */
  isSure: boolean
}

/**
 * The result of forgetting: forgotten entries and patterns, `open` entries whose forgetting is `proposed` to the
 * user, and entries that `maybe` are about the subject.
 */
interface Forgotten {
  forgotten: Entry[]
  patterns: Habit[]
  open: Entry[]
  proposed: Entry[]
  maybe: Entry[]
}

/** Creates the service for the user's long-term memory. Every change resolves when the change is durable. */
export function createBrain ({ record, now, digest, onChange = () => {} }: {
  record: StoredRecord<Memory>
  now: () => number
  digest: (text: string) => string
  /** Called with each change once the change is durable. */
  onChange?: (change: BrainChange) => void
}) {
  const load = (): Promise<Memory> => record.get().catch(toBrainError)

  /** Applies `edit` to the memory. If `edit` returns its argument unchanged, nothing is stored and `updatedAt` stays. */
  async function update (edit: (memory: Memory) => Memory): Promise<Memory> {
    let before: Memory | undefined
    const after = await record.update((memory) => {
      const current = eraseForgotten(memory, now(), digest)
      const changed = edit(current)
      if (changed === memory) return memory
      before = memory
      return { ...changed, updatedAt: now() }
    }).catch(toBrainError)
    if (before !== undefined) onChange(changeBetween(before, after))
    return after
  }
  const change = async (edit: (memory: Memory) => Memory): Promise<Brain> => brainOf(await update(edit))

  /** Adds a text that the user typed. The entry is known at once, even if the same text was proposed or replaced before. */
  const typed = (memory: Memory, content: Pick<Entry, 'kind' | 'fact' | 'key' | 'value'>): Memory => {
    const same = sameEntry(memory, content)
    if (same?.state === 'known') return memory
    const time = now()
    return makeKnown(memory, { id: same?.id ?? newId(), ...content, state: 'proposed', createdAt: time, said: time }, time)
  }

  return {
    /** Returns everything that is remembered. Throws BrainDamaged (500), like every operation here except `clear`. */
    whole: load,

    /** Returns the public form of the memory, and a preview of the text about it in system prompts. */
    async recall (): Promise<BrainView> {
      const memory = await load()
      return { brain: brainOf(memory), contextPreview: contextPreview(memory) }
    },

    /**
     * Adds a fact unless it is known already; the comparison ignores case, blanks and end marks. Throws TextLength
     * (400) and TooManyFacts (409).
     */
    async learn (text: string): Promise<Brain> {
      const fact = normalise('fact', text, LIMITS.fact)
      return change((memory) => typed(memory, { kind: 'fact', fact }))
    },

    /**
     * Erases the fact that equals the normalised `text` (case matters), and the entries that this fact had replaced.
     * Throws TextLength (400) and FactNotFound (404).
     */
    async forget (text: string): Promise<Brain> {
      const fact = normalise('fact', text, LIMITS.fact)
      return change((memory) => {
        const known = ofKind(memory, 'fact').filter((entry) => entry.fact === fact)
        if (known.length === 0) throw new FactNotFound()
        return erase(memory, known.map(({ id }) => id), now(), digest)
      })
    },

    /**
     * Sets a preference. A preference whose key differs only in case, blanks or end marks is overwritten, and its
     * key gets the new spelling. Throws TextLength (400) and TooManyPreferences (409).
     */
    async prefer ({ key: text, value: rawValue }: PreferenceBody): Promise<Brain> {
      const key = normalise('key', text, LIMITS.key)
      const value = rawValue.toWellFormed()
      return change((memory) => {
        const known = ofKind(memory, 'preference').find(hasKey(key))
        if (known?.key === key && known.value === value) return memory
        const time = now()
        const entry: Entry = {
          id: known?.id ?? newId(),
          kind: 'preference',
          state: 'known',
          fact: `${key}: ${value}`,
          key,
          value,
          createdAt: time,
          said: time,
          ...(known?.pinned && { pinned: true }),
          ...(known?.important && { important: true })
        }
        if (known === undefined) {
          requireRoom(memory, 'preference')
          return add(memory, entry)
        }
        return { ...memory, entries: memory.entries.map((each) => each === known ? entry : each) }
      })
    },

    /** Erases a preference, proposals for its key, and its earlier values. Throws TextLength (400) and PreferenceNotFound (404). */
    async dropPreference (text: string): Promise<Brain> {
      const key = normalise('key', text, LIMITS.key)
      return change((memory) => {
        const same = memory.entries.filter(hasKey(key))
        if (!same.some(({ state }) => state === 'known')) throw new PreferenceNotFound(key)
        return erase(memory, same.map(({ id }) => id), now(), digest)
      })
    },

    /** Clears the whole memory, including a damaged record. Extraction learns nothing from messages up to now any more. */
    async clear (): Promise<Brain> {
      const memory = await load().catch(() => undefined)
      const isEmpty = memory !== undefined && memory.entries.length + memory.habits.length === 0
      const empty: Memory = { ...emptyMemory(), updatedAt: isEmpty ? memory.updatedAt : now(), clearedAt: now() }
      await record.replace(empty)
      onChange(changeBetween(memory ?? empty, empty))
      return brainOf(empty)
    },

    /** Returns a page of facts, preferences, instructions or patterns with their sources, newest first. */
    facts: async (query: FactFilter): Promise<FactList> => listFacts(await load(), query),

    /** Edits, pins, accepts, restores or hides an entry; see `changeEntry` for what it throws. */
    async change (id: string, changes: FactChange): Promise<{ fact?: KnownFact, brain: Brain }> {
      const memory = await update((memory) => changeEntry(memory, id, changes, now()))
      const entry = memory.entries.find((each) => each.id === id)
      return { ...(entry && { fact: factView(entry) }), brain: brainOf(memory) }
    },

    /** Erases an entry or a pattern, with every trace of its text. Throws EntryNotFound (404). */
    remove: (id: string): Promise<Brain> =>
      change((memory) => {
        const habit = memory.habits.find((each) => each.id === id)
        if (habit !== undefined) {
          return drop({ ...memory, habits: memory.habits.filter((each) => each !== habit) }, [foldText(habit.pattern)], now(), digest)
        }
        if (!memory.entries.some((entry) => entry.id === id)) throw new EntryNotFound(id)
        return erase(memory, [id], now(), digest)
      }),

    /** Adds statements to the memory; see `learn`. `habits` are requests that count towards patterns. */
    async ingest (learnings: Learning[], habits: Habitual[] = []): Promise<Omit<Learned, 'memory'>> {
      let learned: Omit<Learned, 'memory'> = { known: [], proposed: [], replaced: [] }
      await update((before) => {
        const { memory, ...rest } = learn(before, learnings, { now: now(), digest })
        learned = rest
        return observeHabits(memory, habits, { now: now(), digest })
      })
      return learned
    },

    /**
     * Forgets everything about a subject that the user names. Typed, pinned and important entries are forgotten at
     * once only with `isSure`. Otherwise, and for words that might not be the user's wish (`isUnsure`), forgetting
     * these entries is proposed to the user. Returns undefined if the words could name anything.
     */
    async forgetAbout (about: string, { isSure, ...wish }: ForgetWish): Promise<Forgotten | undefined> {
      const found = findAbout(await load(), about)
      if (found === undefined) return undefined
      const isAtOnce = (entry: Entry) => !wish.isUnsure && (isSure || (!isProtected(entry) && !entry.important))
      const open = found.entries.filter((entry) => entry.state === 'known' && !isAtOnce(entry))
      const entries = found.entries.filter((entry) => isAtOnce(entry) && entry.forgottenAt === undefined)
      const habits = wish.isUnsure ? [] : found.habits
      if (!wish.isUnsure) {
        await update((memory) => ignoreAbout(forgetAll(memory, { entries, habits }, now(), digest), about, now(), digest))
      }
      let proposed: Entry[] = []
      if (open.length > 0) {
        const replaces = open.map(({ id }) => id)
        const retraction = { ...wish, kind: 'fact' as const, replaces, isRetraction: true, isUnsure: true, isForgotten: true }
        await update((memory) => {
          const learned = learn(memory, [retraction], { now: now(), digest })
          proposed = learned.proposed
          return learned.memory
        })
      }
      const forgotten = entries.filter(({ state }) => state === 'known')
      return { forgotten, patterns: habits.filter(isPattern), open, proposed, maybe: found.maybe }
    },

    /**
     * Forgets all known and proposed entries, including typed and pinned ones, and ignores all statements made so
     * far. Returns the entries that were known.
     */
    async forgetEverything (): Promise<Entry[]> {
      let forgotten: Entry[] = []
      await update((memory) => {
        const entries = memory.entries.filter((entry) => entry.forgottenAt === undefined && !entry.retracts)
        forgotten = entries.filter(({ state }) => state === 'known')
        const hidden = forgetAll(memory, { entries, habits: memory.habits }, now(), digest)
        return ignoreEverything(hidden, now())
      })
      return forgotten
    },

    /**
     * Files entries: gives them topics, by which they are found for a message, and marks the important ones. An
     * entry whose topics are empty counts as filed, too.
     */
    file: (filed: Array<{ id: string, topics?: unknown, isImportant: boolean }>): Promise<unknown> =>
      update((memory) => {
        const byId = new Map(filed.map((each) => [each.id, each]))
        const entries = memory.entries.map((entry) => {
          const { topics, isImportant } = byId.get(entry.id) ?? {}
          return byId.has(entry.id) ? { ...entry, topics: topicsIn(topics), ...(isImportant && { important: true as const }) } : entry
        })
        return { ...memory, entries }
      }),

    /** Erases entries that were forgotten 30 days ago. Does nothing if the memory cannot be read. */
    async sweep (): Promise<void> {
      const memory = await load().catch(() => undefined)
      if (memory !== undefined && eraseForgotten(memory, now(), digest) !== memory) await update((memory) => memory)
    },

    /** Returns the known entries, and the requests that might recur, oldest first. */
    async known (): Promise<{ entries: Entry[], habits: Habit[] }> {
      const { entries, habits } = await load()
      return { entries: entries.filter(({ state }) => state === 'known'), habits }
    },

    /** Returns the known facts and preferences that were learned from one thread. */
    async from (threadId: string): Promise<{ facts: string[], preferences: Record<string, string> }> {
      const memory = await load()
      const ofThread = ({ source }: Entry) => source?.threadId === threadId
      return {
        facts: ofKind(memory, 'fact').filter(ofThread).map(({ fact }) => fact),
        preferences: preferencesOf(ofKind(memory, 'preference').filter(ofThread))
      }
    }
  }
}

function toBrainError (error: { code?: string }): never {
  throw error.code === 'ERR_RECORD_DAMAGED' ? new BrainDamaged() : error
}

export type BrainService = ReturnType<typeof createBrain>
