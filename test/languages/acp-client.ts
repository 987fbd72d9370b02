import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plan } from '../fakes/gateway-plan.ts'
import { type GatewayRequest, startFakeGateway } from '../fakes/gateway.ts'
import { SERVER, startService } from './service.ts'
import { drive } from './drive.ts'
import { pythonPrograms } from './tools.ts'

// Drives `local-agent acp` with the client of the Python SDK of the Agent Client Protocol, beside a running service with a fake model.

const TOOLS = fileURLToPath(new URL('../fakes/mcp-server.ts', import.meta.url))

const write = (path: string, content: string) => ({ toolName: 'writeFile', input: { path, content } })

/** Returns what the fake model does, by a word of the newest message of the user. */
function answer ({ body: { prompt } }: GatewayRequest): Plan {
  const last = prompt.findLastIndex(({ role }: { role: string }) => role === 'user')
  const [asked, results] = [JSON.stringify(prompt[last]), JSON.stringify(prompt.slice(last + 1))]
  if (results.includes('tool-result')) return { text: `Done: ${/lookUp was called/.exec(results)?.[0] ?? 'written'}.` }
  switch (/\b(LOOK|WRITE|OTHER|PICTURE|STALL)\b/.exec(asked)?.[1]) {
    case 'LOOK':
      return { toolCalls: [{ toolName: 'fake_lookUp', input: {} }] }
    case 'WRITE':
      return { toolCalls: [write('a.txt', 'a'), write('b.txt', 'b')] }
    case 'OTHER':
      return { toolCalls: [write('c.md', 'c')] }
    case 'PICTURE':
      return { text: asked.includes('iVBORw0KGgo') ? 'A picture.' : 'I see none.' }
    case 'STALL':
      return { text: ['first ', 'never'], ending: 'stall', after: 4 }
    default:
      return { text: ['Hello ', 'there.'] }
  }
}

export async function acpClient (): Promise<string> {
  const python = join(pythonPrograms('acp'), 'python')
  const gateway = await startFakeGateway({ reply: answer })
  const config = { model: 'test/model', analysis: false, threads: { titles: false } }
  const { home, cwd, stop } = await startService(config, { AI_GATEWAY_API_KEY: 'the-key', AI_GATEWAY_BASE_URL: gateway.url })
  try {
    return await drive(python, ['acp_client.py', process.execPath, SERVER, TOOLS, cwd], { LOCAL_AGENT_HOME: home, LOCAL_AGENT_URL: '' })
  } finally {
    await stop()
    await gateway.close()
  }
}
