import { setTimeout as sleep } from 'node:timers/promises'
import { absoluteRow, type Row } from '../compare.ts'
import { cpuOf, writtenBy } from '../proc.ts'
import { createHome, startModels, startSubject } from '../subjects.ts'
import type { Context } from './context.ts'

const CHATS = 50
/** The number of chats before the measured ones, so that the files of the store exist. */
const WARM_UP = 5
/** The wait after a start, in milliseconds: then the bytecode is stored, and delayed writes of the store are on the disk. */
const SETTLE_MS = 5_000
/** The number of facts in the large memory; the maximum is 1,000. */
const FACTS = 900
const FACTS_MORE = 50
const FEW = 10

const post = async (port: number, path: string, body: object) => {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })
  if (!answer.ok) throw new Error(`POST ${path} answered ${answer.status}`)
  return answer.text()
}

/** Measures the disk writes for fifty new conversations, with a message of five words and an answer of twenty tokens each. */
export async function diskPerChat (_context: Context): Promise<Row[]> {
  const { dir, remove } = createHome({})
  const models = await startModels({ tokens: 20 })
  const { port, pid, stop } = await startSubject('service', { dir, url: models.url })
  const chats = async (count: number) => {
    const before = writtenBy(pid)
    for (let n = 0; n < count; n++) await post(port, '/run', { messages: [{ role: 'user', content: `How deep is sea ${n}?` }] })
    await sleep(SETTLE_MS)
    return (writtenBy(pid) - before) / count
  }
  try {
    await chats(WARM_UP)
    return [absoluteRow({ what: 'disk per five-word chat, of fifty', unit: 'kB', bar: 12 }, await chats(CHATS) / 1024)]
  } finally {
    await stop()
    await models.stop()
    remove()
  }
}

/** Measures the disk writes and the CPU time for one fact, in a memory of 900 facts and in one of ten. */
export async function oneFact (_context: Context): Promise<Row[]> {
  const { dir, remove } = createHome({})
  const { port, pid, stop } = await startSubject('service', { dir, url: 'http://127.0.0.1:9/v4/ai' })
  let known = 0
  const learn = async (count: number) => {
    const [written, cpu] = [writtenBy(pid), cpuOf(pid)]
    for (let n = 0; n < count; n++) {
      const fact = `The lighthouse number ${known++} of this coast was built by my great-grandfather before the harbour was there.`
      await post(port, '/memory/brain/fact', { fact })
    }
    return { kB: (writtenBy(pid) - written) / 1024 / count, ms: (cpuOf(pid) - cpu) / count }
  }
  try {
    await learn(FEW)
    await sleep(SETTLE_MS)
    const few = await learn(FACTS_MORE)
    await learn(FACTS - FACTS_MORE - FEW)
    await sleep(SETTLE_MS)
    const many = await learn(FACTS_MORE)
    return [
      absoluteRow({ what: 'one fact among 900, to one among ten: written', unit: 'kB', bar: 5 }, many.kB, few.kB),
      absoluteRow({ what: 'the same, CPU', unit: 'ms', bar: 4 }, many.ms, few.ms)
    ]
  } finally {
    await stop()
    remove()
  }
}
