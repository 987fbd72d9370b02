import type { ResponseShape } from './response-shape.ts'

const DONE = 'data: [DONE]\n\n'
const sse = (...values: unknown[]) => values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join('')
const chunk = (delta: unknown, more: object = {}) =>
  ({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, ...more }] })
const say = (content: unknown) => chunk({ role: 'assistant', content })
const stop = chunk({}, { finish_reason: 'stop' })
const called = chunk({}, { finish_reason: 'tool_calls' })
const piece = (more: object, fn?: object | null) => chunk({ tool_calls: [{ ...more, ...fn !== undefined && { function: fn } }] })
const INPUT = '{"path":"a.txt"}'
const whole = { name: 'readFile', arguments: INPUT }
const other = { name: 'readFile', arguments: '{"path":"b.txt"}' }
const named = (input: string) => ({ name: 'readFile', arguments: input })
const OTHER = { name: 'readFile', input: { path: 'b.txt' } }
const READ: Array<{ name: string, input: unknown }> = [{ name: 'readFile', input: { path: 'a.txt' } }]
const stream = { status: 200, contentType: 'text/event-stream' }
const json = { status: 200, contentType: 'application/json' }

const document = (message: object, more: object = {}) => JSON.stringify({ choices: [{ message, ...more }] })
const said = (name: string, body: string, text = 'fine', source = 'own'): ResponseShape =>
  ({ name, source, ...stream, body, expect: { end: 'stop', text } })
const calls = (name: string, body: string, all = READ, source = 'own'): ResponseShape =>
  ({ name, source, ...stream, body, expect: { end: 'tool-calls', calls: all } })
const cut = (name: string, body: string): ResponseShape => ({ name, source: 'own', ...stream, body, expect: { end: 'cut' } })
const refused = (name: string, body: string, head: { status: number, contentType: string } = stream): ResponseShape =>
  ({ name, source: 'own', ...head, body, expect: { end: 'error', words: 'your trial is over' } })

/** Texts. */
const texts: ResponseShape[] = [
  said('usage without choices', sse(say('fine'), stop, { usage: { prompt_tokens: 1 } }) + DONE, 'fine', 'ROCm/ATOM#1711'),
  said('choices null', sse({ choices: null }, say('fine'), stop) + DONE),
  said(
    'an empty object, a ping, a comment',
    `data: {}\n\nevent: ping\ndata: {"type":"ping"}\n\n: alive\n\n${sse(say('fine'), stop)}${DONE}`
  ),
  said('numbers as texts and texts as numbers', sse({ ...say('fine'), created: '1', id: 7, model: 3 }, stop) + DONE),
  said('unreadable usage', sse(say('fine'), { ...stop, usage: { prompt_tokens: 'many', prompt_tokens_details: [] } }) + DONE),
  said('roles of other APIs', sse(chunk({ role: 'model', content: 'fi' }), chunk({ role: 7, content: 'ne' }), stop) + DONE),
  said('a content of parts', sse(say([{ type: 'text', text: 'fi' }, 'n', null, { text: 'e' }]), stop) + DONE),
  said('a content that is one object', sse(say({ type: 'text', text: 'fine' }), stop) + DONE),
  said('thoughts in odd forms', sse(chunk({ reasoning: { summary: 'hm' } }), chunk({ reasoning_content: 7 }), say('fine'), stop) + DONE),
  said('message in the place of delta', sse({ choices: [{ message: { content: 'fine' }, finish_reason: 'stop' }] }) + DONE),
  said(
    'the whole message again at the end',
    sse(say('fi'), say('ne'), { choices: [{ message: { content: 'fine' }, finish_reason: 'stop' }] }) + DONE
  ),
  said('no blank lines between events', `data: ${JSON.stringify(say('fine'))}\ndata: ${JSON.stringify(stop)}\ndata: [DONE]\n`),
  said('no blank line at the end', `${sse(say('fine'))}data: ${JSON.stringify(stop)}`),
  said(
    'CR LF, and no blank behind the colon',
    `data:${JSON.stringify(say('fine'))}\r\n\r\ndata:${JSON.stringify(stop)}\r\n\r\ndata:[DONE]\r\n\r\n`
  ),
  said('the mark of the end without a reason', sse(say('fine'), chunk({})) + DONE, 'fine', 'anomalyco/opencode#43379'),
  said('an unknown reason', sse(say('fine'), chunk({}, { finish_reason: 'eos_token' })) + DONE),
  said('an empty later reason', sse(say('fine'), stop, chunk({}, { finish_reason: '' }), chunk({}, { finish_reason: null })) + DONE),
  said('error null beside an answer', sse({ ...say('fine'), error: null }, { ...stop, error: null }) + DONE),
  said('events with names', sse(say('fine'), stop).replaceAll('data:', 'event: message\nid: 1\ndata:') + DONE),
  { ...said('one document', document({ content: 'fine' }, { finish_reason: 'stop' })), ...json },
  said('one document as an event stream, without a reason', document({ content: 'fine' })),
  { ...said('JSON lines', `${JSON.stringify(say('fine'))}\n${JSON.stringify(stop)}\n`), contentType: 'application/x-ndjson' },
  { ...said('the longest', sse(say('fine'), chunk({}, { finish_reason: 'length' })) + DONE), expect: { end: 'length', text: 'fine' } }
]

