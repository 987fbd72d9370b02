import type { TaskToolCall } from '../../../schemas/task-runs.ts'
import { MEMORY_LIMITS, type TaskMemory, type TaskMemoryBody } from '../../../schemas/tasks.ts'
import { askStructured, learningPrompt } from '../../models/index.ts'
import type { TaskDeps } from '../task-deps.ts'
import type { Meter } from '../../usage/index.ts'
import type { RunEvent } from '../../contracts/run-events.ts'
import type { StoredRun, StoredTask } from '../task-records.ts'

/** Deadline of the model call; milliseconds. */
const LEARNING_MS = 15_000
/** Newest findings, and decisions, that the model compares with a report. */
const KNOWN_SHOWN = 20
/** Entries that a report may contradict although they are most of what is known. */
const FEW = 3
const { entries: MAX_ENTRIES, characters: MAX_CHARACTERS } = MEMORY_LIMITS

/**
 * Asks a model for the findings and decisions in a report that later runs need, and for what the memory holds that the report
 * contradicts. Never throws: returns nothing on failure.
 */
export async function findInReport (
  { goal, memory }: Pick<StoredTask, 'goal' | 'memory'>,
  report: string,
  { registry, clock, log, meter }: Pick<TaskDeps, 'registry' | 'clock' | 'log'> & { meter: Meter },
  signal: AbortSignal
): Promise<NonNullable<StoredRun['learned']>> {
  const { question, ...asked } = learningPrompt
  const load = () => registry.model('fast')
  const known = [...memory.findings.slice(-KNOWN_SHOWN), ...memory.decisions.slice(-KNOWN_SHOWN)]
  const text = question(goal, report, known)
  const answer = await askStructured({ ...asked, load, text, meter, limitMs: LEARNING_MS, signal, clock })
  if ('value' in answer) return { ...answer.value, outdated: contradicted(known, answer.value.outdated) }
  if (!answer.refused) log.warn({ problem: answer.problem }, 'the findings of a run could not be extracted by a model')
  return { findings: [], decisions: [] }
}

/** The known entries with the given numbers. A model that names more than half of many understood something else. */
function contradicted (known: string[], numbers: number[] = []): string[] {
  const named = known.filter((_, at) => numbers.includes(at + 1))
  return named.length > Math.max(FEW, known.length / 2) ? [] : named
}

/** The memory with what a run has learned, without what that contradicts. */
export function withLearned (memory: TaskMemory, { outdated = [], ...learned }: NonNullable<StoredRun['learned']>): TaskMemory {
  const still = (entry: string) => !outdated.includes(entry)
  return mergeMemory({ ...memory, findings: memory.findings.filter(still), decisions: memory.decisions.filter(still) }, learned)
}

/** Merges entries into the memory without duplicates. The newest MAX_ENTRIES of each kind are kept. */
export function mergeMemory (
  memory: TaskMemory,
  more: Partial<Pick<TaskMemory, 'findings' | 'sources' | 'filesCreated' | 'decisions'>>
): TaskMemory {
  const merged = { ...memory }
  for (const kind of ['findings', 'sources', 'filesCreated', 'decisions'] as const) {
    const fresh = (more[kind] ?? []).map((text) => text.trim().slice(0, MAX_CHARACTERS)).filter((text) => text !== '')
    merged[kind] = [...new Set([...memory[kind].filter((text) => !fresh.includes(text)), ...fresh])].slice(-MAX_ENTRIES)
  }
  return merged
}

/** The memory with lists that a person gives in place of its own. */
export function withLists (memory: TaskMemory, lists: TaskMemoryBody): TaskMemory {
  const none = Object.fromEntries(Object.keys(lists).map((kind) => [kind, []]))
  return mergeMemory({ ...memory, ...none }, lists)
}

/** Adds a person's feedback about a run to the memory. */
export const withFeedback = (memory: TaskMemory, entry: TaskMemory['feedback'][number]): TaskMemory => ({
  ...memory,
  feedback: [...memory.feedback, entry].slice(-MAX_ENTRIES)
})

/** The paths of files that the run wrote, as its tools recorded them. */
export const filesCreated = (log: readonly RunEvent[]): string[] =>
  log.flatMap((event) => 'changes' in event ? event.changes ?? [] : []).flatMap(({ path, after }) => after === null ? [] : [path])

/** The addresses of pages that the run read. */
export const sources = (calls: TaskToolCall[]): string[] =>
  calls.flatMap(({ status, input }) => {
    const url = typeof input === 'object' && input !== null && 'url' in input ? input.url : undefined
    return status === 'completed' && typeof url === 'string' && /^https?:/i.test(url) ? [url] : []
  })
