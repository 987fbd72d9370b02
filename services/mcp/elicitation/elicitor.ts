import type { Log } from '../../lib/log.ts'
import type { ToolContext, ToolOutput } from '../../contracts/tool.ts'
import { ToolFailed } from '../../tools/index.ts'
import { readForm, type Form, FormRefused, type Json, quoted, whoAsks } from './form.ts'

/** The most questions (forms or addresses) that a server can ask during one call. */
const MOST_ASKED = 20

/** The answer to `elicitation/create`. */
type ElicitResult = { action: 'accept', content?: Record<string, unknown> } | { action: 'decline' } | { action: 'cancel' }

type Context = Pick<ToolContext, 'ask' | 'waitForUser'>

/** A call that the server is working on. */
interface CallUnderWay extends Context {
  /** Aborts when the call has ended. */
  ended: AbortController
  asked: number
  /** The number of questions that wait for the user. */
  open: number
  /** Sentences for the model about questions that got no answer. */
  notes: Set<string>
}

interface Parts {
  server: string
  log: Pick<Log, 'warn'>
}

export type Elicitor = ReturnType<typeof createElicitor>

/**
 * Creates the part of a tool server's connection that shows the server's questions (MCP elicitation) to the user. MCP does not say during
 * which call the server asks. If several calls are running, a question is shown with the oldest call that can ask the user and has no open
 * question, else with the oldest one that can ask. A wrong choice does no harm, because the server matches the answer to its own request.
 * While a question is open, the time limits of all running calls of this server pause.
 */
export function createElicitor ({ server, log }: Parts) {
  const calls = new Set<CallUnderWay>()
  /** Functions that end an open question about an address, by the `elicitationId` of the server. */
  const addresses = new Map<string, () => void>()
  let isStrayLogged = false

  /**
   * Refuses a question outside of any call. It is logged once, then not again before the next call, because a server might ask endlessly.
   */
  function refuseStray (): ElicitResult {
    if (!isStrayLogged) log.warn({ server }, 'the tool server asked the user something outside of any call, and got no answer')
    isStrayLogged = true
    return { action: 'cancel' }
  }

  /** Asks on behalf of a call. If `completed` aborts, the question ends and counts as accepted. */
  async function ask (call: CallUnderWay, form: Form & { url?: string }, ...[signal, completed]: AbortSignal[]): Promise<ElicitResult> {
    const { questions, url, check } = form
    const ends = [signal, call.ended.signal, ...completed === undefined ? [] : [completed]]
    try {
      const asked = call.ask!({ questions, check, server, ...url !== undefined && { url }, signal: AbortSignal.any(ends) })
      for (const { waitForUser } of calls) waitForUser?.(asked).catch(() => {})
      const outcome = await asked
      switch (outcome.is) {
        case 'answered':
          return form.content(outcome.answers)
        case 'declined':
          call.notes.add(`The user declined what the tool server asked.${outcome.reason === undefined ? '' : ` Reason: ${outcome.reason}`}`)
          return { action: 'decline' }
        case 'unanswered':
          call.notes.add('The tool server asked the user something, and nobody answered in time.')
          return { action: 'cancel' }
      }
    } catch (error) {
      if (completed?.aborted) return { action: 'accept' }
      if (error instanceof ToolFailed) call.notes.add(`The tool server could not ask the user: ${error.message}`)
      return { action: 'cancel' }
    }
  }

  /** Asks the user to open an address. The question ends as accepted when the server reports the elicitation as completed. */
  async function askForAddress (call: CallUnderWay, params: Json, signal: AbortSignal): Promise<ElicitResult> {
    const form = readAddressRequest(server, params)
    const { elicitationId } = params
    if (typeof elicitationId !== 'string' || elicitationId === '') throw new FormRefused('it has no elicitationId')
    const completed = new AbortController()
    const end = () => completed.abort(new Error('the server has completed it'))
    addresses.set(elicitationId, end)
    try {
      return await ask(call, form, signal, completed.signal)
    } finally {
      if (addresses.get(elicitationId) === end) addresses.delete(elicitationId)
    }
  }

  return {
    /** Runs a call, during which the server can ask the user. Adds notes for the model about questions that were not answered. */
    async during (context: Context, work: () => Promise<ToolOutput>): Promise<ToolOutput> {
      const call: CallUnderWay = { ...context, ended: new AbortController(), asked: 0, open: 0, notes: new Set() }
      calls.add(call)
      isStrayLogged = false
      try {
        const output = await work()
        return call.notes.size === 0 ? output : { ...output, notes: [...call.notes] }
      } catch (error) {
        if (!(error instanceof ToolFailed) || call.notes.size === 0) throw error
        throw new ToolFailed([error.message, ...call.notes].join('\n'))
      } finally {
        calls.delete(call)
        call.ended.abort(new Error('the call that asked has ended'))
      }
    },

    /** Answers `elicitation/create`. Throws FormRefused if the request cannot be shown to a user. */
    async elicit (params: Json, signal: AbortSignal): Promise<ElicitResult> {
      const [oldest] = calls
      if (oldest === undefined) return refuseStray()
      const mayAsk = [...calls].filter((each) => each.ask !== undefined)
      const call = mayAsk.find(({ open }) => open === 0) ?? mayAsk[0]
      if (call === undefined) {
        oldest.notes.add('The tool server asked the user something. Nobody is asked in this run, so it was declined.')
        return { action: 'decline' }
      }
      if (call.asked === MOST_ASKED) {
        call.notes.add(`The tool server asked the user more than ${MOST_ASKED} times; the rest was not shown.`)
        return { action: 'cancel' }
      }
      call.asked++
      call.open++
      try {
        return params.mode === 'url' ? await askForAddress(call, params, signal) : await ask(call, readForm(server, params), signal)
      } catch (error) {
        if (error instanceof FormRefused) call.notes.add(`The tool server could not ask the user: ${error.message}.`)
        throw error
      } finally {
        call.open--
      }
    },

    /** Ends the question about an address, because the server reports the elicitation as completed. */
    complete: (elicitationId: string): void => addresses.get(elicitationId)?.()
  }
}