/** Calls. */
const callShapes: ResponseShape[] = [
  calls(
    'calls in the second choice',
    sse({
      choices: [
        { index: 0, delta: { content: '' } },
        { index: 1, delta: { tool_calls: [{ index: 0, id: 'a', function: whole }] }, finish_reason: 'tool_calls' }
      ]
    }) + DONE
  ),
  calls(
    'a name in two pieces',
    sse(
      piece({ index: 0, id: 'a' }, { name: 'read' }),
      piece({ index: 0 }, { name: 'File' }),
      piece({ index: 0 }, { arguments: INPUT }),
      called
    ) + DONE
  ),
  calls('arguments as an object', sse(piece({ index: 0, id: 'a' }, { name: 'readFile', arguments: { path: 'a.txt' } }), called) + DONE),
  calls(
    'an index as a text',
    sse(piece({ index: '0', id: 'a' }, { name: 'readFile', arguments: '' }), piece({ index: '0' }, { arguments: INPUT }), called) + DONE
  ),
  calls('name and arguments without their object', sse(chunk({ tool_calls: [{ index: 0, id: 'a', ...whole }] }), called) + DONE),
  calls('the call of the older API', sse(chunk({ function_call: whole }), chunk({}, { finish_reason: 'function_call' })) + DONE),
  calls('a last piece without function', sse(piece({ index: 0, id: 'a' }, whole), piece({ index: 0, id: null }, null), called) + DONE),
  calls(
    'the same id at two indexes',
    sse(piece({ index: 0, id: 'k' }, whole), piece({ index: 1, id: 'k' }, whole), called) + DONE, READ, 'mudler/LocalAI#9722'
  ),
  calls(
    'whole arguments again, same id',
    sse(
      piece({ index: 0, id: 'k' }, named('')),
      piece({ index: 0 }, { arguments: INPUT }),
      piece({ index: 0, id: 'k' }, whole),
      called
    ) + DONE,
    READ,
    'BerriAI/litellm#20480'
  ),
  calls(
    'whole arguments again, no id and other blanks',
    sse(piece({ index: 0 }, whole), piece({ index: 0 }, { name: 'readFile', arguments: '{ "path": "a.txt" }' }), called) + DONE
  ),
  calls(
    'whole arguments again, no name',
    sse(piece({ index: 0, id: 'k' }, whole), piece({ index: 0 }, { arguments: INPUT }), called) + DONE
  ),
  calls(
    'the arguments so far in each piece',
    sse(...['{"path"', '{"path":"a.', INPUT, INPUT].map((input) => piece({ index: 0, id: 'k' }, named(input))), called) + DONE
  ),
  calls(
    'the name in each piece',
    sse(...['', '{"path"', ':"a.txt"}', ''].map((input) => piece({ index: 0, id: 'k' }, named(input))), called) + DONE
  ),
  calls(
    'another id in each piece',
    sse(piece({ index: 0, id: 'k1' }, named('')), piece({ index: 0, id: 'k2' }, { arguments: INPUT }), called) + DONE
  ),
  calls('the mark of the end without a reason', sse(piece({ index: 0, id: 'a' }, whole)) + DONE),
  calls('stop as the reason', sse(piece({ index: 0, id: 'a' }, whole), stop) + DONE),
  calls('an unknown reason', sse(piece({ index: 0, id: 'a' }, whole), chunk({}, { finish_reason: 'eos' })) + DONE),
  calls(
    'equal ids of two calls',
    sse(piece({ index: 0, id: 'k' }, whole), piece({ index: 1, id: 'k' }, { name: 'listDirectory', arguments: '' }), called) + DONE,
    [...READ, { name: 'listDirectory', input: {} }]
  ),
  calls(
    'the same place for all calls',
    sse(piece({ index: 0, id: 'a' }, whole), piece({ index: 0, id: 'b' }, other), called) + DONE,
    [...READ, OTHER]
  ),
  calls(
    'no index and no id',
    sse(piece({}, whole), piece({}, other), called) + DONE,
    [...READ, OTHER]
  ),
  calls(
    'the same input in two calls with ids of their own',
    sse(piece({ index: 0, id: 'a' }, whole), piece({ index: 1, id: 'b' }, whole), called) + DONE, [...READ, ...READ]
  ),
  {
    ...calls('a call in one document', document({ content: null, tool_calls: [{ id: 'a', function: whole }] }, { finish_reason: 'stop' })),
    ...json
  }
]

