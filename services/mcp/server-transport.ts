import type { Transport, TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'

/** The reason reported for a connection that this service has closed. */
export const DISCONNECTED = 'it was disconnected'

/** A transport of the MCP SDK to one tool server, through a child process or over HTTP. */
export interface ServerTransport extends Transport {
  /** Resolves when the connection has ended completely, to a clause that says why, such as "it ended with exit code 1". */
  ended: Promise<string>
  /** True if the transport can send headers with a message. */
  takesHeaders?: true
  /** Sends a message. A transport over HTTP adds `headers` to the request. */
  send(message: JSONRPCMessage, options?: TransportSendOptions & { headers?: Record<string, string> }): Promise<void>
  /** Ends the connection at once. If it is called several times, the first reason is reported. */
  stop(why: string): void
}

const KEPT_CHARACTERS = 8 * 1024

export type StderrTail = ReturnType<typeof createStderrTail>

/** Keeps the last 8192 characters that a server wrote outside of the protocol, so that a person can diagnose a failure. */
export function createStderrTail () {
  let text = ''
  /** The number of characters written since the last mark. */
  let since = 0
  return {
    add (more: string): void {
      since += more.length
      text = (text + more.slice(-KEPT_CHARACTERS)).slice(-KEPT_CHARACTERS)
    },
    text: (): string => text,
    /** Marks the present end of the output. Earlier text is not taken as the reason for a later end of the server. */
    mark (): void {
      since = 0
    },
    /** Returns the kept text that was written since the last mark. */
    sinceMark: (): string => since === 0 ? '' : text.slice(-since)
  }
}

/** Thrown if a message was not sent, so the server cannot have received it. */
export class NotSent extends Error {}

/** Thrown if the server cannot be reached. The message is a clause, such as "it cannot be reached: nothing answers there". */
export class Unreachable extends Error {
  /** True if there was no connection, so that nothing was sent. */
  readonly isUnsent: boolean
  constructor (message: string, isUnsent = false) {
    super(message)
    this.isUnsent = isUnsent
  }
}
