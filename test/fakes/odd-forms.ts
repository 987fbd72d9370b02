// A tool server that answers in unusual forms that real servers use. It writes JSON-RPC by hand, over stdio when it is started as a
// program, else over HTTP.
//   --stateless      speaks only MCP 2026-07-28
//   --begins=<name>  gives an odd answer to the first message, from BEGINNINGS
//   --names=<json>   has tools with these names instead
//   --order=<1|-1>   lists names in this order
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

type Json = Record<string, any>

const did = { content: [{ type: 'text', text: 'did it' }] }
const answer = (id: unknown, outcome: object, more: object = {}) => JSON.stringify({ jsonrpc: '2.0', id, ...outcome, ...more })

/** The unusual forms, each as a tool: the text that the server writes, and the result of the call, a text or an error message. */
export const FORMS: Record<string, { writes: (id: number) => string, gives?: string, fails?: RegExp, only?: 'stdio' | 'http' }> = {
  meta_null: { writes: (id) => answer(id, { result: { ...did, _meta: null } }), gives: 'did it' },
  meta_odd: { writes: (id) => answer(id, { result: { ...did, _meta: { progressToken: null, mine: 1 } } }), gives: 'did it' },
  error_null: { writes: (id) => answer(id, { result: did, error: null }), gives: 'did it' },
  result_null: { writes: (id) => answer(id, { result: null }), gives: undefined },
  structured_null: { writes: (id) => answer(id, { result: { ...did, structuredContent: null, isError: null } }), gives: 'did it' },
  further_keys: { writes: (id) => answer(id, { result: did, method: null, params: null, took: 3 }), gives: 'did it' },
  id_as_text: { writes: (id) => answer(String(id), { result: did }), gives: 'did it' },
  no_id: { writes: () => answer(undefined, { result: did }), gives: 'did it' },
  no_version: { writes: (id) => JSON.stringify({ id, result: did }), gives: 'did it' },
  in_a_batch: { writes: (id) => `[${answer(id, { result: did })}]`, gives: 'did it' },
  content_text: { writes: (id) => answer(id, { result: { content: 'did it' } }), gives: 'did it' },
  content_one_block: { writes: (id) => answer(id, { result: { content: did.content[0] } }), gives: 'did it' },
  content_texts: { writes: (id) => answer(id, { result: { content: ['did it', null] } }), gives: 'did it' },
  result_text: { writes: (id) => answer(id, { result: 'did it' }), gives: 'did it' },
  result_list_of_php: { writes: (id) => answer(id, { result: [] }), gives: undefined },
  error_message_null: { writes: (id) => answer(id, { error: { code: -32000, message: null } }), fails: /The server gave no reason/ },
  error_text: { writes: (id) => answer(id, { error: 'out of paper' }), fails: /^out of paper$/ },
  error_data: { writes: (id) => answer(id, { error: { code: -1, message: '', data: { why: 'jam' } } }), fails: /"why":"jam"/ },
  error_both: {
    writes: (id) => answer(id, { error: { code: 'E_NO', message: 'Printing failed.', data: 'out of ink' } }),
    fails: /^Printing failed: out of ink$/
  },
  error_of_its_own: { writes: (id) => answer(id, { error: { detail: 'out of paper' } }), fails: /out of paper/ },
  is_error_structured: {
    writes: (id) => answer(id, { result: { content: [], isError: true, structuredContent: { reason: 'jam' } } }),
    fails: /"reason":"jam"/
  },
  neither: { writes: (id) => answer(id, { status: 'done' }), fails: /neither a result nor an error: .*"status":"done"/ },
  behind_text: { writes: (id) => `\u001b[32mINFO\u001b[0m {answer} ${answer(id, { result: did })}`, gives: 'did it', only: 'stdio' },
  quoted_request: {
    writes: (id) => `got ${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call' })}\n${answer(id, { result: did })}`,
    gives: 'did it',
    only: 'stdio'
  },
  log_of_json: {
    writes: (id) => `${JSON.stringify({ level: 'info', method: 'call', id, result: 'no' })}\n${answer(id, { result: did })}`,
    gives: 'did it',
    only: 'stdio'
  },
  no_message: { writes: () => '{"detail":"Not here"}', fails: /something else than a message: .*\{"detail":"Not here"\}/, only: 'http' },
  id_of_the_server: {
    writes: () => answer('server-error', { error: { code: -32600, message: 'Not so' } }),
    fails: /^Not so$/,
    only: 'http'
  }
}

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
/** Images in the formats of other APIs, as some servers write them. */
export const PICTURES: Record<string, object> = {
  picture_of_mcp: { type: 'image', data: PIXEL, mimeType: 'image/png' },
  picture_of_the_ai_sdk: { type: 'media', data: PIXEL, mediaType: 'image/png' },
  picture_part_of_the_ai_sdk: { type: 'image', image: `data:image/png;base64,${PIXEL}` },
  picture_data_of_the_ai_sdk: { type: 'image-data', data: PIXEL, mediaType: 'image/png' },
  picture_of_anthropic: { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
  picture_of_openai: { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
  picture_as_text: { type: 'text', text: `data:image/png;base64,${PIXEL}` }
}
for (const [name, block] of Object.entries(PICTURES)) {
  FORMS[name] = { writes: (id) => answer(id, { result: { content: [block] } }), gives: '[image 1: image/png]' }
}

/** Answers to `initialize` that are odd but must not prevent the connection. */
export const BEGINNINGS: Record<string, object> = {
  nulls: { capabilities: { tools: { listChanged: null }, logging: null }, serverInfo: null, instructions: null, _meta: null },
  nothing: {},
  php: { capabilities: { tools: [], experimental: { a: true } }, serverInfo: { name: 'php', version: null, icons: null } },
  flags: { capabilities: { tools: true, resources: false }, serverInfo: { name: 'flags', version: 2 } },
  silent: { capabilities: {}, serverInfo: { name: 'silent' } }
}

const listedWithNulls = (name: string) => ({
  ...{ name, title: null, description: null, annotations: null, outputSchema: null, icons: null, _meta: null, execution: null },
  inputSchema: { type: 'object' }
})

/** A tool whose description lists words in one of two orders, as a Python set may. */
const listing = (order: number) => (name: string) => {
  const inOrder = (...words: string[]) => order === 1 ? words : words.toReversed()
  return {
    name,
    title: `The tool ${name}`,
    description: `Takes {${inOrder("'id'", "'all'", "'none'").join(', ')}}. It never deletes.`,
    annotations: { readOnlyHint: true },
    inputSchema: {
      type: 'object',
      properties: { fields: { enum: inOrder('id', 'name'), default: inOrder('id', 'name').join(',') }, id: { type: 'string' } },
      required: inOrder('fields', 'id')
    }
  }
}

interface Options {
  stateless?: boolean
  begins?: string
  names?: string
  order?: string
}

/** Returns the server's answer to a message; undefined for none. */
export function answerOddly (message: Json, options: Options = {}): string | undefined {
  const { stateless = false, begins, names, order = '1' } = options
  const { id, method, params } = message
  if (id === undefined) return undefined
  const reply = (outcome: object) => answer(id, outcome)
  switch (method) {
    case 'initialize':
      if (stateless) return reply({ error: { code: -32601, message: 'No sessions', data: null } })
      return reply({
        result: {
          protocolVersion: params.protocolVersion,
          ...begins === undefined ? { capabilities: { tools: {} }, serverInfo: { name: 'odd', version: '1' } } : BEGINNINGS[begins]
        }
      })
    case 'server/discover':
      return reply({ result: { supportedVersions: ['2026-07-28'], capabilities: { tools: null, logging: null } }, error: null })
    case 'tools/list':
      return reply({
        result: {
          tools: names === undefined ? Object.keys(FORMS).map(listedWithNulls) : JSON.parse(names).map(listing(Number(order))),
          nextCursor: stateless ? null : '',
          _meta: null
        }
      })
    case 'tools/call':
      return names === undefined ? FORMS[params.name].writes(id) : reply({ result: { content: params.name } })
    default:
      return reply({ error: { code: -32601, message: 'Unknown' } })
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const options = Object.fromEntries(process.argv.slice(2).map((option) => option.replace(/^--/, '').split('=')))
  createInterface({ input: process.stdin }).on('line', (line) => {
    const text = answerOddly(JSON.parse(line), { ...options, stateless: 'stateless' in options })
    if (text !== undefined) process.stdout.write(`${text}\n`)
  }).on('close', () => process.exit())
}
