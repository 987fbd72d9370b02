import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { RECALLED_OPENING } from '../../contracts/model-texts.ts'
import { tokensIn } from '../../models/index.ts'
import { type Op, threadMemoryKey, type Store, unlessDamaged } from '../../store/index.ts'
import { BrainDamaged } from '../brain-errors.ts'
import { chooseShown, COMPACT_PREVIEW_TOKENS, isForAll, lineOf, promptSections, type Shown } from '../context-preview.ts'
import type { Entry, Memory } from '../memory.ts'
import { createEntryIndex } from './entry-index.ts'

/** The text that models receive instead of a damaged memory. */
const DAMAGED = 'What is remembered of the user is damaged on the disk and cannot be read; DELETE /memory/brain clears it.'
/** The most tokens of recalled entries that are added to one message. */
export const RECALLED_TOKENS = 500
/** The limit of RECALLED_TOKENS for a model with a small context window. */
const COMPACT_RECALLED_TOKENS = 80
/** How many characters at the beginning of a long message, and at its end, are used to find entries. */
const LOOKED_AT = 4_000
/** The most messages of a conversation whose recalled entries are stored; the oldest are dropped. */
const MAX_RECALLED = 500

/**
 * The stored view: the part of the memory that the models of a conversation receive. It names entries by id, so
 * that a forgotten entry is gone everywhere: only the brain stores its words.
 */
interface StoredView extends Shown {
  /** The ids of the entries that were added to messages of the user, by a digest of the message (`of`), oldest first. */
  recalled: Array<{ of: string, ids: string[] }>
}

/** The memory that the model of a conversation receives in one run. */
export interface ThreadMemory {
  /** The text for the system prompt, and the entries that the text shows. */
  system: { text: string, shown: Shown }
  /** Returns the system text without entries that were forgotten since; undefined if none of `shown` was. */
  without: (shown: Shown) => Promise<string | undefined>
  /** Returns the texts with recalled entries for messages of the prompt, from the present memory. */
  recalled: () => Promise<ReadonlyMap<LanguageModelV4Message, string>>
  hasRecalled: boolean
  /** Operations that store a changed view, for the transaction that stores the request. */
  ops: Op[]
}

const TOLD_NOTHING: ThreadMemory = {
  system: { text: '', shown: { ids: [], isPartial: false } },
  without: async () => undefined,
  recalled: async () => new Map(),
  hasRecalled: false,
  ops: []
}
const TOLD_OF_DAMAGE: ThreadMemory = { ...TOLD_NOTHING, system: { ...TOLD_NOTHING.system, text: DAMAGED } }
const EMPTY_VIEW: StoredView = { ids: [], isPartial: false, recalled: [] }

export type ToldMemory = ReturnType<typeof createToldMemory>

/** Values computed once for each version of the memory. */
interface Derived {
  chosen: Shown
  /** The choice for a model with a small context window. */
  chosenCompact: Shown
  known: ReadonlyMap<string, Entry>
  /** The ids of all entries and habits that can be shown. */
  ids: ReadonlySet<string>
  forAll: readonly Entry[]
}
const derived = new WeakMap<Memory, Derived>()

function derivedOf (memory: Memory): Derived {
  const before = derived.get(memory)
  if (before !== undefined) return before
  const known = new Map(memory.entries.flatMap((entry) => entry.state === 'known' ? [[entry.id, entry] as const] : []))
  const made: Derived = {
    chosen: chooseShown(memory),
    chosenCompact: chooseShown(memory, COMPACT_PREVIEW_TOKENS),
    known,
    ids: new Set([...known.keys(), ...memory.habits.map(({ id }) => id)]),
    forAll: [...known.values()].filter(isForAll)
  }
  derived.set(memory, made)
  return made
}

const chosenOf = (memory: Memory, isCompact: boolean): Shown => derivedOf(memory)[isCompact ? 'chosenCompact' : 'chosen']

/**
 * Creates the service that chooses which part of the memory models receive: a fixed part in the system prompt,
 * and entries that fit a message of the user.
 */
