import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { Upload } from 'lucide-react'
import { headerText } from '../../../../client/create-client.ts'
import { AgentError } from '../../../../client/errors.ts'
import { checkImport, importAll, importProgress, type CheckedBackup } from '../../../../client/generated/index.ts'
import { numbers, say } from '../../../lib/say.ts'
import { asked, body } from '../../../lib/service.ts'
import { whenBack } from '../../../lib/when-back.ts'
import { Button } from '../../../parts/button.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { Time } from '../../../parts/time.tsx'

/** The first bytes of every backup. */
const MAGIC = 'lagentbk'
/** The interval at which the progress of an import is read, in milliseconds. */
const ASK_MS = 500
const MIB = 1024 * 1024
const COUNTED = ['threads', 'messages', 'tasks', 'runs', 'facts', 'attachments', 'agents'] as const

const isBackup = async (file: File): Promise<boolean> => await file.slice(0, MAGIC.length).text().catch(() => '') === MAGIC
const isUnreachable = (error: unknown) => error instanceof AgentError && error.statusCode === undefined

interface Sent {
  file: File
  passphrase: string
}

const headersOf = ({ passphrase }: Sent) => ({ 'x-export-passphrase': headerText(passphrase) })

function useImport () {
  const queries = useQueryClient()
  const check = useMutation({
    async mutationFn (sent: Sent) {
      if (!await isBackup(sent.file)) throw new Error(say('data.importNotOne'))
      return checkImport({ ...asked(), headers: headersOf(sent), body: sent.file }).then(body)
    }
  })
  const importing = useMutation({
    async mutationFn (sent: Sent) {
      await importAll({ ...asked(), headers: headersOf(sent), body: sent.file })
    },
    async onSettled (_done, error) {
      // The service restarts. If the response is lost, it is unknown whether the service restarts with the backup.
      if (error !== null && !isUnreachable(error)) return
      if (!await whenBack()) throw new Error(say('data.importNotBack'))
      void queries.resetQueries()
    }
  })
  const reset = () => {
    check.reset()
    importing.reset()
  }
  return { check, importing, reset }
}

/** Replaces all data of the service by a backup: shows the contents of the backup, asks for confirmation, and shows the outcome. */
export function ImportBackup () {
  const [isOpen, setIsOpen] = useState(false)
  const state = useImport()
  const close = () => {
    if (state.importing.isPending) return
    setIsOpen(false)
    state.reset()
  }
  return (
    <>
      <Button onClick={() => setIsOpen(true)}><Upload /> {say('data.import')}</Button>
      <Dialog title={say('data.importTitle')} isOpen={isOpen} onClose={close}><Step {...state} onClose={close} /></Dialog>
    </>
  )
}

function Step ({ check, importing, reset, onClose }: ReturnType<typeof useImport> & { onClose: () => void }) {
  const { variables: sent, data: found } = check
  if (sent === undefined || found === undefined) {
    if (sent !== undefined && check.isPending) return <Progress file={sent.file} />
    return <Choose before={sent} error={check.error} onChosen={(chosen) => check.mutate(chosen)} onClose={onClose} />
  }
  if (importing.isSuccess) return <Done found={found} onClose={onClose} />
  if (importing.isPending) return <Progress file={sent.file} isImport />
  return <Found found={found} error={importing.error} onImport={() => importing.mutate(sent)} onBack={reset} />
}

interface ChooseProps {
  /** The file and passphrase of the failed attempt. */
  before: Sent | undefined
  error: unknown
  onChosen: (sent: Sent) => void
  onClose: () => void
}

function Choose ({ before, error, onChosen, onClose }: ChooseProps) {
  const [file, setFile] = useState(before?.file)
  const [passphrase, setPassphrase] = useState(before?.passphrase ?? '')
  const look = (event: FormEvent) => {
    event.preventDefault()
    if (file !== undefined) onChosen({ file, passphrase })
  }
  return (
    <form className='form' onSubmit={look}>
      <p>{say('data.importText')}</p>
      <label className='field'>
        <span>{say('data.importFile')}</span>
        <input type='file' required={file === undefined} onChange={({ target }) => setFile(target.files?.[0])} />
      </label>
      {file !== undefined && <p className='quiet'>{say('data.importChosen', { name: file.name, size: sizeOf(file.size) })}</p>}
      <label className='field'>
        <span>{say('data.importPassphrase')}</span>
        <input
          type='password' autoComplete='off' minLength={12} maxLength={1_000} required value={passphrase}
          onChange={({ target }) => setPassphrase(target.value)}
        />
      </label>
      {error !== null && <Failed error={error} />}
      <div className='actions'>
        <Button type='submit' kind='primary'>{say('data.importLook')}</Button>
        <Button onClick={onClose}>{say('app.cancel')}</Button>
      </div>
    </form>
  )
}

