import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { NotJsonMedia, parseBody } from '../services/gate/body.ts'
import { createUploads, type Uploads } from '../services/gate/uploads.ts'

declare module 'fastify' {
  interface FastifyInstance { uploads: Uploads }
  interface FastifyContextConfig {
    /** The answer may take minutes: the body counts as handled when the handler has it. */
    answersLate?: boolean
  }
}

/** Receives bodies, and lets every answer wait until the body of its request is out of the way. */
export default fp(async (app) => {
  const uploads = createUploads({ clock: app.clock })
  app.decorate('uploads', uploads)
  app.server.on('checkContinue', (request, response) => {
    uploads.expectContinue(request, response)
    app.server.emit('request', request, response)
  })

  app.addHook('onRequest', (request, reply, done) => {
    // Nobody could read its answer, so nothing of it may happen.
    if (uploads.isClosing(request.raw.socket)) return reply.hijack()
    reply.raw.once('close', () => uploads.release(request.raw))
    done()
  })
  // A stream is answered past `onSend`, and methods such as GET leave their body unread.
  app.addHook('preHandler', (request, reply, done) => {
    const { stream, answersLate } = request.routeOptions.config
    if (answersLate) uploads.release(request.raw)
    const settled = stream ? undefined : uploads.settle(request.raw, reply.raw)
    if (settled) settled.then(() => done())
    else done()
  })
  app.addHook('onSend', (request, reply, payload, done) => {
    uploads.release(request.raw)
    const settled = uploads.settle(request.raw, reply.raw)
    // Fastify closes the connection after what a parser refuses: after a whole body that is not needed.
    reply.removeHeader('connection')
    if (settled) settled.then(() => done(null, payload))
    else done(null, payload)
  })

  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', async ({ raw, routeOptions }: FastifyRequest) => parseBody(await uploads.receive(raw, routeOptions.bodyLimit)))
  // Backups only; the route reads it as it comes.
  app.addContentTypeParser('application/octet-stream', async ({ raw, routeOptions }: FastifyRequest) => {
    if (!routeOptions.config?.stream) return refuse(raw)
    uploads.stream(raw)
    return raw
  })
  app.addContentTypeParser('*', async ({ raw }: FastifyRequest) => refuse(raw))

  /** An empty body is no body, whatever type it is said to have. */
  async function refuse (raw: FastifyRequest['raw']) {
    if (!await uploads.isEmpty(raw)) throw new NotJsonMedia()
  }
}, { name: 'uploads', dependencies: ['clock', 'errors'] })
