import { rmSync } from 'node:fs'
import t from 'tap'
import type { Claim } from '../../../schemas/evaluation.ts'
import { callFacts } from '../../../services/judge/call-facts.ts'
import { verifyClaims } from '../../../services/judge/verify-claims.ts'
import type { RunEvent } from '../../../services/contracts/run-events.ts'
import { build } from '../tools/helper.ts'

type Effect = Claim['effect']

t.test('claims of moved and edited files are checked by what the tools recorded', async (t) => {
  const cwd = t.testdir({ 'notes.md': 'one', 'kept.md': 'kept', lib: { 'index.ts': 'x', deep: { 'a.ts': 'y' } }, 'edited.txt': 'old text' })
  const { host, execute } = build({ workspace: cwd })
  const events: RunEvent[] = []
  const call = async (toolName: string, input: object) => {
    const toolCallId = `call-${events.length}`
    const result = await execute(toolName, input)
    const changes = result.changes && { changes: result.changes }
    events.push({ type: 'tool-input', toolCallId, toolName, input })
    events.push(
      result.status === 'completed'
        ? { type: 'tool-output', toolCallId, toolName, output: result.output, ...changes }
        : { type: 'tool-error', toolCallId, toolName, errorText: result.errorText, ...changes }
    )
  }
  await call('moveFile', { from: 'notes.md', to: 'docs/second.md' })
  await call('moveFile', { from: 'lib', to: 'core' })
  await call('moveFile', { from: 'missing.md', to: 'docs/missing.md' })
  await call('moveFile', { from: 'kept.md', to: 'docs/second.md' })
  await call('editFile', { path: 'edited.txt', edits: [{ oldText: 'old', newText: 'new' }] })
  await call('editFile', { path: 'kept.md', edits: [{ oldText: 'not in it', newText: 'new' }] })
  await call('moveFile', { from: 'core/deep', to: 'docs/deep' })
  rmSync(`${cwd}/docs/deep`, { recursive: true })

  const wanted: Array<[effect: Effect, target: string, verdict: Claim['verdict']]> = [
    ['file', 'docs/second.md', 'confirmed'],
    ['file', 'notes.md → docs/second.md', 'confirmed'],
    ['file', 'notes.md', 'confirmed'],
    ['deletion', 'notes.md', 'confirmed'],
    ['file', 'core', 'confirmed'],
    ['file', 'lib → core', 'confirmed'],
    ['file', 'core/index.ts', 'confirmed'],
    ['file', 'lib/index.ts', 'confirmed'],
    ['deletion', 'lib/index.ts', 'confirmed'],
    ['file', 'core/none.ts', 'contradicted'],
    ['file', 'missing.md → docs/missing.md', 'contradicted'],
    ['file', 'docs/missing.md', 'contradicted'],
    ['file', 'kept.md', 'contradicted'],
    ['deletion', 'kept.md', 'contradicted'],
    ['file', 'docs/kept.md', 'contradicted'],
    ['file', 'edited.txt', 'confirmed'],
    ['deletion', 'edited.txt', 'contradicted'],
    ['file', 'docs/deep', 'contradicted']
  ]
  const claims = wanted.map(([effect, target]) => ({ claim: target, effect, target, call: null }))
  const verified = await verifyClaims(claims, { calls: callFacts(events, host.find, cwd), cwd, signal: AbortSignal.timeout(60_000) })
  t.same(verified.map(({ effect, target, verdict }) => [effect, target, verdict]), wanted)
})
