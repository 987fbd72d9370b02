import { ERROR_STATUS, type ErrorCode } from '../../schemas/error-codes.ts'

/** Error responses that routes share, such as refusals by the request gate, the body parser or the store. */
export const SHARED = {
  BadRequest: answer('The request is not valid: its body, its parameters or its Host header', {
    error: 'body.messages needs at least 1 entry.',
    code: 'ERR_INVALID_REQUEST',
    details: [{ path: '/messages', message: 'needs at least 1 entry' }]
  }),
  Unauthorized: answer('The service was started with LOCAL_AGENT_TOKEN, and the request has another token or none', {
    error: 'This service needs a token: send one header Authorization: Bearer <LOCAL_AGENT_TOKEN>.',
    code: 'ERR_UNAUTHORIZED'
  }),
  OverBudget: answer('The budget of the run or of the day is used up', {
    error: 'The run used 20140 tokens; its budget is 20000.',
    code: 'ERR_BUDGET'
  }),
  Forbidden: answer('The request comes from a web page that may not call the service, or its Host header names another host', {
    error: 'Origin "https://example.com" may not call this service. Add it to allowedOrigins in config.json if it is your app.',
    code: 'ERR_FORBIDDEN'
  }),
  NotFound: answer('The named resource does not exist', {
    error: 'No run is under way here. Send a message, or for a task a comment on it, instead.',
    code: 'ERR_NO_LIVE_RUN'
  }),
  Conflict: answer('The current state does not allow the request', {
    error: 'This conversation already has a run under way; wait for it to end.',
    code: 'ERR_CONVERSATION_BUSY'
  }),
  Gone: answer('The resource existed but has expired', {
    error: 'The approval request "01a1fd98-ca04-739b-856a-7f12991dd0d6" has expired; ask the agent again.',
    code: 'ERR_APPROVAL_EXPIRED'
  }),
  TooLarge: answer('The body is larger than the route accepts', {
    error: 'The body is larger than the 1048576 bytes this route takes.',
    code: 'ERR_BODY_TOO_LARGE'
  }),
  UnsupportedMediaType: answer('The body is not sent as application/json', {
    error: 'Send the body as Content-Type: application/json.',
    code: 'ERR_UNSUPPORTED_MEDIA_TYPE'
  }),
  Unprocessable: answer('The request is valid, but the configuration does not allow it: there is a budget, and no price of the model', {
    error: 'There is a budget in US dollars, but no price of the model ollama/llama4 is known, so it was not called.',
    code: 'ERR_BUDGET_UNPRICED'
  }),
  TooMany: answer('Too many operations are active or waiting, or the provider of the model has had too many requests', {
    error: 'There are already 128 runs under way; wait for one to end.',
    code: 'ERR_TOO_MANY_RUNS'
  }, {
    'retry-after': { description: 'Seconds to wait; sent when the provider names them', schema: { type: 'integer' } }
  }),
  HeadersTooLarge: answer('The headers of the request, with its address, are larger than 16 KiB in all', {
    error: "The request's headers are larger than 16 KiB in all.",
    code: 'ERR_HEADERS_TOO_LARGE'
  }),
  Internal: answer('An internal error of the service; its log has the details', {
    error: 'Something went wrong inside the service; its log says more.',
    code: 'ERR_INTERNAL'
  }),
  Upstream: answer('A model or another server that the service called failed', {
    error:
      'The model anthropic/claude-sonnet-5.5 was refused: the key is not valid. Set another with POST /providers/configure ' +
      '{"gateway_key": "<key>"}.',
    code: 'ERR_PROVIDER_AUTH'
  }),
  Unavailable: answer('The service is shutting down, its store cannot be written, or too many request bodies are being received', {
    error: 'The service is shutting down; try again after its restart.',
    code: 'ERR_DRAINING'
  }, {
    'retry-after': { description: 'Seconds to wait; sent when too many request bodies are being received', schema: { type: 'integer' } }
  }),
  UpstreamTimeout: answer('A model or another server that the service called did not answer in time', {
    error: 'The model anthropic/claude-sonnet-5.5 did not answer within 60 s.',
    code: 'ERR_TIMEOUT'
  })
}

const NAMES = new Map(Object.entries(SHARED).map(([name, { example }]) => [String(example.statusCode), name]))

/** Returns a reference to the response component of a status. Throws if the status has none. */
export function sharedAnswer (status: string) {
  const name = NAMES.get(status)
  if (name === undefined) throw new Error(`scripts/openapi/answers.ts does not describe the error ${status}`)
  return { $ref: `#/components/responses/${name}` }
}

/** Returns the response for an error status in OpenAI's shape, for the routes under `/v1`. */
export function chatAnswer (status: string) {
  const { description } = SHARED[sharedAnswer(status).$ref.split('/').at(-1) as keyof typeof SHARED]
  return { description, content: { 'application/json': { schema: { $ref: '#/components/schemas/ChatError' } } } }
}

/** Returns the error statuses of a route in addition to those in its own schema. */
export function refusalsOf (method: string, { open, whileDraining }: { open?: unknown, whileDraining?: boolean } = {}): string[] {
  return [
    '400',
    '403',
    '431',
    '500',
    ...open === true ? [] : ['401'],
    ...whileDraining ? [] : ['503'],
    ...method === 'get' ? [] : ['413', '415']
  ]
}

function answer (description: string, body: { error: string, code: ErrorCode, details?: object[] }, headers?: object) {
  const { error, code, ...rest } = body
  return { description, headers, example: { error, code, statusCode: ERROR_STATUS[code], ...rest } }
}

/** The content of `components.responses`. */
export const responses = Object.fromEntries(
  Object.entries(SHARED).map(([name, { description, headers, example }]) => [name, {
    description,
    headers,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' }, example } }
  }])
)
