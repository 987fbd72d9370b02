import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ContentBlock } from '@agentclientprotocol/sdk'
import type { Agent } from '../client/index.ts'

/** A part of a message of the user, in the AI SDK's ModelMessage format. */
export type PromptPart = { type: 'text', text: string } | { type: 'file', data: string, mediaType: string, filename?: string }

/**
 * Turns a prompt into the parts of a message. What the editor embeds, which are not the user's words, becomes an attachment of the
 * conversation; a link becomes the path by which tools find the file. Throws AgentError when the service refuses a file.
 */
export async function promptParts (agent: Agent, blocks: readonly ContentBlock[]): Promise<PromptPart[]> {
  const attach = async (file: Blob, name?: string): Promise<PromptPart> => {
    const { url, mediaType, filename } = await agent.attach(file, { name })
    return { type: 'file', data: url, mediaType, ...filename !== undefined && { filename } }
  }
  const parts: PromptPart[] = []
  const say = (text: string) => {
    const last = parts.at(-1)
    if (last?.type === 'text') last.text += text
    else parts.push({ type: 'text', text })
  }
  const files: PromptPart[] = []
  for (const block of blocks) {
    switch (block.type) {
      case 'text':
        say(block.text)
        break
      case 'resource_link':
        say(` ${pathOf(block.uri)} `)
        break
      case 'image':
      case 'audio':
        files.push(await attach(new Blob([Buffer.from(block.data, 'base64')], { type: block.mimeType })))
        break
      case 'resource': {
        const { resource } = block
        const content = 'text' in resource ? resource.text : Buffer.from(resource.blob, 'base64')
        const type = resource.mimeType ?? ('text' in resource ? 'text/plain' : 'application/octet-stream')
        const path = pathOf(resource.uri)
        say(` ${path} `)
        files.push(await attach(new Blob([content], { type }), basename(path)))
        break
      }
      default:
        // A newer kind of content, which this agent did not say that it takes.
    }
  }
  return [...parts, ...files]
}

/** Returns the path of a file, or the address as it is. */
function pathOf (uri: string): string {
  try {
    return uri.startsWith('file:') ? fileURLToPath(uri) : uri
  } catch {
    return uri
  }
}
