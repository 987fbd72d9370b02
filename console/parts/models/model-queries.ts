import { useMutation, useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query'
import { configureProviders, listModels, listProviders, testProvider, type ConfigureBody } from '../../../client/generated/index.ts'
import { keys } from '../../lib/queries.ts'
import { asked, body } from '../../lib/service.ts'

export const useProviders = () => useQuery({ queryKey: keys.providers(), queryFn: () => listProviders(asked()).then(body) })

/** Reads the models of all providers; with `discover`, also those of model servers on this machine. */
export const useModels = (discover = false) =>
  useQuery({
    queryKey: [...keys.models(), discover],
    queryFn: () => listModels({ ...asked(), ...discover && { query: { discover } } }).then(body)
  })

const configure = (change: ConfigureBody) => configureProviders({ ...asked(), body: change }).then(body)
const readAnew = (queries: QueryClient) =>
  Promise.all([keys.providers(), keys.models(), keys.health(), keys.config()].map((queryKey) => queries.invalidateQueries({ queryKey })))

/** Changes the model or the keys; providers and models are then read anew. */
export function useConfigure () {
  const queries = useQueryClient()
  return useMutation({ mutationFn: configure, onSuccess: () => readAnew(queries) })
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
