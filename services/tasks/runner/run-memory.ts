import { Type } from '@sinclair/typebox'
import type { TaskMemory } from '../../../schemas/tasks.ts'
import { askStructured } from '../../models/structured-call.ts'
import type { TaskDeps } from '../task-deps.ts'
import type { StoredRun } from '../task-records.ts'

/** Deadline of the model call; milliseconds. */
const LEARNING_MS = 15_000
/** Entries of each kind that a task's memory keeps, and characters of one entry. */
const MAX_ENTRIES = 100
const MAX_CHARACTERS = 1_000

const Learned = Type.Object({
  findings: Type.Array(Type.String({ description: 'A fact found that later runs should know' }), { maxItems: 10 }),
  decisions: Type.Array(Type.String({ description: 'A choice made that later runs should keep to' }), { maxItems: 10 })
})

const INSTRUCTIONS = 'Extract what later runs of this task should know from the report of this one: facts it found and choices it made. ' +
  'Only what the report says; nothing when there is nothing. Answer with the JSON object only.'

/** Asks a model for the findings and decisions in a report that later runs need. Never throws: returns nothing on failure. */
export async function learn (
  goal: string,
  report: string,
  { registry, clock, log }: Pick<TaskDeps, 'registry' | 'clock' | 'log'>,
  signal: AbortSignal
): Promise<NonNullable<StoredRun['learned']>> {
  const answer = await askStructured({
    load: () => registry.model('fast'),
    name: 'task-memory',
    schema: Learned,
    instructions: INSTRUCTIONS,
    text: `Goal: ${goal.slice(0, 2_000)}\n\nReport:\n${report.slice(0, 16_000)}`,
    limitMs: LEARNING_MS,
    signal,
    clock
  })
  if ('value' in answer) return answer.value
  log.warn({ problem: answer.problem }, 'the findings of a run could not be extracted by a model')
  return { findings: [], decisions: [] }
}

/** Merges entries into the memory without duplicates. The newest MAX_ENTRIES of each kind are kept. */
export function remember (
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
