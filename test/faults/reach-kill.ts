import { mkdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { cuttingProxy } from '../harness/cutting-proxy.ts'
import { append, calling, effects } from '../harness/effects.ts'
import { freePort } from '../harness/free-port.ts'
import { deviceOf, pairDevice, type Phone } from '../harness/reach.ts'
import { startService } from '../harness/sidecar.ts'

type Answer = 'once' | 'deny'

interface Plan {
  /** Conversations are asked in rounds; each asks about so many calls in one step. */
  rounds: number
  conversations: number
  calls: number
  /** Rounds between two kills. */
  killEach: number
  seed: number
}

/** Numbers from 0 to `below`, the same ones for a seed (mulberry32). */
function random (seed: number) {
  return (below: number) => {
    seed = (seed + 0x6d2b79f5) | 0
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor(((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32 * below)
  }
}

const texts = (calls: number) => Array.from({ length: calls }, (_, n) => String.fromCharCode(97 + n))

/**
 * Two devices answer every request, each as it likes, over connections that are cut, while the service is killed now and then. A device
 * that gets no answer says the same again. In the end each request was decided once: by the device that was told so, as it said.
 */
export async function answerThroughCuts (t: Test, { rounds, conversations, calls, killEach, seed }: Plan) {
  t.teardown(() => {})
  const pick = random(seed)
  const port = Number(await freePort())
  const config = { ...calling(...texts(calls).map(append)), reach: { port }, commands: { sandbox: 'off' } }
  const dir = t.testdir({ home: { 'config.json': JSON.stringify(config) }, work: {} })
  const start = () => startService(t, { home: `${dir}/home`, cwd: `${dir}/work` })
  let service = await start()
  let alive = Promise.resolve()
  const url = `http://127.0.0.1:${port}`
  const ask = async (path: string, body?: object): Promise<string> => {
    const init = body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    return (await fetch(`${service.url}${path}`, init)).text()
  }
  // It answers when the port for devices is open.
  await ask('/devices')
  const devices: Array<Awaited<ReturnType<typeof pairThrough>>> = []
  for (const name of ['one', 'two']) devices.push(await pairThrough(name))
  /** Pairs a device that reaches the service through a connection of its own. */
  async function pairThrough (name: string) {
    const { key, deviceId } = await pairDevice(`${dir}/home`, () => url, name)
    const proxy = await cuttingProxy(t, port)
    return { name, proxy, phone: deviceOf(() => proxy.url, key, deviceId), told: new Map<string, Answer>() }
  }

  let answers = 0
  let cuts = 0
  let kills = 0

  /** Says one thing until there is an answer, through cuts and kills. */
  async function insist (phone: Phone, cut: () => void, method: 'get' | 'post', path: string, body?: object) {
    for (;;) {
      await alive
      try {
        const asked = method === 'get' ? phone.get(path) : phone.post(path, body)
        if (pick(5) === 0) {
          cuts++
          void sleep(pick(12)).then(cut)
        }
        const reply = await asked
        if (reply.status !== 503 && reply.status !== 429) return reply
      } catch {}
      await sleep(5)
    }
  }

  async function answerAll ({ phone, proxy, told }: typeof devices[number], ids: string[]) {
    for (const id of ids.toSorted(() => pick(3) - 1)) {
      const answer: Answer = pick(2) === 0 ? 'once' : 'deny'
      answers++
      for (;;) {
        const shown = await insist(phone, proxy.cut, 'get', `/requests/${id}`)
        // It was decided before this device looked.
        if (shown.status !== 200) {
          t.equal(shown.status, 409, `a look: ${JSON.stringify(shown.body)}`)
          break
        }
        const { status, body } = await insist(phone, proxy.cut, 'post', `/requests/${id}`, { answer, digest: shown.body.digest })
        if (status === 200) told.set(id, answer)
        else if (status !== 409) t.fail(`an answer: ${status} ${JSON.stringify(body)}`)
        if (body.code !== 'ERR_APPROVAL_CHANGED') break
      }
    }
  }

  async function kill () {
    await sleep(pick(400))
    kills++
    alive = service.stop('SIGKILL').then(start).then((next) => {
      service = next
    })
    await alive
  }

  const ids = new Set<string>()
  for (let round = 0; round < rounds; round++) {
    for (let n = 0; n < conversations; n++) {
      const cwd = `${dir}/work/${round}-${n}`
      mkdirSync(cwd)
      await ask('/run', { messages: [{ role: 'user', content: 'go' }], id: `${round}-${n}`, context: { cwd }, resumable: true })
    }
    const { approvals } = JSON.parse(await ask('/approvals?limit=500'))
    const open: string[] = approvals.map(({ approvalId }: { approvalId: string }) => approvalId)
    t.equal(open.length, conversations * calls, `round ${round}: all of it waits`)
    for (const id of open) ids.add(id)
    const isKilled = round % killEach === killEach - 1
    await Promise.all([...devices.map((device) => answerAll(device, open)), ...isKilled ? [kill()] : []])
  }

  const records = new Map<string, any>()
  for (let cursor: string | undefined; ;) {
    const page = JSON.parse(await ask(`/approvals?state=decided&limit=500${cursor === undefined ? '' : `&cursor=${cursor}`}`))
    for (const record of page.approvals) records.set(record.approvalId, record)
    if (page.nextCursor === undefined) break
    cursor = page.nextCursor
  }
  const wrong = [...ids].filter((id) => {
    const { device, state } = records.get(id) ?? {}
    const winners = devices.filter(({ told }) => told.has(id))
    const said = winners[0]?.told.get(id)
    return winners.length !== 1 || winners[0].name !== device?.name || (said === 'deny') !== (state === 'denied')
  })
  t.same(wrong.map((id) => records.get(id)), [], 'each request was decided once, as the device was told')
  for (let round = 0; round < rounds; round++) {
    for (let n = 0; n < conversations; n++) {
      const happened = effects(`${dir}/work/${round}-${n}`)
      const mine = [...records.values()].filter(({ threadId }) => threadId === `${round}-${n}`)
      t.equal(new Set(happened).size, happened.length, `${round}-${n}: nothing ran twice`)
      const approved = mine.filter(({ state }) => state !== 'denied').length
      const done = mine.filter(({ state }) => state === 'done').length
      t.ok(happened.length <= approved && happened.length >= done, `${round}-${n}: what was denied did not run`)
    }
  }
  t.comment(`${answers} answers to ${ids.size} requests, ${cuts} cuts, ${kills} kills`)
  await service.stop()
}
