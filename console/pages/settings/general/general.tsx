import { CHOICES, setAppearance, useAppearance } from '../../../lib/appearance.ts'
import { AllowNotices } from '../../../lib/live/notices.tsx'
import { say } from '../../../lib/say.ts'
import { AgentFolders } from './agent-folders.tsx'
import { Budget } from './budget.tsx'
import { Data } from './data.tsx'
import { Devices } from './devices.tsx'

/** General settings: the appearance, the daily budget, paired devices, the agent's folders, and all data. */
export function General () {
  const { theme, text } = useAppearance()
  return (
    <>
      <section className='section'>
        <h2>{say('appearance.title')}</h2>
        <div className='inline-form looks'>
          <label className='field'>
            <span>{say('appearance.theme')}</span>
            <select value={theme} onChange={({ target }) => setAppearance('theme', target.value as typeof theme)}>
              {CHOICES.theme.map((choice) => <option key={choice} value={choice}>{say(`appearance.themes.${choice}`)}</option>)}
            </select>
          </label>
          <label className='field'>
            <span>{say('appearance.text')}</span>
            <select value={text} onChange={({ target }) => setAppearance('text', target.value as typeof text)}>
              {CHOICES.text.map((choice) => <option key={choice} value={choice}>{say(`appearance.texts.${choice}`)}</option>)}
            </select>
          </label>
        </div>
        <p className='quiet'>{say('appearance.help')}</p>
        <div className='actions'><AllowNotices /></div>
      </section>
      <Budget />
      <Devices />
      <AgentFolders />
      <Data />
    </>
  )
}
