import type { RunEvent } from '../../contracts/run-events.ts'
import type { WorkFolder } from '../../contracts/tool.ts'
import type { Owner, ToolItem } from '../../contracts/approval-record.ts'
import type { GrantTools } from './grant-facts.ts'
import type { Grants } from './grants.ts'
import type { Grant } from '../../contracts/grant-record.ts'
import { pathOf } from './file-place.ts'
import { mayHaveWritten } from './written-folders.ts'

export type CallGrants = ReturnType<typeof createCallGrants>

interface NamedCall {
  toolName: string
  input: unknown
}

const INPUT_SHOWN = 500
const shown = (value: unknown) => JSON.stringify(value).slice(0, INPUT_SHOWN)

/** The grants of the conversation or task of one run, for the calls of its steps. */
export function createCallGrants ({ grants, owner, tools, events, usesLearned = false }: {
  grants: Grants,
  owner: Owner,
  /** The tools of the run. */
  tools: GrantTools,
  /** The events of the run so far, with the intents of granted calls. */
  events: () => readonly RunEvent[],
  /** Whether grants hold that approved runs have taught. */
  usesLearned?: boolean
}) {
  /** What a person gave for one command does not hold for what the run wrote since. What approved runs taught does. */
  const holds = (grant: Grant, folder: WorkFolder) =>
    grant.source === 'approved_runs' ? usesLearned : !grants.isCommand(grant) || !mayHaveWritten(folder.path, events(), tools.find)

  /** Returns a sentence for the user about what differs from the approved runs; undefined while what they taught does not hold. */
  async function difference ({ toolName, input }: NamedCall): Promise<string | undefined> {
    if (!usesLearned) return undefined
    const alike = (await grants.all(owner)).filter((grant) => grant.source === 'approved_runs' && grant.toolName === toolName)
    const approved = alike.map(({ text }) => text).slice(-3).join('; ')
    return alike.length === 0
      ? `Approved runs did not use ${toolName}.`
      : `Approved runs used ${approved}. This call is another one: ${shown(input)}.`
  }

  return {
    /** Returns a grant that covers the call in this folder, and the real paths of the files that it covers. */
    async covering (call: NamedCall, folder: WorkFolder): Promise<{ grant: Grant, paths?: string[] } | undefined> {
      const facts = await grants.facts(call, folder, tools)
      const grant = await grants.covering(owner, facts, (grant) => holds(grant, folder))
      return grant && { grant, ...(facts.places && { paths: facts.places.map(pathOf) }) }
    },

    /** Returns what the request for approval of a call offers and says. */
    async offer (call: NamedCall, folder: WorkFolder): Promise<Pick<ToolItem, 'scopes' | 'places'> & { reason?: string }> {
      const facts = await grants.facts(call, folder, tools)
      const reason = await difference(call)
      return { scopes: grants.scopes(facts, tools), ...(facts.places && { places: facts.places }), ...(reason !== undefined && { reason }) }
    },

    use: grants.use
  }
}
