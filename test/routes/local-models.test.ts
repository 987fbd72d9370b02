import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  watch,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { build } from '../harness/helper.ts'
import { noEngine, writeEngine, writeModel } from '../harness/model-files.ts'
import { parseEvents, textOf } from '../harness/sse.ts'

type Service = Awaited<ReturnType<typeof build>>
const modelsOf = async (app: Service) => (await app.inject('/models')).json().models.filter(({ provider }: any) => provider === 'local')
const ask = async (app: Service, model: string, content = 'hi') => {
  const body = { messages: [{ role: 'user', content }], options: { model } }
  const { payload } = await app.inject({ method: 'POST', url: '/run', payload: body })
  const events = parseEvents(payload)
  return { events, text: textOf(events), error: events.find(({ type }) => type === 'error')?.errorText }
}
const processIn = (text: string) => Number(/process (\d+)/.exec(text)?.[1])
/** Resolves when the engine of a file has left that beside it. */
function untilThere (path: string): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(dirname(path), () => {
      if (!existsSync(path) || (path.endsWith('.pid') && readFileSync(path, 'utf8') === '')) return
      watcher.close()
      resolve()
    })
    watcher.emit('change')
  })
}
const isRunning = (pid: number) => existsSync(`/proc/${pid}`)

/** Makes a folder beside that of the service. */
function makeFolder (t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'local-agent-test-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function start (t: Test, names: Record<string, string> = {}, local: object = {}) {
  const folder = makeFolder(t)
  const engine = writeEngine(join(folder, 'llama/llama-server'))
  const named = writeModel(join(folder, 'files/Named One.gguf'), 'one', { 'llama.context_length': 4_096 })
  const app = await build(t, { config: { engine, providers: { local: { files: [named], ...local } }, analysis: false } })
  for (const [name, content] of Object.entries(names)) writeModel(join(app.home, 'models', name), content)
  return { app, named, url: await app.listen({ port: 0 }) }
}

