import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { anthropicWire } from '../../test/fakes/anthropic-wire.ts'
import { startFakeGateway } from '../../test/fakes/gateway.ts'
import type { ModelRequest, Plan } from '../../test/fakes/gateway-plan.ts'
import { startModelServer } from '../../test/fakes/model-server.ts'
import { anthropicCall, cachedShare, gatewayCall, type CachedCall } from '../../test/harness/cached-prefix.ts'
import { misbehaving } from '../../test/harness/mcp.ts'
import { createHome, startSubject } from '../subjects.ts'
import type { Row } from '../compare.ts'

const STEPS = 25
/** A text of about 2,500 tokens, a typical project file. */
const FILE = 'The sea has many voices, and each of them says another thing to who stands there.\n'.repeat(120)
/** The size of a screenshot in base64, in characters. */
const IMAGE_CHARACTERS = 300_000
/** The beginning of every PNG in base64. */
const PNG = 'iVBORw0KGgoA'

const WORKS = {
  files: { call: (n: number) => ({ toolName: 'readFile', input: { path: `file-${n}.txt` } }), bar: 0.85, last: 0.9 },
  // Each image is different, because a run with repeated calls is stopped.
  images: {
    call: (n: number) => ({ toolName: 'image', input: { characters: IMAGE_CHARACTERS + 4 * n, begins: PNG } }),
    bar: 0.6,
    last: undefined
  }
}

/**
 * Measures a run that uses up its 25 steps: the share of its input tokens in a prefix for which caching was requested and that equals the
 * start of the previous call. Through the gateway and through Anthropic's own API, with files and with images.
 */
export async function cachedShareRows (): Promise<Row[]> {
  const rows: Row[] = []
  for (const [name, { call, bar, last }] of Object.entries(WORKS)) {
    for (const wire of ['gateway', 'anthropic'] as const) {
      const share = cachedShare(await record(wire, call))
      const what = `cached share, 25 steps over ${name}, ${wire}`
      const row = (title: string, service: number, bar: number): Row => ({
        what: title,
        unit: '',
        bar,
        atLeast: true,
        service,
        pass: service >= bar
      })
      rows.push(row(`${what} (${share.tokens.toLocaleString('en')} tokens)`, share.all, bar))
      if (last !== undefined) rows.push(row(`${what}: the last call`, share.last, last))
    }
  }
  return rows
}

const isStep = ({ streaming }: ModelRequest) => streaming

/** Runs a complex request with a model that calls a tool in every step, and returns the model calls in order. */
async function record (wire: 'gateway' | 'anthropic', call: (n: number) => NonNullable<Plan['toolCalls']>[number]): Promise<CachedCall[]> {
  let steps = 0
  const reply = ({ streaming }: ModelRequest): Plan =>
    !streaming
      ? { object: { complexity: 'complex', goal: 'Look at all', thinking: 'Much to look at.', qualityCriteria: [] } }
      : steps < STEPS ? { toolCalls: [call(steps++)] } : { text: 'I have looked at all of it.' }
  const gateway = await startFakeGateway({ reply })
  const anthropic = await startModelServer(anthropicWire, { reply })
  const home = createHome({
    model: wire === 'gateway' ? 'anthropic/claude-sonnet-5.5' : 'direct/claude-sonnet-5-5',
    models: wire === 'gateway' ? {} : { fast: 'direct/claude-haiku-5-5' },
    providers: wire === 'gateway' ? {} : { direct: { kind: 'anthropic', baseURL: anthropic.url, apiKey: 'key' } },
    analysis: true,
    threads: { titles: false },
    mcp: [misbehaving('camera', [], { approval: 'never' })]
  })
  for (let n = 0; n < STEPS; n++) writeFileSync(join(home.dir, `work/file-${n}.txt`), FILE)
  const { port, stop } = await startSubject('service', { dir: home.dir, url: gateway.url })
  try {
    const response = await fetch(`http://127.0.0.1:${port}/run`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Look at all of it and tell me what it says.' }] })
    })
    await response.text()
    const calls = wire === 'gateway'
      ? gateway.requests.filter(isStep).map(({ sent }) => gatewayCall(sent))
      : anthropic.calls.filter(isStep).map(({ body }) => anthropicCall(body))
    if (calls.length !== STEPS + 1) throw new Error(`the run made ${calls.length} model calls`)
    return calls
  } finally {
    await Promise.all([stop(), gateway.close(), anthropic.close()])
    home.remove()
  }
}
