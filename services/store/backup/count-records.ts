import type { BackupCounts } from '../../../schemas/backup.ts'
import { ATTACHMENTS, MESSAGES, RECORDS, RUNS, TASKS, THREADS } from '../keys.ts'
import { recordKey } from '../record-names.ts'
import type { Store } from '../store-types.ts'

/** All that is counted by the beginnings of keys. */
const PREFIXES = { threads: THREADS, messages: MESSAGES, tasks: TASKS, runs: RUNS, attachments: ATTACHMENTS } as const
type Prefixed = keyof typeof PREFIXES

const NAMES = Object.keys(PREFIXES) as Prefixed[]
const [BRAIN, AGENTS] = [recordKey(RECORDS.brain), recordKey(RECORDS.agents)]

const factsIn = (memory: unknown): number => (memory as { entries?: unknown[] } | undefined)?.entries?.length ?? 0
const agentsIn = (agents: unknown): number => Object.keys(agents ?? {}).length

/** Counts what records are of, as a person speaks of them. */
export function createCounter () {
  const counts: BackupCounts = { facts: 0, threads: 0, messages: 0, tasks: 0, runs: 0, attachments: 0, agents: 0 }
  return {
    counts,
    add ([key, value]: [key: string, value: unknown]): void {
      if (key === BRAIN) counts.facts = factsIn(value)
      if (key === AGENTS) counts.agents = agentsIn(value)
      for (const name of NAMES) if (key.startsWith(PREFIXES[name])) counts[name]++
    }
  }
}

/** Counts what is in a store. Only single records are decrypted, which were opened before; one that is damaged counts as empty. */
export async function countStored (store: Pick<Store, 'keys' | 'record'>): Promise<BackupCounts> {
  const { counts, add } = createCounter()
  for (const prefix of Object.values(PREFIXES)) for await (const key of store.keys(prefix)) add([key, undefined])
  const single = (name: string) => store.record<unknown>(name, () => undefined).get().catch(() => undefined)
  return { ...counts, facts: factsIn(await single(RECORDS.brain)), agents: agentsIn(await single(RECORDS.agents)) }
}
