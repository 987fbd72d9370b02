import type { Socket } from 'node:net'
import { createError } from '@fastify/error'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ErrorSchema, type ErrorBody } from '../../schemas/errors.ts'
import type { Uploads } from '../../services/http/uploads.ts'
import { isServiceError } from '../../services/lib/own-error.ts'
import { describeInvalid, type FailedRule } from '../../services/http/invalid.ts'

// An ES module import of node:http reads all its exports, and one of them loads fetch: 30 ms of start-up.
const { STATUS_CODES } = process.getBuiltinModule('node:http')

declare module 'fastify' {
  interface FastifyInstance {
    /** Returns the error for a request without a matching route: 404, or 405 with `allow`. */
    unrouted: (request: FastifyRequest, reply: FastifyReply) => FastifyError
  }
}

type Known = Record<string, { statusCode: number, code: string, error: string }>

/** Limits of quoted text: errors quote input, which may be megabytes. */
const MAX_TEXT = 1_000
const MAX_PATH = 200

/** Clearer texts and codes for Fastify's own errors. */
const NOT_JSON: Known[string] = {
  statusCode: 415,
  code: 'ERR_UNSUPPORTED_MEDIA_TYPE',
  error: 'Send the body as Content-Type: application/json.'
}
const FASTIFY_ERRORS: Known = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: NOT_JSON,
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: NOT_JSON,
  FST_ERR_BAD_URL: { statusCode: 400, code: 'ERR_BAD_REQUEST', error: 'The path is not a valid URL path: check its percent-encoding.' }
}

const NotFound = createError('ERR_NOT_FOUND', 'No endpoint exists at %s. GET / lists every endpoint.', 404)
const MethodNotAllowed = createError('ERR_METHOD_NOT_ALLOWED', '%s takes %s, not %s.', 405)

/** Expected 5xx errors, which are not logged. */
const EXPECTED = ['ERR_DRAINING', 'ERR_TOO_MANY_BODIES']
/** Most request bodies of local clients have been handled within this time, in seconds. */
const RETRY_S = 1

/** Errors of Node's HTTP parser, which occur before there is a request. */
const PARSER_ERRORS: Record<string, ErrorBody> = {
  HPE_HEADER_OVERFLOW: body(431, 'ERR_HEADERS_TOO_LARGE', "The request's headers are larger than 16 KiB in all."),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: body(413, 'ERR_BODY_TOO_LARGE', "The body's chunk extensions are too large: leave them out."),
  ERR_HTTP_REQUEST_TIMEOUT: body(408, 'ERR_REQUEST_TIMEOUT', 'The request took too long to arrive; send it again.')
}
const NOT_HTTP = body(400, 'ERR_BAD_REQUEST', 'The request is not valid HTTP/1.1: check its request line and headers.')

/** Turns all errors into responses: `{ error, code, statusCode, details? }`. */
export default fp(async (app) => {
  app.addSchema(ErrorSchema)
  app.setSchemaErrorFormatter((errors, part) => new Error(sentence(errors as FailedRule[], part)))
  app.setErrorHandler((error: FastifyError, request, reply) => answer(error, request, reply))
  app.setNotFoundHandler((request, reply) => {
    throw app.unrouted(request, reply)
  })
  app.decorate('unrouted', ({ url, method }, reply) => {
    const path = url.split('?', 1)[0]
    const shown = shorten(path, MAX_PATH)
    const allowed = app.routeTable.methodsAt(path).join(', ')
    if (allowed === '') return new NotFound(shown)
    reply.header('allow', allowed)
    return new MethodNotAllowed(shown, allowed, method)
  })
}, { name: 'errors', dependencies: ['route-table'] })

/** Sends the response of an error. Also used for requests refused before routing. */
export function answer (error: FastifyError, request: FastifyRequest, reply: FastifyReply) {
  const shown = bodyOf(error)
  if (shown.statusCode >= 500 && !EXPECTED.includes(shown.code)) request.log.error({ err: error }, 'request failed')
  if (shown.statusCode === 401) reply.header('www-authenticate', 'Bearer')
  if (shown.code === 'ERR_TOO_MANY_BODIES') reply.header('retry-after', RETRY_S)
  return reply.code(shown.statusCode).send(shown)
}

/** Additional fields that an error of the service may return where the route's schema allows them. */
type Shown = { shown?: Record<string, string>, details?: ErrorBody['details'] }

function bodyOf (error: FastifyError & Shown): ErrorBody {
  if (error.validation) return body(400, 'ERR_INVALID_REQUEST', error.message, [describeInvalid(error.validation as FailedRule[])])
  const replacement = FASTIFY_ERRORS[error.code]
  if (replacement) return body(replacement.statusCode, replacement.code, replacement.error)
  if (isServiceError(error)) return { ...body(error.statusCode, error.code, error.message, error.details), ...error.shown }
  const { statusCode = 500, code = '' } = error
  if (code.startsWith('FST_ERR_') && statusCode < 500) return body(statusCode, 'ERR_BAD_REQUEST', `${STATUS_CODES[statusCode]}.`)
  return body(500, 'ERR_INTERNAL', 'Something went wrong inside the service; its log says more.')
}

/** Answers a request that Node's HTTP parser refused, and closes the connection. */
export function answerParserError (error: NodeJS.ErrnoException, socket: Socket, uploads: Uploads) {
  if (error.code === 'ECONNRESET' || socket.destroyed || uploads.isClosing(socket)) return
  // A response that has begun must not be interrupted by another one.
  const begun = (socket as { _httpMessage?: { headersSent: boolean } })._httpMessage?.headersSent
  if (begun || !socket.writable) return socket.destroy()
  const shown = PARSER_ERRORS[error.code!] ?? NOT_HTTP
  if (uploads.fail(socket, Object.assign(new Error(shown.error), shown))) return undefined
  const text = JSON.stringify(shown)
  socket.write(
    `HTTP/1.1 ${shown.statusCode} ${STATUS_CODES[shown.statusCode]}\r\n` +
      `content-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`
  )
  uploads.close(socket)
  return undefined
}

function body (statusCode: number, code: string, error: string, details?: ErrorBody['details']): ErrorBody {
  const shown = details?.map(({ path, message }) => ({ path: shorten(path, MAX_TEXT), message: shorten(message, MAX_TEXT) }))
  return { error: shorten(error, MAX_TEXT), code, statusCode, ...(shown && { details: shown }) }
}

function shorten (text: string, limit: number) {
  return text.length > limit ? `${text.slice(0, limit)}…` : text
}

function sentence (errors: FailedRule[], part: string) {
  const { path, message } = describeInvalid(errors)
  if (part === 'body' && path === '/' && errors.at(-1)!.data == null) return 'The body is missing: send a JSON object.'
  return `${part}${path === '/' ? '' : path.replaceAll('/', '.')} ${message}.`
}
