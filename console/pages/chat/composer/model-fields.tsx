import { useQuery } from '@tanstack/react-query'
import { listModels, listProviders } from '../../../../client/generated/index.ts'
import { keys } from '../../../lib/queries.ts'
import { say } from '../../../lib/say.ts'
import { asked, body } from '../../../lib/service.ts'
import { EFFORTS, type ModelChoice } from './use-model-choice.ts'

/** Longer lists are searched by typing in place of a menu. */
const LONGEST_MENU = 150

/** Chooses the model and the effort of the next messages. */
export function ModelFields ({ choice: { model, setModel, effort, setEffort } }: { choice: ModelChoice }) {
  const providers = useQuery({ queryKey: keys.providers(), queryFn: () => listProviders(asked()).then(body) })
  const list = useQuery({ queryKey: keys.models(), queryFn: () => listModels(asked()).then(body) })
  const models = list.data?.models ?? []
  const active = say('chat.activeModel', { model: providers.data?.active_model ?? '…' })
  const isKnown = model === '' || models.some(({ id }) => id === model)
  return (
    <>
      <label className='composer-choice'>
        <span className='visually-hidden'>{say('chat.model')}</span>
        {models.length > LONGEST_MENU
          ? <input value={model} maxLength={200} placeholder={active} onChange={(event) => setModel(event.target.value)} />
          : (
            <select value={model} onChange={(event) => setModel(event.target.value)}>
              <option value=''>{active}</option>
              {!isKnown && <option value={model}>{model}</option>}
              {models.map(({ id }) => <option key={id} value={id}>{id}</option>)}
            </select>
            )}
      </label>
      <label className='composer-choice'>
        <span className='visually-hidden'>{say('chat.effort')}</span>
        <select value={effort} onChange={(event) => setEffort(event.target.value)}>
          <option value=''>{say('chat.effortDefault')}</option>
          {EFFORTS.map((each) => <option key={each} value={each}>{say(`chat.efforts.${each}`)}</option>)}
        </select>
      </label>
    </>
  )
}
