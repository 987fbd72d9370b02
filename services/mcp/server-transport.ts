import type { Transport, TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'

/** The reason of a connection that this service has closed. */
export const DISCONNECTED = 'it was disconnected'

/** A transport of the MCP SDK to one tool server, over a child process or over HTTP. */
export interface ServerTransport extends Transport {
  /** Resolves when the connection has ended completely. The value is the reason, a clause such as "it ended with exit code 1". */
  ended: Promise<string>
  /** True if it can send headers with messages. */
  takesHeaders?: true
  /** Sends a message, over HTTP with further headers. */
  send(message: JSONRPCMessage, options?: TransportSendOptions & { headers?: Record<string, string> }): Promise<void>
  /** Ends the connection at once. The first reason given is the one reported. */
  stop(why: string): void
}

const KEPT_CHARACTERS = 8 * 1024

export type StderrTail = ReturnType<typeof createStderrTail>

/** Keeps the last 8 Ki characters that a server wrote outside of the protocol, so that a person can diagnose a failure. */
export function createStderrTail () {
  let text = ''
  /** The number of characters written since the mark. */
  let since = 0
  return {
    add (more: string): void {
      since += more.length
      text = (text + more.slice(-KEPT_CHARACTERS)).slice(-KEPT_CHARACTERS)
    },
    text: (): string => text,
    /** Marks the present end: text that was written before an answer is no reason for an end after it. */
    mark (): void {
      since = 0
    },
    /** Returns the kept text since the mark. */
    sinceMark: (): string => since === 0 ? '' : text.slice(-since)
  }
}

/** A message was not sent, so the server cannot have seen it. */
export class NotSent extends Error {}

/** The server cannot be reached: the message is a clause, such as "it cannot be reached: nothing answers there". */
export class Unreachable extends Error {
  /** True if there was no connection, so that nothing was sent. */
  readonly isUnsent: boolean
  constructor (message: string, isUnsent = false) {
    super(message)
    this.isUnsent = isUnsent
  }
}
