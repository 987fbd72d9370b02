import { globSync, readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import type { App } from '../../app.ts'
import { replayFile } from '../../bin/replay.ts'
import type { Difference } from '../../services/recordings/replay/differences.ts'
import { outcomeText } from '../../services/recordings/replay/outcome-text.ts'
import { found } from '../harness/canaries.ts'
import { build } from '../harness/helper.ts'
import { KINDS, recordKind } from '../harness/recorded-runs.ts'
import { sharedCompilers } from '../harness/shared-compilers.ts'
import { ROOT } from '../harness/source-tree.ts'

const settings = { compilers: sharedCompilers }
const folder = `${ROOT}test/recordings`

t.test('recordings of an earlier version replay without a difference', async (t) => {
  const files = globSync(`${folder}/*.jsonl`)
  t.ok(files.length >= 10)
  for (const file of files) {
    const outcome = await replayFile(file, { isStrict: false, settings })
    t.ok(outcome.ok, outcomeText(outcome))
    t.ok(outcome.steps > 0)
  }
})

t.test('what was recorded now replays without a difference, also in a strict replay', async (t) => {
  const names = [
    'files changed in every way', 'task whose result is rejected', 'steered', 'agent with its name and options', 'denied', 'used up tokens'
  ]
  for (const name of names) {
    await t.test(name, async (t) => {
      const { text } = await recordKind(t, KINDS[name])
      if (name.startsWith('agent')) t.match(text, /"options":\{"agent":"reader","instructions":"Be brief."/, 'it names what was resolved')
      const file = `${t.testdirName}.jsonl`
      writeFileSync(file, text)
      const outcome = await replayFile(file, { isStrict: true, settings })
      t.ok(outcome.ok, outcomeText(outcome))
    })
  }
})

interface Change {
  file: string
  isStrict?: boolean
  /** Changes the service. */
  plant?: (app: App) => void
  /** Changes the recording: the service is then other than it was. */
  edit?: (lines: any[]) => void
  step: number
  what: RegExp
  shown?: RegExp
}
const permit = (permissions: object) => (app: App) => void Object.assign(app.config.current, { permissions })
const tool = (app: App, name: string) => app.tools.find(name)!
const reshape = (name: string, change: (schema: any) => void) => (app: App) => {
  const found = tool(app, name)
  found.model.schema = structuredClone(found.model.schema)
  change(found.model.schema)
}
const line = (lines: any[], type: string) => lines.find((each) => each.type === type)

const CHANGES: Record<string, Change> = {
  'a tool that needs no approval any more': {
    ...{ file: 'read-and-write', plant: permit({ writeFile: 'allow' }), step: 2 },
    what: /writeFile asks for no approval any more/
  },
  'a tool that now needs an approval': {
    ...{ file: 'read-and-write', plant: permit({ readFile: 'ask' }), step: 1 },
    what: /readFile asks for an approval, and did not/
  },
  'a tool that is forbidden': {
    ...{ file: 'read-and-write', plant: permit({ writeFile: 'deny' }), step: 3 },
    what: /The call writeFile .* gave a result, and gives an error now/,
    shown: /There is no tool named "writeFile"/
  },
  'a tool that is gone': {
    ...{ file: 'review-and-refinement', plant: permit({ listDirectory: 'deny' }), step: 2 },
    what: /The call listDirectory/,
    shown: /There is no tool named/
  },
  'a property that an input needs': {
    ...{ file: 'read-and-write', step: 2 },
    plant: reshape('readFile', (schema) => {
      schema.properties.encoding = { type: 'string' }
      schema.required.push('encoding')
    }),
    what: /The call readFile \{"path":"a.txt"\} gave a result, and gives an error now/,
    shown: /encoding/
  },
  'another type of a property': {
    ...{ file: 'read-and-write', plant: reshape('writeFile', (schema) => (schema.properties.content = { type: 'integer' })), step: 3 },
    what: /The call writeFile .* gives an error now/,
    shown: /content/
  },
  'another name of a property': {
    ...{ file: 'files-changed-in-every-way', step: 4 },
    plant: reshape('moveFile', (schema) => {
      schema.properties.source = schema.properties.from
      delete schema.properties.from
      schema.required = ['source', 'to']
    }),
    what: /The call moveFile/,
    shown: /source|from/
  },
  'a narrower list': {
    ...{ file: 'files-changed-in-every-way', plant: reshape('editFile', (schema) => (schema.properties.edits.minItems = 2)), step: 3 },
    what: /The call editFile/
  },
  'a shorter text': {
    ...{ file: 'files-changed-in-every-way', plant: reshape('deleteFile', (schema) => (schema.properties.path.maxLength = 3)), step: 5 },
    what: /The call deleteFile/
  },
  'a default permission': {
    ...{ file: 'files-changed-in-every-way', plant: (app) => void (tool(app, 'deleteFile').policy.permission = 'allow'), step: 4 },
    what: /deleteFile asks for no approval any more/
  },
  'questions of another form': {
    ...{ file: 'question', plant: reshape('askUser', (schema) => (schema.properties.questions.minItems = 2)), step: 2 },
    what: /The call askUser/
  },
  "the application's own schema of a tool": {
    ...{ file: 'application-call', edit: (lines) => (line(lines, 'request').options.appTools[0].inputSchema.required = ['id']), step: 2 },
    what: /The call openDocument .* gives an error now/,
    shown: /id/
  },
  'the schema of the structured answer': {
    ...{ file: 'structured-answer', step: 1 },
    edit: (lines) => (line(lines, 'request').options.object.schema.properties.total = { type: 'string' }),
    what: /The structured answer differs/,
    shown: /"total":"three"/
  },
  'fewer steps': {
    ...{ file: 'files-changed-in-every-way', edit: (lines) => (line(lines, 'request').options = { maxSteps: 2 }), step: 3 },
    what: /.+/
  },
  'nobody to ask': {
    ...{ file: 'read-and-write', edit: (lines) => (line(lines, 'request').options = { interactive: false }), step: 3 },
    what: /The call writeFile .* gave a result, and gives a denial now/
  },
  'a task that asks for nothing': {
    ...{ file: 'task-with-approvals', edit: (lines) => (line(lines, 'task').approval.mode = 'never'), step: 1 },
    what: /writeFile asks for no approval any more/
  },
  'a tool server that is trusted': {
    ...{ file: 'tool-server', edit: (lines) => line(lines, 'server').tools.forEach((each: any) => (each.permission = 'allow')), step: 1 },
    what: /echo asks for no approval any more/
  },
  'a tool server whose tool has another name': {
    ...{ file: 'tool-server', step: 2 },
    edit: (lines) => (line(lines, 'server').tools.find(({ name }: any) => name === 'echo').name = 'say'),
    what: /The call echo .* gives an error now/,
    shown: /There is no tool named "echo"/
  },
  'another description of a tool': {
    ...{ file: 'read-and-write', isStrict: true, step: 1 },
    plant: (app) => void (tool(app, 'readFile').model.description = 'Reads a file, or not.'),
    what: /The tool readFile is described otherwise/,
    shown: /\+ Reads a file, or not\./
  },
  'another description of a property': {
    ...{ file: 'read-and-write', isStrict: true, step: 1 },
    plant: reshape('searchFiles', (schema) => (schema.properties.pattern.description = 'Whatever.')),
    what: /The tool searchFiles is described otherwise/,
    shown: /Whatever\./
  },
  'a sentence of the system prompt': {
    ...{ file: 'read-and-write', isStrict: true, step: 1 },
    edit: (lines) => (line(lines, 'context').system[0] = line(lines, 'context').system[0].replace('Answer briefly', 'Answer at length')),
    what: /The system prompt differs/,
    shown: /- .*Answer at length/
  },
  'a system prompt that says less': {
    ...{ file: 'task-with-approvals', isStrict: true, step: 1 },
    edit: (lines) => (line(lines, 'context').system[0] += '\n\nBe kind.'),
    what: /The system prompt differs/,
    shown: /- Be kind\./
  },
  'other words of an error': {
    ...{ file: 'structured-answer', isStrict: true, step: 2 },
    edit: (lines) => (line(lines, 'call').error = 'No.'),
    what: /The call answer .* gave other words/,
    shown: /No\./
  },
  'a new tool': {
    ...{ file: 'read-and-write', isStrict: true, step: 1 },
    edit: (lines) => (line(lines, 'context').tools = line(lines, 'context').tools.filter(({ name }: any) => name !== 'readFile')),
    what: /The tool readFile is new/
  }
}

t.test('each planted change fails at its step, with what differs', async (t) => {
  t.ok(Object.keys(CHANGES).length >= 20)
  for (const [name, { file, isStrict = false, plant, edit, step, what, shown }] of Object.entries(CHANGES)) {
    const lines = readFileSync(`${folder}/${file}.jsonl`, 'utf8').trimEnd().split('\n').map((text) => JSON.parse(text))
    edit?.(lines)
    const path = `${t.testdirName}.jsonl`
    writeFileSync(path, lines.map((each) => JSON.stringify(each)).join('\n'))
    const outcome = await replayFile(path, { isStrict, settings, ...(plant && { prepare: plant }) })
    const text = outcomeText(outcome)
    t.notOk(outcome.ok, name)
    // A strict replay of an old recording may say more.
    const found = outcome.differences.find((each: Difference) => what.test(each.what))
    t.equal(found?.step, step, `${name}:\n${text}`)
    if (!isStrict) t.equal(outcome.differences[0], found, `${name} is the first difference:\n${text}`)
    if (shown) t.match(found?.diff ?? `${found?.recorded}\n${found?.now}`, shown, name)
  }
})

t.test('no secret gets into a recording', async (t) => {
  const secrets = {
    gateway: 'gateway-key-4Zt9qLw2',
    github: 'ghp_0a1b2c3d4e5f6a7b8c9d0e1f',
    password: 'correct-horse-7battery',
    address: 'S3cr3tOfTheDatabase',
    jwt: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLW9mLXRoaXM'
  }
  const { github, password, address, jwt, gateway } = secrets
  const content = `API_KEY=${github}\npassword: "${password}"\nurl = postgres://ada:${address}@localhost/db\n`
  const { text } = await recordKind(t, {
    ...KINDS['read and write'],
    files: { 'a.txt': content },
    turns: [
      { toolCalls: [{ toolName: 'readFile', input: { path: 'a.txt' } }] },
      {
        text: `The key is ${github}, in base64 ${Buffer.from(gateway).toString('base64')}.`,
        toolCalls: [{ toolName: 'writeFile', input: { path: 'b.txt', content: `${content}${jwt}` } }]
      },
      { text: `Authorization: Bearer ${jwt}` }
    ],
    request: {
      messages: [{ role: 'user', content: `My password is password=${password}; copy the file.` }],
      options: { instructions: `Use the key ${gateway}.` }
    },
    settings: { gatewayKey: gateway },
    decide: () => ({ approved: true, reason: `as ${github} says` })
  })
  t.same(found(secrets, [['the recording', Buffer.from(text)]]), [])
  const [header] = text.split('\n').map((each) => each && JSON.parse(each))
  const kinds = ['secret of the service', 'key', 'named secret', 'token', 'password in an address']
  t.same(new Set(header.replaced.map(({ what }: any) => what)), new Set(kinds))
  t.ok(header.replaced.every(({ count, by }: any) => count > 0 && text.includes(by)))
  t.notMatch(text, /\/home\/|\.tap\//, 'no path of the machine')

  const file = `${t.testdirName}.jsonl`
  writeFileSync(file, text)
  const outcome = await replayFile(file, { isStrict: true, settings })
  t.ok(outcome.ok, outcomeText(outcome))
})

t.test('texts that are made to be slow to look through are recorded, and each secret in them is found', async (t) => {
  const passwords = Array.from({ length: 10_000 }, (_, at) => `password=hunter-${at}-of-many`)
  const slow = ['-eyJ'.repeat(60_000), 'sk-a-'.repeat(20_000), '-----BEGIN PRIVATE KEY-----\n'.repeat(1_000), 'a://b:'.repeat(20_000)]
  const attack = [...slow, ...passwords, 'the last password is hunter-9999-of-many'].join(' ')
  const { text } = await recordKind(t, {
    ...KINDS['read and write'],
    files: {},
    turns: [{ toolCalls: [{ toolName: 'writeFile', input: { path: 'b.txt', content: attack } }] }, { text: 'Written.' }],
    decide: () => ({ approved: true })
  })
  t.notMatch(text, /hunter-\d/)
  t.match(text, /the last password is \{\{recorded:secret-\d+\}\}/)
})

t.test('a run that is not over, or not known, is not recorded', async (t) => {
  const app = await build(t)
  const record = async (runId: string) => app.inject({ method: 'POST', url: `/runs/${runId}/recording` })
  const waiting = await app.inject({
    method: 'POST',
    url: '/run/sync',
    payload: { messages: [{ role: 'user', content: 'write "hello" to notes.txt' }] }
  })
  const { runId, threadId } = waiting.json()
  t.same([(await record(runId)).statusCode, (await record(runId)).json().code], [409, 'ERR_RUN_LIVE'])
  await app.inject({ method: 'POST', url: `/run/${threadId}/stop` })
  const stopped = await record(runId)
  t.equal(stopped.statusCode, 200)
  t.match(stopped.headers, { 'content-type': /x-ndjson/, 'content-disposition': /run-.*\.jsonl/ })
  const unknown = await record('01a214ed-342f-7454-ba1b-10c13720741f')
  t.same([unknown.statusCode, unknown.json().code], [404, 'ERR_RUN_NOT_FOUND'])
  t.notOk('content-disposition' in unknown.headers, 'an error is no file')
})

t.test('what a run expects is checked, beside what it did', async (t) => {
  const text = readFileSync(`${folder}/read-and-write.jsonl`, 'utf8')
  const dir = t.testdir({ 'a.jsonl': text, 'a.expect.json': '{}' })
  const expecting = async (expected: object) => {
    writeFileSync(`${dir}/a.expect.json`, JSON.stringify(expected))
    return (await replayFile(`${dir}/a.jsonl`, { isStrict: false, settings })).differences.map(({ what }) => what)
  }
  t.same(await expecting({
    calls: ['readFile', 'writeFile'],
    approvals: ['writeFile'],
    files: { 'notes.txt': '^hello$', 'a.txt': 'two', 'c.txt': null },
    answer: 'all of it'
  }), [])
  t.same(await expecting({ calls: ['deleteFile'], approvals: [], files: { 'notes.txt': null, 'c.txt': 'x' }, answer: 'nothing' }), [
    'No call of deleteFile succeeded.',
    'Other tools asked for an approval than expected.',
    'There is a file notes.txt.',
    'There is no file c.txt.',
    'The answer does not match nothing.'
  ])
})

t.test('a conversation that a person wrote is a recording, and one of a newer format is refused', async (t) => {
  const lines = [
    { type: 'recording', version: 1, later: true },
    { type: 'request', messages: [{ role: 'user', content: 'Say it.' }] },
    { type: 'weather', of: 'a later version' },
    { type: 'answer', text: 'It is said.' }
  ]
  const write = (all: object[]) => all.map((each) => JSON.stringify(each)).join('\n')
  const dir = t.testdir({ 'a.jsonl': write(lines), 'b.jsonl': write([{ ...lines[0], version: 2 }, ...lines.slice(1)]), 'c.jsonl': 'hello' })
  t.ok((await replayFile(`${dir}/a.jsonl`, { isStrict: false, settings })).ok)
  await t.rejects(replayFile(`${dir}/b.jsonl`, { isStrict: false, settings }), { exitCode: 64, message: /newer version/ })
  await t.rejects(replayFile(`${dir}/c.jsonl`, { isStrict: false, settings }), { exitCode: 64, message: /line 1 is no JSON object/ })
  await t.rejects(replayFile(`${dir}/d.jsonl`, { isStrict: false, settings }), { exitCode: 64, message: /cannot be read/ })
})

t.test('a recording whose lines or patterns cannot be used is refused in a sentence', async (t) => {
  const text = readFileSync(`${folder}/read-and-write.jsonl`, 'utf8')
  const slow = JSON.stringify({ answer: '^(?:(?:[^x]+)+)+x$' })
  const dir = t.testdir({
    ...{ 'a.jsonl': `${text}null\n`, 'b.jsonl': text, 'b.expect.json': '{"answer":"(all"}', 'c.jsonl': text, 'c.expect.json': slow }
  })
  const refused = (name: string, message: RegExp) =>
    t.rejects(replayFile(`${dir}/${name}.jsonl`, { isStrict: false, settings }), { exitCode: 64, message })
  await refused('a', /a\.jsonl is no recording: line 13 is no JSON object/)
  await refused('b', /The pattern "\(all" of an "expect" line cannot be used: .*unterminated group/i)
  await refused('c', /The pattern .* of an "expect" line cannot be used: it took longer than 2 s/)
})

t.test('a replay changes files in its own folders alone, whatever the recording says', async (t) => {
  const dir = t.testdir({ 'kept.txt': 'kept', others: { 'kept.txt': 'kept' } })
  const path = `${dir}/a.jsonl`
  const lines = readFileSync(`${folder}/read-and-write.jsonl`, 'utf8').trimEnd().split('\n').map((text) => JSON.parse(text))
  const written = lines.findLast(({ type }) => type === 'call')
  written.changes.push({ path: `${dir}/others`, after: null }, { path: `${dir}/kept.txt`, after: 'sha256:other' })
  lines.push({ type: 'file', path: `${dir}/kept.txt`, before: 'kept', after: 'changed' })
  writeFileSync(path, lines.map((each) => JSON.stringify(each)).join('\n'))
  t.ok((await replayFile(path, { isStrict: false, settings })).ok)
  t.equal(readFileSync(`${dir}/kept.txt`, 'utf8'), 'kept')
  t.equal(readFileSync(`${dir}/others/kept.txt`, 'utf8'), 'kept')
})
