import type { AvailableCommand, ContentBlock } from '@agentclientprotocol/sdk'
import { listPrompts, listSkills, type Agent, type Prompt, type RunBody } from '../client/index.ts'
import { COMMANDS } from './commands.ts'

/** A slash command for a skill or for a prompt of a tool server. */
interface Choice { command: AvailableCommand, prompt?: Prompt, skill?: string }

/** The request fields of the chosen skill or prompt, and the blocks of the message without the slash command. */
type Chosen = Pick<RunBody, 'prompt' | 'skill'> & { blocks: ContentBlock[] }

/**
 * Lists the slash commands of a session: `/continue`, `/undo` and `/apply`, the skills for its folder, and the prompts of the tool servers.
 */
export async function commandsFor (agent: Agent, cwd: string): Promise<AvailableCommand[]> {
  return [...COMMANDS, ...(await choicesFor(agent, cwd)).map(({ command }) => command)]
}

/**
 * Returns the skill or server prompt that a message chooses with a slash command; undefined if the message chooses none. Returns a sentence
 * for the user if required arguments are missing.
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

/**
 * Returns the hint for the arguments of a prompt: only the name for a single argument, `name="…"` for each of several, optional ones in
 * brackets.
 */
function hintOf ({ arguments: declared }: Prompt): string {
  if (declared.length === 1) return declared[0].name
  return declared.map(({ name, required }) => required === true ? `${name}="…"` : `[${name}="…"]`).join(' ')
}

/**
 * Parses the arguments of a prompt. A single argument takes the whole text. Several arguments are given as `name=value` or `name="a
 * value"`. Text without such names is split into words, which fill the arguments in order; the last argument takes the rest.
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
