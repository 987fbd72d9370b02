import { createBrain, emptyMemory } from '../../../services/brain/brain.ts'
import { createExtraction } from '../../../services/brain/extraction/extractor.ts'
import type { Pointer } from '../../../services/models/prompts/extraction.ts'
import { createThreadRepository, type ThreadMessage } from '../../../services/threads/thread-repository.ts'
import { testStore } from '../../harness/store.ts'
import { fakeClock } from '../../harness/clock.ts'
import type { Line } from './dialogue.ts'

const messageOf = (line: Line, n: number): ThreadMessage => {
  if (typeof line === 'string') return { id: `m${n}`, role: 'user', content: line }
  if ('assistant' in line) return { role: 'assistant', content: [{ type: 'text', text: line.assistant }] }
  return {
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId: 'c', toolName: 'fetchUrl', output: { type: 'text', value: line.tool } }]
  }
}

let shared: ReturnType<typeof testStore> | undefined
let brains = 0

/** Threads and a brain of their own that learns from them by what a model answers. One store serves them all. */
export async function remembering (t: Parameters<typeof testStore>[0] & { parent?: any }, answer: () => Pointer[]) {
  let root = t
  while (root.parent) root = root.parent
  const store = await (shared ??= testStore(root))
  const clock = fakeClock()
  const threads = createThreadRepository({ store, clock, readAnswer: async () => ({ role: 'assistant' }) })
  const brain = createBrain({
    record: store.record(`brain ${brains++}`.replace(' ', '-'), emptyMemory),
    now: clock.now,
    digest: store.digest
  })
  const { extract } = createExtraction({
    threads,
    brain,
    isOffline: async () => false,
    ask: async () => ({ value: { pointers: answer() } as never }),
    log: { warn () {} },
    ranTasks: async () => []
  })
  return {
    store,
    clock,
    threads,
    brain,
    extract,
    /** Writes a conversation, all of it said now. */
    tell: async (id: string, lines: Line[]) => {
      await clock.advance(1000)
      await store.transact(await threads.replace(id, lines.map(messageOf)))
    },
    facts: async () => (await brain.facts({ limit: 500 })).facts
  }
}
