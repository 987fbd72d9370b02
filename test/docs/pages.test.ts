import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { startService } from '../harness/sidecar.ts'
import { noBrowser, openBrowser, watch } from '../harness/browser.ts'
import { build } from '../harness/helper.ts'
import { listen } from '../harness/raw.ts'
import { FORMATS } from '../../schemas/formats.ts'

const execute = promisify(execFile)

/** Returns the code blocks of a page in one language, in their order; shell blocks that use npm are for people. */
function blocksOf (page: string, language: string): string[] {
  const text = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8')
  const blocks = [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, block]) => block)
  return blocks.filter((block) => language !== 'sh' || !/^npm /m.test(block))
}

/** Whether the packages that the client for Python needs are installed. */
const hasPython = await execute('python3', ['-c', 'import httpx, pydantic']).then(() => true, () => false)

t.test('the examples of the README and of the page of the API run as they are pasted', async (t) => {
  const dir = t.testdir({ home: {}, work: {}, program: {} })
  const service = await startService(t, { home: `${dir}/home`, cwd: `${dir}/work` })
  // The pages' folder has no blank, wherever the project lies.
  const scratch = mkdtempSync('/tmp/local-agent-readme-')
  t.teardown(() => rmSync(scratch, { recursive: true, force: true }))
  mkdirSync(`${scratch}/demo`)
  const here = (text: string) => text.replaceAll('http://127.0.0.1:3001', service.url).replaceAll('/tmp/', `${scratch}/`)

  await t.test('curl', async (t) => {
    const script = here([...blocksOf('README.md', 'sh'), ...blocksOf('docs/api.md', 'sh')].join(''))
    const { stdout } = await execute('bash', ['-c', script], { timeout: 50_000, env: { PATH: process.env.PATH } })
    t.equal(readFileSync(`${scratch}/demo/curl.txt`, 'utf8'), 'hello')
    const steps = [
      '"type":"tool-approval-request"',
      '"finishReason":"tool-calls"',
      '"finishReason":"stop"',
      '\nhello',
      '"type":"data-task"',
      '"runNumber":1',
      '"approved":true',
      '"approved":true',
      '"comment":"Be brief."',
      '"status":"completed"',
      '"status":"paused"',
      '"status":"scheduled"'
    ]
    let at = 0
    for (const step of steps) {
      const found = stdout.indexOf(step, at)
      t.not(found, -1, `then ${step}`)
      at = Math.max(found + 1, at)
    }
    t.match(stdout, /event: task:complete/, 'the events were watched')
    t.same(await (await fetch(`${service.url}/tasks`)).json(), { tasks: [] })
  })

  await t.test('TypeScript', async (t) => {
    const [program, ...others] = blocksOf('README.md', 'ts')
    t.same(others, [])
    mkdirSync(`${dir}/program/node_modules`)
    symlinkSync(fileURLToPath(new URL('../..', import.meta.url)), `${dir}/program/node_modules/local-agent-service`, 'junction')
    writeFileSync(`${dir}/program/first.mts`, here(program))
    const env = { PATH: process.env.PATH, LOCAL_AGENT_URL: service.url }
    const { stdout } = await execute(process.execPath, ['first.mts'], { cwd: `${dir}/program`, env, timeout: 20_000 })
    t.match(stdout, /Approved: writeFile [^]+node\.txt/)
    t.equal(readFileSync(`${scratch}/demo/node.txt`, 'utf8'), 'hello')
  })

  await t.test('Python', { skip: !hasPython && 'httpx and pydantic are not installed' }, async (t) => {
    const [program, ...others] = blocksOf('README.md', 'python')
    t.same(others, [])
    const source = fileURLToPath(new URL('../../clients/python/src', import.meta.url))
    const env = { PATH: process.env.PATH, LOCAL_AGENT_URL: service.url, PYTHONPATH: source, PYTHONDONTWRITEBYTECODE: '1' }
    const { stdout } = await execute('python3', ['-c', here(program)], { env, timeout: 20_000 })
    t.match(stdout, /Approved: writeFile [^]+python\.txt/)
    t.equal(readFileSync(`${scratch}/demo/python.txt`, 'utf8'), 'hello')
  })
  t.notOk(existsSync(`${dir}/home/config.json`), 'nothing needed to be configured')
})

t.test('the README uses the Python client as the page of the client does', async (t) => {
  const [program] = blocksOf('README.md', 'python')
  const page = blocksOf('clients/python/README.md', 'python').join('')
  const words = ['from local_agent import Agent', 'with Agent() as agent:', 'agent.run(', 'approve=approve', 'cwd=', 'request.tool_name',
    'request.input', 'for event in run:', 'if event.type == "text-delta":', 'print(event.content, end="", flush=True)']
  for (const each of words) t.ok(program.includes(each) && page.includes(each), each)
})

const TOKEN = 'the-token'

