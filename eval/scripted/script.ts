import { startFakeGateway, type GatewayRequest, type Plan } from '../../test/fakes/gateway.ts'
import type { Goal } from '../goal.ts'

/** The answers of a model that reaches a goal or misses it. */
export interface Script {
  /** The model's answers to each message of the user, call by call. The last answer is repeated for further calls. */
  turns: Plan[][]
  /** The model's answers to structured calls, by the name of the format. */
  objects?: Record<string, object>
}

/** A script that reaches the goal, and scripts that do not, each by its mistake. */
export interface Scripts {
  good: Script
  bad: Record<string, Script>
}

export const call = (toolName: string, input: object): Plan => ({ toolCalls: [{ toolName, input }] })
export const calls = (...each: Array<[toolName: string, input: object]>): Plan =>
  ({ toolCalls: each.map(([toolName, input]) => ({ toolName, input })) })
export const say = (text: string): Plan => ({ text })
export const write = (path: string, content: string): Plan => call('writeFile', { path, content })
/** Returns a script for one message of the user. */
export const once = (...plans: Plan[]): Script => ({ turns: [plans] })

/** Returns a script that claims to be done without any work. */
export const lazy = ({ says = [] }: Goal): Script => ({ turns: says.map(() => [say('Done.')]) })

const ANALYSIS = { complexity: 'standard', timeWords: '', thinking: '' }

/** Starts a gateway whose model follows a script. */
export async function startScripted (goal: Goal, { turns, objects = {} }: Script) {
  const texts = (goal.says ?? []).map((turn) => typeof turn === 'string' ? turn : turn.anew)
  if (goal.replies) texts.push(goal.replies.say)

  function reply ({ structured, body: { prompt } }: GatewayRequest): Plan | undefined {
    if (structured === 'analysis') return { object: objects.analysis ?? ANALYSIS }
    if (structured !== undefined) return objects[structured] && { object: objects[structured] }
    const { turn, site, begin } = placeIn(prompt, texts)
    const plans = turns[turn] ?? []
    const step = prompt.slice(begin + 1).filter(({ role }: { role: string }) => role === 'assistant').length
    const plan = plans[Math.min(step, plans.length - 1)] ?? say('Done.')
    return JSON.parse(JSON.stringify(plan).replaceAll('{site}', site))
  }
  return startFakeGateway({ reply, apiKey: 'scripted' })
}

/** Finds the goal's newest user message in a prompt, and the address of the site, which is part of that message. */
function placeIn (prompt: any[], texts: string[]): { turn: number, site: string, begin: number } {
  for (let begin = prompt.length - 1; begin >= 0; begin--) {
    if (prompt[begin].role !== 'user') continue
    const said = JSON.stringify(prompt[begin].content)
    const turn = texts.findLastIndex((text) => said.includes(JSON.stringify(text.split('{site}')[0]).slice(1, -1)))
    if (turn !== -1) return { turn, begin, site: /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0] ?? '' }
  }
  return { turn: 0, begin: 0, site: '' }
}
