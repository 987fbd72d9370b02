import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import t from 'tap'
import facts from '../../../console/lib/tool-facts.json' with { type: 'json' }
import texts from '../../../console/texts/en.json' with { type: 'json' }
import { assistantReply } from '../../../services/models/providers/offline/assistant.ts'
import { sayTool } from '../../../services/tools/say-call.ts'
import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { Type } from '@sinclair/typebox'
import { createProvenance } from '../../../services/approvals/addresses/provenance.ts'
import type { EventOf } from '../../../services/contracts/run-events.ts'
import type { BuiltinTool } from '../../../services/contracts/tool.ts'
import { callFacts } from '../../../services/judge/call-facts.ts'
import { over } from './helper.ts'

t.test('every built-in tool has words for people, for the console and for the offline model', async (t) => {
  const { host } = over(t)
  const { known } = host.names()
  t.ok(known.length > 30)
  for (const name of known) {
    const tool = host.find(name)!
    const words = tool.says?.en
    t.match(words, { label: /^[A-Z]\w/, does: /^[a-z]\w/ }, name)
    // `npm run openapi` writes the names of tools for the console.
    t.equal((texts.tool as Record<string, string>)[name], words?.label, `${name}, in the console`)
    t.equal((facts.names as Record<string, string>)[sayTool(name, tool)], name, `${name}, as the service says it`)
    t.notMatch(sayTool(name, tool), /^use \w+$/, `${name}, in approvals and grants`)
    t.notMatch(host.say({ toolName: name, input: {} }).text, name === 'useTool' ? /useTool/ : /^use /, `${name}, of one call`)
    t.notMatch(offlineSays(name, host.find), `I cannot use ${name}`, `${name}, by the offline model`)
  }
})

t.test('a call is said by its own words where its tool has some, also from an input that is kept as text', async (t) => {
  const { host } = over(t)
  const say = (toolName: string, input: unknown) => host.say({ toolName, input }).text
  t.same([{ path: '.' }, '{"path":"."}', { path: 'src' }].map((input) => say('listDirectory', input)), [
    'list this folder',
    'list this folder',
    'list the folder “src”'
  ])
  t.equal(say('click', { x: 10, y: 20 }), 'click at 10, 20')
  t.equal(say('moveFile', { from: 'a', to: 'b' }), 'move “a → b”')
})

/** Returns what the offline model says when it cannot make a call of the tool. */
function offlineSays (name: string, toolOf: Parameters<typeof assistantReply>[1]): string {
  const reply = assistantReply({ prompt: [{ role: 'user', content: [{ type: 'text', text: `use ${name} with {}` }] }], tools: [] }, toolOf)
  return 'text' in reply ? String(reply.text).split(':')[0] : ''
}

/** All that a new tool takes, beside its line in builtin.ts. */
const waterPlant: BuiltinTool<{ plant: string }> = {
  model: { name: 'waterPlant', description: 'Water a plant of the house.', schema: Type.Object({ plant: Type.String() }) },
  says: { en: { label: 'Water a plant', does: 'water', result: (_output, { plant }) => `I watered the ${plant}.` }, about: ['plant'] },
  policy: { effect: 'external' },
  effects: { source: 'screen', proves: 'message' },
  execute: async () => ({ seen: 'http://shop.example/fern' })
}

t.test('a tool that is added in one file has its words, its provenance and its proof', async (t) => {
  const { host } = over(t, [waterPlant])
  const call = { toolCallId: '1', toolName: 'waterPlant', input: { plant: 'fern' } }
  t.equal(host.permission('waterPlant'), 'ask')
  t.same(host.say(call), { text: 'water “fern”', about: 'fern' })
  t.match(offlineSays('waterPlant', host.find), /^I cannot water/)
  const output: EventOf<'tool-output'> = { type: 'tool-output', ...call, output: await waterPlant.execute(call.input, {} as never) }
  const prompt: LanguageModelV4Prompt = [
    { role: 'user', content: [{ type: 'text', text: 'use waterPlant with {"plant": "fern"}' }] },
    { role: 'assistant', content: [{ type: 'tool-call', ...call }] },
    { role: 'tool', content: [{ type: 'tool-result', ...call, output: { type: 'json', value: {} } }] }
  ]
  t.match(assistantReply({ prompt, tools: [] }, host.find), { text: 'I watered the fern.' })
  t.match(callFacts([{ type: 'tool-input', ...call }, output], host.find, '/'), [
    { proves: 'message', target: 'fern', effect: 'external', status: 'completed' }
  ])
  const provenance = createProvenance({ find: host.find, now: 0 })
  provenance.resulted(call, output.output)
  t.match(provenance.origins, { private: [{ toolName: 'waterPlant' }], foreign: [{ toolName: 'waterPlant' }] })
  t.equal(provenance.addresses.get('shop.example/fern'), 'composed', 'what a screen shows makes no address known')
})

/** Where a tool is named and not listed: the constants, the sentences of the offline model, and the command that ACP asks a box for. */
const NAMED_IN = ['services/contracts/model-texts.ts', 'services/models/providers/offline/', 'services/tools/', 'acp/session-settings.ts']

t.test('no file lists tools by their names: what it must know of a tool, the tool says', async (t) => {
  const { host } = over(t)
  const names = host.names().known.filter((name) => /[A-Z]/.test(name))
  const literal = new RegExp(`(?<!name: )['"\`](?:${names.join('|')})['"\`]`)
  const files = execFileSync('git', ['ls-files', '--', 'services', 'acp', 'console'], { encoding: 'utf8' })
  const sources = files.split('\n').filter((path) => /\.tsx?$/.test(path) && !NAMED_IN.some((each) => path.startsWith(each)))
  t.ok(sources.length > 500)
  t.same(sources.filter((path) => literal.test(readFileSync(path, 'utf8').replaceAll(/\/\/.*|\/?\*.*/g, ''))), [])
})
