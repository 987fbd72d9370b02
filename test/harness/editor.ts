import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Readable, Writable } from 'node:stream'
import {
  client as createEditor,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
  type AnyMessage,
  type ClientCapabilities,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionNotification,
  type SessionUpdate
} from '@agentclientprotocol/sdk'
import { atEnd, type Ending } from './at-end.ts'
import { serviceEnv } from './sidecar.ts'

const SERVER = fileURLToPath(new URL('../../dist/server.js', import.meta.url))

type Answer = string | undefined | Promise<string | undefined>

export interface EditorOptions {
  home: string
  env?: NodeJS.ProcessEnv
  capabilities?: ClientCapabilities
  /** Chooses an option of a permission request; undefined cancels the request. */
  permit?: (request: RequestPermissionRequest, signal: AbortSignal) => Answer
  fill?: (request: CreateElicitationRequest) => CreateElicitationResponse
  /** The unsaved text of files in the editor, by path. */
  buffers?: Map<string, string>
  /** Called with each message of either side before the other side receives it. */
  onMessage?: (message: AnyMessage) => void
}

export const chosen = (optionId: string | undefined): RequestPermissionResponse =>
  ({ outcome: optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId } })

/** Runs the built command `local-agent acp` as an editor does, with the official client of the protocol. */
export async function openEditor (
  t: Ending,
  { home, env, capabilities, permit = () => undefined, fill, buffers, onMessage = () => {} }: EditorOptions
) {
  const child = spawn(process.execPath, [SERVER, 'acp'], {
    env: { ...serviceEnv(home), ...env },
    stdio: ['pipe', 'pipe', 'pipe']
  })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    log += text
  })
  child.stdin.on('error', () => {})
  const exited = once(child, 'close')
  const updates: SessionNotification[] = []
  const asked: RequestPermissionRequest[] = []
  const waiting = new Set<() => void>()
  const wake = () => { for (const look of waiting) look() }
  const app = createEditor({ name: 'test-editor' })
    .onNotification('session/update', ({ params }) => {
      updates.push(params)
      wake()
    })
    .onRequest('session/request_permission', async ({ params, signal }) => {
      asked.push(params)
      wake()
      return chosen(await permit(params, signal))
    })
    .onRequest('fs/read_text_file', ({ params: { path } }) => {
      const content = buffers?.get(path)
      if (content === undefined) throw RequestError.resourceNotFound(path)
      return { content }
    })
    .onRequest('elicitation/create', ({ params }) => fill?.(params) ?? { action: 'cancel' })
  const { readable, writable } = ndJsonStream(
    Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
    Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>
  )
  const seen = () => new TransformStream<AnyMessage, AnyMessage>({
    transform (message, controller) {
      onMessage(message)
      controller.enqueue(message)
    }
  })
  const outgoing = seen()
  void outgoing.readable.pipeTo(writable).catch(() => {})
  const connection = app.connect({ readable: readable.pipeThrough(seen()), writable: outgoing.writable })
  atEnd(t, async () => {
    child.kill('SIGKILL')
    await exited
  })
  const { agent } = connection
  const clientCapabilities = { ...capabilities, ...buffers && { fs: { readTextFile: true, writeTextFile: false } } }
  const initialized = await agent.request('initialize', { protocolVersion: PROTOCOL_VERSION, clientCapabilities })

  /** Resolves to the first defined value that `find` returns, now or after a later message. */
  const until = <T>(find: () => T | undefined): Promise<T> => new Promise((resolve) => {
    const look = () => {
      const found = find()
      if (found === undefined) return
      waiting.delete(look)
      resolve(found)
    }
    waiting.add(look)
    look()
  })
  const of = <K extends SessionUpdate['sessionUpdate']>(kind: K) =>
    updates.flatMap(({ update }) => update.sessionUpdate === kind ? [update as Extract<SessionUpdate, { sessionUpdate: K }>] : [])

  return {
    agent,
    child,
    exited,
    initialized,
    updates,
    asked,
    log: () => log,
    until,
    of,
    /** Returns the texts of all chunks of one kind, joined. */
    text: (kind: 'agent_message_chunk' | 'agent_thought_chunk' | 'user_message_chunk' = 'agent_message_chunk'): string =>
      of(kind).map(({ content }) => content.type === 'text' ? content.text : `[${content.type}]`).join(''),
    open: async (cwd: string) => agent.request('session/new', { cwd, mcpServers: [] }),
    prompt: (sessionId: string, text: string) =>
      agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] }),
    /** Closes the standard input of the command, as an editor does when it quits. */
    async quit () {
      child.stdin.end()
      return exited
    }
  }
}
