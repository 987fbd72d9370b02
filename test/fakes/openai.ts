import { createServer, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { structuredAnswer, type ModelRequest, type Plan } from './gateway-plan.ts'
import { chunks, completion } from './openai-wire.ts'
import { sendBytes, sendJson, sendParts } from './sending.ts'

export type { Plan } from './gateway-plan.ts'

/** A call as the server received it. */
export type OpenAIRequest = ModelRequest & { method: string }

export interface FakeOpenAIOptions {
  /** The plan for a call; undefined gives the default answer. Structured calls without a plan's `object` get a fixed one. */
  reply?(request: OpenAIRequest): Plan | undefined | Promise<Plan | undefined>
  /** Entries of GET /models. */
  models?: Array<Record<string, unknown>>
  /** What happens to GET /models instead: `delayMs`, `error` and `bytes` of a plan. */
  listing?(): Plan | undefined | Promise<Plan | undefined>
  /** Any other key is refused. */
  apiKey?: string
  tls?: { key: string, cert: string }
}

/** A server on a free local port that speaks OpenAI's chat completions, as local model servers do. Its `url` is a `baseURL`. */
export async function startFakeOpenAI (options: FakeOpenAIOptions = {}) {
  const requests: OpenAIRequest[] = []
  const server = (options.tls ? createTlsServer(options.tls) : createServer()).on('request', (req, res: ServerResponse) => {
    const pieces: Buffer[] = []
    req.on('data', (piece: Buffer) => pieces.push(piece))
    req.on('end', () => {
      answer(Buffer.concat(pieces).toString()).catch((error) => {
        if (res.headersSent) res.destroy()
        else sendError(res, { status: 500, message: String(error) })
      })
    })

    async function answer (text: string) {
      const body = text ? JSON.parse(text) : undefined
      const format = body?.response_format
      const request: OpenAIRequest = {
        method: req.method!,
        path: req.url!,
        headers: req.headers,
        body,
        modelId: body?.model,
        streaming: body?.stream === true,
        structured: format ? format.json_schema?.name ?? '' : undefined,
        at: Date.now(),
        ended: new Promise((resolve) => res.once('close', () => resolve(res.writableFinished ? 'finished' : 'aborted')))
      }
      requests.push(request)
      if (options.apiKey !== undefined && req.headers.authorization !== `Bearer ${options.apiKey}`) {
        return sendError(res, {
          status: 401,
          type: 'invalid_request_error',
          message: `Incorrect API key provided: ${req.headers.authorization}`
        })
      }
      if (req.url === '/v1/models') {
        return carryOut(await options.listing?.() ?? {}, () =>
          sendJson(res, { object: 'list', data: options.models ?? [{ id: 'llama3', object: 'model' }] }))
      }
      if (req.method !== 'POST' || req.url !== '/v1/chat/completions') {
        return sendError(res, { status: 404, type: 'invalid_request_error', message: `No route ${req.url}` })
      }
      let plan = await options.reply?.(request) ?? { text: 'Hello from the fake server.' }
      if (request.structured !== undefined && plan.object === undefined && !plan.error && !plan.parts && !plan.bytes) {
        plan = { ...plan, text: undefined, toolCalls: undefined, object: structuredAnswer(request.structured) }
      }
      await carryOut(plan, () => {
        if (!request.streaming) return sendJson(res, completion(plan, request.modelId))
        const parts = chunks(plan, request.modelId, body.stream_options?.include_usage === true)
        sendParts(res, parts, plan, { whole: parts.findIndex((part: any) => part.choices?.[0]?.finish_reason) })
      })
    }

    async function carryOut (plan: Plan, proper: () => void) {
      if (plan.delayMs) await new Promise((resolve) => setTimeout(resolve, plan.delayMs))
      if (plan.error) sendError(res, plan.error)
      else if (plan.bytes) await sendBytes(res, plan.bytes)
      else proper()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `${options.tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    /** Every request, the lists too. */
    requests,
    /** The chat completions alone. */
    get calls () {
      return requests.filter(({ method }) => method === 'POST')
    },
    async close () {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    }
  }
}

function sendError (
  res: ServerResponse,
  { status, type = 'server_error', message = 'The fake server failed', param = null, headers, body }: NonNullable<Plan['error']>
) {
  sendJson(res, body ?? { error: { message, type, param, code: null } }, status, headers)
}
