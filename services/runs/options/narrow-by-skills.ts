import { resolve } from 'node:path'
import { PLAN_TOOL, READ_SKILL } from '../../contracts/model-texts.ts'
import type { RunEvent } from '../../contracts/run-events.ts'
import { type AllowedTool, type MergedTool, readAllowedTools, type ToolHost, within } from '../../tools/index.ts'
import { aboutOf, needsAny, type Tool } from '../../contracts/tool.ts'
import { matchesTool, namesOfTool } from './tool-patterns.ts'

/** A skill in use, with its `allowed-tools`. */
interface UsedSkill {
  name: string
  folder: string
  allowedTools: string[]
}

/** Whether the tool affects only the run itself or shows something to the user. Skills do not limit such tools. */
const isOfRun = (tool: Tool): boolean =>
  tool.execute.by === 'user' || tool.model.use === 'finder' || needsAny(tool, 'skills') || tool.model.name === PLAN_TOOL
/** The most characters of a list of tools in an error. */
const LIST_SHOWN = 500

/** Returns the skills with `allowed-tools` that a run has read and has not declared as done. */
function usedIn (events: readonly RunEvent[]): UsedSkill[] {
  const used = new Map<string, UsedSkill>()
  for (const event of events) {
    if (event.type !== 'tool-output' || event.toolName !== READ_SKILL) continue
    const { skill, folder, allowedTools, done } = event.output
    if (typeof skill !== 'string') continue
    if (done === true) used.delete(skill)
    else if (typeof folder === 'string' && Array.isArray(allowedTools)) used.set(skill, { name: skill, folder, allowedTools })
  }
  return [...used.values()]
}

/**
 * Returns the tool host for a run that can use skills with `allowed-tools`. While such skills are in use, only calls that all of them allow
 * are possible, among the tools that the run has anyway. Files of the skills themselves can always be read. A skill is in use from when it
 * is read until the run declares it done or ends. `events` returns the events of the run.
 */
export function narrowBySkills (host: ToolHost, events: () => readonly RunEvent[]): ToolHost {
  const parsed = new Map<string, AllowedTool[]>()
  const rulesOf = ({ allowedTools }: UsedSkill): AllowedTool[] => {
    const key = JSON.stringify(allowedTools)
    const rules = parsed.get(key) ?? readAllowedTools(allowedTools, host)
    parsed.set(key, rules)
    return rules
  }

  function refusal (tool: Tool & Partial<MergedTool>, input: unknown): string | undefined {
    const all = events()
    const used = usedIn(all)
    if (used.length === 0) return undefined
    const cwd = all.find((event) => event.type === 'context')?.context.cwd ?? '/'
    if (isOfRun(tool)) return undefined
    // Paths in a copy are shown as paths of the copied folder.
    const isOf = ({ folder }: UsedSkill, path: string) => within(host.shown(resolve(cwd, path)), folder)
    const target = aboutOf(tool, input)
    const others = used.filter((skill) => tool.effects?.source !== 'file' || target === undefined || !isOf(skill, target))
    return others.flatMap((skill) => refusedBy(skill, rulesOf(skill), tool, { input, cwd, target }) ?? [])[0]
  }

  return host.forRun({ refusal })
}

/** Returns the reason, for the model, why a skill does not allow a call; undefined if the skill allows the call. */
function refusedBy (
  { name, allowedTools }: UsedSkill,
  rules: readonly AllowedTool[],
  tool: Tool & Partial<MergedTool>,
  { input, cwd, target }: { input: unknown, cwd: string, target: string | undefined }
): string | undefined {
  const matching = rules.filter(({ tools }) => tools.some((entry) => matchesTool(entry, namesOfTool(tool))))
  const call = { input, cwd, target, sends: tool.effects?.addresses?.(input) }
  if (matching.some(({ covers }) => covers === undefined || covers(call))) return undefined
  const list = (allowedTools.join(', ') || 'none').slice(0, LIST_SHOWN)
  const what = matching.length === 0 ? `${tool.model.name} is not among them` : `none of them covers this call of ${tool.model.name}`
  return `The skill ${JSON.stringify(name)}, which is in use, allows only these tools: ${list}; ${what}. Do its work with them. ` +
    `For other work, call ${READ_SKILL} with this name and done: true first.`
}
