import { say } from '../../../lib/say.ts'
import { Field } from '../../../parts/field.tsx'
import { FolderButton } from '../../../parts/folders/folder-button.tsx'

/** Returns true on a system whose boxes can run a tool server. */
export const canBox = (): boolean => /linux/i.test(navigator.platform)

const linesOf = (text: string): string[] => text.split('\n').map((line) => line.trim()).filter((line) => line !== '')

/** Returns the box that the form describes. */
export function boxOf (hosts: string, folders: string) {
  const [network, write] = [linesOf(hosts), linesOf(folders)]
  return { ...network.length > 0 && { network }, ...write.length > 0 && { write } }
}

interface Props {
  isBoxed: boolean
  setIsBoxed: (isBoxed: boolean) => void
  hosts: string
  setHosts: (hosts: string) => void
  folders: string
  setFolders: (folders: string) => void
}

/** Fields for whether a program runs in a box, and what it is allowed to access from there. */
export function BoxFields ({ isBoxed, setIsBoxed, hosts, setHosts, folders, setFolders }: Props) {
  return (
    <>
      <label>
        <input type='checkbox' checked={isBoxed} onChange={(event) => setIsBoxed(event.target.checked)} /> {say('settings.serverBox')}
      </label>
      <p className='quiet'>{say('settings.serverBoxHint')}</p>
      {isBoxed && (
        <>
          <Field label={say('settings.serverHosts')}>
            {(help) => <textarea {...help} rows={2} value={hosts} onChange={(event) => setHosts(event.target.value)} />}
          </Field>
          <Field label={say('settings.serverFolders')}>
            {(help) => <textarea {...help} rows={2} value={folders} onChange={(event) => setFolders(event.target.value)} />}
          </Field>
          <div className='actions'>
            <FolderButton
              value={linesOf(folders).at(-1) ?? ''} onChosen={(path) => setFolders([...linesOf(folders), path].join('\n'))}
            />
          </div>
        </>
      )}
    </>
  )
}
