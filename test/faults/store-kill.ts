import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { systemClock } from '../../services/lib/clock.ts'
import { openStore } from '../../services/store/open.ts'
import { emptyCounter, PARTS, partsOf } from './store-writer.ts'

const program = fileURLToPath(new URL('store-writer.ts', import.meta.url))

/**
 * Kills a process that writes to a store, again and again over the same data, and looks after each kill whether every
 * acknowledged write is there and no transaction is there in part. Returns how many writes were acknowledged.
 */
export async function killLoop (t: Test, kills: number): Promise<number> {
  const dir = t.testdir()
  // The store's timers keep no process alive: the service does that itself while it waits for the threads of one that was killed.
  const keepAlive = setInterval(() => {}, 60_000)
  t.teardown(() => clearInterval(keepAlive))
  const wanted: string[] = []
  let counted = 0
  for (let round = 0; round < kills; round++) {
    const lines = await runAndKill(dir, round)
    wanted.push(...lines.filter(([kind]) => kind === 'batch').map(([, batch]) => batch))
    counted = Math.max(counted, ...lines.filter(([kind]) => kind === 'count').map(([, count]) => Number(count)))

    const last = round === kills - 1
    const { whole, torn, count } = await inspect(dir, last ? '' : `${round}/`)
    t.same(torn, [], `kill ${round}: no transaction is there in part`)
    t.same(
      wanted.filter((batch) => (last || batch.startsWith(`${round}/`)) && !whole.has(batch)),
      [],
      `kill ${round}: of ${lines.length} acknowledged writes none is lost`
    )
    t.ok(count >= counted, `kill ${round}: the record counts ${count}, acknowledged was ${counted}`)
  }
  return wanted.length + counted
}

/** Kills at a random moment: of the start in every third round, of the writing in the others. */
async function runAndKill (dir: string, round: number): Promise<string[][]> {
  const writer = spawn(process.execPath, [program, dir, String(round)], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  const spoke = new Promise((resolve) => writer.stdout.once('data', resolve))
  writer.stdout.on('data', (data) => {
    output += data
  })
  const ended = once(writer, 'close')
  const writing = round % 3 !== 2
  if (writing) await Promise.race([spoke, ended])
  await wait(Math.random() * (writing ? 80 : 300))
  writer.kill('SIGKILL')
  const [code, signal] = await ended
  if (signal !== 'SIGKILL') throw new Error(`the writer ended by itself with ${code}`)
  return output.split('\n').slice(0, -1).map((line) => line.split(' '))
}

async function inspect (dir: string, prefix: string) {
  const store = await openStore({ dir, clock: systemClock })
  try {
    const found = new Map<string, string[]>()
    for await (const [key, value] of store.list<{ batch: string }>(`batch/${prefix}`)) {
      found.set(value.batch, [...found.get(value.batch) ?? [], key])
    }
    const whole = new Set([...found.keys()].filter((batch) => found.get(batch)?.join() === partsOf(batch).join()))
    const torn = [...found].filter(([batch, keys]) => !whole.has(batch) || keys.length !== PARTS.length)
    return { whole, torn, count: (await store.record('counter', emptyCounter).get()).count }
  } finally {
    await store.close()
  }
}
