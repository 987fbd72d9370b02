import type { Page } from 'playwright-core'
import {
  connectToolServer,
  createTask,
  extractFacts,
  getRun,
  getTask,
  learnFact,
  listRuns,
  putAgent,
  putThread,
  rehearseTask,
  runTask,
  setPreference,
  startTask
} from '../../client/generated/index.ts'
import type { GatewayRequest, Plan } from '../fakes/gateway.ts'
import type { openConsole } from '../harness/console.ts'
import { misbehaving } from '../harness/mcp.ts'

type Console = Awaited<ReturnType<typeof openConsole>>
/** Returns a text of the console in the language that it speaks. */
export type TextOf = (key: string) => string

/** A page with content, or a state of it that is reached by what `open` does. */
export interface View {
  name: string
  path: string
  /** It is left to the long test. */
  isSeldom?: true
  open?: (page: Page, text: TextOf) => Promise<unknown>
}

const SECTIONS = ['models', 'servers', 'agents', 'skills', 'grants', 'usage', 'general', 'health']
const SETTINGS = SECTIONS.map((section) => `settings/${section}`)
const PAGES = ['', 'tasks', 'tasks/new', 'tasks/overnight', 'chat', 'memory', 'nowhere', ...SETTINGS]
/** The pages of a service that nobody has used. */
export const emptyViews: View[] = PAGES.map((path) => ({ name: `without content: ${path}`, path }))

