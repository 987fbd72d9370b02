import { useEffect, useState } from 'react'
import { keys, queries } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { agent } from '../../lib/service.ts'
import { VisibleText } from '../../parts/visible-text.tsx'

/** Characters at the end of the text that are shown while it is written. */
const SHOWN = 4_000

/** What the run of a chat writes at this moment. Its calls are read again as they begin and end. */
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

/** The end of the text of a run, renewed once a frame at most. */
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
      // The run is over or waits: the record of the run says so.
    })
    return () => {
      ended.abort()
      cancelAnimationFrame(frame)
    }
  }, [runId])
  return text
}
