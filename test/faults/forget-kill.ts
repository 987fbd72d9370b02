import { cpSync, mkdtempSync } from 'node:fs'
import type { Test } from 'tap'
import { startFakeGateway } from '../fakes/gateway.ts'
import { point, statingModel } from '../harness/extraction.ts'
import { startService } from '../harness/sidecar.ts'
import { startDying, writesIn } from './dying-service.ts'

const FORGET = { toolName: 'forget', input: { about: 'Lake Orta', span: 'Forget everything about Lake Orta' } }
const SAID = {
  early: 'I prefer Lake Orta by boat. I prefer Lake Vänern by bike.',
  late: 'I prefer the north of Lake Orta. I prefer Lake Vänern in summer.',
  wish: 'Forget everything about Lake Orta.'
}

/** A model that points at all that it is shown, whole and in halves, as lasting, about the user, and in the place of what is known. */
function carelessModel (question: string) {
  const replaces = [...question.matchAll(/^(k\d+): /gm)].map(([, id]) => id)
  const pointers = [...question.matchAll(/^\[(\d+)\] (.*)$/gm)].flatMap(([, message, text]) =>
    [text, ...text.split(/(?<=\.) /), 'The user loves Lake Orta'].map((span) => point(Number(message), span, { replaces })))
  return { object: { pointers, habits: [] } }
}
export const MODELS = { careful: statingModel, careless: carelessModel }
export type ModelName = keyof typeof MODELS

/** A home whose service has run once, and a model behind a gateway, which holds its answer about a thread until it is let go. */
export async function prepareForgetting (t: Test, name: ModelName) {
  const held = { isHeld: false, letGo: () => {}, began: () => {} }
  const gateway = await startFakeGateway({
    reply: async ({ structured, body }) => {
      if (structured !== undefined) {
        const answer = MODELS[name](body.prompt[1].content[0].text)
        if (!held.isHeld) return answer
        const released = Promise.withResolvers<void>()
        held.letGo = released.resolve
        held.began()
        return released.promise.then(() => answer)
      }
      const last = body.prompt.findLast(({ role }: { role: string }) => role !== 'system')
      return JSON.stringify(last.content).includes('Forget') && last.role !== 'tool' ? { toolCalls: [FORGET] } : { text: 'ok' }
    }
  })
  t.teardown(() => gateway.close())
  const config = { model: 'test/model', analysis: false, threads: { titles: false }, brain: { extractAfter: false } }
  const dir = `${t.testdir({ ready: { home: { 'config.json': JSON.stringify(config) }, work: {} } })}/ready`
  const env = { AI_GATEWAY_API_KEY: 'the-key', AI_GATEWAY_BASE_URL: gateway.url }
  const service = await startService(t, { home: `${dir}/home`, cwd: `${dir}/work`, env })
  await service.stop()
  return { dir, env, held }
}

type Prepared = Awaited<ReturnType<typeof prepareForgetting>>

/**
 * Forgets a subject that was learned before, that is being learned meanwhile, and that is read again afterwards, in a service that dies at
 * a durable write. What was cut is done again in its next life. Returns what is known in the end, and the writes of the first life.
 */
export async function forgetThroughDeath (t: Test, { dir, env, held }: Prepared, killAt: string) {
  const copy = mkdtempSync(`${dir}-`)
  cpSync(dir, copy, { recursive: true })
  const lives = await startDying(t, copy, killAt, env)
  let service = lives.first
  const send = async (path: string, body?: object) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body ?? {}) }
    const response = await fetch(`${service.url}${path}`, body && init)
    return { status: response.status, body: await response.json() as any }
  }
  async function insist<T> (act: () => Promise<T>): Promise<T> {
    for (;;) {
      const result = await act().catch(() => undefined)
      if (result !== undefined) return result
      await service.exited
      service = await lives.revive()
    }
  }
  const tell = (id: string, content: string) => insist(() => send('/run/sync', { id, messages: [{ role: 'user', content }] }))
  const extract = (id: string) => insist(() => send(`/threads/${id}/extract`, {}))

  for (const id of ['early', 'late'] as const) await tell(id, SAID[id])
  await extract('early')
  const first = writesIn(service.log())
  const began = new Promise<void>((resolve) => Object.assign(held, { isHeld: true, began: resolve }))
  const meanwhile = send('/threads/late/extract', {}).catch(() => undefined)
  await began
  const wish = await tell('wish', SAID.wish)
  Object.assign(held, { isHeld: false })
  held.letGo()
  await meanwhile
  for (const id of ['late', 'wish', 'early']) await extract(id)
  const last = writesIn(service.log())
  const { body: { brain } } = await insist(() => send('/memory/brain'))
  await service.stop()
  return { facts: brain.facts as string[], wish, first, last, died: lives.died(service) }
}
