import { existsSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { Plan } from '../fakes/gateway-plan.ts'
import { type GatewayRequest, startFakeGateway } from '../fakes/gateway.ts'
import { drive } from './drive.ts'
import { startService } from './service.ts'
import { nodeClients, pythonPrograms } from './tools.ts'

// Drives the built service with clients of OpenAI's API for Python and Node. The model is a fake one, and a proxy cuts first tries.

/** Returns the call of a tool that takes a structured answer, if there is one. */
function cityOf (tools: Array<{ name: string }>): Plan | undefined {
  const tool = tools.find(({ name }) => /^(?:answer|final_result|City|result)$/.test(name))
  return tool && { toolCalls: [{ toolName: tool.name, input: { city: 'Bern' } }] }
}

const WORDS = /\b(TEXT|BOTH|CITY|PICTURE|REFUSE|LIMIT|BUSY|EFFECT)(?: (\w+))?/

/** Returns what the fake model does, by a word of the newest message of the user. */
function answer (effects: string, { body: { prompt, tools = [] } }: GatewayRequest): Plan {
  // The service itself may ask once more, in the words of a user.
  const last = prompt.findLastIndex((message: { role: string }) => message.role === 'user' && WORDS.test(JSON.stringify(message)))
  const [, word, name] = WORDS.exec(JSON.stringify(prompt.slice(last))) ?? []
  const results = JSON.stringify(prompt.slice(last + 1))
  switch (word) {
    case 'BOTH':
      if (results.includes('tool-result')) return { text: `It is ${/rain( in \w+)?/.exec(results)?.[0]}.` }
      return { toolCalls: ['Bern', 'Rome'].map((city) => ({ toolName: 'weather', input: { city } })) }
    case 'CITY':
      return cityOf(tools) ?? { text: '{"city":"Bern"}' }
    case 'PICTURE':
      return { text: JSON.stringify(prompt).includes('iVBORw0KGgo') ? 'A picture.' : 'I see none.' }
    case 'REFUSE':
      return { text: 'I will not.', finishReason: 'content-filter' }
    case 'LIMIT':
      return { text: 'Cut of', finishReason: 'length' }
    case 'BUSY':
      return { error: { status: 429, type: 'rate_limit_exceeded', message: 'slow down', headers: { 'retry-after': name ?? '1' } } }
    case 'EFFECT':
      if (results.includes('tool-result')) return cityOf(tools) ?? { text: ['Do', 'ne.'], partMs: 700 }
      return { toolCalls: [{ toolName: 'runCommand', input: { command: `echo ${name} >> ${effects}` } }] }
    default:
      return { text: ['Hello ', 'there.'] }
  }
}

/** Starts a proxy that cuts the first try of each request when its command has run. */
async function startCutting (target: string, effects: string): Promise<string> {
  const server = createServer((request, response) => void pass(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`

  async function pass (request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { host, connection, 'content-length': length, ...headers } = request.headers
    const sent = new AbortController()
    const isFirst = headers['x-stainless-retry-count'] === '0'
    const before = existsSync(effects) ? readFileSync(effects, 'utf8').length : 0
    const look = setInterval(() => {
      if (!isFirst || !existsSync(effects) || readFileSync(effects, 'utf8').length === before) return
      clearInterval(look)
      request.socket.destroy()
      sent.abort()
    }, 20)
    try {
      const init = { method: request.method, headers: headers as Record<string, string>, body: Buffer.concat(chunks), signal: sent.signal }
      const answered = await fetch(target + request.url, init)
      response.writeHead(answered.status, { 'content-type': String(answered.headers.get('content-type')) }).end(await answered.text())
    } catch {
      request.socket.destroy()
    } finally {
      clearInterval(look)
    }
  }
}

export async function openaiClients (): Promise<string> {
  const python = join(pythonPrograms('openai'), 'python')
  const node = nodeClients()
  // In the working folder: the box of a command writes there alone.
  let effects = ''
  const gateway = await startFakeGateway({ reply: (request) => answer(effects, request) })
  const config = { model: 'test/model', analysis: false, threads: { titles: false }, permissions: { runCommand: 'allow' } }
  const { url, cwd, stop } = await startService(config, { AI_GATEWAY_API_KEY: 'the-key', AI_GATEWAY_BASE_URL: gateway.url })
  effects = join(cwd, 'effects.txt')
  const places = { SERVICE_URL: url, CUT_URL: await startCutting(url, effects) }
  try {
    await drive(python, ['openai_clients.py'], { ...places, LITELLM_LOCAL_MODEL_COST_MAP: 'True' })
    await drive(process.execPath, ['openai_clients.mjs'], { ...places, NODE_CLIENTS: node })
  } finally {
    await stop()
  }
  const lines = existsSync(effects) ? readFileSync(effects, 'utf8').trim().split('\n') : []
  const repeated = lines.filter((line, at) => lines.indexOf(line) !== at)
  if (lines.length === 0 || repeated.length > 0) throw new Error(`Commands that ran twice: ${repeated.join(', ')}`)
  return `eight clients, and ${lines.length} commands behind a cut, each once`
}
