import { isSourceTool, type Permission, type SourceTool, type Tool } from '../contracts/tool.ts'
import type { SandboxMode } from '../contracts/boundary.ts'
import { toolNames } from './deferred/defer-tools.ts'
import { createValidator, type Validation, withDefaults } from './input-validator.ts'
import { mendInput } from './mend-input.ts'
import { createPermissions, type Permissions } from './permissions.ts'
import type { createMergedTools, MergedTool } from './sources.ts'

/** The additions and limits that a run makes to the tools of the host. */
export interface RunTools {
  /** The tools of the run's application. They replace all tools whose name differs at most in case. */
  ofApp?: readonly SourceTool[]
  /** A tool of the run itself, which no permission, option or skill can remove. */
  ofRun?: Tool
  /** Returns true if the options of the run include a tool. */
  isLeft?(tool: Tool & Partial<MergedTool>): boolean
  /** Returns a text for the model that says why the run is not allowed to make a valid call now; undefined if it is. */
  refusal?(tool: Tool & Partial<MergedTool>, input: unknown): string | undefined
  /** Which commands of the run are run in a box (a sandbox). */
  sandbox?: SandboxMode
}

interface Parts {
  builtin: ReadonlyMap<string, Tool>
  merged: ReturnType<typeof createMergedTools>
  permissions: () => Permissions
  /** Returns a sentence that says why a tool cannot be used on this computer; undefined if it can. */
  unavailable: (tool: Tool) => string | undefined
}

/** Folds a tool name, because names that differ only in case look alike to users and models. */
export const folded = (name: string): string => name.toLowerCase()

/** Creates the function that returns the tools of a run, with their permissions and the validation of their inputs. */
export function createRunTools ({ builtin, merged, permissions, unavailable }: Parts) {
  const decide = createPermissions(permissions)
  const findMistake = createValidator()

  /** Checks an input against the schema of its tool. Fills in defaults, and corrects the input if that makes it valid. */
  function fit (tool: Tool, input: unknown): Validation {
    const filled = isSourceTool(tool) && tool.checksInput ? withDefaults(tool.model.schema, input) : input
    const error = findMistake(tool, filled)
    if (error === undefined) return { ok: true, input: filled }
    // A property's default can violate the property's own schema.
    if (filled !== input && findMistake(tool, input) === undefined) return { ok: true, input }
    const mended = mendInput(tool.model.schema, filled)
    if (mended === filled || findMistake(tool, mended) !== undefined) return { ok: false, error }
    return { ok: true, input: mended, isMended: true }
  }

  return ({ ofApp = [], ofRun, isLeft = () => true, refusal }: RunTools) => {
    const own = [...ofRun === undefined ? [] : [ofRun], ...ofApp]
    const replaced = new Set(own.map(({ model: { name } }) => folded(name)))
    const findOwn = (name: string) => own.find(({ model }) => model.name === name)
    /** Returns a tool by its name, even if it cannot be called now. */
    const known = (name: string): (Tool & Partial<MergedTool>) | undefined => findOwn(name) ?? builtin.get(name) ?? merged.find(name)
    const find = (name: string): Tool | undefined =>
      findOwn(name) ?? builtin.get(name) ?? (merged.mayBeCalled(name) ? merged.find(name) : undefined)
    const permission = (name: string): Permission => name === ofRun?.model.name ? 'allow' : decide(name, known(name))
    const isOffered = (tool: Tool) => tool === ofRun || (permission(tool.model.name) !== 'deny' && isLeft(tool))
    const ofHost = () => [...builtin.values(), ...merged.all()].filter(({ model: { name } }) => !replaced.has(folded(name)))
    /** Returns the tools that can be offered. services/runs/engine/told-tools.ts decides which of them are described to the model. */
    const offered = (): Tool[] =>
      [...ofHost(), ...ofApp, ...ofRun === undefined ? [] : [ofRun]]
        .filter((tool) => tool.model.use !== 'finder' && isOffered(tool) && unavailable(tool) === undefined)

    return {
      known,
      find,
      permission,
      offered,
      finders: (): Tool[] => ofHost().filter((tool) => tool.model.use === 'finder' && isOffered(tool)),

      /** True if a pattern in config.permissions allows the tool, and not just the tool's own default. */
      isAllowedByUser: (name: string): boolean =>
        decide(name, { policy: { effect: 'external' }, qualified: known(name)?.qualified }) === 'allow',

      /** Returns the identity that an approval is bound to, see `ToolCall.identity`; undefined for built-in tools. */
      identity (name: string): string | undefined {
        const tool = known(name)
        return tool !== undefined && isSourceTool(tool) ? tool.identity : undefined
      },

      /** Returns the input that a call of the run gets, or a text for the model that says why the run cannot make the call. */
      validate (name: string, input: unknown): Validation {
        const tool = find(name)
        if (tool !== undefined && !isLeft(tool) && tool !== ofRun) {
          const names = toolNames(offered()) || 'none'
          return { ok: false, error: `This run has no tool named ${JSON.stringify(name)}. Its tools are: ${names}.` }
        }
        const cause = findOwn(name) === undefined ? merged.causeOf(name) : undefined
        if (cause !== undefined) return { ok: false, error: `${name} cannot be called at the moment. ${cause}` }
        if (tool === undefined || permission(name) === 'deny') {
          const callable = offered().filter(({ execute }) => execute.by === undefined)
          return { ok: false, error: `There is no tool named ${JSON.stringify(name)}. The tools are: ${toolNames(callable)}.` }
        }
        const why = unavailable(tool)
        if (why !== undefined) return { ok: false, error: `${name} cannot be used here. ${why}` }
        const checked = fit(tool, input)
        const refused = checked.ok && tool !== ofRun ? refusal?.(tool, checked.input) : undefined
        return refused === undefined ? checked : { ok: false, error: refused }
      }
    }
  }
}
