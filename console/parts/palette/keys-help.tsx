import { hasCommandKey, KEYS } from '../../lib/shortcuts.ts'
import { say, type TextKey } from '../../lib/say.ts'
import { Dialog } from '../dialog.tsx'

const HELP: Array<[keys: readonly string[], does: TextKey]> = [
  [KEYS.find, 'keys.find'],
  [KEYS.begin, 'keys.begin'],
  [KEYS.keys, 'keys.help'],
  [['Enter'], 'keys.send'],
  [['Shift', 'Enter'], 'keys.line'],
  [['PageUp'], 'keys.scroll'],
  [['↑'], 'keys.edit'],
  [['Esc'], 'keys.leave'],
  [['J'], 'keys.next'],
  [['K'], 'keys.previous'],
  [['Y'], 'keys.allow'],
  [['N'], 'keys.deny'],
  [['U'], 'keys.takeBack'],
  [['A'], 'keys.always']
]

const nameOf = (key: string) => key === 'mod' ? (hasCommandKey ? '⌘' : 'Ctrl') : key

/** The keyboard shortcuts and their effects. */
export default function KeysHelp ({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={say('keys.title')} isOpen onClose={onClose}>
      <dl className='keys-help'>
        {HELP.map(([keys, does]) => (
          <div key={does}><dt>{say(does)}</dt><dd><Keys keys={keys} /></dd></div>
        ))}
      </dl>
    </Dialog>
  )
}

/** Keys that are pressed together. */
export function Keys ({ keys }: { keys: readonly string[] }) {
  return <span className='keys'>{keys.map((key) => <kbd key={key}>{nameOf(key)}</kbd>)}</span>
}
