import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { configureProviders, listModels, listProviders, testProvider, type ConfigureBody } from '../../../../client/generated/index.ts'
import { keys } from '../../../lib/queries.ts'
import { asked, body } from '../../../lib/service.ts'

export const useProviders = () => useQuery({ queryKey: keys.providers(), queryFn: () => listProviders(asked()).then(body) })

/** Reads the models of all providers; with `discover`, also those of model servers on this machine. */
export const useModels = (discover = false) =>
  useQuery({
    queryKey: [...keys.models(), discover],
    queryFn: () => listModels({ ...asked(), ...discover && { query: { discover } } }).then(body)
  })

/** Changes the model or the keys; providers and models are then read anew. */
export function useConfigure () {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (change: ConfigureBody) => configureProviders({ ...asked(), body: change }).then(body),
    onSuccess: () =>
      Promise.all([keys.providers(), keys.models(), keys.health()].map((queryKey) => queries.invalidateQueries({ queryKey })))
  })
}

/** Makes one small call of a model. */
export const useModelTest = () => useMutation({ mutationFn: (model: string) => testProvider({ ...asked(), body: { model } }).then(body) })
