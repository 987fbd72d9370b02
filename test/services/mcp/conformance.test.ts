import { execFile } from 'node:child_process'
import { delimiter, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import type { QuestionOutcome } from '../../../services/contracts/tool.ts'
import { startSite } from '../../fakes/site.ts'
import { build } from '../../harness/helper.ts'
import { connect, detail } from '../../harness/mcp.ts'
import { run } from '../../harness/mcp-calls.ts'
import { EXCLUDED, PASSED } from './conformance-scenarios.ts'

// The official suite starts a server for each of its scenarios, and a client against it, all at once. The client hands the address of
// the server to this process, where one service does what a user wants of it.

const file = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))
/** Authorizations that the user gives before giving up, and tries of a call. */
const MOST_AUTHORIZATIONS = 3

const applies = (scenario: string) => PASSED.includes(scenario)
/** It warns when the client comes back more than 200 ms late, which a machine that runs the whole suite at once may be. */
const TIMED = 'sse-retry'

/** The scenario whose client was registered by hand. */
const REGISTERED = 'auth-pre-registration'

/** What the scenarios want tools to be called with, where that is not said by the scenario itself. */
function inputOf (tool: string, details: any[]): object {
  switch (tool) {
    case 'add_numbers':
      return { a: 5, b: 3 }
    case 'valid_tool':
      return { region: 'x' }
    case 'json_schema_echo':
      return { schema: details.find(({ name }) => name === 'json_schema_2020_12_tool').inputSchema }
    default:
      return {}
  }
}

// Many programs start at once.
t.setTimeout(120_000)
const app = await build(t, { config: { mcpClientMetadataUrl: 'https://conformance-test.local/client-metadata.json' } })

/** Connects a tool server as a user does, authorizes where that is wanted, calls each of its tools and answers its questions. */
async function use (name: string, url: string, context: any): Promise<void> {
  const client = name === REGISTERED && { clientId: context.client_id, clientSecret: context.client_secret }
  const connected = await connect(app, { name, url, approval: 'never', ...client })
  if (connected.statusCode >= 400) throw new Error(connected.json().error)
  let authorizations = 0

  async function settled (): Promise<any[]> {
    for (;;) {
      const { status, authorizationUrl, error, toolDetails } = await detail(app, name)
      if (status === 'connected') return toolDetails
      const isAsked = status === 'authorizing' && authorizationUrl !== undefined && authorizations++ < MOST_AUTHORIZATIONS
      if (isAsked) await (await fetch(authorizationUrl)).text()
      else if (status === 'authorizing' || status === 'failed') throw new Error(error)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  const details = await settled()
  const calls: Array<{ name: string, arguments: object }> = context.toolCalls ??
    details.map(({ name: tool }) => ({ name: tool, arguments: inputOf(tool, details) }))
  for (const { name: tool, arguments: input } of calls) {
    const ask = async (): Promise<QuestionOutcome> => ({ is: 'answered', answers: {} })
    for (let tries = 0; tries < MOST_AUTHORIZATIONS; tries++) {
      const { agentName } = (await settled()).find((each) => each.name === tool)
      const { status } = await app.tools.execute({ ...run(app, agentName, input), ask })
      if (status === 'completed') break
    }
  }
}

t.test('the service passes every scenario for clients of the official suite but those that do not apply to it', async (t) => {
  const site = await startSite(t, {
    async '/' (req, res) {
      const asked = new URL(req.url!, 'http://x').searchParams
      const scenario = asked.get('scenario')!
      const name = scenario.replaceAll('/', '-')
      try {
        if (applies(scenario)) await use(name, asked.get('url')!, JSON.parse(asked.get('context')!))
        res.end('done')
      } catch (error) {
        res.writeHead(500).end((error as Error).message)
      } finally {
        await app.inject({ method: 'DELETE', url: `/mcp/${name}` })
      }
    }
  })
  // The suite takes each blank for the end of an argument, and the folders of the project and of Node may have one.
  const command = `node test/fakes/conformance-client.ts ${site.url}`
  const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}` }
  const suite = [file('node_modules/@modelcontextprotocol/conformance/dist/index.js'), 'client', '--suite', 'all', '--verbose']
  const output = await new Promise<string>((resolve) => {
    // It fails because of the scenarios that do not apply.
    const options = { cwd: file('.'), env, maxBuffer: 2 ** 27 }
    execFile(process.execPath, [...suite, '--command', command], options, (_error, stdout) => resolve(stdout))
  })
  const results = [...output.matchAll(/^[✓✗] (\S+): (\d+) passed, (\d+) failed(.*)((?:\n {4}- .*)*)$/gm)]
  const listed = [...PASSED, ...Object.keys(EXCLUDED)]
  t.strictSame(results.map(([, scenario]) => scenario).sort(), listed.sort(), 'each scenario of the suite is listed')
  for (const [, scenario, passed, failed, warnings, problems] of results) {
    const isClean = failed === '0' && (warnings === '' || scenario === TIMED)
    if (applies(scenario)) t.ok(Number(passed) > 0 && isClean, `${scenario}${warnings}${problems}`)
  }
})
