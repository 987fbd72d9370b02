import type { FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import type { Protocol } from '../schemas/agent.ts'
import type { RunEvent } from '../services/runlog/events.ts'
import { chooseDialect, type Dialect } from '../services/dialects/dialect.ts'
import { pump } from '../services/stream/pump.ts'

/** What a run's stream is made from; see `Follower` in services/agent. */
interface RunStream {
  runId: string
  threadId: string
  batches (signal: AbortSignal): AsyncGenerator<readonly RunEvent[]>
  lag (): number
  leave (): void
}

declare module 'fastify' {
  interface FastifyReply {
    /** Answers with a run's events until the segment ends or the client goes away; see `chooseDialect` for how they are written. */
    streamRun (run: RunStream, protocol?: Protocol, messages?: ReadonlyArray<object>): Promise<void>
  }
}

/** Streams: headers out at once, one write a turn, slow readers bounded, everything ended before the server closes. */
export default fp(async (app) => {
  const open = new Set<Promise<unknown>>()

  app.decorateReply('streamRun', async function (this: FastifyReply, run: RunStream, protocol?: Protocol, messages?: ReadonlyArray<object>) {
    const { raw } = this
    const dialect = chooseDialect(protocol, messages)
    const gone = new AbortController()
    const onClose = () => gone.abort()
    raw.on('close', onClose)
    raw.on('error', onClose)
    if (raw.destroyed) onClose()
    this.hijack()
    raw.writeHead(200, {
      ...this.getHeaders() as Record<string, string>,
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
      'x-thread-id': encodeURIComponent(run.threadId),
      'x-run-id': run.runId,
      ...dialect.headers
    })
    raw.flushHeaders()
    const streaming = pump({ chunks: rendered(run.batches(gone.signal), dialect), lag: run.lag }, raw, { clock: app.clock, signal: gone.signal })
    open.add(streaming)
    try {
      await streaming
    } finally {
      open.delete(streaming)
      run.leave()
      raw.end()
    }
  })

  /** The runs were ended by then; their readers get what is left. */
  app.addHook('onClose', async () => { await Promise.allSettled(open) })
}, { name: 'stream', dependencies: ['clock'] })

async function * rendered (batches: AsyncGenerator<readonly RunEvent[]>, { render, end }: Dialect) {
  for await (const batch of batches) {
    const text = render(batch)
    if (text !== '') yield text
  }
  if (end !== '') yield end
}
