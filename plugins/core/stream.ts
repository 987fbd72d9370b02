import type { FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import type { Subscription } from '../../services/runs/engine/active-run.ts'
import { encoderFor, type Encoder } from '../../services/runs/streams/encoder.ts'
import { pump } from '../../services/runs/streams/pump.ts'

declare module 'fastify' {
  interface FastifyReply {
    /**
     * Streams a run's events in the run's protocol, or with the given encoder, until the segment (the part of the run up to its next wait
     * for a person) ends or the client disconnects.
     */
    streamRun(run: Subscription, encoder?: Encoder): Promise<void>
  }
}

/** Event streams of runs. Headers are sent at once, events are written once per turn of the event loop, and slow readers are bounded. */
export default fp(async (app) => {
  app.decorateReply('streamRun', async function (this: FastifyReply, run: Subscription, encoder = encoderFor(run.protocol)) {
    const { raw, closed } = this
    this.hijack()
    this.server.uploads.release(this.request.raw)
    this.server.answeredFor.set(raw, { runId: run.runId, threadId: run.threadId })
    try {
      raw.writeHead(200, {
        ...this.getHeaders() as Record<string, string>,
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache',
        'x-accel-buffering': 'no',
        'x-thread-id': encodeURIComponent(run.threadId),
        'x-run-id': run.runId,
        ...encoder.headers
      })
      // The response to HEAD has no body. Left open until the run ends, it would block the next requests on the same connection.
      if (this.request.method === 'HEAD') return
      await pump({ ...encoder, batches: run.batches(closed), lag: run.lag }, raw, { clock: app.clock, signal: closed })
    } finally {
      run.unsubscribe()
      raw.end()
    }
  })
}, { name: 'stream', dependencies: ['clock', 'request-log', 'uploads'] })
