import t, { type Test } from 'tap'
import { of, say } from '../harness/agent.ts'
import { textOf } from '../harness/sse.ts'
import { NATIVE_WIRES } from '../harness/native-wires.ts'
import { withDirect } from '../harness/with-direct.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { withNative } from '../harness/with-native.ts'
import type { App } from '../../app.ts'
import type { Plan } from '../fakes/gateway.ts'

/** Beyond the five minutes after which fetch gives up the beginning of an answer, and its pauses. */
const SLOW_MS = 6 * 60_000
/** Ten minutes at five tokens a second. */
const TOKENS = Array.from({ length: 3_000 }, (_, n) => `${n} `)

async function answersLate (t: Test, app: App, said: string) {
  const { events } = await say(app, 'go')
  t.equal(textOf(events), said)
  t.equal(of(events, 'error').length + of(events, 'data-retry').length, 0)
}

t.test('a server that reads a prompt for six minutes, or answers for ten, is heard to the end', { jobs: 8 }, async (t) => {
  const late: Plan = { text: 'At last.', delayMs: SLOW_MS }
  const each = (name: string, work: (t: Test) => Promise<void>) => t.test(name, { buffered: true }, work)
  await Promise.all([
    each('gateway', async (t) => answersLate(t, (await withGateway(t, () => late)).app, 'At last.')),
    each('compatible', async (t) => answersLate(t, (await withDirect(t, () => late)).app, 'At last.')),
    ...NATIVE_WIRES.map((wire) => each(wire.kind, async (t) => answersLate(t, (await withNative(t, wire, () => late)).app, 'At last.'))),
    each('slow tokens', async (t) => answersLate(t, (await withDirect(t, () => ({ text: TOKENS, partMs: 200 }))).app, TOKENS.join('')))
  ])
})
