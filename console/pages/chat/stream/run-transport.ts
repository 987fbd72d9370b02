import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai'
import { AgentError } from '../../../../client/errors.ts'
import type { RunBody } from '../../../../client/generated/index.ts'
import { openStream, parse, readEvents } from '../../../../client/sse.ts'
import { agent } from '../../../lib/service.ts'
import { withoutChosen } from '../thread/chosen.ts'
import type { AskFate } from '../thread/use-replaced.ts'
import { frameStream } from './frame-stream.ts'
import { nextFrame } from './next-frame.ts'

/**
 * Sends a chat's messages to `POST /run` and reads its streams. A new message is sent alone, because the service has the others. An edited
 * message, or the request for another answer, is sent with all messages before it, which tell the service what stays. If replaced answers
 * have changed files, the user is first asked whether these changes are undone.
 */
export const createRunTransport = (askFate: AskFate): ChatTransport<UIMessage> => ({
  // A resumed stream holds the whole message from its beginning.
  resumeStreamIsReplay: true,

  async sendMessages ({ chatId, messages, trigger, messageId, body, abortSignal }) {
    const isContinued = body !== undefined && 'continue' in body
    const isNew = trigger === 'submit-message' && messageId === undefined
    const last = isContinued || messages.length === 0 ? undefined : withoutChosen(messages.at(-1)!)
    const all = () => ({
      messages: [...messages.slice(0, -1).map((message) => withoutChosen(message).message), ...last === undefined ? [] : [last.message]]
        .filter(({ parts }, at) => parts.length > 0 || (at === messages.length - 1 && isChosen)),
      messageId
    })
    const isChosen = last !== undefined && Object.keys(last.request).length > 0
    const said = isContinued ? {} : { ...isNew ? { message: last?.message } : all(), ...last?.request }
    const send = (changes: RunBody['changes']) =>
      openStream(agent().client, {
        method: 'POST',
        url: '/run',
        query: { protocol: 'ui' },
        body: { id: chatId, trigger, resumable: true, ...said, ...body, ...changes && { changes } },
        headers: { 'content-type': 'application/json' },
        signal: abortSignal
      })
    const stream = await send(isNew || isContinued ? undefined : 'ask').catch(async (error: unknown) => {
      if (!(error instanceof AgentError) || error.changes === undefined) throw error
      return send(await askFate(error.changes, abortSignal))
    })
    return frameStream(chunksOf(stream!, abortSignal), nextFrame)
  },

  async reconnectToStream ({ chatId, abortSignal }) {
    const url = `/run/${encodeURIComponent(chatId)}/stream`
    const stream = await openStream(agent().client, { method: 'GET', url, query: { protocol: 'ui' }, signal: abortSignal })
    return stream === undefined ? null : frameStream(chunksOf(stream, abortSignal), nextFrame)
  }
})

type Body = Parameters<typeof readEvents>[0]

async function * chunksOf (stream: Body, signal: AbortSignal | undefined): AsyncGenerator<UIMessageChunk> {
  for await (const { data } of readEvents(stream, signal)) {
    if (data === '[DONE]') return
    if (data !== undefined) yield parse<UIMessageChunk>(data)
  }
}
