import { STATUS_CODES } from 'node:http'
import type { FastifyError, FastifyReply, FastifyRequest, FastifySchemaValidationError } from 'fastify'
import fp from 'fastify-plugin'
import { ErrorSchema, type ErrorBody } from '../schemas/errors.ts'

/** Fastify's own refusals in our words. */
const FASTIFY_ERRORS: Record<string, { code: string, error: (request: FastifyRequest) => string }> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { code: 'ERR_BODY_TOO_LARGE', error: (request) => `The body is larger than the ${request.routeOptions.bodyLimit ?? 0} bytes this route takes.` },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { code: 'ERR_UNSUPPORTED_MEDIA_TYPE', error: () => 'Send the body as Content-Type: application/json.' },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: { code: 'ERR_BAD_REQUEST', error: () => 'The body has another length than its Content-Length header says.' },
  FST_ERR_BAD_URL: { code: 'ERR_BAD_REQUEST', error: () => 'The path is not a valid URL path: check its percent-encoding.' },
  FST_ERR_MAX_PARAM_LENGTH: { code: 'ERR_NOT_FOUND', error: () => 'No such id: it is too long to be one.' }
}

/** The one place where errors become answers: `{ error, code, statusCode, details? }`. */
export default fp(async (app) => {
  app.addSchema(ErrorSchema)
  app.setSchemaErrorFormatter((errors, part) => Object.assign(new Error(sentence(errors[0], part)), { validation: errors }))
  app.setErrorHandler((error: FastifyError, request, reply) => answer(error, request, reply))
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0]
    const allowed = app.routeTable.methodsAt(path)
    if (allowed.length > 0) {
      return reply.code(405).header('allow', allowed.join(', ')).send(body(405, 'ERR_METHOD_NOT_ALLOWED', `${path} takes ${allowed.join(', ')}, not ${request.method}.`))
    }
    return reply.code(404).send(body(404, 'ERR_NOT_FOUND', `There is nothing at ${path}. GET / lists every endpoint.`))
  })
}, { name: 'errors', dependencies: ['route-table'] })

/** Also used for refusals that happen before routing. */
export function answer (error: FastifyError, request: FastifyRequest, reply: FastifyReply) {
  const known = FASTIFY_ERRORS[error.code]
  const statusCode = error.validation ? 400 : known?.code === 'ERR_NOT_FOUND' ? 404 : error.statusCode ?? 500
  if (statusCode >= 500) request.log.error({ err: error }, 'request failed')
  const code = error.validation ? 'ERR_INVALID_REQUEST' : known?.code ?? (error.code?.startsWith('ERR_') ? error.code : 'ERR_INTERNAL')
  const isOurs = error.validation !== undefined || known !== undefined || (error.code?.startsWith('ERR_') && error.statusCode !== undefined)
  const message = known?.error(request) ?? (isOurs ? error.message : statusCode < 500 ? `${STATUS_CODES[statusCode]}.` : 'Something went wrong inside the service; its log says more.')
  return reply.code(statusCode).send(body(statusCode, code, message, error.validation?.map(detail)))
}

function body (statusCode: number, code: string, error: string, details?: ErrorBody['details']): ErrorBody {
  return { error, code, statusCode, ...(details && { details }) }
}

function detail (error: FastifySchemaValidationError) {
  return { path: error.instancePath || '/', message: explain(error) }
}

function sentence (error: FastifySchemaValidationError, part: string) {
  return `${part}${error.instancePath.replaceAll('/', '.')} ${explain(error)}.`
}

function explain ({ keyword, message = 'is invalid', params, ...error }: FastifySchemaValidationError): string {
  const allowed = (error as { parentSchema?: { properties?: object } }).parentSchema?.properties
  if (keyword === 'additionalProperties') {
    return `has the unknown field "${params.additionalProperty}"${allowed ? `; allowed are ${Object.keys(allowed).join(', ')}` : ''}`
  }
  if (keyword === 'minItems' || keyword === 'minProperties') return `needs at least ${params.limit} ${keyword === 'minItems' ? 'entry' : 'field'}`
  if (keyword === 'enum') return `${message}: ${(params.allowedValues as unknown[]).join(', ')}`
  return message
}
