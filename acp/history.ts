import type { ContentBlock, SessionUpdate } from '@agentclientprotocol/sdk'
import { getAttachment, type Agent, type AgentPlan } from '../client/index.ts'
import { dataIn } from './prompt-parts.ts'
import { locationsOf, outputContent, textContent } from './tool-facts.ts'
import { planUpdate, textUpdate, thought, type Send, type Updates } from './updates.ts'

/** A message of `GET /threads/:id?protocol=ui`. */
interface StoredMessage {
  id?: string
  role: string
  parts?: unknown
}
type Part = Record<string, any> & { type: string }

/** Sends the stored messages of a thread to the editor, as if they had just been streamed. */
export async function showHistory (
  { agent, send, updates, cwd }: { agent: Agent, send: Send, updates: Updates, cwd: string },
  messages: readonly StoredMessage[]
): Promise<void> {
  for (const { role, parts } of messages) {
    for (const part of (Array.isArray(parts) ? parts : []) as Part[]) {
      if (role === 'user') await showUserPart(part)
      else if (role === 'assistant') await showPart(part)
    }
  }

  async function showUserPart (part: Part) {
    if (part.type === 'text') return send(userChunk({ type: 'text', text: part.text }))
    if (part.type === 'file') return send(userChunk(await fileBlock(agent, part)))
    return undefined
  }

  async function showPart (part: Part) {
    switch (part.type) {
      case 'text':
        return send(textUpdate(part.text))
      case 'reasoning':
        return send(thought(part.text))
      case 'data-steer':
        return send(userChunk({ type: 'text', text: part.data.text }))
      case 'data-revision':
        return send(textUpdate(`\n\n${part.data.text}`))
      case 'data-plan':
        return send(planUpdate(part.data as AgentPlan))
      default:
        return part.type === 'dynamic-tool' || part.type.startsWith('tool-') ? showCall(part) : undefined
    }
  }

  async function showCall ({ type, toolCallId, toolName = type.slice('tool-'.length), state, input, output, errorText, approval }: Part) {
    await updates.call(toolCallId, toolName, {
      rawInput: input,
      locations: locationsOf(input, cwd),
      status: ['input-available', 'approval-responded'].includes(state) ? 'in_progress' : 'pending'
    })
    if (state === 'output-available') {
      await updates.end(toolCallId, { status: 'completed', rawOutput: output, content: outputContent(output, cwd) })
    } else if (state === 'output-error' || state === 'output-denied') {
      const text = errorText ?? approval?.reason ?? 'It was not allowed.'
      await updates.end(toolCallId, { status: 'failed', content: [textContent(text)] })
    }
  }
}

const userChunk = (content: ContentBlock): SessionUpdate => ({ sessionUpdate: 'user_message_chunk', content })

/** Returns an image with its bytes, and any other file as a link. */
async function fileBlock ({ client }: Agent, { url, mediaType, filename }: Part): Promise<ContentBlock> {
  const link: ContentBlock = { type: 'resource_link', uri: url, name: filename ?? url, mimeType: mediaType }
  const isImage = String(mediaType).startsWith('image/')
  if (isImage && url.startsWith('data:')) return { type: 'image', data: dataIn(url).content.toString('base64'), mimeType: mediaType }
  const digest = /^attachment:([0-9a-f]+)/.exec(url)?.[1]
  if (digest === undefined || !isImage) return link
  const { data } = await getAttachment({ client, path: { digest }, parseAs: 'arrayBuffer', throwOnError: false })
  if (!(data as unknown instanceof ArrayBuffer)) return link
  return { type: 'image', data: Buffer.from(data as unknown as ArrayBuffer).toString('base64'), mimeType: mediaType }
}
