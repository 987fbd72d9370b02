import { useEffect, useState } from 'react'
import { keys, queries } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { agent } from '../../lib/service.ts'
import { VisibleText } from '../../parts/visible-text.tsx'

/** The number of last characters that are shown while the text is written. */
const SHOWN = 4_000

/** The text that the run of a chat is writing. Its calls are not part of it: they are read again when they begin and end. */
export function LiveText ({ runId }: { runId: string }) {
  const text = useLiveText(runId)
  if (text === '') return null
  return (
    <section className='section' aria-label={say('run.live')}>
      <h2>{say('run.live')}</h2>
      <pre className='live-text'><VisibleText text={text} limit={Infinity} /></pre>
    </section>
  )
}

/** Returns the end of a run's text, updated at most once per frame. */
function useLiveText (runId: string): string {
  const [text, setText] = useState('')
  useEffect(() => {
    const ended = new AbortController()
    let written = ''
    let frame = 0
    const show = () => {
      frame = 0
      setText(written)
    }
    void (async () => {
      for await (const event of agent().resume(runId, { signal: ended.signal })) {
        if (event.type === 'text-delta') {
          written = (written + event.content).slice(-SHOWN)
          frame ||= requestAnimationFrame(show)
        } else if (event.type === 'tool-input-available' || event.type.startsWith('tool-output')) {
          void queries.invalidateQueries({ queryKey: keys.run(runId) }, { cancelRefetch: false })
        }
      }
    })().catch(() => {
      // The run has ended or waits; its record shows the state.
    })
    return () => {
      ended.abort()
      cancelAnimationFrame(frame)
    }
  }, [runId])
  return text
}
