import { cpSync } from 'node:fs'
import type { Test } from 'tap'
import { parseEvents } from '../harness/sse.ts'
import { startService } from '../harness/sidecar.ts'

const KILLER = new URL('./kill-at-write.ts', import.meta.url).href
const mine = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Before', unheard: { of: [1] } }], extra: null }

/** What a client was told is stored. */
interface Told {
  made: boolean
  said: string[]
  answered: number
}

/** A client's conversation with a service that may die under it: a thread that is made, a turn in it, and an edit of that. */
async function converse (url: string): Promise<Told> {
  const told: Told = { made: false, said: [], answered: 0 }
  try {
    const made = await fetch(`${url}/threads/chat`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ title: 'Kept', messages: [mine] })
    })
    told.made = made.status === 200
    for (const text of ['system info', 'list the files here']) {
      const response = await fetch(`${url}/run`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id: 'chat', messages: [mine, { id: 'm2', role: 'user', parts: [{ type: 'text', text }] }] })
      })
      let stream = ''
      const decoder = new TextDecoder()
      for await (const bytes of response.body!) {
        stream += decoder.decode(bytes, { stream: true })
        // As soon as anything is told, what the user said is on disk.
        if (/"type":"start"/.test(stream) && told.said.at(-1) !== text) told.said.push(text)
      }
      if (parseEvents(stream.replace(/data: \[DONE\]\n\n$/, '')).some(({ type }) => type === 'finish')) told.answered++
    }
  } catch {}
  return told
}

/** Kills the service before and after its writes, as `isTried` says; what its client was told is there in the next life. */
export async function killConversations (t: Test, isTried: (moment: number) => boolean): Promise<number> {
  const dir = t.testdir({ first: {}, work: {} })
  const start = (home: string, at?: string) =>
    startService(t, { home: `${dir}/${home}`, cwd: `${dir}/work`, ...(at !== undefined && { preload: [KILLER], env: { KILL_AT: at } }) })
  await (await start('first')).stop()
  cpSync(`${dir}/first`, `${dir}/counted`, { recursive: true })
  const counted = await start('counted', 'count')
  const writes = () => counted.log().split('\n').filter((line) => line.startsWith('write ')).length
  const first = writes()
  t.same(await converse(counted.url), { made: true, said: ['system info', 'list the files here'], answered: 2 })
  const last = writes()
  await counted.stop()
  let tried = 0
  for (let moment = 2 * first; moment < 2 * last; moment++) {
    if (!isTried(moment - 2 * first)) continue
    const home = `at-${moment}`
    cpSync(`${dir}/first`, `${dir}/${home}`, { recursive: true })
    const service = await start(home, `${Math.floor(moment / 2)} ${moment % 2 ? 'after' : 'before'}`)
    const told = await converse(service.url)
    // Steps are stored in the background, so a life may have fewer writes than the counted one.
    if (told.answered === 2) await service.stop()
    else t.equal((await service.exited).signal, 'SIGKILL')
    const next = await start(home)
    const response = await fetch(`${next.url}/threads/chat`)
    const { messages = [], title } = await response.json() as any
    if (told.made) t.strictSame([title, messages[0]], ['Kept', mine], `moment ${moment}`)
    const users = messages.filter(({ role }: any) => role === 'user').map(({ parts }: any) => parts[0].text).slice(1)
    const [original, edit] = ['system info', 'list the files here']
    if (told.said.length > 0) t.equal(users.length, 1, `moment ${moment}: what the user said is there`)
    if (told.said.length === 2) t.same(users, [edit], `moment ${moment}: as it was edited`)
    const { versions = [] } = await (await fetch(`${next.url}/threads/chat/versions`)).json() as any
    // The edit is in one transaction with the version that it makes.
    t.same(versions.map(({ text }: any) => text), users[0] === edit ? [original] : [], `moment ${moment}: the edit and what it replaced`)
    const version = versions[0] && await (await fetch(`${next.url}/threads/chat/versions/${versions[0].id}`)).json() as any
    const answers = [...version?.messages ?? [], ...messages].filter(({ role }: any) => role === 'assistant')
    t.ok(answers.length >= told.answered, `moment ${moment}: and every answer that was told to its end`)
    const goesOn = await fetch(`${next.url}/run/sync`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: 'chat', message: { role: 'user', parts: [{ type: 'text', text: 'system info' }] } })
    })
    t.equal(goesOn.status, 200, 'the conversation goes on')
    await next.stop()
    tried++
  }
  return tried
}
