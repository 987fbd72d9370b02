import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ERROR_STATUS, type ErrorCode } from '../../schemas/error-codes.ts'
import { ErrorSchema, type ErrorBody } from '../../schemas/errors.ts'
import type { Uploads } from '../../services/http/uploads.ts'
import { defineError, ServiceError } from '../../services/lib/service-error.ts'
import { chatFailure } from '../../services/runs/streams/openai/chat-errors.ts'
import { fieldsAt } from '../../services/runs/streams/openai/chat-fields.ts'
import { describeInvalid, type FailedRule } from '../../services/http/invalid.ts'

// An ES module import of node:http reads all its exports, and one of them loads fetch: 30 ms of start-up.
const { STATUS_CODES } = process.getBuiltinModule('node:http')

declare module 'fastify' {
  interface FastifyInstance {
    /** Returns the error for a request without a matching route: 404, or 405 with `allow`. */
    unrouted: (request: FastifyRequest, reply: FastifyReply) => ServiceError
  }
}

/** Limits of the input that errors quote, in characters. The input itself can be megabytes. */
const MAX_TEXT = 1_000
const MAX_PATH = 200

/** An error's code and the sentence for its user. */
type Named = [code: ErrorCode, error: string]

/** Codes and clearer sentences for Fastify's own errors. */
const NOT_JSON: Named = ['ERR_UNSUPPORTED_MEDIA_TYPE', 'Send the body as Content-Type: application/json.']
const FASTIFY_ERRORS: Record<string, Named> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: NOT_JSON,
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: NOT_JSON,
  FST_ERR_BAD_URL: ['ERR_BAD_REQUEST', 'The path is not a valid URL path: check its percent-encoding.']
}

const NotFound = defineError('ERR_NOT_FOUND', 'No endpoint exists at %s. GET / lists every endpoint.')
const MethodNotAllowed = defineError('ERR_METHOD_NOT_ALLOWED', '%s takes %s, not %s.')

/** Codes of 5xx errors that occur in normal use. They are not logged. */
const EXPECTED: string[] = ['ERR_DRAINING', 'ERR_TOO_MANY_BODIES']

/** Errors of Node's HTTP parser, which occur before there is a request. */
const PARSER_ERRORS: Record<string, Named> = {
  HPE_HEADER_OVERFLOW: ['ERR_HEADERS_TOO_LARGE', "The request's headers are larger than 16 KiB in all."],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['ERR_BODY_TOO_LARGE', "The body's chunk extensions are too large: leave them out."],
  ERR_HTTP_REQUEST_TIMEOUT: ['ERR_REQUEST_TIMEOUT', 'The request took too long to arrive; send it again.']
}
const NOT_HTTP: Named = ['ERR_BAD_REQUEST', 'The request is not valid HTTP/1.1: check its request line and headers.']

/** Turns all errors into responses: `{ error, code, statusCode, details? }`, and in OpenAI's shape under `/v1`. */
export default fp(async (app) => {
  app.addSchema(ErrorSchema)
  app.setSchemaErrorFormatter((errors, part) => new Error(sentence(errors as FailedRule[], part)))
  app.setErrorHandler((error: FastifyError, request, reply) => {
    // The path belongs to a fixed route for another method. Only the pattern of an id has matched it here.
    const isOther = error.validationContext === 'params' && app.routeTable.isFixed(request.url.split('?', 1)[0])
    return answer(isOther ? app.unrouted(request, reply) : error, request, reply)
  })
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
export function answer (error: FastifyError | ServiceError, request: FastifyRequest, reply: FastifyReply) {
  const shown = bodyOf(error)
  if (shown.statusCode >= 500 && !EXPECTED.includes(shown.code)) request.log.error({ err: error }, 'request failed')
  if (shown.statusCode === 401) reply.header('www-authenticate', 'Bearer')
  if (error instanceof ServiceError && error.retryAfterMs !== undefined) reply.header('retry-after', Math.ceil(error.retryAfterMs / 1000))
  if (!/^\/v1(?:[/?]|$)/.test(request.url)) return reply.code(shown.statusCode).send(shown)
  const chat = chatFailure(shown, error, fieldsAt(request.url))
  return reply.code(chat.statusCode).headers(chat.headers).send(chat.body)
}

function bodyOf (error: FastifyError | ServiceError): ErrorBody {
  if (error instanceof ServiceError) return { ...body(error.code, error.message, error.details), ...error.fields }
  if (error.validation) return body('ERR_INVALID_REQUEST', error.message, [describeInvalid(error.validation as FailedRule[])])
  const { statusCode = 500, code = '' } = error
  if (FASTIFY_ERRORS[code]) return body(...FASTIFY_ERRORS[code])
  if (code.startsWith('FST_ERR_') && statusCode < 500) return { ...body('ERR_BAD_REQUEST', `${STATUS_CODES[statusCode]}.`), statusCode }
  return body('ERR_INTERNAL', 'Something went wrong inside the service; its log says more.')
}

/** Answers a request that Node's HTTP parser refused, and closes the connection. */
export function answerParserError (error: NodeJS.ErrnoException, socket: Socket, uploads: Uploads) {
  if (error.code === 'ECONNRESET' || socket.destroyed || uploads.isClosing(socket)) return
  // A response that has begun must not be interrupted by another one.
  const begun = (socket as { _httpMessage?: { headersSent: boolean } })._httpMessage?.headersSent
  if (begun || !socket.writable) return socket.destroy()
  const failure = new ServiceError(...PARSER_ERRORS[error.code!] ?? NOT_HTTP)
  if (uploads.fail(socket, failure)) return undefined
  const shown = bodyOf(failure)
  const text = JSON.stringify(shown)
  socket.write(
    `HTTP/1.1 ${shown.statusCode} ${STATUS_CODES[shown.statusCode]}\r\n` +
      `content-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`
  )
  uploads.close(socket)
  return undefined
}

function body (code: ErrorCode, error: string, details?: ErrorBody['details']): ErrorBody {
  const shown = details?.map(({ path, message }) => ({ path: shorten(path, MAX_TEXT), message: shorten(message, MAX_TEXT) }))
  return { error: shorten(error, MAX_TEXT), code, statusCode: ERROR_STATUS[code], ...(shown && { details: shown }) }
}

function shorten (text: string, limit: number) {
  return text.length > limit ? `${text.slice(0, limit)}…` : text
}

function sentence (errors: FailedRule[], part: string) {
  const { path, message } = describeInvalid(errors)
  if (part === 'body' && path === '/' && errors.at(-1)!.data == null) return 'The body is missing: send a JSON object.'
  return `${part}${path === '/' ? '' : path.replaceAll('/', '.')} ${message}.`
}
