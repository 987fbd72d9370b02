// Requests of the page to the port for devices. The key is generated here, and is sent only in request headers.

const KEY = 'reach-key'
const PAIRED = 'reach-paired'
/** Timeout of a request, in milliseconds. A preview of a large file takes a while. */
const ANSWER_MS = 30_000

export interface Listed {
  approvalId: string
  kind: string
  title: string
  createdAt: number
  expiresAt?: number
}

interface Change {
  path: string
  kind: string
  from?: string
  what?: string
  withContents?: boolean
  replaces?: boolean
  diff?: string
}

export interface ShownRequest {
  title: string
  answers: Array<'once' | 'deny'>
  digest: string
  preview: { changes: Change[], note?: string, refused?: string }
  request: {
    approvalId: string
    kind: string
    toolName?: string
    input?: unknown
    cwd?: string
    taskId?: string
    threadId?: string
    note?: string
    output?: string
    text?: string
    reasons?: Array<{ text: string }>
    boundary?: { text: string }
    toolServer?: { name: string }
    server?: string
    questions?: Array<{ text: string }>
    serverTools?: Array<{ name: string, description: string }>
  }
}

/** A response with an error status; the message is the service's own. */
export class Refused extends Error {
  readonly status: number
  readonly code: string

  constructor (status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

async function ask<T> (method: string, path: string, body?: object): Promise<T> {
  const key = localStorage.getItem(KEY)
  const response = await fetch(path, {
    method,
    headers: { ...key && { authorization: `Bearer ${key}` }, ...body && { 'content-type': 'application/json' } },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(ANSWER_MS)
  })
  const answer = await response.json()
  if (!response.ok) throw new Refused(response.status, String(answer.code), String(answer.error))
  return answer
}

export const isPaired = (): boolean => localStorage.getItem(PAIRED) !== null

export function forget (): void {
  localStorage.removeItem(KEY)
  localStorage.removeItem(PAIRED)
}

/** Pairs with the secret of a code. The key is stored before it is sent, so that the same key can be sent again if the response is lost. */
export async function pair (secret: string, name: string): Promise<void> {
  if (isPaired() || localStorage.getItem(KEY) === null) {
    forget()
    const bytes = String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32)))
    localStorage.setItem(KEY, btoa(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''))
  }
  await ask('POST', './pair', { secret, key: localStorage.getItem(KEY), name })
  localStorage.setItem(PAIRED, name)
}

export const listRequests = () => ask<{ requests: Listed[], more: boolean }>('GET', './requests')

export const showRequest = (id: string) => ask<ShownRequest>('GET', `./requests/${encodeURIComponent(id)}`)

export const decideRequest = (id: string, answer: 'once' | 'deny', digest: string) =>
  ask<{ state: string }>('POST', `./requests/${encodeURIComponent(id)}`, { answer, digest })
