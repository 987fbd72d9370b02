import { readFileSync, statSync } from 'node:fs'
import { systemClock } from '../../services/lib/clock.ts'
import { openStore } from '../../services/store/store.ts'

/** The time at which the records were written, and the ids of the tasks in them by what became of their question. */
export const SCHEMA_1 = {
  at: 1795532800000,
  tasks: {
    expired: '01a203c5-99da-7382-bf76-daff280c2ad6',
    tool: '01a203c5-bd84-7736-b1f8-b2f851e03fbb',
    result: '01a203c5-bf19-7585-8946-1c93fe68b94f',
    rejected: '01a203c5-c202-75ba-960c-6813853f17cc',
    paused: '01a203c5-c4c0-73fa-b730-07b4c10c9ff1',
    cancelled: '01a203c5-c70e-724e-b6d6-8514c0467f99'
  }
}

/**
 * Fills a directory with a store of schema 1: conversations `chat` (a call waits) and `denied`, and six tasks. The records were
 * written by the version of that schema; only the working folder and what a store's own key decides are filled in here.
 */
export async function layStoreOfSchema1 (dir: string, cwd: string) {
  const store = await openStore({ dir, clock: systemClock, migrations: [] })
  const { dev, ino } = statSync(cwd, { bigint: true })
  const text = readFileSync(new URL('../services/store/schema-1.jsonl', import.meta.url), 'utf8')
    .replaceAll('{cwd}', cwd)
    .replaceAll('{dev}', String(dev))
    .replaceAll('{ino}', String(ino))
    .replaceAll(/\{digest of (\w+)\}/g, (_, threadId) => store.digest(threadId))
  const records: Array<[key: string, value: unknown]> = text.trimEnd().split('\n').map((line) => JSON.parse(line))
  await store.transact(records.map(([key, value]) => ({ type: 'put', key, value })))
  await store.close()
}
