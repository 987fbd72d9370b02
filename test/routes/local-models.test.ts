import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { build } from '../harness/helper.ts'
import { ROOT } from '../harness/source-tree.ts'
import { parseEvents, textOf } from '../harness/sse.ts'

const skip = process.platform === 'win32' ? 'the engine of the test is a script' : false
const ENGINE = join(ROOT, 'test/fakes/llama-server.ts')

/** Writes a file of weights whose header says what the settings say, as numbers and texts. */
function writeModel (path: string, content: string, settings: Record<string, number | string> = {}): string {
  const text = (value: string) => Buffer.concat([bigNumber(value.length), Buffer.from(value)])
  const pairs = Object.entries({ 'general.architecture': 'llama', ...settings }).map(([name, value]) =>
    Buffer.concat([text(name), number(typeof value === 'string' ? 8 : 4), typeof value === 'string' ? text(value) : number(value)]))
  mkdirSync(dirname(path), { recursive: true })
  const head = [Buffer.from('GGUF'), number(3), bigNumber(0), bigNumber(pairs.length)]
  writeFileSync(path, Buffer.concat([...head, ...pairs, Buffer.from(content)]))
  return path
}
function number (value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
function bigNumber (value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}

/** Writes the program that stands for llama.cpp's server. */
function writeEngine (path: string): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `#!/bin/sh\nexec "${process.execPath}" "${ENGINE}" "$@"\n`)
  chmodSync(path, 0o755)
  return path
}

type Service = Awaited<ReturnType<typeof build>>
const modelsOf = async (app: Service) => (await app.inject('/models')).json().models.filter(({ provider }: any) => provider === 'local')
const ask = async (app: Service, model: string, content = 'hi') => {
  const body = { messages: [{ role: 'user', content }], options: { model } }
  const { payload } = await app.inject({ method: 'POST', url: '/run', payload: body })
  const events = parseEvents(payload)
  return { events, text: textOf(events), error: events.find(({ type }) => type === 'error')?.errorText }
}
const processIn = (text: string) => Number(/process (\d+)/.exec(text)?.[1])
const isRunning = (pid: number) => existsSync(`/proc/${pid}`)

/** Makes a folder beside that of the service. */
function makeFolder (t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'local-agent-test-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function start (t: Test, names: Record<string, string> = {}) {
  const folder = makeFolder(t)
  const engine = writeEngine(join(folder, 'llama/llama-server'))
  const named = writeModel(join(folder, 'files/Named One.gguf'), 'one', { 'llama.context_length': 4_096 })
  const app = await build(t, { config: { engine, providers: { local: { files: [named] } }, analysis: false } })
  for (const [name, content] of Object.entries(names)) writeModel(join(app.home, 'models', name), content)
  return { app, named, url: await app.listen({ port: 0 }) }
}

t.test('without an engine, files are listed with a sentence that says how to get one', { skip }, async (t) => {
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

t.test('files of config.json and of the home are models, with their windows or why they are none', { skip }, async (t) => {
  const names = { 'a.gguf': 'aaa', 'big-00001-of-00002.gguf': 'bbb', 'big-00002-of-00002.gguf': 'ccc', 'mmproj-a.gguf': 'ddd' }
  const { app, named } = await start(t, names)
  writeFileSync(join(app.home, 'models/empty.gguf'), '')
  writeFileSync(join(app.home, 'models/text.gguf'), 'a text')
  const wide = { 'llama.context_length': 131_072, 'llama.block_count': 2, 'llama.embedding_length': 64, 'llama.attention.head_count': 2 }
  writeModel(join(app.home, 'models/wide.gguf'), 'www', wide)
  writeModel(join(app.home, 'models/huge.gguf'), 'hhh', { ...wide, 'llama.block_count': 4_000_000_000 })
  const models: any[] = await modelsOf(app)
  const found = Object.fromEntries(models.map(({ id, contextWindow, unavailable }) => [id, contextWindow ?? unavailable]))
  t.match(found, {
    'local/a': 8_192,
    'local/big-00001-of-00002': 8_192,
    'local/empty': /^The file is empty/,
    'local/huge': /^It needs about [\d.]+ GB of memory with a window of 2048 tokens, and [\d.]+ GB are free\./,
    'local/Named-One': 4_096,
    'local/text': /^The file is no GGUF file/,
    'local/wide': 32_768
  })
  t.equal(Object.keys(found).length, 7, 'later parts and what sees pictures are none')

  writeModel(join(app.home, 'models/huge-part-00001-of-00002.gguf'), 'ppp', wide)
  truncateSync(writeModel(join(app.home, 'models/huge-part-00002-of-00002.gguf'), 'qqq'), 4e12)
  const parts = (await modelsOf(app)).find(({ id }: any) => id === 'local/huge-part-00001-of-00002')
  t.match(parts.unavailable, /^It needs about 4000\.\d GB/, 'all parts of a model count')

  renameSync(named, `${named}.gone`)
  t.match((await ask(app, 'local/Named-One')).error, /its file .* is not there/)
  t.match((await ask(app, 'local/other')).error, /no file has that name\. There is local\/a, /)
})

t.test('a file answers, by a server with a key that nobody else has, and dies with the service', { skip }, async (t) => {
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

t.test('a server that dies in the middle of an answer is asked again; one that cannot load its file says why', { skip }, async (t) => {
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

t.test('files that other programs left are found, and become models', { skip }, async (t) => {
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
