import { readdirSync } from 'node:fs'
import t, { type Test } from 'tap'
import { systemClock } from '../../services/lib/clock.ts'
import { ATTACHMENTS } from '../../services/store/keys.ts'
import { SAMPLES } from '../harness/attached-files.ts'
import { build } from '../harness/helper.ts'
import { attachmentTable } from './attachment-table.ts'
import { prepareDirectory, startDying, writesIn } from './dying-service.ts'

t.test('no conversation breaks because of a file that it holds', async (t) => {
  const samples = SAMPLES.filter(({ name }) => ['a.docx', 'a.gif'].includes(name))
  const cells = await attachmentTable(t, samples)
  t.same(cells.filter(({ type }) => type !== 'image/gif').map(({ second, changed, reloaded, imported }) =>
    new Set([second, changed, reloaded, imported])
  ), cells.slice(0, 5).map(() => new Set(['text'])))
  t.same(cells.filter(({ type }) => type === 'image/gif').map(({ kind, sent, second, changed }) => [kind, sent, second, changed]), [
    ['openai', 200, 'file', 'file'],
    ['anthropic', 200, 'file', 'line'],
    ['google', 400, 'line', 'file'],
    ['compatible', 200, 'file', 'file'],
    ['gateway', 200, 'file', 'file']
  ])
})

const WORDS = 'The word is heron.'
const TWO_DAYS = 2 * 24 * 60 * 60 * 1000

/** Uploads a file, names it in a message, and deletes the conversation, through one death of the service at a durable write. */
async function liveThrough (t: Test, prepared: string, killAt: string) {
  const lives = await startDying(t, prepared, killAt)
  let service = lives.first
  async function ask (method: string, path: string, body?: string | object): Promise<Response> {
    for (;;) {
      const type = typeof body === 'string' ? 'text/plain' : 'application/json'
      const answer = await fetch(`${service.url}${path}`, {
        method,
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body), headers: { 'content-type': type } })
      }).catch(() => undefined)
      if (answer !== undefined) return answer
      await service.exited
      if (lives.deaths > 0) throw new Error(`it died again: ${service.log()}`)
      service = await lives.revive()
    }
  }
  const { url, digest } = await (await ask('POST', '/attachments', WORDS)).json() as any
  const read = async () => (await ask('GET', `/attachments/${digest}`)).text()
  const uploaded = await read()
  const parts = [{ type: 'text', text: 'this' }, { type: 'file', url, mediaType: 'text/plain' }]
  const { status } = await ask('POST', '/run/sync', { id: 'one', message: { role: 'user', parts } })
  const named = [status, await read(), JSON.stringify(await (await ask('GET', '/threads/one')).json()).includes(url)]
  await ask('DELETE', '/threads/one')
  const left = (await ask('GET', `/attachments/${digest}`)).status
  await service.stop()

  // Two days later.
  const later = await build(t, { home: lives.home, cwd: lives.cwd, clock: { ...systemClock, now: () => Date.now() + TWO_DAYS } })
  await later.attachments.sweep()
  const records: string[] = []
  for await (const key of later.store.keys(ATTACHMENTS)) records.push(key)
  await later.close()
  const files = readdirSync(`${lives.home}/attachments`)
  return { died: lives.died(service), writes: writesIn(service.log()), uploaded, named, left, records, files }
}

t.test('killed at any write, the service loses no file that it has taken, and leaves none for ever', async (t) => {
  const prepared = await prepareDirectory(t, [{ text: 'done' }])
  const calm = await liveThrough(t, prepared, 'count')
  t.match(calm, { died: false, left: 404 })
  // Between a file and its record, and between the last use and the removal. All of them: ALL_WRITES=1.
  const all = Array.from({ length: calm.writes }, (_, n) => n)
  for (const n of process.env.ALL_WRITES ? all : [1, calm.writes - 1]) {
    for (const when of process.env.ALL_WRITES ? ['before', 'after'] : ['before']) {
      const { died, uploaded, named, records, files } = await liveThrough(t, prepared, `${n} ${when}`)
      t.ok(died, `it died ${when} write ${n} of ${calm.writes}`)
      t.same([uploaded, ...named], [WORDS, 200, WORDS, true], 'what was taken is there')
      t.same([records, files], [[], []], 'nothing is left')
    }
  }
})
