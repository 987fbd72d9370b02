import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'

type Body = Record<string, any>

/** A call that the model has to write: the tool, and the schema of its input. */
export interface Forced {
  name: string
  input: Body
}

/**
 * Stands before a model server and passes everything on as it is. A model of this size calls no tool by itself, so that the next request
 * can be changed: the server's own grammar then lets the model write nothing but a call, in the dialect of its template, or as text where
 * the request describes its tools in words.
 */
export async function startForcingServer (origin: string) {
  let forced: Forced | undefined
  const server = createServer(async (request, response) => {
    try {
      const text = await readText(request)
      const isChat = request.url!.endsWith('/chat/completions')
      const answer = await fetch(origin + request.url, {
        method: request.method,
        headers: { 'content-type': 'application/json' },
        ...text !== '' && { body: isChat ? JSON.stringify(withForced(JSON.parse(text))) : text }
      })
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' })
      Readable.fromWeb(answer.body as never).on('error', () => response.destroy()).pipe(response)
    } catch {
      response.destroy()
    }
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))

  /** Changes a request that has tools, or is told of them. Helper calls have none. */
  function withForced (body: Body): Body {
    if (forced === undefined || body.stream !== true) return body
    const { name, input } = forced
    forced = undefined
    if (body.tools === undefined) return { ...body, grammar: textGrammar({ name, input }) }
    const tool = { type: 'function', function: { name, description: 'The tool.', parameters: input } }
    // With others beside it, or with more calls than one, the grammar lets a model this small write a call of another one first.
    return { ...body, tools: [tool], tool_choice: 'required', parallel_tool_calls: false }
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    force (call: Forced) {
      forced = call
    },
    /** Whether the last call has reached the server. */
    isForced: () => forced === undefined,
    close: () => server.close().closeAllConnections()
  }
}

async function readText (request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** GBNF for some words and one call in Hermes' form, whose input has one text the model chooses. */
function textGrammar ({ name, input }: Forced): string {
  const literal = (text: string) => JSON.stringify(text)
  const parts = Object.entries(input.properties as Body).flatMap(([key, schema], at) => [
    literal(`${at === 0 ? '' : ', '}${JSON.stringify(key)}: `),
    schema.const === undefined ? `"\\"" [a-zA-Z ,.]{3,${schema.maxLength}} "\\""` : literal(JSON.stringify(schema.const))
  ])
  const opening = literal(`<tool_call>\n{"name": "${name}", "arguments": {`)
  return `root ::= [a-zA-Z ,.]{1,30} "\\n" ${opening} ${parts.join(' ')} ${literal('}}\n</tool_call>')}`
}