t.test('openapi.json is served as it is committed, to whom has the token', async (t) => {
  const app = await build(t, { token: TOKEN })
  t.equal((await app.inject('/openapi.json')).statusCode, 401)
  const answer = await app.inject({ url: '/openapi.json', headers: { authorization: `Bearer ${TOKEN}` } })
  t.match(answer.headers['content-type'], /^application\/json/)
  t.match(answer.json(), { openapi: '3.1.0', info: { title: 'local-agent-service' } })
})

t.test('the page and its files are open, name no other host, and are all there is', async (t) => {
  const app = await build(t, { token: TOKEN })
  const page = await app.inject('/docs')
  const { statusCode, headers, body } = await app.inject('/docs/')
  t.same([statusCode, headers['content-security-policy'], body], [200, page.headers['content-security-policy'], page.body], 'with a slash')
  t.match(page.headers, { 'content-type': 'text/html; charset=utf-8', 'x-content-type-options': 'nosniff' })
  t.match(page.headers['content-security-policy'], /^default-src 'none'; (?!.*(?:https?:|\*|unsafe-eval)).*connect-src 'self'/)
  t.notMatch(page.body, /https?:|\/\/\w/)
  const files = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path)
  t.equal(files.length, 4)
  for (const file of files) t.equal((await app.inject(file)).statusCode, 200, file)
  for (const name of ['index.html', 'swagger-ui.js', '..%2Fpackage.json', 'constructor']) {
    t.match((await app.inject(`/docs/${name}`)).json(), { statusCode: 404, code: 'ERR_NOT_FOUND' }, name)
  }
})

t.test('the built service finds its document and the files of the page, for clients that take gzip or not', async (t) => {
  const dir = t.testdir({ home: {}, work: {} })
  const { url } = await startService(t, { home: `${dir}/home`, cwd: `${dir}/work` })
  for (const path of ['/openapi.json', '/docs', '/docs/start.js', '/docs/swagger-ui.css']) {
    const [zipped, plain] = await Promise.all(['gzip', 'identity'].map((encoding) =>
      fetch(url + path, { headers: { 'accept-encoding': encoding } })))
    t.same([zipped.status, plain.status, plain.headers.get('content-encoding')], [200, 200, null], path)
    t.equal(await zipped.text(), await plain.text(), path)
    const isLarge = !['/docs', '/docs/start.js'].includes(path)
    t.equal(zipped.headers.get('content-encoding'), isLarge ? 'gzip' : null, path)
  }
})

t.test('a browser without a network asks for the token, shows every operation and tries one', { skip: noBrowser }, async (t) => {
  const app = await build(t, { token: TOKEN })
  const browser = await openBrowser(t)
  const page = await browser.newPage()
  const { hosts, complaints } = watch(page)
  const origin = `http://127.0.0.1:${await listen(app)}`

  await page.goto(`${origin}/docs`)
  await page.fill('[name=token]', 'a wrong one')
  await page.click('text=Show the interface')
  await page.waitForSelector('text=That is not the token.')
  await page.fill('[name=token]', TOKEN)
  await page.click('text=Show the interface')
  await page.waitForSelector('.opblock')
  t.equal(await page.locator('.opblock').count(), app.routeTable.endpoints.length)
  t.notOk(await page.isVisible('form >> text=Show the interface'))

  await page.click('#operations-brain-getBrain .opblock-summary-control')
  await page.click('text=Try it out')
  await page.click('button.execute')
  await page.waitForSelector('.live-responses-table >> text=contextPreview')
  t.same([...hosts], [new URL(origin).host], 'nobody else was asked')
  t.same(complaints.filter((each) => !/status of 401/.test(each)), [], 'nothing was refused to the page')
})

const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))

/** What dialects of regular expressions lack or read differently, with the dialect. */
const FORBIDDEN: Array<[RegExp, string]> = [
  [/\\[pP]/, 'a class of Unicode: other letters without the flag u, unknown to Python'],
  [/\\[dDwWsSbB]/, 'a class that Python and JavaScript extend beyond ASCII'],
  [/\(\?[=!<]/, 'look-around: unknown to RE2'],
  [/\\[1-9]|\\k/, 'a reference: unknown to RE2'],
  [/\\u|\\c|\\[AzZ]/, 'an escape that RE2 or JavaScript lacks'],
  [/\[[^\]]*(?<!\\)[/({|})-]\]|\[[^\]]*(?<!\\)[/({|})]/, 'punctuation in a class without a backslash: an error with the flag v'],
  [/[^\0-\x7f]/, 'a character outside of ASCII: two of them without the flag u']
]

