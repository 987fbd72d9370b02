import { readFile } from 'node:fs/promises'
import { Writable } from 'node:stream'
import { buildApp, type App } from '../app.ts'
import { systemClock } from '../services/lib/clock.ts'
import { Usage } from '../services/lib/usage-error.ts'
import { type ExpectLine, MOST_BYTES, type Recording, readRecording } from '../services/recordings/recording.ts'
import { replayRecording } from '../services/recordings/replay/replay-recording.ts'
import { createReplaySession } from '../services/recordings/replay/replay-session.ts'
import type { Outcome } from '../services/recordings/replay/outcome-text.ts'
import type { RecordedService } from '../services/recordings/replay/run-through.ts'
import { makeWorkCopy, replayConfig } from '../services/recordings/replay/work-copy.ts'
import type { Settings } from '../settings.ts'

/** Sends requests to a service in this process, without a socket. */
export const inProcess = (app: Pick<App, 'inject'>): RecordedService => ({
  async request (method, url, payload) {
    const response = await app.inject({ method, url, ...(payload && { payload }) })
    const isJson = /^application\/json/.test(String(response.headers['content-type']))
    return { status: response.statusCode, body: isJson ? response.json() : response.body }
  }
})

/** Returns a stream that discards the service's log. A difference in the replay already says what went wrong. */
export const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() })

/**
 * Reads a recording, with the expectations in it and, if there is one, in the `.expect.json` file beside it. Throws Usage if the recording
 * cannot be read or is too large, or if that file is not JSON.
 */
export async function openRecording (file: string): Promise<Recording> {
  const text = await readFile(file, 'utf8').catch((error) => {
    throw new Usage(`${file} cannot be read: ${error.message}`)
  })
  if (text.length > MOST_BYTES) throw new Usage(`${file} is larger than 50 MiB, which no recording is.`)
  const recording = readRecording(text, file)
  const beside = file.replace(/(?:\.jsonl)?$/, '.expect.json')
  const expected = await readFile(beside, 'utf8').catch(() => undefined)
  if (expected === undefined) return recording
  try {
    const line: ExpectLine = { ...JSON.parse(expected), type: 'expect' }
    return { ...recording, lines: [...recording.lines, line] }
  } catch {
    throw new Usage(`${beside} is not valid JSON.`)
  }
}

/**
 * Starts a service in a temporary home, replays one recording with it, and returns the differences. With `isStrict`, the texts that models
 * get from the service are compared too. `settings` override the settings of this service. `prepare` is called with the service before the
 * replay begins.
 */
export async function replayFile (
  file: string,
  { isStrict, ...parts }: { isStrict: boolean, settings?: Partial<Settings>, prepare?: (app: App) => void }
): Promise<Outcome> {
  const began = performance.now()
  const given = await openRecording(file)
  const outcome = { file, steps: 0, calls: 0, approvals: 0 }
  const { cannotReplay } = given.header
  if (cannotReplay !== undefined) return { ...outcome, ok: false, ms: 0, differences: [], cannotReplay }
  const copy = await makeWorkCopy(given, replayConfig(given))
  try {
    const { home, cwd, recording, holds } = copy
    const session = createReplaySession(recording, { isStrict, clock: systemClock, holds })
    const boxes = boxesOf(recording)
    const app = await buildApp({ host: '127.0.0.1', log: nowhere(), ...parts.settings, home, cwd, boxes, replay: session })
    try {
      mergeTools(app, recording)
      parts.prepare?.(app)
      const replayed = await replayRecording(recording, { service: inProcess(app), session, cwd })
      return { ...outcome, ...replayed, ok: replayed.differences.length === 0, ms: performance.now() - began }
    } finally {
      await app.close()
    }
  } finally {
    await copy.remove()
  }
}

/** Returns the kind of boxes (sandboxes for commands) that the recorded service had. Commands are not executed, so no box is made. */
const boxesOf = ({ header: { box = 'none' } }: Recording): Settings['boxes'] =>
  box === 'none' ? { is: box, why: 'there was none when the run was recorded' } : { is: box, program: 'recorded' }

/** Offers the tools of the recorded tool servers, which are not connected. */
function mergeTools (app: App, { lines }: Recording): void {
  const servers = lines.filter((line) => line.type === 'server')
  app.tools.merge(servers.map(({ name, instructions, tools }) => ({
    ...{ name, available: true, names: new Map(tools.map((tool) => [tool.name, tool.name])) },
    ...(instructions !== undefined && { instructions }),
    tools: tools.map(({ name, description, inputSchema, effect, permission }) => ({
      model: { name, description, schema: inputSchema as never },
      policy: { effect, permission },
      ...{ identity: 'recorded', checksInput: true as const },
      execute: async () => ({})
    }))
  })), async () => {})
}
