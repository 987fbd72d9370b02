import type { TaskToolCall } from '../../../schemas/task-runs.ts'
import { MEMORY_LIMITS, type TaskMemory, type TaskMemoryBody } from '../../../schemas/tasks.ts'
import { learningPrompt } from '../../models/index.ts'
import { quoteFinder } from '../../lib/quotes.ts'
import { shareSubject } from '../../brain/index.ts'
import { askBehindUser, type TaskDeps } from '../task-deps.ts'
import type { Meter } from '../../usage/index.ts'
import type { RunEvent } from '../../contracts/run-events.ts'
import type { StoredRun, StoredTask } from '../task-records.ts'

/** The time limit of the model call, and the longest wait for conversations that use the same local server; milliseconds. */
const LEARNING_MS = 15_000
const WAITING_MS = 2 * 60_000
/** How many of the newest findings, and of the newest decisions, the model compares with a report. */
const KNOWN_SHOWN = 20
/** How many entries a report can contradict in any case, even if these are more than half of all entries. */
const FEW = 3
const { entries: MAX_ENTRIES, characters: MAX_CHARACTERS } = MEMORY_LIMITS

/**
 * Asks a model for the findings and decisions in a report that later runs need, and for the memory entries that
 * the report contradicts. Never throws: returns empty lists on failure.
 */
export async function findInReport (
  { goal, memory }: Pick<StoredTask, 'goal' | 'memory'>,
  report: string,
  { registry, helpers, clock, log, meter }: Pick<TaskDeps, 'registry' | 'helpers' | 'clock' | 'log'> & { meter: Meter },
  signal: AbortSignal
): Promise<NonNullable<StoredRun['learned']>> {
  const { question, ...asked } = learningPrompt
  const load = () => registry.model('fast')
  const known = [...memory.findings.slice(-KNOWN_SHOWN), ...memory.decisions.slice(-KNOWN_SHOWN)]
  const call = { ...asked, load, text: question(goal, report, known), meter, clock }
  const answer = await askBehindUser(registry.roles().fast, call, { helpers, limitMs: LEARNING_MS, waitMs: WAITING_MS, signal })
  if ('value' in answer) {
    const { findings = [], decisions = [], outdated } = answer.value
    const quoted = quoteFinder(report)
    // A statement that is not in the report was made up by the model.
    const inReport = (texts: string[]) => texts.flatMap((words) => quoted(words) ?? [])
    return { findings: inReport(findings), decisions: inReport(decisions), outdated: contradicted(known, outdated) }
  }
  if (!answer.refused) log.warn({ problem: answer.problem }, 'the findings of a run could not be extracted by a model')
  return { findings: [], decisions: [] }
}

/**
 * Returns the known entries with these numbers, counted from 1. Returns none if the model names more than FEW
 * entries and more than half of all, because it has then misunderstood the question.
 */
function contradicted (known: string[], numbers: number[] = []): string[] {
  const named = known.filter((_, at) => numbers.includes(at + 1))
  return named.length > Math.max(FEW, known.length / 2) ? [] : named
}

const KINDS = ['findings', 'decisions'] as const
type ReplacedEntry = NonNullable<TaskMemory['replaced']>[number]
type DoubtedEntry = NonNullable<TaskMemory['doubted']>[number]

/**
 * Merges the findings and decisions of a run into the memory. An entry that the report contradicts is replaced if a run
 * wrote the entry and a new entry is about the same subject. Any other contradicted entry stays and is marked as doubtful.
 */
export function withLearned (memory: TaskMemory, { outdated = [], ...learned }: NonNullable<StoredRun['learned']>): TaskMemory {
  const { confirmed = [] } = memory
  const fresh = [...learned.findings, ...learned.decisions]
  const replaced: ReplacedEntry[] = []
  const doubted: DoubtedEntry[] = []
  for (const kind of KINDS) {
    for (const entry of memory[kind].filter((each) => outdated.includes(each) && !fresh.includes(each))) {
      const by = confirmed.includes(entry) ? undefined : fresh.find((each) => shareSubject({ fact: each }, { fact: entry }))
      if (by === undefined) doubted.push({ entry, kind })
      else replaced.push({ entry, kind, by })
    }
  }
  const gone = replaced.map(({ entry }) => entry)
  const still = (entry: string) => !gone.includes(entry)
  const rest = { ...memory, findings: memory.findings.filter(still), decisions: memory.decisions.filter(still) }
  return withNotes(mergeMemory(rest, learned), { replaced, doubted })
}

