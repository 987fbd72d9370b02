import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { Test } from 'tap'
import { startService } from '../harness/sidecar.ts'
import { postEvents } from '../harness/sse.ts'

/** A fast machine writes more facts than the thousand that the memory holds, so it is emptied from this many on. */
const ENOUGH_FACTS = 500
const MODELS = ['offline/assistant', 'offline/scripted']

/** What a shell and a user were told was done. */
interface Told {
  facts: string[]
  count: number
  approvals: string[]
  model: string
}

/**
 * Kills the built service at random moments, life after life on the same directory, while clients write facts and
 * preferences, choose models, ask for approvals, and the user edits config.json. Looks in each next life whether all
 * that was acknowledged is there. Returns how many writes were.
 */
export async function killLives (t: Test, lives: number): Promise<number> {
  const dir = t.testdir({ home: { 'config.json': '{"mine": {"first": true}, "permissions": {"listDirectory": "ask"}}' }, work: {} })
  const home = `${dir}/home`
  const config = () => JSON.parse(readFileSync(`${home}/config.json`, 'utf8'))
  const told: Told = { facts: [], count: 0, approvals: [], model: MODELS[0] }
  let choosing = MODELS[0]
  let acknowledged = 0

  for (let life = 0; life <= lives; life++) {
    const service = await startService(t, { home, cwd: `${dir}/work` })
    const get = async (path: string) => (await fetch(service.url + path)).json() as any

    const { brain } = await get('/memory/brain')
    t.same(told.facts.filter((fact) => !brain.facts.includes(fact)), [], `life ${life}: of ${told.facts.length} facts none is lost`)
    t.ok(Number(brain.preferences.count ?? 0) >= told.count, `life ${life}: the preference is no older than what was acknowledged`)
    const open = new Set<string>()
    for (let cursor = ''; ;) {
      const page = await get(`/approvals?limit=500${cursor}`)
      for (const { approvalId } of page.approvals) open.add(approvalId)
      if (!page.nextCursor) break
      cursor = `&cursor=${page.nextCursor}`
    }
    t.same(told.approvals.filter((id) => !open.has(id)), [], `life ${life}: of ${told.approvals.length} questions none is lost`)
    const saved = config()
    t.match(saved, { mine: { first: true } }, `life ${life}: config.json is whole, with what the user wrote into it`)
    t.equal(saved.edit, life || undefined, `life ${life}: the user's last edit`)
    t.ok([told.model, choosing].includes(saved.model ?? MODELS[0]), `life ${life}: the model that was chosen last`)
    t.match(await get('/health'), { checks: { config: 'ok' } })
    t.notOk(existsSync(`${home}/data.repair`), `life ${life}: there was nothing to repair`)
    if (life === lives) {
      await service.stop()
      return acknowledged
    }

    if (told.facts.length > ENOUGH_FACTS) {
      await fetch(`${service.url}/memory/brain`, { method: 'DELETE' })
      Object.assign(told, { facts: [], count: 0 })
    }
    const spoke = Promise.withResolvers<void>()
    const post = async (path: string, body?: object) => {
      const response = await fetch(service.url + path, {
        method: 'POST',
        ...body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
      })
      await response.text()
      if (response.status !== 200) throw new Error(`${path} answered ${response.status}`)
      spoke.resolve()
      acknowledged++
    }
    const writers = [
      async (n: number) => {
        const fact = `${life} ${n} x${'x'.repeat(n * 97 % 300)}`
        await post('/memory/brain/fact', { fact })
        told.facts.push(fact)
      },
      async (n: number) => {
        const count = life * 1e6 + n
        await post('/memory/brain/pref', { key: 'count', value: String(count) })
        told.count = count
      },
      async (n: number) => {
        choosing = MODELS[n % 2]
        await post('/providers/configure', { model: choosing })
        told.model = choosing
      },
      async (n: number) => {
        const { events } = await postEvents(`${service.url}/run`, {
          messages: [{ role: 'user', content: 'list the files here' }],
          id: `chat-${life}-${n}`
        })
        const asked = events.find(({ type }) => type === 'tool-approval-request')
        if (!asked) return
        acknowledged++
        told.approvals.push(asked.approvalId)
      }
    ]
    const working = writers.map(async (write) => {
      try {
        for (let n = 0; ; n++) await write(n)
      } catch (error) {
        if (!(error instanceof TypeError)) throw error // other than the connection's end
      }
    })
    if (life % 3 !== 2) await spoke.promise
    await wait(Math.random() * 200)
    await service.stop('SIGKILL')
    await Promise.all(working)
    writeFileSync(`${home}/config.json`, JSON.stringify({ ...config(), edit: life + 1 }))
    told.model = choosing = config().model ?? MODELS[0]
  }
  return acknowledged
}
