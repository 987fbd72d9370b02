import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import type { Plan } from '../fakes/openai.ts'
import { type Rendered, startTemplateServer } from '../fakes/template-server.ts'
import { answer, asked, sayAll } from '../harness/agent.ts'
import { build } from '../harness/helper.ts'

const read = (path: string): Plan => ({ toolCalls: [{ toolName: 'readFile', input: { path } }] })
const write = (path: string): Plan => ({ toolCalls: [{ toolName: 'writeFile', input: { path, content: 'x' } }] })

/** Ten turns: what the user says, and what the model answers step by step. */
const TURNS: Array<[said: string, ...steps: Plan[]]> = [
  ['Hi.', { text: 'Hello.' }],
  ['Read a.', read('a.txt'), { text: 'It is about the sea.' }],
  [
    'Read two.',
    { text: 'Both.', toolCalls: [...read('b.txt').toolCalls!, ...read('missing.txt').toolCalls!] },
    { text: 'One is missing.\n' }
  ],
  ['Write it.', write('new.txt'), { text: 'Then not.' }],
  ['And now?', { text: 'Nothing.<|im_end|>' }],
  ['Read again.', read('a.txt'), read('b.txt'), { text: 'The same.' }],
  ['Stop.', { reasoning: 'They want me to stop.', text: 'I stop.' }],
  ['Go on.', write('other.txt'), { text: 'Not that one, either.' }],
  ['My sister plays the cello.', { text: 'Good to know.' }],
  ['Thanks.', { text: 'You are welcome.' }]
]

/** Says a turn; calls that ask are denied. Returns the requests of its steps with what was answered. */
async function play (app: App, turn: typeof TURNS[number], model: { steps: Plan[] }): Promise<void> {
  const [content, ...steps] = turn
  model.steps = steps
  let { events } = await sayAll(app, [], { id: 'chat', messages: undefined, message: { role: 'user', content } })
  for (const approvalId of asked(events)) ({ events } = await answer(app, { [approvalId]: false }))
}

/** Checks that each prompt begins with the whole prompt before it and its answer, and returns where it does not. */
function breaksIn (rendered: readonly Rendered[], answers: readonly Plan[]): string[] {
  const prompts = rendered.filter(({ streaming }) => streaming).map(({ prompt }) => prompt)
  return prompts.slice(1).flatMap((prompt, n) => {
    // Some templates leave out words beside calls, and blanks around words.
    const text = answers[n].toolCalls ? '' : answers[n].text!.toString().replace('<|im_end|>', '').trim()
    const before = prompts[n] + text
    if (prompt.startsWith(before)) return []
    let at = 0
    while (prompt[at] === before[at]) at++
    const [was, is] = [before, prompt].map((each) => JSON.stringify(each.slice(at - 20, at + 120)))
    return [`prompt ${n + 1} leaves the one before at ${at} of ${before.length}: ${was} is ${is}`]
  })
}

async function tenTurns (t: Test, template: string, window: number): Promise<string[]> {
  const model = { steps: [] as Plan[] }
  const answers: Plan[] = []
  const server = await startTemplateServer(t, template, {
    reply ({ structured }) {
      if (structured !== undefined) return {}
      const plan = model.steps.shift() ?? { text: 'More.' }
      answers.push(plan)
      return plan
    }
  })
  const config = { model: 's/m', contextWindows: { s: window }, providers: { s: { baseURL: server.url, models: ['m'] } } }
  let app = await build(t, { config })
  for (const name of ['a', 'b']) writeFileSync(`${app.cwd}/${name}.txt`, `The sea of ${name} has many voices.\n`)
  const learn = (fact: string) => app.inject({ method: 'POST', url: '/memory/brain/fact', payload: { fact } })
  await learn('My boat is called Petrel.')
  for (const [n, turn] of TURNS.entries()) {
    await play(app, turn, model)
    if (n % 3 === 1) await learn(`My ${n}th cat is called Tom ${n}, and my sister plays the cello.`)
    if (n !== 6) continue
    const { home, cwd } = app
    await app.close()
    app = await build(t, { config, home, cwd })
  }
  return breaksIn(server.rendered, answers)
}

for (const [template, window] of [['Qwen-Qwen2.5-7B-Instruct', 8_192], ['meta-llama-Llama-3.1-8B-Instruct', 65_536]] as const) {
  t.test(`each request begins with the one before it and its answer, over ten turns: ${template}, ${window} tokens`, async (t) => {
    t.same(await tenTurns(t, template, window), [])
  })
}