export function createToldMemory ({ load, store }: {
  load: () => Promise<Memory>
  store: Pick<Store, 'get' | 'digest'>
}) {
  const index = createEntryIndex()

  /** Returns the memory; undefined if it is damaged, because a damaged memory must not stop a run. */
  const readable = (): Promise<Memory | undefined> =>
    load().catch((error) => {
      if (error instanceof BrainDamaged) return undefined
      throw error
    })

  /** Returns the ids of the entries that fit a text and are not in `seen`, the best first, up to the token limit. */
  async function fitting (
    memory: Memory,
    text: string,
    { seen, isCompact }: { seen: ReadonlySet<string>, isCompact: boolean }
  ): Promise<string[]> {
    const { known } = derivedOf(memory)
    if (known.size <= seen.size && [...known.keys()].every((id) => seen.has(id))) return []
    await index.update(memory.entries)
    const looked = text.length <= 2 * LOOKED_AT ? text : `${text.slice(0, LOOKED_AT)}\n${text.slice(-LOOKED_AT)}`
    const ids: string[] = []
    let left = (isCompact ? COMPACT_RECALLED_TOKENS : RECALLED_TOKENS) - tokensIn(RECALLED_OPENING)
    for (const { id } of index.search(looked)) {
      const entry = known.get(id)
      if (entry === undefined || seen.has(id)) continue
      const tokens = tokensIn(`${lineOf(entry)}\n`)
      if (tokens > left) continue
      left -= tokens
      ids.push(id)
    }
    return ids
  }

  /** True if a view must be created anew: one of its entries is gone, it is too long, or a new entry belongs in every conversation. */
  function isOutdated (memory: Memory, view: StoredView, isCompact: boolean): boolean {
    const { ids, forAll } = derivedOf(memory)
    const chosen = chosenOf(memory, isCompact)
    const told = new Set(view.ids)
    if (view.ids.some((id) => !ids.has(id))) return true
    if (isCompact && tokensIn(promptSections(memory, view)) > COMPACT_PREVIEW_TOKENS) return true
    const fresh = new Set(chosen.ids)
    return forAll.some(({ id }) => fresh.has(id) && !told.has(id))
  }

  return {
    /**
     * Returns the text about the memory for the system prompt of a run outside of conversations, including entries
     * that fit `about`; '' if there is none.
     */
    async forRun (about = '', isCompact = false): Promise<string> {
      const memory = await readable()
      if (memory === undefined) return DAMAGED
      const shown = chosenOf(memory, isCompact)
      const more = await fitting(memory, about, { seen: new Set(shown.ids), isCompact })
      return promptSections(memory, { ...shown, ids: [...shown.ids, ...more] })
    },

    /**
     * Returns the memory for a conversation. Its view is kept as long as possible, so that the beginning of its prompts
     * stays the same for the prompt cache. With `isNew`, fitting entries are added to the last message of the user.
     */
    async ofThread (
      thread: string,
      prompt: LanguageModelV4Prompt,
      { isNew, isCompact = false }: { isNew: boolean, isCompact?: boolean }
    ): Promise<ThreadMemory> {
      const memory = await readable()
      if (memory === undefined) return TOLD_OF_DAMAGE
      const key = threadMemoryKey(thread)
      const stored = await unlessDamaged(store.get<StoredView>(key))
      // An empty view is stored, so that the first entry that is learned does not change the beginning of the prompts either.
      if (memory.entries.length + memory.habits.length === 0) {
        return { ...TOLD_NOTHING, ops: stored === undefined ? [{ type: 'put', key, value: EMPTY_VIEW }] : [] }
      }
      const view: StoredView = stored === undefined || isOutdated(memory, stored, isCompact)
        ? { ...chosenOf(memory, isCompact), recalled: stored?.recalled ?? [] }
        : { ...stored }
      const words = new Map(prompt.flatMap((message) => message.role === 'user' ? [[message, store.digest(textOf(message))] as const] : []))
      const last = [...words].at(-1)
      const said = last === undefined ? 0 : [...words.values()].filter((of) => of === last[1]).length
      const isLooked = last !== undefined && view.recalled.filter(({ of }) => of === last[1]).length >= said
      if (isNew && last !== undefined && !isLooked) {
        const seen = new Set([...view.ids, ...view.recalled.flatMap(({ ids }) => ids)])
        const ids = await fitting(memory, textOf(last[0]), { seen, isCompact })
        if (ids.length > 0) view.recalled = [...view.recalled, { of: last[1], ids }].slice(-MAX_RECALLED)
      }
      const isSame = stored?.recalled === view.recalled && stored.ids === view.ids
      return {
        system: { text: promptSections(memory, view), shown: { ids: view.ids, isPartial: view.isPartial } },
        async without (shown) {
          const now = await readable()
          if (now === undefined) return ''
          const { ids } = derivedOf(now)
          return shown.ids.every((id) => ids.has(id)) ? undefined : promptSections(now, shown)
        },
        async recalled () {
          const now = await readable()
          return now === undefined ? new Map() : textsOf(words, view, derivedOf(now).known)
        },
        hasRecalled: textsOf(words, view, derivedOf(memory).known).size > 0,
        ops: isSame ? [] : [{ type: 'put', key, value: view }]
      }
    },

    /** Builds the index of the known entries, so that the first message need not wait for the index. */
    async prepare (): Promise<void> {
      const memory = await readable()
      if (memory !== undefined && derivedOf(memory).chosen.isPartial) await index.update(memory.entries)
    }
  }
}

/**
 * Returns the text that is added to each message. Of several messages with the same words, the last one gets the newest recalled entries.
 */
function textsOf (
  words: ReadonlyMap<LanguageModelV4Message, string>,
  { recalled }: StoredView,
  entries: ReadonlyMap<string, Entry>
): ReadonlyMap<LanguageModelV4Message, string> {
  const texts = new Map<LanguageModelV4Message, string>()
  const left = [...recalled]
  for (const [message, of] of [...words].reverse()) {
    const at = left.findLastIndex((each) => each.of === of)
    if (at < 0) continue
    const [{ ids }] = left.splice(at, 1)
    const lines = ids.flatMap((id) => entries.get(id) ?? []).map(lineOf)
    if (lines.length > 0) texts.set(message, [RECALLED_OPENING, ...lines].join('\n'))
  }
  return texts
}

const textOf = ({ content }: LanguageModelV4Message): string =>
  typeof content === 'string' ? content : content.flatMap((part) => part.type === 'text' ? part.text : []).join('\n')
