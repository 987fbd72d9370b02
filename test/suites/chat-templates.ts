import { writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import { type Renderer, type Rendered, startTemplateServer } from '../fakes/template-server.ts'
import type { Plan } from '../fakes/openai.ts'
import { answer, asked, of, sayAll } from '../harness/agent.ts'
import { build } from '../harness/helper.ts'

const read = (path: string) => ({ toolName: 'readFile', input: { path } })
const write = { toolName: 'writeFile', input: { path: 'new.txt', content: 'x' } }

/** What the model says to the last message of the user, by its first word, before and after its calls. */
const PLANS: Record<string, Plan[]> = {
  Hi: [{ text: 'Hello.' }],
  One: [{ reasoning: 'I look at it.', toolCalls: [read('a.txt')] }, { text: 'It says so.' }],
  Two: [{ text: 'Both at once.', toolCalls: [read('b.txt'), read('missing.txt')] }, { text: 'One is missing.' }],
  Write: [{ toolCalls: [write] }],
  Denied: [{ text: 'Then not.' }],
  Stop: [{ error: { status: 401, message: 'The key is over.' } }],
  Thanks: [{ reasoning: 'They thank me.', text: 'You are welcome.' }]
}

/** Plays the model. It goes by the request, not by what its template makes of it. */
function createModel () {
  let word = 'Hi'
  let at = 0
  return {
    hears (message: string) {
      word = /^\w+/.exec(message)![0]
      at = 0
    },
    reply: ({ structured }: Rendered): Plan => structured === undefined ? PLANS[word][Math.min(at++, PLANS[word].length - 1)] : {}
  }
}

/** Returns the prompt of the last step; helper calls are not streamed. */
const lastPrompt = (rendered: readonly Rendered[]) => rendered.findLast(({ streaming }) => streaming)?.prompt ?? ''

const sharedLength = (one: string, other: string) => {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  return at
}

async function startService (t: Parameters<typeof build>[0], servers: Array<{ url: string }>) {
  const providers = Object.fromEntries(servers.map(({ url }, n) => [`s${n}`, { baseURL: url, models: ['m'] }]))
  const app = await build(t, { config: { model: 's0/m', analysis: true, contextWindows: { s0: 65_536 }, providers } })
  for (const name of ['a', 'b']) writeFileSync(`${app.cwd}/${name}.txt`, `The sea of ${name} has many voices.\n`)
  return app
}

/**
 * A conversation with each of some chat templates. `isMute`: their servers do not say what a template takes. Without a `renderer` the
 * templates are rendered in this process.
 */
export function chatTemplateSuite (t: Test, names: readonly string[], isMute: boolean, renderer?: Renderer) {
  const kind = isMute ? 'found out by refusals and counts of tokens' : 'told by the server'
  return t.test(`a conversation goes well with every chat template, and its model sees tools and results: ${kind}`, async (t) => {
    const model = createModel()
    const servers = []
    for (const name of names) servers.push(await startTemplateServer(t, name, { isMute, reply: model.reply, renderer }))
    const app = await startService(t, servers)
    for (const [n, name] of names.entries()) {
      const { rendered } = servers[n]
      const options = { model: `s${n}/m` }
      const tell = async (message: string) => {
        model.hears(message)
        const said = { id: name, messages: undefined, message: { role: 'user', content: message } }
        const { events } = await sayAll(app, [], { ...said, options })
        return { events, errors: of(events, 'error').map(({ errorText }) => errorText), last: lastPrompt(rendered) }
      }
      const hi = await tell('Hi.')
      t.same(hi.errors, [], `${name}: a greeting`)
      t.ok(['readFile', 'Read a file'].every((words) => hi.last.includes(words)), `${name}: tools are described`)
      const one = await tell('One file, please.')
      t.same([one.errors, of(one.events, 'tool-output-available').length], [[], 1], `${name}: one call`)
      t.ok(one.last.includes('The sea of a'), `${name}: its result is shown`)
      const two = await tell('Two files, please.')
      t.same([two.errors, of(two.events, 'tool-output-available').length], [[], 1], `${name}: two calls at once`)
      t.ok(two.last.includes('The sea of b'), `${name}: the result of the first`)
      t.ok(/missing\.txt.*(?:not found|no such|does not exist|There is no)/is.test(two.last), `${name}: why the second failed`)

      const before = await tell('Write it.')
      model.hears('Denied.')
      const { events } = await answer(app, { [asked(before.events)[0]]: false })
      t.same(of(events, 'error'), [], `${name}: a denial`)
      const denied = lastPrompt(rendered)
      t.ok(/denied these calls/.test(denied), `${name}: it is told`)
      const share = sharedLength(before.last, denied) / before.last.length
      t.ok(share > 0.85, `${name}: ${Math.round(share * 100)} % of the prompt stay over a denial`)

      t.match((await tell('Stop here.')).errors, [/key/], `${name}: a run that fails`)
      const thanks = await tell('Thanks.')
      t.same(thanks.errors, [], `${name}: the next run after it`)
      t.ok(/Stop here\..*Thanks\./s.test(thanks.last), `${name}: two messages of the user in a row`)
    }
  })
}
