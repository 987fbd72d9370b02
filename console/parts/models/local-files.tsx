import type { ModelList } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { Button } from '../button.tsx'
import { Failed } from '../failed.tsx'
import { VisibleText } from '../visible-text.tsx'
import { useConfigure, useProviders } from './model-queries.ts'
import './local-servers.css'

interface LocalFile {
  /** Its id as a model. */
  model: string
  /** Where it is, unless the service has it already. */
  path?: string
  program?: string
  sizeBytes?: number
  contextWindow?: number
  unavailable?: string
}

const GIGABYTE = 1e9
const gigabytes = new Intl.NumberFormat(undefined, { style: 'unit', unit: 'gigabyte', maximumFractionDigits: 1 })

/** Returns the model files of this machine: those that the service has, and those that other programs left. */
export function localFilesIn ({ models = [], files = [], discovered = [] }: Partial<ModelList>): LocalFile[] {
  const isServer = discovered.some(({ provider }) => provider === 'local')
  const own = isServer ? [] : models.filter(({ provider }) => provider === 'local').map(({ id, ...facts }) => ({ ...facts, model: id }))
  return [...own, ...files.filter(({ model }) => !own.some((each) => each.model === model))]
}

/** Files of models on this machine, each with a button to use it or the reason why it cannot be used. */
export function LocalFiles ({ files }: { files: LocalFile[] }) {
  return <ul className='list'>{files.map((file) => <li key={file.path ?? file.model} className='local-server'><File {...file} /></li>)}</ul>
}

function File ({ model, path, program, sizeBytes, contextWindow, unavailable }: LocalFile) {
  const { data } = useProviders()
  const configure = useConfigure()
  const isUsed = data?.active_model === model
  const facts = [
    program,
    sizeBytes !== undefined && gigabytes.format(sizeBytes / GIGABYTE),
    contextWindow !== undefined && say('settings.fileWindow', { count: contextWindow })
  ]
  return (
    <>
      <p><strong>{model.replace('local/', '')}</strong> <span className='quiet'>{facts.filter(Boolean).join(' · ')}</span></p>
      {unavailable === undefined
        ? (
          <div className='actions'>
            <Button
              isBusy={configure.isPending}
              disabled={isUsed}
              onClick={() => configure.mutate(path === undefined ? { model } : { localFile: path, model })}
            >
              {say(isUsed ? 'settings.localUsed' : 'settings.localUse')}
            </Button>
          </div>
          )
        : <p className='quiet'><VisibleText text={unavailable} /></p>}
      <div role='status'>{isUsed && <p className='quiet'><VisibleText text={say('settings.localNow', { model })} /></p>}</div>
      {configure.error !== null && <Failed error={configure.error} />}
    </>
  )
}
