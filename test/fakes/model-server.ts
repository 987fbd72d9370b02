import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { structuredAnswer, type ModelRequest, type Plan } from './gateway-plan.ts'
import { sendBytes, sendJson, sendParts } from './sending.ts'

/** A call as the server received it. */
export type ServerRequest = ModelRequest & { method: string }

/** A provider's wire format. */
export interface Wire {
  /** The path of a `baseURL`. */
  root: string
  /** The text after the last part of a stream. */
  end: string
  render?(part: any): string
  keyOf(headers: IncomingHttpHeaders): string | string[] | undefined
  /** Parses a call; returns undefined for a path that is not for calls. */
  call(path: string, body: any): Pick<ModelRequest, 'modelId' | 'streaming' | 'structured'> | undefined
  parts(plan: Plan, request: ServerRequest): any[]
  /** Returns true for a part that ends the answer. */
  isEnd(part: any): boolean
  whole(plan: Plan, request: ServerRequest): unknown
  list(models: Array<Record<string, unknown>> | undefined): unknown
  error(error: NonNullable<Plan['error']>): unknown
}

export interface ModelServerOptions {
  /** Returns the plan for a call; undefined for the default answer. A structured call whose plan has no `object` gets a fixed answer. */
  reply?(request: ServerRequest): Plan | undefined | Promise<Plan | undefined>
  /** The entries of the list of models. */
  models?: Array<Record<string, unknown>>
  /** Changes the response with the list of models. Only `delayMs`, `error` and `bytes` of the plan are used. */
  listing?(): Plan | undefined | Promise<Plan | undefined>
  /** Response bodies for other paths, such as Ollama's /api/ps. */
  others?: Record<string, () => object | undefined>
  /** By default, a free port. */
  port?: number
  /** The accepted key. Other keys are refused. */
  apiKey?: string
  tls?: { key: string, cert: string }
}

/** Starts a server on a free local port that speaks the wire format. Its `url` is a `baseURL`. */
export async function startModelServer (wire: Wire, options: ModelServerOptions = {}) {
  const requests: ServerRequest[] = []
  const sendError = (res: ServerResponse, error: NonNullable<Plan['error']>) =>
    sendJson(res, error.body ?? wire.error(error), error.status, error.headers)

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
      const [path] = req.url!.split('?')
      const call = body === undefined ? undefined : wire.call(req.url!, body)
      const request: ServerRequest = {
        method: req.method!,
        path: req.url!,
        headers: req.headers,
        body,
        modelId: '',
        streaming: false,
        ...call,
        at: Date.now(),
        ended: new Promise((resolve) => res.once('close', () => resolve(res.writableFinished ? 'finished' : 'aborted')))
      }
      requests.push(request)
      const key = wire.keyOf(req.headers)
      if (options.apiKey !== undefined && key !== options.apiKey) {
        return sendError(res, { status: 401, type: 'invalid_request_error', message: `Incorrect API key provided: ${key}` })
      }
      if (path === `${wire.root}/models`) {
        return carryOut(await options.listing?.() ?? {}, () => sendJson(res, wire.list(options.models)))
      }
      const other = options.others?.[path]
      if (other !== undefined) {
        const body = other()
        if (body === undefined) return sendError(res, { status: 503, type: 'unavailable_error', message: 'Loading model' })
        return sendJson(res, body)
      }
      if (req.method !== 'POST' || call === undefined) {
        return sendError(res, { status: 404, type: 'invalid_request_error', message: `No route ${req.url}` })
      }
      let plan = await options.reply?.(request) ?? { text: 'Hello from the fake server.' }
      if (request.structured !== undefined && plan.object === undefined && !plan.error && !plan.parts && !plan.bytes) {
        plan = { ...plan, text: undefined, toolCalls: undefined, object: structuredAnswer(request.structured) }
      }
      await carryOut(plan, () => {
        if (!request.streaming) return sendJson(res, wire.whole(plan, request))
        const parts = plan.parts ?? wire.parts(plan, request)
        sendParts(res, parts, plan, { whole: parts.findIndex(wire.isEnd), render: wire.render, done: wire.end })
      })
    }

    async function carryOut (plan: Plan, proper: () => void) {
      if (plan.delayMs) await new Promise((resolve) => setTimeout(resolve, plan.delayMs))
      if (plan.error) sendError(res, plan.error)
      else if (plan.bytes) await sendBytes(res, plan.bytes)
      else proper()
    }
  })
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve))
  return {
    url: `${options.tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}${wire.root}`,
    /** All requests, including those for the list of models. */
    requests,
    /** Only the model calls. */
    get calls () {
      return requests.filter(({ method }) => method === 'POST')
    },
    /** The number of open connections. */
    connections: promisify(server.getConnections.bind(server)),
    async close () {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    }
  }
}
