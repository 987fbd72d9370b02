import type { AppTool, RunOptions } from '../../../schemas/run-options.ts'
import { defineError } from '../../lib/service-error.ts'
import { ANSWER_TOOL } from '../../contracts/model-texts.ts'
import { openObjectAnswer } from '../answers/object-answer.ts'
import type { Registry } from '../../models/index.ts'
import { checkAppTools, type ToolHost } from '../../tools/index.ts'
import { isPattern, matchesServer, matchesTool, partsOf } from './tool-patterns.ts'

/** The most tools that an error names. */
const MOST_NAMED = 60
const UnknownTool = defineError('ERR_INVALID_REQUEST', 'options.%s has %s, and there is no such tool. The tools are: %s.')
const NameTaken = defineError(
  'ERR_INVALID_REQUEST',
  `options.appTools has a tool named ${ANSWER_TOOL}, which is the name of the tool by which a run gives the answer of options.object.`
)

/**
 * Checks what the JSON Schema of a request cannot check: that the model and the tools of the application can be used, that the named tools
 * exist, and that the schema of the answer can be used. While a configured tool server is not connected, any name might be one of its
 * tools, so no name is refused. Lists of names are checked only in `given`, the options of the request itself. Throws InvalidModelId,
 * ModelNotUsable, BadAppTool, UnknownTool, NameTaken or BadObjectSchema (400).
 */
export async function checkRunOptions (
  options: RunOptions,
  { registry, host }: { registry: Pick<Registry, 'requireUsable'>, host: Pick<ToolHost, 'names' | 'ready' | 'sources'> },
  given: RunOptions | undefined = options
): Promise<void> {
  const { model, object, appTools = [] } = options
  if (model !== undefined) registry.requireUsable(model)
  checkAppTools(options, host)
  for (const list of ['allowTools', 'denyTools'] as const) await checkNames(list, given?.[list] ?? [], appTools, host)
  if (object === undefined) return
  if (appTools.some(({ name }) => name === ANSWER_TOOL)) throw new NameTaken()
  await openObjectAnswer(object)
}

async function checkNames (
  list: 'allowTools' | 'denyTools',
  given: readonly string[],
  appTools: readonly AppTool[],
  host: Pick<ToolHost, 'names' | 'ready' | 'sources'>
): Promise<void> {
  const lookUp = () => {
    const { known, isWhole } = host.names()
    const names = new Set([...known, ...appTools.map(({ name }) => name)])
    const isKnown = (part: string) =>
      names.has(part) || host.sources().some(({ name }) => matchesServer(part, name)) ||
      (isPattern(part) && [...names].some((name) => matchesTool(part, { name })))
    return { names, unknown: isWhole ? given.find((entry) => !partsOf(entry).every(isKnown)) : undefined }
  }
  if (lookUp().unknown === undefined) return
  // While the service starts, the tool servers might not have been read from the configuration yet.
  await host.ready(new AbortController().signal)
  const { names, unknown } = lookUp()
  if (unknown === undefined) return
  throw new UnknownTool(list, JSON.stringify(unknown), names.size > MOST_NAMED ? shortList(names, host.sources()) : [...names].join(', '))
}

/** Returns the names of tools as text, with the name of each tool server instead of the names of its tools. */
function shortList (names: ReadonlySet<string>, sources: ReturnType<ToolHost['sources']>): string {
  const ofServers = new Set(sources.flatMap(({ given }) => given.flatMap(({ model: { name }, qualified }) => [name, qualified])))
  const servers = sources.map(({ name }) => `server:${name}`).join(', ')
  return `${[...names].filter((name) => !ofServers.has(name)).join(', ')}, and those of ${servers}`
}