/** The patterns of schemas and of the names of fields, with their places. */
function patternsOf (value: any, place = '#', found = new Map<string, string>()): Map<string, string> {
  if (typeof value !== 'object' || value === null) return found
  if (typeof value.pattern === 'string' && !place.includes('/examples')) found.set(value.pattern, place)
  for (const name of Object.keys(value.patternProperties ?? {})) found.set(name, `${place}/patternProperties`)
  for (const [key, each] of Object.entries(value)) patternsOf(each, `${place}/${key}`, found)
  return found
}
const patterns = patternsOf(document)

t.test('every pattern of the document is a regular expression in JavaScript with and without flags, and in Python', async (t) => {
  t.ok(patterns.size >= 8)
  for (const [pattern, place] of patterns) {
    for (const flags of ['', 'u', 'v']) t.doesNotThrow(() => new RegExp(pattern, flags), `${place}: ${pattern} with "${flags}"`)
    for (const [construct, why] of FORBIDDEN) t.notMatch(pattern, construct, `${place}: ${why}`)
  }
  const program = 'import json, re, sys\nfor each in json.load(sys.stdin): re.compile(each)'
  t.doesNotThrow(() => execFileSync('python3', ['-W', 'error', '-c', program], { input: JSON.stringify([...patterns.keys()]) }))
})

t.test('the formats of the document are those that the service checks, binary, and sizes of integers', async (t) => {
  const formats = new Set<string>()
  JSON.stringify(document, (key, value) => {
    if (key === 'format' && typeof value === 'string') formats.add(value)
    return ['example', 'examples'].includes(key) ? undefined : value
  })
  t.same([...formats].sort(), ['binary', 'int32', 'int64', ...Object.keys(FORMATS)].sort())
})

t.test('a rule that the document alone says is one of the service, which answers with its own code', async (t) => {
  const app = await build(t)
  const { schemas } = document.components
  const message = { role: 'user', content: 'hi' }
  const chat = { model: 'offline/assistant', messages: [message] }
  const tool = (name: string) => ({ ...chat, tools: [{ type: 'function', function: { name } }] })
  const { properties: fieldsOfChat } = schemas.ChatCompletionBody
  const role = fieldsOfChat.messages.items.properties.role.pattern
  const cases: Array<[pattern: string, url: string, make: (text: string) => object, taken: string, refused: string, code: string]> = [
    [schemas.RunOptions.properties.model.pattern, '/run/sync', (model) => ({ messages: [message], options: { model } }),
      'offline/assistant', 'claude', 'ERR_INVALID_MODEL'],
    [schemas.ConfigureBody.properties.model.pattern, '/providers/configure', (model) => ({ model }), 'offline/assistant', 'a b/c',
      'ERR_INVALID_MODEL'],
    [schemas.Message.properties.role.pattern, '/threads', (role) => ({ messages: [{ role, content: 'hi' }] }), 'assistant', 'robot',
      'ERR_INVALID_MESSAGES'],
    [role, '/v1/chat/completions', (role) => ({ ...chat, messages: [{ role, content: 'hi' }] }), 'developer', 'robot', ''],
    [fieldsOfChat.tools.items.properties.function.properties.name.pattern, '/v1/chat/completions', tool, 'look_up-2', 'look.up', '']
  ]
  for (const [pattern, url, make, taken, refused, code] of cases) {
    const send = async (text: string) => app.inject({ method: 'POST', url, payload: make(text) })
    t.same([new RegExp(pattern).test(taken), new RegExp(pattern).test(refused)], [true, false], pattern)
    t.match((await send(taken)).statusCode, /^20[01]$/, `${url} takes ${taken}`)
    const answer = await send(refused)
    t.equal(answer.statusCode, 400, `${url} refuses ${refused}`)
    if (code) t.equal(answer.json().code, code)
  }
  t.equal((await app.inject({ method: 'PATCH', url: '/config', payload: { model: 'none' } })).json().code, 'ERR_CONFIG_INVALID')
  t.notOk(new RegExp(schemas.ConfigPatch.properties.model.pattern).test('none'))
})

t.test('the service refuses what the portable pattern of an id cannot say', async (t) => {
  const app = await build(t)
  const named = (id: string) => app.inject({ method: 'POST', url: '/threads', payload: { id } })
  for (const id of ['a', '\u{1f600}'.repeat(128), 'Zoë’s chat', 'x '.repeat(64)]) t.equal((await named(id)).statusCode, 201, id)
  for (const id of ['', 'a/b', 'a\nb', 'a\u0085', '\ud800', 'x'.repeat(129), '\u{1f600}'.repeat(129)]) {
    t.match((await named(id)).json(), { statusCode: 400, code: 'ERR_INVALID_REQUEST' }, JSON.stringify(id))
  }
  t.match((await named('\udc00x')).json(), { error: 'body.id must be up to 128 printable characters without "/".' })
  for (const goal of [' \t\n', '\u3000\u00a0']) {
    t.equal((await app.inject({ method: 'POST', url: '/tasks', payload: { goal } })).statusCode, 400)
  }
})
