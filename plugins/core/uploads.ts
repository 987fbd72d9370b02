import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { NotJsonMedia, parseBody } from '../../services/http/json-body.ts'
import { createUploads, type Uploads } from '../../services/http/uploads.ts'

declare module 'fastify' {
  interface FastifyInstance {
    uploads: Uploads
  }
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
    reply.raw.once('close', () => uploads.release(request.raw))
    // A request that cannot be answered must have no effect: it goes no further.
    if (uploads.isClosing(request.raw.socket)) reply.hijack()
    else done()
  })
  // A stream is answered past `onSend`, and methods such as GET leave their body unread.
  app.addHook('preHandler', (request, reply, done) => {
    const { stream, answersLate } = request.routeOptions.config
    if (answersLate) uploads.release(request.raw)
    const settled = stream ? undefined : uploads.settle(request.raw, reply.raw)
    if (settled) void settled.then(() => done())
    else done()
  })
  app.addHook('onSend', (request, reply, payload, done) => {
    uploads.release(request.raw)
    const settled = uploads.settle(request.raw, reply.raw)
    if (settled) void settled.then(() => done(null, payload))
    else done(null, payload)
  })

  // Fastify closes the connection after an error of a parser; after one of a hook it can be used on.
  const refused = new WeakMap<FastifyRequest, Error>()
  const parser = (parse: (request: FastifyRequest) => unknown) => async (request: FastifyRequest) => {
    try {
      return await parse(request)
    } catch (error) {
      refused.set(request, error as Error)
    }
    return undefined
  }
  app.addHook('preValidation', (request, _reply, done) => done(refused.get(request)))

  /** An empty body is no body, whatever type it is said to have. */
  const refuse = parser(async ({ raw }) => {
    if (!await uploads.isEmpty(raw)) throw new NotJsonMedia()
  })

  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    parser(async ({ raw, routeOptions }) => parseBody(await uploads.receive(raw, routeOptions.bodyLimit)))
  )
  // Backups only; the route reads it as it comes.
  app.addContentTypeParser(
    'application/octet-stream',
    async (request: FastifyRequest) => request.routeOptions.config.stream ? uploads.stream(request.raw) : refuse(request)
  )
  app.addContentTypeParser('*', refuse)
}, { name: 'uploads', dependencies: ['clock', 'errors'] })
