import type { AvailableCommand, ContentBlock } from '@agentclientprotocol/sdk'
import { listPrompts, listSkills, type Agent, type Prompt, type RunBody } from '../client/index.ts'
import { COMMANDS } from './commands.ts'

/** A skill or a prompt of a tool server that a person can name in front of a message. */
interface Choice { command: AvailableCommand, prompt?: Prompt, skill?: string }

/** The fields of a request for a chosen command, and the blocks of the message without it. */
export type Chosen = Pick<RunBody, 'prompt' | 'skill'> & { blocks: ContentBlock[] }

/** Lists the commands of a session: its own, the skills for its folder, and the prompts of the tool servers. */
export async function commandsFor (agent: Agent, cwd: string): Promise<AvailableCommand[]> {
  return [...COMMANDS, ...(await choicesFor(agent, cwd)).map(({ command }) => command)]
}

/**
 * Returns what a prompt that begins with the name of a skill or of a server's prompt asks for; undefined for another one, and a sentence
 * for the user when the prompt lacks arguments.
 */
export async function chosenIn (agent: Agent, cwd: string, blocks: readonly ContentBlock[]): Promise<Chosen | string | undefined> {
  const [first, ...others] = blocks
  const [, name, rest] = first?.type === 'text' ? /^\s*\/(\S+)(?:\s+(.*?))?\s*$/s.exec(first.text) ?? [] : []
  if (name === undefined) return undefined
  const choice = (await choicesFor(agent, cwd)).find(({ command }) => command.name === name)
  if (choice === undefined) return undefined
  const { prompt, skill } = choice
  if (prompt === undefined) return { skill, blocks: rest === undefined ? others : [{ type: 'text', text: rest }, ...others] }
  const given = argumentsIn(rest ?? '', prompt.arguments.map((argument) => argument.name))
  const missing = prompt.arguments.filter((argument) => argument.required === true && given[argument.name] === undefined)
  if (missing.length > 0) {
    return `/${name} needs ${missing.map((argument) => argument.name).join(', ')}. Write it behind the name: \`/${name} ${hintOf(prompt)}\``
  }
  return { prompt: { server: prompt.server, name: prompt.name, arguments: given }, blocks: others }
}

async function choicesFor (agent: Agent, cwd: string): Promise<Choice[]> {
  const { client } = agent
  const [skills, prompts] = await Promise.all([
    listSkills({ client, query: { cwd }, throwOnError: true }),
    listPrompts({ client, throwOnError: true })
  ])
  return [
    ...skills.data.skills.filter(({ state }) => state !== 'refused' && state !== 'hidden').map(({ name, description = '' }): Choice => ({
      skill: name,
      command: {
        name: COMMANDS.some((command) => command.name === name) ? `skill:${name}` : name,
        description,
        input: { hint: 'what it is used for' }
      }
    })),
    ...prompts.data.prompts.map((prompt): Choice => ({
      prompt,
      command: {
        name: `${prompt.server}:${prompt.name}`,
        description: prompt.description ?? prompt.title ?? '',
        ...prompt.arguments.length > 0 && { input: { hint: hintOf(prompt) } }
      }
    }))
  ]
}

/** Returns how the arguments of a prompt are written: one as it is, several with their names. */
function hintOf ({ arguments: declared }: Prompt): string {
  if (declared.length === 1) return declared[0].name
  return declared.map(({ name, required }) => required === true ? `${name}="…"` : `[${name}="…"]`).join(' ')
}

/**
 * Reads the arguments of a prompt: the whole text for the only one; else `name=value` or `name="a value"`, or, where no name stands,
 * words in the order of the arguments, the last of which takes all that is left.
 */
function argumentsIn (text: string, names: readonly string[]): Record<string, string> {
  if (text === '' || names.length === 0) return {}
  if (names.length === 1) return { [names[0]]: text }
  const words = [...text.matchAll(/(?:([^\s="]+)=)?(?:"((?:[^"\\]|\\.)*)"|(\S+))/gs)].map(([, name, quoted, plain]) =>
    ({ name, value: quoted?.replace(/\\(.)/gs, '$1') ?? plain }))
  if (words.some(({ name }) => names.includes(name))) {
    return Object.fromEntries(words.flatMap(({ name, value }) => names.includes(name) ? [[name, value]] : []))
  }
  const values = words.map(({ name, value }) => name === undefined ? value : `${name}=${value}`)
  const last = names.length - 1
  return Object.fromEntries(names.flatMap((name, at) =>
    at >= values.length ? [] : [[name, at === last ? values.slice(at).join(' ') : values[at]]]))
}