/** Ends that are none, and errors. */
const failures: ResponseShape[] = [
  cut('a text without any end', sse(say('fine'))),
  cut('nothing but the mark of the end', DONE),
  cut('half a call and the mark of the end', sse(piece({ index: 0, id: 'a' }, { name: 'readFile', arguments: '{"pa' })) + DONE),
  ...['network_error', 'error', 'abort', 'timeout', 'cancelled', 'model_error'].map((reason) =>
    cut(`the reason ${reason}`, sse(say('fi'), chunk({}, { finish_reason: reason })) + DONE)),
  cut('an event that is cut off', `${sse(say('fine'))}data: {"choices":[{"del`),
  refused('a document with an error', JSON.stringify({ error: { message: 'your trial is over', code: 'trial' } }), json),
  refused('a document with an error as text', JSON.stringify({ error: 'your trial is over' }), { status: 200, contentType: 'text/plain' }),
  refused('an error as text in the stream', 'data: {"error":"your trial is over"}\n\n'),
  refused('an error without a wrapper', sse({ object: 'error', message: 'your trial is over', type: 'BadRequestError', code: 400 }) + DONE),
  refused('an event named error', 'event: error\ndata: {"message":"your trial is over"}\n\n'),
  refused('an event named error, in words', 'event: error\ndata: your trial is over\n\n'),
  refused('400 in words', 'your trial is over', { status: 400, contentType: 'text/plain' }),
  refused(
    '422 with a list of details',
    JSON.stringify({ detail: [{ loc: ['body'], msg: 'your trial is over' }] }), { status: 422, contentType: 'application/json' }
  ),
  refused('400 with a detail', JSON.stringify({ detail: 'your trial is over' }), { status: 400, contentType: 'application/json' }),
  refused('400 with an error as text', JSON.stringify({ error: 'your trial is over' }), { status: 400, contentType: 'application/json' }),
  refused(
    '400 with a message',
    JSON.stringify({ message: 'your trial is over', request_id: 1 }), { status: 400, contentType: 'application/json' }
  ),
  refused(
    '400 as an event',
    `data: ${JSON.stringify({ error: { message: 'your trial is over' } })}\n\n`, { status: 400, contentType: 'text/event-stream' }
  ),
  refused(
    '503 as a page',
    '<html><head><title>Oh</title></head><body>your trial is over</body></html>', { status: 503, contentType: 'text/html' }
  ),
]

export const responseShapesOpen: ResponseShape[] = [...texts, ...callShapes, ...failures]