const LONGEST_ADDRESS = 1_000
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]'])

/**
 * Returns the normalized form of an address that a server wants the user to open. The address must be https, or http on this computer, and
 * must not contain a name or password, because these could imitate another host. Throws FormRefused.
 */
function checkAddress (address: unknown): string {
  const url = typeof address === 'string' && address.length <= LONGEST_ADDRESS && URL.canParse(address) ? new URL(address) : undefined
  const isAllowed = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.has(url.hostname))
  if (url === undefined || !isAllowed || url.username !== '' || url.password !== '' || url.href.length > LONGEST_ADDRESS) {
    throw new FormRefused('its address is not one that is shown: https, or http on this computer, without a password')
  }
  return url.href
}

/** Reads the parameters of `elicitation/create` in URL mode. The service never opens the address. Throws FormRefused. */
function readAddressRequest (server: string, { message, url }: Json): Form & { url: string } {
  const href = checkAddress(url)
  const warning = `Open the address only if you trust that server and the host ${new URL(href).host}.`
  return {
    url: href,
    questions: [{
      id: 'opened',
      text: `${whoAsks(server)} ${warning}\n${quoted(message)}\n${href}`,
      options: [{ value: 'yes', label: 'I open it' }],
      required: true
    }],
    check: () => [],
    content: () => ({ action: 'accept' })
  }
}

const MOST_SHOWN = 5

/**
 * Converts the data of MCP's error "URL elicitation required" to a text that asks the model to tell the user the addresses to open. Lists
 * MOST_SHOWN addresses at most, and leaves out those that must not be shown (see `checkAddress`).
 */
export function addressesRequired (data: unknown): string {
  const listed = (data as { elicitations?: unknown } | undefined)?.elicitations
  const shown = (Array.isArray(listed) ? listed.slice(0, MOST_SHOWN) : []).flatMap((each) => {
    try {
      const { url, message } = each as Json
      return [`${checkAddress(url)} ${quoted(message)}`]
    } catch {
      return []
    }
  })
  return shown.length === 0
    ? 'The tool server wants the user to open an address first, and named none that can be shown.'
    : `The tool server wants the user to open an address first, then the call works. Tell the user. Its words: ${shown.join(', ')}`
}