const sizeOf = (bytes: number) => say('data.megabytes', { count: numbers.format(Math.max(0.1, Math.round(bytes / MIB * 10) / 10)) })

/** The progress of the check, or of the import. */
function Progress ({ file, isImport = false }: { file: File, isImport?: boolean }) {
  const { data, isError } = useQuery({
    queryKey: ['import', file.name, isImport],
    queryFn: () => importProgress(asked()).then(body),
    refetchInterval: ASK_MS,
    retry: false,
    gcTime: 0,
    staleTime: 0
  })
  const step = isError ? 'starting' : data?.step ?? 'none'
  const share = data === undefined || isError || step === 'none' ? undefined : Math.min(1, data.bytes / (data.total ?? file.size))
  return (
    <div className='form' role='status'>
      <p>{say(`data.importStep.${step}`)}</p>
      <progress className='whole-line' value={share} aria-label={say('data.importStep.label')} />
      {isImport && <p className='quiet'>{say('data.importLeave')}</p>}
    </div>
  )
}

interface FoundProps {
  found: CheckedBackup
  error: unknown
  onImport: () => void
  onBack: () => void
}

/** The contents of the backup, beside the data that it would replace. The import needs a typed word. */
function Found ({ found, error, onImport, onBack }: FoundProps) {
  const { createdAt, version, holds, replaces, settings, kept, busy, missingBytes, bytes } = found
  const [typed, setTyped] = useState('')
  const isMeant = typed.trim().toLowerCase() === say('data.importWord')
  const hasData = COUNTED.some((name) => replaces[name] > 0)
  return (
    <div className='form'>
      <p>{say('data.importFrom')} <Time at={createdAt} />. {say('data.importMadeBy', { version, size: sizeOf(bytes) })}</p>
      <table>
        <thead>
          <tr>
            <th scope='col'>{say('data.importWhat')}</th>
            <th scope='col'>{say('data.importThere')}</th>
            <th scope='col'>{say('data.importHere')}</th>
          </tr>
        </thead>
        <tbody>
          {COUNTED.map((name) => (
            <tr key={name}>
              <th scope='row'>{say(`data.counted.${name}`)}</th>
              <td>{numbers.format(holds[name])}</td>
              <td>{numbers.format(replaces[name])}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className='note note-warn'>{say(hasData ? 'data.importGone' : 'data.importGoneNone')}</p>
      {kept !== undefined && <p className='note'>{say('data.importKept', { names: kept.join(', ') })}</p>}
      {kept === undefined && settings !== undefined && (
        <div className='note note-warn'>
          <p>{say('data.importSettings')}</p>
          <pre>{JSON.stringify(settings, null, 2)}</pre>
        </div>
      )}
      {busy !== undefined && <p className='note note-warn'>{say('data.importBusy')}</p>}
      {missingBytes !== undefined && <p className='note note-warn'>{say('data.importRoom', { size: sizeOf(missingBytes) })}</p>}
      <label className='field'>
        <span>{say('data.eraseType', { word: say('data.importWord') })}</span>
        <input value={typed} autoComplete='off' onChange={({ target }) => setTyped(target.value)} />
      </label>
      {error !== null && error !== undefined && (isUnreachable(error)
        ? <p className='note note-bad' role='alert'>{say('data.importLost')}</p>
        : <Failed error={error} />)}
      <div className='actions'>
        <Button onClick={onBack}>{say('data.importOther')}</Button>
        <Button kind='danger' disabled={!isMeant} onClick={() => { if (isMeant) onImport() }}>{say('data.importDo')}</Button>
      </div>
    </div>
  )
}

function Done ({ found: { createdAt, holds }, onClose }: { found: CheckedBackup, onClose: () => void }) {
  return (
    <div className='form' role='status'>
      <p className='note note-good'>
        {say('data.importDone', { threads: holds.threads, tasks: holds.tasks, facts: holds.facts })} <Time at={createdAt} />
      </p>
      <p>{say('data.importAfter')}</p>
      <div className='actions'><Button kind='primary' onClick={onClose}>{say('app.close')}</Button></div>
    </div>
  )
}
