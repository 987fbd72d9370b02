import type { Transport, TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'

/** The reason of a connection that this service has closed. */
export const DISCONNECTED = 'it was disconnected'

/** A transport of the MCP SDK to one tool server, over a child process or over HTTP. */
export interface ServerTransport extends Transport {
  /** Resolves when nothing of the connection is left; the value is the reason, a clause such as "it ended with exit code 1". */
  ended: Promise<string>
  /** It sends headers with messages. */
  takesHeaders?: true
  /** Sends a message, over HTTP with further headers. */
  send(message: JSONRPCMessage, options?: TransportSendOptions & { headers?: Record<string, string> }): Promise<void>
  /** Ends the connection at once. The first reason given is the one reported. */
  stop(why: string): void
}

const KEPT_CHARACTERS = 8 * 1024

export type StderrTail = ReturnType<typeof createStderrTail>

/** Keeps the last 8 Ki characters that a server wrote outside the protocol, for diagnosis by a person. */
export function createStderrTail () {
  let text = ''
  /** Characters that were written since the mark. */
  let since = 0
  return {
    add (more: string): void {
      since += more.length
      text = (text + more.slice(-KEPT_CHARACTERS)).slice(-KEPT_CHARACTERS)
    },
    text: (): string => text,
    /** Marks the present end: what is written before an answer is no reason for an end after it. */
    mark (): void {
      since = 0
    },
    /** What is kept of what was written since the mark. */
    sinceMark: (): string => since === 0 ? '' : text.slice(-since)
  }
}

/** A message did not leave: the server cannot have seen it. */
export class NotSent extends Error {}

/** The server cannot be reached: the message is a clause, such as "it cannot be reached: nothing answers there". */
export class Unreachable extends Error {
  /** Nothing took the connection, so that nothing was sent. */
  readonly isUnsent: boolean
  constructor (message: string, isUnsent = false) {
    super(message)
    this.isUnsent = isUnsent
  }
}
