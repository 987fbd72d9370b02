import { writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import { prepareDirectory, startDying, writesIn } from './dying-service.ts'

/** Waits until the test has said something. */
const hold = { toolName: 'runCommand', input: { command: 'until [ -e "$PWD/go" ]; do sleep 0.02; done' } }
const write = { toolName: 'writeFile', input: { path: 'a.txt', content: 'a' } }

/** A directory for a conversation whose model makes a call, then one that asks, then answers. */
export const prepare = (t: Test): Promise<string> =>
  prepareDirectory(
    t,
    [{ text: 'First. ', toolCalls: [hold] }, { text: 'Then. ', toolCalls: [write] }, { text: 'Done.' }, { text: 'Yes.' }],
    { permissions: { runCommand: 'allow' }, analysis: false }
  )

/** What the user says: in a call, twice at once, and while an approval waits. */
const IN_A_CALL = ['left', 'right']
const WHILE_IT_WAITS = 'up'

/**
 * Goes through one conversation and one death of the service at a durable write (see kill-at-write.ts), then says the next message. What
 * was acknowledged is in the thread once, and read or marked as unread; so is what the service was about to acknowledge, or it is not.
 */
export async function survives (t: Test, prepared: string, killAt: string, { isChat }: { isChat: boolean }): Promise<number> {
  const lives = await startDying(t, prepared, killAt)
  let service = lives.first
  if (lives.deaths > 0) {
    await service.stop()
    return 0
  }
  const json = async (path: string, body?: object): Promise<{ status: number, body: any }> => {
    const init = body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const response = await fetch(`${service.url}${path}`, init)
    return { status: response.status, body: await response.json() }
  }
  const acknowledged = new Map<string, string>()
  const steer = async (text: string) => {
    const { status, body } = await json('/run/chat/steer', { message: text, id: `id-${text}` })
    if (status === 200) acknowledged.set(text, body.state)
  }
  const said = (text: string) => isChat ? { role: 'user', parts: [{ type: 'text', text }] } : { role: 'user', content: text }
  try {
    const response = await fetch(`${service.url}/run?protocol=${isChat ? 'ui' : 'documented'}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: 'chat', messages: [said('go')], resumable: true })
    })
    let text = ''
    let steered: Promise<unknown> | undefined
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk
      if (!/"tool-input-available".*runCommand/.test(text)) continue
      steered ??= Promise.all(IN_A_CALL.map(steer)).finally(() => writeFileSync(`${lives.cwd}/go`, ''))
      steered.catch(() => {})
    }
    await steered
    await steer(WHILE_IT_WAITS)
  } catch {}
  writeFileSync(`${lives.cwd}/go`, '')
  /** Answers what waits, again if the answer was cut off, until nothing does. */
  const answered = new Set<string>()
  const settle = async () => {
    const { body: { approvals } } = await json('/approvals')
    for (const { approvalId } of approvals) answered.add(approvalId)
    for (const approvalId of answered) await json(`/approvals/${approvalId}`, { approved: true })
    const { body: { runs: [run] } } = await json('/runs?threadId=chat')
    if (run !== undefined) await json(`/runs/${run.runId}?waitMs=20000`)
    return run !== undefined
  }
  const began = await settle().catch(async () => {
    await service.exited
    service = await lives.revive()
    return settle()
  })
  const writes = writesIn(service.log())
  const { body: { runs } } = await json('/runs?threadId=chat')
  if (began) {
    const { body: { messages } } = await json('/threads/chat?protocol=documented')
    const words = messages.filter(({ steer }: any) => steer !== undefined)
    const texts = words.map(({ content }: any) => content)
    t.equal(new Set(texts).size, texts.length, 'nothing is there twice')
    for (const text of acknowledged.keys()) t.ok(texts.includes(text), `"${text}" is there`)
    const states = words.map(({ steer }: any) => steer.state)
    t.ok(states.every((state: string) => state === 'read' || state === 'unread'), `nothing waits: ${states}`)
    const told = (runs[0].steered ?? []).map(({ text, state }: any) => [text, state])
    t.same(told, words.map(({ content, steer }: any) => [content, steer.state]), 'the run tells the same')
    if (runs[0].status === 'completed') t.ok(!states.includes('unread'), 'a run that has ended well has read it')
    const asChat = (await json('/threads/chat?protocol=ui')).body.messages
    const messageNow = { role: 'user', parts: [{ type: 'text', text: 'and now?' }] }
    const next = await json('/run/sync', { id: 'chat', messages: [...asChat, messageNow] })
    t.equal(next.status, 200, 'the conversation goes on')
    const { body: after } = await json('/threads/chat?protocol=documented')
    t.same(after.messages.filter(({ role }: any) => role === 'user').map(({ content }: any) => content), ['go', ...texts, 'and now?'])
  }
  await service.stop()
  if (killAt === 'count') t.same([...acknowledged.keys()].sort(), [...IN_A_CALL, WHILE_IT_WAITS].sort(), 'all of it was taken')
  return writes
}
