import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs, promisify } from 'node:util'
import { plainAnswer, streamParts, structuredAnswer, type ModelRequest, type Plan } from './gateway-plan.ts'
import { sendBytes, sendJson, sendParts, sse, startStream } from './sending.ts'

export type { Plan } from './gateway-plan.ts'

/** A call as the gateway received it. The body holds the call options, with the whole system prompt joined into one message. */
export interface GatewayRequest extends ModelRequest {
  /** The body as it was sent. */
  sent: any
}

export interface FakeGatewayOptions {
  /** Returns the plan for a call; undefined for the default answer. A structured call whose plan has no `object` gets a fixed answer. */
  reply?(request: GatewayRequest): Plan | undefined | Promise<Plan | undefined>
  /** The models that GET /config lists. */
  models?: Array<{ id: string, name: string } & Record<string, unknown>>
  /** Changes the response of GET /config. Only `delayMs`, `error` and `bytes` of the plan are used. */
  listing?(): Plan | undefined
  /** The accepted key. Other keys are refused with authentication_error. */
  apiKey?: string
  port?: number
  /** Whether requests are recorded (default true). */
  record?: boolean
}

const defaultModels = ['anthropic/claude-sonnet-5.5', 'anthropic/claude-haiku-5.5', 'openai/gpt-6-sol'].map((id) => ({
  id,
  name: id.slice(id.indexOf('/') + 1),
  description: null,
  pricing: { input: '0.000003', output: '0.000015' },
  specification: { specificationVersion: 'v4', provider: id.slice(0, id.indexOf('/')), modelId: id },
  modelType: 'language'
}))

/** Starts a model gateway on a free local port that speaks the gateway's wire format. Its `url` is the value for a base URL setting. */
export async function startFakeGateway (options: FakeGatewayOptions = {}) {
  const requests: GatewayRequest[] = []
  const server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk) => chunks.push(chunk))
    req.on('end', () => {
      answer(Buffer.concat(chunks).toString()).catch((error) => {
        if (res.headersSent) res.destroy()
        else sendError(res, { status: 500, message: String(error) })
      })
    })

    async function answer (body: string) {
      const path = req.url ?? '/'
      if (options.apiKey !== undefined && req.headers.authorization !== `Bearer ${options.apiKey}`) {
        return sendError(res, { status: 401, type: 'authentication_error', message: 'Invalid API key' })
      }
      const listing = path.endsWith('/config') ? options.listing?.() : undefined
      if (listing?.delayMs) await new Promise((resolve) => setTimeout(resolve, listing.delayMs))
      if (listing?.error) return sendError(res, listing.error)
      if (listing?.bytes) return sendBytes(res, listing.bytes)
      if (path.endsWith('/config')) return sendJson(res, { models: options.models ?? defaultModels })
      if (path.endsWith('/v1/credits')) return sendJson(res, { balance: '10.00', total_used: '0.00' })
      if (req.method !== 'POST' || !path.endsWith('/language-model')) {
        return sendError(res, { status: 404, type: 'not_found', message: `No route ${path}` })
      }

      const call = JSON.parse(body)
      const request: GatewayRequest = {
        path,
        headers: req.headers,
        body: { ...call, prompt: withOneSystem(call.prompt) },
        sent: call,
        modelId: String(req.headers['ai-language-model-id']),
        streaming: req.headers['ai-language-model-streaming'] === 'true',
        structured: call.responseFormat?.type === 'json' ? call.responseFormat.name ?? '' : undefined,
        at: Date.now(),
        ended: new Promise((resolve) => res.once('close', () => resolve(res.writableFinished ? 'finished' : 'aborted')))
      }
      if (options.record !== false) requests.push(request)
      let plan = await options.reply?.(request) ?? { text: 'Hello from the fake gateway.' }
      const isGiven = plan.structuredText !== undefined || plan.object !== undefined || plan.error || plan.parts
      if (request.structured !== undefined && !isGiven) {
        plan = { ...plan, text: undefined, toolCalls: undefined, object: structuredAnswer(request.structured) }
      }
      if (plan.delayMs) await new Promise((resolve) => setTimeout(resolve, plan.delayMs))
      if (plan.error) sendError(res, plan.error)
      else if (plan.bytes) void sendBytes(res, plan.bytes)
      else if (!request.streaming) sendJson(res, plainAnswer(plan))
      else stream(res, plan, request.modelId)
    }
  })
  let made = 0
  server.on('connection', () => made++)
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `${origin}/v4/ai`,
    requests,
    /** The number of connections since the start. */
    connectionsMade: () => made,
    /** Resolves when the next connection is opened. */
    connected: () => once(server, 'connection'),
    /** The number of open connections. */
    connections: promisify(server.getConnections.bind(server)),
    async close () {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    }
  }
}

function withOneSystem (prompt: any[]): any[] {
  const isSystem = ({ role }: any) => role === 'system'
  const content = prompt.filter(isSystem).map((message) => message.content).join('\n\n')
  return [...content === '' ? [] : [{ role: 'system', content }], ...prompt.filter((message) => !isSystem(message))]
}

function sendError (
  res: ServerResponse,
  { status, type = 'internal_server_error', message = 'The fake gateway failed', param, headers, body }: NonNullable<Plan['error']>
) {
  sendJson(res, body ?? { error: { message, type, param }, generationId: 'gen_1' }, status, headers)
}

const rendered = new WeakMap<Plan, Buffer>()

function stream (res: ServerResponse, plan: Plan, modelId: string) {
  if (!plan.partMs && !plan.ending && !plan.toolCalls) {
    let body = rendered.get(plan)
    if (!body) rendered.set(plan, body = Buffer.from(streamParts(plan, modelId).map(sse).join('') + 'data: [DONE]\n\n'))
    return startStream(res).end(body)
  }
  const parts = streamParts(plan, modelId)
  sendParts(res, parts, plan, { whole: parts.length - 1, render: (part) => sse(plan.stamp ? stamped(part) : part) })
  return undefined
}

function stamped (part: any) {
  return part.type === 'text-delta' ? { ...part, delta: `${(performance.timeOrigin + performance.now()).toFixed(3)} ${part.delta}` } : part
}

// As a program, for benchmarks: node test/fakes/gateway.ts --port 0 --tokens 2000 --rate 0 [--stamp] [--delay 0] [--structuredDelay 0]
if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '0' },
      tokens: { type: 'string', default: '2000' },
      rate: { type: 'string', default: '0' },
      delay: { type: 'string', default: '0' },
      structuredDelay: { type: 'string' },
      stamp: { type: 'boolean', default: false }
    }
  })
  const rate = Number(values.rate)
  const plan: Plan = {
    text: Array.from({ length: Number(values.tokens) }, (_, index) => `token${index} `),
    partMs: rate > 0 ? 1000 / rate : 0,
    delayMs: Number(values.delay),
    stamp: values.stamp
  }
  const gateway = await startFakeGateway({
    port: Number(values.port),
    record: false,
    reply: (request) =>
      request.structured === undefined
        ? plan
        : { object: structuredAnswer(request.structured), delayMs: Number(values.structuredDelay ?? values.delay) }
  })
  process.stdout.write(JSON.stringify({ url: gateway.url }) + '\n')
}
