import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { systemClock } from '../../services/lib/clock.ts'
import { newId } from '../../services/lib/ids.ts'
import { createTransform } from '../../services/tools/transform/transform.ts'
import type { Row } from '../compare.ts'
import { median } from '../stats.ts'
import type { Context } from './context.ts'

/** The time that a known folder of 20,000 files may take before a command, in milliseconds. */
const BAR = 150

const newFile = () => ({ id: newId(), key: randomBytes(32).toString('base64') })

/** Measures the time before a command starts in a known folder of 20,000 paths. The floor is `find`, which reads the same facts. */
export async function knownFolder ({ times }: Context): Promise<Row[]> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'local-agent-bench-')))
  const folder = join(base, 'work')
  for (let outer = 0; outer < 198; outer++) {
    mkdirSync(join(folder, String(outer)), { recursive: true })
    for (let n = 0; n < 100; n++) writeFileSync(join(folder, String(outer), `${n}.js`), `export const n = ${outer + n}\n`.repeat(20))
  }
  mkdirSync(join(base, 'store'))
  const transform = createTransform({ clock: systemClock })
  const limits = { paths: 20_000, bytes: 2 ** 30, file: 2 ** 24 }
  const request = { folder, parents: [], excluded: [], store: join(base, 'store'), limits }
  const { signal } = new AbortController()
  const took = async (work: () => unknown): Promise<number> => {
    const started = performance.now()
    await work()
    return performance.now() - started
  }
  try {
    const next = { record: newFile(), contents: newFile() }
    const first = await took(() => transform.run('takeFolder', { ...request, next }, { signal, ms: 120_000 }))
    const again: number[] = []
    const compared: number[] = []
    const found: number[] = []
    for (let n = 0; n < times(30); n++) {
      found.push(await took(() => execFileSync('find', [folder, '-printf', '%p %s %i %T@ %C@\n'], { maxBuffer: 2 ** 26 })))
      const more = { record: newFile(), contents: newFile() }
      again.push(await took(() => transform.run('takeFolder', { ...request, last: next.record, next: more }, { signal })))
      compared.push(await took(() => transform.run('diffFolder', { ...request, record: next.record }, { signal })))
    }
    const row = (what: string, service: number, bar?: number): Row =>
      ({ what, unit: 'ms', floor: median(found), service, ...bar !== undefined && { bar, pass: service <= bar } }) as Row
    return [
      row('to know 20,000 paths before a command, seen before', median(again), BAR),
      row('to compare them after it', median(compared), BAR),
      row('to know them the first time, with their contents', first)
    ]
  } finally {
    await transform.close()
    rmSync(base, { recursive: true, force: true })
  }
}
