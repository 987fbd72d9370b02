import type { Test } from 'tap'
import { startFakeGateway, type GatewayRequest, type Plan } from '../fakes/gateway.ts'
import { openEditor } from '../harness/editor.ts'
import { append, effects } from '../harness/effects.ts'
import { freePort } from '../harness/free-port.ts'
import { startService, type Sidecar } from '../harness/sidecar.ts'

/** How often the user of an editor says something again after a turn that broke off. */
const TURNS = 6

/** The model does what the first message says, and is done when it has a result. */
function reply ({ structured, body: { prompt } }: GatewayRequest): Plan | undefined {
  if (structured !== undefined) return undefined
  // A call that was cut off before it began is made again.
  const results = prompt.filter(({ role }: { role: string }) => role === 'tool')
  if (results.some((result: object) => !JSON.stringify(result).includes('Not carried out'))) return { text: 'Done.' }
  const said = JSON.stringify(prompt)
  return { toolCalls: [append(said.includes('allow me') ? 'a' : 'b')] }
}

/**
 * Two editors have a session each with one service, which is killed and started again when the first editor has seen its `killAt`-th
 * message of a turn (Infinity: never). Its user allows the call, that of the other rejects it. Returns the number of messages.
 */
export async function survivesKill (t: Test, killAt: number): Promise<number> {
  const gateway = await startFakeGateway({ reply })
  t.teardown(() => gateway.close())
  const config = { model: 'test/model', analysis: false, threads: { titles: false }, commands: { sandbox: 'off' } }
  const dir = t.testdir({ home: { 'config.json': JSON.stringify(config) }, allowed: {}, denied: {} })
  const home = `${dir}/home`
  const port = await freePort()
  const env = { AI_GATEWAY_BASE_URL: gateway.url, AI_GATEWAY_API_KEY: 'the-key' }
  const start = () => startService(t, { home, cwd: dir, env, port })
  let service: Promise<Sidecar> = start()
  const { url } = await service
  let seen = -1
  const die = async (): Promise<Sidecar> => {
    const { stop } = await service
    await stop('SIGKILL')
    return start()
  }
  const onMessage = () => {
    if (seen < 0) return
    if (++seen === killAt) service = die()
  }
  const editor = await openEditor(t, { home, permit: () => 'once', onMessage })
  const other = await openEditor(t, { home, permit: () => 'reject' })
  const one = await editor.open(`${dir}/allowed`)
  const two = await other.open(`${dir}/denied`)

  /** Says it, and says it again or goes on, as its user would, until the turn ends by itself. */
  async function insist (from: typeof editor, sessionId: string, text: string): Promise<void> {
    let next = text
    for (let turn = 0; turn < TURNS; turn++) {
      try {
        if ((await from.prompt(sessionId, next)).stopReason === 'end_turn') return
        next = 'and?'
      } catch (error) {
        next = /\/continue/.test(String((error as Error).message)) ? '/continue' : text
      }
      await service
    }
    throw new Error(`no turn ended by itself: ${editor.log()}`)
  }
  seen = 0
  await Promise.all([insist(editor, one.sessionId, 'allow me'), insist(other, two.sessionId, 'no thanks')])
  const messages = seen
  await service

  const { approvals } = await (await fetch(`${url}/approvals`)).json() as any
  t.same(approvals, [], 'nothing stays open')
  t.equal(effects(`${dir}/denied`), '', 'what was rejected did not happen')
  const done = effects(`${dir}/allowed`)
  const { messages: kept } = await (await fetch(`${url}/threads/${one.sessionId}?protocol=documented`)).json() as any
  if (done !== 'a') t.match(JSON.stringify(kept), /Outcome unknown/i, 'what may not have happened is said')
  t.ok(done === 'a' || done === '', `it happened once at most: ${done}`)
  const decided = await (await fetch(`${url}/approvals?state=decided`)).json() as any
  t.ok(decided.approvals.length >= 2)
  for (const { threadId, state } of decided.approvals) {
    t.equal(state === 'denied', threadId === two.sessionId, `answered by its own user: ${state}`)
  }
  await (await service).stop()
  return messages
}
