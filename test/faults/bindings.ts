import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { say } from '../harness/agent.ts'
import { withGateway } from '../harness/with-gateway.ts'

const FILE = 'notes.txt'
const [INIT, AGENT, THEIRS] = ['init\n', 'agent\n', 'theirs\n']
/** The longest time from the question to the answer, and how long after the answer the other program may still come; milliseconds. */
const ANSWER_MS = 4
const AFTER_MS = 24
/** How long a replaced file is watched, and some time to write. */
const WATCHED_MS = 1_500
const OPS = ['write', 'append', 'rename'] as const

/** Another program: at the time that it is told, it changes the file once, in one of the ways that programs do. */
const WRITER = `
  const { parentPort } = require('node:worker_threads')
  const fs = require('node:fs')
  parentPort.on('message', ({ path, op, delay, text }) => {
    const until = performance.now() + delay
    while (performance.now() < until);
    if (op === 'write') fs.writeFileSync(path, text)
    else if (op === 'append') fs.appendFileSync(path, text)
    else {
      fs.writeFileSync(path + '.new', text)
      fs.renameSync(path + '.new', path)
    }
    parentPort.postMessage('done')
  })`

interface Round {
  op: typeof OPS[number]
  delay: number
  answerAfter: number
  hasFile: boolean
}

/**
 * Lets another program change a file once while a write of it is asked for and approved, at random times. Tells of each round in
 * which bytes of that program are nowhere, or in which the agent wrote over what had not been shown. `mayRename` says until when, in
 * milliseconds after the answer, the program may rename its version into place: between two system calls of the service nothing can
 * keep such a version.
 */
export async function interleave (t: any, { rounds, mayRename }: { rounds: number, mayRename: number }) {
  const { app } = await withGateway(t, ({ body }) =>
    body.prompt.at(-1).role === 'user'
      ? { toolCalls: [{ toolName: 'writeFile', input: { path: FILE, content: AGENT } }] }
      : { text: ['ok'] })
  const writer = new Worker(WRITER, { eval: true })
  t.teardown(() => writer.terminate())
  const found = { askedAgain: 0, keptAside: 0, refused: 0, over: 0 }
  const lost: object[] = []

  async function play (round: Round, nth: number) {
    const cwd = `${app.cwd}/${nth}`
    const path = `${cwd}/${FILE}`
    mkdirSync(cwd)
    if (round.hasFile) writeFileSync(path, INIT)
    await say(app, 'go', { id: `chat-${nth}`, context: { cwd } })
    const { approvals } = (await app.inject('/approvals')).json()
    const { runId } = approvals[0]
    const written = new Promise((resolve) => writer.once('message', resolve))
    writer.postMessage({ path, op: round.op, delay: round.delay, text: THEIRS })
    await sleep(round.answerAfter)
    let asks = 0
    for (let [next] = approvals; next !== undefined;) {
      asks++
      await app.inject({ method: 'POST', url: `/approvals/${next.approvalId}`, payload: { approved: true } })
      await app.inject(`/runs/${runId}?waitMs=20000`)
      next = (await app.inject('/approvals')).json().approvals[0]
    }
    await written
    const now = readFileSync(path, 'utf8')
    const run = (await app.inject(`/runs/${runId}`)).json()
    const isDone = run.toolCalls.at(-1).status === 'completed'
    await app.inject({ method: 'POST', url: `/runs/${runId}/undo`, payload: {} })
    // What was written to the replaced file after that is looked for a second later.
    const texts = () => readdirSync(cwd).map((name) => readFileSync(`${cwd}/${name}`, 'utf8'))
    if (!texts().some((text) => text.includes(THEIRS)) && !now.includes(THEIRS)) await sleep(WATCHED_MS)
    const names = readdirSync(cwd)
    const kept = names.filter((name) => name !== FILE).map((name) => readFileSync(`${cwd}/${name}`, 'utf8'))
    const before = names.includes(FILE) ? readFileSync(path, 'utf8') : ''
    const isKept = [now, before, ...kept].some((text) => text.includes(THEIRS))
    // The agent's text alone means that theirs was there before it, and was shown, or was kept aside.
    const isShown = now !== AGENT || asks > 1 || kept.some((text) => text.includes(THEIRS))
    found.askedAgain += asks > 1 ? 1 : 0
    found.keptAside += kept.length > 0 ? 1 : 0
    found.refused += isDone ? 0 : 1
    found.over += now !== AGENT ? 1 : 0
    // What was there at the first question is in the copy for undo, or below theirs.
    const isOldKept = !round.hasFile || round.op !== 'append' || now !== AGENT || [before, ...kept].some((text) => text.startsWith(INIT))
    if (!isKept || !isShown || !isOldKept) {
      lost.push({ ...round, asks, now, before, kept, isDone })
    }
  }

  for (let nth = 0; nth < rounds; nth++) {
    const answerAfter = Math.random() * ANSWER_MS
    const op = OPS[nth % OPS.length]
    const delay = Math.random() * (answerAfter + (op === 'rename' ? Math.min(mayRename, AFTER_MS) : AFTER_MS))
    await play({ op, delay, answerAfter, hasFile: nth % 5 !== 0 }, nth)
  }
  return { found, lost }
}
