import type { ModelList } from '../../../client/generated/index.ts'
import { plainWords } from '../../lib/plain-words.ts'
import { say } from '../../lib/say.ts'
import { Button } from '../button.tsx'
import { Failed } from '../failed.tsx'
import { VisibleText } from '../visible-text.tsx'
import { useFile, useModels, useProviders } from './model-queries.ts'
import './local-servers.css'

type Model = ModelList['models'][number]

/** A model file on this computer. `path` and `program` are set for a file that the service does not use yet. */
type LocalFile =
  & Pick<Model, 'sizeBytes' | 'contextWindow' | 'state' | 'tokensPerSecond' | 'unavailable'>
  & { model: string, path?: string, program?: string }

const USED = { stopped: 'settings.fileLoad', loading: 'settings.localUsed', loaded: 'settings.localUsed' } as const
const GIGABYTE = 1e9
const gigabytes = new Intl.NumberFormat(undefined, { style: 'unit', unit: 'gigabyte', maximumFractionDigits: 1 })

/** Returns the model files on this computer: those that the service uses, and those of other programs. */
export function localFilesIn ({ models = [], files = [], discovered = [] }: Partial<ModelList>): LocalFile[] {
  const isServer = discovered.some(({ provider }) => provider === 'local')
  const isFile = ({ provider, state, unavailable }: Model) => provider === 'local' && (state ?? unavailable) !== undefined
  const listed = isServer ? [] : models.filter(isFile).map(({ id, ...facts }) => ({ ...facts, model: id }))
  return [...listed, ...files.filter(({ model }) => !listed.some((each) => each.model === model))]
}

/** Model files on this computer, each with a button to use it, or the reason why it cannot be used. */
export function LocalFiles ({ files }: { files: LocalFile[] }) {
  // The state of the service's files changes while one is loaded, so the state is read from the live list of models.
  const own = localFilesIn(useModels().data ?? {})
  return (
    <ul className='list'>
      {files.map((file) => (
        <li key={file.model} className='local-server'><File {...file} {...own.find(({ model }) => model === file.model)} /></li>
      ))}
    </ul>
  )
}

function File (file: LocalFile) {
  const { model, path, program, sizeBytes, contextWindow, tokensPerSecond, unavailable } = file
  const { data: { active_model: active } = { active_model: '' } } = useProviders()
  const use = useFile()
  const isLoading = use.isPending || file.state === 'loading'
  const problem = unavailable ?? (use.data?.ok === false ? use.data.error : undefined)
  const facts = [
    program,
    sizeBytes !== undefined && gigabytes.format(sizeBytes / GIGABYTE),
    contextWindow !== undefined && say('settings.fileWindow', { count: contextWindow }),
    tokensPerSecond !== undefined && say('settings.fileSpeed', { count: Number(tokensPerSecond.toPrecision(2)) })
  ]
  const isUsed = active === model
  const mayTry = unavailable === undefined || path === undefined
  return (
    <>
      <p>
        <strong><VisibleText text={model.replace('local/', '')} /></strong>
        {' '}
        <span className='quiet'>{facts.filter(Boolean).join(' · ')}</span>
      </p>
      <div role='status' className='local-server-state'>
        {isLoading && (
          <>
            <progress aria-label={say('settings.fileProgress')} />
            <p className='quiet'>{say('settings.fileLoading')}</p>
          </>
        )}
        {!isLoading && problem !== undefined && <p className='note note-bad'><VisibleText text={plainWords(problem)} /></p>}
        {!isLoading && problem === undefined && isUsed && (
          <p className='quiet'>{say(file.state === 'loaded' ? 'settings.fileLoaded' : 'settings.fileStopped')}</p>
        )}
      </div>
      {mayTry && (
        <div className='actions'>
          <Button
            isBusy={isLoading}
            disabled={isUsed && file.state === 'loaded'}
            onClick={() => use.mutate({ model, path, active })}
          >
            {say(problem !== undefined ? 'app.retry' : isUsed ? USED[file.state ?? 'stopped'] : 'settings.localUse')}
          </Button>
        </div>
      )}
      {use.error !== null && <Failed error={use.error} />}
    </>
  )
}