t.test('without an engine, files are listed with a sentence that says how to get one', { skip: noEngine }, async (t) => {
  const { PATH } = process.env
  process.env.PATH = '/nowhere'
  t.teardown(() => Object.assign(process.env, { PATH }))
  const app = await build(t)
  t.same(await modelsOf(app), [])
  writeModel(join(app.home, 'models/a.gguf'), 'aaa')
  t.match(await modelsOf(app), [{ id: 'local/a', unavailable: /^Model files need llama\.cpp's server.*Install.*engine/ }])
  t.match((await ask(app, 'local/a')).error, /^The model local\/a cannot be used yet: model files need llama/)

  writeEngine(join(app.home, 'engine/release/bin/llama-server'))
  t.match(await modelsOf(app), [{ id: 'local/a', unavailable: undefined, contextWindow: 8_192 }], 'it is found where it was unpacked')
})

t.test('files of config.json and of the home are models, with their windows or why they are none', { skip: noEngine }, async (t) => {
  const names = { 'a.gguf': 'aaa', 'big-00001-of-00002.gguf': 'bbb', 'big-00002-of-00002.gguf': 'ccc', 'mmproj-a.gguf': 'ddd' }
  const { app, named } = await start(t, names)
  writeFileSync(join(app.home, 'models/empty.gguf'), '')
  writeFileSync(join(app.home, 'models/text.gguf'), 'a text')
  writeFileSync(join(app.home, 'models/ten.gguf'), 'GGUF\x03\0\0\0\x01\0')
  execFileSync('mkfifo', [join(app.home, 'models/pipe.gguf')])
  writeModel(join(app.home, 'models/narrow.gguf'), 'nnn', { 'llama.context_length': 1_024 })
  writeModel(join(app.home, 'models/embed.gguf'), 'eee', { 'general.architecture': 'nomic-bert' })
  writeModel(join(app.home, 'models/escape.gguf'), 'eee', { 'general.architecture': 'bert\x1b[2J' })
  symlinkSync('loop.gguf', join(app.home, 'models/loop.gguf'))
  const wide = { 'llama.context_length': 131_072, 'llama.block_count': 2, 'llama.embedding_length': 64, 'llama.attention.head_count': 2 }
  writeModel(join(app.home, 'models/wide.gguf'), 'www', wide)
  writeModel(join(app.home, 'models/huge.gguf'), 'hhh', { ...wide, 'llama.block_count': 4_000_000_000 })
  const models: any[] = await modelsOf(app)
  const found = Object.fromEntries(models.map(({ id, contextWindow, unavailable }) => [id, contextWindow ?? unavailable]))
  t.match(found, {
    'local/a': 8_192,
    'local/big-00001-of-00002': 8_192,
    'local/embed': 'It is not a chat model, but one of the kind "nomic-bert". Choose another file.',
    'local/empty': /^The file is empty/,
    'local/escape': 'It is not a chat model, but one of the kind "bert\\u001b[2J". Choose another file.',
    'local/huge': /^It needs about [\d.]+ GB of memory with a window of 2048 tokens, and [\d.]+ GB are free\./,
    'local/loop': /^Its file .*loop\.gguf cannot be read \(ELOOP\)\.$/,
    'local/Named-One': 4_096,
    'local/narrow': 'Its window of 1024 tokens is too small: the agent needs 2048. Choose another model.',
    'local/pipe': /pipe\.gguf is not a file\.$/,
    'local/ten': /^The file is cut off/,
    'local/text': /^The file is not a GGUF file/,
    'local/wide': 32_768
  })
  t.equal(Object.keys(found).length, 13, 'later parts and what sees pictures are none')

  writeModel(join(app.home, 'models/huge-part-00001-of-00002.gguf'), 'ppp', wide)
  truncateSync(writeModel(join(app.home, 'models/huge-part-00002-of-00002.gguf'), 'qqq'), 4e12)
  const parts = (await modelsOf(app)).find(({ id }: any) => id === 'local/huge-part-00001-of-00002')
  t.match(parts.unavailable, /^It needs about 4000\.\d GB/, 'all parts of a model count')

  renameSync(named, `${named}.gone`)
  t.match((await ask(app, 'local/Named-One')).error, /its file .* is not there/)
  t.match((await ask(app, 'local/other')).error, /no file has that name\. There is local\/a, /)
})

t.test('a file answers, by a server with a key that nobody else has, and dies with the service', { skip: noEngine }, async (t) => {
  const { app, named } = await start(t)
  const first = await ask(app, 'local/Named-One')
  const pid = processIn(first.text)
  t.match(first.text, /with the file one and a window of 4096/)
  t.equal(processIn((await ask(app, 'local/Named-One')).text), pid, 'the same one answers again')

  process.kill(pid, 'SIGKILL')
  const again = processIn((await ask(app, 'local/Named-One')).text)
  t.not(again, pid, 'one that died is started again')

  writeModel(`${named}.new`, 'two', { 'llama.context_length': 2_048 })
  renameSync(`${named}.new`, named)
  const exchanged = await ask(app, 'local/Named-One')
  t.match(exchanged.text, /with the file two and a window of 2048/, 'another file at the path is another model')
  await app.close()
  t.notOk(isRunning(processIn(exchanged.text)) || isRunning(again), 'no server is left')
})

t.test('a server that dies within an answer is asked again; one that cannot load its file says why', { skip: noEngine }, async (t) => {
  const { app, url } = await start(t, { 'cut.gguf': 'CUT OFF' })
  const pid = processIn((await ask(app, 'local/Named-One')).text)
  const response = await fetch(`${url}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'slow' }], options: { model: 'local/Named-One' } })
  })
  let text = ''
  const decoder = new TextDecoder()
  for await (const bytes of response.body!) {
    if (!text.includes('"more "') && decoder.decode(bytes).includes('"more "')) process.kill(pid, 'SIGKILL')
    text += decoder.decode(bytes)
  }
  const events = parseEvents(text)
  t.ok(events.some(({ type }) => type === 'data-retry'), 'readers are told')
  t.match(textOf(events), /I am process/)
  t.match((await ask(app, 'local/cut')).error, 'The model local/cut cannot be used yet: its file is cut off or broken. Get it once more.')
})

t.test('a server is killed while it loads, or before it answers, and a run is stopped meanwhile', { skip: noEngine }, async (t) => {
  const { app, named } = await start(t)
  const stateOf = async () => (await modelsOf(app)).find(({ id }: any) => id === 'local/Named-One').state
  const pid = () => Number(readFileSync(`${named}.pid`, 'utf8'))
  t.equal(await stateOf(), 'stopped')
  writeFileSync(`${named}.hold`, '')
  const reasons = [
    ['SIGILL', /processor of this computer lacks/],
    ['SIGKILL', /ts server, llama\.cpp, was killed when it loaded the file.* too little memory/]
  ] as const
  for (const [signal, sentence] of reasons) {
    const killed = ask(app, 'local/Named-One')
    await untilThere(`${named}.pid`)
    t.equal(await stateOf(), 'loading')
    process.kill(pid(), signal)
    rmSync(`${named}.pid`)
    t.match((await killed).error, sentence)
    t.match(await modelsOf(app), [{ unavailable: sentence }], 'lists say so, too')
  }

  const body = { id: 'chat', message: { role: 'user', content: 'hi' }, options: { model: 'local/Named-One' } }
  const stopped = app.inject({ method: 'POST', url: '/run', payload: body })
  await untilThere(`${named}.pid`)
  const { runs: [{ runId }] } = (await app.inject('/runs?limit=1')).json()
  t.equal((await app.inject({ method: 'POST', url: `/run/${runId}/stop` })).statusCode, 200)
  t.notOk(parseEvents((await stopped).payload).some(({ type }) => type === 'error'), 'the run ends without waiting for the server')
  rmSync(`${named}.hold`)

  const answer = ask(app, 'local/Named-One', 'mute')
  await untilThere(`${named}.mute`)
  const first = pid()
  process.kill(first, 'SIGKILL')
  const { events, text } = await answer
  t.not(processIn(text), first, 'another one answers')
  t.notOk(events.some(({ type }) => type === 'error'))
  t.match(await modelsOf(app), [{ state: 'loaded', tokensPerSecond: Number, sizeBytes: Number, unavailable: undefined }])
})

t.test('models take the memory one after the other, and one that is at work is not ended', { skip: noEngine }, async (t) => {
  const { app } = await start(t, { 'a.gguf': 'aaa', 'b.gguf': 'bbb' })
  const files = ['a', 'b'].map((name) => join(app.home, 'models', `${name}.gguf`))
  // The files have holes: they take no room on the disk, and their engines no memory.
  for (const file of files) truncateSync(file, Math.round(process.availableMemory() * 0.6))
  const a = processIn((await ask(app, 'local/a')).text)
  t.ok(isRunning(a))
  const b = processIn((await ask(app, 'local/b')).text)
  t.notOk(isRunning(a), 'the one that no call uses ends for the other')
  const slow = ask(app, 'local/b', 'slow')
  await untilThere(`${files[1]}.slow`)
  t.match((await ask(app, 'local/a')).error, /it needs about .* are free\..* local\/b is at work: try again when it has answered\.$/)
  t.ok(isRunning(b))
  await slow
  t.ok(processIn((await ask(app, 'local/a')).text))
})

t.test('two services share a file, no window is wider than the model, and no key is taken', { skip: noEngine }, async (t) => {
  const { app } = await start(t, {}, { window: 100_000 })
  await t.test('the other service', async (t) => {
    const other = await build(t, { config: { ...app.config.current, workspace: undefined } })
    const [one, two] = await Promise.all([ask(app, 'local/Named-One'), ask(other, 'local/Named-One')])
    t.match(one.text, /a window of 4096/)
    t.not(processIn(one.text), processIn(two.text))
    await other.close()
    t.ok(isRunning(processIn(one.text)))
    t.notOk(isRunning(processIn(two.text)))
  })

  const configured = await app.inject({ method: 'POST', url: '/providers/configure', payload: { keys: { local: 'a-key' } } })
  t.match(configured.json(), { statusCode: 400, error: /it takes no key/ })
  const { providers } = (await app.inject('/providers')).json()
  t.match(providers.find(({ name }: any) => name === 'local'), { takesKey: false, configured: true })
  writeModel(join(app.home, 'models/later.gguf'), 'lll')
  t.match((await ask(app, 'local/later')).text, /with the file lll/, 'a file that has just come')
})

const cannotBeOthers = (process.getuid?.() !== 0 || process.platform !== 'linux') && 'only root starts programs of others'
t.test('a program of another user that has the port is asked nothing', { skip: cannotBeOthers }, async (t) => {
  const { app } = await start(t, { 'a.gguf': 'aaa' })
  const folder = makeFolder(t)
  const asked = join(folder, 'asked')
  writeFileSync(asked, '', { mode: 0o666 })
  chmodSync(asked, 0o666)
  chmodSync(folder, 0o755)
  const engine = join(folder, 'llama-server')
  const answer = `
    process.setuid(65534)
    const answer = (request, response) => {
      if (request.method === "POST") require("fs").appendFileSync("${asked}", request.url)
      response.end("{}")
    }
    require("http").createServer(answer).listen(process.argv[process.argv.indexOf("--port") + 1], "127.0.0.1")`
  writeFileSync(engine, `#!/bin/sh\nexec "${process.execPath}" -e '${answer}' -- "$@"\n`, { mode: 0o755 })
  const config = join(app.home, 'config.json')
  writeFileSync(config, JSON.stringify({ ...JSON.parse(readFileSync(config, 'utf8')), engine }))
  await app.inject({ method: 'POST', url: '/config/reload' })
  t.match((await ask(app, 'local/a')).error, /a program of another user has taken its port\.$/)
  t.equal(readFileSync(asked, 'utf8'), '')
})

t.test('files that other programs left are found, and become models', { skip: noEngine }, async (t) => {
  const { HOME, HF_HUB_CACHE } = process.env
  t.teardown(() => Object.assign(process.env, { HOME, HF_HUB_CACHE }))
  if (HF_HUB_CACHE === undefined) t.teardown(() => delete process.env.HF_HUB_CACHE)
  const user = makeFolder(t)
  const { app } = await start(t)
  const ollama = join(user, '.ollama/models')
  const studio = writeModel(join(user, '.lmstudio/models/maker/repo/small.gguf'), 'sss')
  const blob = writeModel(join(ollama, 'blobs/sha256-aa'), 'ooo')
  mkdirSync(join(ollama, 'manifests/host/library/llama3.2'), { recursive: true })
  const layers = [['license', 'sha256:bb'], ['model', 'sha256:aa']]
    .map(([kind, digest]) => ({ mediaType: `application/vnd.ollama.image.${kind}`, digest }))
  writeFileSync(join(ollama, 'manifests/host/library/llama3.2/3b'), JSON.stringify({ layers }))
  writeModel(join(user, 'hub/models--x/snapshots/1/face.gguf'), 'fff')
  Object.assign(process.env, { HOME: user, HF_HUB_CACHE: join(user, 'hub') })
  const { files } = (await app.inject('/models?discover=true')).json()
  t.match(files.map(({ program, model, contextWindow }: any) => [program, model, contextWindow]), [
    ['LM Studio', 'local/small', 8_192], ['Ollama', 'local/llama3.2-3b', 8_192], ['Hugging Face', 'local/face', 8_192]
  ])

  const configure = async (localFile: string) =>
    (await app.inject({ method: 'POST', url: '/providers/configure', payload: { localFile } })).json()
  t.match(await configure(join(user, 'nothing.gguf')), { statusCode: 400, code: 'ERR_UNKNOWN_PROVIDER' })
  t.match(await configure(studio), { active_model: 'local/small' })
  t.match((await ask(app, 'local/small')).text, /with the file sss/)
  t.ok(existsSync(blob))
})
