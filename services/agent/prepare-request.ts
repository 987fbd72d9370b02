import type { RunBody } from '../../schemas/agent.ts'
import { takeFiles, type Attachments } from '../attachments/index.ts'
import { defineError } from '../lib/service-error.ts'
import { withRunModels } from '../models/index.ts'
import { dropTries, type RawMessage, type ThreadMessage } from '../threads/index.ts'
import type { AgentDeps } from './agent-deps.ts'
import { threadOptions } from './run-settings.ts'
import type { LanguageModelV4FilePart, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { digestIn } from '../contracts/attached-file.ts'

/**
 * Stores the files in the messages of a request as attachments. Returns the request with references in place of the bytes, and a function
 * that releases the attachments. Files of the new message that the model cannot get in any form are refused before anything is stored.
 * Throws what `takeFiles` and `checkFiles` throw.
 */
export async function takeAttachments (
  body: RunBody,
  { attachments, store, registry, agents, threads }: AgentDeps
): Promise<{ body: RunBody, release: () => void }> {
  const given: RawMessage[] = body.messages ?? (body.message === undefined ? [] : [body.message])
  const { messages, release } = await takeFiles(given, { attachments, digest: store.digest }, {
    thread: body.id,
    nameOf: (n) => body.messages === undefined ? 'message' : `messages[${n}]`,
    isNew: (n) => n === given.length - 1 && given[n].role === 'user',
    async check (files) {
      const ofThread = body.id === undefined ? undefined : await threads.settings(body.id)
      const { options } = await agents.resolve([threadOptions(ofThread), body.options])
      await registry.requireFilesTaken(withRunModels({ registry }, options).registry.roles().capable, files)
    }
  })
  return { body: { ...body, ...body.messages === undefined ? body.message && { message: messages[0] } : { messages } }, release }
}

/** Fields of a request that a misspelt name must not disable, because a run without them does more than was asked for. */
const GUARDS = ['options', 'dryRun', 'changes', 'waiting']

/** Whether two names differ only in case and separators, or by one letter. */
function isNearly (name: string, other: string): boolean {
  const [one, two] = [name, other].map((each) => each.replace(/[\s_-]/g, '').toLowerCase())
  const length = Math.max(one.length, two.length)
  let same = 0
  while (same < length && one[same] === two[same]) same++
  let end = 0
  while (end < Math.min(one.length, two.length) - same && one.at(-1 - end) === two.at(-1 - end)) end++
  return length - same - end <= 1
}

const Misspelt = defineError('ERR_INVALID_REQUEST', 'The body has no field %j. Write %j.')

/**
 * Throws Misspelt (400) if a field of the request seems to be a misspelt guard. Other unknown fields are ignored, because chats send
 * their own.
 */
export function assertSpelling (body: object): void {
  for (const name of Object.keys(body)) {
    const meant = GUARDS.includes(name) ? undefined : GUARDS.find((guard) => isNearly(name, guard))
    if (meant !== undefined) throw new Misspelt(name, meant)
  }
}

/** True if a chat shows the message as the answer of a rehearsal. */
const isRehearsed = ({ role, metadata }: ThreadMessage): boolean =>
  role === 'assistant' && (metadata as { dryRun?: unknown } | undefined)?.dryRun === true

/**
 * Returns the messages without the answers of rehearsals and the user messages before these answers, because a rehearsal is no part of the
 * conversation.
 */
const happened = <M extends ThreadMessage>(messages: M[]): M[] =>
  messages.filter((message, at) => {
    const next = messages.at(at + 1)
    return !isRehearsed(message) && !(message.role === 'user' && next !== undefined && isRehearsed(next))
  })

/**
 * Returns the request without rehearsals, and without the text of tries of a step that broke off. Chats cannot remove either from their
 * messages.
 */
export const withoutDroppedTries = <B extends Pick<RunBody, 'messages' | 'message'>>({ messages, message, ...body }: B) => ({
  ...body,
  ...(messages && { messages: happened(messages).map(dropTries) }),
  ...(message && { message: dropTries(message) })
})

/** Returns the file parts of a prompt that name attachments, each with the digest of its attachment. */
export const attachedIn = (prompt: LanguageModelV4Prompt): Array<{ part: LanguageModelV4FilePart, digest: string }> =>
  prompt.flatMap(({ role, content }) =>
    role !== 'user' && role !== 'assistant'
      ? []
      : content.flatMap((part) => {
        const digest = part.type === 'file' && part.data.type === 'url' ? digestIn(part.data.url) : undefined
        return digest === undefined ? [] : [{ part: part as LanguageModelV4FilePart, digest }]
      })
  )

/** Adds the size of each attachment, in bytes, to the parts that name it, so that tokens can be estimated before the content is read. */
export async function noteSizes (prompt: LanguageModelV4Prompt, attachments: Pick<Attachments, 'find'>): Promise<void> {
  for (const { part, digest } of attachedIn(prompt)) {
    const found = await attachments.find(digest)
    if (found !== undefined) part.providerOptions = { ...part.providerOptions, agent: { bytes: found.bytes } }
  }
}