/** Shows a view, once it has what it reads. */
export async function show (page: Page, { path, open }: View, text: TextOf): Promise<void> {
  await page.goto(`/console/${path}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  while (await page.locator('.loading').count() > 0) await page.locator('.loading').first().waitFor({ state: 'detached' })
  await open?.(page, text)
}

/** All that people and models say is Greek, so that what is English on a page is the console's or the service's. */
const ANSWER = '## Σχέδιο\n\nΓεια σου, **κόσμε**[^1]. Δες [εδώ](https://127.0.0.1/).\n\n1. ένα\n2. δύο\n\n' +
  '- [x] έτοιμο\n- [ ] όχι\n\n' +
  '```js\nα = 1 // σχόλιο\n```\n\n| α | β |\n|---|---|\n| 1 | 2 |\n\n$$\\frac{1}{2}$$\n\n> λόγια\n\n![εικόνα](https://127.0.0.1/1)\n\n' +
  '[^1]: Μια σημείωση.\n'
const call = (toolName: string, input: object) => ({ toolName, input })

/** What the model does at the first step for words in what is said; the step after it ends the run. */
const PLANS: Array<[RegExp, Plan]> = [
  [/κοίτα/, {
    reasoning: 'Σκέφτομαι.',
    toolCalls: [
      call('listDirectory', { path: '.' }),
      call('readFile', { path: 'λείπει.md' }),
      call('updatePlan', {
        steps: [{ text: 'ένα', status: 'done' }, { text: 'δύο', status: 'running' }, { text: 'τρία', status: 'pending' }]
      })
    ]
  }],
  [/άλλαξε/, { toolCalls: [call('editFile', { path: 'λίστα.md', edits: [{ oldText: 'δύο', newText: '2' }] })] }],
  [/γράψε/, { toolCalls: [call('writeFile', { path: 'νέο.md', content: 'νέο\n' })] }],
  [/σβήσε/, { toolCalls: [call('deleteFile', { path: 'λίστα.md' })] }],
  [/τρέξε/, { toolCalls: [call('runCommand', { command: 'ls' })] }],
  [/ρώτα/, {
    toolCalls: [call('askUser', {
      questions: [
        { id: 'a', text: 'Πότε;', options: [{ value: '1', label: 'Τώρα' }, { value: '2', label: 'Μετά' }] },
        { id: 'b', text: 'Ποιος τίτλος;' }
      ]
    })]
  }],
  [/λάθος/, { error: { status: 400, message: 'λάθος' } }]
]
const SEEN = { outcome: 'done', satisfied: true, score: 1, issues: ['Ένα ζήτημα.'] }

/** The service that `furnish` fills. */
export const FURNISHED = {
  reply ({ body: { prompt } }: GatewayRequest): Plan {
    const last = prompt.at(-1)
    if (last.role === 'tool') return { text: ANSWER }
    const said = JSON.stringify(last.content)
    return PLANS.find(([words]) => words.test(said))?.[1] ?? { text: ANSWER }
  },
  structured ({ structured }: GatewayRequest): Plan | undefined {
    if (structured === 'evaluation') return { object: { ...SEEN, claims: [] } }
    if (structured !== 'facts') return undefined
    const kinds = ['fact', 'instruction']
    return {
      object: {
        pointers: ['Ζω στην Αθήνα.', 'Μίλα σιγά.'].map((span, message) =>
          ({ message, span, kind: kinds[message], about: 'user', lasting: true, sensitive: false, replaces: [] })),
        habits: []
      }
    }
  },
  work: {
    'λίστα.md': 'ένα\nδύο\n',
    '.claude': { skills: { α: { 'SKILL.md': 'α' }, notes: { 'SKILL.md': '---\ndescription: Γράφει.\n---\nΓράψε.\n' } } }
  }
}

/** Fills the service with all that its pages show, and returns the pages and their dialogs. */
export async function furnish ({ agent, url }: Console): Promise<View[]> {
  const asked = { client: agent.client, throwOnError: true } as const
  const chat = async (prompt: string) => (await agent.run({ prompt, options: { interactive: true } }).result()).threadId
  const looked = await chat('κοίτα')
  const edit = await chat('άλλαξε τη λίστα')
  const command = await chat('τρέξε κάτι')
  const question = await chat('ρώτα με')
  for (const each of ['σβήσε τη', 'γράψε το']) await chat(each)
  await agent.run({ prompt: 'λάθος', options: { interactive: true } }).result().catch(() => {})
  const files = await fetch(`${url}/attachments`, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'γεια' })
  const { url: attachment } = await files.json() as { url: string }
  const part = { type: 'file', url: attachment, mediaType: 'text/plain', filename: 'α.txt' }
  const parts = [{ type: 'text', text: 'δες το' }, part]
  const sent = await fetch(`${url}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: 'αρχείο', messages: [{ id: 'μ', role: 'user', parts }] })
  })
  await sent.text()

  const newTask = async (goal: string, body: object = {}) => {
    const plan = { phases: [{ description: goal }], qualityCriteria: ['Είναι καλό.'], expects: 'files' as const }
    const { data: { id } } = await createTask({ ...asked, body: { goal, plan, ...body } })
    return { path: { id } }
  }
  const run = async (task: { path: { id: string } }, body?: object) => {
    const { data: { runId } } = await runTask({ ...asked, ...task, body })
    await getRun({ ...asked, path: { runId }, query: { waitMs: 30_000 } })
    return runId
  }
  const daily = await newTask('γράψε κάθε μέρα', {
    schedule: { interval: 'daily', at: '07:30' },
    approval: { mode: 'never' },
    options: { instructions: 'Λίγα λόγια.', budget: { tokens: 1_234_567, minutes: 20 } }
  })
  await startTask({ ...asked, ...daily })
  const wrote = await run(daily)
  await run(daily, { input: { από: 'Άννα' } })
  const triggered = (mode: string, triggers: object[]) => ({ taskType: 'triggered', approval: { mode }, triggers })
  const denied = await newTask('τρέξε αργά', triggered('granted', [{ type: 'files', path: '.' }]))
  await run(denied)
  const result = await newTask('κοίτα πάντα', triggered('always', [{ type: 'task', taskId: daily.path.id, on: 'failed' }]))
  await run(result)
  const bad = await newTask('λάθος', { taskType: 'triggered' })
  const badRun = await run(bad)
  const { data: { runId: rehearsal } } = await rehearseTask({ ...asked, ...daily })
  await getRun({ ...asked, path: { runId: rehearsal }, query: { waitMs: 30_000 } })

  await learnFact({ ...asked, body: { fact: 'Πίνω τσάι' } })
  await setPreference({ ...asked, body: { key: 'γλώσσα', value: 'ελληνικά' } })
  const messages = ['Ζω στην Αθήνα. Γεια.', 'Μίλα σιγά. Ναι.'].map((content) => ({ role: 'user', content }))
  await putThread({ ...asked, path: { id: 'λόγια' }, body: { messages, title: 'Λόγια' } })
  await extractFacts({ ...asked, path: { id: 'λόγια' } })
  await connectToolServer({ ...asked, body: misbehaving('odd', ['--reads=echo']) })
  await putAgent({ ...asked, path: { name: '007' }, body: { description: 'Πουλά.', options: { instructions: 'Πούλα.' } } })
  while ((await listRuns({ ...asked, query: { status: 'running' } })).data.runs.length > 0) continue
  while ((await getTask({ ...asked, ...bad })).data.status === 'running') continue

  const press = (page: Page, name: string | RegExp) => page.locator('main').getByRole('button', { name, exact: true }).first().click()
  /** Narrow pages fold the list of conversations, and the choices for one. */
  const unfold = (key: string) => async (page: Page, text: TextOf) => {
    const button = page.getByRole('button', { name: text(key), exact: true })
    if (await button.isVisible()) await button.click()
  }
  const listed = unfold('chat.conversations')
  const chosen = unfold('chat.choices')
  const dialog = (name: string, path: string, key: string, before?: View['open']): View => ({
    name,
    path,
    isSeldom: true,
    async open (page, text) {
      await before?.(page, text)
      await press(page, text(key))
      await page.getByRole('dialog').waitFor()
    }
  })
  const details = (page: Page) => page.evaluate('for (const each of document.querySelectorAll("details")) each.open = true')
  const opened = (name: string, path: string): View => ({ name: `${name}, opened`, path, open: details })
  const seldom = (view: View): View => ({ ...view, isSeldom: true })
  const at = (id: string) => `chat/${encodeURIComponent(id)}`
  const task = `tasks/${daily.path.id}`
  return [
    opened('the inbox', ''),
    { name: 'the tasks', path: 'tasks' },
    opened('a task that ran', task),
    opened('a task with a trigger of files', `tasks/${denied.path.id}`),
    seldom(opened('a task whose result waits', `tasks/${result.path.id}`)),
    seldom(opened('a task that failed', `tasks/${bad.path.id}`)),
    opened('a task that is changed', `${task}?edit`),
    {
      name: 'a new task that is refused',
      path: 'tasks/new',
      async open (page, text) {
        await page.getByRole('textbox', { name: text('tasks.goal') }).first().fill('γράψε')
        await page.getByLabel(text('tasks.typeName.recurring'), { exact: true }).check()
        await page.getByLabel(text('tasks.interval')).selectOption('custom')
        await page.getByRole('textbox', { name: text('tasks.custom') }).first().fill('ποτέ')
        await press(page, text('tasks.createAndStart'))
        await page.getByRole('alert').waitFor()
        await details(page)
      }
    },
    dialog('the cancellation of a task', task, 'tasks.verb.cancel', details),
    dialog('the deletion of a task', task, 'tasks.verb.delete', details),
    opened('a run', `runs/${wrote}`),
    seldom(opened('a run that failed', `runs/${badRun}`)),
    opened('a rehearsal', `runs/${rehearsal}`),
    dialog('an undo', `runs/${wrote}`, 'run.undoAll'),
    opened('a run that is not there', 'runs/01a1fef7-4334-7355-8a31-93bc63563d6b'),
    seldom(opened('a task that is not there', 'tasks/01a1fef7-4334-7355-8a31-93bc63563d6b')),
    opened('a chat', at(looked)),
    opened('a chat with a difference', at(edit)),
    seldom(opened('a chat with a command', at(command))),
    opened('a chat with questions', at(question)),
    { name: 'a chat with a file', path: at('αρχείο'), isSeldom: true },
    {
      name: 'a chat that fails',
      path: 'chat',
      async open (page, text) {
        await page.getByRole('textbox', { name: text('chat.message'), exact: true }).fill('λάθος')
        await page.keyboard.press('Enter')
        await page.getByRole('alert').waitFor()
        await page.getByRole('button', { name: text('chat.stop') }).waitFor({ state: 'detached' })
      }
    },
    {
      name: 'prompts and skills',
      path: 'chat',
      async open (page, text) {
        await page.getByRole('textbox', { name: text('chat.message'), exact: true }).pressSequentially('/')
        await page.getByRole('option').first().waitFor()
      }
    },
    {
      name: 'a search in the chats',
      isSeldom: true,
      path: 'chat',
      async open (page, text) {
        await listed(page, text)
        await page.getByRole('searchbox').fill('κόσμε')
        await page.locator('.found-message').first().waitFor()
        await page.getByRole('searchbox', { name: text('chat.search') }).waitFor()
      }
    },
    dialog('the tools of a chat', at(looked), 'chat.tools', chosen),
    dialog('a renaming', at(looked), 'chat.rename', listed),
    dialog('the deletion of a chat', at(looked), 'chat.delete', listed),
    {
      name: 'the folder of a chat',
      isSeldom: true,
      path: 'chat',
      async open (page, text) {
        await chosen(page, text)
        await page.locator('.composer-choices > .button').first().click()
        await page.getByRole('dialog').waitFor()
      }
    },
    opened('the memory', 'memory'),
    dialog('a memory that is edited', 'memory', 'memory.edit'),
    dialog('a memory that is forgotten', 'memory', 'memory.forget'),
    dialog('a memory that is erased', 'memory', 'memory.clear'),
    {
      name: 'a memory that was added',
      path: 'memory',
      async open (page, text) {
        await page.getByLabel(text('memory.addLabel')).fill('Γράφω')
        await press(page, text('memory.addSubmit'))
        await page.getByRole('status').getByText(text('memory.added')).waitFor({ state: 'attached' })
      }
    },
    opened('the models', 'settings/models'),
    dialog('a key', 'settings/models', 'settings.enterKey'),
    opened('the tool servers', 'settings/servers'),
    {
      name: 'a tool server',
      path: 'settings/servers',
      async open (page, text) {
        await press(page, text('settings.details'))
        await page.getByText('env', { exact: true }).waitFor()
      }
    },
    dialog('a server that is removed', 'settings/servers', 'settings.disconnect'),
    seldom(opened('the agents', 'settings/agents')),
    { name: 'an agent', path: 'settings/agents', open: (page, text) => press(page, text('settings.agentEdit')) },
    dialog('an agent that is deleted', 'settings/agents', 'settings.agentDelete'),
    seldom(opened('the skills', 'settings/skills')),
    opened('the permissions', 'settings/grants'),
    opened('the usage', 'settings/usage'),
    { name: 'the usage by task', path: 'settings/usage', open: (page, text) => press(page, text('settings.byTask')) },
    seldom(opened('the general settings', 'settings/general')),
    dialog('all that is erased', 'settings/general', 'data.erase'),
    seldom(opened('the health', 'settings/health')),
    {
      name: 'the palette',
      isSeldom: true,
      path: 'memory',
      async open (page) {
        await page.keyboard.press('Control+k')
        await page.getByRole('combobox').fill('κόσμε')
        await page.getByRole('option').nth(1).waitFor()
      }
    },
    {
      name: 'the keys',
      path: 'memory',
      async open (page) {
        await page.keyboard.press('?')
        await page.getByRole('dialog').waitFor()
      }
    }
  ]
}
