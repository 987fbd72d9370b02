import { dirname } from 'node:path'
import type { AskReason } from '../../../schemas/grants.ts'
import type { RunEvent } from '../../contracts/run-events.ts'
import {
  type FileChange,
  isSourceTool,
  type NamedCall,
  needsAny,
  type ShownPlace,
  type Tool,
  type WorkFolder
} from '../../contracts/tool.ts'
import { isOutcomeUnknown } from '../../contracts/model-texts.ts'
import { pathOf } from './file-place.ts'
import { within } from '../../tools/index.ts'
import type { Op } from '../../store/index.ts'
import type { Owner, ToolItem } from '../../contracts/approval-record.ts'
import type { GrantTools } from './grant-facts.ts'
import { covers, scopeText } from './grant-facts.ts'
import type { Grants } from './grants.ts'
import { type Found, meetsPlaces } from './learned.ts'
import { othersAmong } from './made-files.ts'
import type { CallFacts, Grant } from '../../contracts/grant-record.ts'

const cautionOf = (tool: Tool | undefined) => tool && isSourceTool(tool) ? tool.caution : undefined

type Find = (name: string) => Pick<Tool, 'policy' | 'effects'> | undefined

/**
 * Whether a run has written, or might have written, in the folder or below it: a tool reported a change there; or a tool ran that can
 * change files without reporting it, such as a command; or a call was interrupted. Calls that a grant covered count only by the changes
 * that they reported.
 */
export function mayHaveWritten (folder: string, events: readonly RunEvent[], find: Find): boolean {
  const granted = new Set<string>()
  for (const event of events) if (event.type === 'tool-intent' && event.grantId !== undefined) granted.add(event.toolCallId)
  return events.some((event) => {
    if (event.type !== 'tool-output' && event.type !== 'tool-error') return false
    if (event.type === 'tool-error' && isOutcomeUnknown(event.errorText) && find(event.toolName)?.policy.effect !== 'read') return true
    if (event.changes?.some(({ path }) => within(dirname(path), folder))) return true
    return !granted.has(event.toolCallId) && mayWriteUnreported(find(event.toolName))
  })
}

/** Whether a tool can change files without reporting it; a tool that does not exist any more might have done so. */
function mayWriteUnreported (tool: ReturnType<Find>): boolean {
  if (tool === undefined) return true
  return tool.policy.effect !== 'read' && tool.effects?.files === undefined && !needsAny(tool, 'userWords')
}

/** `shown` is what is at the paths of a call. `others` are the paths with files of others; undefined in a conversation. */
type Seen = Pick<ToolItem, 'shown' | 'others'>

export type CallGrants = ReturnType<typeof createCallGrants>

/**
 * A grant that covers a call. `folder` is the folder that the call works in, `paths` are the real paths of the files that it changes,
 * `shown` is what must be at these paths, and `confinedTo` is the working folder of the call's box.
 */
export interface Granted {
  grant: Grant
  folder: WorkFolder
  paths?: string[]
  shown?: readonly ShownPlace[]
  confinedTo?: WorkFolder
}

/** A reason to ask a person before a call runs, in words for that person. */
export interface Concern {
  policy: AskReason['policy']
  reason: string
  /** The reason concerns this particular call, not its tool. */
  isOfCall?: true
  /** For a concern about an address: the ids of the calls that brought in private data and texts of others. */
  because?: string[]
}

/** Whether the run of a task uses learned grants, and whether it can add to them. */
export interface Learning {
  /** Whether grants that approved runs have taught are used. */
  isUsed?: boolean
  /** Whether the approval of this run would teach something. */
  teaches?: boolean
}

const INPUT_SHOWN = 500
const shown = (value: unknown) => JSON.stringify(value).slice(0, INPUT_SHOWN)

/** The most learned grants that the request for another call mentions. */
const MOST_NAMED = 2
/**
 * Describes a learned grant without the conditions about its paths, because they were not the reason to ask. `does` is what the tool does,
 * in words.
 */
const usedText = ({ text, input, ...grant }: Grant, does: string): string =>
  input === undefined ? text : scopeText(grant.scope, { ...grant, does, input })

const MIB = 1024 * 1024
const uncopiedText = (size: number) =>
  `It deletes a file of ${Math.round(size / MIB)} MiB, which is too large for a copy to be kept: this cannot be undone.`

const restingText = (path: string) =>
  `The grant for this command rests: ${JSON.stringify(path)} was written unasked since it was given. ` +
  'If you approve the command, the grant holds again.'

