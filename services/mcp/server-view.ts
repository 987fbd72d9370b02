import { isSourceTool } from '../contracts/tool.ts'
import type { ToolServerDetail, ToolServerView } from '../../schemas/mcp.ts'
import type { Clock } from '../lib/clock.ts'
import { withDeadline } from '../lib/deadline.ts'
import type { RefusedTool } from '../models/index.ts'
import { schemaProblem, type ToolHost } from '../tools/index.ts'
import type { Acceptance } from './acceptance.ts'
import { leftOutBecause } from './config-entries.ts'
import { namesOf } from './entry-view.ts'
import type { ToolDefinition } from './tool-definitions.ts'
import type { ToolServer } from './tool-server.ts'

/** The time limit for listing resources or prompts, in milliseconds. A list that does not arrive in time is shown as empty. */
const LIST_MS = 5_000
const MAX_ENTRIES = 200
const LONGEST_TEXT = 1_000

/** Returns the summary of a server for GET /mcp/servers. `variables` are those that the server gets once the user has accepted it. */
export function viewServer (
  server: ToolServer,
  { agentNames, refused, variables }: {
    agentNames: ReadonlyMap<string, string>,
    refused: readonly RefusedTool[],
    variables: string[] | undefined
  }
): ToolServerView {
  const { name, status, tools, connecting, authorizationUrl, connection } = server
  const warnings = [
    ...connection?.warnings ?? [],
    ...tools.flatMap((tool) => refused.filter((each) => each.name === agentNames.get(tool)).map((each) => notTaken(tool, each)))
  ]
  const waits = variables && `It waits for you to accept it: it asks for ${variables.join(', ')} of the environment of this service.`
  const view = { name, status, tools, error: waits ?? server.error, connecting: connecting(), authorizationUrl, variables }
  return { ...view, ...warnings.length > 0 && { warnings } }
}

const notTaken = (tool: string, { model, words }: RefusedTool) =>
  `The provider of ${model} refused the definition of the tool ${JSON.stringify(tool)}, so that model is not told of it (${words}).`

/** Returns all details of a server. The server is asked for its resources and prompts; a list that fails is shown as empty. */
export async function describeServer (
  server: ToolServer,
  { view, host, acceptance, agentNames, clock, signal }: {
    view: ToolServerView,
    host: Pick<ToolHost, 'offered' | 'permission'>,
    acceptance: Pick<Acceptance, 'stateOf' | 'digestOf'>,
    agentNames: ReadonlyMap<string, string>,
    clock: Clock,
    signal: AbortSignal
  }
): Promise<ToolServerDetail> {
  const { connection, entry } = server
  const list = async (what: 'resources' | 'prompts') => {
    const listed = await withDeadline({ clock, ms: LIST_MS, signal }, async (limit) => connection?.list(what, limit)).catch(() => [])
    return (listed ?? []).slice(0, MAX_ENTRIES)
  }
  const [resources, prompts] = await Promise.all([list('resources'), list('prompts')])
  const offered = new Map(host.offered().filter(isSourceTool).map((tool) => [tool.identity, tool.model.name]))
  /** Returns why a tool is not offered to the agent; undefined if its given name is not decided yet. */
  const notOffered = (tool: string) => {
    const given = agentNames.get(tool)
    return leftOutBecause(entry, tool) ??
      (given !== undefined && host.permission(given) === 'deny' ? '"permissions" of config.json denies it.' : undefined)
  }
  return {
    ...view,
    ...entry.url === undefined
      ? { command: entry.command, sandbox: entry.sandbox }
      : { url: withoutQuery(entry.url), clientId: entry.clientId },
    ...entry.tools && { filter: entry.tools },
    approval: entry.approval,
    digest: acceptance.digestOf(server),
    toolDetails: server.definitions.map((definition) => {
      const { name, title, description, icons, inputSchema, annotations, _meta } = definition
      const agentName = offered.get(server.identityOf(definition))
      return {
        name,
        agentName,
        notOffered: agentName === undefined ? notOffered(name) : undefined,
        title,
        description,
        icons,
        inputSchema,
        annotations,
        _meta,
        acceptance: acceptance.stateOf(server.name, definition, server.identityOf(definition))
      }
    }),
    resources: resources.map((each) => ({
      ...{ uri: text(each.uri), name: text(each.name), ...namesOf(each) },
      ...(typeof each.mimeType === 'string' && { mimeType: text(each.mimeType) }),
      ...(typeof each.size === 'number' && { size: each.size })
    })),
    prompts: prompts.map((each) => ({ name: text(each.name), ...namesOf(each) })),
    capabilities: connection?.capabilities ?? {},
    instructions: server.instructions,
    version: connection?.version,
    warnings: [...view.warnings ?? [], ...server.definitions.flatMap((definition) => notChecked(definition) ?? [])],
    stderr: server.stderr()
  }
}

/** Returns a warning if a tool's inputs cannot be checked against its schema; undefined otherwise. */
function notChecked ({ name, inputSchema }: ToolDefinition): string | undefined {
  const problem = schemaProblem({ schema: inputSchema, isOfSource: true, checksInput: true })
  return problem &&
    `The inputs of the tool ${JSON.stringify(name)} are not checked before a call, because its schema cannot be used: ${problem}.`
}

/** Returns an address without its query, which might contain secrets. */
const withoutQuery = (url: string): string => url.replace(/\?.*/s, '')

const text = (value: unknown): string => String(value ?? '').slice(0, LONGEST_TEXT)
