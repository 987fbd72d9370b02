import { ok, strictEqual } from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Renderer } from '../fakes/template-server.ts'
import { chatTemplateSuite } from '../suites/chat-templates.ts'
import { configOf, startEngine } from './engine.ts'
import { startForcingServer } from './forcing-server.ts'
import { writeCall } from './main-job.ts'
import { startOnModel } from './service.ts'

/** A renderer that asks the model server, which refuses what it would refuse of a chat completion. */
async function rendererOf (origin: string): Promise<Renderer> {
  const { chat_template_caps: caps } = await (await fetch(`${origin}/props`)).json() as any
  return {
    caps,
    async render (body) {
      const answer = await fetch(`${origin}/apply-template`, { method: 'POST', body: JSON.stringify(body) })
      const { prompt, error } = await answer.json() as any
      if (!answer.ok) throw Object.assign(new Error(error.message), { status: answer.status })
      return prompt
    }
  }
}

/** A conversation with each template, rendered by the server itself, which says what the template takes or does not. */
export async function renderTemplates (names: readonly string[]): Promise<void> {
  // A process that has loaded it ends after its time limit.
  const { default: t } = await import('tap')
  t.setTimeout(0)
  for (const name of names) {
    const engine = await startEngine(name)
    const renderer = await rendererOf(engine.origin)
    console.log(`${name}: ${Object.entries(renderer.caps).flatMap(([cap, has]) => has ? [cap.replace('supports_', '')] : []).join(', ')}`)
    for (const isMute of [false, true]) await chatTemplateSuite(t, [name], isMute, renderer)
    engine.stop()
  }
  t.end()
  ok(t.passing(), 'all templates take what is sent')
}

const TOOLS = { allowTools: ['writeFile', 'readFile'] }

/**
 * A call in the dialect of each template, with its result. The grammars of some templates allow words before a call, and a small model
 * then writes nothing else; such a run has to end well, too.
 */
export async function callInDialects (names: readonly string[]): Promise<void> {
  let called = 0
  for (const name of names) {
    const engine = await startEngine(name)
    const forcing = await startForcingServer(engine.origin)
    const service = await startOnModel(configOf(forcing.url, 60))
    console.log(name)
    forcing.force(writeCall('new.txt'))
    const events = await service.say('Write a haiku to new.txt.', TOOLS)
    ok(forcing.isForced(), 'the request got its tool')
    if (events.some(({ type }) => type === 'tool-approval-request')) {
      called++
      const { toolCalls: [call] } = await service.decide(events, true)
      strictEqual(call.status, 'completed')
      ok(existsSync(join(service.cwd, 'new.txt')), 'the file is written')
    }
    await service.say('Thanks.', TOOLS)
    await service.stop()
    forcing.close()
    engine.stop()
  }
  console.log(`${called} of ${names.length} templates had a call`)
  ok(called > 0, 'a call was made')
}
