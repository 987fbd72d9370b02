import type { SessionConfigOption, SessionModeState } from '@agentclientprotocol/sdk'
import {
  addGrant,
  getThread,
  listGrants,
  listModels,
  listProviders,
  putThread,
  removeGrant,
  type Agent,
  type NamedOptions
} from '../client/index.ts'

/** How long the lists of providers and models may take, in milliseconds. After that the session begins without them. */
const LIST_MS = 5_000
const ACTIVE = 'active'

export type Mode = 'ask' | 'sandbox' | 'copy'

const MODES = [
  { id: 'ask', name: 'Ask', description: 'Asks before each command and each change.' },
  { id: 'sandbox', name: 'Sandbox', description: 'Runs commands unasked in a box without network; asks before anything else.' },
  { id: 'copy', name: 'Copy', description: 'Works unasked on a copy of the folder; /apply takes over what you want of it.' }
] as const

/** The settings that a session offers, each with its current value. */
export interface Choices {
  mode: Mode
  canSandbox: boolean
  /** The model of the session; undefined for the active model of the service. */
  model?: string
  models: Array<{ id: string, name: string }>
  activeModel?: string
}

export function modeState ({ mode, canSandbox }: Choices): SessionModeState {
  return { currentModeId: mode, availableModes: MODES.filter(({ id }) => id !== 'sandbox' || canSandbox).map((each) => ({ ...each })) }
}

export function configOptions (choices: Choices): SessionConfigOption[] {
  const { model, models, activeModel } = choices
  const { currentModeId, availableModes } = modeState(choices)
  const listed = model === undefined || models.some(({ id }) => id === model) ? models : [{ id: model, name: model }, ...models]
  return [{
    id: 'mode',
    name: 'Mode',
    category: 'mode',
    type: 'select',
    currentValue: currentModeId,
    options: availableModes.map(({ id, name, description }) => ({ value: id, name, description }))
  }, {
    id: 'model',
    name: 'Model',
    category: 'model',
    type: 'select',
    currentValue: model ?? ACTIVE,
    options: [
      { value: ACTIVE, name: activeModel === undefined ? 'As the service is set' : `As the service is set (${activeModel})` },
      ...listed.map(({ id, name }) => ({ value: id, name, description: id }))
    ]
  }]
}

/** The command in the request for the grant. The scope `sandbox` covers all other commands, too. */
const SAMPLE = 'echo'

/** Grants every command that runs in the box (the sandbox) of the folder. Returns false if the service cannot make a box. */
async function grantBox (agent: Agent, threadId: string, cwd: string): Promise<boolean> {
  const body = { threadId, toolName: 'runCommand', input: { command: SAMPLE }, scope: 'sandbox' as const, cwd }
  const { error } = await addGrant({ client: agent.client, body, throwOnError: false })
  if (error !== undefined && error.statusCode !== 400) throw error
  return error === undefined
}

async function boxGrants (agent: Agent, threadId: string): Promise<string[]> {
  const { data } = await listGrants({ client: agent.client, query: { threadId }, throwOnError: true })
  return data.grants.filter(({ scope }) => scope === 'sandbox').map(({ grantId }) => grantId)
}

async function endBoxGrants (agent: Agent, threadId: string): Promise<void> {
  for (const id of await boxGrants(agent, threadId)) await removeGrant({ client: agent.client, path: { id }, throwOnError: false })
}

/** Reads the settings of a session whose thread exists. */
export async function readChoices (agent: Agent, threadId: string, cwd: string): Promise<Choices> {
  const { client } = agent
  const signal = AbortSignal.timeout(LIST_MS)
  const [listed, providers, { data: thread }, granted] = await Promise.all([
    listModels({ client, signal, throwOnError: true }).then(({ data }) => data.models, () => []),
    listProviders({ client, signal, throwOnError: true }).then(({ data }) => data, () => undefined),
    getThread({ client, path: { id: threadId }, query: { limit: 1 }, throwOnError: true }),
    boxGrants(agent, threadId)
  ])
  const isSandbox = granted.length > 0
  const canSandbox = isSandbox || await grantBox(agent, threadId, cwd)
  if (!isSandbox && canSandbox) await endBoxGrants(agent, threadId)
  return {
    mode: thread.settings?.options?.workspace === 'copy' ? 'copy' : isSandbox ? 'sandbox' : 'ask',
    canSandbox,
    model: thread.settings?.options?.model,
    models: listed.map(({ id, name }) => ({ id, name })),
    activeModel: providers?.active_model ?? undefined
  }
}

/** Changes the mode. Throws if the mode is `sandbox` and the service cannot make a box. */
export async function setMode (agent: Agent, threadId: string, cwd: string, mode: Mode): Promise<void> {
  await setOption(agent, threadId, 'workspace', mode === 'copy' ? 'copy' : undefined)
  if (mode !== 'sandbox') return endBoxGrants(agent, threadId)
  if ((await boxGrants(agent, threadId)).length === 0 && !await grantBox(agent, threadId, cwd)) {
    throw new Error('No box can be had for commands on this computer, see docs/security.md.')
  }
}

/** Sets the model of a conversation; ACTIVE removes it, so that the service's active model is used. Returns the model. */
export async function setModel (agent: Agent, threadId: string, value: string): Promise<string | undefined> {
  const model = value === ACTIVE ? undefined : value
  await setOption(agent, threadId, 'model', model)
  return model
}

/** Sets an option for all later runs of a conversation; `undefined` removes the option. */
async function setOption<K extends 'model' | 'workspace'> ({ client }: Agent, id: string, key: K, value: NamedOptions[K]): Promise<void> {
  const { data } = await getThread({ client, path: { id }, query: { limit: 1 }, throwOnError: true })
  const { [key]: before, ...options } = data.settings?.options ?? {}
  if (before === value) return
  const settings = { ...data.settings, options: { ...options, ...value !== undefined && { [key]: value } } }
  await putThread({ client, path: { id }, body: { settings }, throwOnError: true })
}
