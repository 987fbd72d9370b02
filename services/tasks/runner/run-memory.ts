import type { TaskToolCall } from '../../../schemas/task-runs.ts'
import type { TaskMemory } from '../../../schemas/tasks.ts'
import { askStructured, learningPrompt } from '../../models/index.ts'
import type { TaskDeps } from '../task-deps.ts'
import type { Meter } from '../../usage/index.ts'
import type { RunEvent } from '../../contracts/run-events.ts'
import type { StoredRun } from '../task-records.ts'

/** Deadline of the model call; milliseconds. */
const LEARNING_MS = 15_000
/** Entries of each kind that a task's memory keeps, and characters of one entry. */
const MAX_ENTRIES = 100
const MAX_CHARACTERS = 1_000

/** Asks a model for the findings and decisions in a report that later runs need. Never throws: returns nothing on failure. */
export async function findInReport (
  goal: string,
  report: string,
  { registry, clock, log, meter }: Pick<TaskDeps, 'registry' | 'clock' | 'log'> & { meter: Meter },
  signal: AbortSignal
): Promise<NonNullable<StoredRun['learned']>> {
  const { name, schema, instructions, question } = learningPrompt
  const load = () => registry.model('fast')
  const text = question(goal, report)
  const answer = await askStructured({ load, name, schema, instructions, text, meter, limitMs: LEARNING_MS, signal, clock })
  if ('value' in answer) return answer.value
  if (!answer.refused) log.warn({ problem: answer.problem }, 'the findings of a run could not be extracted by a model')
  return { findings: [], decisions: [] }
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
