import { useIsMutating, useMutation, useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query'
import {
  configureProviders, listModels, listProviders, patchConfig, testProvider, type ConfigureBody, type ProviderTested, type TestBody
} from '../../../client/generated/index.ts'
import { keys } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'

export const useProviders = () => useQuery({ queryKey: keys.providers(), queryFn: () => listProviders(asked()).then(body) })

const USE_FILE = ['use-model-file']
/** How often is looked at a model that loads, ms. */
const LOADING_MS = 1_000

/**
 * Reads the models of all providers, again and again while one of this machine loads; with `discover`, also those of model servers and
 * other programs on this machine.
 */
export function useModels (discover = false) {
  const isUsing = useIsMutating({ mutationKey: USE_FILE }) > 0
  return useQuery({
    queryKey: [...keys.models(), discover],
    queryFn: () => listModels({ ...asked(), ...discover && { query: { discover } } }).then(body),
    refetchInterval: ({ state: { data } }) =>
      !discover && (isUsing || data?.models.some(({ state }) => state === 'loading')) ? LOADING_MS : false
  })
}

const configure = (change: ConfigureBody) => configureProviders({ ...asked(), body: change }).then(body)
const readAnew = (queries: QueryClient) =>
  Promise.all([keys.providers(), keys.models(), keys.health(), keys.config()].map((queryKey) => queries.invalidateQueries({ queryKey })))

/** Changes the model or the keys; providers and models are then read anew. */
export function useConfigure () {
  const queries = useQueryClient()
  return useMutation({ mutationFn: configure, onSuccess: () => readAnew(queries) })
}

/** Has a model file answer a small question, for which it is loaded, and uses it for the next runs if it does. */
export function useFile () {
  const queries = useQueryClient()
  return useMutation({
    mutationKey: USE_FILE,
    async mutationFn ({ model, path, active }: { model: string, path?: string, active: string }) {
      // What the user has stays in use until this one has answered.
      if (path !== undefined) await configure({ localFile: path, model: active.startsWith('offline/') ? model : active })
      const tested = await testProvider({ ...asked(), body: { model } }).then(body)
      if (tested.ok) await configure({ model })
      return tested
    },
    onSettled: () => readAnew(queries)
  })
}

/** Makes one small call of a model, or about ten that show what it can do. */
export const useModelTest = () =>
  useMutation({
    mutationFn: (test: { model: string, thorough?: boolean }) => testProvider({ ...asked(), body: test }).then(body)
  })

/** A key as it was entered, and the provider that it belongs to. */
export interface EnteredKey {
  provider: string
  key: string
}

const keyOf = ({ provider, key }: EnteredKey) => provider === 'gateway' ? { gateway_key: key } : { keys: { [provider]: key } }

/** Makes one small call with a key, which is not stored. */
export const useKeyTest = () =>
  useMutation({ mutationFn: (entered: EnteredKey) => testProvider({ ...asked(), body: keyOf(entered) }).then(body) })

/** Stores a key. A service that still uses the offline assistant then uses the model with which the key was tested. */
export function useKeyStore () {
  const queries = useQueryClient()
  return useMutation({
    async mutationFn ({ model, ...entered }: EnteredKey & { model: string }) {
      const { active_model: active } = await configure(keyOf(entered))
      if (active.startsWith('offline/')) await configure({ model })
    },
    onSuccess: () => readAnew(queries)
  })
}

/** Removes the stored key of a provider. */
export function useKeyRemoval () {
  const { mutateAsync } = useConfigure()
  return (provider: string) => mutateAsync(provider === 'gateway' ? { gateway_key: null } : { keys: { [provider]: null } })
}

/** A server with OpenAI's API, as it was entered. */
export interface EnteredAddress {
  name: string
  baseURL: string
  /** Empty for a server that needs none. */
  key: string
  /** The model to test with; empty for the first that the server lists. */
  model: string
}

const putAddress = (name: string, baseURL: string | null) =>
  patchConfig({ ...asked(), body: { providers: { [name]: baseURL === null ? null : { baseURL } } } })
/** Stores the key. Without one, a key is removed that an earlier provider of this name has left: it belongs to another address. */
const putKey = ({ name, key }: EnteredAddress) => configure({ keys: { [name]: key === '' ? null : key } })

/** Makes one small call of a server that is in the configuration; its key is not stored. */
async function testAddress ({ name, key, model }: EnteredAddress): Promise<ProviderTested> {
  const test = (tested: TestBody) => testProvider({ ...asked(), body: tested }).then(body)
  const named = model === '' ? undefined : `${name}/${model}`
  if (key !== '') return test({ keys: { [name]: key }, model: named })
  await configure({ keys: { [name]: null } })
  if (named !== undefined) return test({ model: named })
  const { models, errors } = await listModels(asked()).then(body)
  const first = models.find(({ provider }) => provider === name)
  if (first !== undefined) return test({ model: first.id })
  return { ok: false, model: name, latencyMs: 0, error: errors.find(({ provider }) => provider === name)?.error ?? say('address.noModel') }
}

/** Tries a server, which is in the configuration only for that long. */
export function useAddressTest () {
  const queries = useQueryClient()
  return useMutation({
    async mutationFn (entered: EnteredAddress) {
      await putAddress(entered.name, entered.baseURL)
      try {
        return await testAddress(entered)
      } finally {
        await putAddress(entered.name, null)
      }
    },
    onSettled: () => readAnew(queries)
  })
}

/** Keeps a server and its key. A service that still uses the offline assistant then uses the tested model, else the first one. */
export function useAddressStore () {
  const queries = useQueryClient()
  return useMutation({
    async mutationFn ({ tested, ...entered }: EnteredAddress & { tested?: string }) {
      const { name, baseURL, model: named } = entered
      await putAddress(name, baseURL)
      const { active_model: active } = await putKey(entered)
      if (!active.startsWith('offline/')) return
      const first = async () => (await listModels(asked()).then(body)).models.find(({ provider }) => provider === name)?.id
      const model = tested ?? (named === '' ? await first() : `${name}/${named}`)
      if (model !== undefined) await configure({ model })
    },
    onSettled: () => readAnew(queries)
  })
}

/** Removes a server from the configuration, with its key. If its model was in use, the service chooses another one. */
export function useAddressRemoval () {
  const queries = useQueryClient()
  return useMutation({
    async mutationFn ({ name, active, hasKey }: { name: string, active: string, hasKey: boolean }) {
      if (hasKey) await configure({ keys: { [name]: null } })
      const model = active.startsWith(`${name}/`) && { model: null }
      await patchConfig({ ...asked(), body: { providers: { [name]: null }, ...model } })
    },
    onSettled: () => readAnew(queries)
  })
}
