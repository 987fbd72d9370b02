import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ErrorSchema, type ErrorBody } from '../schemas/errors.ts'
import { isOwn } from '../services/own-error.ts'
import { whatIsWrong, type FailedRule } from '../services/invalid.ts'

// An ES module import of node:http reads every export of it, and one of them loads all of fetch: 30 ms of start-up.
const { STATUS_CODES } = process.getBuiltinModule('node:http')

type Known = Record<string, { statusCode: number, code: string, error: (request: FastifyRequest) => string }>

/** Errors name what was sent, which may be megabytes. */
const SHOWN = 1_000
const SHOWN_PATH = 200

/** Fastify's own refusals in our words. */
const NOT_JSON: Known[string] = { statusCode: 415, code: 'ERR_UNSUPPORTED_MEDIA_TYPE', error: () => 'Send the body as Content-Type: application/json.' }
const FASTIFY_ERRORS: Known = {
  FST_ERR_CTP_BODY_TOO_LARGE: { statusCode: 413, code: 'ERR_BODY_TOO_LARGE', error: (request) => `The body is larger than the ${request.routeOptions.bodyLimit} bytes this route takes.` },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: NOT_JSON,
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: NOT_JSON,
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: { statusCode: 400, code: 'ERR_BAD_REQUEST', error: () => 'The body has another length than its Content-Length header says.' },
  FST_ERR_BAD_URL: { statusCode: 400, code: 'ERR_BAD_REQUEST', error: () => 'The path is not a valid URL path: check its percent-encoding.' }
}

/** What Node's parser refuses before there is a request. */
const PARSER_ERRORS: Record<string, ErrorBody> = {
  HPE_HEADER_OVERFLOW: body(431, 'ERR_HEADERS_TOO_LARGE', 'The request\'s headers are larger than 16 KiB in all.'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: body(413, 'ERR_BODY_TOO_LARGE', 'The body\'s chunk extensions are too large: leave them out.'),
  ERR_HTTP_REQUEST_TIMEOUT: body(408, 'ERR_REQUEST_TIMEOUT', 'The request took too long to arrive; send it again.')
}
const NOT_HTTP = body(400, 'ERR_BAD_REQUEST', 'The request is not valid HTTP/1.1: check its request line and headers.')

/** The one place where errors become answers: `{ error, code, statusCode, details? }`. */
export default fp(async (app) => {
  app.addSchema(ErrorSchema)
  app.setSchemaErrorFormatter((errors, part) => new Error(sentence(errors as FailedRule[], part)))
  app.setErrorHandler((error: FastifyError, request, reply) => answer(error, request, reply))
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0]
    const shown = shorten(path, SHOWN_PATH)
    const allowed = app.routeTable.methodsAt(path)
    if (allowed.length > 0) {
      return reply.code(405).header('allow', allowed.join(', ')).send(body(405, 'ERR_METHOD_NOT_ALLOWED', `${shown} takes ${allowed.join(', ')}, not ${request.method}.`))
    }
    return reply.code(404).send(body(404, 'ERR_NOT_FOUND', `There is nothing at ${shown}. GET / lists every endpoint.`))
  })
}, { name: 'errors', dependencies: ['route-table'] })

/** Also used for refusals that happen before routing. */
export function answer (error: FastifyError, request: FastifyRequest, reply: FastifyReply) {
  const shown = bodyOf(error, request)
  if (shown.statusCode >= 500 && shown.code !== 'ERR_DRAINING') request.log.error({ err: error }, 'request failed')
  if (shown.statusCode === 401) reply.header('www-authenticate', 'Bearer')
  return reply.code(shown.statusCode).send(shown)
}

/** What an error of ours may show beside the one shape, where its route says so. */
type Shown = { shown?: Record<string, string>, details?: ErrorBody['details'] }

function bodyOf (error: FastifyError & Shown, request: FastifyRequest): ErrorBody {
  if (error.validation) return body(400, 'ERR_INVALID_REQUEST', error.message, [whatIsWrong(error.validation as FailedRule[])])
  const known = FASTIFY_ERRORS[error.code]
  if (known) return body(known.statusCode, known.code, known.error(request))
  if (isOwn(error)) return { ...body(error.statusCode, error.code, error.message, error.details), ...error.shown }
  const { statusCode = 500, code = '' } = error
  if (code.startsWith('FST_ERR_') && statusCode < 500) return body(statusCode, 'ERR_BAD_REQUEST', `${STATUS_CODES[statusCode]}.`)
  return body(500, 'ERR_INTERNAL', 'Something went wrong inside the service; its log says more.')
}

/** Answers what Node's HTTP parser could not make a request of, and ends the connection. */
export function answerParserError (error: NodeJS.ErrnoException, socket: Socket) {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  // An answer that is already on its way must not get another one in its middle.
  const begun = (socket as { _httpMessage?: { headersSent: boolean } })._httpMessage?.headersSent
  if (begun || !socket.writable) return socket.destroy()
  const shown = PARSER_ERRORS[error.code!] ?? NOT_HTTP
  const text = JSON.stringify(shown)
  socket.end(`HTTP/1.1 ${shown.statusCode} ${STATUS_CODES[shown.statusCode]}\r\n` +
    `content-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`)
}

function body (statusCode: number, code: string, error: string, details?: ErrorBody['details']): ErrorBody {
  const shown = details?.map(({ path, message }) => ({ path: shorten(path, SHOWN), message: shorten(message, SHOWN) }))
  return { error: shorten(error, SHOWN), code, statusCode, ...(shown && { details: shown }) }
}

function shorten (text: string, most: number) {
  return text.length > most ? `${text.slice(0, most)}…` : text
}

function sentence (errors: FailedRule[], part: string) {
  const { path, message } = whatIsWrong(errors)
  if (part === 'body' && path === '/' && errors.at(-1)!.data == null) return 'The body is missing: send a JSON object.'
  return `${part}${path === '/' ? '' : path.replaceAll('/', '.')} ${message}.`
}
