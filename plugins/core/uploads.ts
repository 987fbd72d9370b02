import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { NotJsonMedia, parseBody } from '../../services/http/json-body.ts'
import { createUploads, type Uploads } from '../../services/http/uploads.ts'

declare module 'fastify' {
  interface FastifyInstance {
    uploads: Uploads
  }
  interface FastifyContextConfig {
    /** The response may take minutes, so the body counts as handled when the handler receives it. */
    answersLate?: boolean
    /** The body is taken as bytes, whatever its type. */
    rawBody?: boolean
  }
}

/** Receives request bodies, and delays every response until the rest of its request's body is read or dropped. */
export default fp(async (app) => {
  const uploads = createUploads({ clock: app.clock })
  app.decorate('uploads', uploads)
  app.server.on('checkContinue', (request, response) => {
    uploads.expectContinue(request, response)
    app.server.emit('request', request, response)
  })

  app.addHook('onRequest', (request, reply, done) => {
    reply.raw.once('close', () => uploads.release(request.raw))
    // A request that cannot be answered must have no effect, so its handling stops here.
    if (uploads.isClosing(request.raw.socket)) reply.hijack()
    else done()
  })
  // Streams bypass `onSend`, and methods such as GET do not read their body.
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

  // Parser errors are thrown later in a hook: Fastify closes the connection after an error of a parser, but not after one of a
  // hook.
  const refused = new WeakMap<FastifyRequest, Error>()
  const parser = (parse: (request: FastifyRequest) => unknown) => async (request: FastifyRequest) => {
    try {
      return await parse(request)
    } catch (error) {
      refused.set(request, error as Error)
    }
    return undefined
  }
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.routeOptions.config.optionalBody && request.body === undefined) request.body = {}
    done(refused.get(request))
  })

  const receive = ({ raw, routeOptions }: FastifyRequest) => uploads.receive(raw, routeOptions.bodyLimit)
  /** Accepts an empty body of any type and refuses others, but where bytes are taken. */
  const takeOther = parser(async (request) => {
    if (request.routeOptions.config.rawBody) return receive(request)
    if (!await uploads.isEmpty(request.raw)) throw new NotJsonMedia()
    return undefined
  })

  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    parser(async (request) => {
      const body = await receive(request)
      return request.routeOptions.config.rawBody ? body : parseBody(body)
    })
  )
  // For backups only; the route reads the body as a stream.
  app.addContentTypeParser(
    'application/octet-stream',
    async (request: FastifyRequest) => request.routeOptions.config.stream ? uploads.stream(request.raw) : takeOther(request)
  )
  app.addContentTypeParser('*', takeOther)
}, { name: 'uploads', dependencies: ['clock', 'errors'] })
