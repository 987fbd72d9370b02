import { useIsMutating, useMutation, useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query'
import {
  configureProviders, listModels, listProviders, patchConfig, testProvider, type ConfigureBody, type ProviderTested, type TestBody
} from '../../../client/generated/index.ts'
import { keys } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'

export const useProviders = () => useQuery({ queryKey: keys.providers(), queryFn: () => listProviders(asked()).then(body) })

const USE_FILE = ['use-model-file']
/** The polling interval while a model is being loaded, in milliseconds. */
const LOADING_MS = 1_000

/**
 * Reads the models of all providers, repeatedly while a local model is being loaded. With `discover`, it also reads the models of other
 * model servers and programs on this computer.
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

/** Changes the model or the keys, and then reads providers and models again. */
export function useConfigure () {
  const queries = useQueryClient()
  return useMutation({ mutationFn: configure, onSuccess: () => readAnew(queries) })
}

/** Loads a model file by asking its model a small question. If the model answers, it is used for the next runs. */
export function useFile () {
  const queries = useQueryClient()
  return useMutation({
    mutationKey: USE_FILE,
    async mutationFn ({ model, path, active }: { model: string, path?: string, active: string }) {
      // The active model stays in use until the new one has answered.
      if (path !== undefined) await configure({ localFile: path, model: active.startsWith('offline/') ? model : active })
      const tested = await testProvider({ ...asked(), body: { model } }).then(body)
      if (tested.ok) await configure({ model })
      return tested
    },
    onSettled: () => readAnew(queries)
  })
}

/** Tests a model with one small call, or examines it with about ten calls. */
export const useModelTest = () =>
  useMutation({
    mutationFn: (test: { model: string, thorough?: boolean }) => testProvider({ ...asked(), body: test }).then(body)
  })

/** A key that the user entered, and its provider. */
interface EnteredKey {
  provider: string
  key: string
}

const keyOf = ({ provider, key }: EnteredKey) => provider === 'gateway' ? { gateway_key: key } : { keys: { [provider]: key } }

/** Tests a key with one small call. The key is not stored. */
export const useKeyTest = () =>
  useMutation({ mutationFn: (entered: EnteredKey) => testProvider({ ...asked(), body: keyOf(entered) }).then(body) })

/** Stores a key. If the service still uses the offline assistant, it then uses the model with which the key was tested. */
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

/** A server with OpenAI's API that the user entered. */
interface EnteredAddress {
  name: string
  baseURL: string
  /** Empty if the server needs no key. */
  key: string
  /** The model for the test; if empty, the first model that the server lists. */
  model: string
}

const putAddress = (name: string, baseURL: string | null) =>
  patchConfig({ ...asked(), body: { providers: { [name]: baseURL === null ? null : { baseURL } } } })
/**
 * Stores the key. If there is none, removes the key of an earlier provider with the same name, because that key belongs to another address.
 */
const putKey = ({ name, key }: EnteredAddress) => configure({ keys: { [name]: key === '' ? null : key } })

/** Tests a server that is in the configuration with one small call. Its key is not stored. */
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

/** Tests a server. It is added to the configuration only for the test. */
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

/**
 * Stores a server and its key. If the service still uses the offline assistant, it then uses the tested model, or else the server's first
 * model.
 */
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

/** Removes a server and its key from the configuration. If its model was active, the service chooses another one. */
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
