import type { ChatInit, ChatState, UIMessage } from 'ai'
import type { App } from '../../app.ts'
import type { Version } from './versions.ts'

type Init = Pick<ChatInit<UIMessage>, 'id' | 'messages' | 'sendAutomaticallyWhen' | 'onToolCall'> & {
  path?: string,
  /** Further fields of each request. */
  body?: object,
  /** See `DefaultChatTransport`. */
  prepareSendMessagesRequest?: (request: { messages: UIMessage[], id: string }) => { body: object, api?: string }
}

async function originOf (app: App): Promise<string> {
  if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as { port: number }
  return `http://127.0.0.1:${port}`
}

/** The chat of one release of the AI SDK, as its framework packages build it, talking to a service (or the one at a URL) over a socket. */
export async function openChat (
  app: App | string,
  { release }: Version,
  { path = '/run', body, prepareSendMessagesRequest, messages = [], ...init }: Init = {}
) {
  const origin = typeof app === 'string' ? app : await originOf(app)
  const url = (to: string) => `${origin}${to}`
  const errors: Error[] = []
  let finished = Promise.withResolvers<void>()

  const state: ChatState<UIMessage> = {
    status: 'ready',
    error: undefined,
    messages,
    pushMessage: (message) => {
      state.messages = [...state.messages, message]
    },
    popMessage: () => {
      state.messages = state.messages.slice(0, -1)
    },
    replaceMessage: (at, message) => {
      state.messages = state.messages.with(at, structuredClone(message))
    },
    snapshot: structuredClone
  }
  class Chat extends release.AbstractChat<UIMessage> {}
  const chat = new Chat(
    {
      ...init,
      state,
      transport: new release.DefaultChatTransport({
        api: url(path),
        ...(body && { body }),
        ...(prepareSendMessagesRequest && {
          prepareSendMessagesRequest: (request: any) => {
            const { api, body } = prepareSendMessagesRequest(request)
            return { body, ...(api && { api: url(api) }) }
          }
        })
      }),
      onError: (error) => {
        errors.push(error)
      },
      onFinish: () => finished.resolve()
    } as ConstructorParameters<typeof Chat>[0]
  )

  return {
    chat,
    /** What the chat reported: chunks it could not read among it. */
    errors,
    say: (text: string) => chat.sendMessage({ text }),
    /** Does something that makes the chat send on its own, and waits for the end of that. */
    async andOn (act: () => PromiseLike<void> | void) {
      finished = Promise.withResolvers()
      await act()
      await finished.promise
      await new Promise(setImmediate)
    },
    /** The newest message. */
    get last () {
      return chat.messages.at(-1)!
    },
    /** What the user sees of it. */
    get parts (): any[] {
      return chat.messages.at(-1)!.parts
    },
    get text () {
      return chat.messages.at(-1)!.parts.map((part) => part.type === 'text' ? part.text : '').join('')
    },
    /** The parts of tool calls. */
    get calls (): any[] {
      return chat.messages.at(-1)!.parts.filter(({ type }) => type.startsWith('tool-'))
    }
  }
}

/** The approval ids a chat's message waits for. */
export const waiting = ({ calls }: { calls: any[] }): string[] =>
  calls.flatMap((part) => part.state === 'approval-requested' ? [part.approval.id] : [])
