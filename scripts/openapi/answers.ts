/** Answers that routes share: what the gate, the parser of bodies and the store refuse, in every route's name. */
export const SHARED = {
  BadRequest: answer(400, 'The request is not valid: its body, its parameters or its Host header', {
    error: 'body.messages needs at least 1 entry.',
    code: 'ERR_INVALID_REQUEST',
    details: [{ path: '/messages', message: 'needs at least 1 entry' }]
  }),
  Unauthorized: answer(401, 'The service was started with LOCAL_AGENT_TOKEN, and the request has another token or none', {
    error: 'This service needs a token: send one header Authorization: Bearer <LOCAL_AGENT_TOKEN>.',
    code: 'ERR_UNAUTHORIZED'
  }),
  Forbidden: answer(403, 'The request comes from a web page that may not call the service, or calls it by a foreign name', {
    error: 'Origin "https://example.com" may not call this service. Add it to allowedOrigins in config.json if it is your app.',
    code: 'ERR_FORBIDDEN'
  }),
  NotFound: answer(404, 'There is nothing of that name', { error: 'No run is under way in this conversation.', code: 'ERR_NO_LIVE_RUN' }),
  Conflict: answer(409, 'The state does not allow it', {
    error: 'This conversation already has a run under way; wait for it to end.',
    code: 'ERR_CONVERSATION_BUSY'
  }),
  Gone: answer(410, 'It was there, and its time is over', {
    error: 'The approval request "01a1fd98-ca04-739b-856a-7f12991dd0d6" has expired; ask the agent again.',
    code: 'ERR_APPROVAL_EXPIRED'
  }),
  TooLarge: answer(413, 'The body is larger than the route takes', {
    error: 'The body is larger than the 1048576 bytes this route takes.',
    code: 'ERR_BODY_TOO_LARGE'
  }),
  UnsupportedMediaType: answer(415, 'The body is not sent as application/json', {
    error: 'Send the body as Content-Type: application/json.',
    code: 'ERR_UNSUPPORTED_MEDIA_TYPE'
  }),
  TooMany: answer(429, 'Too much is under way or waiting', {
    error: 'There are already 128 runs under way; wait for one to end.',
    code: 'ERR_TOO_MANY_RUNS'
  }),
  Internal: answer(500, "A mistake of the service's; its log says more", {
    error: 'Something went wrong inside the service; its log says more.',
    code: 'ERR_INTERNAL'
  }),
  Upstream: answer(502, 'What the service called, such as a model, failed', {
    error:
      'The model anthropic/claude-sonnet-5.5 was refused: the key is not valid. Set another with POST /providers/configure {"gateway_key": "<key>"}.',
    code: 'ERR_UPSTREAM'
  }),
  Unavailable: answer(503, 'The service is shutting down, its store cannot be written, or too many request bodies are under way', {
    error: 'The service is shutting down; try again after its restart.',
    code: 'ERR_DRAINING'
  }, { 'retry-after': { description: 'Seconds, where too many request bodies are under way', schema: { type: 'integer' } } }),
  UpstreamTimeout: answer(504, 'What the service called, such as a model, did not answer in time', {
    error: 'The model anthropic/claude-sonnet-5.5 did not answer within 60 s.',
    code: 'ERR_TIMEOUT'
  })
}

const NAMES = new Map(Object.entries(SHARED).map(([name, { example }]) => [String(example.statusCode), name]))

/** The component of a status; throws for a status that has none. */
export function sharedAnswer (status: string) {
  const name = NAMES.get(status)
  if (name === undefined) throw new Error(`scripts/openapi/answers.ts does not describe the error ${status}`)
  return { $ref: `#/components/responses/${name}` }
}

/** What any route may answer, beside what it says itself. */
export function refusalsOf (method: string, { open, whileDraining }: { open?: boolean, whileDraining?: boolean } = {}): string[] {
  return [
    '400',
    '403',
    '500',
    ...open ? [] : ['401'],
    ...whileDraining ? [] : ['503'],
    ...method === 'get' ? [] : ['413', '415']
  ]
}

function answer (statusCode: number, description: string, body: { error: string, code: string, details?: object[] }, headers?: object) {
  const { error, code, ...rest } = body
  return { description, headers, example: { error, code, statusCode, ...rest } }
}

/** `components.responses`. */
export const responses = Object.fromEntries(
  Object.entries(SHARED).map(([name, { description, headers, example }]) => [name, {
    description,
    headers,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' }, example } }
  }])
)
