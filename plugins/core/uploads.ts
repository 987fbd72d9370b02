import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { NotJsonMedia, parseBody } from '../../services/http/json-body.ts'
import { createUploads, type Uploads } from '../../services/http/uploads.ts'

declare module 'fastify' {
  interface FastifyInstance {
    uploads: Uploads
  }
  interface FastifyContextConfig {
    /** The response can take minutes, so the body no longer counts against the limit once the handler has received it. */
    answersLate?: boolean
    /** The handler gets the body as bytes, whatever its content type. */
    rawBody?: boolean
  }
}

/** Receives request bodies, and delays every response until the rest of its request's body has been read or dropped. */
export default fp(async (app) => {
  const uploads = createUploads({ clock: app.clock })
  app.decorate('uploads', uploads)
  app.server.on('checkContinue', (request, response) => {
    uploads.expectContinue(request, response)
    app.server.emit('request', request, response)
  })

  app.addHook('onRequest', (request, reply, done) => {
    reply.raw.once('close', () => uploads.release(request.raw))
    // No response can be sent on this connection, so the handling stops here: the request must have no effect.
    if (uploads.isClosing(request.raw.socket)) reply.hijack()
    else done()
  })
  // Streams bypass the `onSend` hook, and Fastify does not read the body of methods such as GET.
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

  // The error of a body parser is kept and thrown in the `preValidation` hook below. Fastify closes the connection after an error of a
  // parser, but not after an error of a hook.
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
  /** Accepts an empty body of any type. Refuses other bodies, except on routes that take bytes; a route of a stream gets null. */
  const takeOther = parser(async (request) => {
    const { rawBody, stream } = request.routeOptions.config
    if (rawBody) return receive(request)
    if (stream) return null
    if (!await uploads.isEmpty(request.raw)) throw new NotJsonMedia()
    return undefined
  })

  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    parser(async (request) => {
      if (request.routeOptions.config.stream) return null
      const body = await receive(request)
      return request.routeOptions.config.rawBody ? body : parseBody(body)
    })
  )
  // Routes of backups read this type as a stream. Other routes treat it like any other type.
  app.addContentTypeParser('application/octet-stream', async (request: FastifyRequest) =>
    request.routeOptions.config.stream ? uploads.stream(request.raw) : takeOther(request))
  app.addContentTypeParser('*', takeOther)
}, { name: 'uploads', dependencies: ['clock', 'errors'] })
