/** The parts of the SDK's StreamableHTTPError that are used. Its class would load the SDK. */
interface HttpError extends Error {
  code?: unknown
}

const LONGEST_QUOTE = 300
const PREFIX = /^Streamable HTTP error: (?:Error POSTing to endpoint: |Failed to open SSE stream: )?/

/** Whether an error says that the server does not know the session any more. The specification says 404; some servers say 400. */
export function isLostSession (error: unknown, sessionId: string | undefined): boolean {
  const { code, message } = error as HttpError
  return sessionId !== undefined && (code === 404 || (code === 400 && /session/i.test(message)))
}

/** Describes why the server did not take a message, as a clause that completes a sentence. */
export function describeRefusal (error: unknown): string {
  const { code, message } = error as HttpError
  const said = message.replace(PREFIX, '')
  if (code === -1) return `it answered with something else than a message (${said.slice(0, LONGEST_QUOTE)})`
  if (typeof code !== 'number' || !PREFIX.test(message)) return message
  const quote = textOf(said.replace(" (redirectPolicy: 'same-origin')", '')).slice(0, LONGEST_QUOTE).trim()
  return `it answered ${code}${quote === '' ? '' : `: ${quote}`}`
}

/** The words of an error's body: the message of JSON-RPC or OAuth, nothing of a web page. */
function textOf (body: string): string {
  if (/^\s*</.test(body)) return ''
  try {
    const { error, error_description: description, message } = JSON.parse(body)
    return String(description ?? error?.message ?? message ?? error ?? body)
  } catch {
    return body
  }
}
