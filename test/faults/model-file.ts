import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { parseEvents, textOf } from '../harness/sse.ts'
import { startService } from '../harness/sidecar.ts'

/** The engine and the file of a model. */
export interface Weights {
  engine: string
  file: string
}

const MODEL = /([^/]+)\.gguf$/
/** How often processes are looked at, ms. */
const LOOK_MS = 20

/** Returns the ids of the servers of a file. */
export function enginesOf ({ file }: Weights): number[] {
  const rows = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' }).split('\n')
  return rows.filter((row) => row.includes(`-m ${file} `) && !row.includes('/bin/sh -c')).map((row) => Number.parseInt(row, 10))
}

async function until (holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
}
/** Resolves when no server of a file is left. */
export const untilNoEngine = (weights: Weights) => until(() => enginesOf(weights).length === 0)
export const untilEngine = (weights: Weights) => until(() => enginesOf(weights).length > 0)

/** Starts the built service with one model, which is a file. */
export async function startOnFile (t: Test, { engine, file }: Weights) {
  const dir = t.testdir({ home: {}, work: {} })
  const config = {
    ...{ model: `local/${MODEL.exec(file)![1]}`, engine, providers: { local: { files: [file] } } },
    ...{ analysis: false, threads: { titles: false }, models: { settings: { capable: { maxOutputTokens: 24 } } } }
  }
  mkdirSync(join(dir, 'home'), { recursive: true })
  writeFileSync(join(dir, 'home/config.json'), JSON.stringify(config))
  const start = () => startService(t, { home: join(dir, 'home'), cwd: join(dir, 'work') })
  let service = await start()
  return {
    service: () => service,
    async restart () {
      service = await start()
    },
    /** Asks something, calls the listener with the answer as it comes, and returns how it ended; undefined when the service is gone. */
    async ask (content: string, onText: (text: string) => void = () => {}) {
      let text = ''
      try {
        const response = await fetch(`${service.url}/run`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ messages: [{ role: 'user', content }] })
        })
        for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) onText(text += piece)
      } catch {
        return undefined
      }
      const events = parseEvents(text)
      return {
        text: textOf(events),
        error: events.find(({ type }) => type === 'error')?.errorText as string | undefined,
        isFinished: events.some(({ type }) => type === 'finish'),
        retries: events.filter(({ type }) => type === 'data-retry').length
      }
    }
  }
}

/** Kills the service when `moment` has come after a question: its model's server goes, and the next service answers with the same file. */
export async function killServiceAt (
  t: Test,
  weights: Weights,
  content: string,
  moment: (started: Awaited<ReturnType<typeof startOnFile>>, asked: Promise<unknown>) => Promise<void>
): Promise<void> {
  const started = await startOnFile(t, weights)
  const asked = started.ask(content)
  await moment(started, asked)
  await started.service().stop('SIGKILL')
  await asked
  await untilNoEngine(weights)
  await started.restart()
  const again = await started.ask('hi')
  t.ok(again?.isFinished && again.error === undefined, `it answers again: ${again?.error ?? again?.text}`)
  t.same(await started.service().stop(), { code: 0, signal: null })
  t.equal(enginesOf(weights).length, 0, 'no server is left')
}