/** The grants of the conversation or task of one run, for the calls of its steps. */
export function createCallGrants ({ grants, owner, cwd, tools, events, learning = {}, look }: {
  grants: Grants,
  owner: Owner,
  /** The working folder of the run. */
  cwd: string,
  /** The tools of the run. */
  tools: GrantTools,
  /** The events of the run so far, including the intents of granted calls (the records that their tools were about to start). */
  events: () => readonly RunEvent[],
  /** For runs of tasks: whether learned grants are used, and whether this run can teach new ones. */
  learning?: Learning
  /** Returns what is at the paths that a call would change; undefined if these are not known for its tool. */
  look: (call: NamedCall, folder: WorkFolder) => Promise<ShownPlace[] | undefined>
}) {
  const { isUsed: usesLearned = false, teaches = false } = learning

  /**
   * Whether a grant applies to a call. A person's grant for a command outside a box (a sandbox) does not apply if the run might have
   * written files in the folder since: the command could execute them. A learned grant applies to such a call, too.
   */
  const holds = (grant: Grant, folder: WorkFolder) => {
    if (grant.source === 'approved_runs') return usesLearned
    return grant.isConfined || !grants.isCommand(grant) || !mayHaveWritten(folder.path, events(), tools.find)
  }

  /** Returns the paths with something that the task did not make or that others have changed since; undefined in a conversation. */
  const othersOf = async (shown: readonly ShownPlace[]): Promise<string[] | undefined> =>
    owner.taskId === undefined ? undefined : othersAmong(shown, await grants.made.of(owner.taskId))

  async function find (call: NamedCall, folder: WorkFolder): Promise<Found | undefined> {
    const shown = usesLearned ? await look(call, folder) : undefined
    return shown && { shown, others: await othersOf(shown) ?? [] }
  }

  /** Returns what the approval of a call would teach the task, and the paths with files of others; an empty object in a conversation. */
  async function lessons (facts: CallFacts, seen: Seen): Promise<Pick<ToolItem, 'others' | 'teaches'>> {
    const { others } = seen
    if (!teaches || others === undefined || facts.uncopied !== undefined) return {}
    const texts = await grants.teaching(owner, facts, seen)
    return { others, ...(texts.length > 0 && { teaches: texts }) }
  }

  /** Returns a sentence for the user about how the call differs from those of approved runs; undefined if learned grants are not used. */
  async function difference ({ toolName, input }: NamedCall, facts: CallFacts, others: string[] = []): Promise<string | undefined> {
    if (!usesLearned) return undefined
    const alike = (await grants.all(owner)).filter((grant) => grant.source === 'approved_runs' && grant.toolName === toolName)
    if (others.length > 0 && alike.some((grant) => covers(grant, facts))) {
      const paths = others.map((path) => JSON.stringify(path)).join(' and ')
      return `${paths} was not made by this task, or was changed since it wrote it.`
    }
    if (alike.length === 0) return `Approved runs did not ${facts.does}.`
    const used = alike.slice(-MOST_NAMED).map((grant) => usedText(grant, facts.does)).join('; ')
    const more = alike.length > MOST_NAMED ? `, and ${alike.length - MOST_NAMED} more` : ''
    return `What approved runs did: ${used}${more}. This call is another one: ${shown(input)}.`
  }

  return {
    /** Returns a grant that covers the call in this folder; undefined if there is none. */
    async covering (call: NamedCall, folder: WorkFolder): Promise<Granted | undefined> {
      const facts = await grants.facts(call, { folder, cwd }, tools)
      const found = await find(call, folder)
      const isFit = (grant: Grant) => grant.source !== 'approved_runs' || meetsPlaces(grant, found)
      const grant = await grants.covering(owner, facts, (grant) => holds(grant, folder) && isFit(grant))
      if (grant === undefined) return undefined
      const shown = grant.source === 'approved_runs' ? found?.shown : undefined
      const { places, boundary } = facts
      const confinedTo = grant.isConfined && boundary?.is === 'confined' ? boundary.folder : undefined
      const paths = places?.map(pathOf) ?? shown?.map(({ path }) => path)
      return { grant, folder, paths, shown, confinedTo }
    },

    othersOf,

    /**
     * Returns fields of the approval request for a call: the scopes that it offers, the note for the person, and what an approval teaches
     * the task. `seen` is what is at the paths of the call. Without `seen`, for a line of a sheet, the fields about learned grants are left
     * out.
     */
    async describe (
      call: NamedCall,
      folder: WorkFolder,
      reasons: readonly Concern[],
      seen?: Seen
    ): Promise<Pick<ToolItem, 'scopes' | 'places' | 'because' | 'boundary' | 'note' | 'others' | 'teaches'>> {
      const facts = await grants.facts(call, { folder, cwd }, tools)
      const question = reasons.find(({ isOfCall }) => isOfCall)
      const resting = await grants.restingFor(owner, facts)
      const caution = cautionOf(tools.find(call.toolName))
      return {
        scopes: grants.scopes(facts, tools, question?.because !== undefined),
        places: facts.places,
        boundary: facts.boundary,
        because: question?.because,
        note: question?.reason ?? (resting && restingText(resting)) ?? (facts.uncopied === undefined
          ? caution ?? (seen && await difference(call, facts, seen.others))
          : uncopiedText(facts.uncopied)),
        ...seen && await lessons(facts, seen)
      }
    },

    /** Returns the operations that record the files that a task made with a call; none in a conversation. */
    made: async ({ toolName }: Pick<NamedCall, 'toolName'>, changes: readonly FileChange[] | undefined): Promise<Op[]> =>
      owner.taskId === undefined || changes === undefined || tools.find(toolName)?.effects?.files === undefined
        ? []
        : grants.made.changed(owner.taskId, changes),

    /** Whether a grant covers calls of the tool to the host. */
    coversHost: async (toolName: string, host: string): Promise<boolean> =>
      (await grants.all(owner)).some((grant) => grant.toolName === toolName && grant.scope === 'host' && grant.hosts?.includes(host)),

    suspend: grants.suspend
  }
}