/**
 * Adds notes about replaced and doubtful entries to the memory. A note about a replaced entry is removed if the
 * entry is in the memory again; a note about a doubtful entry is removed if the entry is gone.
 */
function withNotes (
  memory: TaskMemory,
  { replaced = [], doubted = [] }: { replaced?: ReplacedEntry[], doubted?: DoubtedEntry[] } = {}
): TaskMemory {
  const { confirmed, replaced: earlier = [], doubted: before = [], ...rest } = memory
  const has = ({ kind, entry }: DoubtedEntry) => memory[kind].includes(entry)
  const all = [...earlier, ...replaced].filter((each) => !has(each)).slice(-MAX_ENTRIES)
  const open = [...before.filter(({ entry }) => doubted.every((each) => each.entry !== entry)), ...doubted].filter(has)
  const typed = confirmed?.filter((entry) => KINDS.some((kind) => memory[kind].includes(entry))) ?? []
  return {
    ...rest,
    ...(typed.length > 0 && { confirmed: typed }),
    ...(all.length > 0 && { replaced: all }),
    ...(open.length > 0 && { doubted: open })
  }
}

/**
 * Merges entries into the memory without duplicates. MAX_ENTRIES of each kind are kept: first the entries that a
 * person confirmed, then the newest.
 */
export function mergeMemory (
  memory: TaskMemory,
  more: Partial<Pick<TaskMemory, 'findings' | 'sources' | 'filesCreated' | 'decisions'>>
): TaskMemory {
  const merged = { ...memory }
  for (const kind of ['findings', 'sources', 'filesCreated', 'decisions'] as const) {
    const fresh = (more[kind] ?? []).map((text) => text.trim().slice(0, MAX_CHARACTERS)).filter((text) => text !== '')
    const all = [...new Set([...memory[kind].filter((text) => !fresh.includes(text)), ...fresh])]
    let excess = all.length - MAX_ENTRIES
    merged[kind] = all.filter((text) => memory.confirmed?.includes(text) || --excess < 0).slice(-MAX_ENTRIES)
  }
  return merged
}

/** Replaces lists of the memory by lists from a person. The entries of these lists become confirmed, and none of them is doubtful. */
export function withLists (memory: TaskMemory, lists: TaskMemoryBody): TaskMemory {
  const none = Object.fromEntries(Object.keys(lists).map((kind) => [kind, []]))
  const merged = mergeMemory({ ...memory, ...none }, lists)
  const given = KINDS.flatMap((kind) => lists[kind] === undefined ? [] : merged[kind])
  const { confirmed = [], doubted = [] } = memory
  return withNotes({
    ...merged,
    confirmed: [...new Set([...confirmed, ...given])],
    doubted: doubted.filter(({ entry }) => !given.includes(entry))
  })
}

/** Adds a person's feedback about a run to the memory, which keeps the newest MAX_ENTRIES. */
export const withFeedback = (memory: TaskMemory, entry: TaskMemory['feedback'][number]): TaskMemory => ({
  ...memory,
  feedback: [...memory.feedback, entry].slice(-MAX_ENTRIES)
})

/** Returns the paths of the files that a run created or changed, as its tools recorded them. Removed files are left out. */
export const filesCreated = (log: readonly RunEvent[]): string[] =>
  log.flatMap((event) => 'changes' in event ? event.changes ?? [] : []).flatMap(({ path, after }) => after === null ? [] : [path])

/** Returns the http and https URLs that the run read: the `url` inputs of its completed calls. */
export const sources = (calls: TaskToolCall[]): string[] =>
  calls.flatMap(({ status, input }) => {
    const url = typeof input === 'object' && input !== null && 'url' in input ? input.url : undefined
    return status === 'completed' && typeof url === 'string' && /^https?:/i.test(url) ? [url] : []
  })
